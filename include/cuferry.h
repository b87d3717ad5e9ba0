/* cuferry.h - call CUDA kernels as typed C functions, on a GPU or on the CPU.
 *
 * The entry points of the bundled kernels are in <cuferry/kernels.h>, their descriptions in <cuferry/registry.h>.
 *
 * Rules that hold for every function here, unless its own comment says otherwise:
 *
 * - It returns CF_OK (0) or a negative status. On failure cf_last_error() has one line of detail for the calling
 *   thread, and everything is as it was before the call. Nothing is printed, and the process is never ended; only a
 *   pointer to memory that is not there faults on the CPU, as in any C function. Streams, events and graphs that were
 *   destroyed must not be used again: on a GPU that may fault in the driver, or reach another that got the same handle.
 * - It may be called from any thread at any time; nothing has to be initialised first. The exception is cf_shutdown().
 * - After it the calling thread's current CUDA context is what it was before.
 * - Threads must not be cancelled (pthread_cancel()) inside a call.
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
typedef struct CUgraph_st *cf_graph;
typedef struct CUgraphExec_st *cf_graph_exec;

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
    X(CF_ECALL, -13, "a driver call failed")                              \
    X(CF_EFORK, -14, "the GPU was in use before this process was forked")

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

/* What cf_set_log() hands out: CF_LOG_ERROR is the detail of every failing call, CF_LOG_INFO what happens once or
 * rarely (the driver that was chosen, images loaded, files that do not count, contexts lost or reset). */
enum cf_log_level { CF_LOG_ERROR = 1, CF_LOG_INFO = 2 };

/* Calls `log` with `data`, a level and one line of text without its end, from then on and on whatever thread it
 * happens; NULL ends that. The text is the callback's until it returns. Replacing a callback while other threads are
 * inside the library may give it one last call. cf_shutdown() leaves the callback in place.
 *
 * The thread holds none of the library's locks, and the callback may fork(). The child may call the library, on CF_HOST;
 * it gets no lines before it leaves the callback, and must end in the callback where the call that told the line was on a
 * GPU. Otherwise the callback must not call the library, and it must return: no exception may leave it, nor longjmp(), after which
 * the thread stays marked as inside the callback, gets no more lines, and has calls fail. */
typedef void cf_log(void *data, int level, const char *text);
void cf_set_log(cf_log *log, void *data);

/* ---- Devices --------------------------------------------------------------------------------------------------- */

/* The CPU, as a device number. GPUs are 0, 1, ... in the driver's order. */
#define CF_HOST (-1)

/* Where a call runs: on the device of its stream; without a stream, on the device of the thread's cf_device_use();
 * else on that of the CUDA context current on the thread; else on the default device. That is GPU 0, in its primary
 * context, or CF_HOST where there is no driver or no GPU. The environment variable CF_DRIVER=cuda or CF_DRIVER=host
 * decides for the process, at its first use of the library. A GPU or a driver that is there and cannot be used is an
 * error (CF_EDRIVER), never a silent move to the CPU: there is no driver only where no file libcuda.so.1 is found, and in a static
 * program, which can open none. */

/* Writes the number of GPUs that this process may use: 0 where calls run on the CPU by default. */
CF_CHECKED int cf_device_count(int *count);

/* Makes `device` (CF_HOST or a GPU's number) the calling thread's device for calls without a stream.
 * CF_ENODEV where there is no such device. CF_HOST is always there. */
CF_CHECKED int cf_device_use(int device);

/* Writes the device on which the calling thread's next call without a stream would run. */
CF_CHECKED int cf_device_current(int *device);

/* Properties: enumerator, value, meaning. Where a device cannot say, as CF_HOST of what GPUs alone have, the value
 * is 0. */
