/* program.h - programs: code that is loaded or compiled at run time, and its kernels as descriptors.
 *
 *     cf_program *program;
 *     const struct cf_kernel *saxpy;
 *     status = cf_program_load_file(&program, "saxpy.cubin");
 *     status = cf_program_kernel(program, "saxpy",
 *                                "(float a, in float x[n], in float y[n], out float out[n], size_t n)"
 *                                " grid(n) block(512)", &saxpy);
 *     void *const args[] = {&a, &x, &y, &out, &n};
 *     status = cf_call(saxpy, args);
 *
 * Any thread may call the functions at any time, with one exception: while cf_program_unload() runs, no other call may
 * use the program or its kernels. Later calls with them fail, and after the next cf_shutdown() such calls are not
 * allowed. */
#ifndef CUFERRY_PROGRAM_H
#define CUFERRY_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Programs -------------------------------------------------------------------------------------------------- */

/* The caller owns a program until cf_program_unload(). A program survives cf_shutdown(): its next use loads it
 * again. */
typedef struct cf_program cf_program;

/* Load `size` bytes at `data`, or the bytes of a file: a cubin, a fatbin, or PTX as text. The bytes are copied. They
 * are checked first and then loaded on the calling thread's GPU; other GPUs load them at their first use.
 *
 * CF_EIMAGE: the bytes are of another kind, cut off or damaged, and the detail says where. Relocatable code and LTO-IR
 * are such kinds: cf_program_link() takes them. CF_ENOCODE: the image has no code for the GPU. CF_ENOTSUP: the
 * calling thread's device is CF_HOST. CF_EINVAL: the file cannot be read. After a failure `*program` is NULL. */
CF_CHECKED int cf_program_load(cf_program **program, const void *data, size_t size);
CF_CHECKED int cf_program_load_file(cf_program **program, const char *path);

/* Returns the text that compiler and linker wrote when the program was made; for PTX, these are the errors of the
 * driver's compiler. The text is empty if they wrote none. It is valid until the program is unloaded. For NULL the
 * function returns the text of the calling thread's latest program that could not be made, valid until the thread's
 * next failure, its cf_shutdown() or its end. */
const char *cf_program_log(const cf_program *program);

/* Unloads a program from all GPUs, after the launches of its kernels that are in flight. NULL is ignored. Afterwards
 * calls with the program and with its kernels return CF_EINVAL, and graphs with its kernels must not be launched. So
 * that such calls can be refused, the library keeps about a kilobyte for each kernel until cf_shutdown(); after that no
 * such call is allowed.
 *
 * CF_ECAPTURE: a stream is being captured in a context in which the program's kernels were used. CF_EFAULT: a kernel
 * failed. After a failure the program is still loaded, and can be unloaded later. */
CF_CHECKED int cf_program_unload(cf_program *program);

/* ---- Compilation ----------------------------------------------------------------------------------------------- */

/* A header in memory, which the source may include by this name as if it were a file. */
typedef struct cf_program_header {
    const char *name, *text;
} cf_program_header;

/* Options of cf_program_compile() and cf_program_link(). A zero-initialised struct has the defaults. Each list ends
 * with NULL, the list of headers with the name NULL; a list that is NULL is empty. The library reads the options during
 * the call only. */
typedef struct cf_program_options {
    const char *const *include_folders; /* searched before the toolkit's */
    const char *const *definitions;     /* macros: "N=1024", "FAST" */
    const cf_program_header *headers;   /* headers from memory; for cfcc, the names of files below a folder */
    const char *const *names;           /* name expressions of kernels and data: "scale<float>", "ns::step" */
    const char *const *flags;           /* further options of NVRTC: "--fmad=false"; or of cfcc: "-Xcxx=-g" */
    const char *const *link_flags;      /* further options of nvJitLink: "-maxrregcount=32", "-fma=0" */
    const char *precompiled;            /* folder for precompiled headers (NVRTC 12.8); NULL: none are used */
    const char *cache;    /* folder of the cache; NULL: that in the environment variable CF_CACHE, or none */
    const char *cfcc;     /* path of cfcc; NULL: that in the environment variable CF_CFCC */
    int is_exact;         /* 1: code for this capability only, as sm_90a for 9.0 */
    int is_lto;           /* 1: a link optimizes across its inputs */
    int time_limit;       /* milliseconds for NVRTC or cfcc to compile a source; 0: five minutes */
    uint64_t reserved[8]; /* 0 */
} cf_program_options;

