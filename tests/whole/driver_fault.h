/* driver_fault.h - the fault driver: wraps whatever driver the library takes into use, counts its calls, fails the one
 * that a test asks for, and knows what was made through it and not given back. */
#ifndef DRIVER_FAULT_H
#define DRIVER_FAULT_H

#include "driver/driver.h"

/* From now on the `at`-th call (from 1; 0: none) returns `result` and is not made; with `is_forever` every later one,
 * too. */
void fault_arm(long at, int is_forever, CUresult result);

/* As when a kernel has faulted: from the `at`-th call of a GPU's on, of those that tell of it, all of these return
 * CUDA_ERROR_ILLEGAL_ADDRESS, until fault_disarm(). The real driver still answers what is asked of devices, of the
 * current context and of pointers, and takes a primary context back. */
void fault_arm_lost(long at);

/* Behind that, with no failure armed: takes away what went with the fault, in the driver below, too. What is counted
 * from then on could have been given back all the same. */
void fault_take_lost(void);

/* No more failures. How many calls failed since fault_arm(). */
int fault_disarm(void);

/* The function of the i-th of these calls; NULL where there were not so many, or more than are kept. */
const char *fault_hit(int i);

/* Calls since the last fault_arm(), and failures since the start of the program. */
long fault_calls(void);
long fault_count(void);

/* The number of objects that were made and not given back, with a text that lists them; contexts that the calling
 * thread has pushed and not popped, and a capture mode that it has changed and not changed back, count too. */
int fault_alive(char *text, size_t size);

/* Forgets them, so that they are not counted again. */
void fault_forget(void);

#endif
