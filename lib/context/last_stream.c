/* last_stream.c - remembers the stream on which the calling thread enqueued last. */
#include <cuferry.h>

#include "context/last_stream.h"

#include "driver/driver.h"
#include "driver/failure.h"

_Thread_local struct cf__last_stream cf__latest_stream;

int cf__needs_slow_path(CUresult result)
{
    int is_suspect = result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_INVALID_CONTEXT ||
                     cf__result_status(result) == CF_EFAULT;
    if (is_suspect)
        cf__latest_stream.stream = NULL;
    return is_suspect;
}
