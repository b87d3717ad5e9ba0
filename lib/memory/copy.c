/* copy.c - copies and fills of memory of any kind, in the plain and the stream-ordered form. */
#include <stdint.h>

#include <cuferry.h>

#include "memory/copy.h"

#include "base/bounds.h"
#include "base/error.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "stream/stream.h"
#include "staging/buffers.h"
#include "staging/transfer.h"
#include "memory/locate.h"

/* One side of a copy, or what is filled. */
struct side {
    const char *name;
    char *begin;
    size_t pitch;
    struct cf__memory memory;
};

struct transfer {
    const char *function;
    cf_stream stream;
    int is_async;
    int waits; /* `stream` is a default one, and the work has to be done when the call returns */
    size_t width, rows;
    struct side target, source;
    struct cf__scope scope;
    int is_peer;                              /* between contexts: */
    CUcontext target_context, source_context; /* these */
};

/* ---- Pieces ---- */

static size_t shorter(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The driver refuses a copy of host memory that is registered with it in part alone: those are done piece by piece. */
CUresult cf__copy(const struct cf__scope *scope, void *target, const void *source, size_t bytes, int is_async,
                  cf_stream stream)
{
    const struct cf__driver *driver = scope->driver;
    uintptr_t to = (uintptr_t)target, from = (uintptr_t)source;
    CUresult result = CUDA_SUCCESS;
    while (bytes && result == CUDA_SUCCESS) {
        size_t piece = driver->is_cpu ? bytes : shorter(bytes, shorter(cf__left(to), cf__left(from)));
        result = is_async ? driver->cuMemcpyAsync(to, from, piece, stream) : driver->cuMemcpy(to, from, piece);
        to += piece;
        from += piece;
        bytes -= piece;
    }
    return result;
}

/* ---- Where it runs ---- */

/* Bytes from the first to behind the last of `rows` rows; those of the last are no more than its width. */
static size_t span(const struct transfer *transfer, size_t pitch)
{
    return (transfer->rows - 1) * pitch + transfer->width;
}

/* Locates a side; NULL, and past the end of an allocation that is known, are refused. */
static int locate(const struct transfer *transfer, struct side *side)
{
    const char *function = transfer->function;
    if (!side->begin)
        return cf__fail(CF_EINVAL, "%s: %s is NULL", function, side->name);
    size_t bytes = span(transfer, side->pitch);
    if (bytes > UINTPTR_MAX - (uintptr_t)side->begin)
        return cf__fail(CF_EOVERFLOW, "%s: %zu bytes from %s = %p on are more than there are addresses", function,
                        bytes, side->name, (void *)side->begin);
    int status = cf__locate(function, side->begin, &side->memory);
    /* The driver would take it for host memory, and fault. In a stream it may be a graph's that is being captured. */
    if (status == CF_OK && !side->memory.driver && !transfer->is_async && cf__cuda_in_use() &&
        !cf__is_readable(side->begin))
        return cf__fail_no_memory(function, side->name, side->begin);
    if (status == CF_OK && side->memory.is_bounded && bytes > side->memory.left)
        return cf__fail(CF_EINVAL, "%s: %s has %zu bytes left in its allocation, not %zu", function, side->name,
                        side->memory.left, bytes);
    return status;
}

/* The side that is memory of a GPU, if there is one; the target where both are. */
static const struct side *side_of_gpu(const struct transfer *transfer)
{
    return transfer->target.memory.is_device   ? &transfer->target
           : transfer->source.memory.is_device ? &transfer->source
                                               : NULL;
}

/* What has to be done at once runs where the memory is: on the GPU, else on the CPU where the target is its memory,
 * else on the thread's device. */
static int enter_plain(struct transfer *transfer)
{
    const struct side *of_gpu = side_of_gpu(transfer);
    const struct cf__memory *target = &transfer->target.memory;
    transfer->waits = 1;
    if (of_gpu)
        return cf__enter_memory(&transfer->scope, transfer->function, &of_gpu->memory);
    if (target->driver && target->driver->is_cpu)
        return cf__enter_context(&transfer->scope, transfer->function, target->driver, target->context);
    return cf__enter(&transfer->scope, transfer->function, NULL);
}

/* The rest runs on the stream's device. A default stream of the CPU has no work that would have to be done before:
 * there the GPU whose memory it is does it at once. */
static int enter_async(struct transfer *transfer)
{
    const struct side *of_gpu = side_of_gpu(transfer);
    int status = cf__enter(&transfer->scope, transfer->function, transfer->stream);
    if (status != CF_OK || !transfer->scope.driver->is_cpu || !of_gpu)
        return status;
    cf__leave(&transfer->scope);
    if (cf__stream_is_default(transfer->stream))
        return enter_plain(transfer);
    return cf__fail(CF_EINVAL, "%s: %s is memory of device %d and the stream is of CF_HOST", transfer->function,
                    of_gpu->name, of_gpu->memory.device);
}

/* Waits for the default stream, or for another one of these, in the scope's context. */
static int wait(const char *function, const struct cf__scope *scope, cf_stream stream)
{
    int status = cf__stream_check_wait(function, scope, stream);
    if (status != CF_OK)
        return status;
    CUresult result = scope->driver->cuStreamSynchronize(stream);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuStreamSynchronize", "%s", function);
    cf__inflight_waited(scope, stream);
    return CF_OK;
}

/* The context of memory of a GPU. Work that the source's default stream has so far comes before a copy that is done
 * at once. */
static int context_of(const struct transfer *transfer, const struct side *side, int waits, CUcontext *context)
{
    struct cf__scope scope;
    *context = side->memory.context;
    if (*context && !waits)
        return CF_OK;
    int status = cf__enter_memory(&scope, transfer->function, &side->memory);
    if (status != CF_OK)
        return status;
    *context = scope.context;
    int mode = cf__relax(scope.driver);
    if (waits)
        status = wait(transfer->function, &scope, NULL);
    cf__unrelax(scope.driver, mode);
    cf__leave(&scope);
    return status;
}

static int find_peers(struct transfer *transfer)
{
    const struct cf__memory *to = &transfer->target.memory, *from = &transfer->source.memory;
    transfer->is_peer = to->is_device && from->is_device &&
                        (to->device != from->device || (to->context && from->context && to->context != from->context));
    if (!transfer->is_peer)
        return CF_OK;
    int status = context_of(transfer, &transfer->target, 0, &transfer->target_context);
    return status == CF_OK ? context_of(transfer, &transfer->source, transfer->waits, &transfer->source_context)
                           : status;
}

/* ---- Copies ---- */

/* Whether a side is host memory that is registered in part alone. */
static int is_in_pieces(const struct transfer *transfer, const struct side *side)
{
    const struct cf__memory *memory = &side->memory;
    return memory->driver && !memory->is_bounded && memory->left < span(transfer, side->pitch);
}

static CUresult copy_row(const struct transfer *transfer, size_t row, const char **call)
{
    const struct cf__scope *scope = &transfer->scope;
    char *target = transfer->target.begin + row * transfer->target.pitch;
    const char *source = transfer->source.begin + row * transfer->source.pitch;
    if (transfer->is_peer) {
        *call = "cuMemcpyPeerAsync";
        return scope->driver->cuMemcpyPeerAsync((uintptr_t)target, transfer->target_context, (uintptr_t)source,
                                                transfer->source_context, transfer->width, transfer->stream);
    }
    /* The driver's own plain copy knows best how to move a little of pageable memory. */
    int is_async = transfer->is_async || transfer->rows > 1;
    *call = is_async ? "cuMemcpyAsync" : "cuMemcpy";
    if (is_in_pieces(transfer, &transfer->target) || is_in_pieces(transfer, &transfer->source))
        return cf__copy(scope, target, source, transfer->width, is_async, transfer->stream);
    return is_async
               ? scope->driver->cuMemcpyAsync((uintptr_t)target, (uintptr_t)source, transfer->width, transfer->stream)
               : scope->driver->cuMemcpy((uintptr_t)target, (uintptr_t)source, transfer->width);
}

static CUresult copy_row_by_row(const struct transfer *transfer, const char **call)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t row = 0; row < transfer->rows && result == CUDA_SUCCESS; row++)
        result = copy_row(transfer, row, call);
    return result;
}

