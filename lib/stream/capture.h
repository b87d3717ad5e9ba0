/* capture.h - captures streams into graphs, and records the open captures. */
#ifndef CF__CAPTURE_H
#define CF__CAPTURE_H

#include "driver/driver.h"

struct cf__scope;

/* Stores the driver's capture status of a stream. Returns a status; messages name `function`. */
int cf__capture_status(const char *function, const struct cf__scope *scope, cf_stream stream,
                       CUstreamCaptureStatus *status);

/* A wait for everything in a context. The caller's variable is in a list until the wait ends. */
struct cf__capture_wait {
    CUcontext context;
    struct cf__capture_wait *next;
};

/* Enclose a wait for a whole context. The begin returns CF_ECAPTURE if a capture is open in the context, and delays
 * later captures until the end. */
int cf__capture_wait_begin(const char *function, const struct cf__scope *scope, struct cf__capture_wait *wait);
void cf__capture_wait_end(struct cf__capture_wait *wait);

void cf__captures_forget(CUcontext context); /* for a context that is gone; NULL: all captures */
void cf__capture_lock(void);                 /* for fork handlers */
void cf__capture_unlock(void);

/* Forgets all waits in a forked child, where the waiting threads do not exist. The caller holds the lock. */
void cf__capture_waits_forget(void);

#endif
