/* trial.c - runs a kernel on the command line's arrays: once with all checks, then timed, then on the CPU. */
#include "run/trial.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuferry.h>

#include "base/quiet.h"
#include "base/runtime.h"
#include "verify/verify_size.h"

/* Byte that outputs hold before a run, so that unwritten elements can be seen. */
#define POISON 0xa5

/* Number of launches that are enqueued without waiting. The next one is prepared while one runs, so that the time
 * between two events does not include the launching thread's work. */
#define BATCH 32

struct trial {
    const cf_kernel *kernel;
    struct argument *arguments;
    void **pointers; /* one per parameter: its array in device memory */
    void **saved;    /* one per parameter: a copy of the original contents of an array that a run changes */
    void **args;     /* arguments as cf_call() takes them */
    cf_stream stream;
    cf_event events[2 * BATCH]; /* before and after each launch */
};

/* Ignores the status of freeing memory after a failure that has been reported. */
static void ignore(int status)
{
    (void)status;
}

static int is_changed(const cf_param *param)
{
    return argument_is_read(param) && argument_is_written(param);
}

/* ---- Memory ---- */

/* Allocates an array's memory and uploads its elements. */
static int upload(const struct trial *trial, uint32_t i, struct message *message)
{
    const cf_param *param = &trial->kernel->params[i];
    const struct argument *argument = &trial->arguments[i];
    void **original = is_changed(param) ? &trial->saved[i] : &trial->pointers[i];
    if (cf_mem_alloc(&trial->pointers[i], argument->array.bytes) != CF_OK ||
        (is_changed(param) && cf_mem_alloc(original, argument->array.bytes) != CF_OK) ||
        (argument_is_read(param) && cf_mem_copy(*original, argument->data, argument->array.bytes) != CF_OK))
        return runtime_failure(message);
    return 0;
}

/* Prepares all memory of a run on the thread's device. */
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
        trial->args[i] = is_array ? (void *)&trial->pointers[i] : arguments[i].value; /* NULL: scratch memory */
        if (is_array && upload(trial, i, message) != 0)
            return -1;
    }
    if (constants_set(plan->constants, message) != 0)
        return -1;
    return cf_stream_create(&trial->stream) == CF_OK ? 0 : runtime_failure(message);
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

/* Enqueues the restoration of changed arrays and, if `with_outputs`, the poisoning of outputs. */
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
            return runtime_failure(message);
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
        return runtime_failure(message);
    double begin = now();
    if (cf_call(trial->kernel, trial->args) != CF_OK)
        return runtime_failure(message);
    *milliseconds = now() - begin;
    return cf_device_sync() == CF_OK ? 0 : runtime_failure(message); /* waits for text that a GPU prints */
}

