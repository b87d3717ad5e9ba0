/* fault_alloc.h - makes the C library's allocators fail, in a program that is linked with --wrap for each of them. */
#ifndef FAULT_ALLOC_H
#define FAULT_ALLOC_H

/* Makes the `at`-th allocation from now fail (1 is the next one; 0: none); with `is_forever`, all later ones, too. */
void alloc_fault_arm(long at, int is_forever);

/* Ends the failures. Returns 1 if an allocation failed; `name` is then the first function that failed. */
int alloc_fault_disarm(const char **name);

/* Returns the number of failures since the program started. */
long alloc_fault_count(void);

/* Numbers of blocks, mappings and threads that have not been freed, unmapped or joined. */
struct alloc_alive {
    long blocks, mappings, threads;
};
struct alloc_alive alloc_alive(void);

#endif
