/* trial.c - runs a kernel over the arrays of the command line: once with all checks, then timed, then on the CPU. */
#include "trial.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuferry.h>

#include "runtime.h"

/* Outputs hold this before a run, so that an element that is not written shows. */
#define POISON 0xa5

/* Launches that are enqueued without waiting in between: while one runs the next is prepared, so that the time between
 * two events is the kernel's and not the launching thread's. */
#define BATCH 32

struct trial {
    const cf_kernel *kernel;
    struct argument *arguments;
    void **pointers; /* one a parameter: its array, in device memory */
    void **saved;    /* likewise: the original of an array that a run changes */
    void **args;     /* as cf_call() takes them */
    cf_stream stream;
    cf_event events[2 * BATCH]; /* before and after each launch */
};

static int library_failure(struct message *message)
{
    return message_set(message, "%s", cf_last_error());
}

/* For the clean-up after a failure that is reported already. */
static void ignore(int status)
{
    (void)status;
}

static int is_changed(const cf_param *param)
{
    return argument_is_read(param) && argument_is_written(param);
}

/* ---- Memory ---- */

/* Allocates an array's memory, and uploads what is in it. */
static int upload(const struct trial *trial, uint32_t i, struct message *message)
{
    const cf_param *param = &trial->kernel->params[i];
    const struct argument *argument = &trial->arguments[i];
    void **original = is_changed(param) ? &trial->saved[i] : &trial->pointers[i];
    if (cf_mem_alloc(&trial->pointers[i], argument->array.bytes) != CF_OK ||
        (is_changed(param) && cf_mem_alloc(original, argument->array.bytes) != CF_OK) ||
        (argument_is_read(param) && cf_mem_copy(*original, argument->data, argument->array.bytes) != CF_OK))
        return library_failure(message);
    return 0;
}

/* Everything that a run needs, on the thread's device. */
static int prepare(struct trial *trial, const struct trial_plan *plan, struct message *message)
{
    const cf_kernel *kernel = plan->kernel;
    struct argument *arguments = plan->arguments;
    size_t count = kernel->nparams;
    *trial = (struct trial){.kernel = kernel, .arguments = arguments};
    trial->pointers = calloc(3 * count + 1, sizeof *trial->pointers);
    if (!trial->pointers)
        return message_set(message, "%s: no memory", kernel->name);
    trial->saved = trial->pointers + count;
    trial->args = trial->saved + count;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        int is_array = argument_is_array(&kernel->params[i]);
        trial->args[i] = is_array ? (void *)&trial->pointers[i] : arguments[i].value; /* NULL for scratch memory */
        if (is_array && upload(trial, i, message) != 0)
            return -1;
    }
    if (constants_set(plan->constants, message) != 0)
        return -1;
    return cf_stream_create(&trial->stream) == CF_OK ? 0 : library_failure(message);
}

static void discard(struct trial *trial)
{
    for (int e = 0; e < 2 * BATCH; e++)
        ignore(cf_event_destroy(trial->events[e]));
    ignore(cf_stream_destroy(trial->stream));
    for (uint32_t i = 0; trial->pointers && i < trial->kernel->nparams; i++) {
        ignore(cf_mem_free(trial->pointers[i]));
        ignore(cf_mem_free(trial->saved[i]));
    }
    free(trial->pointers);
}

/* Enqueues the restoring of the arrays that a run changes, and the poisoning of the outputs. */
static int reset(const struct trial *trial, int with_outputs, struct message *message)
{
    for (uint32_t i = 0; i < trial->kernel->nparams; i++) {
        const cf_param *param = &trial->kernel->params[i];
        size_t bytes = trial->arguments[i].array.bytes;
        int status = CF_OK;
        if (is_changed(param))
            status = cf_mem_copy_async(trial->stream, trial->pointers[i], trial->saved[i], bytes);
        else if (with_outputs && argument_is_written(param))
            status = cf_mem_fill_async(trial->stream, trial->pointers[i], POISON, bytes);
        if (status != CF_OK)
            return library_failure(message);
    }
    return 0;
}

