/* handle.c - the streams, events and graphs that the library made on GPUs, so that those of a device that was reset are
 * refused: the driver may take their handles for others, or die of them. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "internal.h"

/* A hash table with linear probing, at most half full. */
struct entry {
    const void *handle; /* NULL: free */
    CUcontext context;  /* NULL: it went with a reset */
    int device;         /* of such a one */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
static size_t count, room; /* room is a power of 2 */

/* ---- The table, with the lock ---- */

static size_t place_of(const void *handle)
{
    return (size_t)((uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);
}

/* That of a handle, or the free one where it would stand. */
static struct entry *find(const void *handle)
{
    size_t i = place_of(handle);
    while (entries[i].handle && entries[i].handle != handle)
        i = (i + 1) & (room - 1);
    return &entries[i];
}

static int grow(void)
{
    struct entry *before = entries;
    size_t of_before = room, larger = room ? 2 * room : 64;
    struct entry *made = calloc(larger, sizeof *made);
    if (!made)
        return 0;
    entries = made;
    room = larger;
    for (size_t i = 0; i < of_before; i++)
        if (before[i].handle)
            *find(before[i].handle) = before[i];
    free(before);
    return 1;
}

/* Those behind it in its run move up, so that they are found. */
static void take_out(struct entry *entry)
{
    size_t hole = (size_t)(entry - entries);
    for (size_t i = (hole + 1) & (room - 1); entries[i].handle; i = (i + 1) & (room - 1)) {
        size_t home = place_of(entries[i].handle);
        if (((i - home) & (room - 1)) < ((i - hole) & (room - 1)))
            continue;
        entries[hole] = entries[i];
        hole = i;
    }
    entries[hole] = (struct entry){NULL, NULL, 0};
    count--;
}

/* ---- What others use ---- */

void *cf__handle_keep(const struct cf__place *place, void *handle)
{
    if (place->driver->is_host)
        return handle; /* its handles have generations of their own */
    pthread_mutex_lock(&lock);
    if (2 * (count + 1) <= room || grow()) {
        struct entry *entry = find(handle);
        count += !entry->handle;
        *entry = (struct entry){handle, place->context, 0};
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

void cf__handle_drop(const void *handle)
{
    pthread_mutex_lock(&lock);
    struct entry *entry = room ? find(handle) : NULL;
    if (entry && entry->handle)
        take_out(entry);
    pthread_mutex_unlock(&lock);
}

int cf__handle_check(const char *function, const void *handle)
{
    if (!(cf__gpu_state() & CF__GPU_RESET))
        return CF_OK;
    pthread_mutex_lock(&lock);
    const struct entry *entry = room ? find(handle) : NULL;
    int is_stale = entry && entry->handle && !entry->context, device = is_stale ? entry->device : 0;
    pthread_mutex_unlock(&lock);
    if (!is_stale)
        return CF_OK;
    return cf__fail(CF_EINVAL, "%s: the handle %p was of device %d before cf_device_reset(), and went with that",
                    function, handle, device);
}

CUcontext cf__handle_context(const void *handle)
{
    pthread_mutex_lock(&lock);
    const struct entry *entry = room ? find(handle) : NULL;
    CUcontext context = entry && entry->handle ? entry->context : NULL;
    pthread_mutex_unlock(&lock);
    return context;
}

void cf__handles_reset(CUcontext context, int device)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < room; i++)
        if (entries[i].handle && entries[i].context == context) {
            entries[i].context = NULL;
            entries[i].device = device;
        }
    pthread_mutex_unlock(&lock);
    cf__gpu_mark(CF__GPU_RESET, 1);
}

void cf__handles_forget(void)
{
    pthread_mutex_lock(&lock);
    free(entries);
    entries = NULL;
    count = room = 0;
    pthread_mutex_unlock(&lock);
    cf__gpu_mark(CF__GPU_RESET, 0);
}

void cf__handles_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cf__handles_unlock(void)
{
    pthread_mutex_unlock(&lock);
}
