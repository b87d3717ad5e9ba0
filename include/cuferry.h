/* cuferry.h - call CUDA kernels as typed C functions, on a GPU or on the CPU.
 *
 * <cuferry/kernels.h> declares the entry points of the bundled kernels, and <cuferry/registry.h> their descriptions.
 *
 * These rules hold for every function here, unless its own comment says otherwise:
 *
 * - The function returns CF_OK (0) or a negative status. On failure nothing has changed, and cf_last_error() has one
 *   line of detail for the calling thread. The library prints nothing and never ends the process.
 * - Any thread may call it at any time, without initialising anything first. cf_shutdown() and cf_device_reset() are
 *   the exceptions.
 * - The calling thread's current CUDA context is the same before and after the call.
 * - No thread may be cancelled (pthread_cancel()) inside a call.
 * - Sizes are in bytes, times in milliseconds.
 * - On the CPU an invalid pointer faults, as in any C function. A destroyed stream, event or graph must not be used
 *   again: on a GPU it may fault in the driver, or be another object that got the same handle. */
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

/* The driver's own types: a cudaStream_t or CUstream of any library in the process can be passed. NULL is CUDA's legacy
 * default stream of the device of the call. */
typedef struct CUstream_st *cf_stream;
typedef struct CUevent_st *cf_event;
typedef struct CUgraph_st *cf_graph;
typedef struct CUgraphExec_st *cf_graph_exec;
typedef struct CUgraphNode_st *cf_graph_node;

#if defined __GNUC__
#define CF_CHECKED __attribute__((warn_unused_result))
#else
#define CF_CHECKED
#endif

/* ---- Status ---------------------------------------------------------------------------------------------------- */

/* The list of status codes: name, value, text. */
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
    X(CF_EFORK, -14, "the GPU was in use before this process was forked") \
    X(CF_ECOMPILE, -15, "the source does not compile, or a link fails")

enum cf_status {
#define CF_STATUS_ENUM(name, value, text) name = (value),
    CF_STATUS_LIST(CF_STATUS_ENUM)
#undef CF_STATUS_ENUM
};

/* Return the name of a status, such as "CF_EINVAL", and its text; for any other number "CF_?" and "unknown status". The
 * strings are static. */
const char *cf_status_name(int status);
const char *cf_status_text(int status);

/* Returns the detail of the calling thread's latest failure. It names the entry point, the argument and its value, or
 * the driver call and its result: "cf_gather_f32_i32: index[17] = 134217728 is outside [0, 134217728)". It is empty
 * before the first failure, and a call that succeeds does not change it. The library owns the string, which is valid
 * until the thread's next failing call. */
const char *cf_last_error(void);

/* Returns the driver's code (a CUresult) behind the calling thread's latest failure; 0 if no driver call failed. */
int cf_last_driver_result(void);

/* Makes `text` the detail of the calling thread's latest failure and returns `status`, as a failing call of the library
 * does. Wrappers in other languages report failures of their own checks with it. `text` is copied. CF_EINVAL: `status`
 * is not negative, or `text` is NULL. */
int cf_report(int status, const char *text);

/* Returns CF_VERSION of the linked library. The macro CF_VERSION is the version of this header. */
int cf_version(void);

/* Levels of cf_set_log(). CF_LOG_ERROR: the detail of every failing call. CF_LOG_INFO: rare events, such as the choice
 * of the driver, loaded images, ignored files, and contexts that were lost or reset. */
enum cf_log_level { CF_LOG_ERROR = 1, CF_LOG_INFO = 2 };

/* Registers `log`, which the library then calls with `data`, a level and one line of text without its newline, on the
 * thread where the event happens. NULL unregisters it. The text is valid until the callback returns. A callback that is
 * replaced while other threads are inside the library may get one last call. cf_shutdown() keeps it.
 *
 * The library holds no locks during the callback. The callback must not call the library, and it must return: after an
 * exception or longjmp() the thread stays marked as inside the callback, gets no more lines, and its calls fail.
 *
 * The callback may fork(). The child may call the library on CF_HOST and gets no lines before it leaves the callback.
 * If the call that logged the line was on a GPU, the child must end inside the callback. */
