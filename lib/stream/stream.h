/* stream.h - streams. */
#ifndef CF__STREAM_H
#define CF__STREAM_H

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

/* Returns 1 for a default stream, which belongs to no single context. */
static inline int cf__stream_is_default(cf_stream stream)
{
    return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/* Returns CF_OK if a wait for `stream` in the scope's context, or the use of a default stream there, would not
 * invalidate a capture; else CF_ECAPTURE. */
int cf__stream_check_wait(const char *function, const struct cf__scope *scope, cf_stream stream);

#endif
