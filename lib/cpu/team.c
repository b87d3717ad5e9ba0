/* team.c - runs a cooperative launch on several CPU threads, and records the first failure of any launch. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cuferry/registry.h>

#include "cpu/team.h"

#include "base/lock.h"
#include "base/processors.h"
#include "threads/pool.h"
#include "driver/driver.h"

/* Time in ns that CPU threads have for joining a team. A sleeping thread needs some 10 us to wake. */
#define JOIN_NS 100000

/* Number of polls before a waiting thread sleeps. */
#define POLLS 2000

/* CPU threads that run the blocks of a cooperative launch at the same time. A thread that comes after the team is
 * closed gets no blocks. */
struct cf__team {
    const cf_kernel *kernel;
    const cf_host_launch *launch;
    pthread_mutex_t lock;
    pthread_cond_t change;
    uint64_t blocks;
    int most, joined, is_closed;
    int alive;              /* number of members with blocks that have not ended */
    int arrived;            /* number of these members that wait at the grid's barrier */
    uint32_t generation;    /* generation of the grid's barrier; atomic */
    uint32_t notifications; /* number of phases that barriers in memory have completed; atomic */
    int waiting;            /* number of members that wait for a notification and have seen all earlier ones */
};

static void close_team(struct cf__team *team)
{
    team->is_closed = 1;
    team->alive = team->joined;
    pthread_cond_broadcast(&team->change);
}

/* Joins the team and waits until it is closed. Returns the calling thread's number in the team, or -1 if the team was
 * closed before. */
static int join_team(struct cf__team *team, const struct timespec *deadline)
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

/* The caller holds the lock. */
static void open_barrier(struct cf__team *team)
{
    team->arrived = 0;
    __atomic_store_n(&team->generation, team->generation + 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&team->change);
}

/* Returns 1 if all members wait, and at least one of them waits for a notification that no member can send. The caller
 * holds the lock. */
static int is_stuck(const struct cf__team *team)
{
    return team->waiting && team->waiting + team->arrived == team->alive;
}

/* Leaves the team after the member's blocks have ended. After a failure, the grid's barrier stays closed. */
static void leave_team(struct cf__team *team)
{
    cf__lock(&team->lock);
    team->alive--;
    if (team->arrived && team->arrived == team->alive && !cf__cpu_has_failed(team->launch))
        open_barrier(team);
    if (is_stuck(team))
        pthread_cond_broadcast(&team->change);
    cf__unlock(&team->lock);
}

static struct cf__team *find_team(const cf_host_launch *launch)
{
    return ((const struct cf__cpu_launch *)launch->run)->team;
}

int cf__team_wait(const cf_host_launch *launch)
{
    struct cf__team *team = find_team(launch);
    if (!team)
        return 1;
    cf__lock(&team->lock);
    uint32_t generation = team->generation;
    if (++team->arrived == team->alive)
        open_barrier(team);
    else if (is_stuck(team))
        pthread_cond_broadcast(&team->change);
    cf__unlock(&team->lock);
    for (int i = 0; i < POLLS && __atomic_load_n(&team->generation, __ATOMIC_ACQUIRE) == generation; i++)
        cf__processor_pause();
    cf__lock(&team->lock);
    while (team->generation == generation && !cf__cpu_has_failed(launch))
        pthread_cond_wait(&team->change, &team->lock);
    cf__unlock(&team->lock);
    return !cf__cpu_has_failed(launch);
}

/* ---- Barriers in memory that the blocks of a team share ---- */

int cf__team_has_others(const cf_host_launch *launch)
{
    return find_team(launch) != NULL;
}

void cf__team_notify(const cf_host_launch *launch)
{
    struct cf__team *team = find_team(launch);
    cf__lock(&team->lock);
    __atomic_store_n(&team->notifications, team->notifications + 1, __ATOMIC_RELEASE);
    if (team->waiting)
        pthread_cond_broadcast(&team->change);
    team->waiting = 0; /* all waiting members will check their barriers again */
    cf__unlock(&team->lock);
}

uint32_t cf__team_notified(const cf_host_launch *launch)
{
    struct cf__team *team = find_team(launch);
    return team ? __atomic_load_n(&team->notifications, __ATOMIC_ACQUIRE) : 0;
}

int cf__team_wait_notified(const cf_host_launch *launch, uint32_t seen)
{
    struct cf__team *team = find_team(launch);
    if (!team)
        return 0;
    for (int i = 0; i < POLLS && __atomic_load_n(&team->notifications, __ATOMIC_ACQUIRE) == seen; i++)
        cf__processor_pause();
    cf__lock(&team->lock);
    if (team->notifications == seen) {
        team->waiting++;
        while (team->notifications == seen && !is_stuck(team) && !cf__cpu_has_failed(launch))
            pthread_cond_wait(&team->change, &team->lock);
        if (team->notifications == seen)
            team->waiting--;
    }
    int is_notified = team->notifications != seen && !cf__cpu_has_failed(launch);
    cf__unlock(&team->lock);
    return is_notified;
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
    int number = join_team(team, &job->deadline);
    if (number < 0)
        return;
    uint64_t each = team->blocks / (uint64_t)team->joined, more = team->blocks % (uint64_t)team->joined;
    uint64_t own = (uint64_t)number, first = own * each + (own < more ? own : more);
    team->kernel->cpu_body(team->launch, first, first + each + (own < more));
    leave_team(team);
}

/* Idle workers join within JOIN_NS and get equal shares. Blocks wait for one another, so all members run from the
 * start. If no worker joins, the calling thread runs all blocks. */
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
