/* fake_stream.c - streams and events of the fake driver.
 *
 * Work waits in its stream until something makes it run: a wait, a query (which answers "not ready" and lets one piece
 * of work run), or work of another stream that has to follow it. So what nobody waits for is not done. */
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
    free(work);
    stream->done++;
}

void fake_drain(CUstream stream, uint64_t position)
{
    while (stream->done < position)
        run_one(stream);
}

static void drain_all(CUcontext context, int default_only)
{
    fake_drain(&context->legacy, context->legacy.submitted);
    for (struct fake_object *object = fake_objects; object; object = object->next) {
        CUstream stream = (CUstream)(void *)object;
        if (object->kind == FAKE_STREAM && object->context == context &&
            !(default_only && stream->flags & CU_STREAM_NON_BLOCKING))
            fake_drain(stream, stream->submitted);
    }
}

void fake_drain_default(CUcontext context)
{
    drain_all(context, 1);
}

void fake_drain_device(int device)
{
    CUcontext context;
    for (int i = 0; (context = fake_context(device, i)) != NULL; i++)
        drain_all(context, 0);
}

/* Streams that are not "non-blocking" and the default stream follow each other in the order of the calls. */
void *fake_submit(CUstream stream, void (*run)(CUcontext context, struct fake_work *work), size_t size)
{
    CUcontext context = stream->object.context;
    if (stream == &context->legacy)
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
