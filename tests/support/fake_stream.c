/* fake_stream.c - streams and events of the played GPU.
 *
 * Work stays in its stream until something makes it run: a wait, a query (which runs one piece of work and returns
 * "not ready"), or work of another stream that depends on it. Work that nobody waits for never runs. */
#include <stdlib.h>
#include <time.h>

#include "fake_libcuda.h"

/* ---- Work ---- */

static void run_one(CUstream stream)
{
    struct fake_work *work = stream->first;
    stream->first = work->next;
    if (!stream->first)
        stream->last = &stream->first;
    if (fake_failed(stream->object.context) == CUDA_SUCCESS)
        work->run(stream->object.context, work);
    if (work->destroy)
        work->destroy(work);
    free(work);
    stream->done++;
}

void fake_drain(CUstream stream, uint64_t position)
{
    while (stream->done < position)
        run_one(stream);
}

/* Drains the streams that the program created. */
static void drain_streams(CUcontext context, unsigned int skipped_flag)
{
    for (struct fake_object *object = fake_objects; object; object = object->next) {
        CUstream stream = (CUstream)(void *)object;
        if (object->kind == FAKE_STREAM && object->context == context && !(stream->flags & skipped_flag))
            fake_drain(stream, stream->submitted);
    }
}

void fake_drain_default(CUcontext context)
{
    fake_drain(&context->legacy, context->legacy.submitted);
    drain_streams(context, CU_STREAM_NON_BLOCKING);
}

void fake_drain_context(CUcontext context)
{
    fake_drain(&context->legacy, context->legacy.submitted);
    drain_streams(context, 0);
}

/* Blocking streams and the default stream run in the order of the calls, so waiting work of the other one runs now. */
void *fake_submit(CUstream stream, void (*run)(CUcontext context, struct fake_work *work), size_t size)
{
    CUcontext context = stream->object.context;
    if (stream->capture)
        return fake_add_node(stream, run, size);
    if (stream == &context->legacy && fake.late)
        drain_streams(context, CU_STREAM_NON_BLOCKING);
    else if (stream == &context->legacy)
        fake_drain_default(context);
    else if (!(stream->flags & CU_STREAM_NON_BLOCKING))
        fake_drain(&context->legacy, context->legacy.submitted);
    struct fake_work *work = calloc(1, size);
    if (!work)
        abort();
    work->run = run;
    *stream->last = work;
    stream->last = &work->next;
    stream->submitted++;
    return work;
}

/* Runs one piece of waiting work if there is one, so that a program that polls comes to an end; returns 1 in that
 * case. */
static int poll(CUstream stream, uint64_t position)
{
    if (stream->done >= position)
        return 0;
    run_one(stream);
    return 1;
}

/* ---- Streams ---- */

CUresult fake_find_stream(CUstream handle, CUstream *stream)
{
    /* The per-thread default stream is treated like the legacy one. This treatment orders more work than CUDA does. */
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
        CUcontext context;
        CUresult result = fake_current(&context);
        if (result == CUDA_SUCCESS)
            *stream = &context->legacy;
        return result;
    }
    if (!fake_is_live(handle, FAKE_STREAM))
        return CUDA_ERROR_INVALID_HANDLE;
    *stream = handle;
    return fake_failed(handle->object.context);
}

unsigned long long fake_stream_id(void)
{
    static unsigned long long last;
    return ++last;
}

static CUresult check_capture(CUstream stream)
{
    return stream->capture && stream->capture->is_broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

CUresult fake_stream(CUstream handle, CUstream *stream)
{
    CUresult result = fake_find_stream(handle, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (*stream == &(*stream)->object.context->legacy)
        return fake_implicit((*stream)->object.context, 1);
    return check_capture(*stream);
}

#define GREATEST_PRIORITY (-5)

CUresult fake_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_current(&context));
    if (least)
        *least = 0;
    if (greatest)
        *greatest = GREATEST_PRIORITY;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    CUcontext context;
    TRY(fake_begin());
    if (flags & ~(unsigned int)CU_STREAM_NON_BLOCKING)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    TRY(fake_current(&context));
    *stream = fake_add(FAKE_STREAM, sizeof **stream, context);
    (*stream)->flags = flags;
    (*stream)->id = fake_stream_id();
    (*stream)->last = &(*stream)->first;
    (*stream)->priority = priority > 0 ? 0 : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
    fake_counts.priority = (*stream)->priority;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return fake_cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult fake_cuStreamDestroy(CUstream stream)
{
    TRY(fake_begin());
    if (!fake_is_live(stream, FAKE_STREAM))
        return fake_end(CUDA_ERROR_INVALID_HANDLE);
    TRY(fake_failed(stream->object.context));
    fake_drain_all();
    fake_remove(stream); /* ends a capture that began in this stream */
    return fake_end(CUDA_SUCCESS);
}

/* The checks that waits and queries have in common. */
static CUresult waitable(CUstream handle, CUstream *stream)
{
    CUresult result = fake_find_stream(handle, stream);
    if (result == CUDA_SUCCESS && *stream == &(*stream)->object.context->legacy)
        result = fake_implicit((*stream)->object.context, 1);
    return result == CUDA_SUCCESS ? fake_capture_wait(*stream) : result;
}

CUresult fake_cuStreamSynchronize(CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(waitable(handle, &stream));
    if (stream == &stream->object.context->legacy)
        TRY(fake_unsafe()); /* the real driver, too, refuses this for a captured stream only */
    fake_drain(stream, stream->submitted);
    return fake_end(fake_failed(stream->object.context));
}

CUresult fake_cuStreamQuery(CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(waitable(handle, &stream));
    TRY(fake_unsafe());
    return fake_end(poll(stream, stream->submitted) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult fake_cuStreamGetCtx(CUstream handle, CUcontext *context)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_find_stream(handle, &stream));
    TRY(check_capture(stream));
    *context = stream->object.context;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuStreamGetId(CUstream handle, unsigned long long *id)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_find_stream(handle, &stream));
    if (stream == &stream->object.context->legacy)
        TRY(fake_implicit(stream->object.context, 1));
    TRY(fake_capture_wait(stream)); /* the driver of an H200 refuses this too, and invalidates the capture */
    *id = stream->id;
    return fake_end(CUDA_SUCCESS);
}