#define CF_PROPERTY_LIST(X)                                                                    \
    X(CF_PROPERTY_MEMORY, 1, "bytes of memory")                                                \
    X(CF_PROPERTY_MEMORY_FREE, 2, "bytes of it that are free now; starts the device")          \
    X(CF_PROPERTY_CAPABILITY, 3, "compute capability times ten: 90")                           \
    X(CF_PROPERTY_MULTIPROCESSORS, 4, "multiprocessors; on CF_HOST, threads that run kernels") \
    X(CF_PROPERTY_THREADS_PER_BLOCK, 5, "most threads of a block")                             \
    X(CF_PROPERTY_THREADS_PER_MULTIPROCESSOR, 6, "most resident threads of a multiprocessor")  \
    X(CF_PROPERTY_SHARED_PER_BLOCK, 7, "most bytes of shared memory of a block, on request")   \
    X(CF_PROPERTY_REGISTERS_PER_BLOCK, 8, "registers that a block may use")                    \
    X(CF_PROPERTY_WARP_SIZE, 9, "threads of a warp")                                           \
    X(CF_PROPERTY_L2_CACHE, 10, "bytes of level-2 cache")                                      \
    X(CF_PROPERTY_CLOCK_KHZ, 11, "clock rate in kHz")                                          \
    X(CF_PROPERTY_MEMORY_CLOCK_KHZ, 12, "memory clock rate in kHz")                            \
    X(CF_PROPERTY_MEMORY_BUS_BITS, 13, "width of the memory bus")                              \
    X(CF_PROPERTY_COPY_ENGINES, 14, "copies that run beside kernels")                          \
    X(CF_PROPERTY_PAGEABLE_ACCESS, 15, "1: reaches ordinary host memory by itself")            \
    X(CF_PROPERTY_MANAGED_MEMORY, 16, "1: has managed memory")                                 \
    X(CF_PROPERTY_COOPERATIVE_LAUNCH, 17, "1: takes cooperative kernels")                      \
    X(CF_PROPERTY_MEMORY_POOLS, 18, "1: has stream-ordered allocation")                        \
    X(CF_PROPERTY_INTEGRATED, 19, "1: its memory is the CPU's")

enum cf_property {
#define CF_PROPERTY_ENUM(name, value, text) name = (value),
    CF_PROPERTY_LIST(CF_PROPERTY_ENUM)
#undef CF_PROPERTY_ENUM
};

/* Writes a property of a device. CF_EINVAL where the number is none of the list's. */
CF_CHECKED int cf_device_property(int device, int property, int64_t *value);

/* Writes the device's name, cut to `size` bytes with its closing zero; CF_HOST's is the processor's. */
CF_CHECKED int cf_device_name(int device, char *name, size_t size);

/* Waits until all work on the calling thread's device is done. Reports what went wrong in it.
 *
 * A kernel that faults takes its context along: CF_EFAULT comes from the next call that hears of it, and from every
 * later one in that context, until it is reset or destroyed or the process ends; other devices and CF_HOST go on. The
 * detail names the kernels that were running, as far as the library can know: those that were launched through it in
 * the context and that no wait has found to be done. Kernels of other libraries it does not know; those of a graph are
 * "a graph". */
CF_CHECKED int cf_device_sync(void);

/* Writes 1 where kernels on `device` can be let reach memory of the GPU `peer`, else 0; of a device and itself, 1.
 * Copies need none of this: cf_mem_copy() takes memory of any two devices. */
CF_CHECKED int cf_peer_possible(int device, int peer, int *possible);

/* Lets kernels in the primary context of `device` reach the memory that cf_mem_alloc() and cf_mem_alloc_async() give
 * on `peer`, now and later; one way, until it is undone or cf_shutdown() undoes it. Both start the two devices.
 * Doing it twice, or undoing what was not done, succeeds; what another library in the process has enabled stays so.
 * CF_ENOTSUP where it is not possible. */
CF_CHECKED int cf_peer_enable(int device, int peer);
CF_CHECKED int cf_peer_disable(int device, int peer);

