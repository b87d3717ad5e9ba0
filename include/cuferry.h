/* cuferry.h - call CUDA kernels as typed C functions, on a GPU or on the CPU.
 *
 * The entry points of the bundled kernels are in <cuferry/kernels.h>, their descriptions in <cuferry/registry.h>.
 *
 * Rules that hold for every function here, unless its own comment says otherwise:
 *
 * - It returns CF_OK (0) or a negative status. On failure cf_last_error() has one line of detail for the calling thread,
 *   and everything is as it was before the call. Nothing is printed, and the process is never ended; only a pointer to
 *   memory that is not there faults on the CPU, as in any C function.
 * - It may be called from any thread at any time; nothing has to be initialised first. The exception is cf_shutdown().
 * - After it the calling thread's current CUDA context is what it was before.
 * - Sizes are in bytes, times in milliseconds.
 */
#ifndef CUFERRY_H
#define CUFERRY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CF_VERSION_MAJOR 0
#define CF_VERSION_MINOR 1
#define CF_VERSION_PATCH 0
#define CF_VERSION (CF_VERSION_MAJOR * 10000 + CF_VERSION_MINOR * 100 + CF_VERSION_PATCH)

/* The driver's own types: a cudaStream_t or CUstream of any library in the process passes as it is. NULL is CUDA's
 * legacy default stream of the device of the call. */
typedef struct CUstream_st *cf_stream;
typedef struct CUevent_st *cf_event;

#if defined __GNUC__
#define CF_CHECKED __attribute__((warn_unused_result))
#else
#define CF_CHECKED
#endif

/* ---- Status ---------------------------------------------------------------------------------------------------- */

/* The one list of status codes: name, value, text. */
#define CF_STATUS_LIST(X)                                                 \
    X(CF_OK, 0, "success")                                                \
    X(CF_EINVAL, -1, "invalid argument")                                  \
    X(CF_EOVERFLOW, -2, "a size or a count does not fit its type")        \
    X(CF_ERANGE, -3, "an element lies outside its declared range")        \
    X(CF_ENOMEM, -4, "out of memory")                                     \
    X(CF_ENODEV, -5, "no such device")                                    \
    X(CF_EDRIVER, -6, "the driver cannot be used")                        \
    X(CF_EIMAGE, -7, "the kernel image cannot be read")                   \
    X(CF_ENOCODE, -8, "the kernel image has no code for the device")      \
    X(CF_ENOTSUP, -9, "not supported here")                               \
    X(CF_ENOTREADY, -10, "the work has not finished yet")                 \
    X(CF_ECAPTURE, -11, "not permitted while a stream is being captured") \
    X(CF_EFAULT, -12, "a kernel failed; its context is lost")             \
    X(CF_ECALL, -13, "a driver call failed")

enum cf_status {
#define CF_STATUS_ENUM(name, value, text) name = (value),
    CF_STATUS_LIST(CF_STATUS_ENUM)
#undef CF_STATUS_ENUM
};

/* The name of a status, such as "CF_EINVAL", and its text; "CF_?" and "unknown status" for any other number.
 * The strings are static. */
const char *cf_status_name(int status);
const char *cf_status_text(int status);

/* The detail of the calling thread's latest failure, naming the entry point, the argument and its value, or the driver
 * call and its result: "cf_gather_f32_i32: index[17] = 134217728 is outside [0, 134217728)". Empty before the first
 * failure; a call that succeeds leaves it alone. Owned by the library, valid until the thread's next failing call. */
const char *cf_last_error(void);

/* The driver's own code (a CUresult) behind the calling thread's latest failure; 0 where no driver call failed. */
int cf_last_driver_result(void);

/* CF_VERSION of the library that is linked; CF_VERSION itself is that of this header. */
int cf_version(void);

/* ---- Devices --------------------------------------------------------------------------------------------------- */

/* The CPU, as a device number. GPUs are 0, 1, ... in the driver's order. */
#define CF_HOST (-1)

/* Where a call runs: on the device of its stream; without a stream, on the device of the thread's cf_device_use();
 * else on that of the CUDA context current on the thread; else on the default device. That is GPU 0, in its primary
 * context, or CF_HOST where there is no driver or no GPU. The environment variable CF_DRIVER=cuda or CF_DRIVER=host
 * decides for the process, at its first use of the library. A GPU that is there and cannot be used is an error, never
 * a silent move to the CPU. */

