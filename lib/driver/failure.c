/* failure.c - maps a driver's results to statuses and texts. */
#include <stdio.h>

#include <cuferry.h>

#include "driver/failure.h"

#include "base/error.h"
#include "driver/driver.h"

int cf__result_status(CUresult result)
{
    if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        return CF_ECAPTURE;
    /* These results make a context unusable: illegal accesses and instructions, traps, device asserts, timeouts. */
    if ((result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED) ||
        result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT || result == CUDA_ERROR_ASSERT)
        return CF_EFAULT;
    switch (result) {
    case CUDA_SUCCESS:
        return CF_OK;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
        return CF_EINVAL;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return CF_ENOMEM;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
        return CF_ENODEV;
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return CF_EDRIVER;
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_NOT_FOUND:
        return CF_EIMAGE;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
        return CF_ENOCODE;
    case CUDA_ERROR_NOT_SUPPORTED:
        return CF_ENOTSUP;
    case CUDA_ERROR_NOT_READY:
        return CF_ENOTREADY;
    default:
        return CF_ECALL;
    }
}

int cf__result_is_gone(CUresult result)
{
    return cf__result_status(result) == CF_EFAULT || result == CUDA_ERROR_DEINITIALIZED ||
           result == CUDA_ERROR_CONTEXT_IS_DESTROYED || result == CUDA_ERROR_INVALID_CONTEXT ||
           result == CUDA_ERROR_INVALID_HANDLE;
}

void cf__result_describe(const struct cf__driver *driver, CUresult result, const char *call, const char *what,
                         char *text, size_t size)
{
    const char *name = NULL, *meaning = NULL;
    char cause[500];
    int is_known = driver->cuGetErrorName(result, &name) == CUDA_SUCCESS && name;
    if (driver->cuGetErrorString(result, &meaning) != CUDA_SUCCESS || !meaning)
        meaning = "no text";
    int has_cause = cf__error_take_cause(cause, sizeof cause);
    if (driver->is_cpu && (has_cause || is_known)) /* users do not know the names of the CPU driver's calls */
        snprintf(text, size, "%.256s: %s", what, has_cause ? cause : meaning);
    else
        snprintf(text, size, "%s: %s returned %d (%s, %s)", what, call, (int)result, is_known ? name : "unknown result",
                 meaning);
}
