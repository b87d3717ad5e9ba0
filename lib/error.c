/* error.c - status codes, and each thread's detail of its latest failure. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static _Thread_local char detail[CF__DETAIL];
static _Thread_local unsigned int failures;
static _Thread_local int is_quiet; /* between cf__error_save() and what ends it */
static _Thread_local CUresult driver_result;
static _Thread_local char cause[500]; /* of the CPU driver's latest failure; empty once it is told */

const char *cf_status_name(int status)
{
    switch (status) {
#define NAME(name, value, text) \
    case name:                  \
        return #name;
        CF_STATUS_LIST(NAME)
#undef NAME
    default:
        return "CF_?";
    }
}

const char *cf_status_text(int status)
{
    switch (status) {
#define TEXT(name, value, text) \
    case name:                  \
        return text;
        CF_STATUS_LIST(TEXT)
#undef TEXT
    default:
        return "unknown status";
    }
}

const char *cf_last_error(void)
{
    return detail;
}

int cf_last_driver_result(void)
{
    return (int)driver_result;
}

static _Thread_local const char *async_of; /* the name of what runs in its `_async` form; NULL: nothing */

void cf__name_async(const char *function)
{
    async_of = function;
}

const char *cf__named_async(void)
{
    return async_of;
}

/* Where the detail begins with that name, makes it that of the `_async` form. */
static void name_async(void)
{
    static const char suffix[] = "_async";
    const size_t added = sizeof suffix - 1, name = async_of ? strlen(async_of) : sizeof detail;
    if (name + added >= sizeof detail || strncmp(detail, async_of, name) != 0 || detail[name] != ':')
        return;
    size_t kept = strlen(detail) - name;
    if (name + added + kept >= sizeof detail)
        kept = sizeof detail - 1 - name - added;
    memmove(detail + name + added, detail + name, kept);
    memcpy(detail + name, suffix, added);
    detail[name + added + kept] = 0;
}

static void tell(void)
{
    if (!is_quiet)
        cf__log(CF_LOG_ERROR, "%s", detail);
}

unsigned int cf__failures(void)
{
    return failures;
}

int cf__fail_within(const char *function, int status)
{
    char within[CF__DETAIL];
    snprintf(within, sizeof within, "%s", detail);
    snprintf(detail, sizeof detail, "%.200s: in %.*s", function, (int)(sizeof detail - 210), within);
    name_async();
    tell();
    return status;
}

int cf__fail(int status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    cf__vformat(detail, sizeof detail, format, values);
    va_end(values);
    name_async();
    driver_result = CUDA_SUCCESS;
    failures++;
    tell();
    return status;
}

int cf__status_of(CUresult result)
{
    if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        return CF_ECAPTURE;
    /* What leaves a context unusable: illegal accesses and instructions, traps, device asserts, time-outs. */
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

int cf__fail_driver(const struct cf__driver *driver, CUresult result, const char *call, const char *format, ...)
{
    const char *name = NULL, *text = NULL;
    int is_known = driver->cuGetErrorName(result, &name) == CUDA_SUCCESS && name;
    if (!is_known)
        name = "unknown result";
    if (driver->cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
        text = "no text";

    char what[256];
    va_list values;
    va_start(values, format);
    cf__vformat(what, sizeof what, format, values);
    va_end(values);
    if (driver->is_host && (*cause || is_known)) /* no driver was called that the user could know */
        snprintf(detail, sizeof detail, "%.256s: %s", what, *cause ? cause : text);
    else
        snprintf(detail, sizeof detail, "%s: %s returned %d (%s, %s)", what, call, (int)result, name, text);
    *cause = 0;
    driver_result = result;
    failures++;
    int status = cf__note_lost(driver, cf__status_of(result), detail, sizeof detail);
    name_async();
    tell();
    return status;
}

void cf__note_cause(const char *text)
{
    snprintf(cause, sizeof cause, "%s", text);
}

/* ---- Failures that may be none ---- */

void cf__error_save(struct cf__error *error)
{
    memcpy(error->detail, detail, strlen(detail) + 1);
    error->result = driver_result;
    error->failures = failures;
    error->is_quiet = is_quiet;
    is_quiet = 1;
}

void cf__error_restore(const struct cf__error *error)
{
    is_quiet = error->is_quiet;
    if (failures == error->failures)
        return;
    memcpy(detail, error->detail, strlen(error->detail) + 1);
    driver_result = error->result;
    failures = error->failures;
}

void cf__error_keep(const struct cf__error *error)
{
    is_quiet = error->is_quiet;
    if (failures != error->failures)
        tell();
}

/* ---- Failures of other threads ---- */

void cf__error_take(struct cf__error *error)
{
    memcpy(error->detail, detail, strlen(detail) + 1);
    error->result = driver_result;
}

int cf__fail_as(int status, const struct cf__error *error)
{
    memcpy(detail, error->detail, strlen(error->detail) + 1);
    driver_result = error->result;
    failures++;
    tell();
    return status;
}
