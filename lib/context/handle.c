/* handle.c - records the streams, events and graphs that the library created on GPUs. After a reset of a device, its
 * old handles are refused, because the driver may take them for other handles, or crash. Page-locked memory is recorded
 * so that a forked child does not treat it as ordinary memory. */
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include <cuferry.h>

#include "context/handle.h"

#include "base/error.h"
#include "base/fast.h"
#include "base/lock.h"
#include "driver/driver.h"
#include "cpu/cpu_stream.h"
#include "context/inflight.h"
#include "context/scope.h"

/* A hash table with linear probing, at most half full. */
struct entry {
    const void *handle; /* the handle; NULL in a free entry */
    enum cf__handle_kind kind;
    CUcontext context; /* context of the handle; NULL if the handle is stale because the device was reset */
    size_t bytes;      /* bytes of page-locked memory; 0 for a stream, event or graph */
    int device;        /* device of a stale handle */
    unsigned int serial;
    struct cf__event_mark mark; /* latest mark of an event */
    uint64_t capture;           /* driver's id of the capture of a graph or a node, or 0 */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
static size_t entry_count, table_size; /* table_size is a power of 2 */
static size_t stale_count;             /* number of stale entries */
static unsigned int last_serial;       /* latest serial number; 0 means no record */

/* Programs need not destroy stale handles. So if there are more stale entries than this, a reset drops those of earlier
 * resets. */
#define MAX_STALE 4096

/* ---- The table; the caller holds the lock ---- */

static size_t slot_of(enum cf__handle_kind kind, const void *handle)
{
    return (size_t)(((uint64_t)(uintptr_t)handle + kind) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (table_size - 1);
}

/* Returns the entry of a handle, or the free entry where it belongs. */
static struct entry *find_entry(enum cf__handle_kind kind, const void *handle)
{
    size_t i = slot_of(kind, handle);
    while (entries[i].handle && !(entries[i].handle == handle && entries[i].kind == kind))
        i = (i + 1) & (table_size - 1);
    return &entries[i];
}

static int grow_table(void)
{
    struct entry *old_table = entries;
    size_t old_size = table_size, larger_size = table_size ? 2 * table_size : 64;
    struct entry *larger_table = calloc(larger_size, sizeof *larger_table);
    if (!larger_table)
        return 0;
    entries = larger_table;
    table_size = larger_size;
    for (size_t i = 0; i < old_size; i++)
        if (old_table[i].handle)
            *find_entry(old_table[i].kind, old_table[i].handle) = old_table[i];
    free(old_table);
    return 1;
}

static int is_stale(const struct entry *entry)
{
    return entry->handle && !entry->context;
}

/* Called before a stale entry is removed or overwritten. Without stale entries, calls need not look handles up. */
static void uncount_stale(const struct entry *entry)
{
    if (is_stale(entry) && --stale_count == 0)
        cf__gpu_mark(CF__GPU_RESET, 0);
}

/* Later entries that collided with the removed one move up, so that a lookup still reaches them. */
static void remove_entry(struct entry *entry)
{
    size_t hole = (size_t)(entry - entries);
    uncount_stale(entry);
    for (size_t i = (hole + 1) & (table_size - 1); entries[i].handle; i = (i + 1) & (table_size - 1)) {
        size_t home = slot_of(entries[i].kind, entries[i].handle);
        if (((i - home) & (table_size - 1)) < ((i - hole) & (table_size - 1)))
            continue;
        entries[hole] = entries[i];
        hole = i;
    }
    entries[hole] = (struct entry){.handle = NULL};
    entry_count--;
}

/* ---- Records ---- */

/* Adds an entry; returns 0 if there is no memory. */
static int add_entry(const struct cf__scope *scope, enum cf__handle_kind kind, const void *handle, size_t bytes,
                     uint64_t capture)
{
    cf__lock(&lock);
    struct entry *entry = table_size ? find_entry(kind, handle) : NULL;
    int is_there = entry && entry->handle, has_room = is_there || 2 * (entry_count + 1) <= table_size || grow_table();
    if (has_room) {
        entry = find_entry(kind, handle);
        uncount_stale(entry);
        entry_count += !is_there;
        last_serial += 1 + (last_serial == UINT_MAX);
        *entry = (struct entry){handle, kind, scope->context, bytes, .serial = last_serial, .capture = capture};
    }
    cf__unlock(&lock);
    return has_room;
}

/* Adds a record of a GPU's handle. The CPU driver needs none: its handles carry generations, and a forked child may use
 * its memory. */
void *cf__handle_add(const struct cf__scope *scope, enum cf__handle_kind kind, void *handle)
{
    if (!scope->driver->is_cpu)
        (void)add_entry(scope, kind, handle, 0, 0);
    return handle;
}

int cf__handle_add_captured(const struct cf__scope *scope, enum cf__handle_kind kind, const void *handle,
                            uint64_t capture)
{
    return scope->driver->is_cpu || add_entry(scope, kind, handle, 0, capture);
}

void cf__handle_add_memory(const struct cf__scope *scope, const void *memory, size_t bytes)
{
    if (!scope->driver->is_cpu)
        (void)add_entry(scope, CF__PAGE_LOCKED, memory, bytes, 0);
}

unsigned int cf__handle_serial(enum cf__handle_kind kind, const void *handle)
{
    cf__lock(&lock);
    unsigned int serial = table_size ? find_entry(kind, handle)->serial : 0;
    cf__unlock(&lock);
    return serial;
}

void cf__handle_remove(enum cf__handle_kind kind, const void *handle, unsigned int serial)
{
    cf__lock(&lock);
    struct entry *entry = table_size ? find_entry(kind, handle) : NULL;
    if (entry && entry->handle && entry->serial == serial)
        remove_entry(entry);
    cf__unlock(&lock);
}

void cf__handle_set_mark(const void *event, const struct cf__event_mark *mark)
{
    cf__lock(&lock);
    struct entry *entry = table_size ? find_entry(CF__EVENT, event) : NULL;
    if (entry && entry->handle)
        entry->mark = *mark;
    cf__unlock(&lock);
}

struct cf__event_mark cf__handle_get_mark(const void *event)
{
    struct cf__event_mark mark = {.thread = 0};
    cf__lock(&lock);
    if (table_size)
        mark = find_entry(CF__EVENT, event)->mark;
    cf__unlock(&lock);
    return mark;
}

uint64_t cf__handle_get_capture(enum cf__handle_kind kind, const void *handle)
{
    cf__lock(&lock);
    uint64_t capture = table_size ? find_entry(kind, handle)->capture : 0;
    cf__unlock(&lock);
    return capture;
}

/* The inner loop repeats because a removal may move another entry to the same index. */
void cf__handle_forget_nodes(uint64_t capture)
{
    cf__lock(&lock);
    for (size_t i = 0; capture && i < table_size; i++)
        while (entries[i].handle && entries[i].kind == CF__GRAPH_NODE && entries[i].capture == capture)
            remove_entry(&entries[i]);
    cf__unlock(&lock);
}

int cf__handle_check(const char *function, const char *name, enum cf__handle_kind kind, const void *handle)
{
    if (cf__cpu_handle_is_stale(handle))
        return cf__fail(CF_EINVAL, "%s: %s %p was of CF_HOST, and was given back by cf_shutdown()", function, name,
                        handle);
    if (!(cf__gpu_state() & CF__GPU_RESET))
        return CF_OK;
    cf__lock(&lock);
    const struct entry *entry = table_size ? find_entry(kind, handle) : NULL;
    int is_past = entry && is_stale(entry), device = is_past ? entry->device : 0;
    cf__unlock(&lock);
    if (!is_past)
        return CF_OK;
    return cf__fail(CF_EINVAL, "%s: %s %p was of device %d before its reset, and went with that", function, name,
                    handle, device);
}

int cf__handle_is_memory(const void *pointer)
{
    int is_memory = 0;
    cf__lock(&lock);
    for (size_t i = 0; i < table_size && !is_memory; i++)
        is_memory = entries[i].handle && (uintptr_t)pointer - (uintptr_t)entries[i].handle < entries[i].bytes;
    cf__unlock(&lock);
    return is_memory;
}

CUcontext cf__handle_context(enum cf__handle_kind kind, const void *handle)
{
    cf__lock(&lock);
    const struct entry *entry = table_size ? find_entry(kind, handle) : NULL;
    CUcontext context = entry && entry->handle ? entry->context : NULL;
    cf__unlock(&lock);
    return context;
}

/* ---- Resets, and the end ---- */

/* The caller holds the lock. The inner loop repeats because a removal may move another stale entry to the same
 * index. */
static void remove_stale_entries(void)
{
    for (size_t i = 0; i < table_size; i++)
        while (is_stale(&entries[i]))
            remove_entry(&entries[i]);
}

void cf__handles_reset(CUcontext context, int device)
{
    cf__lock(&lock);
    if (stale_count > MAX_STALE)
        remove_stale_entries();
    for (size_t i = 0; i < table_size; i++)
        if (entries[i].handle && entries[i].context == context) {
            entries[i].context = NULL;
            entries[i].bytes = 0;
            entries[i].device = device;
            stale_count++;
        }
    if (stale_count)
        cf__gpu_mark(CF__GPU_RESET, 1);
    cf__unlock(&lock);
}

/* A forked child keeps the records, so that it continues to refuse its parent's handles. */
void cf__handles_forget(void)
{
    if (cf__is_forked())
        return;
    cf__lock(&lock);
    free(entries);
    entries = NULL;
    entry_count = table_size = stale_count = 0;
    cf__unlock(&lock);
    cf__gpu_mark(CF__GPU_RESET, 0);
}

void cf__handles_lock(void)
{
    cf__lock(&lock);
}

void cf__handles_unlock(void)
{
    cf__unlock(&lock);
}
