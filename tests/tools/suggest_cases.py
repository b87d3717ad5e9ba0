"""suggest_cases.py - the input files of test_suggest.py, which look like public CUDA code, with the expected
annotations."""

from dataclasses import dataclass, field
from typing import Dict, List


@dataclass
class Case:
    name: str
    source: str
    expected: str               # the lines of all annotations
    with_parameters: str = ''   # the same, if annotations may declare parameters that the kernel lacks
    flags: List[str] = field(default_factory=list)
    headers: Dict[str, str] = field(default_factory=dict)
    missing: List[str] = field(default_factory=list)    # headers that only the generator needs
    notes: List[str] = field(default_factory=list)      # texts that must appear on stderr


HALO = '''#define RADIUS 3
#define BLOCK 128
__global__ void average(const float *in, float *out, int length)
{
    __shared__ float tile[BLOCK + 2 * RADIUS];
    const int tid = threadIdx.x, at = tid + RADIUS;
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    tile[at] = in[i];
    if (tid < RADIUS) {
        tile[at - RADIUS] = i < RADIUS ? 0 : in[i - RADIUS];
        tile[at + BLOCK] = in[i + BLOCK];
    }
    __syncthreads();
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += tile[at + k];
    out[i] = sum / (2 * RADIUS + 1);
}
void host(const float *in, float *out, int n)
{
    average<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, n);
}
'''