typedef void cf_log(void *data, int level, const char *text);
void cf_set_log(cf_log *log, void *data);

/* ---- Devices --------------------------------------------------------------------------------------------------- */

/* The CPU as a device number. GPUs are 0, 1, ... in the driver's order. */
#define CF_HOST (-1)

/* The device of a call is the first of these that exists: the device of its stream; the device of the thread's
 * cf_device_use(); the device of the CUDA context that is current on the thread; the default device. The default device
 * is GPU 0 in its primary context, or CF_HOST if there is no driver or no GPU. The environment variable CF_DRIVER=cuda
 * or CF_DRIVER=host sets the default for the process at its first use of the library.
 *
 * A GPU or a driver that exists but cannot be used is an error (CF_EDRIVER); the call does not move to the CPU. Only
 * two cases count as no driver: no file libcuda.so.1 is found, or the program is static and cannot load it. */

/* Writes the number of GPUs that this process may use to `count`, or 0 if calls run on the CPU by default. */
CF_CHECKED int cf_device_count(int *count);

/* Makes `device` (CF_HOST or a GPU's number) the calling thread's device for calls without a stream. CF_HOST always
 * exists. CF_ENODEV: there is no such device. */
CF_CHECKED int cf_device_use(int device);

/* Writes the device of the calling thread's next call without a stream. */
CF_CHECKED int cf_device_current(int *device);

/* Properties: enumerator, value, meaning. A property that a device does not have is 0; CF_HOST only has properties of
 * the processor and its memory. */
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
    X(CF_PROPERTY_COPY_ENGINES, 14, "copies that can run while kernels run")                   \
    X(CF_PROPERTY_PAGEABLE_ACCESS, 15, "1: reaches ordinary host memory by itself")            \
    X(CF_PROPERTY_MANAGED_MEMORY, 16, "1: has managed memory")                                 \
    X(CF_PROPERTY_COOPERATIVE_LAUNCH, 17, "1: takes cooperative kernels")                      \
    X(CF_PROPERTY_MEMORY_POOLS, 18, "1: has stream-ordered allocation")                        \
    X(CF_PROPERTY_INTEGRATED, 19, "1: its memory is the CPU's")                                \
    X(CF_PROPERTY_NUMA_NODE, 20, "NUMA node of the CPU next to it; -1: unknown")               \
    X(CF_PROPERTY_DRIVER, 21, "CUDA version that its driver is for: 13000 is 13.0")

enum cf_property {
#define CF_PROPERTY_ENUM(name, value, text) name = (value),
    CF_PROPERTY_LIST(CF_PROPERTY_ENUM)
#undef CF_PROPERTY_ENUM
};

/* Writes a property of `device` to `value`. CF_EINVAL: `property` is not in the list. CF_ENODEV: there is no such
 * device, here and for the three functions below. */
CF_CHECKED int cf_device_property(int device, int property, int64_t *value);

/* Writes the device's name to `name`, cut to `size` bytes with its terminating 0. CF_HOST has the processor's name. */
CF_CHECKED int cf_device_name(int device, char *name, size_t size);

/* Writes a GPU's UUID to `text`, cut to `size` bytes with its terminating 0: 36 characters, which nvidia-smi -L prints
 * after "GPU-" or "MIG-". CF_HOST has no UUID, and the text is empty. */
CF_CHECKED int cf_device_uuid(int device, char *text, size_t size);

/* Writes a GPU's PCI address, "0000:ca:00.0", in the same way. */
CF_CHECKED int cf_device_pci(int device, char *text, size_t size);

/* Waits until all work on the calling thread's device is done, and reports errors of that work.
 *
 * A kernel that faults makes its context unusable. With some drivers, such as CUDA 13's, every context of the process
 * then fails, on every GPU. The next call that notices the fault returns CF_EFAULT, as does every later call in such a
 * context until the context is reset or destroyed or the process ends. CF_HOST and other processes are not affected.
 * The detail names the kernels that may have been running. These are the kernels that were launched through the library
 * in one of the contexts that fail, unless a wait has found them done. The detail does not name kernels of other
 * libraries, and calls the kernels of a graph "a graph". */
