/* cpu_stream.c - handles, streams and events of the CPU driver.
 *
 * A handle is the address of a slot in one reserved range, plus the low bits of the slot's generation. The range
 * distinguishes it from handles of the GPU driver, the generation from earlier handles in the same slot. */
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#include "cpu/cpu_stream.h"

#include "base/fast.h"
#include "threads/pool.h"
#include "driver/driver.h"
#include "cpu/cpu_capture.h"
#include "cpu/cpu_graph.h"
#include "cpu/cpu_memory.h"
#include "cpu/driver_cpu.h"
#include "cpu/runner_cache.h"

#define SLOT 64 /* bytes of a slot, which is also the number of generations that handles can distinguish */

_Static_assert(sizeof(struct cf__cpu_handle) <= SLOT, "a handle's slot is too small");

static struct cf__cpu_handle *free_first, **free_last = &free_first; /* queue of free slots, the oldest first */
static char *fresh;                                                  /* first slot that has never been used */
static uint32_t first_generation; /* generation of fresh slots; 0 until the first cf__cpu_reset(); atomic */

/* ---- Handles ---- */

/* The caller holds the lock. */
static struct cf__cpu_handle *take_slot(void)
{
    if (!cf__fast.handles) {
        void *memory =
            mmap(NULL, CF__HANDLE_RANGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return NULL;
        fresh = memory;
        __atomic_store_n(&cf__fast.handles, (char *)memory, __ATOMIC_RELEASE);
    }
    struct cf__cpu_handle *slot = free_first;
    if (slot) {
        free_first = slot->next_free;
        if (!free_first)
            free_last = &free_first;
    } else if (fresh < cf__fast.handles + CF__HANDLE_RANGE) {
        slot = (struct cf__cpu_handle *)(void *)fresh;
        slot->generation = first_generation;
        fresh += SLOT;
    }
    return slot;
}

void *cf__cpu_handle_create(enum cf__cpu_handle_kind kind, struct cf__cpu_graph *graph)
{
    void *handle = NULL;
    cf__cpu_lock();
    struct cf__cpu_handle *slot = take_slot();
    if (slot) {
        *slot = (struct cf__cpu_handle){.generation = slot->generation, .graph = graph};
        __atomic_store_n(&slot->kind, (int)kind, __ATOMIC_RELAXED);
        handle = (char *)slot + slot->generation % SLOT;
    }
    cf__cpu_unlock();
    return handle;
}

struct cf__cpu_handle *cf__cpu_handle_find(const void *handle, enum cf__cpu_handle_kind kind)
{
    if (!cf__cpu_owns(handle))
        return NULL;
    uintptr_t generation = (uintptr_t)handle % SLOT; /* slots are aligned to their size */
    struct cf__cpu_handle *slot = (struct cf__cpu_handle *)((uintptr_t)handle - generation);
    return __atomic_load_n(&slot->kind, __ATOMIC_RELAXED) == (int)kind && slot->generation % SLOT == generation ? slot
                                                                                                                : NULL;
}

/* The caller holds the lock. */
static void free_slot(struct cf__cpu_handle *slot)
{
    cf__cpu_handle_release(slot);
    *slot = (struct cf__cpu_handle){.generation = slot->generation + 1};
    *free_last = slot;
    free_last = &slot->next_free;
}

CUresult cf__cpu_handle_destroy(const void *handle, enum cf__cpu_handle_kind kind)
{
    int is_stream_or_event = kind == CF__CPU_STREAM || kind == CF__CPU_EVENT;
    cf__cpu_lock();
    struct cf__cpu_handle *slot = cf__cpu_handle_find(handle, kind);
    if (slot)
        free_slot(slot);
    cf__cpu_unlock();
    if (slot)
        return CUDA_SUCCESS;
    return is_stream_or_event ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
}

int cf__cpu_handle_has_node(const struct cf__cpu_node *node)
{
    for (char *at = cf__fast.handles; at && at < fresh; at += SLOT) {
        const struct cf__cpu_handle *slot = (const struct cf__cpu_handle *)(void *)at;
        if (slot->kind == CF__CPU_GRAPH && cf__cpu_graph_has_node(slot->graph, node))
            return 1;
    }
    return cf__cpu_capture_has_node(node);
}

/* The caller holds the lock. */
static void free_handles(void)
{
    for (char *slot = cf__fast.handles; slot && slot < fresh; slot += SLOT)
        if (((struct cf__cpu_handle *)(void *)slot)->kind != CF__CPU_FREE)
            free_slot((struct cf__cpu_handle *)(void *)slot);
}

/* The range stays reserved, so that handles from before the reset are recognized as stale. */
CUresult cf__cpu_cuDevicePrimaryCtxReset(CUdevice device)
{
    if (device != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    cf__cpu_lock();
    free_handles();
    cf__cpu_memory_free();
    cf__cpu_unlock();
    return CUDA_SUCCESS;
}

int cf__cpu_handle_is_stale(const void *handle)
{
    if (!__atomic_load_n(&first_generation, __ATOMIC_RELAXED) || !cf__cpu_owns(handle))
        return 0;
    uintptr_t generation = (uintptr_t)handle % SLOT;
    const struct cf__cpu_handle *slot = (const struct cf__cpu_handle *)((uintptr_t)handle - generation);
    cf__cpu_lock();
    uint32_t behind = (slot->generation - (uint32_t)generation) % SLOT;
    int is_past =
        (const char *)slot >= fresh || (behind <= slot->generation && behind > slot->generation - first_generation);
    cf__cpu_unlock();
    return is_past;
}

/* Clears all slots. New slots begin with a generation that no earlier handle had. The caller holds the lock. */
static void forget_handles(void)
{
    free_handles();
    for (char *slot = cf__fast.handles; slot && slot < fresh; slot += SLOT)
        if (((struct cf__cpu_handle *)(void *)slot)->generation > first_generation)
            __atomic_store_n(&first_generation, ((struct cf__cpu_handle *)(void *)slot)->generation, __ATOMIC_RELAXED);
    if (cf__fast.handles)
        (void)madvise(cf__fast.handles, CF__HANDLE_RANGE, MADV_DONTNEED);
    fresh = cf__fast.handles;
    free_first = NULL;
    free_last = &free_first;
}

void cf__cpu_reset(void)
{
    cf__pool_stop();
    cf__runners_free();
    cf__cpu_lock();
    forget_handles();
    cf__cpu_memory_free();
    cf__cpu_unlock();
}

void cf__cpu_handles_unmap(void)
{
    if (cf__fast.handles)
        munmap(cf__fast.handles, CF__HANDLE_RANGE);
    __atomic_store_n(&cf__fast.handles, NULL, __ATOMIC_RELEASE);
}

/* ---- Streams ---- */

CUresult cf__cpu_cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    (void)flags, (void)priority;
    *stream = cf__cpu_handle_create(CF__CPU_STREAM, NULL);
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cf__cpu_cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return cf__cpu_cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cf__cpu_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuStreamDestroy(CUstream stream)
{
    return cf__cpu_handle_destroy(stream, CF__CPU_STREAM);
}

CUresult cf__cpu_stream_find(CUstream stream, struct cf__cpu_handle **slot)
{
    int is_default = !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
    *slot = is_default ? NULL : cf__cpu_handle_find(stream, CF__CPU_STREAM);
    return is_default || *slot ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* Work on the CPU's streams is complete when the call that enqueues it returns, so there is nothing to wait for. */
CUresult cf__cpu_cuStreamSynchronize(CUstream stream)
{
    struct cf__cpu_handle *slot;
    CUresult result = cf__cpu_stream_find(stream, &slot);
    return result == CUDA_SUCCESS && cf__cpu_is_captured(slot) ? cf__cpu_capture_break(slot) : result;
}

CUresult cf__cpu_cuStreamQuery(CUstream stream)
{
    return cf__cpu_cuStreamSynchronize(stream);
}

CUresult cf__cpu_cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    struct cf__cpu_handle *slot;
    *context = &cf__cpu_context;
    return cf__cpu_stream_find(stream, &slot);
}

/* The id combines the slot and its generation; both default streams have the same id. */
CUresult cf__cpu_cuStreamGetId(CUstream stream, unsigned long long *id)
{
    struct cf__cpu_handle *slot;
    CUresult result = cf__cpu_stream_find(stream, &slot);
    if (result == CUDA_SUCCESS && cf__cpu_is_captured(slot))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (result == CUDA_SUCCESS)
        *id = slot ? (uint64_t)((char *)slot - cf__fast.handles + SLOT) << 32 | slot->generation : 1;
    return result;
}

/* ---- Events ---- */

CUresult cf__cpu_cuEventCreate(CUevent *event, unsigned int flags)
{
    *event = cf__cpu_handle_create(CF__CPU_EVENT, NULL);
    if (!*event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    cf__cpu_handle_find(*event, CF__CPU_EVENT)->has_no_time = (flags & CU_EVENT_DISABLE_TIMING) != 0;
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuEventDestroy(CUevent event)
{
    return cf__cpu_handle_destroy(event, CF__CPU_EVENT);
}

/* Looks up an event that has a time. An event recorded in a capture has none, because it is a point in a graph. */
static CUresult check_event(CUevent event, struct cf__cpu_handle **slot)
{
    *slot = cf__cpu_handle_find(event, CF__CPU_EVENT);
    if (!*slot)
        return CUDA_ERROR_INVALID_HANDLE;
    uint64_t number = __atomic_load_n(&(*slot)->captured_in, __ATOMIC_RELAXED);
    return number ? cf__cpu_capture_check_event(number) : CUDA_SUCCESS;
}

CUresult cf__cpu_cuEventSynchronize(CUevent event)
{
    struct cf__cpu_handle *slot;
    return check_event(event, &slot);
}

CUresult cf__cpu_cuEventQuery(CUevent event)
{
    struct cf__cpu_handle *slot;
    return check_event(event, &slot);
}

CUresult cf__cpu_cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop)
{
    struct cf__cpu_handle *first, *last;
    CUresult result = check_event(start, &first);
    if (result == CUDA_SUCCESS)
        result = check_event(stop, &last);
    if (result != CUDA_SUCCESS)
        return result;
    int64_t from = __atomic_load_n(&first->time, __ATOMIC_RELAXED);
    int64_t to = __atomic_load_n(&last->time, __ATOMIC_RELAXED);
    if (!from || !to || first->has_no_time || last->has_no_time)
        return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)((double)(to - from) / 1e6);
    return CUDA_SUCCESS;
}
