/* fault_alloc.h - faults of the C library's allocators, for a program that is linked with --wrap of them. */
#ifndef FAULT_ALLOC_H
#define FAULT_ALLOC_H

/* From now on the `at`-th allocation (from 1; 0: none) fails; with `is_forever` every later one, too. */
void alloc_fault_arm(long at, int is_forever);

/* No more failures. Whether there was one; then `name` is the function that failed first. */
int alloc_fault_disarm(const char **name);

/* Failures since the start of the program. */
long alloc_fault_count(void);

/* What was allocated and not freed: blocks, mappings, and threads that nobody has waited for. */
struct alloc_alive {
    long blocks, mappings, threads;
};
struct alloc_alive alloc_alive(void);

#endif