CF_CHECKED int cf_device_sync(void);

/* Writes 1 to `possible` if kernels on `device` can be given access to memory of the GPU `peer`, or if both are the
 * same device, else 0. Copies need no access: cf_mem_copy() takes memory of any two devices. */
CF_CHECKED int cf_peer_possible(int device, int peer, int *possible);

/* cf_peer_enable() lets kernels in the primary context of `device` access memory on `peer` from cf_mem_alloc() and
 * cf_mem_alloc_async(), both existing and later memory. The access is one-way and lasts until cf_peer_disable() or
 * cf_shutdown(). Both functions start the two devices. Enabling twice, or disabling access that is not enabled,
 * succeeds. Access that another library in the process has enabled is not disabled. CF_ENOTSUP: the devices cannot do
 * it. */
CF_CHECKED int cf_peer_enable(int device, int peer);
CF_CHECKED int cf_peer_disable(int device, int peer);

/* Destroys everything in the primary context of a GPU: memory, streams, events, graphs and modules, also those of other
 * libraries in the process. If the driver allows it, the GPU is usable again after a kernel's fault. The library never
 * resets a device itself. On CF_HOST the function frees memory, streams, events and graphs.
 *
 * No other thread may be using the device. Later calls refuse streams, events and graphs that the library made there
 * with CF_EINVAL, unless the driver has reused the handle. CF_EFAULT: the driver still reports the fault, and the
 * process has to end.
 *
 * Memory from cf_mem_alloc_async() outside of a graph belongs to the GPU and to no context: it keeps its contents, and
 * the caller still frees it, for example with cf_mem_free(). If the fault destroyed it, freeing it returns CF_EINVAL,
 * and it must not be used again. */
CF_CHECKED int cf_device_reset(int device);

/* Requirements of cf_require(). */
enum cf_requirement { CF_CUDA = 1 };

/* Succeeds if CUDA can be used; otherwise the detail says why not: no driver, no GPU, or too old a driver. */
CF_CHECKED int cf_require(int requirement);

/* Releases everything: images, contexts, threads, staging buffers, pools, memory of cf_mem_alloc() on CF_HOST, and
 * streams, events and graphs of CF_HOST. It ends the trace. The caller frees GPU memory, streams, events and graphs
 * before this call. No other thread may be inside the library. A later call starts the library anew; the settings of
 * the cf_set_ functions and of each thread's cf_device_use() are kept. A shared object that contains the library calls
 * this function when it is closed.
 *
 * After fork() a child may use the CPU through cf_device_use(CF_HOST), even if the parent used a GPU. Calls that need a
 * GPU that was in use before the fork return CF_EFORK. cf_shutdown() in the child does not touch the parent's
 * objects. */
CF_CHECKED int cf_shutdown(void);

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Device memory is a plain pointer, which kernels and the functions below accept. The CPU cannot read memory of a GPU;
 * on CF_HOST device memory is ordinary memory. Functions that take a pointer also accept host memory, and infer the
 * direction of a copy. */

/* Allocates `bytes` bytes on the calling thread's device, aligned to 256 bytes, and writes their address to `pointer`.
 * 0 bytes give NULL. The caller owns the memory until cf_mem_free() or cf_mem_free_async(). It must not be freed in any
 * other way: the library keeps a note of it, and later calls would use the freed memory. CF_ENOMEM: there is not enough
 * memory. */
CF_CHECKED int cf_mem_alloc(void **pointer, size_t bytes);

/* Allocates pinned (page-locked) host memory, which every GPU accesses directly: copies run at the speed of the link
 * and while kernels run, and calls use it in place. The system cannot use pinned memory for anything else, so allocate
 * it for buffers only. On CF_HOST it is ordinary memory. The caller owns it until cf_mem_free(). */
CF_CHECKED int cf_mem_alloc_pinned(void **pointer, size_t bytes);

/* Frees memory of the two functions above, on any device, after the device's work with it is done. NULL is allowed. For
 * memory of cf_mem_alloc_async() it waits for all work of the device (CF_ECAPTURE while a stream of the device is
 * captured). It also frees memory that another library in the process has from cuMemAlloc(), cuMemAllocManaged() or
 * cuMemHostAlloc(). CF_EINVAL: the pointer is to other memory, such as registered host memory, or not to the start of
 * an allocation. */
