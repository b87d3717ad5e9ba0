/* processors.h - processors of this process. */
#ifndef CF__PROCESSORS_H
#define CF__PROCESSORS_H

#include <sched.h>

/* Processors, of 8192 at most. */
struct cf__cpus {
    cpu_set_t sets[8];
};

/* How many processors the process may use, at least 1. Writes those that any of its threads may run on: a thread that is
 * bound to one, as OpenMP's are, says nothing about the others. None where the system does not tell. */
int cf__processors(struct cf__cpus *cpus);

/* What control groups leave of `most`, as /proc and the folders that it names tell. `root`: where those are; "" but in tests. */
int cf__processors_of_groups(const char *root, int most);

#endif
