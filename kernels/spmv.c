/* spmv.c - the launches that multiply a sparse matrix and a vector: one for all rows, and where these are
 * of few or of many elements one for parts of long ones. */
#include "cuferry/kernels_internal.h"

#include "spmv.h"

/* How rows are given to warps, by the elements that they commonly have. */
enum way { SHORT, ROWS, WIDE };

static enum way way_of(int64_t nrows, int64_t nnz)
{
    const int64_t each = nnz / nrows;
    if (each > 128 || (each >= 16 && nrows < SPMV_FEW_ROWS))
        return WIDE;
    return nnz <= 8 * nrows ? SHORT : ROWS;
}

/* How many elements make a row a long one of a warp that has one: four times what rows have at the mean, or what there
 * is for each of some thousand warps, and no fewer than a part has. */
static int64_t long_from(int64_t nrows, int64_t nnz, int64_t part)
{
    const int64_t each = nnz / nrows, share = nnz / 8192, least = part > SPMV_LONG ? part : SPMV_LONG;
    const int64_t most = 4 * each < share ? 4 * each : share;
    return most > least ? most : least;
}

#define ENQUEUE(tag, T, I, J)                                                                                          \
    int cf__enqueue_spmv_##tag(cf_stream stream, T alpha, const I *row_ptr, const J *col, const T *val, const T *x,    \
                               T beta, T *y, unsigned long long *work, int64_t nrows, int64_t ncols, int64_t nnz)      \
    {                                                                                                                  \
        if (nrows == 0)                                                                                                \
            return CF_OK;                                                                                              \
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

ENQUEUE(f32_i32, float, int32_t, int32_t)
ENQUEUE(f32_i64, float, int64_t, int64_t)
ENQUEUE(f32_i64_i32, float, int64_t, int32_t)
ENQUEUE(f64_i32, double, int32_t, int32_t)
ENQUEUE(f64_i64, double, int64_t, int64_t)
ENQUEUE(f64_i64_i32, double, int64_t, int32_t)