CF_CHECKED int cf_mem_free(void *pointer);

/* Allocate memory on the stream's device and free it, in the stream's order: work enqueued on `stream` after the
 * allocation and before the free may use the memory. Other streams first have to wait for the allocation, by an event.
 * 0 bytes give NULL, and NULL may be freed. Memory may also be freed on a stream of another GPU.
 *
 * The memory comes from a pool that the library keeps for each GPU; the GPU's own pools are not used. The pool keeps
 * freed memory until cf_mem_trim(), cf_shutdown(), or until other allocations on the GPU need it.
 *
 * During a capture both calls become part of the graph. The caller frees memory that the graph does not free, between
 * two runs. CF_HOST allocates and frees at once. A GPU without pools (CF_PROPERTY_MEMORY_POOLS) allocates at once,
 * waits for the stream before it frees, and returns CF_ENOTSUP during a capture. */
CF_CHECKED int cf_mem_alloc_async(cf_stream stream, void **pointer, size_t bytes);
CF_CHECKED int cf_mem_free_async(cf_stream stream, void *pointer);

/* Releases unused memory of the pool of the calling thread's device until the pool has at most `keep` bytes. Memory in
 * use counts too, and is not released.
 *
 * The default stream and streams of cf_stream_create() keep the scratch memory of their kernels, at most 2 MiB each,
 * for the next launch. This call releases it too if no launch can be using it, for example after cf_device_sync(). For
 * streams of other libraries, each launch takes its scratch memory from the pool. */
CF_CHECKED int cf_mem_trim(size_t keep);

/* Copies `bytes` bytes from `source` to `target`, each in memory of any device or in host memory. The copy begins after
 * earlier work in the default streams of the devices involved, and is complete when the function returns. The ranges
 * must not overlap. */
CF_CHECKED int cf_mem_copy(void *target, const void *source, size_t bytes);

/* Enqueues the copy on `stream`. Until the stream has done the copy, host memory must stay valid, and source memory
 * must not change. Memory of a GPU needs a stream of a GPU. With a default stream of CF_HOST the copy is done when the
 * function returns. */
CF_CHECKED int cf_mem_copy_async(cf_stream stream, void *target, const void *source, size_t bytes);

/* Copy `rows` rows of `width` bytes. Rows begin `source_pitch` and `target_pitch` bytes apart, and the bytes between
 * them are not touched. Pitches are at least `width`. The rows must not overlap. A width or row count of 0 copies
 * nothing. Rows with a pitch above 2^31 - 1, and rows with gaps that are copied between two GPUs, are copied one by
 * one. Otherwise the functions work like cf_mem_copy() and cf_mem_copy_async(). */
CF_CHECKED int cf_mem_copy_2d(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                              size_t rows);
CF_CHECKED int cf_mem_copy_2d_async(cf_stream stream, void *target, size_t target_pitch, const void *source,
                                    size_t source_pitch, size_t width, size_t rows);

/* Sets each of `bytes` bytes of device memory or pinned memory to `value`. The fill is complete when the function
 * returns. CF_EINVAL: the memory is ordinary host memory, which the GPU cannot access. On CF_HOST all memory counts as
 * device memory. */
CF_CHECKED int cf_mem_fill(void *target, unsigned char value, size_t bytes);

/* Enqueues the fill on `stream`, which belongs to the same kind of device as the memory: a GPU or CF_HOST. */
CF_CHECKED int cf_mem_fill_async(cf_stream stream, void *target, unsigned char value, size_t bytes);

/* ---- Streams and events ---------------------------------------------------------------------------------------- */

/* On CF_HOST work is done when the call that enqueues it returns. */

/* cf_stream_create() creates a stream on the calling thread's device; its work is not ordered with the default stream.
 * The caller owns the stream until cf_stream_destroy(), which lets enqueued work finish and accepts NULL. */
CF_CHECKED int cf_stream_create(cf_stream *stream);
CF_CHECKED int cf_stream_destroy(cf_stream stream);

