/* team.h - CPU threads of a cooperative launch, and the first failure of any launch. */
#ifndef CF__TEAM_H
#define CF__TEAM_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "driver/driver.h"

struct cf__team;

/* The outcome of one launch on the CPU. */
struct cf__cpu_launch {
    int has_failed; /* atomic: who sets it first writes the rest */
    CUresult result;
    char text[480];
    struct cf__team *team; /* the threads of the CPU that share a cooperative launch; NULL where it is one */
    uint32_t seed;         /* of the order of blocks and threads; 0: the natural one */
};

/* The first failure of a launch is the one that is told. */
void cf__cpu_note_failure(const cf_host_launch *launch, CUresult result, const char *text);

/* Whether a part of a launch failed, which ends the rest. */
static inline int cf__cpu_has_failed(const cf_host_launch *launch)
{
    const struct cf__cpu_launch *run = (const struct cf__cpu_launch *)launch->run;
    return run && __atomic_load_n(&run->has_failed, __ATOMIC_RELAXED);
}

/* Waits for the threads of the CPU that run the other blocks of a cooperative launch; 0 where one has failed. */
int cf__team_wait(const cf_host_launch *launch);

/* Barriers in memory that several blocks share: some of these may run on other threads of the CPU. One of those has brought a
 * barrier into its next phase, tells the others, and how often that was so far. */
int cf__team_has_others(const cf_host_launch *launch);
void cf__team_notify(const cf_host_launch *launch);
uint32_t cf__team_notified(const cf_host_launch *launch);

/* Waits until others have told more than `seen`; 0 where none will, or the launch has failed. */
int cf__team_wait_notified(const cf_host_launch *launch, uint32_t seen);

/* Divides the blocks of a cooperative launch among at most `most` CPU threads, and returns when they are done. */
void cf__team_run(const cf_kernel *kernel, const cf_host_launch *launch, uint64_t blocks, int most);

#endif
