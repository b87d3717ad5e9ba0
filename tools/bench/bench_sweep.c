/* bench_sweep.c - times many kernels at many sizes, in a separate process that may fail. */
#include "bench/bench_sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuferry.h>

#include "bench/bench_limit.h"
#include "bench/bench_machine.h"
#include "bench/bench_measure.h"
#include "bench/bench_timing.h"
#include "base/quiet.h"
#include "base/runtime.h"
#include "kernel/variant_text.h"

/* Limit in seconds for describing the machine and timing its memory. */
#define PATIENCE 600.0

/* Record that the worker writes to the pipe. */
struct record {
    enum { MACHINE, STEP, RESULT, FAILURE, LOST, DONE } kind;
    size_t kernel; /* number of the kernel in the plan */
    int64_t size;
    char what[16]; /* text of a STEP */
    union {
        struct bench_machine machine;
        struct bench_result result;
        char text[BENCH_REASON]; /* text of a FAILURE, which ends the whole run */
    } of;
};

/* ---- In the worker ---- */

struct worker {
    const struct bench_plan *plan;
    struct bench_machine machine;
    int output;
    size_t kernel;
    int64_t size;
    int is_lost;
};

static void send(const struct worker *worker, const struct record *record)
{
    const char *bytes = (const char *)record;
    for (size_t done = 0; done < sizeof *record;) {
        ssize_t put = write(worker->output, bytes + done, sizeof *record - done);
        if (put < 0 && errno != EINTR)
            _exit(EXIT_FAILURE); /* the parent process is gone */
        done += put > 0 ? (size_t)put : 0;
    }
}

static void send_step(void *data, const char *what)
{
    const struct worker *worker = data;
    struct record record = {.kind = STEP, .kernel = worker->kernel, .size = worker->size};
    snprintf(record.what, sizeof record.what, "%s", what);
    send(worker, &record);
}

static void send_result(const struct worker *worker, const struct bench_result *result)
{
    struct record record = {.kind = RESULT, .kernel = worker->kernel, .size = worker->size};
    record.of.result = *result;
    send(worker, &record);
}

static void name_result(struct bench_result *result, const cf_kernel *kernel)
{
    struct message variant = {""};
    variant_add(kernel, &variant);
    *result = (struct bench_result){.flops = -1};
    snprintf(result->kernel, sizeof result->kernel, "%s", kernel->name);
    snprintf(result->variant, sizeof result->variant, "%.*s", (int)sizeof result->variant - 1, variant.text);
}

/* Returns the expected time of a launch at a size, if times continue to grow as they did, and at least as fast as
 * sizes. */
static double expected(const struct bench_result *last, const struct bench_result *before, double elements)
{
    double growth = 1;
    if (before->elements > 0 && last->elements > before->elements)
        growth =
            log(last->seconds.median / before->seconds.median) / log((double)last->elements / (double)before->elements);
    growth = growth > 3 ? 3 : growth > 1 ? growth : 1; /* faster growth is noise */
    return last->elements > 0 ? last->seconds.median * pow(elements / (double)last->elements, growth) : 0;
}

static int is_too_long(const struct worker *worker, const struct bench_result *last, const struct bench_result *before,
                       struct bench_result *result)
{
    double seconds = expected(last, before, (double)worker->size);
    if (!(seconds > worker->plan->limit))
        return 0;
    result->size = worker->size;
    result->outcome = BENCH_LEFT_OUT;
    snprintf(result->reason, sizeof result->reason, "a launch would take some %.3g s, and the limit is %g s", seconds,
             worker->plan->limit);
    return 1;
}

