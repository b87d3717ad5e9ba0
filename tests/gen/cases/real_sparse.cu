/* real_sparse - kernels of libraries of sparse linear algebra: CSR, ELL, COO, index and value types. */
#include <stddef.h>
#include <stdint.h>

#include "real_types.h"

#pragma cf include("real_types.h")

static constexpr int warp_size = 32;
enum { ROWS_PER_BLOCK = 4 };
const unsigned ell_width = 8;

/* A row per thread. */
#pragma cf kernel grid(rows) in(start[rows + 1], column[entries], value[entries], x[columns]) out(y[rows]) \
    check(0 <= start[:] <= entries, 0 <= column[:] < columns) flops(2.0 * entries) tolerance(1e-5 * max(entries, 1))
#pragma cf instances(f32_i32: float, int; f64_i64: double, int64_t)
template <typename ValueType, typename IndexType>
__global__ void csr_multiply(const IndexType *const __restrict__ start, const IndexType *const __restrict__ column,
                             const ValueType *const __restrict__ value, const ValueType *const __restrict__ x,
                             ValueType *const __restrict__ y, const IndexType rows, const IndexType columns,
                             const IndexType entries)
{
    const IndexType row = (IndexType)blockIdx.x * (IndexType)blockDim.x + (IndexType)threadIdx.x;
    if (row >= rows)
        return;
    ValueType sum = ValueType();
    for (IndexType k = start[row]; k < start[row + 1]; k++)
        sum += value[k] * x[column[k]];
    y[row] = sum;
}

/* A warp per row; the CPU walks rows. */
template <typename T>
void csr_vector_cpu(const int *start, const int *column, const T *value, const T *x, T *y, int rows, int entries, int n)
{
    (void)entries, (void)n;
    for (int row = 0; row < rows; row++) {
        y[row] = T(0);
        for (int k = start[row]; k < start[row + 1]; k++)
            y[row] += value[k] * x[column[k]];
    }
}

#pragma cf kernel blocks((rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK) block(warp_size, ROWS_PER_BLOCK) \
    in(start[rows + 1], column[entries], value[entries], x[n]) out(y[rows]) host(csr_vector_cpu) tolerance(1e-5)
#pragma cf instances(f32: float; f64: double)
template <typename T>
__global__ void csr_vector(const int *start, const int *column, const T *value, const T *x, T *y, int rows, int entries,
                           int n)
{
    int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.y;
    T sum = T(0);
    if (row < rows)
        for (int k = start[row] + (int)threadIdx.x; k < start[row + 1]; k += warp_size)
            sum += value[k] * x[column[k]];
    for (int lane = warp_size / 2; lane; lane /= 2)
        sum += __shfl_xor_sync(~0u, sum, lane);
    if (threadIdx.x == 0 && row < rows)
        y[row] = sum;
}

/* The matrix by value, as a struct of pointers with its sizes. */
#pragma cf kernel grid(A.rows) in(b[A.rows], x[A.columns]) out(y[A.rows]) check(A.rows == A.columns)
__global__ void jacobi_sweep(const csr A, const double *b, const double *x, double *y, double omega)
{
    const int32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= A.rows)
        return;
    double sum = b[row], diagonal = 1;
    for (int32_t k = A.start[row]; k < A.start[row + 1]; k++)
        if (A.column[k] == row)
            diagonal = A.value[k];
        else
            sum -= A.value[k] * x[A.column[k]];
    y[row] = (1 - omega) * x[row] + omega * sum / diagonal;
}

/* The matrix behind a pointer. */
#pragma cf kernel grid(rows) in(A[1]) out(diagonal[rows])
__global__ void csr_diagonal(const struct csr *A, double *diagonal, int32_t rows)
{
    const int32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    diagonal[row] = 0;
    for (int32_t k = A->start[row]; k < A->start[row + 1]; k++)
        if (A->column[k] == row)
            diagonal[row] += A->value[k];
}

/* ELL: as many entries in each row, stored column by column. */
#pragma cf kernel grid(rows) in(column[ell_width][rows], value[ell_width][rows], x[columns]) out(y[rows]) \
    pitch(column: ld; value: ld) check(-1 <= column[:] < columns, ld >= rows)
__global__ void ell_multiply(const index_type *column, const real *value, const real *x, real *y, extent rows,
                             extent columns, extent ld)
{
    extent row = (extent)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    real sum = 0;
    for (unsigned k = 0; k < ell_width; k++) {
        index_type c = column[k * ld + row];
        if (c >= 0 && (extent)c < columns)
            sum += value[k * ld + row] * x[c];
    }
    y[row] = sum;
}

/* COO: an entry per thread, added atomically. */
#pragma cf kernel grid(entries) in(row[entries], column[entries], value[entries], x[columns]) inout(y[rows]) \
    check(0 <= row[:] < rows, 0 <= column[:] < columns) tolerance(1e-6)
#pragma cf instances(f32: float; f64: double)
template <typename T>
__global__ void coo_multiply(int64_t entries, const int32_t *row, const int32_t *column, const T *value, const T *x,
                             T *y, int32_t rows, int32_t columns)
{
    int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < entries && row[k] < rows && column[k] < columns)
        atomicAdd(&y[row[k]], value[k] * x[column[k]]);
}

#define AXPBY_ITEMS 4

/* y = a x + b y, AXPBY_ITEMS elements per thread. */
#pragma cf kernel grid(n) items(AXPBY_ITEMS) in(x[n]) inout(y[n])
extern "C" __global__ void axpby(size_t n, double a, const double *x, double b, double *y)
{
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * AXPBY_ITEMS;
    for (size_t i = first; i < first + AXPBY_ITEMS && i < n; i++)
        y[i] = a * x[i] + b * y[i];
}

/* Where the rows of a dense block with a leading dimension have entries, as one flag per element. */
#pragma cf kernel grid(n, m) block(16, 16) in(a[m][n]) out(is_entry[m][n]) pitch(a: lda)
__global__ void pattern(int m, int n, const float *a, int lda, bool *is_entry, float threshold)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n)
        is_entry[(size_t)i * n + j] = fabsf(a[(size_t)i * lda + j]) > threshold;
}
