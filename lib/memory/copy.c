/* copy.c - copies and fills memory of any kind, immediately or in the order of a stream. */
#include <stdint.h>

#include <cuferry.h>

#include "memory/copy.h"

#include "base/bounds.h"
#include "base/error.h"
#include "model/rows.h"
#include "model/section.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/backend.h"
#include "context/enter.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "stream/stream.h"
#include "staging/buffers.h"
#include "staging/transfer.h"
#include "memory/locate.h"

/* One side of a copy, or the target of a fill. */
struct side {
    const char *name; /* name of the argument, for error messages */
    char *begin;
    size_t pitch; /* bytes from one row to the next */
    struct cf__memory memory;
};

/* A copy or a fill. */
struct copy {
    const char *function; /* name of the entry point, for error messages */
    cf_stream stream;
    int is_async;
    int waits;          /* 1 if the call has to wait; `stream` is a default stream */
    size_t width, rows; /* bytes of a row; number of rows */
    struct side target, source;
    struct cf__scope scope;
    int is_peer;                              /* 1 if the two sides are in different contexts */
    CUcontext target_context, source_context; /* contexts of the sides, if is_peer */
};

/* ---- Pieces ---- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The driver refuses to copy host memory if only a part of it is registered, so such memory is copied in pieces. */
CUresult cf__copy(const struct cf__scope *scope, void *target, const void *source, size_t bytes, int is_async,
                  cf_stream stream)
{
    const struct cf__driver *driver = scope->driver;
    uintptr_t to = (uintptr_t)target, from = (uintptr_t)source;
    CUresult result = CUDA_SUCCESS;
    while (bytes && result == CUDA_SUCCESS) {
        size_t piece = driver->is_cpu ? bytes : smaller(bytes, smaller(cf__bytes_left(to), cf__bytes_left(from)));
        result = is_async ? driver->cuMemcpyAsync(to, from, piece, stream) : driver->cuMemcpy(to, from, piece);
        to += piece;
        from += piece;
        bytes -= piece;
    }
    return result;
}

/* ---- Sides and contexts ---- */

/* Returns the bytes from the first row to the end of the last row, excluding that row's padding. */
static size_t span_bytes(const struct copy *copy, size_t pitch)
{
    return (copy->rows - 1) * pitch + copy->width;
}

/* Locates a side; fails for NULL, and if the bytes exceed a known allocation. */
static int locate_side(const struct copy *copy, struct side *side)
{
    const char *function = copy->function;
    if (!side->begin)
        return cf__fail(CF_EINVAL, "%s: %s is NULL", function, side->name);
    size_t bytes = span_bytes(copy, side->pitch);
    if (bytes > UINTPTR_MAX - (uintptr_t)side->begin)
        return cf__fail(CF_EOVERFLOW, "%s: %zu bytes from %s = %p on are more than there are addresses", function,
                        bytes, side->name, (void *)side->begin);
    int status = cf__locate(function, side->begin, &side->memory);
    /* An unreadable address is rejected, because the driver would treat it as host memory and crash. In an asynchronous
     * copy it is accepted, because it may be graph memory during its capture. */
    if (status == CF_OK && !side->memory.driver && !copy->is_async && cf__cuda_in_use() &&
        !cf__is_readable(side->begin))
        return cf__fail_no_memory(function, side->name, side->begin);
    if (status == CF_OK && side->memory.is_bounded && bytes > side->memory.left)
        return cf__fail(CF_EINVAL, "%s: %s has %zu bytes left in its allocation, not %zu", function, side->name,
                        side->memory.left, bytes);
    return status;
}

/* Returns the side that is GPU memory (the target if both are), or NULL. */
static const struct side *find_gpu_side(const struct copy *copy)
{
    return copy->target.memory.is_device ? &copy->target : copy->source.memory.is_device ? &copy->source : NULL;
}

/* Enters the scope of an immediate copy. It runs on the GPU that has memory of the copy; without one, on the CPU if the
 * CPU driver has the target's memory, and otherwise on the thread's device. */
