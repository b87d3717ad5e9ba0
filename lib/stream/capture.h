/* capture.h - captures that are open. */
#ifndef CF__CAPTURE_H
#define CF__CAPTURE_H

#include "driver/driver.h"

struct cf__scope;

void cf__capture_waits_forget(void); /* in a forked child, with the lock: the waiting threads are not there */

void cf__captures_forget(CUcontext context); /* of one that is gone; NULL: all */
void cf__capture_lock(void);                 /* for fork */
void cf__capture_unlock(void);

/* The driver's status of a stream's capture. */
int cf__capture_status(const char *function, const struct cf__scope *scope, cf_stream stream,
                       CUstreamCaptureStatus *status);

/* A wait for everything in a context: CF_ECAPTURE if a capture is open there; later captures begin after its end. */
struct cf__capture_wait {
    CUcontext context;
    struct cf__capture_wait *next;
};
int cf__capture_wait_begin(const char *function, const struct cf__scope *scope, struct cf__capture_wait *wait);
void cf__capture_wait_end(struct cf__capture_wait *wait);

#endif