/* Compiles CUDA C++ for the calling thread's device and loads it: with NVRTC for a GPU or, if the source is annotated,
 * with cfcc, also for CF_HOST; see below. `source` is the text. `name` is its name in messages. Headers in quotes are
 * first searched for in the folder of this name, which is the current folder if the name has no slash, and then in
 * options.include_folders. NULL stands for "program.cu"; an empty name is refused. `options` may be NULL. The program
 * is machine code of the GPU's capability, or PTX of the newest target that NVRTC knows if it does not know the GPU.
 * NVRTC is found as by cf_find(); it is of the driver's CUDA version or an older one, and keeps no cache of its own.
 *
 * cf_program_kernel() and cf_program_symbol() take the name expressions of options.names as names. After success
 * cf_program_log() has the warnings; after CF_ECOMPILE, cf_program_log(NULL) has the whole log, and the detail the
 * first error.
 *
 * The time limit is for the compilation only: there is no limit for a link, nor for waiting until another process has
 * compiled the same program. After the limit the call returns. NVRTC continues in a thread until it notices the limit,
 * which can take a minute in large sources; early versions of CUDA 12 finish the compilation. The result is dropped.
 * cf_shutdown() and the process's exit wait for the thread, at most a minute, and a shared object with the library
 * stays in memory.
 *
 * An annotated source has a directive `#pragma cf kernel` (kernels/LANGUAGE.md). The cfcc at the path options.cfcc, or
 * if that is NULL at the path in the environment variable CF_CFCC, compiles it, in a process of its own, for the CPU
 * and for the thread's GPU. If neither gives a path, nothing is run. The path has a slash. A program that runs with
 * other rights than its user's ignores the variable. All files are in a new folder in TMPDIR, which is removed before
 * the function returns. No other user may be able to change that folder. The time limit ends cfcc with all programs
 * that it runs. The names of kernels and __constant__ data are those of the annotations; options.names, precompiled and
 * is_exact are refused. The library handles no signal, and the process may ignore SIGCHLD or collect all its children.
 * A process that ends during the call leaves cfcc running and the folder in place.
 *
 * CF_ECOMPILE: the source does not compile, or not within the time limit, or a header of the source or of
 * options.include_folders is a pipe. CF_EINVAL: an argument, an option or the cache's folder is wrong. CF_EIMAGE: the
 * output of cfcc cannot be loaded. CF_ENOCODE: NVRTC or cfcc makes no code for the GPU. CF_ENOMEM: the process, cfcc or
 * one of its compilers has no memory. CF_ENOTSUP: there is no NVRTC, and the detail lists the paths that were tried;
 * options.cfcc or CF_CFCC names no program that can be run; a signal ended cfcc; files cannot be written in TMPDIR; or
 * the calling thread's device is CF_HOST and the source is not annotated. After a failure `*program` is NULL. */
CF_CHECKED int cf_program_compile(cf_program **program, const char *source, const char *name,
                                  const cf_program_options *options);

/* An input of a link. */
typedef struct cf_program_input {
    const char *name;         /* name in messages; if `data` is NULL, the path of the file */
    const void *data;         /* NULL: the file is read */
    size_t size;              /* size of the data in bytes */
    int is_source;            /* 1: CUDA C++, which is compiled first; 0: GPU code, whose bytes tell its kind */
    const char *const *names; /* name expressions of a source, as in options.names, which stays NULL */
} cf_program_input;

