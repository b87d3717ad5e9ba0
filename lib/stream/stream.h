/* stream.h - streams. */
#ifndef CF__STREAM_H
#define CF__STREAM_H

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

/* Whether `stream` is one of the default streams, which have no context of their own. */
static inline int cf__stream_is_default(cf_stream stream)
{
    return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/* CF_OK where waiting for `stream` in the scope's context, or using a default stream there, breaks no capture; else
 * CF_ECAPTURE. */
int cf__stream_check_wait(const char *function, const struct cf__scope *scope, cf_stream stream);

#endif
