/* fake_context.c - the played GPU's contexts, each thread's context stack, peer access, and devices lost to a
 * fault. */
#include <stdlib.h>

#include "fake_libcuda.h"

#define CONTEXTS 32
#define STACK 16

static struct CUctx_st contexts[CONTEXTS];
static unsigned long long last_id;
static CUresult failed[FAKE_DEVICES];
static unsigned int retained[FAKE_DEVICES]; /* references to the primary context; a reset does not change them */
static int lost;                            /* number of objects destroyed with their context */

/* A context is stored with its id because its slot may be reused. */
static _Thread_local struct {
    CUcontext context;
    unsigned long long id;
} stack[STACK];
static _Thread_local int depth;

CUresult fake_failed(CUcontext context)
{
    return failed[context->device];
}

void fake_fail(CUcontext context, CUresult result)
{
    for (int device = 0; device < FAKE_DEVICES; device++)
        if (!fake.alone || device == context->device)
            failed[device] = result;
}

/* ---- Contexts ---- */

void fake_report_contexts(struct fake_report *to)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (contexts[i].is_live && !contexts[i].is_primary)
            fake_report(to, 1, "created context of device %d\n", contexts[i].device);
    for (int device = 0; device < FAKE_DEVICES; device++)
        if (retained[device])
            fake_report(to, (int)retained[device], "primary context of device %d, retained %u times\n", device,
                        retained[device]);
    for (int i = 0; i < CONTEXTS; i++)
        for (int p = 0; p < CONTEXTS; p++)
            if (contexts[i].is_live && contexts[i].peers >> p & 1)
                fake_report(to, 1, "access from device %d to its peer %d\n", contexts[i].device, contexts[p].device);
    if (lost)
        fake_report(to, lost, "%d allocations, streams, events and graphs were lost with their context\n", lost);
}

int fake_context_is_live(CUcontext context)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (context == &contexts[i])
            return context->is_live > 0;
    return 0;
}

static CUcontext find_primary(int device)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (contexts[i].is_live && contexts[i].is_primary && contexts[i].device == device)
            return &contexts[i];
    return NULL;
}

