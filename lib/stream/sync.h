/* sync.h - waits for everything in a context. */
#ifndef CF__SYNC_H
#define CF__SYNC_H

#include "driver/driver.h"

struct cf__scope;

/* Waits for everything in the scope's context, and stores the driver's result of the wait. Returns CF_ECAPTURE without
 * waiting if a capture of cf_stream_capture_begin() is open in the context; captures that other threads begin meanwhile
 * are delayed until the wait ends. */
int cf__sync_context(const char *function, const struct cf__scope *scope, CUresult *result);

#endif