/* Destroys everything in the primary context of a GPU, whoever made it: memory, streams, events, graphs, modules,
 * those of other libraries in the process too; and makes it usable again where the driver allows that after a
 * kernel's fault. The only call that takes such a context away, and never made by the library itself. Streams,
 * events and graphs that the library made there are refused from then on with CF_EINVAL, for as long as the driver
 * does not give the same handle anew. No other thread may be using the device. CF_EFAULT where the driver still
 * reports the fault: the process has to end then. On CF_HOST it frees memory, streams, events and graphs.
 *
 * What cf_mem_alloc_async() gave, but in a graph, is in no context but the GPU's own: it holds what it held, and stays
 * the caller's to free, with cf_mem_free() say. A fault may have taken it along: CF_EINVAL, and it is to be used no
 * more. */
CF_CHECKED int cf_device_reset(int device);

/* What cf_require() can insist on. */
enum cf_requirement { CF_CUDA = 1 };

/* Succeeds where what is required can be used; otherwise says why not: no driver, no GPU, too old a driver. */
CF_CHECKED int cf_require(int requirement);

/* Gives everything back: images, contexts, threads, staging buffers, pools, memory from cf_mem_alloc() on CF_HOST,
 * streams, events and graphs of CF_HOST; ends the trace. GPU memory, streams, events and graphs that are still alive
 * stay the caller's to free before this call. A later call starts the library anew, with what the cf_set_
 * functions and each thread's cf_device_use() have set. Not to be called while another thread is inside the library. A
 * shared object that holds the library does it when it is closed.
 *
 * After fork() a child may use the CPU, also where the parent used a GPU: cf_device_use(CF_HOST). Calls that need a
 * GPU that was in use before the fork give CF_EFORK there; cf_shutdown() in the child leaves what is the parent's
 * alone. */
CF_CHECKED int cf_shutdown(void);

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Device memory is a plain pointer: on a GPU it can be passed to kernels and to the functions below but not read by the
 * CPU; on CF_HOST it is ordinary memory. Functions that take a pointer accept host memory too, and infer the direction.
 */

/* Allocates `bytes` on the calling thread's device, aligned to 256 bytes; the caller owns it until cf_mem_free()
 * or cf_mem_free_async(): the library knows of it, and what else frees it behind the library's back has later calls
 * use memory that is gone. 0 bytes give NULL. CF_ENOMEM where there is not enough. */
CF_CHECKED int cf_mem_alloc(void **pointer, size_t bytes);

/* The same of host memory that every GPU reaches by itself (pinned, page-locked): copies run at the speed of the
 * link and beside kernels, and the calls below use it in place. It is taken from the system: for buffers, not for
 * everything. On CF_HOST it is ordinary memory. */
CF_CHECKED int cf_mem_alloc_pinned(void **pointer, size_t bytes);

/* Frees what these two gave, on whatever device it is, once the device's work with it is done; what
 * cf_mem_alloc_async() gave, too, with a wait for all work of the device (CF_ECAPTURE while a stream of it is being
 * captured). NULL is fine. Memory that another library in the process has from cuMemAlloc(), cuMemAllocManaged() or
 * cuMemHostAlloc() is freed as well; CF_EINVAL for any other, such as registered host memory, and for what is not
 * the beginning of an allocation. */
CF_CHECKED int cf_mem_free(void *pointer);

/* Allocates on the stream's device, and frees, in the stream's order: work that is enqueued on `stream` behind the
 * one and before the other may use the memory; other streams have to wait for the first by an event. The memory
 * comes from a pool that the library keeps for each GPU and gives back to nobody until cf_mem_trim() or
 * cf_shutdown(), or until other allocations on the GPU need it; that of the GPU's own pools is left alone. 0 bytes
 * give NULL, NULL is fine. In a stream that is being captured both become part of the graph; memory that the graph
 * does not free is freed by the caller, between two runs. CF_HOST allocates and frees at once. A GPU that has no
 * pools (CF_PROPERTY_MEMORY_POOLS) allocates at once, waits for the stream before it frees, and gives CF_ENOTSUP in
 * a stream that is being captured. Memory may be freed on a stream of another GPU, too. */