static int enter_plain(struct copy *copy)
{
    const struct side *gpu_side = find_gpu_side(copy);
    const struct cf__memory *target = &copy->target.memory;
    copy->waits = 1;
    if (gpu_side)
        return cf__enter_memory(&copy->scope, copy->function, &gpu_side->memory);
    if (target->driver && target->driver->is_cpu)
        return cf__enter_context(&copy->scope, copy->function, target->driver, target->context);
    return cf__enter(&copy->scope, copy->function, NULL);
}

/* Enters the stream's device. If the stream is a default stream of the CPU, which never has pending work, and a GPU has
 * memory of the copy, that GPU copies immediately. */
static int enter_async(struct copy *copy)
{
    const struct side *gpu_side = find_gpu_side(copy);
    int status = cf__enter(&copy->scope, copy->function, copy->stream);
    if (status != CF_OK || !copy->scope.driver->is_cpu || !gpu_side)
        return status;
    cf__leave(&copy->scope);
    if (cf__stream_is_default(copy->stream))
        return enter_plain(copy);
    return cf__fail(CF_EINVAL, "%s: %s is memory of device %d and the stream is of CF_HOST", copy->function,
                    gpu_side->name, gpu_side->memory.device);
}

/* Waits for a stream of the scope's context. */
static int wait_for_stream(const char *function, const struct cf__scope *scope, cf_stream stream)
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

/* Finds the context of a side in GPU memory. If `waits`, also waits for that context's default stream, whose work has
 * to precede an immediate copy. */
static int find_context(const struct copy *copy, const struct side *side, int waits, CUcontext *context)
{
    struct cf__scope scope;
    *context = side->memory.context;
    if (*context && !waits)
        return CF_OK;
    int status = cf__enter_memory(&scope, copy->function, &side->memory);
    if (status != CF_OK)
        return status;
    *context = scope.context;
    int mode = cf__capture_relax(scope.driver);
    if (waits)
        status = wait_for_stream(copy->function, &scope, NULL);
    cf__capture_restore(scope.driver, mode);
    cf__leave(&scope);
    return status;
}

/* Determines whether the copy is between two contexts, and finds both. */
static int find_peers(struct copy *copy)
{
    const struct cf__memory *to = &copy->target.memory, *from = &copy->source.memory;
    copy->is_peer = to->is_device && from->is_device &&
                    (to->device != from->device || (to->context && from->context && to->context != from->context));
    if (!copy->is_peer)
        return CF_OK;
    int status = find_context(copy, &copy->target, 0, &copy->target_context);
    return status == CF_OK ? find_context(copy, &copy->source, copy->waits, &copy->source_context) : status;
}

/* ---- Copies ---- */

/* Returns 1 if a side is host memory that is only partly registered. */
static int is_partly_registered(const struct copy *copy, const struct side *side)
{
    const struct cf__memory *memory = &side->memory;
    return memory->driver && !memory->is_bounded && memory->left < span_bytes(copy, side->pitch);
}

static CUresult copy_row(const struct copy *copy, size_t row, const char **call)
{
    const struct cf__scope *scope = &copy->scope;
    char *target = copy->target.begin + row * copy->target.pitch;
    const char *source = copy->source.begin + row * copy->source.pitch;
    if (copy->is_peer) {
        *call = "cuMemcpyPeerAsync";
        return scope->driver->cuMemcpyPeerAsync((uintptr_t)target, copy->target_context, (uintptr_t)source,
                                                copy->source_context, copy->width, copy->stream);
    }
    /* cuMemcpy() is fastest for small copies of pageable memory. */
    int is_async = copy->is_async || copy->rows > 1;
    *call = is_async ? "cuMemcpyAsync" : "cuMemcpy";
    if (is_partly_registered(copy, &copy->target) || is_partly_registered(copy, &copy->source))
        return cf__copy(scope, target, source, copy->width, is_async, copy->stream);
    return is_async ? scope->driver->cuMemcpyAsync((uintptr_t)target, (uintptr_t)source, copy->width, copy->stream)
                    : scope->driver->cuMemcpy((uintptr_t)target, (uintptr_t)source, copy->width);
}

static CUresult copy_row_by_row(const struct copy *copy, const char **call)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t row = 0; row < copy->rows && result == CUDA_SUCCESS; row++)
        result = copy_row(copy, row, call);
    return result;
}

