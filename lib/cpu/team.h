/* team.h - runs a cooperative launch on several CPU threads, and records the first failure of any launch. */
#ifndef CF__TEAM_H
#define CF__TEAM_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "driver/driver.h"

struct cf__team;

/* State of one launch on the CPU. */
struct cf__cpu_launch {
    int has_failed; /* set by the first thread that fails, which writes `result` and `text`; atomic */
    CUresult result;
    char text[480];
    struct cf__team *team; /* CPU threads that share a cooperative launch; NULL: a single thread */
    uint32_t seed;         /* seed of the order of blocks and threads; 0: natural order */
};

/* Records a failure of a launch and wakes its team. Later failures are ignored. Thread-safe. */
void cf__cpu_note_failure(const cf_host_launch *launch, CUresult result, const char *text);

/* Returns 1 if a part of a launch has failed; the other parts then end early. */
static inline int cf__cpu_has_failed(const cf_host_launch *launch)
{
    const struct cf__cpu_launch *run = (const struct cf__cpu_launch *)launch->run;
    return run && __atomic_load_n(&run->has_failed, __ATOMIC_RELAXED);
}

/* Waits at the grid's barrier for the CPU threads that run the other blocks of a cooperative launch. Returns 0 if the
 * launch has failed. */
int cf__team_wait(const cf_host_launch *launch);

/* Returns 1 if other CPU threads run blocks of the launch. */
int cf__team_has_others(const cf_host_launch *launch);

/* Notifies the other CPU threads that a barrier in memory has entered its next phase. */
void cf__team_notify(const cf_host_launch *launch);

/* Returns the number of notifications so far. */
uint32_t cf__team_notified(const cf_host_launch *launch);

/* Waits for a notification with a number above `seen`. Returns 0 if no member can send one, or if the launch has
 * failed. */
int cf__team_wait_notified(const cf_host_launch *launch, uint32_t seen);

/* Divides the blocks of a cooperative launch among at most `most` CPU threads; returns when all are done. */
void cf__team_run(const cf_kernel *kernel, const cf_host_launch *launch, uint64_t blocks, int most);

#endif