/* All rows at once. What kind of memory the sides are, the driver knows. */
static CUresult copy_rows(const struct transfer *transfer)
{
    const CUDA_MEMCPY2D rows = {
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = (uintptr_t)transfer->source.begin,
        .srcPitch = transfer->source.pitch,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = (uintptr_t)transfer->target.begin,
        .dstPitch = transfer->target.pitch,
        .WidthInBytes = transfer->width,
        .Height = transfer->rows,
    };
    return transfer->scope.driver->cuMemcpy2DAsync(&rows, transfer->stream);
}

static CUresult enqueue(const struct transfer *transfer, const char **call)
{
    if (transfer->rows == 1 || transfer->is_peer || transfer->target.pitch > CF__MAX_PITCH ||
        transfer->source.pitch > CF__MAX_PITCH || is_in_pieces(transfer, &transfer->target) ||
        is_in_pieces(transfer, &transfer->source))
        return copy_row_by_row(transfer, call);
    *call = "cuMemcpy2DAsync";
    CUresult result = copy_rows(transfer);
    /* Within a device it may refuse pitches that are not its own. */
    if (result == CUDA_ERROR_INVALID_VALUE && transfer->target.memory.is_device && transfer->source.memory.is_device)
        result = copy_row_by_row(transfer, call);
    return result;
}

