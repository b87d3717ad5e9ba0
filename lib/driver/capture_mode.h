/* capture_mode.h - relaxes and restores the capture mode of the calling thread. */
#ifndef CF__CAPTURE_MODE_H
#define CF__CAPTURE_MODE_H

#include "driver/driver.h"

/* Permits calls that the driver refuses during a capture and that do not affect the captured stream, such as allocating
 * and loading for the library's own use. Returns the thread's mode, for cf__capture_restore(). */
static inline int cf__capture_relax(const struct cf__driver *driver)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    return driver->cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS ? (int)mode : -1;
}

/* Restores the thread's mode; tries twice, because a driver call may report an earlier call's failure. */
static inline void cf__capture_restore(const struct cf__driver *driver, int mode)
{
    CUstreamCaptureMode before = (CUstreamCaptureMode)mode;
    if (mode >= 0 && driver->cuThreadExchangeStreamCaptureMode(&before) != CUDA_SUCCESS)
        (void)driver->cuThreadExchangeStreamCaptureMode(&before);
}

#endif