/* Writes the number of GPUs that this process may use: 0 where calls run on the CPU by default. */
CF_CHECKED int cf_device_count(int *count);

/* Makes `device` (CF_HOST or a GPU's number) the calling thread's device for calls without a stream.
 * CF_ENODEV where there is no such device. CF_HOST is always there. */
CF_CHECKED int cf_device_use(int device);

/* Writes the device on which the calling thread's next call without a stream would run. */
CF_CHECKED int cf_device_current(int *device);

/* Writes the device's name, cut to `size` bytes with its closing zero; CF_HOST's is the processor's. */
CF_CHECKED int cf_device_name(int device, char *name, size_t size);

/* Waits until all work on the calling thread's device is done. Reports what went wrong in it. */
CF_CHECKED int cf_device_sync(void);

/* What cf_require() can insist on. */
enum cf_requirement { CF_CUDA = 1 };

/* Succeeds where what is required can be used; otherwise says why not: no driver, no GPU, too old a driver. */
CF_CHECKED int cf_require(int requirement);

/* Gives everything back: images, contexts, threads, memory from cf_mem_alloc() on CF_HOST, streams and events of
 * CF_HOST. GPU memory, streams and events that are still alive stay the caller's to free before this call. A later call
 * starts the library anew. Not to be called while another thread is inside the library. */
CF_CHECKED int cf_shutdown(void);

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Device memory is a plain pointer: on a GPU it can be passed to kernels and to the functions below but not read by the
 * CPU; on CF_HOST it is ordinary memory. Functions that take a pointer accept host memory too, and infer the direction.
 */

/* Allocates `bytes` on the calling thread's device, aligned to 256 bytes; the caller owns it until cf_mem_free().
 * 0 bytes give NULL. CF_ENOMEM where there is not enough. */
CF_CHECKED int cf_mem_alloc(void **pointer, size_t bytes);

/* Frees what cf_mem_alloc() gave, on whatever device it is, once the device's work with it is done. NULL is fine. */
CF_CHECKED int cf_mem_free(void *pointer);

/* Copies `bytes` from `source` to `target`; complete when it returns. The ranges must not overlap. */
CF_CHECKED int cf_mem_copy(void *target, const void *source, size_t bytes);

/* The same, enqueued on `stream`. Host memory must stay valid, and unchanged where it is read, until the stream gets
 * there. */
CF_CHECKED int cf_mem_copy_async(cf_stream stream, void *target, const void *source, size_t bytes);

/* Sets each of `bytes` bytes of device memory to `value`; complete when it returns. */
CF_CHECKED int cf_mem_fill(void *target, unsigned char value, size_t bytes);

/* The same, enqueued on `stream`. */
CF_CHECKED int cf_mem_fill_async(cf_stream stream, void *target, unsigned char value, size_t bytes);

/* ---- Streams and events ---------------------------------------------------------------------------------------- */

/* On CF_HOST work is done when the call that enqueues it returns. */

/* Creates a stream on the calling thread's device; work in it is not ordered with the default stream's.
 * The caller owns it until cf_stream_destroy(), which lets enqueued work finish and takes NULL. */
CF_CHECKED int cf_stream_create(cf_stream *stream);
CF_CHECKED int cf_stream_destroy(cf_stream stream);

/* Waits until the work in `stream` is done. Reports what went wrong in it. */
CF_CHECKED int cf_stream_sync(cf_stream stream);

/* CF_OK where all work in `stream` is done, CF_ENOTREADY (no detail is written) where not. */
CF_CHECKED int cf_stream_query(cf_stream stream);

/* Holds back later work in `stream` until the work that `event` has recorded is done. */
CF_CHECKED int cf_stream_wait(cf_stream stream, cf_event event);

/* Creates an event on the calling thread's device. The caller owns it until cf_event_destroy(), which takes NULL. */
CF_CHECKED int cf_event_create(cf_event *event);
CF_CHECKED int cf_event_destroy(cf_event event);

/* Marks the present end of `stream`; both must be of one device. */
CF_CHECKED int cf_event_record(cf_event event, cf_stream stream);

/* Waits for the work before the recorded mark; an event never recorded counts as done. */
CF_CHECKED int cf_event_sync(cf_event event);

