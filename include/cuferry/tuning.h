/* tuning.h - which variant of a kernel with tune(...) runs, and the file of measurements that decides it.
 *
 * A kernel with tune(...) in its annotation is built once for each value: its descriptor's `variants`. A call of its C
 * function, or of cf_call() or cf_launch() with its descriptor, runs the variant that was the fastest on the device's
 * architecture at the call's size. A call with a variant's descriptor runs that variant. cf-tune measures and writes
 * the file; programs need this header only to ask about it. cf-tune(1) documents the format.
 *
 * The library reads the file at the first launch of a tuned kernel, and again after cf_shutdown(). In between the same
 * call always runs the same variant, with one exception: if the device lacks the registers or the shared memory for it,
 * the first variant runs, for all later calls of the class too. Any thread may call these functions at any time. */
#ifndef CUFERRY_TUNING_H
#define CUFERRY_TUNING_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A call's class depends on the bytes that it moves: class c has 2^c bytes to less than 2^(c + 1), and class 0 also has
 * 0 bytes. bytes(...) declares the number; else it is the size of the arrays' sections, counted once for reading and
 * once for writing. */
#define CF_TUNING_CLASSES 64

/* Writes the class of a call with `args`, as in cf_launch(), to `size_class`. It does not read the entries of arrays,
 * which may be NULL. Kernels without variants have classes too. If the class cannot be computed, for example because an
 * extent is negative, the status is that of the call. */
CF_CHECKED int cf_tuning_class(const cf_kernel *kernel, void *const args[], int *size_class);

/* Writes the variant that a call of `size_class` runs on the calling thread's device to `variant`. For a kernel without
 * variants, and for a variant, this is `kernel` itself. The descriptor is static. */
CF_CHECKED int cf_tuning_variant(const cf_kernel *kernel, int size_class, const cf_kernel **variant);

/* Writes the path of the tuning file, with its terminating 0, to `size` bytes at `path`: $CF_TUNING, else
 * cuferry/tuning in $XDG_CACHE_HOME or ~/.cache. The file need not exist. CF_ENOTSUP: there is no path, because
 * CF_TUNING is empty or there is no home. */
CF_CHECKED int cf_tuning_path(char *path, size_t size);

/* The result of one measurement. */
typedef struct cf_tuning {
    const cf_kernel *variant; /* the fastest variant of a kernel */
    int capability;           /* compute capability times ten, as in CF_PROPERTY_CAPABILITY; 0: on the CPU */
    int size_class;
    double seconds;       /* time of one launch of the variant */
    double first_seconds; /* time of one launch of the first variant */
} cf_tuning;

/* Adds `count` results to the file at `path` (NULL: the path of cf_tuning_path()). They replace results for the same
 * kernel, architecture and class; other results are kept, and damaged lines are removed. Missing folders of the default
 * path are created. With a count of 0 nothing is written, and the file is only checked. CF_EINVAL, with the reason: the
 * file cannot be written, or it is not empty and not a tuning file; it is then not changed.
 *
 * Several processes may save at the same time: each holds a lock on PATH.lock, and the file is replaced as a whole or
 * not at all. */
CF_CHECKED int cf_tuning_save(const char *path, const cf_tuning *results, size_t count);

/* ---- The machine ---- */

/* Constants of the machine, which decide if a call on host arrays runs on the GPU or on the CPU. Columns: name;
 * default; number of threads up to which the default is multiplied by the number of threads (1: never); least and
 * greatest valid value. Units: seconds for latencies, bytes per second for links and bandwidths, operations per second
 * for flops, accesses per second for random. cf-tune --machine measures them; man cf-tune explains each constant. */
#define CF_MACHINE_LIST(X)                  \
    X(stage_latency, 4e-5, 1, 2e-5, 1e-3)   \
    X(host_to_device, 1e10, 2, 1e9, 1e12)   \
    X(device_to_host, 1e10, 2, 1e9, 1e12)   \
    X(pool_latency, 2e-5, 1, 1e-6, 1e-3)    \
    X(thread_bandwidth, 1e10, 1, 4e9, 1e12) \
    X(thread_flops, 4e9, 1, 1e9, 1e12)      \
    X(thread_random, 5e7, 1, 1e7, 1e10)     \
    X(pool_bandwidth, 1e10, 12, 4e9, 1e14)  \
    X(pool_flops, 4e9, 1024, 1e9, 1e15)     \
    X(pool_random, 5e7, 12, 1e7, 1e12)

/* The machine file is text. It has this line, then for each machine the lines of cf_machine_identity(), one line "NAME
 * NUMBER" for each constant above in that order, with numbers such as 51e9, and a line "end". */
#define CF_MACHINE_HEADER "cuferry machine 1\n"
#define CF_MACHINE_BYTES ((size_t)1 << 16) /* bytes of the file that are read; the rest is ignored */

/* Writes the path of the machine file, with its terminating 0, to `size` bytes at `path`; 4096 bytes suffice. The path
 * is $CF_MACHINE_FILE, else cuferry/machine in $XDG_CACHE_HOME or ~/.cache. The file need not exist. CF_ENOTSUP: there
 * is no path, because CF_MACHINE_FILE is empty or there is no home. CF_EINVAL: path is NULL or size too small; nothing
 * is written. Any thread may call it at any time. */
CF_CHECKED int cf_machine_path(char *path, size_t size);

/* Writes the lines that identify this machine in the machine file, with a terminating 0, to `size` bytes at `text`;
 * 2048 bytes suffice. They name the calling thread's GPU, its driver, the processor and the number of threads. The
 * function starts the driver and the worker threads if necessary. CF_ENOTSUP: the device is the CPU, which needs no
 * constants. CF_EINVAL: text is NULL or size too small; nothing is written. Any thread may call it at any time. */
CF_CHECKED int cf_machine_identity(char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
