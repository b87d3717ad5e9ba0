/* running.c - which kernels may be running in a context, so that a fault can be told with their names.
 *
 * The driver reports a fault at some later call and does not say which kernel it was. Each thread notes what it
 * launches, by stream, in memory of its own that others read; a launch is struck off when a wait that began after it
 * has succeeded. What cannot be known counts as running: kernels that are captured and not launched, those of a graph
 * as "a graph", launches of other threads in a stream that this thread waits for. So the names hold the right one, if
 * it is a kernel of the library's at all. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list and of what several threads write */
static struct cf__running *nodes;                        /* a thread has one for each context that it launches in */
static pthread_key_t at_thread_end;
static int has_key;

_Thread_local struct cf__running *cf__running;
static _Thread_local char self; /* its address names the thread */

static uint64_t load(const uint64_t *number)
{
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

/* ---- Nodes, with the lock ---- */

static void clear(struct cf__running *node)
{
    __atomic_store_n(&node->context, CF__NO_CONTEXT, __ATOMIC_RELAXED);
    __atomic_store_n(&node->done, load(&node->launches), __ATOMIC_RELEASE);
    node->asker = NULL;
    node->handle = NULL;
}

static int has_launches(const struct cf__running *node)
{
    int has = load(&node->unlisted) > load(&node->done);
    for (int i = 0; i < CF__RUNNING && !has; i++)
        has = load(&node->slots[i].latest) > load(&node->done);
    return has;
}

/* Of a thread that has ended: what it launched comes before all that the thread does that takes its place. */
static int is_free_for(const struct cf__running *node, unsigned long long context)
{
    if (node->owner == &self)
        return node->context == CF__NO_CONTEXT;
    return !node->owner && (node->context == context || !has_launches(node));
}

static struct cf__running *find(unsigned long long context)
{
    struct cf__running *node = nodes;
    while (node && !(node->owner == &self && node->context == context))
        node = node->next;
    return node;
}

static struct cf__running *take(unsigned long long context, CUcontext handle)
{
    struct cf__running *node = nodes;
    while (node && !(is_free_for(node, context) && (node->owner || node->context == context)))
        node = node->next;
    for (struct cf__running *other = nodes; other && !node; other = other->next)
        if (is_free_for(other, context))
            node = other;
    if (!node) {
        node = aligned_alloc(_Alignof(struct cf__running), sizeof *node);
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
    for (struct cf__running **link = &nodes, *node; (node = *link) != NULL;)
        if ((!node->owner || node->owner == owner) && !has_launches(node)) {
            *link = node->next;
            free(node);
        } else {
            link = &node->next;
        }
}

static void end_thread(void *owner)
{
    cf__running = NULL;
    cf__lock(&lock);
    drop(owner);
    for (struct cf__running *node = nodes; node; node = node->next)
        if (node->owner == owner)
            node->owner = NULL;
    cf__unlock(&lock);
}

/* ---- Launching ---- */

/* The slot of a kernel in a stream, or one whose launches are done; -1 where there is neither. */
static int slot_for(const struct cf__running *node, const char *name, cf_stream stream)
{
    int slot = -1;
    for (int i = 0; i < CF__RUNNING; i++) {
        if (node->slots[i].name == name && node->slots[i].stream == stream)
            return i;
        if (slot < 0 && node->slots[i].latest <= load(&node->done))
            slot = i;
    }
    return slot;
}

struct cf__running *cf__note_other_launch(struct cf__context *context, const char *name, cf_stream stream)
{
    struct cf__running *node = cf__running;
    if (!node || node->context != context->id) {
        cf__lock(&lock);
        node = find(context->id);
        if (!node)
            node = take(context->id, context->handle);
        cf__unlock(&lock);
        if (!node)
            return NULL;
        cf__running = node;
    }
    uint64_t number = (node->launches + 1) | 1;
    int i = slot_for(node, name, stream);
    if (i < 0) {
        __atomic_store_n(&node->unlisted, number, __ATOMIC_RELEASE);
    } else {
        struct cf__running_slot *slot = &node->slots[i];
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
static struct cf__running *own_node(CUcontext handle)
{
    struct cf__running *node = cf__running;
    if (node && node->handle != handle) {
        cf__lock(&lock);
        for (node = nodes; node && !(node->owner == &self && node->handle == handle);)
            node = node->next;
        cf__unlock(&lock);
    }
    return node;
}

CF__HOT void cf__note_waited(const struct cf__place *place, cf_stream stream)
{
    struct cf__running *node = place->driver->is_host ? NULL : own_node(place->context);
    for (int i = 0; node && i < CF__RUNNING; i++)
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

struct cf__mark cf__mark(const struct cf__place *place, cf_stream stream)
{
    const struct cf__running *node = own_node(place->context);
    return (struct cf__mark){
        .thread = this_thread(), .context = place->context, .stream = stream, .launches = node ? node->launches : 0};
}

void cf__note_reached(const struct cf__mark *mark)
{
    struct cf__running *node = mark->thread == this_thread() ? own_node(mark->context) : NULL;
    for (int i = 0; node && i < CF__RUNNING; i++)
        if (node->slots[i].stream == mark->stream && node->slots[i].latest <= mark->launches)
            __atomic_store_n(&node->slots[i].latest, 0, __ATOMIC_RELEASE);
}

/* Of each thread, what is enqueued by now; of those that another thread asks already, nothing. */
static void ask(CUcontext handle)
{
    cf__lock(&lock);
    for (struct cf__running *node = nodes; node; node = node->next)
        if (node->handle == handle && !node->asker) {
            uint64_t launches = load(&node->launches);
            node->asked = launches & 1 && node->owner != &self ? launches - 1 : launches;
            node->asker = &self;
        }
    cf__unlock(&lock);
}

static void answer(CUcontext handle, int is_done)
{
    cf__lock(&lock);
    for (struct cf__running *node = nodes; node; node = node->next)
        if (node->handle == handle && node->asker == &self) {
            if (is_done && node->asked > node->done)
                __atomic_store_n(&node->done, node->asked, __ATOMIC_RELEASE);
            node->asker = NULL;
        }
    cf__unlock(&lock);
}

CUresult cf__wait_for_all(const struct cf__place *place)
{
    int is_gpu = !place->driver->is_host;
    uint64_t now = is_gpu ? cf__workspaces_now() : 0;
    if (is_gpu)
        ask(place->context);
    CUresult result = place->driver->cuCtxSynchronize();
    if (is_gpu)
        answer(place->context, result == CUDA_SUCCESS);
    if (is_gpu && result == CUDA_SUCCESS)
        cf__workspaces_done(place->context, now);
    return result;
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

static void add_names(struct names *names, const struct cf__running *node)
{
    uint64_t done = load(&node->done);
    if (load(&node->unlisted) > done)
        names->has_others = 1;
    for (int i = 0; i < CF__RUNNING; i++)
        if (load(&node->slots[i].latest) > done)
            add_name(names, __atomic_load_n(&node->slots[i].name, __ATOMIC_RELAXED));
}

void cf__running_text(unsigned long long context, char *text, size_t size)
{
    struct names names = {.count = 0};
    size_t used = 0;
    cf__lock(&lock);
    for (const struct cf__running *node = nodes; node; node = node->next)
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

void cf__running_forget(unsigned long long context)
{
    cf__lock(&lock);
    for (struct cf__running *node = nodes; node; node = node->next)
        if (context == CF__NO_CONTEXT || node->context == context)
            clear(node);
    if (context == CF__NO_CONTEXT) {
        cf__running = NULL;
        drop(&self);
    }
    cf__unlock(&lock);
}

void cf__running_start(void)
{
    has_key = pthread_key_create(&at_thread_end, end_thread) == 0;
}

void cf__running_end(int is_free)
{
    if (has_key)
        (void)pthread_key_delete(at_thread_end);
    has_key = 0;
    for (struct cf__running *node = is_free ? nodes : NULL, *next; node; node = next) {
        next = node->next;
        free(node);
    }
    nodes = NULL;
}

void cf__running_lock(void)
{
    cf__lock(&lock);
}

void cf__running_unlock(void)
{
    cf__unlock(&lock);
}

void cf__running_forget_threads(void)
{
    for (struct cf__running *node = nodes; node; node = node->next)
        if (node->owner != &self)
            node->owner = NULL;
}
