/* scratch_reporter.h - a kernel that reports which scratch memory it got, and a second library in the process, for
 * tests of the scratch memory that streams keep. */
#ifndef SCRATCH_REPORTER_H
#define SCRATCH_REPORTER_H

#include "handmade_kernel.h"

#include "driver/driver.h"
#include "context/drivers.h"
#include "memory/scratch_cache.h"

/* ---- A kernel that reports its scratch memory, and how much of it was not 0 ---- */

enum { WORK, REPORT, MORE, N, PARAMS };
enum { LEAST = 16384 }; /* equals LEAST_BYTES, which is private to lib/memory/scratch_cache.c */

struct report {
    int64_t launches, nonzero;
    char *work, *more;
    int64_t others; /* number of launches that got other memory than the launch before */
};

static const cf_expr n_elements = NUMBER("n", N), one = FIXED(1), three = FIXED(3);

static const cf_param params[] = {
    SCRATCH_INTS("work", n_elements),
    STRUCT_INOUT("report", struct report, one),
    SCRATCH_INTS("more", three),
    VALUE("n", int64_t, CF_I64),
};

static void report_body(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    int32_t *work = *(int32_t *const *)launch->args[WORK], *more = *(int32_t *const *)launch->args[MORE];
    struct report *report = *(struct report *const *)launch->args[REPORT];
    const int64_t n = *(const int64_t *)launch->args[N];
    (void)begin, (void)end;
    for (int64_t i = 0; i < n; i++)
        report->nonzero += work[i] != 0;
    for (int i = 0; i < 3; i++)
        report->nonzero += more[i] != 0;
    memset(work, 0x5a, 4 * (size_t)n);
    memset(more, 0x5a, sizeof(int32_t[3]));
    report->others += report->launches && report->work != (char *)work;
    report->launches++;
    report->work = (char *)work;
    report->more = (char *)more;
}

static struct made_image image;
static const cf_zero zeros[] = {{.array = WORK}, {.array = MORE}};
static cf_kernel report_kernel = {MADE_KERNEL("report", image),
                                  .nparams = PARAMS,
                                  .params = params,
                                  .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}},
                                  .cpu_body = report_body,
                                  .nzeros = 2,
                                  .zeros = zeros};

static inline int launch(cf_stream stream, struct report *there, int64_t n)
{
    void *const args[] = {NULL, &there, NULL, &n};
    return cf_launch(&report_kernel, stream, args);
}

/* ---- A driver that puts another launch between the calls of one launch ---- */

static const struct cf__driver *real;
static cf_stream between; /* the stream of a launch that is inserted after the next clearing of memory; NULL: none */
static struct report *report_between;
static int context_waits; /* calls of cuCtxSynchronize() */
static int fails_free_async;
static int trims_in_free, freed_by_trim; /* the next cuMemFreeAsync() trims first; number of frees by that trim */

static inline CUresult clear_memory(CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream)
{
    CUresult result = real->cuMemsetD8Async(target, value, bytes, stream);
    cf_stream other = between;
    if (other) {
        between = NULL;
        assert_ok(launch(other, report_between, 100));
    }
    return result;
}

static inline CUresult count_wait(void)
{
    context_waits++;
    return real->cuCtxSynchronize();
}

static inline CUresult free_async(CUdeviceptr memory, CUstream stream)
{
    if (trims_in_free) {
        const int before = fake_counts()->free + fake_counts()->free_async;
        trims_in_free = 0;
        assert_ok(cf_mem_trim(0));
        freed_by_trim = fake_counts()->free + fake_counts()->free_async - before;
    }
    return fails_free_async ? CUDA_ERROR_UNKNOWN : real->cuMemFreeAsync(memory, stream);
}

const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    static struct cf__driver wrapped;
    if (driver->is_cpu)
        return driver;
    real = driver;
    wrapped = *driver;
    wrapped.cuMemsetD8Async = clear_memory;
    wrapped.cuCtxSynchronize = count_wait;
    wrapped.cuMemFreeAsync = free_async;
    return &wrapped;
}

/* ---- The kernel's report ---- */

static inline struct report *make_report(void)
{
    const struct report none = {0, 0, NULL, NULL, 0};
    return upload(&none, sizeof none);
}

static inline struct report read_report(struct report *there, int64_t launches)
{
    struct report report;
    assert_ok(cf_mem_copy(&report, there, sizeof report));
    assert_int_equal(report.launches, launches);
    assert_int_equal(report.nonzero, 0);
    return report;
}

/* ---- Streams of another library ---- */

/* Plays another library in the process: it makes the primary context current and uses streams that Cuferry does not
 * know. */
static inline void begin_other(void)
{
    CUcontext context;
    assert_int_equal(other_library()->cuInit(0), CUDA_SUCCESS);
    assert_int_equal(other_library()->cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(other_library()->cuCtxPushCurrent(context), CUDA_SUCCESS);
}

static inline void end_other(void)
{
    CUcontext context;
    assert_ok(cf_shutdown()); /* this library also has to release the context */
    assert_int_equal(other_library()->cuCtxPopCurrent(&context), CUDA_SUCCESS);
    assert_int_equal(other_library()->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

static inline cf_stream make_stream(void)
{
    CUstream stream;
    assert_int_equal(other_library()->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    return stream;
}

static inline void destroy_stream(cf_stream stream)
{
    assert_int_equal(other_library()->cuStreamDestroy(stream), CUDA_SUCCESS);
}

#endif
