/* running.c - which kernels may be running in a context, so that a fault can be told with their names.
 *
 * The driver reports a fault at some later call and does not say which kernel it was. Each thread notes what it
 * launches, by stream, in memory of its own that others read; a launch is struck off when a wait that began after it
 * has succeeded. What cannot be known counts as running: kernels that are captured and not launched, those of a graph
 * as "a graph", launches of other threads in a stream that this thread waits for. So the names hold the right one, if
 * it is a kernel of the library's at all. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "context/inflight.h"

#include "base/fast.h"
#include "base/log.h"
#include "driver/driver.h"
#include "context/context.h"
#include "context/enter.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list and of what several threads write */
static struct cf__inflight *nodes;                       /* a thread has one for each context that it launches in */
static pthread_key_t at_thread_end;
static int has_key;

_Thread_local struct cf__inflight *cf__inflight_latest;
static _Thread_local char self; /* its address names the thread */

static uint64_t load(const uint64_t *number)
{
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

/* ---- Nodes, with the lock ---- */

static void clear(struct cf__inflight *node)
{
    __atomic_store_n(&node->context, CF__NO_CONTEXT, __ATOMIC_RELAXED);
    __atomic_store_n(&node->done, load(&node->launches), __ATOMIC_RELEASE);
    node->asker = NULL;
    node->handle = NULL;
}

static int has_launches(const struct cf__inflight *node)
{
    int has = load(&node->unlisted) > load(&node->done);
    for (int i = 0; i < CF__INFLIGHT_SLOTS && !has; i++)
        has = load(&node->slots[i].latest) > load(&node->done);
    return has;
}

/* Of a thread that has ended: what it launched comes before all that the thread does that takes its place. */
static int is_free_for(const struct cf__inflight *node, unsigned long long context)
{
    if (node->owner == &self)
        return node->context == CF__NO_CONTEXT;
    return !node->owner && (node->context == context || !has_launches(node));
}

static struct cf__inflight *find(unsigned long long context)
{
    struct cf__inflight *node = nodes;
    while (node && !(node->owner == &self && node->context == context))
        node = node->next;
    return node;
}

static struct cf__inflight *take(unsigned long long context, CUcontext handle)
{
    struct cf__inflight *node = nodes;
    while (node && !(is_free_for(node, context) && (node->owner || node->context == context)))
        node = node->next;
    for (struct cf__inflight *other = nodes; other && !node; other = other->next)
        if (is_free_for(other, context))
            node = other;
    if (!node) {
        node = aligned_alloc(_Alignof(struct cf__inflight), sizeof *node);
        if (!node)
            return NULL;
        memset(node, 0, sizeof *node);
        node->context = CF__NO_CONTEXT;
        node->next = nodes;
        nodes = node;
    }
    if (node->context != context)
        clear(node);
    node->owner = &self;
    node->handle = handle;
    __atomic_store_n(&node->context, context, __ATOMIC_RELAXED);
    if (has_key)
        (void)pthread_setspecific(at_thread_end, &self);
    return node;
}

/* Frees what nobody needs: nodes of `owner` and of ended threads in which nothing runs. */
static void drop(const void *owner)
{
    for (struct cf__inflight **link = &nodes, *node; (node = *link) != NULL;)
        if ((!node->owner || node->owner == owner) && !has_launches(node)) {
            *link = node->next;
            free(node);
        } else {
            link = &node->next;
        }
}

static void end_thread(void *owner)
{
    cf__inflight_latest = NULL;
    cf__lock(&lock);
    drop(owner);
    for (struct cf__inflight *node = nodes; node; node = node->next)
        if (node->owner == owner)
            node->owner = NULL;
    cf__unlock(&lock);
}

/* ---- Launching ---- */

/* The slot of a kernel in a stream, or one whose launches are done; -1 where there is neither. */
static int slot_for(const struct cf__inflight *node, const char *name, cf_stream stream)
{
    int slot = -1;
    for (int i = 0; i < CF__INFLIGHT_SLOTS; i++) {
        if (node->slots[i].name == name && node->slots[i].stream == stream)
            return i;
        if (slot < 0 && node->slots[i].latest <= load(&node->done))
            slot = i;
    }
    return slot;
}

struct cf__inflight *cf__inflight_note_other(struct cf__context *context, const char *name, cf_stream stream)
{
    struct cf__inflight *node = cf__inflight_latest;
    if (!node || node->context != context->id) {
        cf__lock(&lock);
        node = find(context->id);
        if (!node)
            node = take(context->id, context->handle);
        cf__unlock(&lock);
        if (!node)
            return NULL;
        cf__inflight_latest = node;
    }
    uint64_t number = (node->launches + 1) | 1;
    int i = slot_for(node, name, stream);
    if (i < 0) {
        __atomic_store_n(&node->unlisted, number, __ATOMIC_RELEASE);
    } else {
        struct cf__inflight_slot *slot = &node->slots[i];
        __atomic_store_n(&slot->name, name, __ATOMIC_RELAXED);
        slot->stream = stream;
        __atomic_store_n(&slot->latest, number, __ATOMIC_RELEASE);
        node->slot = i;
    }
    __atomic_store_n(&node->launches, number, __ATOMIC_RELEASE);
    return node;
}

const char cf__graph[] = "a graph";

/* ---- Waiting ---- */

/* That of the calling thread in a context; NULL where it has launched nothing there. */
static struct cf__inflight *own_node(CUcontext handle)
{
    struct cf__inflight *node = cf__inflight_latest;
    if (node && node->handle != handle) {
        cf__lock(&lock);
        for (node = nodes; node && !(node->owner == &self && node->handle == handle);)
            node = node->next;
        cf__unlock(&lock);
    }
    return node;
}

CF__HOT void cf__inflight_waited(const struct cf__scope *scope, cf_stream stream)
{
    struct cf__inflight *node = scope->driver->is_cpu ? NULL : own_node(scope->context);
    for (int i = 0; node && i < CF__INFLIGHT_SLOTS; i++)
        if (node->slots[i].stream == stream && load(&node->slots[i].latest))
            __atomic_store_n(&node->slots[i].latest, 0, __ATOMIC_RELEASE);
}

/* Unlike the address of `self`, no later thread's. */
static uint64_t this_thread(void)
{
    static _Thread_local uint64_t number;
    static uint64_t count;
    if (!number)
        number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    return number;
}

struct cf__mark cf__inflight_mark(const struct cf__scope *scope, cf_stream stream)
{
    const struct cf__inflight *node = own_node(scope->context);
    return (struct cf__mark){
        .thread = this_thread(), .context = scope->context, .stream = stream, .launches = node ? node->launches : 0};
}

void cf__inflight_reached(const struct cf__mark *mark)
{
    struct cf__inflight *node = mark->thread == this_thread() ? own_node(mark->context) : NULL;
    for (int i = 0; node && i < CF__INFLIGHT_SLOTS; i++)
        if (node->slots[i].stream == mark->stream && node->slots[i].latest <= mark->launches)
            __atomic_store_n(&node->slots[i].latest, 0, __ATOMIC_RELEASE);
}

/* Of each thread, what is enqueued by now; of those that another thread asks already, nothing. */
void cf__inflight_ask(CUcontext handle)
{
    cf__lock(&lock);
    for (struct cf__inflight *node = nodes; node; node = node->next)
        if (node->handle == handle && !node->asker) {
            uint64_t launches = load(&node->launches);
            node->asked = launches & 1 && node->owner != &self ? launches - 1 : launches;
            node->asker = &self;
        }
    cf__unlock(&lock);
}

void cf__inflight_answer(CUcontext handle, int is_done)
{
    cf__lock(&lock);
    for (struct cf__inflight *node = nodes; node; node = node->next)
        if (node->handle == handle && node->asker == &self) {
            if (is_done && node->asked > node->done)
                __atomic_store_n(&node->done, node->asked, __ATOMIC_RELEASE);
            node->asker = NULL;
        }
    cf__unlock(&lock);
}

/* ---- Telling ---- */

enum { MOST = 6 }; /* names that are told */
struct names {
    const char *names[MOST];
    int count, has_others;
};

/* Sorted, so that the same is said each time. */
static void add_name(struct names *names, const char *name)
{
    int at = names->count;
    while (at > 0 && strcmp(names->names[at - 1], name) > 0)
        at--;
    if (at > 0 && strcmp(names->names[at - 1], name) == 0)
        return;
    if (names->count == MOST) {
        names->has_others = 1;
        return;
    }
    memmove(names->names + at + 1, names->names + at, (size_t)(names->count - at) * sizeof *names->names);
    names->names[at] = name;
    names->count++;
}

static void add_names(struct names *names, const struct cf__inflight *node)
{
    uint64_t done = load(&node->done);
    if (load(&node->unlisted) > done)
        names->has_others = 1;
    for (int i = 0; i < CF__INFLIGHT_SLOTS; i++)
        if (load(&node->slots[i].latest) > done)
            add_name(names, __atomic_load_n(&node->slots[i].name, __ATOMIC_RELAXED));
}

void cf__inflight_text(unsigned long long context, char *text, size_t size)
{
    struct names names = {.count = 0};
    size_t used = 0;
    cf__lock(&lock);
    for (const struct cf__inflight *node = nodes; node; node = node->next)
        if (node->context == context)
            add_names(&names, node);
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
    for (struct cf__inflight *node = nodes; node; node = node->next)
        if (context == CF__NO_CONTEXT || node->context == context)
            clear(node);
    if (context == CF__NO_CONTEXT) {
        cf__inflight_latest = NULL;
        drop(&self);
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
    for (struct cf__inflight *node = is_free ? nodes : NULL, *next; node; node = next) {
        next = node->next;
        free(node);
    }
    nodes = NULL;
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
    for (struct cf__inflight *node = nodes; node; node = node->next)
        if (node->owner != &self)
            node->owner = NULL;
}
