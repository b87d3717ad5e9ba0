/* driver_fault.h - a driver that injects faults: it wraps each driver that the library uses, counts its calls, makes
 * the calls fail that a test selects, and records the objects that were created and not destroyed. */
#ifndef DRIVER_FAULT_H
#define DRIVER_FAULT_H

#include "driver/driver.h"

/* Makes the `at`-th call from now (1 is the next one; 0: none) return `result` without reaching the driver; with
 * `is_forever`, all later calls, too. */
void fault_arm(long at, int is_forever, CUresult result);

/* Simulates a kernel's fault: from the `at`-th GPU call on, calls that report a lost context return
 * CUDA_ERROR_ILLEGAL_ADDRESS, until fault_disarm(). Queries about devices, the current context and pointers still reach
 * the real driver, and so does releasing a primary context. */
void fault_arm_lost(long at);

/* Removes the objects that the fault destroyed, in the wrapped driver, too. It is called after fault_arm_lost() while
 * no failure is armed. Objects that are recorded after this call must be destroyed by the library in spite of the
 * fault. */
void fault_take_lost(void);

/* Ends the failures; returns how many calls have failed since fault_arm(). */
int fault_disarm(void);

/* Returns the function of the i-th failed call; NULL if fewer calls failed, or if there were too many to record. */
const char *fault_hit(int i);

/* Return the number of calls since the last fault_arm(), and the number of failures since the program started. */
long fault_calls(void);
long fault_count(void);

/* Returns the number of objects that were not destroyed, with a text that lists them. Contexts that the calling thread
 * has pushed and not popped count, too, and so does a capture mode that it has not restored. */
int fault_alive(char *text, size_t size);

/* Forgets these objects, so that they are not counted a second time. */
void fault_forget(void);

#endif