/* CF_OK where that work is done, CF_ENOTREADY (no detail is written) where not. */
CF_CHECKED int cf_event_query(cf_event event);

/* Writes the milliseconds between two recorded marks of one device. CF_ENOTREADY where one has not been reached,
 * CF_EINVAL where one was never recorded. */
CF_CHECKED int cf_event_elapsed(float *milliseconds, cf_event start, cf_event stop);

/* ---- Kernels --------------------------------------------------------------------------------------------------- */

/* Descriptors of a kernel, of a step of an expression in it, of data in __constant__ memory, and of a library: see
 * <cuferry/registry.h>. */
struct cf_kernel;
struct cf_op;
struct cf_symbol;
struct cf_module;

/* Both take one pointer per parameter in `args`, to a value of the parameter's type, as the typed entry points do; that
 * of a scratch parameter is not looked at and may be NULL, since the library supplies the memory: of the stream's device
 * for the time of the launch, CF_ENOMEM where there is not enough.
 * Both check the scalars: extents and lower bounds that are negative or past 2^63 - 1 bytes, pitches shorter than their
 * rows, declared conditions, NULL where the extent is not 0, and the launch itself: its grid, its block, its shared
 * memory. A launch with nothing to do succeeds without one. CF_ENOTSUP where a kernel has no form for the CPU and the
 * call runs there.
 *
 * cf_call() is the plain entry points' tier, complete and safe: pointers may be host or device memory, arrays are
 * checked against the memory they lie in and every element against its declared range, the work is done when it
 * returns. When a check fails the outputs are untouched and the lowest offending index is named. Of an array in host
 * memory the section that the kernel declares is copied, and nothing between its rows is read or written.
 *
 * cf_launch() is the `_async` entry points' tier, raw and ordered: device memory only, nothing but scalars is checked,
 * the work is enqueued on `stream`. The environment variable CF_CHECK=1, read when the library is first used, makes it
 * check its pointers too. */
CF_CHECKED int cf_call(const struct cf_kernel *kernel, void *const args[]);
CF_CHECKED int cf_launch(const struct cf_kernel *kernel, cf_stream stream, void *const args[]);

/* Evaluates an expression of the kernel's annotation, such as an extent, over `args`, of which only the integers that
 * stand in it are read: its first `count` steps, or with SIZE_MAX all of them. CF_EOVERFLOW where the arithmetic
 * overflows or divides by 0. */
CF_CHECKED int cf_kernel_evaluate(const struct cf_kernel *kernel, const struct cf_op *ops, size_t count,
                                  void *const args[], int64_t *value);

/* The same of one that serves reports and comparisons (bytes, flops, tolerance), over real numbers: floating-point
 * parameters and constants may stand in it, of any width, and division is that of real numbers. Nothing overflows:
 * dividing by 0 gives infinity or a NaN, as in C. CF_EINVAL where it reads a parameter that is no number. */
CF_CHECKED int cf_kernel_evaluate_real(const struct cf_kernel *kernel, const struct cf_op *ops, void *const args[],
                                       double *value);

/* ---- Constants ------------------------------------------------------------------------------------------------- */

/* Both copy `value`, all elements of the symbol, to the data that kernels read in __constant__ memory: that of the device
 * where the call runs, in its current context; other devices keep theirs, and GPUs lose it at cf_shutdown(). On
 * CF_HOST it is the data of the CPU's form of the kernels. The first use on a device loads the symbol's image. `value` may
 * be host memory, or memory of the call's device.
 *
 * Kernels that run at the same time see the old data, the new, or a mixture: keeping them apart is the caller's. A launch
 * that follows in the same stream sees the new data; after cf_symbol_set(), so does one in any stream.
 *
 * cf_symbol_set() is done when it returns. cf_symbol_set_async() enqueues the copy on `stream`. Host memory of at most
 * CF_SYMBOL_AT_ONCE bytes is read before it returns; more must stay valid and unchanged until the stream gets there. */
#define CF_SYMBOL_AT_ONCE 32
CF_CHECKED int cf_symbol_set(const struct cf_symbol *symbol, const void *value);
CF_CHECKED int cf_symbol_set_async(cf_stream stream, const struct cf_symbol *symbol, const void *value);

#ifdef __cplusplus
}
#endif
#endif
