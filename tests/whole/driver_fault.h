/* driver_fault.h - the fault driver: wraps each driver that the library uses, counts its calls, fails the call that a
 * test selects, and records the objects that were made and not given back. */
#ifndef DRIVER_FAULT_H
#define DRIVER_FAULT_H

#include "driver/driver.h"

/* The `at`-th call from now (from 1; 0: none) returns `result` and does not reach the driver; with `is_forever`, so
 * does every later call. */
void fault_arm(long at, int is_forever, CUresult result);

/* Plays a kernel fault: from the `at`-th GPU call on, calls that report a lost context return
 * CUDA_ERROR_ILLEGAL_ADDRESS until fault_disarm(). Queries of devices, of the current context and of pointers still
 * reach the real driver, and so does the release of a primary context. */
void fault_arm_lost(long at);

/* After fault_arm_lost(), with no failure armed: drops the objects that the fault destroyed, in the wrapped driver too.
 * Objects counted after this call could have been given back despite the fault. */
void fault_take_lost(void);

/* Ends the failures; returns the number of calls that failed since fault_arm(). */
int fault_disarm(void);

/* The function of the i-th failed call; NULL if fewer calls failed or if they were not all recorded. */
const char *fault_hit(int i);

/* Calls since the last fault_arm(), and failures since the start of the program. */
long fault_calls(void);
long fault_count(void);

/* The number of objects that were not given back, with a text that lists them. Contexts that the calling thread has
 * pushed and not popped, and a capture mode that it has not restored, count too. */
int fault_alive(char *text, size_t size);

/* Forgets these objects, so that they are not counted again. */
void fault_forget(void);

#endif
