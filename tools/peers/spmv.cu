// spmv.cu - compares the device time of products of sparse matrices with vectors with that of cuSPARSE's algorithms.
#include <algorithm>
#include <cmath>
#include <memory>

#include "cusparse.h"
#include "peers.h"

namespace
{

struct Matrix {
    int64_t rows, elements;
    Device<int32_t> row_ptr, col;
    Device<float> val;
    Matrix(int64_t r, int64_t n) : rows(r), elements(n), row_ptr(r + 1), col(n), val(n)
    {
    }
};

__device__ uint64_t mixed(uint64_t x)
{
    x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 29) * 0x94d049bb133111ebu;
    return x ^ x >> 32;
}

// Chooses values in (0, 1] and arbitrary columns.
__global__ void choose(int32_t *col, float *val, int64_t n, int64_t cols, uint64_t seed)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (col)
        col[i] = (int32_t)(mixed(seed + 2 * i) % (uint64_t)cols);
    val[i] = (float)((mixed(seed + 2 * i + 1) >> 40) + 1) / 16777216.0f;
}

// Returns the number of matrix elements before row i of the 7-point stencil on a cube: seven per row, less the missing
// neighbours.
__device__ int64_t poisson_before(int64_t i, int64_t n)
{
    const int64_t plane = n * n, x = i % n, y = i / n % n, z = i / plane;
    int64_t missing = 2 * (i / n) + (x > 0);
    missing += 2 * z * n + (y > 0 ? n : x) + (y == n - 1 ? x : 0);
    missing += (z > 0 ? plane : i) + (z == n - 1 ? i - z * plane : 0);
    return 7 * i - missing;
}

__global__ void poisson(int32_t *row_ptr, int32_t *col, float *val, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, plane = n * n, rows = plane * n;
    if (i > rows)
        return;
    int64_t k = i == rows ? 7 * rows - 6 * plane : poisson_before(i, n);
    row_ptr[i] = (int32_t)k;
    const int64_t x = i % n, y = i / n % n, z = i / plane;
    auto put = [&](bool is_there, int64_t column, float value) {
        if (i < rows && is_there) {
            col[k] = (int32_t)column;
            val[k++] = value;
        }
    };
    put(z > 0, i - plane, -1);
    put(y > 0, i - n, -1);
    put(x > 0, i - 1, -1);
    put(true, i, 6.5f);
    put(x < n - 1, i + 1, -1);
    put(y < n - 1, i + n, -1);
    put(z < n - 1, i + plane, -1);
}

// Makes rows of `width` neighbouring columns around the diagonal, shifted inwards at both ends.
__global__ void banded(int32_t *row_ptr, int32_t *col, int64_t rows, int64_t width)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i > rows)
        return;
    row_ptr[i] = (int32_t)(i * width);
    const int64_t first = max((int64_t)0, min(i - width / 2, rows - width));
    for (int64_t k = 0; i < rows && k < width; k++)
        col[i * width + k] = (int32_t)(first + k);
}

// Computes each row in double precision with a warp, and counts elements of y that deviate by more than rounding.
__global__ void count_wrong(const int32_t *row_ptr, const int32_t *col, const float *val, const float *x,
                            const float *y, int64_t rows, unsigned int *wrong)
{
    const int64_t row = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows)
        return;
    double sum = 0, size = 0;
    for (int64_t k = row_ptr[row] + threadIdx.x % 32; k < row_ptr[row + 1]; k += 32) {
        const double product = (double)val[k] * x[col[k]];
        sum += product;
        size += fabs(product);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(~0u, sum, distance);
        size += __shfl_xor_sync(~0u, size, distance);
    }
    if (threadIdx.x % 32 == 0 && !(fabs(y[row] - sum) <= 1e-5 * size))
        atomicAdd(wrong, 1u);
}

unsigned int blocks_for(int64_t threads)
{
    return (unsigned int)((threads + 255) / 256);
}

// One of cuSPARSE's algorithms, with a matrix descriptor of its own, which keeps the results of preprocessing.
struct Algorithm {
    const Cusparse &sparse;
    Cusparse::Handle handle;
    Cusparse::Matrix matrix = nullptr;
    Cusparse::Vector in = nullptr, out = nullptr;
    const float alpha = 1, beta = 0;
    int algorithm;
    void *buffer = nullptr;
    Algorithm(const Cusparse &functions, Cusparse::Handle h, const Matrix &m, float *x, float *y, int which,
              bool is_prepared)
        : sparse(functions), handle(h), algorithm(which)
    {
        expect(sparse.create_csr(&matrix, m.rows, m.rows, m.elements, m.row_ptr, m.col, m.val, sparse.index_32,
                                 sparse.index_32, sparse.from_zero, sparse.f32) == 0,
               "cusparseCreateCsr");
        expect(sparse.create_vector(&in, m.rows, x, sparse.f32) == 0, "cusparseCreateDnVec");
        expect(sparse.create_vector(&out, m.rows, y, sparse.f32) == 0, "cusparseCreateDnVec");
        size_t bytes = 0;
        expect(sparse.buffer_size(handle, sparse.as_it_is, &alpha, matrix, in, &beta, out, sparse.f32, algorithm,
                                  &bytes) == 0,
               "cusparseSpMV_bufferSize");
        CHECK(cudaMalloc(&buffer, bytes + 16));
        if (is_prepared)
            expect(sparse.preprocess(handle, sparse.as_it_is, &alpha, matrix, in, &beta, out, sparse.f32, algorithm,
                                     buffer) == 0,
                   "cusparseSpMV_preprocess");
    }
    void run() const
    {
        expect(sparse.spmv(handle, sparse.as_it_is, &alpha, matrix, in, &beta, out, sparse.f32, algorithm, buffer) == 0,
               "cusparseSpMV");
    }
    ~Algorithm()
    {
        (void)sparse.destroy_vector(in);
        (void)sparse.destroy_vector(out);
        (void)sparse.destroy_matrix(matrix);
        (void)cudaFree(buffer);
    }
    Algorithm(const Algorithm &) = delete;
    Algorithm &operator=(const Algorithm &) = delete;
};