static void sweep_sizes(struct worker *worker, struct bench_values *values, const cf_kernel *kernel)
{
    const struct bench_plan *plan = worker->plan;
    const struct bench_conditions conditions = {&worker->machine, plan->constants, plan->budget, plan->verify,
                                                plan->of_first};
    struct bench_result last = {.elements = 0}, before = {.elements = 0}, result;
    size_t count = bench_values_vary(values) ? plan->sizes.count : 1;
    for (size_t s = 0; s < count && !worker->is_lost; s++) {
        worker->size = plan->sizes.list[s];
        name_result(&result, kernel);
        if (!is_too_long(worker, &last, &before, &result))
            bench_measure(&conditions, values, worker->size, &result, &worker->is_lost, send_step, worker);
        send_result(worker, &result);
        if (result.outcome != BENCH_MEASURED)
            return;
        before = last;
        last = result;
    }
}

static void sweep_kernel(struct worker *worker)
{
    const struct bench_plan *plan = worker->plan;
    const cf_kernel *kernel = plan->kernels[worker->kernel];
    struct message reason = {""};
    struct bench_values values;
    int is_wrong;
    if (bench_values_begin(&values, kernel, plan->settings, plan->setting_count, &is_wrong, &reason) == 0) {
        sweep_sizes(worker, &values, kernel);
    } else {
        struct bench_result result;
        name_result(&result, kernel);
        result.outcome = BENCH_LEFT_OUT;
        snprintf(result.reason, sizeof result.reason, "%.500s", reason.text);
        send_result(worker, &result);
    }
    bench_values_free(&values);
}

static int describe_machine(struct worker *worker, struct message *message)
{
    size_t available;
    struct bench_machine *machine = &worker->machine;
    if (bench_machine_describe(machine, worker->plan->cache, message) != 0 ||
        bench_machine_available(machine, &available, message) != 0 ||
        bench_limit_measure(machine, available, worker->plan->budget, &machine->limit, message) != 0)
        return -1;
    struct record record = {.kind = MACHINE};
    record.of.machine = *machine;
    send(worker, &record);
    return 0;
}

static int work(struct worker *worker, int is_first, struct message *message)
{
    const struct bench_plan *plan = worker->plan;
    if (plan->device && cf_device_use(*plan->device) != CF_OK)
        return runtime_failure(message);
    if (is_first && describe_machine(worker, message) != 0)
        return -1;
    for (; worker->kernel < plan->count && !worker->is_lost; worker->kernel++)
        sweep_kernel(worker);
    return 0;
}

/* Main function of the worker process. */
static void run_worker(struct worker *worker, int is_first)
{
    struct message message = {""};
    struct record end = {.kind = FAILURE};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    quiet_begin(); /* a kernel that prints would print thousands of times */
    int status = work(worker, is_first, &message);
    if (status == 0 && cf_shutdown() != CF_OK && !worker->is_lost)
        status = runtime_failure(&message);
    if (status == 0)
        end.kind = worker->is_lost ? LOST : DONE;
    snprintf(end.of.text, sizeof end.of.text, "%.500s", message.text);
    end.kernel = worker->kernel;
    send(worker, &end);
    exit(EXIT_SUCCESS);
}

/* ---- In the parent process ---- */

struct sweep {
    const struct bench_plan *plan;
    const struct bench_listener *listener;
    struct bench_run *run;
    int is_described;
    size_t kernel; /* next or current kernel */
    int64_t size;
};

/* Reads one record. Returns 1, or 0 if the worker has ended, or -1 if it sends nothing for `limit` seconds. */
static int receive(int input, double limit, struct record *record)
{
    double end = bench_timing_now() + limit;
    for (size_t done = 0; done < sizeof *record;) {
        struct pollfd wait = {.fd = input, .events = POLLIN};
        double left = end - bench_timing_now();
        int ready = left > 0 ? poll(&wait, 1, left < 1000 ? (int)(left * 1000) + 1 : 1000000) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0 && left <= 0)
            return -1;
        if (ready == 0)
            continue;
        ssize_t got = read(input, (char *)record + done, sizeof *record - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        done += (size_t)got;
    }
    return 1;
}

