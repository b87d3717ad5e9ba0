/* host_launch.c - one launch on the CPU: which threads of the CPU run which blocks, in which order, and what it fails with. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "block.h"
#include "internal.h"

/* ---- CF_HOST_ORDER ---- */

static uint32_t seed; /* 0: the natural order; atomic */

int cf__host_order_configure(void)
{
    const char *text = getenv("CF_HOST_ORDER");
    uint32_t value = 0;
    if (text && *text) {
        char *end;
        errno = 0;
        long long number = strtoll(text, &end, 10);
        if (errno || *end || number < 0 || number > UINT32_MAX)
            return cf__fail(CF_EINVAL, "CF_HOST_ORDER=%s: it is a number from 0, the natural order, to %u", text,
                            UINT32_MAX);
        value = (uint32_t)number;
    }
    __atomic_store_n(&seed, value, __ATOMIC_RELAXED);
    return CF_OK;
}

/* Each step is one to one on numbers of `bits` bits. */
static uint64_t mix(uint64_t x, uint64_t key, int bits)
{
    uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
    for (int round = 0; round < 4; round++) {
        key = key * 6364136223846793005u + 1442695040888963407u;
        x = (x + (key >> 20)) & mask;
        x = x * 0x9e3779b97f4a7c15u & mask;
        x ^= x >> (bits + 1) / 2;
    }
    return x;
}

uint64_t cf__shuffled(uint64_t i, uint64_t count, uint64_t key)
{
    int bits = 1;
    while (bits < 64 && count > (uint64_t)1 << bits)
        bits++;
    /* What lies outside leads on, and back inside at last. */
    do
        i = mix(i, key, bits);
    while (i >= count);
    return i;
}

/* ---- The crew of a cooperative launch ---- */

/* How long those that share the launch wait for more of them: a thread that sleeps takes some 10 us to come. */
#define JOIN_NS 100000

/* How often a thread looks whether the others have come before it sleeps. */
#define LOOKS 2000

/* Threads of the CPU that each have some of the blocks, all at once. Who comes late finds it closed, and nothing to do. */
struct cf__crew {
    const cf_kernel *kernel;
    const cf_host_launch *launch;
    pthread_mutex_t lock;
    pthread_cond_t change;
    uint64_t blocks;
    int most, joined, is_closed;
    int alive, arrived;  /* members whose blocks have not ended, and those of them at the barrier */
    uint32_t generation; /* of the barrier; atomic */
    uint32_t told;       /* how often a barrier in memory came into its next phase; atomic */
    int resting;         /* members whose threads all wait for such, and who know of all that was told */
};

static void close_crew(struct cf__crew *crew)
{
    crew->is_closed = 1;
    crew->alive = crew->joined;
    pthread_cond_broadcast(&crew->change);
}

/* The number of the calling thread in the crew, when that is closed; -1 where it was already. */
static int join(struct cf__crew *crew, const struct timespec *deadline)
{
    cf__lock(&crew->lock);
    int number = crew->is_closed ? -1 : crew->joined++;
    if (crew->joined == crew->most && !crew->is_closed)
        close_crew(crew);
    while (!crew->is_closed)
        if (pthread_cond_timedwait(&crew->change, &crew->lock, deadline) != 0 && !crew->is_closed)
            close_crew(crew);
    cf__unlock(&crew->lock);
    return number;
}

/* With the lock. */
static void open_barrier(struct cf__crew *crew)
{
    crew->arrived = 0;
    __atomic_store_n(&crew->generation, crew->generation + 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&crew->change);
}

/* With the lock. Whether all members wait, some of them for barriers in memory, which nobody is left to come to. */
static int is_stuck(const struct cf__crew *crew)
{
    return crew->resting && crew->resting + crew->arrived == crew->alive;
}

/* Behind a failure nothing opens any more. */
static void leave(struct cf__crew *crew)
{
    cf__lock(&crew->lock);
    crew->alive--;
    if (crew->arrived && crew->arrived == crew->alive && !cf__host_has_failed(crew->launch))
        open_barrier(crew);
    if (is_stuck(crew))
        pthread_cond_broadcast(&crew->change);
    cf__unlock(&crew->lock);
}