/* cf_stream_create_with_priority() creates a stream with a priority. As in CUDA, a smaller number means a higher
 * priority. A priority outside of the device's range is replaced by the nearest one in the range.
 * cf_stream_priorities() writes the range of the calling thread's device, for example 0 and -5; 0 and 0 if the device
 * has no priorities. */
CF_CHECKED int cf_stream_create_with_priority(cf_stream *stream, int priority);
CF_CHECKED int cf_stream_priorities(int *least, int *greatest);

/* Writes the number of the stream's device to `device`. */
CF_CHECKED int cf_stream_device(cf_stream stream, int *device);

/* Waits until the work in `stream` is done, and reports errors of that work. */
CF_CHECKED int cf_stream_sync(cf_stream stream);

/* Returns CF_OK if all work in `stream` is done, else CF_ENOTREADY without a detail. */
CF_CHECKED int cf_stream_query(cf_stream stream);

/* Makes later work in `stream` wait for the work that `event` has recorded. An event that was never recorded counts as
 * done. Streams and events may belong to different GPUs. With a stream of CF_HOST and an event of a GPU the function
 * itself waits.
 *
 * If the event was last recorded in a capture, `stream` joins the capture. CF_EINVAL: that capture has ended.
 * CF_ECAPTURE: `stream` is in another capture; both captures may then be broken. */
CF_CHECKED int cf_stream_wait(cf_stream stream, cf_event event);

/* Calls `function` with `data` after the work that is now in `stream`; later work waits for the function. The driver
 * calls it on a thread of its own; on CF_HOST the calling thread runs it before cf_stream_call() returns. The function
 * must not use a GPU, through the library or otherwise. After a kernel has failed it is not called. */
typedef void cf_stream_function(void *data);
CF_CHECKED int cf_stream_call(cf_stream stream, cf_stream_function *function, void *data);

/* Flags of cf_event_create_with(). They change nothing on CF_HOST, whose work is done when a call returns. */
enum cf_event_flags {
    CF_EVENT_NO_TIMING = 1, /* the event costs less, and cf_event_elapsed() refuses it */
    CF_EVENT_BLOCKING = 2   /* cf_event_sync() sleeps; without the flag it may keep a processor busy */
};

/* Both create an event on the calling thread's device. The caller owns it until cf_event_destroy(), which accepts NULL.
 * CF_EINVAL: `flags` has a bit that is no flag. */
CF_CHECKED int cf_event_create(cf_event *event);
CF_CHECKED int cf_event_create_with(cf_event *event, unsigned int flags);
CF_CHECKED int cf_event_destroy(cf_event event);

/* Records the work that is now in `stream`; event and stream must belong to the same device. */
CF_CHECKED int cf_event_record(cf_event event, cf_stream stream);

/* Waits for the recorded work. An event that was never recorded counts as done. If the event was last recorded in a
 * capture, the function returns CF_ECAPTURE while the capture is open, which may break the capture, and CF_EINVAL
 * later. */
CF_CHECKED int cf_event_sync(cf_event event);

/* Returns CF_OK if the recorded work is done, else CF_ENOTREADY without a detail; failures as in cf_event_sync(). */
CF_CHECKED int cf_event_query(cf_event event);

/* Writes the milliseconds between two recorded events of one device. CF_ENOTREADY: an event is not reached yet.
 * CF_EINVAL: an event was never recorded, or has no times. Events that were recorded in a capture fail as in
 * cf_event_sync(). */
CF_CHECKED int cf_event_elapsed(float *milliseconds, cf_event start, cf_event stop);

/* ---- Graphs ---------------------------------------------------------------------------------------------------- */

/* A graph records work once and launches it many times, at less cost than enqueueing it. Handles are the driver's
 * own. */

