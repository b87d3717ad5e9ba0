/* mpi.h - kernels over the ranks of an MPI communicator, one GPU per rank; in libcuferry_mpi.a.
 *
 *     MPI_Init(&argc, &argv);
 *     status = cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0);
 *     status = cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, index, N);
 *     status = cf_mpi_gather(plan, &source, res);
 *
 * These rules hold for every function here, unless its own comment says otherwise; those of <cuferry.h> hold as well:
 *
 * - A function with a communicator, a plan or a halo is collective: all ranks of the communicator call it, in the same
 *   order, with the same options. It returns the same status on all ranks. If several ranks fail, the status and
 *   cf_last_error() are those of the lowest one: "rank 3: cf_mpi_plan_create: index[17] = 42 is outside [0, 40)".
 * - A communicator is an intracommunicator. The library duplicates it at its first use and sends its own messages over
 *   the duplicate only. The duplicate, plans and halos are destroyed with the communicator, and at MPI_Finalize().
 *   After cf_shutdown() no plan or halo may be used.
 * - CF_EINVAL, on the calling rank alone: MPI is not running; the communicator is MPI_COMM_NULL; a plan or a halo was
 *   destroyed, also with its communicator, unless a new one has its address; a start is called for a halo whose
 *   exchange has started already, or a finish for one whose exchange has not; a finish is called with another device
 *   than the halo's. The rank then takes no part in the call, so that other ranks wait until it repeats the call.
 * - CF_ECALL: a call of MPI or NCCL failed; the detail names the call. Ranks may then return different statuses. They
 *   may also do so if a rank's device fails after its elements were sent; the next gather or scatter with the plan then
 *   returns the failure on all ranks. Over NCCL, if a rank fails while its messages are on their way, others may wait
 *   for it until NCCL notices. The first use of a communicator calls MPI under the communicator's own error handler,
 *   which by default ends the program; later calls do not.
 * - With MPI_THREAD_FUNNELED the thread that started MPI makes all calls. With MPI_THREAD_MULTIPLE any thread may call,
 *   and calls for one communicator must not overlap.
 * - MPI gets only memory that the library allocates for it: host memory, or memory of cf_mem_alloc(). The caller's
 *   arrays may be memory of any kind, such as memory of cf_mem_alloc_async().
 * - On a GPU the functions use its primary context, which is the one of the CUDA runtime and of cf_device_use(). The
 *   calling thread must not have another current context. After a call with an array on another GPU than the thread's,
 *   the thread's device is set as if by cf_device_use(): the thread no longer follows the current CUDA context.
 * - The functions wait for earlier work in the device's default stream, and are done when they return. */
#ifndef CUFERRY_MPI_H
#define CUFERRY_MPI_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program that is compiled for another MPI library than the archive does not link, because the archive lacks this
 * symbol. */
#if defined OPEN_MPI
#define CF__MPI_LIBRARY cf__mpi_is_for_open_mpi
#elif defined MPICH_VERSION
#define CF__MPI_LIBRARY cf__mpi_is_for_mpich
#endif
#ifdef CF__MPI_LIBRARY
extern const char CF__MPI_LIBRARY;
__attribute__((used)) static const char *const cf__mpi_library = &CF__MPI_LIBRARY;
#endif

/* ---- Start, devices and transports ------------------------------------------------------------------------------ */

/* Starts MPI with MPI_THREAD_FUNNELED, if it is not running. The caller ends it with MPI_Finalize(). Not needed if the
 * program calls MPI_Init() or MPI_Init_thread() itself. CF_EINVAL: MPI has ended. */
CF_CHECKED int cf_mpi_init(void);

/* Chooses the calling rank's device, makes it the calling thread's device as cf_device_use() does, and writes its
 * number to `device`. Ranks of one machine share the GPUs that CUDA_VISIBLE_DEVICES and the launcher left to them: a
 * rank takes the GPU that the fewest ranks have, and if there are several, the one nearest to its NUMA node. GPUs are
 * identified by their UUIDs. Without a GPU the device is CF_HOST.
 *
 * `reason` gets one line, cut to `size` bytes with its terminating 0: "rank 2 of 4 on node07: GPU 1 of 2 (GPU-8f3c...),
 * on NUMA node 1 like the rank, shared with rank 3". `device` and `reason` may be NULL. */
CF_CHECKED int cf_mpi_device(MPI_Comm comm, int *device, char *reason, size_t size);

/* Writes 1 to `aware` if the MPI library of all ranks takes pointers to GPU memory, else 0. The environment variable
 * CF_MPI_AWARE=0|1 overrides the library's own answer. If it is 0, messages over MPI go through pinned buffers. */
CF_CHECKED int cf_mpi_aware(MPI_Comm comm, int *aware);

/* Transports between ranks. */
enum cf_mpi_transport { CF_MPI_TRANSPORT_MPI = 1, CF_MPI_TRANSPORT_NCCL = 2 };

