/* processors.h - counts the processors that the process may use, and pauses a processor in a loop that polls. */
#ifndef CF__PROCESSORS_H
#define CF__PROCESSORS_H

#include <sched.h>

/* A set of processors with numbers up to 8191. */
struct cf__processor_set {
    cpu_set_t sets[8];
};

/* Returns how many processors the process may use, at least 1. Writes the union of its threads' affinity masks, or an
 * empty set if the system does not report them. One thread's mask may be too small, because OpenMP binds threads to
 * processors. */
int cf__processors_count(struct cf__processor_set *cpus);

/* Returns the limit of the process's control groups if it is lower than `most`, and `most` otherwise. `root` is the
 * folder that contains /proc and the paths in it; it is "" except in tests. */
int cf__processors_limit(const char *root, int most);

/* Tells the processor that a loop waits for another thread. */
static inline void cf__processor_pause(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

#endif
