/* sync.h - waits for everything in a context. */
#ifndef CF__SYNC_H
#define CF__SYNC_H

#include "driver/driver.h"

struct cf__scope;

/* Waits for everything in the scope's context; CF_ECAPTURE where cf_stream_capture_begin() began a capture there, other
 * ones begin after its end. `result` is that of the wait. */
int cf__sync_context(const char *function, const struct cf__scope *scope, CUresult *result);

#endif