void compare(const std::string &what, const Matrix &m, double target)
{
    Device<float> x(m.rows), y(m.rows);
    Device<unsigned int> wrong(1);
    choose<<<blocks_for(m.rows), 256>>>(nullptr, x, m.rows, 1, 3);
    CHECK(cudaDeviceSynchronize());
    Stream stream;
    Cusparse sparse;
    Cusparse::Handle handle = nullptr;
    const bool is_loaded = load_cusparse(&sparse);
    const bool has_peer = is_loaded && sparse.create(&handle) == 0 && sparse.set_stream(handle, stream) == 0;
    std::vector<std::unique_ptr<Algorithm>> algorithms;
    std::vector<Peer> peers(1);
    peers[0].name = "cf_spmv_async";
    peers[0].run = [&] {
        CHECK(cf_spmv_async(stream, 1, m.row_ptr.data, m.col.data, m.val.data, x.data, 0, y.data, m.rows, m.rows,
                            m.elements));
    };
    for (int which = 0; which < 4 && has_peer; which++) {
        const bool is_prepared = which % 2 != 0;
        algorithms.push_back(std::make_unique<Algorithm>(sparse, handle, m, x, y,
                                                         which < 2 ? sparse.csr_alg1 : sparse.csr_alg2, is_prepared));
        peers.push_back({});
        peers.back().name =
            std::string("cusparseSpMV, CSR_ALG") + (which < 2 ? "1" : "2") + (is_prepared ? ", preprocessed" : "");
        peers.back().run = [algorithm = algorithms.back().get()] { algorithm->run(); };
    }
    for (Peer &peer : peers) {
        unsigned int count = 0;
        CHECK(cudaMemset(y, poison, m.rows * sizeof(float)));
        CHECK(cudaMemset(wrong, 0, sizeof count));
        CHECK(cudaDeviceSynchronize());
        peer.run();
        CHECK(cudaStreamSynchronize(stream));
        count_wrong<<<blocks_for(m.rows * 32), 256>>>(m.row_ptr, m.col, m.val, x, y, m.rows, wrong);
        CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
        expect(count == 0, peer.name + ", " + what);
    }
    take_turns_on(stream, peers, 51, 3); // not in turns over several sets, since a matrix is larger than any cache
    print_times("y = A x, " + what + ": device time", peers, "ms", 1e3);
    double best = NAN;
    for (size_t p = 1; p < peers.size(); p++)
        best = std::fmin(best, peers[p].middle());
    const std::string against = "cuSPARSE's best / cf_spmv_async, " + what;
    if (has_peer)
        figure(against, best / peers[0].middle(), "x", Target::at_least, target);
    else
        no_figure(against, is_loaded ? "cuSPARSE cannot be set up" : "libcusparse cannot be loaded");
    algorithms.clear();
    if (handle)
        (void)sparse.destroy(handle);
}

// Returns row pointers. Row lengths follow a power law with exponent 2.3; the longest row has some hundred thousand
// elements.
std::vector<int32_t> power_law(int64_t rows)
{
    std::vector<int32_t> row_ptr(rows + 1);
    int64_t total = 0;
    for (int64_t i = 0; i < rows; i++) {
        row_ptr[i] = (int32_t)total;
        const double u = 1 - (double)random_f32(11, (uint64_t)i);
        total += std::min<int64_t>((int64_t)(2.62 * std::pow(u, -1 / 1.3)), rows);
    }
    row_ptr[rows] = (int32_t)total;
    return row_ptr;
}

} // namespace

void part_spmv()
{
    {
        const int64_t n = 256, rows = n * n * n;
        Matrix m(rows, 7 * rows - 6 * n * n);
        poisson<<<blocks_for(rows + 1), 256>>>(m.row_ptr, m.col, m.val, n);
        compare("7-point Poisson 256^3", m, 1.15);
    }
    {
        const int64_t rows = 4000000, width = 32;
        Matrix m(rows, rows * width);
        banded<<<blocks_for(rows + 1), 256>>>(m.row_ptr, m.col, rows, width);
        choose<<<blocks_for(m.elements), 256>>>(nullptr, m.val, m.elements, 1, 9);
        compare("banded, 4 M rows of 32", m, 1);
    }
    const std::vector<int32_t> row_ptr = power_law(4000000);
    Matrix m((int64_t)row_ptr.size() - 1, row_ptr.back());
    CHECK(cudaMemcpy(m.row_ptr, row_ptr.data(), row_ptr.size() * sizeof(int32_t), cudaMemcpyHostToDevice));
    choose<<<blocks_for(m.elements), 256>>>(m.col, m.val, m.elements, m.rows, 5);
    compare("power law, 4 M rows, random columns", m, 1);
}
