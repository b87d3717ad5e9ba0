/* fake_copy.c - copies and fills of the played GPU. */
#include <string.h>

#include "fake_libcuda.h"

/* The ranges are checked twice: when the copy is enqueued, because freeing memory waits for work that uses it, and when
 * the copy runs, because a graph may run after its memory was freed. */
struct copy {
    struct fake_work work;
    CUdeviceptr target, source;
    size_t bytes;
};

static void count_bytes(CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
    static int was_out;
    const int is_out = target < FAKE_DEVICE_OFFSET;
    if (is_out == (source < FAKE_DEVICE_OFFSET))
        return;
    *(is_out ? &fake_counts.bytes_out : &fake_counts.bytes_in) += bytes;
    fake_counts.turns += is_out != was_out;
    was_out = is_out;
}

static void run_copy(CUcontext context, struct fake_work *work)
{
    const struct copy *copy = (const struct copy *)work;
    void *to = fake_reach(copy->target, copy->bytes);
    const void *from = fake_reach(copy->source, copy->bytes);
    if (!to || !from) {
        fake_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
        return;
    }
    memcpy(to, from, copy->bytes);
    count_bytes(copy->target, copy->source, copy->bytes);
}

static CUresult submit_copy(CUstream stream, CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
    if (bytes == 0)
        return CUDA_SUCCESS;
    if (!fake_will_reach(stream, target, bytes) || !fake_will_reach(stream, source, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct copy *copy = fake_submit(stream, run_copy, sizeof *copy);
    copy->target = target;
    copy->source = source;
    copy->bytes = bytes;
    fake_counts.copy++;
    return CUDA_SUCCESS;
}

CUresult fake_cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    TRY(submit_copy(stream, target, source, bytes));
    return fake_end(CUDA_SUCCESS);
}

/* The contexts are those of the target and of the source. */
CUresult fake_cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                                CUcontext source_context, size_t bytes, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    if (!fake_context_is_live(target_context) || !fake_context_is_live(source_context))
        return fake_end(CUDA_ERROR_INVALID_CONTEXT);
    const struct fake_allocation *to = fake_find(target), *from = fake_find(source);
    if (bytes && (!to || !from || to->type > FAKE_MANAGED || from->type > FAKE_MANAGED ||
                  to->object.context->device != target_context->device ||
                  from->object.context->device != source_context->device))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    fake_counts.peer_copy++;
    return fake_end(submit_copy(stream, target, source, bytes));
}

/* As in the driver, the call does not wait for a copy between two places in device memory. */
CUresult fake_cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_current(&context));
    TRY(fake_unsafe());
    TRY(fake_implicit(context, 1));
    TRY(submit_copy(&context->legacy, target, source, bytes));
    if (target < FAKE_DEVICE_OFFSET || source < FAKE_DEVICE_OFFSET)
        fake_drain(&context->legacy, context->legacy.submitted);
    return fake_end(fake_failed(context));
}

struct copy_2d {
    struct fake_work work;
    CUdeviceptr target, source;
    size_t target_pitch, source_pitch, width, height;
};

static size_t span(size_t pitch, const struct copy_2d *copy)
{
    return (copy->height - 1) * pitch + copy->width;
}

static void run_copy_2d(CUcontext context, struct fake_work *work)
{
    const struct copy_2d *copy = (const struct copy_2d *)work;
    char *to = fake_reach(copy->target, span(copy->target_pitch, copy));
    const char *from = fake_reach(copy->source, span(copy->source_pitch, copy));
    if (!to || !from) {
        fake_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
        return;
    }
    for (size_t row = 0; row < copy->height; row++)
        memcpy(to + row * copy->target_pitch, from + row * copy->source_pitch, copy->width);
    count_bytes(copy->target, copy->source, copy->width * copy->height);
}

/* Returns 1 if the memory on one side of a 2D copy has the declared type. */
static int is_of_type(CUmemorytype type, CUdeviceptr pointer)
{
    const struct fake_allocation *allocation = fake_find(pointer);
    int is_device = allocation && allocation->type <= FAKE_MANAGED;
    return type == CU_MEMORYTYPE_HOST     ? !is_device || allocation->type == FAKE_MANAGED
           : type == CU_MEMORYTYPE_DEVICE ? is_device
                                          : type == CU_MEMORYTYPE_UNIFIED;
}

static CUresult submit_copy_2d(CUstream stream, const CUDA_MEMCPY2D *of)
{
    const struct copy_2d what = {
        .target = of->dstMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)of->dstHost : of->dstDevice,
        .source = of->srcMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)of->srcHost : of->srcDevice,
        .target_pitch = of->dstPitch,
        .source_pitch = of->srcPitch,
        .width = of->WidthInBytes,
        .height = of->Height,
    };
    fake_counts.copy_2d++;
    if (of->srcXInBytes || of->srcY || of->dstXInBytes || of->dstY || !of->WidthInBytes || !of->Height)
        return CUDA_ERROR_NOT_SUPPORTED; /* the library uses none of these */
    if (!is_of_type(of->dstMemoryType, what.target) || !is_of_type(of->srcMemoryType, what.source) ||
        what.target_pitch < what.width || what.target_pitch > INT32_MAX || what.source_pitch < what.width ||
        what.source_pitch > INT32_MAX || !fake_will_reach(stream, what.target, span(what.target_pitch, &what)) ||
        !fake_will_reach(stream, what.source, span(what.source_pitch, &what)))
        return CUDA_ERROR_INVALID_VALUE;
    struct copy_2d *copy = fake_submit(stream, run_copy_2d, sizeof *copy);
    const struct fake_work work = copy->work;
    *copy = what;
    copy->work = work;
    return CUDA_SUCCESS;
}

CUresult fake_cuMemcpy2DAsync(const CUDA_MEMCPY2D *of, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    return fake_end(submit_copy_2d(stream, of));
}

CUresult fake_cuMemcpy2D(const CUDA_MEMCPY2D *of)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_current(&context));
    TRY(fake_unsafe());
    TRY(fake_implicit(context, 1));
    TRY(submit_copy_2d(&context->legacy, of));
    fake_drain(&context->legacy, context->legacy.submitted);
    return fake_end(fake_failed(context));
}

struct fill {
    struct fake_work work;
    CUdeviceptr target;
    unsigned char value;
    size_t bytes;
};

static void run_fill(CUcontext context, struct fake_work *work)
{
    const struct fill *fill = (const struct fill *)work;
    void *to = fake_reach(fill->target, fill->bytes);
    if (to)
        memset(to, fill->value, fill->bytes);
    else
        fake_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* With the setting `pageable`, ordinary host memory is accepted too: memset takes any pointer to unified memory (CUDA
 * Programming Guide), and on such systems all memory of the process is unified. */
CUresult fake_cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    if (bytes && ((!fake_find(target) && !fake.pageable) || !fake_will_reach(stream, target, bytes)))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    if (bytes) {
        fake_counts.fill++;
        fake_counts.fill_bytes = bytes;
        struct fill *fill = fake_submit(stream, run_fill, sizeof *fill);
        fill->target = target;
        fill->value = value;
        fill->bytes = bytes;
    }
    return fake_end(CUDA_SUCCESS);
}
