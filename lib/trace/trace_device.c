/* trace_device.c - measures device times of enqueued work by events before and after it, and converts them to the CPU's
 * clock.
 *
 * The times of a context are relative to a reference event. Its CPU time is measured by polling it in a separate
 * stream, at first and then every ten seconds. It is corrected by causality: no work begins before it was enqueued, and
 * finished work ended before now. Events are queried and never waited for. If too many are pending, further work gets
 * no times. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/trace_device.h"

#include "base/clock.h"
#include "base/lock.h"
#include "driver/capture_mode.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "trace/trace.h"

#define PENDING 2048      /* maximum number of a context's spans that wait for their times */
#define ROWS 512          /* maximum number of a context's streams with their own rows */
#define PROCESS 100000000 /* process number of device 0 in the trace, above those of real processes */
#define SECOND 1000000000

/* A span whose times are not known yet. */
struct cf__trace_pending {
    CUevent begin, end;
    struct row *row; /* row of the stream; NULL: the begin could not be recorded */
    const char *category, *name;
    char args[CF__TRACE_ARGS];
    int64_t enqueued, launched;     /* CPU times of recording the first event, and of the call that followed */
    int64_t host_process, host_row; /* row of the thread that enqueued the work */
    struct cf__trace_pending *next;
};

/* A stream's row. */
struct row {
    CUstream stream;
    int64_t thread; /* thread of a per-thread default stream, else 0 */
    int is_gone;    /* 1 if the stream was destroyed; another stream may get the row when no span is pending */
    int64_t number; /* number of the row in the trace */
    int64_t ended;  /* end of the latest span in ns */
    struct cf__trace_pending *first, **last;
    struct row *next;
};

