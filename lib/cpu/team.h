/* team.h - CPU threads of a cooperative launch, and the first failure of any launch. */
#ifndef CF__TEAM_H
#define CF__TEAM_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "driver/driver.h"

struct cf__team;

/* State of one launch on the CPU. */
struct cf__cpu_launch {
    int has_failed; /* atomic; the first thread to set it writes result and text */
    CUresult result;
    char text[480];
    struct cf__team *team; /* CPU threads that share a cooperative launch; NULL: one thread runs it */
    uint32_t seed;         /* of the order of blocks and threads; 0: the natural order */
};

/* Records a failure of a launch and wakes its team. Later failures are ignored. Thread-safe. */
void cf__cpu_note_failure(const cf_host_launch *launch, CUresult result, const char *text);

/* Reports whether a part of a launch has failed, which ends the other parts. */
static inline int cf__cpu_has_failed(const cf_host_launch *launch)
{
    const struct cf__cpu_launch *run = (const struct cf__cpu_launch *)launch->run;
    return run && __atomic_load_n(&run->has_failed, __ATOMIC_RELAXED);
}

/* The grid's barrier: waits for the CPU threads that run the other blocks of a cooperative launch. Returns 0 if the
 * launch has failed. */
int cf__team_wait(const cf_host_launch *launch);

/* Reports whether other CPU threads run blocks of the launch. */
int cf__team_has_others(const cf_host_launch *launch);

/* Tells the other CPU threads that a barrier in memory has entered its next phase. */
void cf__team_notify(const cf_host_launch *launch);

/* Returns the number of notifications so far. */
uint32_t cf__team_notified(const cf_host_launch *launch);

/* Waits for a notification after number `seen`. Returns 0 if none can come, or the launch has failed. */
int cf__team_wait_notified(const cf_host_launch *launch, uint32_t seen);

/* Divides the blocks of a cooperative launch among at most `most` CPU threads; returns when all are done. */
void cf__team_run(const cf_kernel *kernel, const cf_host_launch *launch, uint64_t blocks, int most);

#endif