/* Links `count` inputs with nvJitLink to one program for the calling thread's GPU, and loads it: kernels of one input
 * call __device__ functions of others. GPU code is PTX, a relocatable cubin, a fatbin, LTO-IR, an object file of nvcc
 * -rdc=true or an archive of such files; it is checked first. Each input has code for the GPU's capability, or PTX or
 * LTO-IR, which needs options.is_lto. `options` may be NULL; its flags for sources are those of cf_program_compile(),
 * but with is_lto the link makes the machine code and obeys only link_flags.
 *
 * nvJitLink is found as by cf_find(); it is of the driver's CUDA version or an older one, and NVRTC is of the same
 * major version. If nvJitLink does not know the GPU, the program is machine code of the newest older GPU of its
 * family, or with is_lto PTX of the newest older target. The program's name expressions are those of all sources. Its
 * log has the texts of both compiler and linker.
 *
 * The link is refused if two inputs define a symbol, unless weakly, or give its data two sizes. Not all symbols can be
 * read. If LTO-IR and other code define a symbol, the definition of the other code counts. If code is compressed and
 * the system has no libzstd.so.1 or liblz4.so.1, nvJitLink prints a line to stderr, and the first definition counts.
 * After a failure `*program` is NULL, and cf_program_log(NULL) has the whole log:
 *
 *     CF_ECOMPILE   a source does not compile, or the link fails; the detail names undefined symbols and the inputs
 *                   that need them, or a symbol with two definitions and the inputs that have them
 *     CF_EIMAGE     an input is cut off, damaged or of another kind
 *     CF_ENOCODE    an input has no code for the GPU, or nvJitLink does not link for it
 *     CF_EINVAL     an option, an input or the cache's folder is wrong; a source has a zero byte; a file cannot be read
 *     CF_ENOTSUP    as for cf_program_compile() */
CF_CHECKED int cf_program_link(cf_program **program, const cf_program_input *inputs, size_t count,
                               const cf_program_options *options);

/* ---- Kernels and data ------------------------------------------------------------------------------------------ */

struct cf_kernel;

/* Writes the descriptor of a kernel to `kernel`, for cf_call(), cf_launch() and all other functions with a descriptor;
 * the program owns it, and the same entry and signature give the same descriptor. `entry` is the kernel's name in the
 * image: its own with extern "C", else the mangled name. For a kernel of an annotated source it is the instance's name,
 * such as "scale_f32", and `signature` is NULL: the descriptor is that of the annotation.
 *
 * The signature declares the parameters in the kernel's order, then the launch:
 *
 *     signature = "(" [ parameter { "," parameter } ] ")" { clause [ "," ] }
 *     parameter = type name                                                    a value
 *               | type "*" name                                                device memory, which is not checked
 *               | ( "in" | "out" | "inout" ) type name "[" extent "]" { "[" extent "]" }     an array
 *     clause    = ( "grid" | "blocks" ) "(" x [ "," y [ "," z ] ] ")"          elements, or blocks; one is needed
 *               | "block" "(" x [ "," y [ "," z ] ] ")"                        threads of a block; 256 without it
 *               | "shared" "(" bytes ")"                                       dynamic shared memory; 0 without it
 *               | "check" "(" condition { "," condition } ")"                  on values of parameters
 *
 * The meaning and the expressions are those of an annotation (kernels/LANGUAGE.md), over the integer parameters; a
 * condition may be over real ones, too. Types are the scalars of <cuferry/scalar.h> by their names in C, such as
 * float, unsigned long long, size_t and int32_t; half, bfloat16, fp8_e4m3, fp8_e5m2; and CUDA's vectors, such as
 * float4. `void *` is a pointer only.
 *
 * The kernel is found on the calling thread's GPU, and a driver for CUDA 12.4 or newer compares the sizes of its
 * parameters. CF_EINVAL: the signature is wrong; the detail names the column and what was expected. CF_EIMAGE: the
 * image has no such kernel, or the kernel has other parameters. CF_ENOCODE: the image has no code for the GPU.
 * CF_ENOTSUP: the calling thread's device is CF_HOST, and the program has no form for the CPU. After a failure
 * `*kernel` is as before. */
CF_CHECKED int cf_program_kernel(cf_program *program, const char *entry, const char *signature,
                                 const struct cf_kernel **kernel);