/* Between the two calls, work that is enqueued on `stream`, which must not be a default stream, is recorded instead of
 * run: `_async` calls, copies, fills, host functions, allocations, events and waits for them. Kernel arguments are
 * recorded; host memory is read when the graph runs. Streams that wait for an event of the capture join it. Before the
 * end, `stream` has to wait for them in turn. The caller owns the graph until cf_graph_destroy().
 *
 * During the capture these calls return CF_ECAPTURE and leave the recording intact: waiting for, querying and
 * destroying a captured stream; cf_device_sync() in any thread; and plain calls, if the captured stream is ordered with
 * the default stream, as streams of cf_stream_create() are not. All other calls are allowed in every thread, including
 * allocations and first uses of kernels.
 *
 * The thread that began the capture ends it, on the stream where it began. Another thread gets CF_ECAPTURE while the
 * first one lives, another captured stream CF_EINVAL; neither changes the recording. If a failure has broken the
 * recording, cf_stream_capture_end() returns CF_ECAPTURE and the recording is lost. CF_EINVAL: there is no capture.
 * cf_stream_capture_begin() waits for another thread's cf_device_sync() of the same device. */
CF_CHECKED int cf_stream_capture_begin(cf_stream stream);
CF_CHECKED int cf_stream_capture_end(cf_stream stream, cf_graph *graph);

/* Writes 1 to `is_capturing` if `stream` is being captured, else 0. CF_ECAPTURE: a default stream cannot be used
 * because a stream that is ordered with it is being captured. */
CF_CHECKED int cf_stream_is_capturing(cf_stream stream, int *is_capturing);

/* Prepares a graph to run on the device where it was captured, and writes the executable graph to `exec`. The caller
 * owns it until cf_graph_exec_destroy(). Afterwards only cf_graph_update() needs `graph`. */
CF_CHECKED int cf_graph_instantiate(cf_graph_exec *exec, cf_graph graph);

/* Both destroy a graph, and accept NULL. A run in flight of an executable graph finishes. */
CF_CHECKED int cf_graph_destroy(cf_graph graph);
CF_CHECKED int cf_graph_exec_destroy(cf_graph_exec exec);

/* Enqueues a run of the graph on `stream`, which belongs to the same kind of device as the graph: a GPU or CF_HOST.
 * Runs of one `exec` wait for one another. CF_EINVAL: memory that the graph allocates and does not free was not freed
 * since its last run. CF_ECAPTURE: `stream` is being captured; record the work again instead of launching its graph. A
 * capture of cf_stream_capture_begin() stays intact; a capture that another library or another copy of this library
 * began may break, as with any graph launch. */
CF_CHECKED int cf_graph_launch(cf_graph_exec exec, cf_stream stream);

/* Writes the node of the latest launch in `stream`, which is being captured, to `node`. The node belongs to the graph
 * of the capture and is destroyed with it. CF_EINVAL: `stream` is not being captured, its latest work is not the launch
 * of a kernel, or its next work would follow work of several streams. After an operation or a kernel with scratch
 * memory, the latest work may be other than a launch. CF_ECAPTURE: a failure has broken the capture. CF_ENOMEM: there
 * is no memory for a record of the node. */
CF_CHECKED int cf_stream_capture_node(cf_stream stream, cf_graph_node *node);

/* ---- Kernels --------------------------------------------------------------------------------------------------- */

/* Descriptors of a kernel, of a step of an expression, of data in __constant__ memory, and of a library; see
 * <cuferry/registry.h>. cf_kernel_find(&cf_registry, "gather_f32_i32") describes cf_gather_f32_i32(). */
struct cf_kernel;
struct cf_op;
struct cf_section;
struct cf_symbol;
struct cf_module;

/* cf_call() and cf_launch() call a kernel through its descriptor. A shared object that contains the descriptor may be
 * closed when its work is done; its loaded images stay on the GPUs until cf_shutdown().
 *
 * `args` has one pointer per parameter, to a value of the parameter's type. A scratch parameter's entry is NULL or
 * points to a pointer: the library supplies the memory, on the stream's device for the time of the launch (CF_ENOMEM:
 * there is not enough). Both functions check the scalars. They refuse extents and lower bounds that are negative or
 * above 2^63 - 1 bytes, pitches shorter than their rows, declared conditions that do not hold, NULL for an array whose
 * extent is not 0, and an invalid grid, block or size of shared memory. A launch without work succeeds and does
 * nothing. CF_ENOTSUP: the call runs on the CPU, and the kernel has no CPU form.
 *
 * An entry point may be an operation of several launches (see kernels/LANGUAGE.md). Either all of them are enqueued, or
 * the call fails and the detail names the operation and the launch; outputs in device memory are then undefined.
 *
 * cf_call() is the plain form. Pointers may be to host or device memory. It checks that arrays fit into the memory that
 * they are in, and that every element is in its declared range. Arrays that the kernel declares __restrict__ must share
 * no bytes with a written array; arrays of inplace(...) are the same array or share no bytes. The work is done when the
 * call returns. If a check fails, the outputs are untouched and the detail names the lowest offending index. For an
 * array in host memory only the declared section is copied; bytes between its rows are neither read nor written.
 *
 * cf_launch() is the `_async` form. It takes device memory only, checks only scalars, and enqueues the work on
 * `stream`. With the environment variable CF_CHECK=1, read at the first use of the library, it checks pointers too. */