/* Copies all rows in one driver call; the driver determines the kinds of memory. */
static CUresult copy_rows(const struct copy *copy)
{
    const CUDA_MEMCPY2D rows = {
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = (uintptr_t)copy->source.begin,
        .srcPitch = copy->source.pitch,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = (uintptr_t)copy->target.begin,
        .dstPitch = copy->target.pitch,
        .WidthInBytes = copy->width,
        .Height = copy->rows,
    };
    return copy->scope.driver->cuMemcpy2DAsync(&rows, copy->stream);
}

static CUresult enqueue_copy(const struct copy *copy, const char **call)
{
    if (copy->rows == 1 || copy->is_peer || copy->target.pitch > CF__MAX_PITCH || copy->source.pitch > CF__MAX_PITCH ||
        is_partly_registered(copy, &copy->target) || is_partly_registered(copy, &copy->source))
        return copy_row_by_row(copy, call);
    *call = "cuMemcpy2DAsync";
    CUresult result = copy_rows(copy);
    /* The driver may refuse large pitches in copies within a device. */
    if (result == CUDA_ERROR_INVALID_VALUE && copy->target.memory.is_device && copy->source.memory.is_device)
        result = copy_row_by_row(copy, call);
    return result;
}

/* Returns 1 for a large immediate copy between a GPU and pageable memory, for which the library's threads are faster
 * than the driver. */
static int is_staged(const struct copy *copy)
{
    const struct side *gpu_side = find_gpu_side(copy);
    const struct side *other = gpu_side == &copy->target ? &copy->source : &copy->target;
    const struct cf__driver *known = other->memory.driver;
    return gpu_side && !other->memory.is_device && !copy->is_async && copy->rows == 1 &&
           (!known || known->is_cpu || is_partly_registered(copy, other)) && cf__staging_is_worth(copy->width);
}

static int run_copy(struct copy *copy)
{
    const char *function = copy->function, *call = "";
    const struct cf__driver *driver = copy->scope.driver;
    int status = copy->waits ? cf__stream_check_wait(function, &copy->scope, copy->stream) : CF_OK;
    if (status == CF_OK)
        status = find_peers(copy);
    if (status != CF_OK)
        return status;
    if (is_staged(copy)) {
        int to_host = copy->source.memory.is_device;
        const struct side *device = to_host ? &copy->source : &copy->target;
        const struct side *host = to_host ? &copy->target : &copy->source;
        status = cf__staging_copy(&copy->scope, function, device->begin, host->begin, copy->width, to_host);
        if (status == CF_OK)
            cf__inflight_waited(&copy->scope, NULL); /* the transfer itself has waited for the default stream */
        return status;
    }
    CUresult result = enqueue_copy(copy, &call);
    /* Waits even after a failure, because earlier rows may be in flight. Copies within a device also need the wait,
     * because they return before they are complete. */
    if (copy->waits) {
        CUresult waited = driver->cuStreamSynchronize(copy->stream);
        if (waited == CUDA_SUCCESS)
            cf__inflight_waited(&copy->scope, copy->stream);
        else if (result == CUDA_SUCCESS) {
            result = waited;
            call = "cuStreamSynchronize";
        }
    }
    if (result == CUDA_SUCCESS)
        return CF_OK;
    const void *source = copy->source.begin, *target = copy->target.begin;
    if (copy->rows == 1)
        return cf__fail_driver(driver, result, call, "%s: %zu bytes from source %p to target %p", function, copy->width,
                               source, target);
    return cf__fail_driver(driver, result, call, "%s: %zu rows of %zu bytes from source %p to target %p", function,
                           copy->rows, copy->width, source, target);
}

static int enter_and_copy(struct copy *copy)
{
    struct side *target = &copy->target, *source = &copy->source;
    target->name = "target";
    source->name = "source";
    int status = locate_side(copy, target);
    if (status == CF_OK)
        status = locate_side(copy, source);
    if (status == CF_OK)
        status = copy->is_async ? enter_async(copy) : enter_plain(copy);
    if (status != CF_OK)
        return status;
    if (target->pitch == copy->width && source->pitch == copy->width) {
        copy->width *= copy->rows;
        copy->rows = 1;
    }
    int mode = copy->waits ? cf__capture_relax(copy->scope.driver) : -1;
    status = run_copy(copy);
    cf__capture_restore(copy->scope.driver, mode);
    cf__leave(&copy->scope);
    return status;
}