static int launch_batch(const struct trial *trial, unsigned count, int is_first, float *milliseconds,
                        struct message *message)
{
    const cf_event *event = trial->events;
    for (unsigned r = 0; r < count; r++) {
        /* Poisons the outputs again: the reported results must come from a launch, not from the call. */
        if (reset(trial, is_first && r == 0, message) != 0)
            return -1;
        if (cf_event_record(event[2 * r], trial->stream) != CF_OK ||
            cf_launch(trial->kernel, trial->stream, trial->args) != CF_OK ||
            cf_event_record(event[2 * r + 1], trial->stream) != CF_OK)
            return runtime_failure(message);
    }
    if (cf_stream_sync(trial->stream) != CF_OK)
        return runtime_failure(message);
    for (unsigned r = 0; r < count; r++)
        if (cf_event_elapsed(&milliseconds[r], event[2 * r], event[2 * r + 1]) != CF_OK)
            return runtime_failure(message);
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
            return runtime_failure(message);
    float *milliseconds = calloc(repeats, sizeof *milliseconds);
    if (!milliseconds)
        return message_set(message, "%s: no memory for %u times", trial->kernel->name, repeats);
    int status = 0;
    quiet_begin();
    for (unsigned r = 0; status == 0 && r < repeats; r += BATCH)
        status = launch_batch(trial, repeats - r < BATCH ? repeats - r : BATCH, r == 0, milliseconds + r, message);
    quiet_end();
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
            return runtime_failure(message);
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

static int verify(const struct trial_plan *plan, double tolerance, struct comparison *comparisons,
                  struct message *message)
{
    struct trial trial;
    double unused;
    if (cf_device_use(CF_HOST) != CF_OK)
        return runtime_failure(message);
    int status = prepare(&trial, plan, message);
    quiet_begin();
    if (status == 0)
        status = call(&trial, &unused, message);
    quiet_end();
    for (uint32_t i = 0; status == 0 && i < plan->kernel->nparams; i++) {
        const struct argument *argument = &plan->arguments[i];
        /* Memory of the device CF_HOST can be read directly. */
        if (argument_is_written(&plan->kernel->params[i]))
            comparisons[i] = compare_arrays(argument->result, trial.pointers[i], &argument->array, tolerance);
        else if (plan->kernel->params[i].direction == CF_IN)
            comparisons[i] = compare_arrays(trial.pointers[i], argument->data, &argument->array, COMPARE_EXACT);
    }
    discard(&trial);
    return status;
}

int trial_verify(const struct trial_plan *plan, int device, double tolerance, struct comparison *comparisons,
                 struct message *message)
{
    char text[32];
    const char *own = verify_own_order(text, sizeof text);
    if (device != CF_HOST)
        return verify(plan, tolerance, comparisons, message);
    if (verify_set_order(verify_other_order(own), message) != 0)
        return -1;
    int status = verify(plan, tolerance, comparisons, message);
    return verify_set_order(own, message) == 0 ? status : -1;
}

/* ---- Shared arrays ---- */

/* A call in which arrays share memory. It has copies of the given elements of its own. */
struct joined {
    const struct trial_plan *plan;
    const struct inplace *which;
    char *whole;   /* content of the shared array */
    uint32_t home; /* number of the largest shared array */
};

static int has(const struct joined *joined, uint32_t i)
{
    return inplace_has(joined->plan->kernel, joined->which, i);
}

static int make_whole(struct joined *joined, struct message *message)
{
    const struct trial_plan *plan = joined->plan;
    joined->home = joined->which->written;
    for (uint32_t i = 0; i < plan->kernel->nparams; i++)
        if (has(joined, i) && plan->arguments[i].array.bytes > plan->arguments[joined->home].array.bytes)
            joined->home = i;
    const size_t bytes = plan->arguments[joined->home].array.bytes;
    joined->whole = malloc(bytes + 1);
    if (!joined->whole)
        return message_set(message, "%s: no memory for %zu bytes", plan->kernel->name, bytes);
    memset(joined->whole, POISON, bytes);
    /* Inputs are copied last, since their elements are known to pass the checks. */
    for (int is_input = 0; is_input < 2; is_input++)
        for (uint32_t i = 0; i < plan->kernel->nparams; i++)
            if (has(joined, i) && plan->arguments[i].data && (i != joined->which->written) == is_input)
                memcpy(joined->whole, plan->arguments[i].data, plan->arguments[i].array.bytes);
    return 0;
}

/* Allocates the memory of array i. Returns -1 if the library fails. */
static int allocate(const struct joined *joined, uint32_t i, void **memory)
{
    const struct argument *argument = &joined->plan->arguments[i];
    const size_t bytes = argument->array.bytes;
    if (cf_mem_alloc(memory, bytes) != CF_OK)
        return -1;
    const void *from = has(joined, i) ? joined->whole : argument->data;
    return (from ? cf_mem_copy(*memory, from, bytes) : cf_mem_fill(*memory, POISON, bytes)) == CF_OK ? 0 : -1;
}

/* Makes the call and copies the output to `result`. Returns 1 if the library refuses the call. */
static int call_joined(const struct joined *joined, const cf_kernel *kernel, int are_one, int device, void *result,
                       struct message *message)
{
    const uint32_t count = kernel->nparams, written = joined->which->written;
    void **memory = calloc(2 * (size_t)count + 1, sizeof *memory), **args = memory + count;
    int status = memory ? CF_OK : CF_ENOMEM;
    if (!memory)
        return message_set(message, "%s: no memory", kernel->name);
    if (cf_device_use(device) != CF_OK)
        status = -1;
    for (uint32_t i = 0; status == CF_OK && i < count; i++) {
        const uint32_t home = are_one && has(joined, i) ? joined->home : i;
        const int is_array = argument_is_array(&kernel->params[i]);
        args[i] = is_array ? (void *)&memory[home] : joined->plan->arguments[i].value;
        if (is_array && home == i)
            status = allocate(joined, i, &memory[i]);
    }
    if (status == CF_OK && constants_set(joined->plan->constants, message) != 0) {
        status = -1;
    } else {
        if (status == CF_OK)
            status = cf_call(kernel, args);
        if (status == CF_OK)
            status = cf_mem_copy(result, *(void *const *)args[written], joined->plan->arguments[written].array.bytes);
        if (status != CF_OK)
            runtime_failure(message);
    }
    for (uint32_t i = 0; i < count; i++)
        ignore(cf_mem_free(memory[i]));
    free(memory);
    return status == CF_OK ? 0 : status == CF_EINVAL || status == CF_ERANGE ? 1 : -1;
}

static int call_in_another_order(const struct joined *joined, const cf_kernel *kernel, void *result,
                                 struct message *message)
{
    char text[32];
    const char *own = verify_own_order(text, sizeof text);
    if (verify_set_order(verify_other_order(own), message) != 0)
        return -1;
    int status = call_joined(joined, kernel, 1, CF_HOST, result, message);
    return verify_set_order(own, message) == 0 ? status : -1;
}

int trial_inplace(const struct trial_plan *plan, const struct inplace *which, trial_twin *twin, int device,
                  double tolerance, void **result, struct comparison *comparison, struct message *message)
{
    struct joined joined = {.plan = plan, .which = which};
    const struct npy_array *array = &plan->arguments[which->written].array;
    *result = malloc(array->bytes + 1);
    void *expected = malloc(array->bytes + 1);
    int status =
        *result && expected ? make_whole(&joined, message) : message_set(message, "%s: no memory", plan->kernel->name);
    quiet_begin();
    if (status == 0)
        status = call_joined(&joined, plan->kernel, 0, CF_HOST, expected, message);
    const cf_kernel *kernel = status == 0 ? twin(plan, message) : NULL;
    if (status == 0 && !kernel)
        status = -1;
    if (status == 0)
        status = device == CF_HOST ? call_in_another_order(&joined, kernel, *result, message)
                                   : call_joined(&joined, kernel, 1, device, *result, message);
    quiet_end();
    if (status == 0)
        *comparison = compare_arrays(*result, expected, array, tolerance);
    free(expected);
    free(joined.whole);
    return status;
}