CF_CHECKED int cf_mem_alloc_async(cf_stream stream, void **pointer, size_t bytes);
CF_CHECKED int cf_mem_free_async(cf_stream stream, void *pointer);

/* Gives back what that pool of the calling thread's device keeps, until it has no more than `keep` bytes left, those
 * that are in use included: these stay. The default stream and streams of cf_stream_create() on which kernels with
 * scratch memory were launched keep that, at most 2 MiB each, for the next; it goes, too, where no launch can be using
 * it, as after cf_device_sync(). Scratch memory for streams of other libraries comes from the pool for each launch. */
CF_CHECKED int cf_mem_trim(size_t keep);

/* Copies `bytes` from `source` to `target`; complete when it returns, and done after what the default streams of the
 * devices whose memory it is have had to do so far. Either may be memory of any device, or host memory. The ranges
 * must not overlap. */
CF_CHECKED int cf_mem_copy(void *target, const void *source, size_t bytes);

/* The same, enqueued on `stream`. Host memory must stay valid, and unchanged where it is read, until the stream gets
 * there. Memory of a GPU takes a stream of a GPU; with a default stream of CF_HOST the copy is done when this
 * returns. */
CF_CHECKED int cf_mem_copy_async(cf_stream stream, void *target, const void *source, size_t bytes);

/* Copies `rows` rows of `width` bytes that begin `source_pitch` and `target_pitch` bytes after one another; what is
 * between the rows is not touched. Pitches are at least `width`; with pitches past 2^31 - 1, and between two GPUs
 * where rows have gaps, it is done row by row. The rows must not overlap. With a width of 0, or no rows, nothing is
 * done. Else as the two above. */
CF_CHECKED int cf_mem_copy_2d(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                              size_t rows);
CF_CHECKED int cf_mem_copy_2d_async(cf_stream stream, void *target, size_t target_pitch, const void *source,
                                    size_t source_pitch, size_t width, size_t rows);

/* Sets each of `bytes` bytes of device memory, or of page-locked memory, to `value`; complete when it returns.
 * Ordinary host memory is CF_EINVAL on a GPU that does not reach it; on CF_HOST all memory is the device's. */
CF_CHECKED int cf_mem_fill(void *target, unsigned char value, size_t bytes);

/* The same, enqueued on `stream`, which is of the memory's kind of device: a GPU or CF_HOST. */
CF_CHECKED int cf_mem_fill_async(cf_stream stream, void *target, unsigned char value, size_t bytes);

/* ---- Streams and events ---------------------------------------------------------------------------------------- */

/* On CF_HOST work is done when the call that enqueues it returns. */

/* Creates a stream on the calling thread's device; work in it is not ordered with the default stream's.
 * The caller owns it until cf_stream_destroy(), which lets enqueued work finish and takes NULL. */
CF_CHECKED int cf_stream_create(cf_stream *stream);
CF_CHECKED int cf_stream_destroy(cf_stream stream);

/* The same with a priority, as CUDA counts them: smaller numbers go first, and others than the device has are moved
 * to the nearest. `least` and `greatest` are what the calling thread's device has: 0 and -5, say; 0 and 0 where all
 * are alike. */
CF_CHECKED int cf_stream_create_with_priority(cf_stream *stream, int priority);
CF_CHECKED int cf_stream_priorities(int *least, int *greatest);

/* Writes the number of the stream's device. */
CF_CHECKED int cf_stream_device(cf_stream stream, int *device);

/* Waits until the work in `stream` is done. Reports what went wrong in it. */
CF_CHECKED int cf_stream_sync(cf_stream stream);

/* CF_OK where all work in `stream` is done, CF_ENOTREADY (no detail is written) where not. */
CF_CHECKED int cf_stream_query(cf_stream stream);

