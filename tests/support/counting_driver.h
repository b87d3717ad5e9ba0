/* counting_driver.h - wraps the driver in use, counts its calls and lets some of them fail. */
#ifndef COUNTING_DRIVER_H
#define COUNTING_DRIVER_H

#include "played_gpu.h"

#include "driver/driver.h"
#include "context/drivers.h"

enum driver_call {
#define CALL(name, version, parameters, names) CALL_##name,
    CF__DRIVER_FUNCS(CALL)
#undef CALL
        CALL_COUNT
};

static int call_counts[CALL_COUNT];
static const struct cf__driver *below;
static enum driver_call failing_call;
static CUresult failing_result; /* result of the next calls of `failing_call`; CUDA_SUCCESS: the driver's own result */
static int not_relaxed;         /* calls outside relaxed mode, which would break a capture */
static int checks_mode;

/* Asserts that functions that a capture forbids are called in relaxed mode only. */
static inline void expect_relaxed(enum driver_call function)
{
    if (!checks_mode || (function != CALL_cuOccupancyMaxPotentialBlockSize && function != CALL_cuFuncGetAttribute &&
                         function != CALL_cuFuncSetAttribute && function != CALL_cuLibraryLoadData &&
                         function != CALL_cuOccupancyMaxActiveBlocksPerMultiprocessor))
        return;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    assert_int_equal(below->cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    not_relaxed += mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    assert_int_equal(below->cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
}

#define COUNTING(name, version, parameters, names)                          \
    static CUresult counting_##name parameters                              \
    {                                                                       \
        __atomic_fetch_add(&call_counts[CALL_##name], 1, __ATOMIC_RELAXED); \
        expect_relaxed(CALL_##name);                                        \
        if (CALL_##name == failing_call && failing_result != CUDA_SUCCESS)  \
            return failing_result;                                          \
        return below->name names;                                           \
    }
CF__DRIVER_FUNCS(COUNTING)
#undef COUNTING

static struct cf__driver counting = {
#define ENTRY(name, version, parameters, names) .name = counting_##name,
    CF__DRIVER_FUNCS(ENTRY)
#undef ENTRY
};

/* If the process uses both the CPU and the GPU, only the driver that comes first is wrapped. */
const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    if (below && below->is_cpu != driver->is_cpu)
        return driver;
    below = driver;
    counting.is_cpu = driver->is_cpu;
    if (!driver->cuKernelGetParamInfo)
        counting.cuKernelGetParamInfo = NULL;
    return &counting;
}

static inline void fail_calls(enum driver_call call, CUresult result)
{
    failing_call = call;
    failing_result = result;
}

/* Asserts that exactly these numbers of calls were made since the last check. */
static inline void expect_calls(int stream_context, int current, int id, int launch)
{
    int others = 0;
    for (int i = 0; i < CALL_COUNT; i++)
        if (i != CALL_cuStreamGetCtx && i != CALL_cuCtxGetCurrent && i != CALL_cuCtxGetId && i != CALL_cuLaunchKernel)
            others += call_counts[i];
    assert_int_equal(call_counts[CALL_cuStreamGetCtx], stream_context);
    assert_int_equal(call_counts[CALL_cuCtxGetCurrent], current);
    assert_int_equal(call_counts[CALL_cuCtxGetId], id);
    assert_int_equal(call_counts[CALL_cuLaunchKernel], launch);
    assert_int_equal(others, 0);
    memset(call_counts, 0, sizeof call_counts);
}

#endif