/* Whether much is copied between a GPU and pageable memory at once: threads do that faster than the driver's own
 * copy. */
static int is_staged(const struct transfer *transfer)
{
    const struct side *of_gpu = side_of_gpu(transfer);
    const struct side *other = of_gpu == &transfer->target ? &transfer->source : &transfer->target;
    const struct cf__driver *known = other->memory.driver;
    return of_gpu && !other->memory.is_device && !transfer->is_async && transfer->rows == 1 &&
           (!known || known->is_cpu || is_in_pieces(transfer, other)) && cf__staging_is_worth(transfer->width);
}

/* In the scope's context. */
static int run(struct transfer *transfer)
{
    const char *function = transfer->function, *call = "";
    const struct cf__driver *driver = transfer->scope.driver;
    int status = transfer->waits ? cf__stream_check_wait(function, &transfer->scope, transfer->stream) : CF_OK;
    if (status == CF_OK)
        status = find_peers(transfer);
    if (status != CF_OK)
        return status;
    if (is_staged(transfer)) {
        int to_host = transfer->source.memory.is_device;
        const struct side *device = to_host ? &transfer->source : &transfer->target;
        const struct side *host = to_host ? &transfer->target : &transfer->source;
        status = cf__staging_copy(&transfer->scope, function, device->begin, host->begin, transfer->width, to_host);
        if (status == CF_OK)
            cf__inflight_waited(&transfer->scope, NULL); /* it was done behind that one's work */
        return status;
    }
    CUresult result = enqueue(transfer, &call);
    if (transfer->waits) { /* also for the first rows of a copy that failed, and for copies within a device */
        CUresult waited = driver->cuStreamSynchronize(transfer->stream);
        if (waited == CUDA_SUCCESS)
            cf__inflight_waited(&transfer->scope, transfer->stream);
        else if (result == CUDA_SUCCESS) {
            result = waited;
            call = "cuStreamSynchronize";
        }
    }
    if (result == CUDA_SUCCESS)
        return CF_OK;
    const void *source = transfer->source.begin, *target = transfer->target.begin;
    if (transfer->rows == 1)
        return cf__fail_driver(driver, result, call, "%s: %zu bytes from source %p to target %p", function,
                               transfer->width, source, target);
    return cf__fail_driver(driver, result, call, "%s: %zu rows of %zu bytes from source %p to target %p", function,
                           transfer->rows, transfer->width, source, target);
}

static int copy(struct transfer *transfer)
{
    struct side *target = &transfer->target, *source = &transfer->source;
    target->name = "target";
    source->name = "source";
    int status = locate(transfer, target);
    if (status == CF_OK)
        status = locate(transfer, source);
    if (status == CF_OK)
        status = transfer->is_async ? enter_async(transfer) : enter_plain(transfer);
    if (status != CF_OK)
        return status;
    if (target->pitch == transfer->width && source->pitch == transfer->width) {
        transfer->width *= transfer->rows;
        transfer->rows = 1;
    }
    int mode = transfer->waits ? cf__relax(transfer->scope.driver) : -1;
    status = run(transfer);
    cf__unrelax(transfer->scope.driver, mode);
    cf__leave(&transfer->scope);
    return status;
}

static int copy_bytes(const char *function, cf_stream stream, void *target, const void *source, size_t bytes,
                      int is_async)
{
    struct transfer transfer = {
        .function = function, .stream = stream, .is_async = is_async, .width = bytes, .rows = 1};
    if (bytes == 0)
        return CF_OK;
    transfer.target.begin = target;
    transfer.source.begin = (char *)(uintptr_t)source;
    transfer.target.pitch = transfer.source.pitch = bytes;
    return copy(&transfer);
}

int cf_mem_copy(void *target, const void *source, size_t bytes)
{
    return copy_bytes("cf_mem_copy", NULL, target, source, bytes, 0);
}

int cf_mem_copy_async(cf_stream stream, void *target, const void *source, size_t bytes)
{
    return copy_bytes("cf_mem_copy_async", stream, target, source, bytes, 1);
}

/* Whether rows of a pitch can be that wide, and as many as that. */
static int check_pitch(const struct transfer *transfer, const char *name, size_t pitch)
{
    size_t bytes;
    if (pitch < transfer->width)
        return cf__fail(CF_EINVAL, "%s: %s is %zu and width %zu", transfer->function, name, pitch, transfer->width);
    if (__builtin_mul_overflow(transfer->rows - 1, pitch, &bytes) ||
        __builtin_add_overflow(bytes, transfer->width, &bytes))
        return cf__fail(CF_EOVERFLOW, "%s: %zu rows, and %s is %zu: more bytes than there are addresses",
                        transfer->function, transfer->rows, name, pitch);
    return CF_OK;
}