/* Holds back later work in `stream` until the work that `event` has recorded is done; an event never recorded counts as
 * done. Streams and events may be of different GPUs. A stream of CF_HOST waits in this call for an event of a GPU. An
 * event that was last recorded in a capture takes `stream` into it; CF_EINVAL where it has ended, CF_ECAPTURE where
 * `stream` is in another capture: those that go on may be broken by it. */
CF_CHECKED int cf_stream_wait(cf_stream stream, cf_event event);

/* Calls `function` with `data` when the work that is in `stream` so far is done; later work waits for it. It runs on a
 * thread of the driver's, or on CF_HOST on the calling one before this returns, and must not use a GPU in any way, the
 * library's functions included. After a kernel has failed it is not called. */
typedef void cf_stream_function(void *data);
CF_CHECKED int cf_stream_call(cf_stream stream, cf_stream_function *function, void *data);

/* Creates an event on the calling thread's device. The caller owns it until cf_event_destroy(), which takes NULL. */
CF_CHECKED int cf_event_create(cf_event *event);
CF_CHECKED int cf_event_destroy(cf_event event);

/* Marks the present end of `stream`; both must be of one device. */
CF_CHECKED int cf_event_record(cf_event event, cf_stream stream);

/* Waits for the work before the recorded mark; an event never recorded counts as done. One that was last recorded in a
 * capture has no mark: CF_ECAPTURE while that goes on, which may break it, and CF_EINVAL later. */
CF_CHECKED int cf_event_sync(cf_event event);

/* CF_OK where that work is done, CF_ENOTREADY (no detail is written) where not; failures as of cf_event_sync(). */
CF_CHECKED int cf_event_query(cf_event event);

/* Writes the milliseconds between two recorded marks of one device. CF_ENOTREADY where one has not been reached,
 * CF_EINVAL where one was never recorded; of one that was recorded in a capture as cf_event_sync(). */
CF_CHECKED int cf_event_elapsed(float *milliseconds, cf_event start, cf_event stop);

/* ---- Graphs ---------------------------------------------------------------------------------------------------- */

/* Work that is recorded once and launched many times, for less than what enqueueing it costs. Handles are the
 * driver's own. */

/* From the first to the second call, what is enqueued on `stream`, which is no default stream, is recorded and not
 * done: `_async` calls, copies, fills, host functions, allocations, events and waits for them; streams that wait for
 * an event of the capture take part in it, and have to be waited for in turn. What a call reads of host memory is
 * read when the graph runs; arguments of kernels are kept. Meanwhile waiting for such a stream, asking whether it is
 * done and destroying it give CF_ECAPTURE and leave the recording as it is; so does cf_device_sync(), in any thread.
 * Where a stream is captured that is ordered with the default stream, as those of cf_stream_create() are not, the
 * plain calls give CF_ECAPTURE as well. All else may be done meanwhile, in this thread and others: allocations and
 * first uses of kernels too do not break the recording. The call that ends it has to come from the thread that began
 * it: CF_ECAPTURE for another, which leaves the recording as it is while that thread lives. It names the stream that
 * began it: CF_EINVAL for another that takes part, which leaves the recording as it is. Each failure in between that
 * did break it is told by that call: CF_ECAPTURE, and the recording is lost. CF_EINVAL where there is none. The first
 * call waits for a cf_device_sync() of the same device that another thread is in. The caller owns the graph until
 * cf_graph_destroy(). */
CF_CHECKED int cf_stream_capture_begin(cf_stream stream);
CF_CHECKED int cf_stream_capture_end(cf_stream stream, cf_graph *graph);

/* Writes 1 where `stream` is being captured, else 0. CF_ECAPTURE for a default stream that cannot be used because a
 * stream that is ordered with it is being captured. */
CF_CHECKED int cf_stream_is_capturing(cf_stream stream, int *is_capturing);

/* Makes a graph ready to run, on the device where it was captured; it may be destroyed after that. The caller owns
 * `exec` until cf_graph_exec_destroy(), which lets a run that has begun finish. Both functions that destroy take
 * NULL. */