static int copy_bytes(const char *function, cf_stream stream, void *target, const void *source, size_t bytes,
                      int is_async)
{
    struct copy copy = {.function = function, .stream = stream, .is_async = is_async, .width = bytes, .rows = 1};
    if (bytes == 0)
        return CF_OK;
    copy.target.begin = target;
    copy.source.begin = (char *)(uintptr_t)source;
    copy.target.pitch = copy.source.pitch = bytes;
    return enter_and_copy(&copy);
}

int cf_mem_copy(void *target, const void *source, size_t bytes)
{
    return copy_bytes("cf_mem_copy", NULL, target, source, bytes, 0);
}

int cf_mem_copy_async(cf_stream stream, void *target, const void *source, size_t bytes)
{
    return copy_bytes("cf_mem_copy_async", stream, target, source, bytes, 1);
}

/* Checks a pitch against the width and the number of rows. */
static int check_pitch(const struct copy *copy, const char *name, size_t pitch)
{
    size_t bytes;
    if (pitch < copy->width)
        return cf__fail(CF_EINVAL, "%s: %s is %zu and width %zu", copy->function, name, pitch, copy->width);
    if (__builtin_mul_overflow(copy->rows - 1, pitch, &bytes) || __builtin_add_overflow(bytes, copy->width, &bytes))
        return cf__fail(CF_EOVERFLOW, "%s: %zu rows, and %s is %zu: more bytes than there are addresses",
                        copy->function, copy->rows, name, pitch);
    return CF_OK;
}

static int copy_2d(struct copy *copy, void *target, size_t target_pitch, const void *source, size_t source_pitch)
{
    if (copy->width == 0 || copy->rows == 0)
        return CF_OK;
    int status = check_pitch(copy, "target_pitch", target_pitch);
    if (status == CF_OK)
        status = check_pitch(copy, "source_pitch", source_pitch);
    if (status != CF_OK)
        return status;
    copy->target.begin = target;
    copy->target.pitch = target_pitch;
    copy->source.begin = (char *)(uintptr_t)source;
    copy->source.pitch = source_pitch;
    return enter_and_copy(copy);
}

int cf_mem_copy_2d(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                   size_t rows)
{
    struct copy copy = {.function = "cf_mem_copy_2d", .width = width, .rows = rows};
    return copy_2d(&copy, target, target_pitch, source, source_pitch);
}

int cf_mem_copy_2d_async(cf_stream stream, void *target, size_t target_pitch, const void *source, size_t source_pitch,
                         size_t width, size_t rows)
{
    struct copy copy = {
        .function = "cf_mem_copy_2d_async", .stream = stream, .is_async = 1, .width = width, .rows = rows};
    return copy_2d(&copy, target, target_pitch, source, source_pitch);
}

/* ---- Fills ---- */

/* Enters the CPU, whose driver owns the memory to fill. If the fill is on a default stream of a GPU, first waits for
 * that stream. */
static int enter_cpu_after_wait(struct copy *copy)
{
    const struct cf__memory *target = &copy->target.memory;
    int device, status = cf__scope_device(&copy->scope, copy->function, &device);
    if (status == CF_OK && !cf__stream_is_default(copy->stream))
        status = cf__fail(CF_EINVAL, "%s: target is memory of CF_HOST and the stream is of device %d", copy->function,
                          device);
    int mode = cf__capture_relax(copy->scope.driver);
    if (status == CF_OK)
        status = wait_for_stream(copy->function, &copy->scope, copy->stream);
    cf__capture_restore(copy->scope.driver, mode);
    cf__leave(&copy->scope);
    copy->stream = NULL;
    return status == CF_OK ? cf__enter_context(&copy->scope, copy->function, target->driver, target->context) : status;
}

