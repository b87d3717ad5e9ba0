/* processors.h - processors of this process. */
#ifndef CF__PROCESSORS_H
#define CF__PROCESSORS_H

#include <sched.h>

/* A set of processors, with numbers up to 8191. */
struct cf__processor_set {
    cpu_set_t sets[8];
};

/* Returns how many processors the process may use, at least 1, and writes the processors that any of its threads may
 * run on; an empty set if the system does not say. One thread's mask is not enough: OpenMP binds its threads. */
int cf__processors_count(struct cf__processor_set *cpus);

/* Returns `most` or the lower limit of the process's control groups. `root` is the folder of /proc and of the paths
 * that it names: "" except in tests. */
int cf__processors_limit(const char *root, int most);

#endif
