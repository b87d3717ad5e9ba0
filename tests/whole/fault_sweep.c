/* fault_sweep.c - the sweep: makes the K-th driver call or allocation of a scene fail, for K = 1, 2, ..., until the
 * scene makes fewer than K of them. */
#include "fault_sweep.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "driver_fault.h"
#include "fault_alloc.h"
#include "fault_kernels.h"
#include "fault_locks.h"
#include "played_gpu.h"

long fault_total, leak_total;

#define MOST_CALLS 2000   /* limit for a scene; more calls mean an endless loop */
#define ALL_CALLS 16      /* a quick sweep skips none of the first 16 calls */
#define QUICK_SECONDS 0.4 /* time after which a quick sweep takes larger steps */

/* One run of a scene with one fault. */
struct attempt {
    const struct scene *scene;
    const struct tolerated *tolerated;
    int is_warm;    /* the scene has run before, without faults */
    int of_alloc;   /* an allocation fails, not a driver call */
    int is_lost;    /* all driver calls fail from there on, as after a kernel's fault */
    long at;        /* number of the call that fails */
    int is_forever; /* all later calls fail, too */
    CUresult result;
    int was_hit;
};

static const struct attempt *now;
static int wrong;

/* Returns 1 if the sweep is quick: on a real GPU, where an attempt takes milliseconds, with FAULT_QUICK, and for scenes
 * marked LONG. A quick sweep tries one error per call and skips some later calls. It also keeps the context instead of
 * creating a new one for each attempt. */
static int is_quick(const struct scene *scene)
{
    static int quick = -1;
    if (quick < 0) {
        int is_real = on_cuda() && !played_gpu_is_in_use();
        CUcontext held;
        if (is_real && (other_library()->cuInit(0) != CUDA_SUCCESS ||
                        other_library()->cuDevicePrimaryCtxRetain(&held, 0) != CUDA_SUCCESS))
            puts("# the context cannot be held");
        quick = is_real || getenv("FAULT_QUICK");
    }
    return quick || (scene->flags & LONG && !getenv("CHECK_LONG"));
}

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
    va_list values;
    if (++wrong > 20)
        return;
    printf("# %s%s, %s %ld%s", now->scene->name, now->is_warm ? ", used before" : "",
           now->of_alloc ? "allocation" : "driver call", now->at, now->is_forever ? " and later" : "");
    if (!now->of_alloc && now->at)
        printf(", result %u", now->result);
    printf(": ");
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    printf("\n");
}

static int is_lost_now; /* the GPUs are lost: calls that need one must say so, and other calls must succeed */

void fault_need(int status, const char *call, const char *file, int line)
{
    if (status != CF_OK && !(is_lost_now && status == CF_EFAULT))
        complain("%s:%d: %s gave %s: %s", file, line, call, cf_status_name(status), cf_last_error());
}

/* A thread that logs a line must hold no lock, because the callback may fork. Failures are logged, too. */
static void check_locks(void *data, int level, const char *text)
{
    (void)data, (void)level;
    if (locks_held())
        complain("%d locks are held while this is logged: %s", locks_held(), text);
}

/* ---- Expected results ---- */

static int is_tolerated(const struct attempt *attempt, const char *call)
{
    size_t length = strcspn(attempt->scene->name, " ");
    for (const struct tolerated *row = attempt->tolerated; row->call; row++)
        if (strcmp(row->call, call) == 0 &&
            (!row->function || (strncmp(row->function, attempt->scene->name, length) == 0 && !row->function[length])))
            return 1;
    return 0;
}

static int is_named(const struct attempt *attempt, const char *call)
{
    char said[64];
    snprintf(said, sizeof said, "%.*s returned %u (", (int)strcspn(call, "_"), call, attempt->result);
    if (cf_last_driver_result() != (int)attempt->result)
        return 0;
    /* A message of the CPU driver does not name the call. */
    return strstr(cf_last_error(), said) ||
           (attempt->result == CUDA_ERROR_OUT_OF_MEMORY && strstr(cf_last_error(), ": out of memory"));
}

/* The first failure that is not tolerated determines the status. If all failures are tolerated, the call may also
 * succeed. */
