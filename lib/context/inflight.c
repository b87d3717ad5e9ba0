/* inflight.c - records the launches that may be in flight, so that error messages about a fault name their kernels.
 *
 * The driver reports a fault at some later call and does not name the kernel. Each thread notes its launches by stream
 * in a record of its own, which other threads read. A successful wait clears the notes of launches before it. A note is
 * kept while its launch may be in flight: this holds for a captured kernel that is not launched yet, for a graph (noted
 * as "a graph"), and for other threads' launches in a stream that this thread waits for. So if the library launched the
 * faulting kernel, its name is always listed. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "context/inflight.h"

#include "base/fast.h"
#include "base/lock.h"
#include "driver/driver.h"
#include "context/scope.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* lock of the list and of fields that several threads write */
static struct cf__inflight *records;                     /* list of records, one for each thread and context */
static pthread_key_t at_thread_end;
static int has_key;

_Thread_local struct cf__inflight *cf__inflight_latest;
static _Thread_local char thread_tag; /* variable whose address identifies the thread */

static uint64_t load_number(const uint64_t *number)
{
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

/* ---- Records; caller holds the lock ---- */

static void clear_record(struct cf__inflight *record)
{
    __atomic_store_n(&record->context, CF__NO_CONTEXT, __ATOMIC_RELAXED);
    __atomic_store_n(&record->done, load_number(&record->launches), __ATOMIC_RELEASE);
    record->waiter = NULL;
    record->handle = NULL;
}

static int has_launches_in_flight(const struct cf__inflight *record)
{
    int has = load_number(&record->unlisted) > load_number(&record->done);
    for (int i = 0; i < CF__INFLIGHT_SLOTS && !has; i++)
        has = load_number(&record->slots[i].latest) > load_number(&record->done);
    return has;
}

/* Returns 1 if the calling thread may claim the record. The record of an ended thread may still have launches in flight
 * if they are in the same context: the new owner's launches have higher numbers. */
static int is_free_for(const struct cf__inflight *record, unsigned long long context)
{
    if (record->owner == &thread_tag)
        return record->context == CF__NO_CONTEXT;
    return !record->owner && (record->context == context || !has_launches_in_flight(record));
}

static struct cf__inflight *find_record(unsigned long long context)
{
    struct cf__inflight *record = records;
    while (record && !(record->owner == &thread_tag && record->context == context))
        record = record->next;
    return record;
}

static struct cf__inflight *claim_record(unsigned long long context, CUcontext handle)
{
    struct cf__inflight *record = records;
    while (record && !is_free_for(record, context))
        record = record->next;
    if (!record) {
        record = aligned_alloc(_Alignof(struct cf__inflight), sizeof *record);
        if (!record)
            return NULL;
        memset(record, 0, sizeof *record);
        record->context = CF__NO_CONTEXT;
        record->next = records;
        records = record;
    }
    if (record->context != context)
        clear_record(record);
    record->owner = &thread_tag;
    record->handle = handle;
    __atomic_store_n(&record->context, context, __ATOMIC_RELAXED);
    if (has_key)
        (void)pthread_setspecific(at_thread_end, &thread_tag);
    return record;
}

/* Frees the records of `owner`, and those of ended threads that have no launches in flight. */
static void free_records(const void *owner)
{
    for (struct cf__inflight **link = &records, *record; (record = *link) != NULL;)
        if ((!record->owner || record->owner == owner) && !has_launches_in_flight(record)) {
            *link = record->next;
            free(record);
        } else {
            link = &record->next;
        }
}

static void end_thread(void *owner)
{
    cf__inflight_latest = NULL;
    cf__lock(&lock);
    free_records(owner);
    for (struct cf__inflight *record = records; record; record = record->next)
        if (record->owner == owner)
            record->owner = NULL;
    cf__unlock(&lock);
}

/* ---- Launching ---- */

/* Returns the slot of a kernel in a stream, else a slot whose launches are complete, else -1. */
static int find_slot(const struct cf__inflight *record, const char *name, cf_stream stream)
{
    int slot = -1;
    for (int i = 0; i < CF__INFLIGHT_SLOTS; i++) {
        if (record->slots[i].name == name && record->slots[i].stream == stream)
            return i;
        if (slot < 0 && record->slots[i].latest <= load_number(&record->done))
            slot = i;
    }
    return slot;
}

struct cf__inflight *cf__inflight_note_other(unsigned long long context, CUcontext handle, const char *name,
                                             cf_stream stream)
{
    struct cf__inflight *record = cf__inflight_latest;
    if (!record || record->context != context) {
        cf__lock(&lock);
        record = find_record(context);
        if (!record)
            record = claim_record(context, handle);
        cf__unlock(&lock);
        if (!record)
            return NULL;
        cf__inflight_latest = record;
    }
    uint64_t number = (record->launches + 1) | 1;
    int i = find_slot(record, name, stream);
    if (i < 0) {
        __atomic_store_n(&record->unlisted, number, __ATOMIC_RELEASE);
    } else {
        struct cf__inflight_slot *slot = &record->slots[i];
        __atomic_store_n(&slot->name, name, __ATOMIC_RELAXED);
        slot->stream = stream;
        __atomic_store_n(&slot->latest, number, __ATOMIC_RELEASE);
        record->slot = i;
    }
    __atomic_store_n(&record->launches, number, __ATOMIC_RELEASE);
    return record;
}

const char cf__inflight_graph[] = "a graph";

/* ---- Waiting ---- */

/* Returns the calling thread's record for a context, or NULL if it has launched nothing there. */
static struct cf__inflight *find_own_record(CUcontext handle)
{
    struct cf__inflight *record = cf__inflight_latest;
    if (record && record->handle != handle) {
        cf__lock(&lock);
        for (record = records; record && !(record->owner == &thread_tag && record->handle == handle);)
            record = record->next;
        cf__unlock(&lock);
    }
    return record;
}

CF__HOT void cf__inflight_waited(const struct cf__scope *scope, cf_stream stream)
{
    struct cf__inflight *record = scope->driver->is_cpu ? NULL : find_own_record(scope->context);
    for (int i = 0; record && i < CF__INFLIGHT_SLOTS; i++)
        if (record->slots[i].stream == stream && load_number(&record->slots[i].latest))
            __atomic_store_n(&record->slots[i].latest, 0, __ATOMIC_RELEASE);
}

/* Returns a number that, unlike the address of `thread_tag`, no later thread has. */
static uint64_t this_thread(void)
{
    static _Thread_local uint64_t number;
    static uint64_t count;
    if (!number)
        number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    return number;
}

struct cf__event_mark cf__inflight_take_mark(const struct cf__scope *scope, cf_stream stream)
{
    const struct cf__inflight *record = find_own_record(scope->context);
    return (struct cf__event_mark){
        .thread = this_thread(), .handle = scope->context, .stream = stream, .launches = record ? record->launches : 0};
}

void cf__inflight_reached(const struct cf__event_mark *mark)
{
    struct cf__inflight *record = mark->thread == this_thread() ? find_own_record(mark->handle) : NULL;
    for (int i = 0; record && i < CF__INFLIGHT_SLOTS; i++)
        if (record->slots[i].stream == mark->stream && record->slots[i].latest <= mark->launches)
            __atomic_store_n(&record->slots[i].latest, 0, __ATOMIC_RELEASE);
}

/* If another thread is already waiting for a record's launches, this wait does not clear them, and they stay noted
 * longer. */
void cf__inflight_wait_begin(CUcontext handle)
{
    cf__lock(&lock);
    for (struct cf__inflight *record = records; record; record = record->next)
        if (record->handle == handle && !record->waiter) {
            uint64_t launches = load_number(&record->launches);
            record->enqueued = launches & 1 && record->owner != &thread_tag ? launches - 1 : launches;
            record->waiter = &thread_tag;
        }
    cf__unlock(&lock);
}

void cf__inflight_wait_end(CUcontext handle, int is_done)
{
    cf__lock(&lock);
    for (struct cf__inflight *record = records; record; record = record->next)
        if (record->handle == handle && record->waiter == &thread_tag) {
            if (is_done && record->enqueued > record->done)
                __atomic_store_n(&record->done, record->enqueued, __ATOMIC_RELEASE);
            record->waiter = NULL;
        }
    cf__unlock(&lock);
}

/* ---- Text ---- */

enum { MAX_NAMES = 6 }; /* maximum number of names in a text */
struct names {
    const char *names[MAX_NAMES];
    int count, has_others;
};

/* Names are sorted, so that the texts of messages are reproducible. */
static void add_name(struct names *names, const char *name)
{
    int at = names->count;
    while (at > 0 && strcmp(names->names[at - 1], name) > 0)
        at--;
    if (at > 0 && strcmp(names->names[at - 1], name) == 0)
        return;
    if (names->count == MAX_NAMES) {
        names->has_others = 1;
        return;
    }
    memmove(names->names + at + 1, names->names + at, (size_t)(names->count - at) * sizeof *names->names);
    names->names[at] = name;
    names->count++;
}

static void add_names(struct names *names, const struct cf__inflight *record)
{
    uint64_t done = load_number(&record->done);
    if (load_number(&record->unlisted) > done)
        names->has_others = 1;
    for (int i = 0; i < CF__INFLIGHT_SLOTS; i++)
        if (load_number(&record->slots[i].latest) > done)
            add_name(names, __atomic_load_n(&record->slots[i].name, __ATOMIC_RELAXED));
}

void cf__inflight_text(const unsigned long long *contexts, int count, char *text, size_t size)
{
    struct names names = {.count = 0};
    size_t used = 0;
    cf__lock(&lock);
    for (const struct cf__inflight *record = records; record; record = record->next)
        for (int i = 0; i < count; i++)
            if (record->context == contexts[i])
                add_names(&names, record);
    cf__unlock(&lock);
    if (!names.count)
        snprintf(text, size, "%s", names.has_others ? "kernels that are not known were" : "no kernel of Cuferry's was");
    else if (names.count > 1 || names.has_others)
        used = (size_t)snprintf(text, size, "one of ");
    for (int i = 0; i < names.count; i++)
        if (used + strlen(names.names[i]) + sizeof ",  or others was" < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", names.names[i]);
        else
            names.has_others = 1;
    if (names.count)
        snprintf(text + used, size - used, "%s was", names.has_others ? " or others" : "");
}

/* ---- Life ---- */

void cf__inflight_forget(unsigned long long context)
{
    cf__lock(&lock);
    for (struct cf__inflight *record = records; record; record = record->next)
        if (context == CF__NO_CONTEXT || record->context == context)
            clear_record(record);
    if (context == CF__NO_CONTEXT) {
        cf__inflight_latest = NULL;
        free_records(&thread_tag);
    }
    cf__unlock(&lock);
}

void cf__inflight_start(void)
{
    has_key = pthread_key_create(&at_thread_end, end_thread) == 0;
}

void cf__inflight_end(int is_free)
{
    if (has_key)
        (void)pthread_key_delete(at_thread_end);
    has_key = 0;
    for (struct cf__inflight *record = is_free ? records : NULL, *next; record; record = next) {
        next = record->next;
        free(record);
    }
    records = NULL;
}

void cf__inflight_lock(void)
{
    cf__lock(&lock);
}

void cf__inflight_unlock(void)
{
    cf__unlock(&lock);
}

void cf__inflight_forget_threads(void)
{
    for (struct cf__inflight *record = records; record; record = record->next)
        if (record->owner != &thread_tag)
            record->owner = NULL;
}
