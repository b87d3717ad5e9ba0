/* spmv.c - enqueues the product of a sparse matrix and a vector: one launch for all rows, and if these have few or
 * many elements, another for the parts of long rows */
#include "cuferry/kernels_internal.h"

#include "spmv.h"

/* The division of rows among warps, by their mean number of elements. */
enum way { SHORT, ROWS, WIDE };

static enum way way_of(int64_t nrows, int64_t nnz)
{
    const int64_t each = nnz / nrows;
    if (each > 128 || (each >= 16 && nrows < SPMV_FEW_ROWS))
        return WIDE;
    return nnz <= 8 * nrows ? SHORT : ROWS;
}

/* With a warp for each row, a row is long from this many elements on: four times the mean, or the share of each of
 * some thousand warps, and at least the elements of a part. */
static int64_t long_from(int64_t nrows, int64_t nnz, int64_t part)
{
    const int64_t each = nnz / nrows, share = nnz / 8192, least = part > SPMV_LONG ? part : SPMV_LONG;
    const int64_t most = 4 * each < share ? 4 * each : share;
    return most > least ? most : least;
}

/* S tags the kernel that takes y alone: by the rule of BLAS, A and x are not read if alpha is 0. */
#define ENQUEUE(tag, S, T, I, J)                                                                                       \
    int cf__enqueue_spmv_##tag(cf_stream stream, T alpha, const I *row_ptr, const J *col, const T *val, const T *x,    \
                               T beta, T *y, unsigned long long *work, int64_t nrows, int64_t ncols, int64_t nnz)      \
    {                                                                                                                  \
        if (nrows == 0)                                                                                                \
            return CF_OK;                                                                                              \
        if (alpha == 0)                                                                                                \
            return cf_spmv_y_alone_##S##_async(stream, beta, y, nrows);                                                \
        const enum way way = way_of(nrows, nnz);                                                                       \
        const int32_t part = (int32_t)SPMV_PART(T, nnz), room = (int32_t)(nnz / part);                                 \
        int status;                                                                                                    \
        if (way == ROWS)                                                                                               \
            return cf_spmv_rows_##tag##_async(stream, alpha, row_ptr, col, val, x, beta, y, work, nrows, ncols, nnz,   \
                                              part, room);                                                             \
        if (way == SHORT)                                                                                              \
            status = cf_spmv_short_rows_##tag##_async(stream, alpha, row_ptr, col, val, x, beta, y, work, nrows,       \
                                                      ncols, nnz, part, room);                                         \
        else                                                                                                           \
            status = cf_spmv_wide_rows_##tag##_async(stream, alpha, row_ptr, col, val, x, beta, y, work, nrows, ncols, \
                                                     nnz, part, room, long_from(nrows, nnz, part));                    \
        if (status == CF_OK && room > 0)                                                                               \
            status = cf_spmv_long_rows_##tag##_async(stream, alpha, row_ptr, col, val, x, beta, y, work, nrows, ncols, \
                                                     nnz, part, room);                                                 \
        return status;                                                                                                 \
    }

ENQUEUE(f32_i32, f32, float, int32_t, int32_t)
ENQUEUE(f32_i64, f32, float, int64_t, int64_t)
ENQUEUE(f32_i64_i32, f32, float, int64_t, int32_t)
ENQUEUE(f64_i32, f64, double, int32_t, int32_t)
ENQUEUE(f64_i64, f64, double, int64_t, int64_t)
ENQUEUE(f64_i64_i32, f64, double, int64_t, int32_t)