/* ---- Events ---- */

static CUresult check_event(CUevent event)
{
    return fake_is_live(event, FAKE_EVENT) ? fake_failed(event->object.context) : CUDA_ERROR_INVALID_HANDLE;
}

/* An event that was recorded in a capture belongs to a graph and has no time. */
static CUresult check_mark(CUevent event)
{
    CUresult result = check_event(event);
    return result == CUDA_SUCCESS && event->captured_in ? fake_captured_event(event) : result;
}

/* Returns 1 if the event is complete. Destroying a stream finishes its work and detaches it from its events. */
static int is_done(CUevent event)
{
    return !event->stream || event->stream->done >= event->position;
}

CUresult fake_cuEventCreate(CUevent *event, unsigned int flags)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_current(&context));
    if (flags & ~(unsigned int)(CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC))
        return fake_end(CUDA_ERROR_NOT_SUPPORTED); /* the library uses no other flags */
    *event = fake_add(FAKE_EVENT, sizeof **event, context);
    (*event)->has_no_time = flags & CU_EVENT_DISABLE_TIMING;
    fake_counts.event_flags = flags;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuEventDestroy(CUevent event)
{
    TRY(fake_begin());
    TRY(check_event(event));
    if (event->stream)
        fake_drain(event->stream, event->position); /* waiting work of the stream refers to the event */
    fake_remove(event);
    return fake_end(CUDA_SUCCESS);
}

struct mark {
    struct fake_work work;
    CUevent event;
};

static void run_mark(CUcontext context, struct fake_work *work)
{
    struct timespec now;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ((struct mark *)work)->event->time = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

CUresult fake_cuEventRecord(CUevent event, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(check_event(event));
    TRY(fake_stream(handle, &stream));
    if (stream->object.context != event->object.context)
        return fake_end(CUDA_ERROR_INVALID_HANDLE);
    if (event->stream)
        fake_drain(event->stream, event->position); /* the records of an event then complete in order */
    fake_capture_event(stream, event);
    if (stream->capture) {
        event->stream = NULL;
        return fake_end(CUDA_SUCCESS);
    }
    ((struct mark *)fake_submit(stream, run_mark, sizeof(struct mark)))->event = event;
    event->recorded = 1;
    event->stream = stream;
    event->position = stream->submitted;
    return fake_end(CUDA_SUCCESS);
}

struct barrier {
    struct fake_work work;
    CUstream stream; /* waits until this stream has reached `position` */
    uint64_t position;
};

static void run_barrier(CUcontext context, struct fake_work *work)
{
    const struct barrier *barrier = (const struct barrier *)work;
    (void)context;
    fake_drain(barrier->stream, barrier->position);
}

void fake_follow(CUstream stream, CUstream other, uint64_t position)
{
    struct barrier *barrier = fake_submit(stream, run_barrier, sizeof *barrier);
    barrier->stream = other;
    barrier->position = position;
}

CUresult fake_cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags)
{
    CUstream stream;
    int is_captured;
    (void)flags;
    TRY(fake_begin());
    TRY(check_event(event));
    TRY(fake_stream(handle, &stream));
    TRY(fake_capture_follow(stream, event, &is_captured));
    if (!is_captured && !is_done(event))
        fake_follow(stream, event->stream, event->position);
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuEventSynchronize(CUevent event)
{
    TRY(fake_begin());
    TRY(check_mark(event));
    if (event->stream)
        fake_drain(event->stream, event->position);
    return fake_end(fake_failed(event->object.context));
}

CUresult fake_cuEventQuery(CUevent event)
{
    TRY(fake_begin());
    TRY(check_mark(event));
    TRY(fake_unsafe());
    return fake_end(event->stream && poll(event->stream, event->position) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult fake_cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop)
{
    TRY(fake_begin());
    TRY(check_mark(start));
    TRY(check_mark(stop));
    if (start->has_no_time || stop->has_no_time || !start->recorded || !stop->recorded ||
        start->object.context != stop->object.context)
        return fake_end(CUDA_ERROR_INVALID_HANDLE);
    if (!(is_done(start) && is_done(stop)))
        return fake_end(CUDA_ERROR_NOT_READY);
    *milliseconds = (float)(stop->time - start->time);
    return fake_end(CUDA_SUCCESS);
}