CF_CHECKED int cf_graph_instantiate(cf_graph_exec *exec, cf_graph graph);
CF_CHECKED int cf_graph_destroy(cf_graph graph);
CF_CHECKED int cf_graph_exec_destroy(cf_graph_exec exec);

/* Enqueues a run of the graph on `stream`, which is of the graph's kind of device: a GPU or CF_HOST. One `exec` runs
 * once at a time: runs wait for one another. CF_EINVAL where memory that the graph allocates and does not free has not
 * been freed since its last run. CF_ECAPTURE in a stream that is being captured: what is to be part of both graphs is
 * recorded twice. That leaves a capture as it is which cf_stream_capture_begin() began; one that another library, or
 * another copy of this one, began may be broken by it, as by any launch of a graph. */
CF_CHECKED int cf_graph_launch(cf_graph_exec exec, cf_stream stream);

/* ---- Kernels --------------------------------------------------------------------------------------------------- */

/* Descriptors of a kernel, of a step of an expression in it, of data in __constant__ memory, and of a library: see
 * <cuferry/registry.h>, where cf_kernel_find(&cf_registry, "gather_f32_i32") is that of cf_gather_f32_i32(). */
struct cf_kernel;
struct cf_op;
struct cf_symbol;
struct cf_module;

/* The shared object that a descriptor is in may be closed when the work with it is done; images that were loaded from
 * it stay on the GPUs until cf_shutdown().
 *
 * Both take one pointer per parameter in `args`, to a value of the parameter's type, as the typed entry points do;
 * that of a scratch parameter is not looked at and may be NULL, since the library supplies the memory: of the
 * stream's device for the time of the launch, CF_ENOMEM where there is not enough. Both check the scalars: extents
 * and lower bounds that are negative or past 2^63 - 1 bytes, pitches shorter than their rows, declared conditions,
 * NULL where the extent is not 0, and the launch itself: its grid, its block, its shared memory. A launch with
 * nothing to do succeeds without one. CF_ENOTSUP where a kernel has no form for the CPU and the call runs there.
 *
 * An entry point may be an operation, which is made of several launches (see kernels/LANGUAGE.md): they all are enqueued, or
 * a failure of one is that of the call, whose detail names both; outputs in device memory are undefined then.
 *
 * cf_call() is the plain entry points' tier, complete and safe: pointers may be host or device memory, arrays are
 * checked against the memory they lie in and every element against its declared range, arrays that the kernel declares
 * __restrict__ must share no bytes with one that is written, and those of inplace(...) be that one or share none, the
 * work is done when it returns. When a check fails the outputs are untouched and the lowest offending index is named.
 * Of an array in host memory the section that the kernel declares is copied, and nothing between its rows is read or
 * written.
 *
 * cf_launch() is the `_async` entry points' tier, raw and ordered: device memory only, nothing but scalars is
 * checked, the work is enqueued on `stream`. The environment variable CF_CHECK=1, read when the library is first
 * used, makes it check its pointers too. */
CF_CHECKED int cf_call(const struct cf_kernel *kernel, void *const args[]);
CF_CHECKED int cf_launch(const struct cf_kernel *kernel, cf_stream stream, void *const args[]);

/* Whether cf_call() looks at every element that has a declared range. Without, an index out of range is what it is
 * in CUDA: undefined. For the process; CF_CHECK_ELEMENTS at the start. */
enum cf_check_level { CF_CHECK_NONE = 0, CF_CHECK_ELEMENTS = 1 };
CF_CHECKED int cf_set_check(int level);

/* What cf_call() does on a GPU with a kernel whose arrays all lie in host memory that the GPU does not reach by
 * itself: CF_HOST_DATA_STAGE copies them there and back; CF_HOST_DATA_HOST runs the CPU's form of the kernel;
 * CF_HOST_DATA_AUTO, the default, does what takes less time by the formula in lib/plan.c. Kernels that have no form
 * for the CPU, or that read data in __constant__ or __device__ memory, always run on the GPU. Pinned and registered
 * arrays are used in place, but that CF_HOST_DATA_STAGE copies large ones of kernels with split(...), part by part
 * beside the kernel: a caller must then leave all of an array alone until the call returns. For the process; the
 * environment variable CF_HOST_DATA=auto|stage|host has the same effect, and is read when the library is first used. */
