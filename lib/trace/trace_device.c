/* trace_device.c - when a GPU did what was enqueued: events before and behind it, on one clock with the CPU.
 *
 * A context's times count from a reference event. That is put on the CPU's clock by watching it happen in a stream of
 * its own, now and then anew, and kept there by cause and effect: nothing begins before it was enqueued, and what is
 * seen to be done has ended. Events are asked whether they have happened, and never waited for; where too many wait,
 * what is enqueued next gets no times. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace_device.h"

#include "base/log.h"
#include "driver/capture_mode.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "trace/trace.h"

#define PENDING 2048      /* spans of a context that may wait for their times */
#define ROWS 512          /* streams of a context that are told apart */
#define PROCESS 100000000 /* number of device 0's process in the trace, beyond those of real ones */
#define SECOND 1000000000

enum { CLOCK_THINGS = 3, PENDING_THINGS = 2 }; /* that have to be destroyed: events, and a stream */

struct cf__pending {
    CUevent begin, end;
    struct row *row;
    const char *category, *name;
    char args[CF__TRACE_ARGS];
    int64_t enqueued, launched; /* when the first event was, and the work */
    int64_t host_process, host_row;
    struct cf__pending *next;
};

/* A stream. */
struct row {
    CUstream stream;
    int64_t thread; /* of the per-thread default stream; else 0 */
    int is_gone;    /* destroyed: another stream may have the row once nothing waits in it */
    int64_t number, ended;
    struct cf__pending *first, **last;
    struct row *next;
};