/* Writes the address of a __device__ or __constant__ variable of `size` bytes in the current context to `pointer`:
 * device memory, for cf_mem_copy() and for kernels of this context. It is valid until the program is unloaded, or the
 * context is gone. `name` is the variable's name in the image; an annotated source has __constant__ variables only.
 * CF_EIMAGE: there is none, or it has another size. After a failure `*pointer` is as before. */
CF_CHECKED int cf_program_symbol(cf_program *program, const char *name, size_t size, void **pointer);

/* Attributes of a loaded kernel: enumerator, value, meaning. */
#define CF_ATTRIBUTE_LIST(X)                                             \
    X(CF_ATTRIBUTE_REGISTERS, 1, "registers of a thread")                \
    X(CF_ATTRIBUTE_SHARED, 2, "bytes of a block's static shared memory") \
    X(CF_ATTRIBUTE_LOCAL, 3, "bytes of a thread's local memory")         \
    X(CF_ATTRIBUTE_THREADS, 4, "threads that a block may have")          \
    X(CF_ATTRIBUTE_BINARY, 5, "compute capability times ten that its machine code is built for")

enum cf_attribute {
#define CF_ATTRIBUTE_ENUM(name, value, text) name = (value),
    CF_ATTRIBUTE_LIST(CF_ATTRIBUTE_ENUM)
#undef CF_ATTRIBUTE_ENUM
};

/* Writes an attribute of a kernel on the calling thread's GPU to `value`, and loads the kernel there. The kernel need
 * not belong to a program. CF_EINVAL: there is no such attribute, the kernel is an operation, or it has variants.
 * CF_ENOTSUP: on CF_HOST. */
CF_CHECKED int cf_kernel_attribute(const struct cf_kernel *kernel, int attribute, int64_t *value);

/* ---- The cache ------------------------------------------------------------------------------------------------- */

/* A folder that keeps compiled programs for later processes. The library creates it if it is missing. An entry is used
 * as long as the source, its name, the options, the device's capability, the toolkit or the program cfcc, the folders
 * that are searched for headers, and the headers are the same. The headers of a toolkit are the same if the toolkit is.
 * For an annotated source, all files that cfcc reports as read have to be the same, including compilers and the
 * generator, and so do the places of files that would be read instead, and the environment variables that change
 * compilers. Processes that compile the same program at the same time wait for the first one. A program is compiled
 * anew each time if the texts do not tell what it depends on: if they have `#include MACRO` for NVRTC, or
 * __has_include, __DATE__ and the like, even in macros, or if flags read further files or mean this machine's
 * processor. But if macros compose such a name from single letters, this is not noticed, and the program is kept.
 *
 * Code of the cache is run. So the folder, all folders above it and each entry must belong to the process's effective
 * user or root, and no other user may be able to write to them; a folder above may be sticky, as /tmp is. A folder that
 * others can change is refused, and an entry that others can have written is removed and compiled anew.
 *
 * For each function below, `folder` is the folder of the cache; NULL stands for that of CF_CACHE. CF_EINVAL: there is
 * no such folder, others can change it, or an entry cannot be removed. CF_ENOMEM: there is no memory for the list of
 * its entries. Any thread or process may call them at any time. */
typedef struct cf_cache_state {
    uint64_t bytes, entries; /* size and number of the compiled programs */
    uint64_t hits, misses;   /* counts since the cache was cleared */
    uint64_t cap;            /* maximum size in bytes */
} cf_cache_state;

/* Writes the state of the cache. */
CF_CHECKED int cf_cache_query(const char *folder, cf_cache_state *state);

/* Removes all entries, and sets hits and misses to 0. */
CF_CHECKED int cf_cache_clear(const char *folder);

/* Sets the bytes that the cache may hold, at first CF_CACHE_CAP. When it has more, the least recently used entries are
 * removed, now and whenever an entry is added. */
#define CF_CACHE_CAP ((uint64_t)1 << 30)
CF_CHECKED int cf_cache_cap(const char *folder, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