enum cf_host_data { CF_HOST_DATA_AUTO = 0, CF_HOST_DATA_STAGE = 1, CF_HOST_DATA_HOST = 2 };
CF_CHECKED int cf_set_host_data(int where);

/* One line that says where the calling thread's latest plain call ran, what was copied, and why: "cf_gather_f32_i32:
 * on the CPU, 0.3 ms expected; staging 545 MB would take 12.1 ms". Empty before the first. Owned by the library, valid
 * until the thread's next plain call or cf_last_plan(). */
const char *cf_last_plan(void);

/* The environment variable CF_TRACE=file.json, read when the library is first used and again after cf_shutdown(), has
 * launches, copies, fills, graphs, loads, waits and plain calls written there with their times, for Perfetto and
 * chrome://tracing: a whole JSON array at any moment, which grows for as long as the process works, by some 700 bytes
 * for each piece of work. %p in the name becomes the process's number, %% a percent sign. The process that opens the
 * file first holds it until cf_shutdown() or its end. Another process, or another copy of the library in this one, that
 * is given the same name meanwhile writes no trace, and cf_set_log() is told why. On file systems without locks a file
 * that exists counts as held. A file that nobody holds is overwritten. After cf_shutdown() the library goes on in the
 * file it wrote last, where the name is the same. CF_EINVAL, from every call, where the file cannot be written. */

/* Loads a kernel, or all kernels of a library (&cf_registry for the bundled ones), on the calling thread's device, so
 * that their first call has no more to do than any other. Kernels that were loaded before a failure stay so. One
 * without a form for the CPU gives CF_ENOTSUP on CF_HOST; cf_preload() passes it over there. With an operation goes all
 * that it uses. */
CF_CHECKED int cf_preload(const struct cf_module *module);
CF_CHECKED int cf_kernel_preload(const struct cf_kernel *kernel);

/* Writes how many blocks of `threads` threads and `shared` bytes of dynamic shared memory a multiprocessor of the
 * calling thread's device has resident at once: 0 where it has not so much shared memory; 1 on CF_HOST. CF_EINVAL where
 * a block has no such number of threads on any device, of an operation, which is no launch, and of a kernel with
 * variants, each of which has its own: cf_tuning_variant() of <cuferry/tuning.h> gives the one that runs. */
CF_CHECKED int cf_kernel_occupancy(const struct cf_kernel *kernel, int threads, size_t shared, int *blocks);

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

/* Both copy `value`, all elements of the symbol, to the data that kernels read in __constant__ memory: that of the
 * device where the call runs, in its current context; other devices keep theirs, and GPUs lose it at cf_shutdown().
 * On CF_HOST it is the data of the CPU's form of the kernels. The first use on a device loads the symbol's image.
 * `value` may be host memory, or memory of the call's device.
 *
 * Kernels that run at the same time see the old data, the new, or a mixture: keeping them apart is the caller's. A
 * launch that follows in the same stream sees the new data; after cf_symbol_set(), so does one in any stream.
 *
 * cf_symbol_set() is done when it returns. cf_symbol_set_async() enqueues the copy on `stream`. Host memory of at
 * most CF_SYMBOL_AT_ONCE bytes is read before it returns; more must stay valid and unchanged until the stream gets
 * there. */
#define CF_SYMBOL_AT_ONCE 32
CF_CHECKED int cf_symbol_set(const struct cf_symbol *symbol, const void *value);
CF_CHECKED int cf_symbol_set_async(cf_stream stream, const struct cf_symbol *symbol, const void *value);

#ifdef __cplusplus
}
#endif
#endif