CF_CHECKED int cf_call(const struct cf_kernel *kernel, void *const args[]);
CF_CHECKED int cf_launch(const struct cf_kernel *kernel, cf_stream stream, void *const args[]);

/* Gives one launch of `exec` new arguments, with new grid and block, for later runs; a run in flight keeps its own. The
 * arguments are checked as in cf_launch(). cf_NAME_update() is the typed form for the kernel NAME. `node` is from
 * cf_stream_capture_node(); `exec` was made of the graph of the same capture, which still exists. Other executable
 * graphs of that graph keep their arguments. A kernel with tune(...) keeps the variant of the capture. Calls with one
 * `exec` must not overlap, even on different threads.
 *
 * CF_EINVAL: the node is of another graph or launches another kernel; a handle was destroyed; the launch would have no
 * threads. CF_ENOTSUP: the kernel is an operation, or has arrays of zero(...) or scratch memory. Scratch arrays of
 * constant extent 0 do not count. */
CF_CHECKED int cf_graph_update(cf_graph_exec exec, cf_graph_node node, const struct cf_kernel *kernel,
                               void *const args[]);

/* Sets for the whole process whether cf_call() checks every element that has a declared range; CF_CHECK_ELEMENTS is the
 * default. Without the check an index out of range is undefined behaviour, as in CUDA. */
enum cf_check_level { CF_CHECK_NONE = 0, CF_CHECK_ELEMENTS = 1 };
CF_CHECKED int cf_set_check(int level);

/* Sets for the process how cf_call() on a GPU treats a kernel whose arrays all lie in host memory that the GPU cannot
 * access directly. CF_HOST_DATA_STAGE copies them to the GPU and back. CF_HOST_DATA_HOST runs the kernel's CPU form.
 * CF_HOST_DATA_AUTO, the default, chooses the faster way by the formula in lib/call/plan.c. The environment variable
 * CF_HOST_DATA=auto|stage|host has the same effect and is read at the first use of the library.
 *
 * Kernels without a CPU form, or with data in __constant__ or __device__ memory, always run on the GPU. Pinned and
 * registered arrays are used in place. But CF_HOST_DATA_STAGE copies such arrays if they are large and the kernel has
 * split(...), chunk by chunk while the kernel runs: the caller must then not touch the array until the call returns. */
enum cf_host_data { CF_HOST_DATA_AUTO = 0, CF_HOST_DATA_STAGE = 1, CF_HOST_DATA_HOST = 2 };
CF_CHECKED int cf_set_host_data(int where);

/* Returns one line about the calling thread's latest plain call: where it ran, what it copied, and why. Example:
 * "cf_gather_f32_i32: on the CPU, 0.3 ms expected; staging 545 MB would take 12.1 ms". It is empty before the first
 * call. The library owns the string, which is valid until the thread's next plain call or cf_last_plan(). */
const char *cf_last_plan(void);

/* The environment variable CF_TRACE=file.json, read at the first use of the library and after cf_shutdown(), names a
 * trace file for Perfetto and chrome://tracing. It gets launches, copies, fills, graphs, loads, waits and plain calls
 * with their times, about 700 bytes per piece of work, and is a complete JSON array at any moment. In the name %p
 * stands for the process number and %% for a percent sign. CF_EINVAL, from every call: the file cannot be written.
 *
 * The process that opens the file holds it until cf_shutdown() or its end. Another process, or another copy of the
 * library, that gets the same name then writes no trace and logs why (cf_set_log()). On file systems without locks an
 * existing file counts as held. A file that nobody holds is overwritten. After cf_shutdown() the library continues the
 * file that it wrote last, if the name is the same. */

