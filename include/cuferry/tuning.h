/* tuning.h - which variant of a kernel with tune(...) runs, and the file of measurements that decides it.
 *
 * A kernel whose annotation says tune(...) is built once for each of its values: its descriptor's `variants`. A call of
 * its C function, or of cf_call() and cf_launch() with its own descriptor, runs the one that was measured to be the
 * fastest on the device's architecture at the call's size; one of its variants runs as it is. cf-tune measures and
 * writes the file; programs need nothing of this header for that to take effect. cf-tune(1) has the format.
 *
 * The file is read once, when the first tuned kernel is launched, and again after cf_shutdown(): within a process the
 * same call always runs the same variant, but where the device has not the registers or the shared memory for it: the
 * first runs then, also for all later calls of its class. Any thread may call these functions. */
#ifndef CUFERRY_TUNING_H
#define CUFERRY_TUNING_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls are told apart by the bytes that they move: class c has those of 2^c bytes to less than 2^(c + 1), and class 0
 * those of none, too. The bytes are what bytes(...) declares, else those of the arrays' sections, once for each way in
 * which they are read and written. */
#define CF_TUNING_CLASSES 64

/* Writes the class of a call with these arguments, which are those of cf_launch(); those of arrays are not read, and may
 * be NULL. Kernels without variants have one, too. Where it cannot be worked out, as of an extent that is negative, that
 * is what a call would fail with. */
CF_CHECKED int cf_tuning_class(const cf_kernel *kernel, void *const args[], int *size_class);

/* Writes the variant that a call of that class runs on the calling thread's device; the kernel itself where it has no
 * variants, or is one. */
CF_CHECKED int cf_tuning_variant(const cf_kernel *kernel, int size_class, const cf_kernel **variant);

/* Writes the path of the file that is read, with its closing 0: $CF_TUNING, else cuferry/tuning in $XDG_CACHE_HOME or
 * ~/.cache. It need not exist. CF_ENOTSUP where there is none: CF_TUNING is set and empty, or there is no home. */
CF_CHECKED int cf_tuning_path(char *path, size_t size);

/* The result of one measurement. */
typedef struct cf_tuning {
    const cf_kernel *variant; /* the fastest: one of a kernel's variants */
    int capability;           /* compute capability times ten, as CF_PROPERTY_CAPABILITY has it; 0: on the CPU */
    int size_class;
    double seconds;       /* that a launch of it takes */
    double first_seconds; /* that one of the first variant takes */
} cf_tuning;

/* Adds results to the file at `path`, NULL: that of cf_tuning_path(), in place of those that it has for the same kernel,
 * architecture and class; what else it has stays. Several processes may do so at the same time: each holds a lock on
 * PATH.lock meanwhile, and the file is replaced as a whole or not at all. Lines that are
 * damaged go. A file that is not empty and does not begin as one of this library's is left alone. Missing folders of the
 * default path are made. Without results nothing is written, and what is there is looked at alone. CF_EINVAL where it cannot be, with the reason. */
CF_CHECKED int cf_tuning_save(const char *path, const cf_tuning *results, size_t count);

/* ---- The machine ---- */

/* Constants of the machine, by which a call on host arrays goes to the GPU or to the CPU. Columns: name; default; number of
 * threads up to which the default is multiplied by their number, 1: not at all; least and greatest value of a file. Units:
 * seconds for latencies, bytes per second for links and bandwidths, operations per second for flops, accesses per second
 * for random. cf-tune --machine measures all of them; man cf-tune says what each one is. */
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

/* The file is text: this line, then for each machine that it is of the lines of cf_machine_identity(), one line "NAME
 * NUMBER" for each of the above, in that order and with numbers like 51e9, and a last line "end". */
#define CF_MACHINE_HEADER "cuferry machine 1\n"
#define CF_MACHINE_BYTES ((size_t)1 << 16) /* that are read; what follows them is not looked at */

/* Writes the path of the file that is read, with its closing 0, to `size` bytes at `path`; 4096 are enough:
 * $CF_MACHINE_FILE, else cuferry/machine in $XDG_CACHE_HOME or ~/.cache. The file need not exist. CF_ENOTSUP where there
 * is no path: CF_MACHINE_FILE is set and empty, or there is no home. CF_EINVAL, and nothing is written, where path is NULL
 * or size too small. Any thread may call it at any time. */
CF_CHECKED int cf_machine_path(char *path, size_t size);

/* Writes the lines that constants of the calling thread's GPU and of this process's CPU begin with, with their closing 0,
 * to `size` bytes at `text`; 2048 are enough: the GPU, its driver, the processor and the number of threads. Starts the
 * driver and the worker threads where they have not been started. CF_ENOTSUP on the CPU, where nothing is decided;
 * CF_EINVAL, and nothing is written, where text is NULL or size too small. Any thread may call it at any time. */
CF_CHECKED int cf_machine_identity(char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
