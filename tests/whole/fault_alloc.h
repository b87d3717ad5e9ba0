/* fault_alloc.h - failures of the C library's allocators, for a program linked with --wrap for each of them. */
#ifndef FAULT_ALLOC_H
#define FAULT_ALLOC_H

/* The `at`-th allocation from now (from 1; 0: none) fails; with `is_forever`, every later one fails too. */
void alloc_fault_arm(long at, int is_forever);

/* Ends the failures. Returns 1 if an allocation failed; then `name` is the function that failed first. */
int alloc_fault_disarm(const char **name);

/* Failures since the start of the program. */
long alloc_fault_count(void);

/* Blocks, mappings and threads that were not freed, unmapped or joined. */
struct alloc_alive {
    long blocks, mappings, threads;
};
struct alloc_alive alloc_alive(void);

#endif