/* Load a kernel, or all kernels of a library (&cf_registry: the bundled kernels), on the calling thread's device, so
 * that their first call is as fast as any other. An operation loads the kernels it uses. After a failure, kernels that
 * are already loaded stay loaded. On CF_HOST cf_kernel_preload() returns CF_ENOTSUP for a kernel without a CPU form;
 * cf_preload() skips it. */
CF_CHECKED int cf_preload(const struct cf_module *module);
CF_CHECKED int cf_kernel_preload(const struct cf_kernel *kernel);

/* Writes how many blocks of `threads` threads and `shared` bytes of dynamic shared memory can be resident at once on a
 * multiprocessor of the calling thread's device. This is 0 if it has less shared memory, and 1 on CF_HOST. CF_EINVAL:
 * no device allows this number of threads; or the kernel is an operation; or it has variants, each with an occupancy of
 * its own (cf_tuning_variant() in <cuferry/tuning.h> finds the variant that runs). */
CF_CHECKED int cf_kernel_occupancy(const struct cf_kernel *kernel, int threads, size_t shared, int *blocks);

/* Evaluates the first `count` steps (SIZE_MAX: all) of an integer expression of the kernel's annotation, such as an
 * extent, and writes the result to `value`. From `args` it reads only the integers in the expression. CF_EOVERFLOW: the
 * arithmetic overflows or divides by 0. */
CF_CHECKED int cf_kernel_evaluate(const struct cf_kernel *kernel, const struct cf_op *ops, size_t count,
                                  void *const args[], int64_t *value);

/* Writes to `section` which elements of array parameter number `param` the kernel reads or writes in a call with
 * `args`, and where they are; a pointer of undeclared extent counts as one element. From `args` it reads only the
 * integers in extents, lower bounds and pitches, whose entries must not be NULL. CF_EINVAL: one of these is negative, a
 * row is longer than its pitch, the parameter is no array, or an argument is NULL. CF_EOVERFLOW: the array has more
 * than 2^63 - 1 bytes, or an expression overflows or divides by 0. May be called from any thread, and needs no
 * device. */
CF_CHECKED int cf_kernel_section(const struct cf_kernel *kernel, uint32_t param, void *const args[],
                                 struct cf_section *section);

/* Evaluates an expression for reports and comparisons (bytes, flops, tolerance) in double precision. It may contain
 * floating-point parameters and constants of any width. Division is real, and dividing by 0 gives infinity or a NaN, as
 * in C. CF_EINVAL: it reads a parameter that is not a number. */
CF_CHECKED int cf_kernel_evaluate_real(const struct cf_kernel *kernel, const struct cf_op *ops, void *const args[],
                                       double *value);

/* ---- Constants ------------------------------------------------------------------------------------------------- */

/* Copy `value`, which has all elements of the symbol, to the data that kernels read from __constant__ memory on the
 * device of the call, in its current context. Other devices keep their data; GPUs lose theirs at cf_shutdown(). On
 * CF_HOST the CPU forms of the kernels read the data. The first use on a device loads the symbol's image. `value` is in
 * host memory or in memory of the call's device.
 *
 * A kernel that runs at the same time sees the old data, the new data, or a mixture; the caller must prevent this. A
 * later launch in the same stream sees the new data; after cf_symbol_set() a later launch in any stream does.
 *
 * cf_symbol_set() is done when it returns. cf_symbol_set_async() enqueues the copy on `stream`. If `value` is in host
 * memory and has at most CF_SYMBOL_AT_ONCE bytes, it is read before the function returns; otherwise it must stay valid
 * and unchanged until the stream has copied it. */
#define CF_SYMBOL_AT_ONCE 32
CF_CHECKED int cf_symbol_set(const struct cf_symbol *symbol, const void *value);
CF_CHECKED int cf_symbol_set_async(cf_stream stream, const struct cf_symbol *symbol, const void *value);

#ifdef __cplusplus
}
#endif
#endif