static void judge_driver(const struct attempt *attempt, int status)
{
    int expected = attempt->is_lost ? CF_EFAULT : attempt->result == CUDA_ERROR_OUT_OF_MEMORY ? CF_ENOMEM : CF_ECALL;
    int hit = 0;
    if (attempt->is_lost && strncmp(attempt->scene->name, "cf_shutdown", 11) == 0)
        expected = CF_OK; /* in a lost context nothing needs to be freed */
    int is_traced = attempt->scene->flags & TRACED;
    if (is_traced && status == CF_OK)
        return;
    while (fault_hit(hit) && is_tolerated(attempt, fault_hit(hit)))
        hit++;
    const char *call = fault_hit(hit);
    for (int i = 0; status == expected && fault_hit(i) && (i <= hit || is_traced || attempt->scene->flags & ANY); i++)
        if (is_named(attempt, fault_hit(i)))
            return;
    if (attempt->is_lost && status == expected && strstr(cf_last_error(), "was lost to a fault"))
        return;
    if (status == CF_ECAPTURE && attempt->scene->flags & CAPTURED &&
        strcmp(fault_hit(0), "cuThreadExchangeStreamCaptureMode") == 0)
        return; /* the mode could not be set, and so the capture forbids the call */
    if (attempt->is_lost && expected == CF_OK && status == CF_OK)
        return;
    if (status != (call ? expected : CF_OK))
        complain("%s failed and the status is %s, not %s (%s)", call ? call : fault_hit(0), cf_status_name(status),
                 cf_status_name(call ? expected : CF_OK), cf_last_error());
    else if (call)
        complain("%s failed and the detail is \"%s\", cf_last_driver_result() %d", call, cf_last_error(),
                 cf_last_driver_result());
}

static void judge_alloc(const char *name, int status)
{
    if (status != CF_OK && status != CF_ENOMEM)
        complain("%s failed and the status is %s (%s)", name, cf_status_name(status), cf_last_error());
}

static void count_leaks(const char *text, long count)
{
    if (count) {
        leak_total += count < 0 ? -count : count;
        complain("%ld objects left alive: %s", count, text);
    }
}

/* ---- Lost GPUs ---- */

/* The CPU and its memory can still be used. */
static void *work_on_cpu(void *unused)
{
    float x[64], y[64];
    void *from;
    (void)unused;
    for (int i = 0; i < 64; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    NEED(cf_device_use(CF_HOST) == CF_OK ? CF_OK : CF_ECALL);
    NEED(cf_mem_alloc(&from, sizeof x) == CF_OK ? CF_OK : CF_ECALL);
    NEED(cf_mem_copy(from, x, sizeof x) == CF_OK ? CF_OK : CF_ECALL);
    NEED(fault_axpy(2, from, y, 64) == CF_OK ? CF_OK : CF_ECALL);
    NEED(cf_mem_free(from) == CF_OK ? CF_OK : CF_ECALL);
    for (int i = 0; i < 64; i++)
        if (y[i] != 1 + 2 * x[i]) {
            complain("the CPU computes nonsense");
            break;
        }
    return NULL;
}

/* After a call on lost GPUs, the process continues without them, and frees everything that does not need a GPU. */
static void go_on_without(const struct attempt *attempt)
{
    pthread_t thread;
    is_lost_now = 1;
    if (pthread_create(&thread, NULL, work_on_cpu, NULL) != 0 || pthread_join(thread, NULL) != 0)
        complain("no thread");
    if (attempt->scene->clean)
        attempt->scene->clean();
    is_lost_now = 0;
    NEED(cf_shutdown());
    (void)fault_disarm();
    fault_take_lost();
}

/* ---- An attempt ---- */

static void prepare(const struct scene *scene)
{
    if (scene->prepare)
        scene->prepare();
}

static void clean(const struct scene *scene)
{
    if (scene->clean)
        scene->clean();
}

static void check_data(const struct scene *scene, int is_done)
{
    if (scene->is_right && !scene->is_right(is_done))
        complain(is_done ? "the data are not what they have to be" : "the data are neither what they were nor right");
}

static void play(const struct scene *scene)
{
    prepare(scene);
    NEED(scene->act());
    check_data(scene, 1);
    clean(scene);
}

static void trace(void)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/test_fault.%d.json", (int)getpid());
    setenv("CF_TRACE", path, 1);
}

static void end_trace(void)
{
    unlink(getenv("CF_TRACE"));
    unsetenv("CF_TRACE");
}

static void arm(const struct attempt *attempt)
{
    if (attempt->of_alloc)
        alloc_fault_arm(attempt->at, attempt->is_forever);
    else if (attempt->is_lost)
        fault_arm_lost(attempt->at);
    else
        fault_arm(attempt->at, attempt->is_forever, attempt->result);
}

/* Counts the objects that still exist after cf_shutdown(). */
static void count_alive_objects(void)
{
    static int known; /* losses that the played GPU had reported before */
    char text[2048];
    int count = fault_alive(text, sizeof text);
    count_leaks(text, count);
    fault_forget();
    int others = count_alive(text, sizeof text);
    if (!count && others > known && !now->is_lost)
        count_leaks(text, others - known);
    known = others;
}