CASES = [
    Case('saxpy', '''#include <cstdio>
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
int main()
{
    int N = 1 << 20;
    float *d_x, *d_y;
    cudaMalloc(&d_x, N * sizeof(float));
    cudaMalloc(&d_y, N * sizeof(float));
    saxpy<<<(N + 255) / 256, 256>>>(N, 2.0f, d_x, d_y);
    cudaDeviceSynchronize();
}
''', '#pragma cf kernel grid(n) block(256) in(x[n]) inout(y[n])'),

    Case('early_return', '''typedef double real;
__global__ void relu(real *__restrict__ out, const real *__restrict__ in, const unsigned int size)
{
    const unsigned int at = threadIdx.x + blockDim.x * blockIdx.x;
    if (at >= size) return;
    out[at] = in[at] > 0 ? in[at] : 0;
}
void forward(real *out, const real *in, unsigned int count)
{
    const int threads = 128;
    const int blocks = (count - 1) / threads + 1;
    relu<<<blocks, threads>>>(out, in, count);
}
''', '#pragma cf kernel grid(size) block(128) in(in[size]) inout(out[size])'),

    Case('types_that_a_macro_chooses', '''#define FOR_REALS(kind, ...) \\
    switch (kind) { \\
    case 4: { using real = float; __VA_ARGS__; break; } \\
    case 8: { using real = double; __VA_ARGS__; break; } \\
    }
template <typename T> struct square { __device__ static T of(T x) { return x * x; } };
template <typename T, typename F> __global__ void apply(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = F::of(x[i]);
}
void apply_any(int kind, const void *x, void *y, int n)
{
    FOR_REALS(kind, [&] { apply<real, square<real>><<<(n + 127) / 128, 128>>>((const real *)x, (real *)y, n); }())
}
''', '''#pragma cf kernel grid(n) block(128) in(x[n]) inout(y[n])
#pragma cf \\
    instances(f32_square_float: float, square<float>; f64_square_double: double, square<double>)'''),

    Case('tiled_product', '''#define TILE 16
template <typename T, int BLOCK>
__global__ void product(const T *a, const T *b, T *c, int m, int n, int k)
{
    __shared__ T as[BLOCK][BLOCK], bs[BLOCK][BLOCK];
    int row = blockIdx.y * BLOCK + threadIdx.y, col = blockIdx.x * BLOCK + threadIdx.x;
    T sum = 0;
    for (int t = 0; t < (k + BLOCK - 1) / BLOCK; t++) {
        as[threadIdx.y][threadIdx.x] =
            row < m && t * BLOCK + threadIdx.x < k ? a[row * k + t * BLOCK + threadIdx.x] : 0;
        if (t * BLOCK + threadIdx.y < k && col < n)
            bs[threadIdx.y][threadIdx.x] = b[(t * BLOCK + threadIdx.y) * n + col];
        else
            bs[threadIdx.y][threadIdx.x] = 0;
        __syncthreads();
        for (int i = 0; i < BLOCK; i++)
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
template <typename T> void run(const T *a, const T *b, T *c, int M, int N, int K)
{
    dim3 block(TILE, TILE);
    dim3 grid((N + block.x - 1) / block.x, (M + block.y - 1) / block.y);
    product<T, TILE><<<grid, block>>>(a, b, c, M, N, K);
}
template void run<float>(const float *, const float *, float *, int, int, int);
template void run<double>(const double *, const double *, double *, int, int, int);
''', '''#pragma cf kernel grid(n, m) block(BLOCK, BLOCK) in(a[m][k], b[k][n]) inout(c[m][n])
#pragma cf instances(f32_16: float, TILE; f64_16: double, TILE)'''),

    Case('reduction', '''__global__ void reduce(const float *in, float *out, int n)
{
    extern __shared__ float part[];
    unsigned tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[tid] = (i < n) ? in[i] : 0.f;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            part[tid] += part[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = part[0];
}
void host(const float *x, float *y, int count)
{
    const int threads = 256;
    int blocks = (count + threads - 1) / threads;
    size_t bytes = threads * sizeof(float);
    reduce<<<blocks, threads, bytes>>>(x, y, count);
}
''', '''#pragma cf kernel grid(n) block(256) shared(256 * sizeof(float)) in(in[n]) \\
    inout(out[(n + 255) / 256])'''),

    Case('shared_of_a_template', '''template <class T> __global__ void scan_block(T *data, int n)
{
    extern __shared__ __align__(8) unsigned char raw[];
    T *own = reinterpret_cast<T *>(raw);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    own[threadIdx.x] = i < n ? data[i] : T(0);
    __syncthreads();
    if (i < n)
        data[i] = own[threadIdx.x];
}
template <class V> void scan(V *data, int length)
{
    const int size = 512;
    scan_block<V><<<(length + size - 1) / size, size, 2 * size * sizeof(V)>>>(data, length);
}
int main()
{
    int *numbers = nullptr;
    double *reals = nullptr;
    scan(numbers, 100);
    scan<double>(reals, 100);
}
''', '''#pragma cf kernel grid(n) block(512) shared(1024 * sizeof(T)) inout(data[n])
#pragma cf instances(i32: int; f64: double)'''),

    Case('stencil', '''#define IDX(x, y) ((y) * nx + (x))
__global__ void step(const double *u, double *v, int nx, int ny, double c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
        v[IDX(x, y)] = u[IDX(x, y)] + c * (u[IDX(x - 1, y)] + u[IDX(x + 1, y)] + u[IDX(x, y - 1)] + u[IDX(x, y + 1)]);
}
static inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
void solve(double *u, double *v, int nx, int ny, int steps)
{
    dim3 threads(32, 8), blocks(ceil_div(nx, 32), ceil_div(ny, 8));
    for (int s = 0; s < steps; s++) {
        step<<<blocks, threads>>>(u, v, nx, ny, 0.1);
        double *t = u; u = v; v = t;
    }
}
''', '#pragma cf kernel grid(nx, ny) block(32, 8) in(u[ny][nx]) inout(v[ny][nx])'),

    Case('stencil_3d', '''__global__ void smooth(const float *in, float *out, int nx, int ny, int nz)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz)
        return;
    const size_t at = ((size_t)k * ny + j) * nx + i;
    out[at] = 0.5f * in[at];
}
void run(const float *in, float *out, int nx, int ny, int nz)
{
    dim3 block{8, 8, 4};
    dim3 grid;
    grid.x = (nx + block.x - 1) / block.x;
    grid.y = (ny + block.y - 1) / block.y;
    grid.z = (nz + block.z - 1) / block.z;
    smooth<<<grid, block>>>(in, out, nx, ny, nz);
}
''', '''#pragma cf kernel grid(nx, ny, nz) block(8, 8, 4) in(in[nz][ny][nx]) inout(out[nz][ny][nx])'''),

    Case('pitched_rows', '''__global__ void scale(float *a, int lda, int rows, int cols, float by)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols)
        a[r + c * lda] *= by;
}
void host(float *a, int lda, int m, int n)
{
    scale<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, lda, m, n, 2.f);
}
''', '#pragma cf kernel grid(rows, cols) block(16, 16) inout(a[cols][rows]) pitch(a: lda)'),

    Case('histogram', '''#define BINS 256
__global__ void histogram(const unsigned char *data, unsigned *bins, long n)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&own[data[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
void count(const unsigned char *data, unsigned *bins, long n, cudaStream_t stream)
{
    histogram<<<64, BINS, 0, stream>>>(data, bins, n);
}
''', '#pragma cf kernel blocks(64) block(BINS) in(data[n]) inout(bins[BINS])'),

    Case('histogram_of_unknown_bins', '''__global__ void histogram(const int *data, unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[data[i]], 1u);
}
void count(const int *data, unsigned *bins, int n)
{
    histogram<<<(int)ceil(n / 512.0), 512>>>(data, bins, n);
}
''', '#pragma cf kernel grid(n) block(512) in(data[n]) inout(bins[/* elements? */])'),

    Case('batched', '''__global__ void normalise(const float *x, float *y, int n)
{
    const float *row = x + blockIdx.x * n;
    float *out = y + (size_t)blockIdx.x * n;
    for (int j = threadIdx.x; j < n; j += blockDim.x)
        out[j] = 2 * row[j];
}
void host(const float *x, float *y, int batch, int n)
{
    normalise<<<batch, 128>>>(x, y, n);
}
''', '#pragma cf kernel blocks(/* batch? */) block(128) in(x[/* elements? */]) inout(y[/* elements? */])',
         '#pragma cf kernel blocks(batch) block(128) in(x[batch][n]) inout(y[batch][n]) param(int batch)'),

    Case('batched_by_a_parameter', '''__global__ void sum_rows(const float *x, float *sums, int rows, int cols)
{
    __shared__ float part[128];
    float sum = 0;
    for (int j = threadIdx.x; j < cols; j += 128)
        sum += x[blockIdx.x * cols + j];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}
void host(const float *x, float *sums, int r, int c) { sum_rows<<<r, 128>>>(x, sums, r, c); }
''', '#pragma cf kernel blocks(rows) block(128) in(x[rows][cols]) inout(sums[rows])'),

    Case('struct_by_value', '''struct Grid { int nx, ny; float h; };
__global__ void fill(Grid g, float *u)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= g.nx || j >= g.ny) return;
    u[i + j * g.nx] = g.h;
}
void host(Grid grid, float *u)
{
    fill<<<dim3((grid.nx + 15) / 16, (grid.ny + 15) / 16), dim3(16, 16)>>>(grid, u);
}
''', '#pragma cf kernel grid(g.nx, g.ny) block(16, 16) inout(u[g.ny][g.nx])'),

    Case('array_of_structs', '''struct Body { float x, y, z, mass; };
__global__ void drift(Body *bodies, int n, float dt)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        bodies[i].x += dt;
}
void host(Body *bodies, int n)
{
    int blocks = std::min((n + 255) / 256, 1024);
    drift<<<blocks, 256>>>(bodies, n, 0.1f);
}
''', '#pragma cf kernel blocks(min((n + 255) / 256, 1024)) block(256) inout(bodies[n])'),

    Case('grid_stride_on_all_processors', '''__global__ void add(const int *a, const int *b, int *c, size_t n)
{
    size_t stride = gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        c[i] = a[i] + b[i];
}
void host(const int *a, const int *b, int *c, size_t n)
{
    int device, processors;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    add<<<32 * processors, 256>>>(a, b, c, n);
}
''', '#pragma cf kernel grid(n) block(256) in(a[n], b[n]) inout(c[n])',
         '#pragma cf kernel blocks(32 * processors) block(256) in(a[n], b[n]) inout(c[n]) \\\n'
         '    param(int processors)'),

    Case('host_template_with_a_constant', '''template <typename T, unsigned BLOCK, bool IS_EXACT>
__global__ void total(const T *x, T *sums, unsigned n)
{
    __shared__ T part[BLOCK];
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    part[threadIdx.x] = IS_EXACT || i < n ? x[i] : T(0);
    __syncthreads();
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}
template <typename T> void sum(const T *x, T *sums, unsigned count, int threads)
{
    switch (threads) {
    case 256:
        total<T, 256, false><<<(count + 255) / 256, 256>>>(x, sums, count);
        break;
    case 128:
        total<T, 128, false><<<(count + 127) / 128, 128>>>(x, sums, count);
        break;
    }
}
void all(const float *x, float *sums) { sum<float>(x, sums, 100, 256); }
''', '''#pragma cf kernel grid(n) block(BLOCK) in(x[n]) inout(sums[(n + BLOCK - 1) / BLOCK])
#pragma cf instances(f32_256_false: float, 256, false; f32_128_false: float, 128, false)'''),

    Case('launch_by_function', '''__global__ void square(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= x[i];
}
void host(float *d_x, int count)
{
    dim3 block(64), grid((count + block.x - 1) / block.x);
    void *args[] = {&d_x, &count};
    cudaLaunchKernel((const void *)square, grid, block, args, 0, nullptr);
}
''', '#pragma cf kernel grid(n) block(64) inout(x[n])'),

    Case('cooperative_launch', '''#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void relax(float *u, int n)
{
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        u[i] = 0.5f * u[i];
    grid.sync();
}
void host(float *u, int n)
{
    void *args[2];
    args[0] = &u;
    args[1] = &n;
    cudaLaunchCooperativeKernel(reinterpret_cast<void *>(&relax), dim3(8), dim3(128), args, 0, 0);
}
''', '#pragma cf kernel grid(n) block(128) inout(u[n]) cooperative'),

    Case('configured_launch', '''__global__ void negate(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = -x[i];
}
void host(int *x, int n, cudaStream_t s)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((n + 127) / 128);
    config.blockDim = 128;
    config.stream = s;
    cudaLaunchKernelEx(&config, negate, x, n);
}
''', '#pragma cf kernel grid(n) block(128) inout(x[n])'),

    Case('macros_of_launch', '''#define THREADS_PER_BLOCK (512)
#define GET_BLOCKS(n) (((n) + THREADS_PER_BLOCK - 1) / THREADS_PER_BLOCK)
#define KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define LAUNCH(kernel, n, ...) kernel<<<GET_BLOCKS(n), THREADS_PER_BLOCK>>>(n, __VA_ARGS__)
__global__ void swish(const int n, const float *in, float *out)
{
    KERNEL_LOOP(index, n) { out[index] = in[index] / (1.f + expf(-in[index])); }
}
void forward(int count, const float *in, float *out) { LAUNCH(swish, count, in, out); }
''', '#pragma cf kernel grid(n) block(512) in(in[n]) inout(out[n])'),

    Case('constant_size', '''const int N = 4096;
__global__ void copy(const int *a, int *b)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < N)
        b[i] = a[i];
}
int main()
{
    int *a = 0, *b = 0;
    const int threads = 256;
    copy<<<(N + threads - 1) / threads, threads>>>(a, b);
}
''', '#pragma cf kernel grid(N) block(256) in(a[N]) inout(b[N])'),

    Case('macro_below_the_kernel', '''__global__ void copy(const int *a, int *b, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        b[i] = a[i];
}
#define THREADS 192
void host(const int *a, int *b, int n) { copy<<<(n + THREADS - 1) / THREADS, THREADS>>>(a, b, n); }
''', '#pragma cf kernel grid(n) block(192) in(a[n]) inout(b[n])'),

    Case('unguarded', '''__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}
void host(const float *a, const float *b, float *c, int n) { add<<<(n + 127) / 128, 128>>>(a, b, c, n); }
''', '#pragma cf kernel grid(n) block(128) in(a[n], b[n]) inout(c[n]) check(n % 128 == 0)'),

    Case('whole_tiles', '''#define TILE 32
#define ROWS 8
__global__ void transpose(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
void host(float *out, const float *in, int w, int h)
{
    dim3 grid((w + TILE - 1) / TILE, (h + TILE - 1) / TILE), block(TILE, ROWS);
    transpose<<<grid, block>>>(out, in, w, h);
}
''', '''#pragma cf kernel blocks((width + TILE - 1) / TILE, (height + TILE - 1) / TILE) block(TILE, ROWS) \\
    in(in[height][width]) inout(out[width][height])'''),

    Case('device_functions', '''__device__ inline float at(const float *m, int row, int col, int cols)
{
    return m[row * cols + col];
}
__device__ void put(float *m, int at, float value) { m[at] = value; }
__device__ int index_of(int row, int col, int cols) { return row * cols + col; }
__global__ void flip(const float *in, float *out, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < cols && r < rows)
        put(out, index_of(r, c, cols), at(in, rows - 1 - r, c, cols));
}
void host(const float *in, float *out, int rows, int cols)
{
    dim3 block(16, 16);
    flip<<<dim3((cols + 15) / 16, (rows + 15) / 16), block>>>(in, out, rows, cols);
}
''', '#pragma cf kernel grid(cols, rows) block(16, 16) in(in[rows * cols]) inout(out[rows][cols])'),

    Case('sparse_rows', '''__global__ void spmv(int rows, const int *__restrict__ begins,
                     const int *__restrict__ column,
                     const double *__restrict__ value, const double *__restrict__ x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        double sum = 0;
        for (int j = begins[row]; j < begins[row + 1]; j++)
            sum += value[j] * x[column[j]];
        y[row] = sum;
    }
}
''', '''#pragma cf kernel grid(rows) \\
    in(begins[rows + 1], column[/* elements? */], value[/* elements? */], x[/* elements? */]) \\
    inout(y[rows])'''),

    Case('missing_helper', '''#include <helper_cuda.h>
#include <helper_math.h>
__global__ void blend(uchar4 *image, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        image[y * w + x].w = 255;
}
void draw(uchar4 *image, int width, int height)
{
    dim3 block(16, 8);
    dim3 grid(iDivUp(width, block.x), iDivUp(height, block.y));
    blend<<<grid, block>>>(image, width, height);
    getLastCudaError("blend");
}
''', '#pragma cf kernel grid(w, h) block(16, 8) inout(image[h][w])', missing=['helper_cuda.h', 'helper_math.h']),

    Case('own_header_and_flags', '''#include "sizes.h"
__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = VALUE;
}
void host(float *x, int n) { fill<<<blocks_of(n), BLOCK_SIZE>>>(x, n); }
''', '#pragma cf kernel grid(n) block(BLOCK_SIZE) inout(x[n])', flags=['-DVALUE=3', '-I', '.'],
         headers={'sizes.h': '#define BLOCK_SIZE 64\nstatic int blocks_of(int n) { return (n + BLOCK_SIZE - 1) / '
                             'BLOCK_SIZE; }\n'}),

    Case('pointers_to_pointers', '''__global__ void scale_all(float **rows, void *state, int count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.y < count && i < n)
        rows[blockIdx.y][i] *= 2;
}
void host(float **rows, void *state, int count, int n)
{
    scale_all<<<dim3((n + 255) / 256, count), 256>>>(rows, state, count, n);
}
''', '#pragma cf kernel grid(n, count) block(256) resident(rows, state)'),

    Case('no_launch', '''__global__ void colours(unsigned char *out, const float *in, int width, int height)
{
    const int col = blockDim.x * blockIdx.x + threadIdx.x;
    const int row = blockDim.y * blockIdx.y + threadIdx.y;
    if (col < width && row < height) {
        int at = row * width + col;
        for (int c = 0; c < 3; ++c)
            out[3 * at + c] = in[at];
    }
}
''', '#pragma cf kernel grid(width, height) block(16, 16) in(in[height][width]) \\\n    inout(out[height][width][3])'),

    Case('no_launch_and_no_guard', '''template <int N> __global__ void spin(float *x)
{
    extern __shared__ float own[];
    own[threadIdx.x] = x[threadIdx.x];
}
''', '''#pragma cf kernel grid(/* threads? */) shared(/* bytes? */) inout(x[/* elements? */])
#pragma cf instances(/* tag: N? */)'''),

    Case('size_at_run_time', '''__global__ void work(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}
void host(float *x, int n, int argc)
{
    int threads = 128;
    if (argc > 1)
        threads = 256;
    work<<<(n + threads - 1) / threads, threads>>>(x, n);
}
''', '#pragma cf kernel grid(n) block(/* threads? */) inout(x[n])',
         '#pragma cf kernel grid(n) block(threads) inout(x[n]) param(int threads)'),

    Case('class_and_namespace', '''namespace app {
namespace kernels {
__global__ void clear(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 0;
}
} // namespace kernels
class Field {
    float *data;
    int size;
    static constexpr int kThreads = 128;
  public:
    void clear() { kernels::clear<<<(size + 127) / 128, 128>>>(data, size); }
};
} // namespace app
''', '#pragma cf kernel grid(n) block(128) inout(x[n])'),

    Case('two_kernels_of_one_name', '''namespace a {
__global__ void set(int *x) { x[threadIdx.x] = 1; }
void host(int *x) { set<<<1, 32>>>(x); }
}
namespace b {
__global__ void set(int *x, int n) { x[threadIdx.x] = n; }
void host(int *x) { set<<<1, 64>>>(x, 2); }
}
''', '''#pragma cf kernel blocks(1) block(32) inout(x[32])
#pragma cf kernel name(set2) blocks(1) block(64) inout(x[64])'''),

    Case('kernel_in_a_variable', '''__global__ void one(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 1;
}
void host(int *x, int n)
{
    auto kernel = one;
    kernel<<<n / 64 + (n % 64 != 0), 64>>>(x, n);
}
''', '#pragma cf kernel grid(n) block(64) inout(x[n])'),

    Case('declared_before', '''__global__ void one(int *x, int n);
void host(int *x, int n) { one<<<n % 64 == 0 ? n / 64 : n / 64 + 1, 64>>>(x, n); }
__global__ void one(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 1;
}
''', '#pragma cf kernel grid(n) block(64) inout(x[n])'),

    Case('convolution_with_a_halo', '''#define RADIUS 3
__global__ void convolve(const float *in, float *out, const float *weights, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= RADIUS && i < n - RADIUS) {
        float sum = 0;
        for (int k = -RADIUS; k <= RADIUS; k++)
            sum += weights[k + RADIUS] * in[i + k];
        out[i] = sum;
    }
}
void host(const float *in, float *out, const float *weights, int n)
{
    convolve<<<(n + 255) / 256, 256>>>(in, out, weights, n);
}
''', '#pragma cf kernel grid(n) block(256) in(in[n], weights[2 * RADIUS + 1]) inout(out[n])'),

    Case('members_of_a_class_template', '''template <typename T> struct Batch {
    T *values;
    int rows, width;
};
__global__ void clear(Batch<float> batch)
{
    batch.values[blockIdx.x * batch.width + threadIdx.x] = 0;
}
void host(Batch<float> batch) { clear<<<batch.rows, batch.width>>>(batch); }
''', '#pragma cf kernel blocks(/* batch.rows? */) block(/* batch.width? */)'),

    Case('tile_with_a_halo', HALO,
         '#pragma cf kernel grid(length) block(BLOCK) in(in[length + RADIUS]) inout(out[length]) \\\n'
         '    check(length % BLOCK == 0)'),

    Case('tile_with_a_halo_by_a_shifted_name', HALO.replace('tid < RADIUS', 'at < 2 * RADIUS'),
         '#pragma cf kernel grid(length) block(BLOCK) in(in[length + RADIUS]) inout(out[length]) \\\n'
         '    check(length % BLOCK == 0)'),

    Case('tile_with_a_halo_and_a_guard', '''#define RADIUS 3
#define BLOCK 128
__global__ void average(const float *in, float *out, int length)
{
    __shared__ float tile[BLOCK + 2 * RADIUS];
    const int tid = threadIdx.x, at = tid + RADIUS;
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= length)
        return;
    tile[at] = in[i];
    if (threadIdx.x < RADIUS) {
        tile[at - RADIUS] = i < RADIUS ? 0 : in[i - RADIUS];
        tile[at + BLOCK] = in[i + BLOCK];
    }
    __syncthreads();
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += tile[at + k];
    out[i] = sum / (2 * RADIUS + 1);
}
void host(const float *in, float *out, int n)
{
    average<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, n);
}
''', '''#pragma cf kernel grid(length) block(BLOCK) in(in[/* elements? at least length */]) \\
    inout(out[length])'''),

    Case('guards_that_differ', '''__global__ void fill(float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 8) y[i] = 0;
    if (i < n) x[i] = 1;
}
__global__ void branch(float *x, float *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 1;
    else if (i < m) y[i] = 1;
}
__global__ void plane(float *x, int w, int h, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < w && row < h) x[row * w + col] = 1;
    if (col < w && row < n) x[row * w + col] += 1;
}
''', '#pragma cf kernel grid(/* threads? */) inout(x[n], y[8])\n'
         '#pragma cf kernel grid(/* threads? */) inout(x[n], y[m])\n'
         '#pragma cf kernel grid(/* threads? */) inout(x[/* elements? at least h * w */])'),

    Case('guards_that_one_covers', '''__global__ void ends(float *x, float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) z[i] = 2;
    if (i < n) x[i] = 1;
    if (i >= 4) y[0] = 0;
}
__global__ void inner(float *x, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = 1;
    if (i < m) x[i] = 2;
}
''', '#pragma cf kernel grid(n) inout(x[n], y[1], z[n - 1])\n'
         '#pragma cf kernel grid(n) inout(x[n])'),

    Case('clamped_index', '''#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
__global__ void clamp(const float *x, float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[(int)fminf(i, n - 1)] = x[SMALLER(i + 1, n - 1)];
    if (i < fminf(n, 1e6f))
        z[i] = 0;
}
void host(const float *x, float *y, float *z, int n) { clamp<<<(n + 127) / 128, 128>>>(x, y, z, n); }
''', '#pragma cf kernel grid(n) block(128) in(x[n]) inout(y[n], z[/* elements? */])'),

    Case('block_at_file_scope', '''const dim3 threads(32, 8);
static dim3 other{64};
__global__ void clear(float *x, int w, int h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < w && j < h)
        x[j * w + i] = 0;
}
__global__ void negate(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = -x[i];
}
void choose(int side) { other.x = side; }
void host(float *x, int w, int h)
{
    clear<<<dim3((w + threads.x - 1) / threads.x, (h + threads.y - 1) / threads.y), threads>>>(x, w, h);
    negate<<<w, other>>>(x, w);
}
''', '''#pragma cf kernel grid(w, h) block(32, 8) inout(x[h][w])
#pragma cf kernel blocks(n) block(/* other? */) inout(x[n])'''),

    Case('deduced_types', '''template <typename T> __global__ void scale(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}
void host(void *bytes, int n)
{
    float *reals;
    double *wide;
    unsigned int *counts;
    scale<<<(n + 127) / 128, 128>>>(reals + n, n);
    scale<<<(n + 127) / 128, 128>>>(&wide[n], n);
    scale<<<(n + 127) / 128, 128>>>(counts, n);
    scale<<<(n + 127) / 128, 128>>>((int *)bytes, n);
    scale<<<(n + 127) / 128, 128>>>(reinterpret_cast<short *>(bytes), n);
}
''', '''#pragma cf kernel grid(n) block(128) inout(x[n])
#pragma cf instances(f32: float; f64: double; u32: unsigned int; i32: int; i16: short)'''),

    Case('number_of_blocks_beside_a_guard', '''__global__ void once(float *x, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        x[i] = 1;
}
__global__ void plane(float *x, int w, int h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < w && j < h)
        x[j * w + i] = 0;
}
__global__ void count_up(float *x, int *done, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        done[0] = 1;
    for (int k = i; k < n; k++)
        x[k] = 0;
}
__global__ void shared(float *x, int n)
{
    __shared__ float first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        first = x[i] = 0;
}
__global__ void thread(float *x, int n)
{
    if (threadIdx.x < n)
        x[threadIdx.x] = 1;
}
__global__ void few(float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 8)
        y[i] = 0;
    x[i] = 1;
}
void host(float *x, int *done, int n)
{
    once<<<1, 64>>>(x, 64);
    plane<<<1, dim3(n, n)>>>(x, n, n);
    count_up<<<4, 64>>>(x, done, n);
    shared<<<1, n>>>(x, n);
    thread<<<1, 64>>>(x, n);
    few<<<1, 64>>>(x, x);
}
''', '''#pragma cf kernel grid(count) block(64) inout(x[count])
#pragma cf kernel grid(w, h) block(16, 16) inout(x[h][w])
#pragma cf kernel grid(n) block(64) inout(x[n], done[1])
#pragma cf kernel blocks(1) block(n) inout(x[n])
#pragma cf kernel blocks(1) block(64) inout(x[n]) check(n <= 64)
#pragma cf kernel blocks(1) block(64) inout(x[64], y[8])'''),

    Case('number_of_blocks_beside_a_guard_that_tells_no_count', '''#define BLOCKS 16
__global__ void flat(float *x, int width, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (j * width + i < n)
        x[j * width + i] = 0;
}
__global__ void rows(const int *count, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < *count)
        x[blockIdx.x] = 0;
}
__global__ void four(float *x, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        x[i] = 0;
}
__global__ void unequal(float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 0;
    x[i] = 1;
}
void host(float *x, int *count, int n)
{
    flat<<<dim3(4, 4), dim3(8, 8)>>>(x, 32, n);
    rows<<<BLOCKS, 32>>>(count, x);
    four<<<BLOCKS, 32>>>(x, n);
    unequal<<<1, 32>>>(x, x, n);
}
''', '''#pragma cf kernel blocks(/* blocks? */) block(8, 8) inout(x[n])
#pragma cf kernel blocks(/* blocks? */) block(32) in(count[1]) inout(x[/* elements? */])
#pragma cf kernel blocks(/* blocks? */) block(32) inout(x[n])
#pragma cf kernel blocks(/* blocks? */) block(32) inout(x[/* elements? */], y[n])'''),

    Case('guards_of_a_part', '''__global__ void beside(float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 8) y[i] = 0;
    x[i] = 1;
}
__global__ void rows(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[blockIdx.y * n + i] = 0;
}
__global__ void first(float *x, int *done, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) done[0] = 0;
    if (i < n) x[i] = 0;
}
''', '''#pragma cf kernel grid(/* threads? */) inout(x[/* elements? */], y[8])
#pragma cf kernel grid(/* threads? */) inout(x[/* elements? */])
#pragma cf kernel grid(n) inout(x[n], done[1])'''),

    Case('block_that_a_branch_chooses', '''template <int BLOCK> __global__ void tiles(float *x, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        x[i] = 0;
}
template <unsigned SIZE> __global__ void sums(const float *x, float *y, int n)
{
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (threadIdx.x == 0)
        y[blockIdx.x] = part[0];
}
void host(float *x, float *y, int n, int block_size)
{
    dim3 threads(block_size), grid((n + threads.x - 1) / threads.x);
    if (block_size == 16 && n > 0) {
        tiles<16><<<grid, threads>>>(x, n);
    } else {
        tiles<32><<<grid, threads>>>(x, n);
    }
    const int bytes = block_size * sizeof(float);
    switch (block_size) {
    case 512:
        sums<512><<<grid, threads, bytes>>>(x, y, n);
        break;
    case 256:
        sums<256><<<grid, threads, bytes>>>(x, y, n);
        break;
    }
}
''', '''#pragma cf kernel grid(n) block(BLOCK) inout(x[n])
#pragma cf instances(block16: 16; block32: 32)
#pragma cf kernel grid(n) block(SIZE) shared(SIZE * sizeof(float)) in(x[n]) \\
    inout(y[(n + SIZE - 1) / SIZE])
#pragma cf instances(size512: 512; size256: 256)''', notes=['note: tiles is launched in several ways']),

    Case('host_variable_with_the_name_of_a_parameter', '''__global__ void ones(float *x, int n)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = n;
}
void host(float *x, int n, int value) { ones<<<n, 64>>>(x, value); }
''', '#pragma cf kernel blocks(/* host_n? */) block(64) inout(x[/* elements? */])',
         '#pragma cf kernel blocks(host_n) block(64) inout(x[host_n][64]) param(int host_n)'),
]
