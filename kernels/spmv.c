/* spmv.c - the launches that multiply a sparse matrix and a vector: one for all rows, and one for parts of long
 * ones. */
#include "cuferry/kernels_internal.h"

#include "spmv.h"

/* Lanes of a row: as many that rows commonly take two turns, of four elements each. */
static int lanes_of(int64_t nrows, int64_t nnz)
{
    int lanes = 2;
    while (lanes < 32 && nnz / nrows > 8 * lanes)
        lanes *= 2;
    return lanes;
}

/* How many elements make a row a long one: far more than others have, or than there are for each of some thousand
 * warps. */
static int64_t long_from(int64_t nrows, int64_t nnz)
{
    const int64_t many = 4 * (nnz / nrows), share = nnz / 8192, least = many < share ? many : share;
    return least > SPMV_LONG ? least : SPMV_LONG;
}

#define ENQUEUE(tag, T, I, J)                                                                                        \
    int cf__enqueue_spmv_##tag(cf_stream stream, T alpha, const I *row_ptr, const J *col, const T *val, const T *x,  \
                               T beta, T *y, uint64_t *part, unsigned int *done, unsigned long long *count,          \
                               T *partial, int64_t nrows, int64_t ncols, int64_t nnz)                                \
    {                                                                                                                \
        if (nrows == 0)                                                                                              \
            return CF_OK;                                                                                            \
        const int lanes = lanes_of(nrows, nnz);                                                                      \
        const int64_t length = long_from(nrows, nnz), room = SPMV_PARTS;                                             \
        int status = lanes == 2                                                                                      \
                         ? cf_spmv_rows_##tag##_async(stream, alpha, row_ptr, col, val, x, beta, y, part, done,      \
                                                      count, nrows, ncols, nnz, length, room)                        \
                         : cf_spmv_wide_rows_##tag##_async(stream, alpha, row_ptr, col, val, x, beta, y, part, done, \
                                                           count, nrows, ncols, nnz, length, room, lanes);           \
        if (status == CF_OK && room > 0)                                                                             \
            status = cf_spmv_long_rows_##tag##_async(stream, alpha, row_ptr, col, val, x, beta, y, part, done,       \
                                                     count, partial, nrows, ncols, nnz, room);                       \
        return status;                                                                                               \
    }

ENQUEUE(f32_i32, float, int32_t, int32_t)
ENQUEUE(f32_i64, float, int64_t, int64_t)
ENQUEUE(f32_i64_i32, float, int64_t, int32_t)
ENQUEUE(f64_i32, double, int32_t, int32_t)
ENQUEUE(f64_i64, double, int64_t, int64_t)
ENQUEUE(f64_i64_i32, double, int64_t, int32_t)