/* Repeats the call without the fault; after a loss, repeats the whole scene. */
static void repeat(const struct attempt *attempt, int status)
{
    const struct scene *scene = attempt->scene;
    if (attempt->is_lost && attempt->was_hit) {
        go_on_without(attempt);
        count_alive_objects();
        play(scene);
        return;
    }
    check_data(scene, status == CF_OK);
    if (status != CF_OK && scene->flags & FRESH) {
        clean(scene);
        prepare(scene);
    }
    if (status != CF_OK) {
        NEED(scene->act());
        check_data(scene, 1);
    }
    clean(scene);
}

static void *run(void *of)
{
    struct attempt *attempt = of;
    const struct scene *scene = attempt->scene;
    const char *name = NULL;
    now = attempt;
    cf_set_log(check_locks, NULL);
    if (scene->flags & TRACED)
        trace();
    if (getenv("FAULT_VERBOSE")) /* prints each attempt, so that the last one is known if the process dies */
        fprintf(stderr, "# %s%s: %s %ld%s\n", scene->name, attempt->is_warm ? ", used before" : "",
                attempt->of_alloc ? "allocation" : "driver call", attempt->at,
                attempt->is_forever ? " and all later ones" : "");
    if (attempt->is_warm)
        play(scene);
    prepare(scene);
    arm(attempt);
    int status = scene->act();
    attempt->was_hit = attempt->of_alloc ? alloc_fault_disarm(&name) : fault_hit(0) != NULL;
    if (!attempt->of_alloc && !(attempt->is_lost && attempt->was_hit))
        (void)fault_disarm();
    if (!attempt->was_hit)
        NEED(status);
    else if (attempt->of_alloc)
        judge_alloc(name, status);
    else
        judge_driver(attempt, status);
    if (getenv("FAULT_VERBOSE"))
        fprintf(stderr, "#   %s: %d, %s\n",
                name           ? name
                : fault_hit(0) ? fault_hit(0)
                               : "nothing",
                status, status == CF_OK ? "" : cf_last_error());
    repeat(attempt, status);
    NEED(cf_shutdown());
    if (scene->flags & TRACED)
        end_trace();
    count_alive_objects();
    cf_set_log(NULL, NULL);
    return NULL;
}

/* Runs an attempt on its own thread; returns 1 if a fault was injected. */
static int attempt(struct attempt attempt)
{
    struct alloc_alive before = alloc_alive();
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, &attempt) != 0 || pthread_join(thread, NULL) != 0)
        complain("no thread");
    struct alloc_alive after = alloc_alive();
    count_leaks("blocks from malloc()", after.blocks - before.blocks);
    count_leaks("mappings", after.mappings - before.mappings);
    count_leaks("threads", after.threads - before.threads);
    return attempt.was_hit;
}

/* ---- The sweep ---- */

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double begun; /* when the scene began */

/* Returns the distance to the next call that must fail. A quick sweep doubles it when it takes too long. */
static long step_of(const struct scene *scene, long at)
{
    if (!is_quick(scene))
        return 1;
    return seconds() - begun > QUICK_SECONDS ? at : at >= ALL_CALLS ? at / 4 : 1;
}

static void sweep(struct attempt what)
{
    long before = fault_count() + alloc_fault_count();
    for (what.at = 1; attempt(what) && wrong < 20; what.at += step_of(what.scene, what.at))
        if (what.at >= MOST_CALLS) {
            complain("there is no end of it");
            break;
        }
    fault_total += fault_count() + alloc_fault_count() - before;
}

int fault_sweep(const struct scene *scene, const struct tolerated *tolerated)
{
    static const CUresult results[] = {CUDA_ERROR_UNKNOWN, CUDA_ERROR_OUT_OF_MEMORY};
    wrong = 0;
    begun = seconds();
    for (int is_warm = 0; is_warm <= !(scene->flags & COLD); is_warm++) {
        struct attempt what = {.scene = scene, .tolerated = tolerated, .is_warm = is_warm};
        attempt(what); /* first, without faults */
        for (int is_forever = 0; is_forever < 2; is_forever++) {
            what.is_forever = is_forever;
            what.of_alloc = 0;
            for (size_t i = 0; i < (is_quick(scene) ? 1 : sizeof results / sizeof *results); i++) {
                what.result = results[i];
                sweep(what);
            }
            what.of_alloc = 1;
            sweep(what);
        }
        if (played_gpu_is_in_use()) {
            struct attempt lost = {.scene = scene, .tolerated = tolerated, .is_warm = is_warm, .is_forever = 1};
            lost.is_lost = 1;
            lost.result = CUDA_ERROR_ILLEGAL_ADDRESS;
            sweep(lost);
        }
    }
    return wrong;
}