static void pause_briefly(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static struct cf__crew *crew_of(const cf_host_launch *launch)
{
    return ((const struct cf__host_run *)launch->run)->crew;
}

int cf__crew_wait(const cf_host_launch *launch)
{
    struct cf__crew *crew = crew_of(launch);
    if (!crew)
        return 1;
    cf__lock(&crew->lock);
    uint32_t generation = crew->generation;
    if (++crew->arrived == crew->alive)
        open_barrier(crew);
    else if (is_stuck(crew))
        pthread_cond_broadcast(&crew->change);
    cf__unlock(&crew->lock);
    for (int i = 0; i < LOOKS && __atomic_load_n(&crew->generation, __ATOMIC_ACQUIRE) == generation; i++)
        pause_briefly();
    cf__lock(&crew->lock);
    while (crew->generation == generation && !cf__host_has_failed(launch))
        pthread_cond_wait(&crew->change, &crew->lock);
    cf__unlock(&crew->lock);
    return !cf__host_has_failed(launch);
}

/* ---- Barriers in memory that the blocks of a crew share ---- */

int cf__crew_has_others(const cf_host_launch *launch)
{
    return crew_of(launch) != NULL;
}

void cf__crew_tell(const cf_host_launch *launch)
{
    struct cf__crew *crew = crew_of(launch);
    cf__lock(&crew->lock);
    __atomic_store_n(&crew->told, crew->told + 1, __ATOMIC_RELEASE);
    if (crew->resting)
        pthread_cond_broadcast(&crew->change);
    crew->resting = 0; /* all of them look again */
    cf__unlock(&crew->lock);
}

uint32_t cf__crew_told(const cf_host_launch *launch)
{
    struct cf__crew *crew = crew_of(launch);
    return crew ? __atomic_load_n(&crew->told, __ATOMIC_ACQUIRE) : 0;
}

int cf__crew_rest(const cf_host_launch *launch, uint32_t seen)
{
    struct cf__crew *crew = crew_of(launch);
    if (!crew)
        return 0;
    for (int i = 0; i < LOOKS && __atomic_load_n(&crew->told, __ATOMIC_ACQUIRE) == seen; i++)
        pause_briefly();
    cf__lock(&crew->lock);
    if (crew->told == seen) {
        crew->resting++;
        while (crew->told == seen && !is_stuck(crew) && !cf__host_has_failed(launch))
            pthread_cond_wait(&crew->change, &crew->lock);
        if (crew->told == seen)
            crew->resting--;
    }
    int is_told = crew->told != seen && !cf__host_has_failed(launch);
    cf__unlock(&crew->lock);
    return is_told;
}

struct crew_job {
    struct cf__crew crew;
    struct timespec deadline;
};

static void run_member(void *data, uint64_t begin, uint64_t end)
{
    struct crew_job *job = data;
    struct cf__crew *crew = &job->crew;
    (void)begin, (void)end;
    int number = join(crew, &job->deadline);
    if (number < 0)
        return;
    uint64_t each = crew->blocks / (uint64_t)crew->joined, more = crew->blocks % (uint64_t)crew->joined;
    uint64_t own = (uint64_t)number, first = own * each + (own < more ? own : more);
    crew->kernel->host(crew->launch, first, first + each + (own < more));
    leave(crew);
}

/* Divides the blocks among the threads of the pool that have nothing else to do just now: all take part at once or not at
 * all, since blocks wait for one another. This one is enough. */
static void run_crew(const cf_kernel *kernel, const cf_host_launch *launch, uint64_t blocks, int most)
{
    struct crew_job job = {.crew = {.kernel = kernel, .launch = launch, .blocks = blocks, .most = most}};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&job.crew.change, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&job.crew.lock, NULL);
    clock_gettime(CLOCK_MONOTONIC, &job.deadline);
    job.deadline.tv_nsec += JOIN_NS;
    if (job.deadline.tv_nsec >= 1000000000) {
        job.deadline.tv_nsec -= 1000000000;
        job.deadline.tv_sec++;
    }
    ((struct cf__host_run *)launch->run)->crew = &job.crew;
    cf__pool_for(run_member, &job, (uint64_t)most, 1);
    pthread_mutex_destroy(&job.crew.lock);
    pthread_cond_destroy(&job.crew.change);
}

/* ---- A launch ---- */

void cf__host_note_failure(const cf_host_launch *launch, CUresult result, const char *text)
{
    struct cf__host_run *run = launch->run;
    if (__atomic_exchange_n(&run->has_failed, 1, __ATOMIC_ACQ_REL))
        return;
    run->result = result;
    snprintf(run->text, sizeof run->text, "%s", text);
    if (run->crew) {
        cf__lock(&run->crew->lock);
        pthread_cond_broadcast(&run->crew->change);
        cf__unlock(&run->crew->lock);
    }
}

static void run_cooperative(const cf_kernel *kernel, const cf_host_launch *launch, uint64_t blocks)
{
    uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    int most = cf__pool_is_small(blocks, threads) ? 1 : cf__pool_size();
    if ((uint64_t)most > blocks)
        most = (int)blocks;
    if (most > 1)
        run_crew(kernel, launch, blocks, most);
    else
        kernel->host(launch, 0, blocks);
}

/* Looked up in what libgcc found when the program began. */
static uint32_t processor(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma"))
        return CF_HOST_X86_64_V3;
#endif
    return 0;
}

CUresult cf__host_run(const cf_kernel *kernel, const cf_host_launch *what, int is_serial)
{
    struct cf__host_run run = {.seed = __atomic_load_n(&seed, __ATOMIC_RELAXED)};
    cf_host_launch launch = *what;
    uint64_t blocks = (uint64_t)launch.grid.x * launch.grid.y * launch.grid.z;
    launch.is_cooperative = kernel->launch.is_cooperative;
    launch.is_ordered = run.seed != 0;
    launch.ops = &cf__host_ops;
    launch.run = &run;
    launch.processor = processor();
    if (is_serial || kernel->is_host_whole || launch.is_ordered) /* an order is one thread's */
        kernel->host(&launch, 0, blocks);
    else if (launch.is_cooperative)
        run_cooperative(kernel, &launch, blocks);
    else
        cf__pool_run(kernel->host, &launch);
    if (!run.has_failed)
        return CUDA_SUCCESS;
    cf__note_cause(run.text);
    return run.result;
}
