/* languages.c - the cost of a call from C++ and Fortran beside the same call from C, as ratios. A round makes CALLS calls
 * of each kind on device memory: plain ones, and enqueued ones with one wait. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cuferry/kernels.h>

enum { ROUNDS = 31, LANGUAGES = 3, KINDS = 2 };

/* Make `calls` calls, plain ones if `stream` is NULL, and return a status. */
typedef int call_many(cf_stream stream, float *x, float *y, int64_t n, int calls);
call_many call_from_cxx, call_from_fortran;

static int call_from_c(cf_stream stream, float *x, float *y, int64_t n, int calls)
{
    int status = CF_OK;
    for (int i = 0; i < calls && !status; i++)
        status = stream ? cf_axpy_f32_async(stream, 0.5f, x, y, n) : cf_axpy_f32(0.5f, x, y, n);
    return status;
}

static void check(int status)
{
    if (status) {
        fprintf(stderr, "%s\n", cf_last_error());
        exit(1);
    }
}

/* Microseconds of one call. */
static double measure(call_many *function, cf_stream stream, float *x, float *y, int64_t n, int calls)
{
    struct timespec begin, end;
    timespec_get(&begin, TIME_UTC);
    check(function(stream, x, y, n, calls));
    check(cf_stream_sync(stream));
    timespec_get(&end, TIME_UTC);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e6 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-3) / calls;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void measure_kind(const char *kind, cf_stream stream, float *x, float *y, int64_t n)
{
    static const char *const names[LANGUAGES] = {"C", "C++", "Fortran"};
    call_many *const functions[LANGUAGES] = {call_from_c, call_from_cxx, call_from_fortran};
    double times[LANGUAGES][ROUNDS];
    for (int round = -1; round < ROUNDS; round++) /* the first one is not counted */
        for (int i = 0; i < LANGUAGES; i++)
            times[i][round < 0 ? 0 : round] = measure(functions[i], stream, x, y, n, 2000);
    for (int i = 0; i < LANGUAGES; i++)
        qsort(times[i], ROUNDS, sizeof times[i][0], compare);
    for (int i = 0; i < LANGUAGES; i++)
        printf("%s calls, n = %lld, %s: %.3f us, %.3f of C\n", kind, (long long)n, names[i], times[i][ROUNDS / 2],
               times[i][ROUNDS / 2] / times[0][ROUNDS / 2]);
}

int main(void)
{
    void *x = NULL, *y = NULL;
    int64_t n = 1024;
    cf_stream stream = NULL;
    check(cf_stream_create(&stream));
    check(cf_mem_alloc(&x, (size_t)n * sizeof(float)));
    check(cf_mem_alloc(&y, (size_t)n * sizeof(float)));
    check(cf_mem_fill(x, 0, (size_t)n * sizeof(float)));
    check(cf_mem_fill(y, 0, (size_t)n * sizeof(float)));
    measure_kind("plain", NULL, x, y, n);
    measure_kind("enqueued", stream, x, y, n);
    check(cf_mem_free(x));
    check(cf_mem_free(y));
    check(cf_stream_destroy(stream));
    return 0;
}