static int keep(struct sweep *sweep, const struct bench_result *result, struct message *message)
{
    struct bench_run *run = sweep->run;
    struct bench_result *more = realloc(run->results, (run->count + 1) * sizeof *more);
    if (!more)
        return message_set(message, "no memory");
    run->results = more;
    run->results[run->count++] = *result;
    sweep->listener->result(sweep->listener->data, result);
    return 0;
}

/* Records a failure of the current kernel; the sweep continues with the next kernel. */
static int blame(struct sweep *sweep, const char *reason, struct message *message)
{
    struct bench_result result;
    name_result(&result, sweep->plan->kernels[sweep->kernel]);
    result.size = sweep->size;
    result.outcome = BENCH_FAILED;
    snprintf(result.reason, sizeof result.reason, "%.500s", reason);
    sweep->kernel++;
    return keep(sweep, &result, message);
}

/* Handles one record. Returns 1 after the last record. */
static int take(struct sweep *sweep, const struct record *record, struct message *message)
{
    sweep->kernel = record->kernel;
    sweep->size = record->size;
    switch (record->kind) {
    case MACHINE:
        sweep->is_described = 1;
        sweep->run->machine = record->of.machine;
        sweep->listener->machine(sweep->listener->data, &record->of.machine);
        return 0;
    case STEP:
        sweep->listener->step(sweep->listener->data, record->kernel, record->size, record->what);
        return 0;
    case RESULT:
        return keep(sweep, &record->of.result, message);
    case FAILURE:
        return message_set(message, "%s", record->of.text);
    case LOST:
    case DONE:
        break;
    }
    return 1;
}

/* Reads records of a worker until it ends. */
static int listen_to(struct sweep *sweep, pid_t child, int input, struct message *message)
{
    struct record record;
    char reason[BENCH_REASON];
    int status = 0, ended = 0, end;
    while (status == 0 && (ended = receive(input, sweep->is_described ? sweep->plan->limit : PATIENCE, &record)) == 1)
        status = take(sweep, &record, message);
    if (status < 0 || ended < 0)
        (void)kill(child, SIGKILL);
    while (waitpid(child, &end, 0) < 0 && errno == EINTR)
        continue;
    if (status < 0)
        return -1;
    if (status == 1 && WIFEXITED(end) && WEXITSTATUS(end) == 0)
        return 0;
    if (ended < 0)
        snprintf(reason, sizeof reason, "it has taken more than %g s", sweep->plan->limit);
    else if (WIFSIGNALED(end))
        snprintf(reason, sizeof reason, "it ended the process: %s; cf-run --check address may tell where",
                 strsignal(WTERMSIG(end)));
    else
        snprintf(reason, sizeof reason, "it ended the process with status %d", WEXITSTATUS(end));
    if (!sweep->is_described || sweep->kernel >= sweep->plan->count)
        return message_set(message, "the benchmark's process: %s", reason);
    return blame(sweep, reason, message);
}

static int start(struct sweep *sweep, struct message *message)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return message_set(message, "no pipe: %s", strerror(errno));
    (void)fflush(stdout); /* the worker must not print this buffered text again */
    pid_t child = fork();
    if (child == 0) {
        struct worker worker = {
            .plan = sweep->plan, .machine = sweep->run->machine, .output = ends[1], .kernel = sweep->kernel};
        (void)close(ends[0]);
        run_worker(&worker, !sweep->is_described);
    }
    int error = errno, status = 0;
    (void)close(ends[1]);
    if (child < 0)
        status = message_set(message, "no process: %s", strerror(error));
    else
        status = listen_to(sweep, child, ends[0], message);
    (void)close(ends[0]);
    return status;
}

int bench_sweep_run(const struct bench_plan *plan, const struct bench_listener *listener, struct bench_run *run,
                    struct message *message)
{
    struct sweep sweep = {.plan = plan, .listener = listener, .run = run};
    *run = (struct bench_run){.count = 0};
    do
        if (start(&sweep, message) != 0)
            return -1;
    while (sweep.kernel < plan->count);
    return 0;
}
