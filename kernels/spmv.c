/* spmv.c - the launches that multiply a sparse matrix and a vector: a look at the rows, and two ways, of which one does
 * nothing. */
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

#define ENQUEUE(tag, T, I, J, matrix, pointers)                                                                      \
    int cf__enqueue_spmv_##tag(cf_stream stream, T alpha, const I *row_ptr, const J *col, const T *val, const T *x,  \
                               T beta, T *y, uint64_t *looked, T *head, T *tail, int64_t *open, int64_t nrows,       \
                               int64_t ncols, int64_t nnz)                                                           \
    {                                                                                                                \
        int status = CF_OK;                                                                                          \
        if (nrows == 0)                                                                                              \
            return status;                                                                                           \
        const int is_looked_at = SPMV_IS_LOOKED_AT, lanes = lanes_of(nrows, nnz);                                    \
        const uint64_t *found = is_looked_at ? looked : NULL;                                                        \
        if (is_looked_at)                                                                                            \
            status = cf_spmv_look_##pointers##_async(stream, row_ptr, looked, nrows, lanes);                         \
        if ((is_looked_at || nnz == 0) && status == CF_OK)                                                           \
            status = cf_spmv_direct_##tag##_async(stream, alpha, row_ptr, col, val, x, beta, y, found, nrows, ncols, \
                                                  nnz, lanes);                                                       \
        if (nnz > 0 && status == CF_OK)                                                                              \
            status = cf_spmv_split_##tag##_async(stream, alpha, row_ptr, col, val, x, beta, y, found, head, tail,    \
                                                 open, nrows, ncols, nnz, lanes, is_looked_at ? 0 : nrows);          \
        if (nnz > 0 && status == CF_OK)                                                                              \
            status = cf_spmv_join_##matrix##_async(stream, alpha, row_ptr, beta, y, found, head, tail, open, nrows,  \
                                                   nnz, lanes);                                                      \
        return status;                                                                                               \
    }

ENQUEUE(f32_i32, float, int32_t, int32_t, f32_i32, i32)
ENQUEUE(f32_i64, float, int64_t, int64_t, f32_i64, i64)
ENQUEUE(f32_i64_i32, float, int64_t, int32_t, f32_i64, i64)
ENQUEUE(f64_i32, double, int32_t, int32_t, f64_i32, i32)
ENQUEUE(f64_i64, double, int64_t, int64_t, f64_i64, i64)
ENQUEUE(f64_i64_i32, double, int64_t, int32_t, f64_i64, i64)