/* ---- Runs ---- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int call(const struct trial *trial, double *milliseconds, struct message *message)
{
    if (reset(trial, 1, message) != 0)
        return -1;
    if (cf_stream_sync(trial->stream) != CF_OK)
        return library_failure(message);
    double begin = now();
    if (cf_call(trial->kernel, trial->args) != CF_OK)
        return library_failure(message);
    *milliseconds = now() - begin;
    return 0;
}

static int launch_batch(const struct trial *trial, unsigned count, int is_first, float *milliseconds,
                        struct message *message)
{
    const cf_event *event = trial->events;
    for (unsigned r = 0; r < count; r++) {
        /* Outputs are poisoned once more: what is reported is to come from a launch, not from the call. */
        if (reset(trial, is_first && r == 0, message) != 0)
            return -1;
        if (cf_event_record(event[2 * r], trial->stream) != CF_OK ||
            cf_launch(trial->kernel, trial->stream, trial->args) != CF_OK ||
            cf_event_record(event[2 * r + 1], trial->stream) != CF_OK)
            return library_failure(message);
    }
    if (cf_stream_sync(trial->stream) != CF_OK)
        return library_failure(message);
    for (unsigned r = 0; r < count; r++)
        if (cf_event_elapsed(&milliseconds[r], event[2 * r], event[2 * r + 1]) != CF_OK)
            return library_failure(message);
    return 0;
}

static int compare_times(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

static int launch_timed(struct trial *trial, unsigned repeats, struct trial_times *times, struct message *message)
{
    for (unsigned e = 0; e < 2 * (repeats < BATCH ? repeats : BATCH); e++)
        if (cf_event_create(&trial->events[e]) != CF_OK)
            return library_failure(message);
    float *milliseconds = calloc(repeats, sizeof *milliseconds);
    if (!milliseconds)
        return message_set(message, "%s: no memory for %u times", trial->kernel->name, repeats);
    int status = 0;
    for (unsigned r = 0; status == 0 && r < repeats; r += BATCH)
        status = launch_batch(trial, repeats - r < BATCH ? repeats - r : BATCH, r == 0, milliseconds + r, message);
    if (status == 0) {
        qsort(milliseconds, repeats, sizeof *milliseconds, compare_times);
        times->least = milliseconds[0];
        times->median = (milliseconds[(repeats - 1) / 2] + milliseconds[repeats / 2]) / 2;
    }
    free(milliseconds);
    return status;
}

static int fetch(const struct trial *trial, struct message *message)
{
    for (uint32_t i = 0; i < trial->kernel->nparams; i++) {
        struct argument *argument = &trial->arguments[i];
        size_t bytes = argument->array.bytes;
        if (!argument_is_written(&trial->kernel->params[i]) || bytes == 0)
            continue;
        argument->result = malloc(bytes);
        if (!argument->result)
            return message_set(message, "%s: no memory for %zu bytes", trial->kernel->params[i].name, bytes);
        if (cf_mem_copy(argument->result, trial->pointers[i], bytes) != CF_OK)
            return library_failure(message);
    }
    return 0;
}

int trial_run(const struct trial_plan *plan, struct trial_times *times, struct message *message)
{
    struct trial trial;
    int status = prepare(&trial, plan, message);
    if (status == 0)
        status = call(&trial, &times->call, message);
    if (status == 0)
        status = launch_timed(&trial, plan->repeats, times, message);
    if (status == 0)
        status = fetch(&trial, message);
    discard(&trial);
    return status;
}

int trial_verify(const struct trial_plan *plan, double tolerance, struct comparison *comparisons,
                 struct message *message)
{
    struct trial trial;
    double unused;
    if (cf_device_use(CF_HOST) != CF_OK)
        return library_failure(message);
    int status = prepare(&trial, plan, message);
    if (status == 0)
        status = call(&trial, &unused, message);
    for (uint32_t i = 0; status == 0 && i < plan->kernel->nparams; i++) {
        const struct argument *argument = &plan->arguments[i];
        if (argument_is_written(&plan->kernel->params[i])) /* memory of CF_HOST can be read as it is */
            comparisons[i] = compare_arrays(argument->result, trial.pointers[i], &argument->array, tolerance);
    }
    discard(&trial);
    return status;
}
