/* capture.h - captures that are open. */
#ifndef CF__CAPTURE_H
#define CF__CAPTURE_H

#include "driver/driver.h"

struct cf__scope;

/* Stores the driver's status of a stream's capture. Returns a status; messages name `function`. */
int cf__capture_status(const char *function, const struct cf__scope *scope, cf_stream stream,
                       CUstreamCaptureStatus *status);

/* A wait for everything in a context. The caller's variable is in a list until the wait ends. */
struct cf__capture_wait {
    CUcontext context;
    struct cf__capture_wait *next;
};

/* Enclose such a wait. The beginning returns CF_ECAPTURE if a capture is open in the context, and delays later captures
 * until the end. */
int cf__capture_wait_begin(const char *function, const struct cf__scope *scope, struct cf__capture_wait *wait);
void cf__capture_wait_end(struct cf__capture_wait *wait);

void cf__captures_forget(CUcontext context); /* captures of a context that is gone; NULL: all captures */
void cf__capture_lock(void);                 /* for fork */
void cf__capture_unlock(void);

/* Forgets all waits in a forked child, which has none of the waiting threads. Caller holds the lock. */
void cf__capture_waits_forget(void);

#endif