/* A context's clock. */
struct cf__trace_clock {
    unsigned long long id; /* id of the context; 0: the context is gone; atomic */
    CUcontext context;
    const struct cf__driver *driver;
    int device;
    pthread_mutex_t lock; /* lock for the fields below */
    int is_lost;          /* 1 if the context's events fail */
    CUevent reference;    /* reference event; NULL: there are no times */
    int64_t reference_at; /* CPU time of the reference event in ns */
    int64_t measured;     /* time of the latest measurement in ns */
    CUstream stream;      /* stream for measurements */
    CUevent spare;        /* event for measurements, which becomes the next reference */
    struct row *rows;
    int row_count, pending_count;
    struct cf__trace_pending *unused;
    uint64_t lost_count; /* number of spans without times */
    struct cf__trace_clock *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* lock for changes of the list; readers take no lock */
static struct cf__trace_clock *clocks;
static uint64_t arrow_count; /* atomic */
static int64_t row_numbers;  /* atomic */

/* ---- Contexts ---- */

/* Creates an event if it is NULL; returns 0 on failure. */
static int make_event(const struct cf__trace_clock *clock, CUevent *event)
{
    if (!*event && clock->driver->cuEventCreate(event, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
        *event = NULL;
    return *event != NULL;
}

static CUresult destroy_event(const struct cf__driver *driver, uintptr_t event)
{
    return driver->cuEventDestroy((CUevent)event);
}

/* Destroys an object; defers that if it fails or if the context could not be entered. */
static void destroy_object(const struct cf__trace_clock *clock, int is_entered, cf__free_function *function,
                           uintptr_t object)
{
    if (!object)
        return;
    CUresult result = is_entered ? function(clock->driver, object) : CUDA_ERROR_UNKNOWN;
    if (result != CUDA_SUCCESS && !cf__result_is_gone(result))
        cf__defer_free(clock->driver, clock->context, function, object);
}

/* Records an event in an idle stream and polls it; stores its CPU time. Returns 1 if the event occurred within a
 * millisecond. */
static int measure_event(const struct cf__driver *driver, CUevent event, CUstream stream, int64_t *when)
{
    int64_t before = cf__now();
    CUresult result = driver->cuEventRecord(event, stream);
    if (result != CUDA_SUCCESS)
        return 0;
    do
        result = driver->cuEventQuery(event);
    while (result == CUDA_ERROR_NOT_READY && cf__now() - before < SECOND / 1000);
    *when = before + (cf__now() - before) / 2;
    return result == CUDA_SUCCESS;
}

/* Replaces the reference by an event that is measured now. If other work delays that event, the reference stays; only
 * the first reference is accepted even then, because causality corrects its time. The caller holds the lock. */
static void measure_reference(struct cf__trace_clock *clock)
{
    const struct cf__driver *driver = clock->driver;
    int64_t when = clock->measured = cf__now();
    if (!clock->stream && driver->cuStreamCreate(&clock->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
        clock->stream = NULL;
    if (!clock->stream || !make_event(clock, &clock->spare))
        return;
    (void)measure_event(driver, clock->spare, clock->stream, &when); /* this result is not used, because the driver's
                                                                      * first call is slow */
    int is_measured = measure_event(driver, clock->spare, clock->stream, &when);
    if (!is_measured && clock->reference)
        return;
    CUevent before = clock->reference;
    clock->reference = clock->spare;
    clock->reference_at = when;
    clock->spare = before;
}

static void name_device(const struct cf__trace_clock *clock)
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

static struct cf__trace_clock *find_clock(unsigned long long id)
{
    struct cf__trace_clock *clock = __atomic_load_n(&clocks, __ATOMIC_ACQUIRE);
    while (clock && __atomic_load_n(&clock->id, __ATOMIC_RELAXED) != id)
        clock = clock->next;
    return clock;
}

/* The caller holds the lock of the list. */
static struct cf__trace_clock *add_clock(const struct cf__driver *driver, CUcontext context, unsigned long long id)
{
    struct cf__trace_clock *clock = calloc(1, sizeof *clock);
    if (!clock)
        return NULL;
    clock->id = id;
    clock->context = context;
    clock->driver = driver;
    pthread_mutex_init(&clock->lock, NULL);
    if (driver->cuCtxGetDevice(&clock->device) == CUDA_SUCCESS) {
        int mode = cf__capture_relax(driver);
        measure_reference(clock);
        cf__capture_restore(driver, mode);
        name_device(clock);
    }
    clock->next = clocks;
    __atomic_store_n(&clocks, clock, __ATOMIC_RELEASE);
    return clock;
}

/* Returns the current context's clock, or NULL; creates a missing one if `adds`. */
static struct cf__trace_clock *current_clock(const struct cf__driver *driver, int adds)
{
    CUcontext context = NULL;
    unsigned long long id;
    if (driver->cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context ||
        driver->cuCtxGetId(context, &id) != CUDA_SUCCESS)
        return NULL;
    struct cf__trace_clock *clock = find_clock(id);
    if (clock || !adds)
        return clock;
    cf__lock(&lock);
    clock = find_clock(id);
    if (!clock)
        clock = add_clock(driver, context, id);
    cf__unlock(&lock);
    return clock;
}

/* ---- Streams; the caller holds the clock's lock ---- */

static void name_row(const struct cf__trace_clock *clock, const struct row *row)
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

static struct row *find_row(struct cf__trace_clock *clock, CUstream stream, int64_t thread)
{
    struct row *unused = NULL;
    for (struct row *row = clock->rows; row; row = row->next)
        if (!row->is_gone && row->stream == stream && row->thread == thread)
            return row;
        else if (row->is_gone && !row->first)
            unused = row;
    if (!unused && clock->row_count == ROWS)
        return clock->rows; /* beyond ROWS streams, all others share the row that was added last */
    struct row *row = unused ? unused : calloc(1, sizeof *row);
    if (!row)
        return NULL;
    row->stream = stream;
    row->thread = thread;
    row->is_gone = 0;
    if (!unused) {
        row->number = __atomic_add_fetch(&row_numbers, 1, __ATOMIC_RELAXED);
        row->next = clock->rows;
        clock->rows = row;
        clock->row_count++;
    }
    name_row(clock, row);
    return row;
}

/* ---- Times; the caller holds the clock's lock, and is in relaxed capture mode ---- */

static void release_pending(struct cf__trace_clock *clock, struct cf__trace_pending *pending)
{
    pending->next = clock->unused;
    clock->unused = pending;
}

static int compute_time(const struct cf__trace_clock *clock, CUevent event, int64_t *time)
{
    float milliseconds;
    if (clock->driver->cuEventElapsedTime(&milliseconds, clock->reference, event) != CUDA_SUCCESS)
        return 0;
    *time = clock->reference_at + (int64_t)((double)milliseconds * 1e6);
    return 1;
}

/* Computes the times of a finished span, and corrects the clock and the times by causality. */
static int compute_times(struct cf__trace_clock *clock, struct cf__trace_pending *pending, int64_t *begin, int64_t *end)
{
    int64_t now = cf__now(), late = 0;
    if (!compute_time(clock, pending->begin, begin) || !compute_time(clock, pending->end, end))
        return 0;
    if (*end > now)
        late = *end - now;
    if (*begin - late < pending->enqueued)
        late = *begin - pending->enqueued;
    clock->reference_at -= late;
    *begin -= late;
    *end -= late;
    /* The driver's time is a float, which loses precision as the reference ages. */
    if (*end - clock->reference_at > SECOND) {
        CUevent reference = clock->reference;
        clock->reference = pending->end;
        clock->reference_at = *end;
        pending->end = reference;
    }
    /* The spans of a row must not overlap. They could, because times are corrected, and because two threads may use the
     * stream. */
    int64_t least = pending->launched > pending->row->ended ? pending->launched : pending->row->ended;
    *begin = *begin < least ? least : *begin;
    *end = *end < *begin ? *begin : *end;
    pending->row->ended = *end;
    return 1;
}

/* Writes a span, and an arrow that leads from the enqueuing call to the span. */
static int write_span(struct cf__trace_clock *clock, struct cf__trace_pending *pending)
{
    int64_t process = PROCESS + clock->device, row = pending->row->number, begin, end;
    if (!compute_times(clock, pending, &begin, &end))
        return 0;
    uint64_t arrow = __atomic_add_fetch(&arrow_count, 1, __ATOMIC_RELAXED);
    cf__trace_write(
        &(struct cf__trace_event){'X', pending->category, pending->name, process, row, begin, end, 0, pending->args});
    cf__trace_write(&(struct cf__trace_event){'s', "enqueued", "enqueued", pending->host_process, pending->host_row,
                                              pending->launched, 0, arrow, NULL});
    cf__trace_write(&(struct cf__trace_event){'f', "enqueued", "enqueued", process, row, begin, 0, arrow, NULL});
    return 1;
}

/* Drops all pending spans because the context's events fail. */
static void lose_pending(struct cf__trace_clock *clock)
{
    clock->is_lost = 1;
    for (struct row *row = clock->rows; row; row = row->next)
        while (row->first) {
            struct cf__trace_pending *pending = row->first;
            row->first = pending->next;
            release_pending(clock, pending);
            clock->lost_count++;
        }
}

static void collect_row(struct cf__trace_clock *clock, struct row *row)
{
    for (struct cf__trace_pending *pending; (pending = row->first) != NULL;) {
        CUresult result = clock->driver->cuEventQuery(pending->end);
        if (result == CUDA_ERROR_NOT_READY)
            return;
        if (result != CUDA_SUCCESS) {
            lose_pending(clock);
            return;
        }
        row->first = pending->next;
        if (!write_span(clock, pending))
            clock->lost_count++;
        release_pending(clock, pending);
    }
}

static void collect_rows(struct cf__trace_clock *clock)
{
    for (struct row *row = clock->rows; row && !clock->is_lost; row = row->next)
        collect_row(clock, row);
}

/* Returns an unused pending span with its events, or NULL. */
static struct cf__trace_pending *take_pending(struct cf__trace_clock *clock)
{
    struct cf__trace_pending *pending = clock->unused;
    if (!pending && clock->pending_count == PENDING) {
        collect_rows(clock);
        pending = clock->unused;
    }
    if (pending) {
        clock->unused = pending->next;
        return pending;
    }
    if (clock->pending_count == PENDING || (pending = calloc(1, sizeof *pending)) == NULL)
        return NULL;
    if (make_event(clock, &pending->begin) && make_event(clock, &pending->end)) {
        clock->pending_count++;
        return pending;
    }
    destroy_object(clock, 1, destroy_event, (uintptr_t)pending->begin);
    free(pending);
    return NULL;
}

/* ---- Around a call ---- */

/* Returns 1 if the stream is being captured, because recording an event would invalidate the capture. Also returns 1 if
 * it is a default stream that cannot be queried because another stream is being captured. */
static int is_capturing(const struct cf__driver *driver, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = driver->cuStreamIsCapturing(stream, &status);
    return result != CUDA_SUCCESS ? !driver->is_cpu && result != CUDA_ERROR_NOT_SUPPORTED
                                  : status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void cf__trace_device_begin(struct cf__trace_device_span *span, const struct cf__driver *driver, CUstream stream)
{
    *span = (struct cf__trace_device_span){.clock = NULL};
    if (!cf__trace_is_on())
        return; /* the trace has ended */
    span->is_captured = is_capturing(driver, stream);
    struct cf__trace_clock *clock = driver->is_cpu || span->is_captured ? NULL : current_clock(driver, 1);
    if (clock) {
        struct cf__trace_event thread;
        cf__trace_get_row(&thread.process, &thread.row);
        if (stream == CU_STREAM_LEGACY)
            stream = NULL;
        int mode = cf__capture_relax(driver);
        cf__lock(&clock->lock);
        if (cf__now() - clock->measured > 10 * (int64_t)SECOND)
            measure_reference(clock);
        struct row *row = clock->is_lost || !clock->reference
                              ? NULL
                              : find_row(clock, stream, stream == CU_STREAM_PER_THREAD ? thread.row : 0);
        if (row)
            collect_row(clock, row);
        struct cf__trace_pending *pending = row && !clock->is_lost ? take_pending(clock) : NULL;
        clock->lost_count += !pending;
        cf__unlock(&clock->lock);
        cf__capture_restore(driver, mode);
        if (pending) {
            span->clock = clock;
            span->pending = pending;
            pending->row = row;
            pending->host_process = thread.process;
            pending->host_row = thread.row;
            pending->enqueued = cf__now();
            if (driver->cuEventRecord(pending->begin, stream) != CUDA_SUCCESS)
                pending->row = NULL;
        }
    }
    span->begin = cf__now();
    if (span->pending)
        span->pending->launched = span->begin;
}

/* Records the end of the enqueued work. */
static void record_end(struct cf__trace_device_span *span, const struct cf__driver *driver, CUresult result,
                       CUstream stream, const char *category, const char *name, const char *args)
{
    struct cf__trace_clock *clock = span->clock;
    struct cf__trace_pending *pending = span->pending;
    int is_recorded =
        result == CUDA_SUCCESS && pending->row && driver->cuEventRecord(pending->end, stream) == CUDA_SUCCESS;
    cf__lock(&clock->lock);
    if (is_recorded) {
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
        clock->lost_count += result == CUDA_SUCCESS;
        release_pending(clock, pending);
    }
    cf__unlock(&clock->lock);
}

void cf__trace_device_end(struct cf__trace_device_span *span, const struct cf__driver *driver, CUresult result,
                          CUstream stream, const char *category, const char *name, const char *args)
{
    if (span->clock)
        record_end(span, driver, result, stream, category, name, args);
}

void cf__trace_device_collect(const struct cf__driver *driver)
{
    struct cf__trace_clock *clock = driver->is_cpu ? NULL : current_clock(driver, 0);
    if (!clock)
        return;
    int mode = cf__capture_relax(driver);
    cf__lock(&clock->lock);
    collect_rows(clock);
    cf__unlock(&clock->lock);
    cf__capture_restore(driver, mode);
}

/* ---- Ends of streams, contexts and the trace ---- */

void cf__trace_device_stream_destroyed(const struct cf__driver *driver, CUstream stream)
{
    struct cf__trace_clock *clock = driver->is_cpu ? NULL : current_clock(driver, 0);
    if (!clock)
        return;
    cf__lock(&clock->lock);
    for (struct row *row = clock->rows; row; row = row->next)
        row->is_gone |= row->stream == stream;
    cf__unlock(&clock->lock);
}

/* Frees the clock's memory after its driver objects are gone. The caller holds the clock's lock. */
static void empty_clock(struct cf__trace_clock *clock)
{
    lose_pending(clock);
    for (struct cf__trace_pending *pending; (pending = clock->unused) != NULL;) {
        clock->unused = pending->next;
        free(pending);
    }
    for (struct row *row; (row = clock->rows) != NULL;) {
        clock->rows = row->next;
        free(row);
    }
    clock->reference = clock->spare = NULL;
    clock->stream = NULL;
    clock->pending_count = clock->row_count = 0;
}

/* Returns 0 if the context was destroyed, for example by another library. The trace's objects were destroyed with
 * it. */
static int may_exist(const struct cf__trace_clock *clock)
{
    unsigned long long id;
    if (!clock->id)
        return 0;
    CUresult result = clock->driver->cuCtxGetId(clock->context, &id);
    return result == CUDA_SUCCESS ? id == clock->id : !cf__result_is_gone(result);
}

void cf__trace_device_contexts_destroyed(const struct cf__driver *driver)
{
    for (struct cf__trace_clock *clock = __atomic_load_n(&clocks, __ATOMIC_ACQUIRE); clock; clock = clock->next) {
        if (clock->driver != driver || may_exist(clock))
            continue;
        cf__lock(&clock->lock);
        empty_clock(clock);
        cf__unlock(&clock->lock);
        __atomic_store_n(&clock->id, 0, __ATOMIC_RELAXED);
    }
}

/* Retains the clock's context; returns 0 unless it is its device's primary context and still exists. */
static int retain_primary(const struct cf__trace_clock *clock, CUdevice *device)
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

static CUresult destroy_stream(const struct cf__driver *driver, uintptr_t stream)
{
    return driver->cuStreamDestroy((CUstream)stream);
}

static void destroy_objects(struct cf__trace_clock *clock, int is_entered)
{
    lose_pending(clock);
    for (const struct cf__trace_pending *pending = clock->unused; pending; pending = pending->next) {
        destroy_object(clock, is_entered, destroy_event, (uintptr_t)pending->begin);
        destroy_object(clock, is_entered, destroy_event, (uintptr_t)pending->end);
    }
    destroy_object(clock, is_entered, destroy_event, (uintptr_t)clock->reference);
    destroy_object(clock, is_entered, destroy_event, (uintptr_t)clock->spare);
    destroy_object(clock, is_entered, destroy_stream, (uintptr_t)clock->stream);
}

/* Finishes a clock. At the end of the process, other threads may be destroying contexts, so only the current context or
 * a retained primary context is entered. The caller holds the clock's lock. */
static void finish_clock(struct cf__trace_clock *clock, int is_final)
{
    const struct cf__driver *driver = clock->driver;
    CUcontext context = NULL;
    CUdevice device;
    unsigned long long id = 0;
    int is_current = driver->cuCtxGetCurrent(&context) == CUDA_SUCCESS && context &&
                     driver->cuCtxGetId(context, &id) == CUDA_SUCCESS && id == clock->id;
    int is_retained = !is_current && !is_final && retain_primary(clock, &device);
    int is_there = is_current || is_retained || (is_final && may_exist(clock));
    int is_entered = is_there && driver->cuCtxPushCurrent(clock->context) == CUDA_SUCCESS;
    if (is_entered)
        collect_rows(clock);
    if (is_there && is_final)
        destroy_objects(clock, is_entered);
    if (is_entered)
        (void)driver->cuCtxPopCurrent(&context);
    if (is_retained)
        (void)driver->cuDevicePrimaryCtxRelease(device);
    if (is_final)
        empty_clock(clock);
}

uint64_t cf__trace_device_finish(int is_final)
{
    uint64_t lost = 0;
    cf__lock(&lock);
    for (struct cf__trace_clock *clock = clocks, *next; clock; clock = next) {
        next = clock->next;
        cf__lock(&clock->lock);
        finish_clock(clock, is_final);
        for (const struct row *row = clock->rows; row; row = row->next)
            for (const struct cf__trace_pending *pending = row->first; pending; pending = pending->next)
                lost++;
        lost += clock->lost_count;
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
