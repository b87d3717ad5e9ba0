/* ell_spmv.cu - a sparse matrix in ELLPACK form times a vector. */
#include <cassert>
#include <iostream>
#include <stdexcept>
#include <vector>

template <typename ValueType, typename IndexType = int> struct EllMatrix {
    IndexType rows = 0, cols = 0, width = 0;
    std::vector<IndexType> columns;
    std::vector<ValueType> values;
    void insert(IndexType row, IndexType col, ValueType value)
    {
        for (IndexType k = 0; k < width; k++) {
            if (columns[k * rows + row] < 0) {
                columns[k * rows + row] = col;
                values[k * rows + row] = value;
                return;
            }
        }
        throw std::length_error("row is full");
    }
};

#pragma cf kernel grid(rows) block(128) in(col[width][rows], val[width][rows], x[cols]) out(y[rows]) param(int cols) \
    check(-1 <= col[:] < cols) tolerance(1e-5)
#pragma cf instances(f32: float, int; f64: double, long long)
template <typename ValueType, typename IndexType>
__global__ void ell_kernel(IndexType rows, IndexType width, const IndexType *__restrict__ col,
                           const ValueType *__restrict__ val, const ValueType *__restrict__ x, ValueType *y)
{
    const IndexType row = (IndexType)blockIdx.x * (IndexType)blockDim.x + (IndexType)threadIdx.x;
    if (row >= rows)
        return;
    ValueType sum = ValueType();
    for (IndexType k = 0; k < width; k++) {
        const IndexType j = col[k * rows + row];
        if (j >= 0)
            sum += val[k * rows + row] * __ldg(&x[j]);
    }
    y[row] = sum;
}

template <typename ValueType> void spmv(const EllMatrix<ValueType> &a, const ValueType *x, ValueType *y, cudaStream_t s)
{
    assert(a.rows > 0);
    const unsigned int threads = 128, blocks = (a.rows + threads - 1) / threads;
    ell_kernel<ValueType, int><<<blocks, threads, 0, s>>>(a.rows, a.width, a.columns.data(), a.values.data(), x, y);
}

int main()
{
    EllMatrix<double> a;
    a.insert(0, 0, 1.0);
    spmv<double>(a, nullptr, nullptr, 0);
    std::cout << a.rows << std::endl;
}