static int copy_2d(struct transfer *transfer, void *target, size_t target_pitch, const void *source,
                   size_t source_pitch)
{
    if (transfer->width == 0 || transfer->rows == 0)
        return CF_OK;
    int status = check_pitch(transfer, "target_pitch", target_pitch);
    if (status == CF_OK)
        status = check_pitch(transfer, "source_pitch", source_pitch);
    if (status != CF_OK)
        return status;
    transfer->target.begin = target;
    transfer->target.pitch = target_pitch;
    transfer->source.begin = (char *)(uintptr_t)source;
    transfer->source.pitch = source_pitch;
    return copy(transfer);
}

int cf_mem_copy_2d(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                   size_t rows)
{
    struct transfer transfer = {.function = "cf_mem_copy_2d", .width = width, .rows = rows};
    return copy_2d(&transfer, target, target_pitch, source, source_pitch);
}

int cf_mem_copy_2d_async(cf_stream stream, void *target, size_t target_pitch, const void *source, size_t source_pitch,
                         size_t width, size_t rows)
{
    struct transfer transfer = {
        .function = "cf_mem_copy_2d_async", .stream = stream, .is_async = 1, .width = width, .rows = rows};
    return copy_2d(&transfer, target, target_pitch, source, source_pitch);
}

/* ---- Fills ---- */

/* Memory of the CPU is filled by the CPU: when the default stream, where it is one of a GPU, has got there. */
static int move_to_host(struct transfer *transfer)
{
    const struct cf__memory *target = &transfer->target.memory;
    int device, status = cf__scope_device(&transfer->scope, transfer->function, &device);
    if (status == CF_OK && !cf__stream_is_default(transfer->stream))
        status = cf__fail(CF_EINVAL, "%s: target is memory of CF_HOST and the stream is of device %d",
                          transfer->function, device);
    int mode = cf__relax(transfer->scope.driver);
    if (status == CF_OK)
        status = wait(transfer->function, &transfer->scope, transfer->stream);
    cf__unrelax(transfer->scope.driver, mode);
    cf__leave(&transfer->scope);
    transfer->stream = NULL;
    return status == CF_OK ? cf__enter_context(&transfer->scope, transfer->function, target->driver, target->context)
                           : status;
}

static int fill_entered(const struct transfer *transfer, unsigned char value)
{
    const struct cf__driver *driver = transfer->scope.driver;
    const char *function = transfer->function, *call = "cuMemsetD8Async";
    int status = transfer->waits ? cf__stream_check_wait(function, &transfer->scope, transfer->stream) : CF_OK;
    if (status != CF_OK)
        return status;
    CUresult result =
        driver->cuMemsetD8Async((uintptr_t)transfer->target.begin, value, transfer->width, transfer->stream);
    if (result == CUDA_SUCCESS && transfer->waits) {
        call = "cuStreamSynchronize";
        result = driver->cuStreamSynchronize(transfer->stream);
        if (result == CUDA_SUCCESS)
            cf__inflight_waited(&transfer->scope, transfer->stream);
    }
    if (result == CUDA_SUCCESS)
        return CF_OK;
    int is_ordinary = !driver->is_cpu && !transfer->target.memory.driver && result == CUDA_ERROR_INVALID_VALUE &&
                      cf__is_readable(transfer->target.begin);
    return cf__fail_driver(driver, result, call, "%s: %zu bytes at target %p%s", function, transfer->width,
                           (void *)transfer->target.begin,
                           is_ordinary ? ", which is host memory that the GPU does not reach" : "");
}

static int fill(const char *function, cf_stream stream, void *target, unsigned char value, size_t bytes, int is_async)
{
    struct transfer transfer = {
        .function = function, .stream = stream, .is_async = is_async, .width = bytes, .rows = 1};
    if (bytes == 0)
        return CF_OK;
    transfer.target = (struct side){.name = "target", .begin = target, .pitch = bytes};
    int status = locate(&transfer, &transfer.target);
    if (status == CF_OK)
        status = is_async ? enter_async(&transfer) : enter_plain(&transfer);
    const struct cf__driver *of_target = transfer.target.memory.driver;
    if (status == CF_OK && of_target && of_target->is_cpu && !transfer.scope.driver->is_cpu)
        status = move_to_host(&transfer);
    if (status != CF_OK)
        return status;
    int mode = transfer.waits ? cf__relax(transfer.scope.driver) : -1;
    status = fill_entered(&transfer, value);
    cf__unrelax(transfer.scope.driver, mode);
    cf__leave(&transfer.scope);
    return status;
}

int cf_mem_fill(void *target, unsigned char value, size_t bytes)
{
    return fill("cf_mem_fill", NULL, target, value, bytes, 0);
}

int cf_mem_fill_async(cf_stream stream, void *target, unsigned char value, size_t bytes)
{
    return fill("cf_mem_fill_async", stream, target, value, bytes, 1);
}