static CUresult create_context(int device, int is_primary, CUcontext *context)
{
    if (failed[device] != CUDA_SUCCESS)
        return failed[device];
    fake_dawdle();
    for (int i = 0; i < CONTEXTS; i++)
        if (!contexts[i].is_live) {
            CUcontext slot = *context = &contexts[i];
            *slot = (struct CUctx_st){.device = device, .is_primary = is_primary, .is_live = 1, .id = ++last_id};
            slot->legacy = (struct CUstream_st){
                .object = {NULL, FAKE_STREAM, slot}, .id = fake_stream_id(), .last = &slot->legacy.first};
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

void fake_drain_all(void)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (contexts[i].is_live)
            fake_drain_context(&contexts[i]);
}

static uint64_t slot_bit(CUcontext context)
{
    return (uint64_t)1 << (context - contexts);
}

/* Removes one graph of the context; returns 1 if there was one. The caller then starts its search again, because other
 * objects may have been removed with the graph. */
static int remove_graph(CUcontext context)
{
    for (struct fake_object *object = fake_objects; object; object = object->next)
        if ((object->kind == FAKE_GRAPH || object->kind == FAKE_EXEC) && object->context == context) {
            fake_remove(object);
            return 1;
        }
    return 0;
}

/* The context of memory from pools. As on an H200, such memory is not destroyed with the device's context; after a
 * fault the driver guarantees nothing about it. */
static struct CUctx_st nobody[FAKE_DEVICES];

static int survives(const struct fake_object *object, int is_lost)
{
    const struct fake_allocation *allocation = (const struct fake_allocation *)(const void *)object;
    return !is_lost && object->kind == FAKE_ALLOCATION && allocation->is_async && !fake_is_of_graph(allocation);
}

static void destroy_context(CUcontext context, int is_reset)
{
    const int is_lost = failed[context->device] != CUDA_SUCCESS;
    fake_drain_all();
    fake_end_captures(context);
    while (remove_graph(context))
        lost += !is_reset && !is_lost;
    for (struct fake_object *object = fake_objects, *next; object; object = next) {
        next = object->next;
        if (object->context == context && survives(object, is_lost)) {
            nobody[context->device].device = context->device;
            object->context = &nobody[context->device];
        } else if (object->context == context) {
            int is_owned = object->kind != FAKE_FUNCTION && !(object->kind == FAKE_ALLOCATION &&
                                                              ((struct fake_allocation *)object)->type == FAKE_GLOBAL);
            lost += is_owned && !is_reset && !is_lost;
            if (object->kind == FAKE_ALLOCATION)
                fake_lose((struct fake_allocation *)(void *)object);
            fake_remove(object);
        }
    }
    context->is_live = 0;
    for (int i = 0; i < CONTEXTS; i++)
        contexts[i].peers &= ~slot_bit(context);
}

CUresult fake_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    TRY(fake_begin());
    TRY(fake_check_device(device));
    TRY(failed[device]);
    CUcontext primary = find_primary(device);
    if (!primary)
        TRY(create_context(device, 1, &primary));
    retained[device]++;
    *context = primary;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuDevicePrimaryCtxRelease(CUdevice device)
{
    TRY(fake_begin());
    TRY(fake_check_device(device));
    if (!retained[device])
        return fake_end(CUDA_ERROR_INVALID_CONTEXT);
    CUcontext primary = find_primary(device);
    if (--retained[device] == 0 && primary)
        destroy_context(primary, 0);
    return fake_end(CUDA_SUCCESS);
}

/* Destroys the context even if it is retained. The reference count is kept, and a later retain creates a new
 * context. */
CUresult fake_cuDevicePrimaryCtxReset(CUdevice device)
{
    TRY(fake_begin());
    TRY(fake_check_device(device));
    if (!fake.reset)
        TRY(failed[device]);
    CUcontext primary = find_primary(device);
    if (primary)
        destroy_context(primary, 1);
    if (fake.reset == 1)
        failed[device] = CUDA_SUCCESS;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    TRY(fake_begin());
    TRY(fake_check_device(device));
    *flags = 0;
    *active = find_primary(device) != NULL;
    return fake_end(CUDA_SUCCESS);
}

static void push(CUcontext context)
{
    if (depth == STACK)
        abort();
    stack[depth].context = context;
    stack[depth++].id = context->id;
}

CUresult fake_cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device)
{
    (void)flags;
    TRY(fake_begin());
    TRY(fake_check_device(device));
    TRY(create_context(device, 0, context));
    push(*context);
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuCtxDestroy(CUcontext context)
{
    TRY(fake_begin());
    if (!fake_context_is_live(context) || context->is_primary)
        return fake_end(CUDA_ERROR_INVALID_CONTEXT);
    destroy_context(context, 0);
    if (depth && stack[depth - 1].context == context)
        depth--;
    return fake_end(CUDA_SUCCESS);
}

static CUresult current(CUcontext *context)
{
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = stack[depth - 1].context;
    return fake_context_is_live(*context) && (*context)->id == stack[depth - 1].id ? CUDA_SUCCESS
                                                                                   : FAKE_CONTEXT_IS_DESTROYED;
}

CUresult fake_current(CUcontext *context)
{
    CUresult result = current(context);
    return result == CUDA_SUCCESS ? fake_failed(*context) : result;
}

CUresult fake_cuCtxGetCurrent(CUcontext *context)
{
    *context = depth ? stack[depth - 1].context : NULL;
    return fake_end(fake_begin());
}

CUresult fake_cuCtxPushCurrent(CUcontext context)
{
    TRY(fake_begin());
    if (!context)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    if (!fake_context_is_live(context))
        return fake_end(CUDA_ERROR_INVALID_CONTEXT);
    push(context);
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuCtxPopCurrent(CUcontext *context)
{
    TRY(fake_begin());
    if (!depth)
        return fake_end(CUDA_ERROR_INVALID_CONTEXT);
    depth--;
    if (context)
        *context = stack[depth].context;
    return fake_end(CUDA_SUCCESS);
}

/* Works on a failed context too, as in the driver. */
CUresult fake_cuCtxGetDevice(CUdevice *device)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(current(&context));
    *device = context->device;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuCtxGetId(CUcontext context, unsigned long long *id)
{
    TRY(fake_begin());
    if (!context)
        TRY(current(&context));
    if (!fake_context_is_live(context))
        return fake_end(CUDA_ERROR_INVALID_CONTEXT);
    *id = context->id;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuCtxSynchronize(void)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_current(&context));
    TRY(fake_break_captures(context));
    fake_drain_context(context);
    return fake_end(fake_failed(context));
}

/* ---- Peers ---- */

int fake_is_peer(CUcontext context, CUcontext peer)
{
    return (context->peers & slot_bit(peer)) != 0;
}

CUresult fake_cuDeviceCanAccessPeer(int *possible, CUdevice device, CUdevice peer)
{
    TRY(fake_begin());
    TRY(fake_check_device(device));
    TRY(fake_check_device(peer));
    *possible = device != peer && fake.peers;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_current(&context));
    TRY(fake_unsafe());
    if (flags)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    if (!fake_context_is_live(peer) || peer == context)
        return fake_end(CUDA_ERROR_INVALID_CONTEXT);
    if (!fake.peers || peer->device == context->device)
        return fake_end(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    if (fake_is_peer(context, peer))
        return fake_end(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    context->peers |= slot_bit(peer);
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuCtxDisablePeerAccess(CUcontext peer)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_current(&context));
    TRY(fake_unsafe());
    if (!fake_context_is_live(peer))
        return fake_end(CUDA_ERROR_INVALID_CONTEXT);
    if (!fake_is_peer(context, peer))
        return fake_end(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    fake_drain_context(context);
    context->peers &= ~slot_bit(peer);
    return fake_end(CUDA_SUCCESS);
}