/* Writes the transport of plans and halos of the communicator to `transport`, and one line with the reason to `text`,
 * cut to `size` bytes. It is NCCL if every rank has a GPU of its own as the calling thread's device and libnccl.so.2 of
 * version 2.18 or later is found, else MPI. If a rank fails to start NCCL, all ranks use MPI. The transport is chosen
 * once, at the first plan, halo or call of this function. The environment variable CF_MPI_TRANSPORT=mpi|nccl forces
 * one. CF_ENOTSUP: NCCL is forced, and cannot be used; the detail says why. `transport` and `text` may be NULL. */
CF_CHECKED int cf_mpi_transport(MPI_Comm comm, int *transport, char *text, size_t size);

/* ---- Distributed arrays ----------------------------------------------------------------------------------------- */

/* An array whose elements lie on several ranks, in the order of the ranks. All ranks have the same length, offsets and
 * type. The caller owns `offsets` and `data`. */
typedef struct cf_mpi_array {
    int64_t length;         /* elements on all ranks together */
    const int64_t *offsets; /* one per rank, and the length: rank r has the elements [offsets[r], offsets[r + 1]) */
    void *data;             /* this rank's elements; NULL if it has none */
    cf_type type;           /* type of an element */
    int device;             /* device of `data`: a GPU's number, or CF_HOST for host memory */
} cf_mpi_array;

/* Writes `ranks` + 1 offsets that share `length` elements among the ranks; if the division leaves a remainder, the
 * first ranks have one element more. Not collective. CF_EINVAL: `offsets` is NULL, `length` is negative or `ranks` less
 * than 1. */
CF_CHECKED int cf_mpi_split(int64_t length, int ranks, int64_t *offsets);

/* ---- Gather and scatter ----------------------------------------------------------------------------------------- */

/* A plan is the exchange for one set of indices. The caller owns it until cf_mpi_plan_destroy(). */
typedef struct cf_mpi_plan cf_mpi_plan;

/* A plan has two buffers, one for elements that it sends and one for elements that it receives. Each has at most this
 * many bytes, or 512 bytes per rank if that is more. Larger exchanges take several rounds. The first call with larger
 * elements than before enlarges the buffers.
 *
 * In addition, a plan has 8 bytes for each of the rank's indices, 16 more for each index of an element of another rank,
 * and 8 bytes for each element that the rank sends, rounded up to 16 elements for each rank and round.
 * cf_mpi_plan_create() needs up to 40 more bytes for each index while it runs. */
#define CF_MPI_BUFFER ((size_t)512 << 20)

/* Plans the exchange of elements of arrays with these offsets: `index` has this rank's `count` global indices, in host
 * memory or in memory of the calling thread's device. The arrays of gather and scatter lie on that device, too. An
 * element of another rank is sent to this rank once, even if several indices name it. The library keeps neither
 * `offsets` nor `index`. CF_ERANGE: an index is negative or not less than the length. After a failure `*plan` is
 * NULL. */
CF_CHECKED int cf_mpi_plan_create(cf_mpi_plan **plan, MPI_Comm comm, const int64_t *offsets, const int64_t *index,
                                  int64_t count);

/* Destroys a plan. NULL is ignored. Not collective. */
CF_CHECKED int cf_mpi_plan_destroy(cf_mpi_plan *plan);

/* Gathers elements: res[i] = source[index[i]], for this rank's indices i and the whole array `source`. Elements have 1,
 * 2, 4, 8 or 16 bytes, and both arrays are aligned to them. `res` has space for the plan's count of elements on the
 * plan's device, which is the calling thread's, and overlaps no part of the source. Elements of this rank are copied
 * while others are on their way. */
CF_CHECKED int cf_mpi_gather(cf_mpi_plan *plan, const cf_mpi_array *source, void *res);

/* Scatters elements: res[index[i]] = source[i]. Other elements of `res` keep their values. No index may occur twice,
 * neither on one rank nor on two. The first scatter checks this (CF_EINVAL), which needs one bit of memory for each
 * element of this rank. */
CF_CHECKED int cf_mpi_scatter(cf_mpi_plan *plan, const void *source, cf_mpi_array *res);

/* ---- Reductions, scans and histograms --------------------------------------------------------------------------- */

/* Arrays here have the types CF_F32, CF_F64, CF_I32 or CF_I64. The parts of the ranks may be on different kinds of
 * devices. Each result is a value of the array's type, in host memory, the same on all ranks. Integers wrap around. */

/* Flags. CF_MPI_REPRODUCIBLE: the result has the same bits for any number of ranks and any offsets. Each block of
 * 65,536 global indices is added up in a fixed order, and then the sums of the blocks in a binary tree. If a block has
 * elements on several ranks, they are sent to the first of these ranks. */
enum cf_mpi_flags { CF_MPI_REPRODUCIBLE = 1 };

