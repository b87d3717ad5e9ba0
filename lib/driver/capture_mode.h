/* capture_mode.h - capture mode of the calling thread. */
#ifndef CF__CAPTURE_MODE_H
#define CF__CAPTURE_MODE_H

#include "driver/driver.h"

/* Lets the thread do, while a stream is captured, what could break a capture and does not, such as loading and
 * allocating for the library's own use. Give what it returns to cf__unrelax(). */
static inline int cf__relax(const struct cf__driver *driver)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    return driver->cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS ? (int)mode : -1;
}

static inline void cf__unrelax(const struct cf__driver *driver, int mode)
{
    CUstreamCaptureMode before = (CUstreamCaptureMode)mode;
    if (mode >= 0 && driver->cuThreadExchangeStreamCaptureMode(&before) != CUDA_SUCCESS)
        (void)driver->cuThreadExchangeStreamCaptureMode(&before);
}

#endif