/* A context. */
struct cf__clock {
    unsigned long long id; /* 0: the context is gone; atomic */
    CUcontext context;
    const struct cf__driver *driver;
    int device;
    pthread_mutex_t lock; /* of all that follows */
    int is_lost;          /* its events fail */
    CUevent reference;    /* NULL: there are no times */
    int64_t reference_at; /* the CPU's time of it */
    int64_t paired;       /* when that was seen last */
    CUstream stream;      /* to see it in, */
    CUevent spare;        /* and the next one */
    struct row *rows;
    int row_count, count;
    struct cf__pending *unused;
    struct cf__pending *partial; /* one that lacks events, which could not be created; or NULL */
    uint64_t lost;
    struct cf__clock *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of adding and taking away; the list is read without it */
static struct cf__clock *clocks;
static uint64_t arrows; /* atomic */
static int64_t rows;    /* numbers given; atomic */

/* ---- Contexts ---- */

/* Unless it is there already. */
static int make_event(const struct cf__clock *clock, CUevent *event)
{
    if (!*event && clock->driver->cuEventCreate(event, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
        *event = NULL;
    return *event != NULL;
}

/* Records an event in an idle stream, and writes the CPU's time of it; whether it was seen to happen. */
static int watch(const struct cf__driver *driver, CUevent event, CUstream stream, int64_t *when)
{
    int64_t before = cf__trace_now();
    CUresult result = driver->cuEventRecord(event, stream);
    if (result != CUDA_SUCCESS)
        return 0;
    do
        result = driver->cuEventQuery(event);
    while (result == CUDA_ERROR_NOT_READY && cf__trace_now() - before < SECOND / 1000);
    *when = before + (cf__trace_now() - before) / 2;
    return result == CUDA_SUCCESS;
}

/* Where other work keeps the device from getting to it, the reference that there is stays; the first one's time is then
 * a guess, which what follows corrects. With the lock. */
static void pair(struct cf__clock *clock)
{
    const struct cf__driver *driver = clock->driver;
    int64_t when = clock->paired = cf__trace_now();
    if (!clock->stream && driver->cuStreamCreate(&clock->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
        clock->stream = NULL;
    if (!clock->stream || !make_event(clock, &clock->spare))
        return;
    (void)watch(driver, clock->spare, clock->stream, &when); /* the first time, the driver is slow */
    int seen = watch(driver, clock->spare, clock->stream, &when);
    if (!seen && clock->reference)
        return;
    CUevent before = clock->reference;
    clock->reference = clock->spare;
    clock->reference_at = when;
    clock->spare = before;
}

static void name_device(const struct cf__clock *clock)
{
    char name[128] = "", quoted[512], args[600];
    CUdevice device;
    if (clock->driver->cuDeviceGet(&device, clock->device) == CUDA_SUCCESS)
        (void)clock->driver->cuDeviceGetName(name, sizeof name, device);
    snprintf(args, sizeof args, "\"name\": \"GPU %d: %s\"", clock->device,
             cf__trace_quote(quoted, sizeof quoted, name));
    cf__trace_write(&(struct cf__trace_event){
        .phase = 'M', .name = "process_name", .process = PROCESS + clock->device, .args = args});
}

static struct cf__clock *find(unsigned long long id)
{
    struct cf__clock *clock = __atomic_load_n(&clocks, __ATOMIC_ACQUIRE);
    while (clock && __atomic_load_n(&clock->id, __ATOMIC_RELAXED) != id)
        clock = clock->next;
    return clock;
}

/* With the lock. */
static struct cf__clock *add(const struct cf__driver *driver, CUcontext context, unsigned long long id)
{
    struct cf__clock *clock = cf__deferred_free_reserve(CLOCK_THINGS) ? calloc(1, sizeof *clock) : NULL;
    if (!clock)
        return NULL;
    clock->id = id;
    clock->context = context;
    clock->driver = driver;
    pthread_mutex_init(&clock->lock, NULL);
    if (driver->cuCtxGetDevice(&clock->device) == CUDA_SUCCESS) {
        int mode = cf__relax(driver);
        pair(clock);
        cf__unrelax(driver, mode);
        name_device(clock);
    }
    clock->next = clocks;
    __atomic_store_n(&clocks, clock, __ATOMIC_RELEASE);
    return clock;
}

/* The current context's; made where `makes`. */
static struct cf__clock *current(const struct cf__driver *driver, int makes)
{
    CUcontext context = NULL;
    unsigned long long id;
    if (driver->cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context ||
        driver->cuCtxGetId(context, &id) != CUDA_SUCCESS)
        return NULL;
    struct cf__clock *clock = find(id);
    if (clock || !makes)
        return clock;
    cf__lock(&lock);
    clock = find(id);
    if (!clock)
        clock = add(driver, context, id);
    cf__unlock(&lock);
    return clock;
}

/* ---- Streams, with the clock's lock ---- */

static void name_row(const struct cf__clock *clock, const struct row *row)
{
    char args[160], of[48] = "";
    if (clock->next && clock->next->device == clock->device)
        snprintf(of, sizeof of, ", context %llu", clock->id);
    if (!row->stream)
        snprintf(args, sizeof args, "\"name\": \"default stream%s\"", of);
    else if (row->thread)
        snprintf(args, sizeof args, "\"name\": \"default stream of thread %lld%s\"", (long long)row->thread, of);
    else
        snprintf(args, sizeof args, "\"name\": \"stream %p%s\"", (void *)row->stream, of);
    cf__trace_write(&(struct cf__trace_event){
        .phase = 'M', .name = "thread_name", .process = PROCESS + clock->device, .row = row->number, .args = args});
}

static struct row *find_row(struct cf__clock *clock, CUstream stream, int64_t thread)
{
    struct row *unused = NULL;
    for (struct row *row = clock->rows; row; row = row->next)
        if (!row->is_gone && row->stream == stream && row->thread == thread)
            return row;
        else if (row->is_gone && !row->first)
            unused = row;
    if (!unused && clock->row_count == ROWS)
        return clock->rows; /* too many: together with the latest */
    struct row *row = unused ? unused : calloc(1, sizeof *row);
    if (!row)
        return NULL;
    row->stream = stream;
    row->thread = thread;
    row->is_gone = 0;
    row->last = &row->first;
    if (!unused) {
        row->number = __atomic_add_fetch(&rows, 1, __ATOMIC_RELAXED);
        row->next = clock->rows;
        clock->rows = row;
        clock->row_count++;
    }
    name_row(clock, row);
    return row;
}

/* ---- Times, with the clock's lock, and so that no capture breaks ---- */

static void give_back(struct cf__clock *clock, struct cf__pending *pending)
{
    pending->next = clock->unused;
    clock->unused = pending;
}

static int time_of(const struct cf__clock *clock, CUevent event, int64_t *time)
{
    float milliseconds;
    if (clock->driver->cuEventElapsedTime(&milliseconds, clock->reference, event) != CUDA_SUCCESS)
        return 0;
    *time = clock->reference_at + (int64_t)((double)milliseconds * 1e6);
    return 1;
}

/* The times of what has ended, put right by what is known of them. */
static int times(struct cf__clock *clock, struct cf__pending *pending, int64_t *begin, int64_t *end)
{
    int64_t now = cf__trace_now(), late = 0;
    if (!time_of(clock, pending->begin, begin) || !time_of(clock, pending->end, end))
        return 0;
    if (*end > now)
        late = *end - now;
    if (*begin - late < pending->enqueued)
        late = *begin - pending->enqueued;
    clock->reference_at -= late;
    *begin -= late;
    *end -= late;
    /* A float loses digits where the reference is old. */
    if (*end - clock->reference_at > SECOND) {
        CUevent reference = clock->reference;
        clock->reference = pending->end;
        clock->reference_at = *end;
        pending->end = reference;
    }
    /* Spans of a row do not overlap; they would where two threads use a stream, or by what was put right. */
    int64_t least = pending->launched > pending->row->ended ? pending->launched : pending->row->ended;
    *begin = *begin < least ? least : *begin;
    *end = *end < *begin ? *begin : *end;
    pending->row->ended = *end;
    return 1;
}

/* Writes a span, and the arrow to it from where it was enqueued. */
static int report(struct cf__clock *clock, struct cf__pending *pending)
{
    int64_t process = PROCESS + clock->device, row = pending->row->number, begin, end;
    if (!times(clock, pending, &begin, &end))
        return 0;
    uint64_t arrow = __atomic_add_fetch(&arrows, 1, __ATOMIC_RELAXED);
    cf__trace_write(
        &(struct cf__trace_event){'X', pending->category, pending->name, process, row, begin, end, 0, pending->args});
    cf__trace_write(&(struct cf__trace_event){'s', "enqueued", "enqueued", pending->host_process, pending->host_row,
                                              pending->launched, 0, arrow, NULL});
    cf__trace_write(&(struct cf__trace_event){'f', "enqueued", "enqueued", process, row, begin, 0, arrow, NULL});
    return 1;
}

static void lose(struct cf__clock *clock)
{
    clock->is_lost = 1;
    for (struct row *row = clock->rows; row; row = row->next)
        while (row->first) {
            struct cf__pending *pending = row->first;
            row->first = pending->next;
            give_back(clock, pending);
            clock->lost++;
        }
}

static void collect_row(struct cf__clock *clock, struct row *row)
{
    for (struct cf__pending *pending; (pending = row->first) != NULL;) {
        CUresult result = clock->driver->cuEventQuery(pending->end);
        if (result == CUDA_ERROR_NOT_READY)
            return;
        if (result != CUDA_SUCCESS) {
            lose(clock);
            return;
        }
        row->first = pending->next;
        if (!row->first)
            row->last = &row->first;
        if (!report(clock, pending))
            clock->lost++;
        give_back(clock, pending);
    }
}

static void collect(struct cf__clock *clock)
{
    for (struct row *row = clock->rows; row && !clock->is_lost; row = row->next)
        collect_row(clock, row);
}

static struct cf__pending *take(struct cf__clock *clock)
{
    struct cf__pending *pending = clock->unused;
    if (!pending && clock->count == PENDING) {
        collect(clock);
        pending = clock->unused;
    }
    if (pending) {
        clock->unused = pending->next;
        return pending;
    }
    pending = clock->partial;
    if (!pending && clock->count < PENDING && cf__deferred_free_reserve(PENDING_THINGS))
        pending = calloc(1, sizeof *pending);
    if (!pending)
        return NULL;
    clock->partial = NULL;
    if (make_event(clock, &pending->begin) && make_event(clock, &pending->end)) {
        clock->count++;
        return pending;
    }
    clock->partial = pending;
    return NULL;
}

/* ---- Around a call ---- */

/* Also where a default stream cannot be asked, since another one is being captured: touching it would break that. */
static int is_captured(const struct cf__driver *driver, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = driver->cuStreamIsCapturing(stream, &status);
    return result != CUDA_SUCCESS ? !driver->is_cpu && result != CUDA_ERROR_NOT_SUPPORTED
                                  : status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void cf__timed_begin(struct cf__timed *timed, const struct cf__driver *driver, CUstream stream)
{
    *timed = (struct cf__timed){.clock = NULL};
    if (!cf__traces())
        return; /* it has ended */
    timed->is_captured = is_captured(driver, stream);
    struct cf__clock *clock = driver->is_cpu || timed->is_captured ? NULL : current(driver, 1);
    if (clock && clock->reference) {
        struct cf__trace_event thread;
        cf__trace_thread(&thread.process, &thread.row);
        if (stream == CU_STREAM_LEGACY)
            stream = NULL;
        int mode = cf__relax(driver);
        cf__lock(&clock->lock);
        if (cf__trace_now() - clock->paired > 10 * (int64_t)SECOND)
            pair(clock);
        struct row *row =
            clock->is_lost ? NULL : find_row(clock, stream, stream == CU_STREAM_PER_THREAD ? thread.row : 0);
        if (row)
            collect_row(clock, row);
        struct cf__pending *pending = row && !clock->is_lost ? take(clock) : NULL;
        clock->lost += !pending;
        cf__unlock(&clock->lock);
        cf__unrelax(driver, mode);
        if (pending) {
            timed->clock = clock;
            timed->pending = pending;
            pending->row = row;
            pending->host_process = thread.process;
            pending->host_row = thread.row;
            pending->enqueued = cf__trace_now();
            if (driver->cuEventRecord(pending->begin, stream) != CUDA_SUCCESS)
                pending->row = NULL;
        }
    }
    timed->begin = cf__trace_now();
    if (timed->pending)
        timed->pending->launched = timed->begin;
}

/* Marks the end of what was enqueued, where that has times. */
static void mark_end(struct cf__timed *timed, const struct cf__driver *driver, CUresult result, CUstream stream,
                     const char *category, const char *name, const char *args)
{
    struct cf__clock *clock = timed->clock;
    struct cf__pending *pending = timed->pending;
    int is_marked =
        result == CUDA_SUCCESS && pending->row && driver->cuEventRecord(pending->end, stream) == CUDA_SUCCESS;
    cf__lock(&clock->lock);
    if (is_marked) {
        struct row *row = pending->row;
        pending->category = category;
        pending->name = name;
        snprintf(pending->args, sizeof pending->args, "%s", args);
        pending->next = NULL;
        if (!row->first)
            row->last = &row->first;
        *row->last = pending;
        row->last = &pending->next;
    } else {
        clock->lost += result == CUDA_SUCCESS;
        give_back(clock, pending);
    }
    cf__unlock(&clock->lock);
}

void cf__timed_end(struct cf__timed *timed, const struct cf__driver *driver, CUresult result, CUstream stream,
                   const char *category, const char *name, const char *args)
{
    if (timed->clock)
        mark_end(timed, driver, result, stream, category, name, args);
}

void cf__timed_collect(const struct cf__driver *driver)
{
    struct cf__clock *clock = driver->is_cpu ? NULL : current(driver, 0);
    if (!clock)
        return;
    int mode = cf__relax(driver);
    cf__lock(&clock->lock);
    collect(clock);
    cf__unlock(&clock->lock);
    cf__unrelax(driver, mode);
}

/* ---- What goes ---- */

void cf__timed_stream_gone(const struct cf__driver *driver, CUstream stream)
{
    struct cf__clock *clock = driver->is_cpu ? NULL : current(driver, 0);
    if (!clock)
        return;
    cf__lock(&clock->lock);
    for (struct row *row = clock->rows; row; row = row->next)
        row->is_gone |= row->stream == stream;
    cf__unlock(&clock->lock);
}

/* With the clock's lock: what it has in its context is gone, or was destroyed. */
static void forget(struct cf__clock *clock)
{
    lose(clock);
    for (struct cf__pending *pending; (pending = clock->unused) != NULL;) {
        clock->unused = pending->next;
        free(pending);
    }
    free(clock->partial);
    for (struct row *row; (row = clock->rows) != NULL;) {
        clock->rows = row->next;
        free(row);
    }
    clock->partial = NULL;
    clock->reference = clock->spare = NULL;
    clock->stream = NULL;
    clock->count = clock->row_count = 0;
}

/* Whether the context may be there: of other libraries, some may have been destroyed, with what the trace had there. */
static int may_be_there(const struct cf__clock *clock)
{
    unsigned long long id;
    if (!clock->id)
        return 0;
    CUresult result = clock->driver->cuCtxGetId(clock->context, &id);
    return result == CUDA_SUCCESS ? id == clock->id : !cf__is_gone(result);
}

void cf__timed_contexts_gone(const struct cf__driver *driver)
{
    for (struct cf__clock *clock = __atomic_load_n(&clocks, __ATOMIC_ACQUIRE); clock; clock = clock->next) {
        if (clock->driver != driver || may_be_there(clock))
            continue;
        cf__lock(&clock->lock);
        forget(clock);
        cf__unlock(&clock->lock);
        __atomic_store_n(&clock->id, 0, __ATOMIC_RELAXED);
    }
}

/* The clock's context where it is its device's primary one and that exists, which is then retained. */
static int retain_primary(const struct cf__clock *clock, CUdevice *device)
{
    const struct cf__driver *driver = clock->driver;
    CUcontext primary = NULL;
    unsigned long long id = 0;
    unsigned int flags;
    int is_active = 0;
    if (!clock->id || driver->cuDeviceGet(device, clock->device) != CUDA_SUCCESS ||
        driver->cuDevicePrimaryCtxGetState(*device, &flags, &is_active) != CUDA_SUCCESS || !is_active ||
        driver->cuDevicePrimaryCtxRetain(&primary, *device) != CUDA_SUCCESS)
        return 0;
    if (primary == clock->context && driver->cuCtxGetId(primary, &id) == CUDA_SUCCESS && id == clock->id)
        return 1;
    (void)driver->cuDevicePrimaryCtxRelease(*device);
    return 0;
}

static CUresult destroy_event(const struct cf__driver *driver, uintptr_t event)
{
    return driver->cuEventDestroy((CUevent)event);
}

static CUresult destroy_stream(const struct cf__driver *driver, uintptr_t stream)
{
    return driver->cuStreamDestroy((CUstream)stream);
}

/* What cannot be destroyed now, or in a context that could not be entered, cf_shutdown() tries again. */
static void destroy(const struct cf__clock *clock, int is_entered, cf__free_function *destroy_it, uintptr_t what)
{
    if (!what)
        return;
    CUresult result = is_entered ? destroy_it(clock->driver, what) : CUDA_ERROR_UNKNOWN;
    if (result != CUDA_SUCCESS && !cf__is_gone(result))
        cf__defer_free(clock->driver, clock->context, destroy_it, what);
}

static void destroy_all(struct cf__clock *clock, int is_entered)
{
    lose(clock);
    if (clock->partial)
        give_back(clock, clock->partial);
    clock->partial = NULL;
    for (const struct cf__pending *pending = clock->unused; pending; pending = pending->next) {
        destroy(clock, is_entered, destroy_event, (uintptr_t)pending->begin);
        destroy(clock, is_entered, destroy_event, (uintptr_t)pending->end);
    }
    destroy(clock, is_entered, destroy_event, (uintptr_t)clock->reference);
    destroy(clock, is_entered, destroy_event, (uintptr_t)clock->spare);
    destroy(clock, is_entered, destroy_stream, (uintptr_t)clock->stream);
}

/* With the clock's lock. At the end of the process other threads may still be destroying contexts: there those alone
 * are entered that cannot go meanwhile. */
static void finish(struct cf__clock *clock, int is_final)
{
    const struct cf__driver *driver = clock->driver;
    CUcontext context = NULL;
    CUdevice device;
    unsigned long long id = 0;
    int is_current = driver->cuCtxGetCurrent(&context) == CUDA_SUCCESS && context &&
                     driver->cuCtxGetId(context, &id) == CUDA_SUCCESS && id == clock->id;
    int is_retained = !is_current && !is_final && retain_primary(clock, &device);
    int is_there = is_current || is_retained || (is_final && may_be_there(clock));
    int is_entered = is_there && driver->cuCtxPushCurrent(clock->context) == CUDA_SUCCESS;
    if (is_entered)
        collect(clock);
    if (is_there && is_final)
        destroy_all(clock, is_entered);
    if (is_entered)
        (void)driver->cuCtxPopCurrent(&context);
    if (is_retained)
        (void)driver->cuDevicePrimaryCtxRelease(device);
    if (is_final)
        forget(clock);
}

uint64_t cf__timed_finish(int is_final)
{
    uint64_t lost = 0;
    cf__lock(&lock);
    for (struct cf__clock *clock = clocks, *next; clock; clock = next) {
        next = clock->next;
        cf__lock(&clock->lock);
        finish(clock, is_final);
        for (const struct row *row = clock->rows; row; row = row->next)
            for (const struct cf__pending *pending = row->first; pending; pending = pending->next)
                lost++;
        lost += clock->lost;
        cf__unlock(&clock->lock);
        if (is_final) {
            pthread_mutex_destroy(&clock->lock);
            free(clock);
        }
    }
    if (is_final)
        __atomic_store_n(&clocks, NULL, __ATOMIC_RELEASE);
    cf__unlock(&lock);
    return lost;
}
