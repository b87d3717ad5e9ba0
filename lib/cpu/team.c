/* team.c - the CPU threads of a cooperative launch, and the first failure of any launch. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cuferry/registry.h>

#include "cpu/team.h"

#include "base/log.h"
#include "threads/pool.h"
#include "driver/driver.h"

/* How long those that share the launch wait for more of them: a thread that sleeps takes some 10 us to come. */
#define JOIN_NS 100000

/* How often a thread looks whether the others have come before it sleeps. */
#define LOOKS 2000

/* Threads of the CPU that each have some of the blocks, all at once. Who comes late finds it closed, and nothing to do. */
struct cf__team {
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

static void close_team(struct cf__team *team)
{
    team->is_closed = 1;
    team->alive = team->joined;
    pthread_cond_broadcast(&team->change);
}

/* The number of the calling thread in the team, when that is closed; -1 where it was already. */
static int join(struct cf__team *team, const struct timespec *deadline)
{
    cf__lock(&team->lock);
    int number = team->is_closed ? -1 : team->joined++;
    if (team->joined == team->most && !team->is_closed)
        close_team(team);
    while (!team->is_closed)
        if (pthread_cond_timedwait(&team->change, &team->lock, deadline) != 0 && !team->is_closed)
            close_team(team);
    cf__unlock(&team->lock);
    return number;
}

/* With the lock. */
static void open_barrier(struct cf__team *team)
{
    team->arrived = 0;
    __atomic_store_n(&team->generation, team->generation + 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&team->change);
}

/* With the lock. Whether all members wait, some of them for barriers in memory, which nobody is left to come to. */
static int is_stuck(const struct cf__team *team)
{
    return team->resting && team->resting + team->arrived == team->alive;
}

/* Behind a failure nothing opens any more. */
static void leave(struct cf__team *team)
{
    cf__lock(&team->lock);
    team->alive--;
    if (team->arrived && team->arrived == team->alive && !cf__cpu_has_failed(team->launch))
        open_barrier(team);
    if (is_stuck(team))
        pthread_cond_broadcast(&team->change);
    cf__unlock(&team->lock);
}

static void pause_briefly(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static struct cf__team *team_of(const cf_host_launch *launch)
{
    return ((const struct cf__cpu_launch *)launch->run)->team;
}

int cf__team_wait(const cf_host_launch *launch)
{
    struct cf__team *team = team_of(launch);
    if (!team)
        return 1;
    cf__lock(&team->lock);
    uint32_t generation = team->generation;
    if (++team->arrived == team->alive)
        open_barrier(team);
    else if (is_stuck(team))
        pthread_cond_broadcast(&team->change);
    cf__unlock(&team->lock);
    for (int i = 0; i < LOOKS && __atomic_load_n(&team->generation, __ATOMIC_ACQUIRE) == generation; i++)
        pause_briefly();
    cf__lock(&team->lock);
    while (team->generation == generation && !cf__cpu_has_failed(launch))
        pthread_cond_wait(&team->change, &team->lock);
    cf__unlock(&team->lock);
    return !cf__cpu_has_failed(launch);
}

/* ---- Barriers in memory that the blocks of a team share ---- */

int cf__team_has_others(const cf_host_launch *launch)
{
    return team_of(launch) != NULL;
}

void cf__team_notify(const cf_host_launch *launch)
{
    struct cf__team *team = team_of(launch);
    cf__lock(&team->lock);
    __atomic_store_n(&team->told, team->told + 1, __ATOMIC_RELEASE);
    if (team->resting)
        pthread_cond_broadcast(&team->change);
    team->resting = 0; /* all of them look again */
    cf__unlock(&team->lock);
}

uint32_t cf__team_notified(const cf_host_launch *launch)
{
    struct cf__team *team = team_of(launch);
    return team ? __atomic_load_n(&team->told, __ATOMIC_ACQUIRE) : 0;
}

int cf__team_wait_notified(const cf_host_launch *launch, uint32_t seen)
{
    struct cf__team *team = team_of(launch);
    if (!team)
        return 0;
    for (int i = 0; i < LOOKS && __atomic_load_n(&team->told, __ATOMIC_ACQUIRE) == seen; i++)
        pause_briefly();
    cf__lock(&team->lock);
    if (team->told == seen) {
        team->resting++;
        while (team->told == seen && !is_stuck(team) && !cf__cpu_has_failed(launch))
            pthread_cond_wait(&team->change, &team->lock);
        if (team->told == seen)
            team->resting--;
    }
    int is_told = team->told != seen && !cf__cpu_has_failed(launch);
    cf__unlock(&team->lock);
    return is_told;
}

struct team_job {
    struct cf__team team;
    struct timespec deadline;
};

static void run_member(void *data, uint64_t begin, uint64_t end)
{
    struct team_job *job = data;
    struct cf__team *team = &job->team;
    (void)begin, (void)end;
    int number = join(team, &job->deadline);
    if (number < 0)
        return;
    uint64_t each = team->blocks / (uint64_t)team->joined, more = team->blocks % (uint64_t)team->joined;
    uint64_t own = (uint64_t)number, first = own * each + (own < more ? own : more);
    team->kernel->host(team->launch, first, first + each + (own < more));
    leave(team);
}

/* Divides the blocks among the threads of the pool that have nothing else to do just now: all take part at once or not at
 * all, since blocks wait for one another. This one is enough. */
void cf__team_run(const cf_kernel *kernel, const cf_host_launch *launch, uint64_t blocks, int most)
{
    struct team_job job = {.team = {.kernel = kernel, .launch = launch, .blocks = blocks, .most = most}};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&job.team.change, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&job.team.lock, NULL);
    clock_gettime(CLOCK_MONOTONIC, &job.deadline);
    job.deadline.tv_nsec += JOIN_NS;
    if (job.deadline.tv_nsec >= 1000000000) {
        job.deadline.tv_nsec -= 1000000000;
        job.deadline.tv_sec++;
    }
    ((struct cf__cpu_launch *)launch->run)->team = &job.team;
    cf__pool_for(run_member, &job, (uint64_t)most, 1);
    pthread_mutex_destroy(&job.team.lock);
    pthread_cond_destroy(&job.team.change);
}

/* ---- Failures ---- */

void cf__cpu_note_failure(const cf_host_launch *launch, CUresult result, const char *text)
{
    struct cf__cpu_launch *run = launch->run;
    if (__atomic_exchange_n(&run->has_failed, 1, __ATOMIC_ACQ_REL))
        return;
    run->result = result;
    snprintf(run->text, sizeof run->text, "%s", text);
    if (run->team) {
        cf__lock(&run->team->lock);
        pthread_cond_broadcast(&run->team->change);
        cf__unlock(&run->team->lock);
    }
}