/* Write the sum of x, or the inner product of x and y, which have the same offsets, to `result`; 0 for a length of
 * 0. */
CF_CHECKED int cf_mpi_sum(MPI_Comm comm, const cf_mpi_array *x, void *result, unsigned int flags);
CF_CHECKED int cf_mpi_dot(MPI_Comm comm, const cf_mpi_array *x, const cf_mpi_array *y, void *result,
                          unsigned int flags);

/* Write the least or the greatest element to `result`, with the NaN rules of cf_min_f32(). CF_EINVAL: the length is
 * 0. */
CF_CHECKED int cf_mpi_min(MPI_Comm comm, const cf_mpi_array *x, void *result);
CF_CHECKED int cf_mpi_max(MPI_Comm comm, const cf_mpi_array *x, void *result);

/* Writes to each element of y the sum of the elements of x before it. y has x's offsets and type; y.data may be x.data.
 * The order of additions depends on the offsets; sums of elements that are not negative never fall. If a rank's device
 * fails, others may have written their parts. */
CF_CHECKED int cf_mpi_exclusive_scan(MPI_Comm comm, const cf_mpi_array *x, cf_mpi_array *y);

/* Counts the elements in each of `bins` bins of equal width between *lower and *upper, which are values of x's type, by
 * the rules of cf_histogram_f32_i64(). `counts` has space for `bins` counts in host memory; each rank gets the counts
 * of the whole array. */
CF_CHECKED int cf_mpi_histogram(MPI_Comm comm, const cf_mpi_array *x, int64_t *counts, int64_t bins, const void *lower,
                                const void *upper);

/* ---- Halo exchange ---------------------------------------------------------------------------------------------- */

/* Each rank of a Cartesian communicator of one to three dimensions has a block of a grid, with ghost cells of `width`
 * elements on every side. A block of extents[0] x extents[1] x extents[2] cells lies in an array with extents[d] + 2 *
 * width elements in dimension d. The last dimension is contiguous. Dimension d of the array is dimension d of the
 * communicator. The caller owns a halo until cf_mpi_halo_destroy(). */
typedef struct cf_mpi_halo cf_mpi_halo;

/* Flags. CF_MPI_HALO_CORNERS: exchange the ghost cells at edges and corners as well, not only those at faces. */
enum cf_mpi_halo_flags { CF_MPI_HALO_CORNERS = 1 };

/* Prepares the exchange on the calling thread's device. Neighbours have the same extents in the dimensions that they
 * share. Ghost cells without a neighbour, at the end of a dimension that is not periodic, keep their values. Elements
 * have 1, 2, 4, 8 or 16 bytes. CF_EINVAL: the width is less than 1; an extent is negative, or less than the width while
 * there is a neighbour; extents of neighbours disagree; `comm` is no Cartesian communicator. After a failure `*halo` is
 * NULL. */
CF_CHECKED int cf_mpi_halo_create(cf_mpi_halo **halo, MPI_Comm comm, cf_type type, const int64_t *extents,
                                  int64_t width, unsigned int flags);

/* Destroys a halo. NULL is ignored. Not collective. CF_EINVAL: an exchange has started and is not finished. */
CF_CHECKED int cf_mpi_halo_destroy(cf_mpi_halo *halo);

/* cf_mpi_halo_start() packs the cells at the faces after earlier work in `stream`, and sends them. It returns while
 * they are on their way: meanwhile `stream` may work on cells that need no ghost cells. The cells that were sent may be
 * written again. cf_mpi_halo_finish() waits until all ranks have started and the neighbours' cells have arrived, and
 * enqueues writing the ghost cells on the same stream: later work in it finds them. A halo has one exchange at a time
 * (CF_EINVAL). `array` and `stream` belong to the halo's device. A default stream is that of the calling thread's
 * device, which has to be the halo's device in both calls (CF_EINVAL). The start does not wait for other ranks, so its
 * other failures are returned by the finish, on all ranks. */
CF_CHECKED int cf_mpi_halo_start(cf_mpi_halo *halo, cf_stream stream, void *array);
CF_CHECKED int cf_mpi_halo_finish(cf_mpi_halo *halo);

/* ---- Any kernel ------------------------------------------------------------------------------------------------- */

/* Calls a kernel with split(n) on the parts of distributed arrays. `args` is as in cf_call(), but the entry of an array
 * that is split points to a cf_mpi_array, and the value of n is the length on all ranks. All those arrays have the same
 * offsets and the parameter's type. If an array has several dimensions, an element of its cf_mpi_array is a row. Other
 * arguments are passed as they are. If one rank fails, others may have written their parts. CF_ENOTSUP: the kernel has
 * no split(...) clause. */
CF_CHECKED int cf_mpi_map(MPI_Comm comm, const struct cf_kernel *kernel, void *const args[]);

#ifdef __cplusplus
}
#endif
#endif