static int fill_entered(const struct copy *copy, unsigned char value)
{
    const struct cf__driver *driver = copy->scope.driver;
    const char *function = copy->function, *call = "cuMemsetD8Async";
    int status = copy->waits ? cf__stream_check_wait(function, &copy->scope, copy->stream) : CF_OK;
    if (status != CF_OK)
        return status;
    CUresult result = driver->cuMemsetD8Async((uintptr_t)copy->target.begin, value, copy->width, copy->stream);
    if (result == CUDA_SUCCESS && copy->waits) {
        call = "cuStreamSynchronize";
        result = driver->cuStreamSynchronize(copy->stream);
        if (result == CUDA_SUCCESS)
            cf__inflight_waited(&copy->scope, copy->stream);
    }
    if (result == CUDA_SUCCESS)
        return CF_OK;
    int is_ordinary = !driver->is_cpu && !copy->target.memory.driver && result == CUDA_ERROR_INVALID_VALUE &&
                      cf__is_readable(copy->target.begin);
    return cf__fail_driver(driver, result, call, "%s: %zu bytes at target %p%s", function, copy->width,
                           (void *)copy->target.begin,
                           is_ordinary ? ", which is host memory that the GPU does not reach" : "");
}

static int fill_memory(const char *function, cf_stream stream, void *target, unsigned char value, size_t bytes,
                       int is_async)
{
    struct copy copy = {.function = function, .stream = stream, .is_async = is_async, .width = bytes, .rows = 1};
    if (bytes == 0)
        return CF_OK;
    copy.target = (struct side){.name = "target", .begin = target, .pitch = bytes};
    int status = locate_side(&copy, &copy.target);
    if (status == CF_OK)
        status = is_async ? enter_async(&copy) : enter_plain(&copy);
    const struct cf__driver *of_target = copy.target.memory.driver;
    if (status == CF_OK && of_target && of_target->is_cpu && !copy.scope.driver->is_cpu)
        status = enter_cpu_after_wait(&copy);
    if (status != CF_OK)
        return status;
    int mode = copy.waits ? cf__capture_relax(copy.scope.driver) : -1;
    status = fill_entered(&copy, value);
    cf__capture_restore(copy.scope.driver, mode);
    cf__leave(&copy.scope);
    return status;
}

int cf_mem_fill(void *target, unsigned char value, size_t bytes)
{
    return fill_memory("cf_mem_fill", NULL, target, value, bytes, 0);
}

int cf_mem_fill_async(cf_stream stream, void *target, unsigned char value, size_t bytes)
{
    return fill_memory("cf_mem_fill_async", stream, target, value, bytes, 1);
}

/* ---- Sections ---- */

static CUresult copy_slice(const struct cf__scope *scope, const struct cf__rows *rows, char *host, char *device,
                           int to_host)
{
    const CUDA_MEMCPY2D copy = {
        .srcMemoryType = to_host ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
        .srcHost = to_host ? NULL : host,
        .srcDevice = to_host ? (uintptr_t)device : 0,
        .srcPitch = rows->pitch,
        .dstMemoryType = to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstHost = to_host ? host : NULL,
        .dstDevice = to_host ? 0 : (uintptr_t)device,
        .dstPitch = rows->pitch,
        .WidthInBytes = rows->length,
        .Height = rows->rows,
    };
    return scope->driver->cuMemcpy2D(&copy);
}

static CUresult copy_slice_by_row(const struct cf__scope *scope, const struct cf__rows *rows, char *host, char *device,
                                  int to_host)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t row = 0; row < rows->rows && result == CUDA_SUCCESS; row++) {
        size_t offset = row * rows->pitch;
        result = cf__copy(scope, to_host ? host + offset : device + offset, to_host ? device + offset : host + offset,
                          rows->length, 0, NULL);
    }
    return result;
}

CUresult cf__copy_section(const struct cf__scope *scope, const cf_section *section, size_t element, void *host,
                          void *device, int to_host, const char **call)
{
    struct cf__rows rows;
    cf__section_rows(section, element, &rows);
    /* The driver refuses to copy memory that is only partly registered; cf__copy() copies such memory in pieces. */
    int by_rows = rows.rows == 1 || rows.pitch > CF__MAX_PITCH || cf__bytes_left((uintptr_t)host) < section->span;
    CUresult result = CUDA_SUCCESS;
    *call = by_rows ? "cuMemcpy" : "cuMemcpy2D";
    for (size_t slice = 0; slice < rows.slices && result == CUDA_SUCCESS; slice++) {
        size_t offset = cf__rows_slice_offset(&rows, slice);
        result = (by_rows ? copy_slice_by_row : copy_slice)(scope, &rows, (char *)host + offset,
                                                            (char *)device + offset, to_host);
    }
    return result;
}
