"""real_pieces.py - a corpus of kernel files like those that people have: host code and kernels, with their results.
test_realcode.py and fuzz_real.py combine the pieces to files."""

# Host code. `@` stands for the number of the piece. The first line may name headers, separated by blanks; it has
# `!nvcc` if nvcc cannot compile the piece, or lacks its headers in some toolkits.
HOST = r'''
<stdexcept> <string>
inline int fail@(int code)
{
    if (code)
        throw std::runtime_error("code " + std::to_string(code));
    return code;
}
----
<cuda_runtime.h>
template <typename Kernel, typename... Args> void start@(Kernel kernel, dim3 gridDim, dim3 blockDim, Args... args)
{
    kernel<<<gridDim, blockDim>>>(args...);
}
----
!nvcc <thrust/device_vector.h> <thrust/reduce.h>
using thrust::device_vector;
typedef thrust::device_vector<float> vector@;
inline int total@(device_vector<int> &values, const vector@ &other)
{
    int *first = thrust::raw_pointer_cast(values.data());
    return thrust::reduce(values.begin(), values.end()) + *first + other.size();
}
----
<map> <string>
const std::map<int, std::string> names@ = {{70, "Volta"}, {90, "Hopper"}};
std::string y@ = "y";
namespace deep@ { struct log { log(); ~log(); }; static log i_log; }
----
<vector>
static std::vector<double> table@ = {0.5, 1.5, 2.5};
inline double mean@()
{
    double sum = 0;
    for (double value : table@)
        sum += value;
    return sum / table@.size();
}
----
<iostream> <string>
class Log@
{
  public:
    virtual ~Log@() = default;
    virtual void write(const std::string &line) { std::cout << line << std::endl; }
};
class Quiet@ : public Log@
{
    void write(const std::string &) override {}
};
----
!nvcc <cuda_runtime.h>
#define RESULT@ int
#define API@(T) static T
RESULT@ next@(int a)
{
    return a + 1;
}
API@(void) drop@(float *x) { cudaFree(x); cudaNoSuchFunction(x); }
----
<cuda.h>
inline const char *name_of@(CUresult result, CUdevice device)
{
    const char *text = nullptr;
    int mode = -1;
    if (cuDeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device) || mode == CU_COMPUTEMODE_PROHIBITED)
        throw CUDA_ERROR_INVALID_VALUE;
    return cuGetErrorName(result, &text) == CUDA_SUCCESS ? text : "?";
}
----
!nvcc <curand.h> <ostream>
#define CURAND_CHECK@(call) \
    do { curandStatus_t status = call; if (status != CURAND_STATUS_SUCCESS) throw status; } while (0)
static const char *name_of_random@(curandStatus_t status)
{
    switch (status) {
    case CURAND_STATUS_SUCCESS: return "success";
    case CURAND_STATUS_TYPE_ERROR: return "type";
    default: return "?";
    }
}
inline void destroy@(curandGenerator_t generator) { CURAND_CHECK@(curandDestroyGenerator(generator)); }
struct Random@ { curandStatus_t status; libraryPropertyType property = MAJOR_VERSION; };
inline std::ostream &operator<<(std::ostream &to, const Random@ &random) { return to << (int)random.status; }
----
!nvcc <cublas_v2.h>
struct Blas@ {
    cublasHandle_t handle;
    Blas@() { cublasCreate(&handle); }
    ~Blas@() { cublasDestroy(handle); }
};
static cublasStatus_t status_of_blas@(int i) { return i ? CUBLAS_STATUS_NOT_INITIALIZED : (cublasStatus_t)i; }
----
<cusparse.h>
inline bool is_right@(cusparseStatus_t status)
{
    return status == CUSPARSE_STATUS_SUCCESS;
}
----
!nvcc <cufft.h>
inline cufftResult plan@(cufftHandle *plan, int n)
{
    return cufftPlan1d(plan, n, CUFFT_C2C, 1);
}
----
<memory> <vector> <cuda_runtime.h>
template <typename T> struct Buffer@ {
    std::unique_ptr<T[]> host;
    T *device = nullptr;
    explicit Buffer@(size_t n) : host(new T[n]) { cudaMalloc(&device, n * sizeof(T)); }
    ~Buffer@() { cudaFree(device); }
};
template <typename T> void upload@(Buffer@<T> &buffer, size_t n)
{
    cudaMemcpy(buffer.device, buffer.host.get(), n * sizeof(T), cudaMemcpyHostToDevice);
}
template void upload@<float>(Buffer@<float> &, size_t);
template <typename T, template <typename> class A> struct holder@ { A<T> *a; };
template <typename T> struct plain@ { T t; };
template <typename T, template <typename> class A> void fill@(holder@<T, A> &h, T t) { throw t; }
template void fill@<float, plain@>(holder@<float, plain@> &h, float t);
template class std::vector<plain@<float>>;
----

inline int shape@()
{
    int gridDim = 4, blockDim = 2;
    return gridDim * blockDim;
}
----
<iostream>
enum class Mode@ { FAST, EXACT };
inline std::ostream &operator<<(std::ostream &out, Mode@ mode)
{
    return out << static_cast<int>(mode);
}
----
<cmath> <algorithm> <vector>
static const auto square@ = [](double x) { return x * x; };
inline double longest@(const std::vector<double> &sides)
{
    return std::sqrt(square@(*std::max_element(sides.begin(), sides.end())));
}
----
<functional>
namespace tools@
{
using Step = std::function<int(int)>;
inline int apply(const Step &step, int value)
{
    return step ? step(value) : value;
}
} // namespace tools@
using tools@::apply;
----
<cstdio> <cuda_runtime.h>
#define CHECK@(call)                                                              \
    do {                                                                          \
        cudaError_t error = (call);                                               \
        if (error != cudaSuccess) {                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            throw error;                                                          \
        }                                                                         \
    } while (0)
inline void synchronize@()
{
    CHECK@(cudaDeviceSynchronize());
}
----

#if defined(_WIN32)
#include <windows.h>
inline long long ticks@() { LARGE_INTEGER t; QueryPerformanceCounter(&t); return t.QuadPart; }
#else
#include <sys/time.h>
inline long long ticks@()
{
    struct timeval now;
    gettimeofday(&now, nullptr);
    return now.tv_sec * 1000000LL + now.tv_usec;
}
#endif
----

extern "C" {
int outside@(const char *name, int);
static int inside@(int a) { return a ? outside@("a", a) : 0; }
}
----
<thread> <mutex> <vector>
static std::mutex lock@;
inline void in_threads@(int count)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back([] { std::lock_guard<std::mutex> hold(lock@); });
    for (auto &thread : threads)
        thread.join();
}
----
<random>
inline int draw@(unsigned seed)
{
    static std::mt19937 engine(seed);
    std::uniform_int_distribution<int> range(0, 9);
    return range(engine);
}
----
!nvcc <cub/cub.cuh> <cuda_runtime.h>
inline cudaError_t sum_all@(const int *in, int *out, int n)
{
    void *work = nullptr;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(work, bytes, in, out, n);
    cudaMalloc(&work, bytes);
    return cub::DeviceReduce::Sum(work, bytes, in, out, n);
}
----

struct Options@ {
    int width = 3, height = 4;
    const char *name = "none";
    Options@() = default;
    Options@(int argc, char **argv) { width = argc; name = argv[0]; }
};
static Options@ options@;
----
!nvcc <GL/gl.h> <EGL/egl.h> <cuda_gl_interop.h> <cuda_egl_interop.h>
static GLuint buffer@;
static cudaGraphicsResource *resource@;
static EGLDisplay display@;
void draw@() { cudaGraphicsGLRegisterBuffer(&resource@, buffer@, cudaGraphicsRegisterFlagsNone); }
void show@(cudaEglFrame frame) { eglSwapBuffers(display@, (EGLSurface)frame.frame.pPitch[0].ptr); }
----
!nvcc <mpi.h> <deep/er/nowhere.hpp>
int begin@(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    nowhere::start<float>(&argc, comm);
    return MPI_Init(&argc, &argv);
}
----
<cuda_runtime.h>
__global__ void clear@(float *x, int n);
inline void run_clear@(float *x, int n) { clear@<<<(n + 255) / 256, 256>>>(x, n); }
inline int threads@(dim3 gridDim, dim3 blockDim) { return gridDim.x * blockDim.x; }
int blockIdx_of@(int threadIdx) { int gridDim = threadIdx; return gridDim; }
__global__ void clear@(float *x, int n)
{
    x[threadIdx.x] = n;
}
'''

# Lines for the file scope of a kernel file.
FILE_SCOPE = ('using namespace std;', '#include <cub/cub.cuh>\nusing namespace cub;', 'typedef unsigned int uint;',
              '#define BLOCKS 8\n#define THREADS (BLOCKS * 32)', 'static int calls = 0;', '#pragma GCC diagnostic push',
              'namespace cg = cooperative_groups;')

# Kernels, in three parts: device code that may be moved to a header, with its headers in the first line; the kernel
# with its annotation; and the C test. The test has x with N random integers from 0 to 999, y with room for N, and FAIL,
# which ends it.
KERNELS = r'''
struct Step@ {
    int by;
    __host__ __device__ explicit Step@(int by_) : by(by_) {}
    __host__ __device__ int apply(int value) const { return value + by; }
};
====
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void add@(const int *x, int *y, int by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = Step@(by).apply(x[i]);
}
====
if (real_add@(x, y, 5, N) != CF_OK) FAIL;
for (int i = 0; i < N; i++) if (y[i] != x[i] + 5) FAIL;
----
template <typename T> __device__ T sum_of_block@(T value)
{
    __shared__ T part[64];
    part[threadIdx.x] = value;
    __syncthreads();
    for (int half = 32; half; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    return part[0];
}
====
#pragma cf kernel blocks(n / 64) block(64) in(x[n]) out(y[n / 64]) check(n % 64 == 0)
__global__ void sums@(const int *__restrict__ x, int *__restrict__ y, int n)
{
    int sum = sum_of_block@(x[blockIdx.x * 64 + threadIdx.x]);
    if (threadIdx.x == 0)
        y[blockIdx.x] = sum;
}
====
if (real_sums@(x, y, N) != CF_OK) FAIL;
for (int b = 0; b < N / 64; b++) { int sum = 0; for (int i = 0; i < 64; i++) sum += x[64 * b + i]; if (y[b] != sum) FAIL; }
----
constexpr int RADIUS@ = 2;
inline int halo@()
{
    int cells[2 * RADIUS@ + 1];
    return sizeof cells;
}
====
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void near@(const int *x, int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int most = x[i];
#pragma unroll
    for (int k = -RADIUS@; k <= RADIUS@; k++)
        if (i + k >= 0 && i + k < n)
            most = max(most, x[i + k]);
    y[i] = most;
}
====
if (real_near@(x, y, N) != CF_OK) FAIL;
for (int i = 0; i < N; i++) { int most = x[i]; for (int k = -2; k <= 2; k++) if (i + k >= 0 && i + k < N && x[i + k] > most) most = x[i + k]; if (y[i] != most) FAIL; }
----
enum Kind@ { ODD@, EVEN@ };
__host__ __device__ inline Kind@ kind@(int value)
{
    return value % 2 ? ODD@ : EVEN@;
}
====
#pragma cf kernel grid(n) in(x[n]) inout(y[2])
__global__ void count@(const int *x, int *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&y[kind@(x[i])], 1);
}
====
y[0] = y[1] = 0;
if (real_count@(x, y, N) != CF_OK) FAIL;
{ int odd = 0; for (int i = 0; i < N; i++) odd += x[i] % 2; if (y[0] != odd || y[1] != N - odd) FAIL; }
----
template <int WIDTH> struct Lanes@ {
    static __device__ int sum(int value)
    {
        for (int offset = WIDTH / 2; offset; offset /= 2)
            value += __shfl_down_sync(0xffffffffu, value, offset, WIDTH);
        return value;
    }
    static void show() { std::printf("%d lanes\n", WIDTH); }
};
====
#pragma cf kernel blocks(n / 32) block(32) in(x[n]) out(y[n / 32]) check(n % 32 == 0)
#pragma cf instances(t16: 16; t32: 32)
template <int WIDTH> __global__ void lanes@(const int *x, int *y, int n)
{
    int sum = Lanes@<WIDTH>::sum(x[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0)
        y[blockIdx.x] = sum;
}
====
if (real_lanes@_t16(x, y, N) != CF_OK) FAIL;
for (int b = 0; b < N / 32; b++) { int sum = 0; for (int i = 0; i < 16; i++) sum += x[32 * b + i]; if (y[b] != sum) FAIL; }
if (real_lanes@_t32(x, y, N) != CF_OK) FAIL;
for (int b = 0; b < N / 32; b++) { int sum = 0; for (int i = 0; i < 32; i++) sum += x[32 * b + i]; if (y[b] != sum) FAIL; }
----
__constant__ int shift@[4];
static cudaError_t set_shift_of@(const int *host)
{
    return cudaMemcpyToSymbol(shift@, host, sizeof shift@);
}
====
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void shifted@(const int *x, int *y, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] << shift@[i % 4];
}
====
{ int by[4] = {3, 0, 2, 1}; if (real_set_shift@(by) != CF_OK || real_shifted@(x, y, N) != CF_OK) FAIL;
for (int i = 0; i < N; i++) if (y[i] != x[i] << by[i % 4]) FAIL; }
----
#define TILE@ 16
namespace tiles@
{
template <typename T, int ROWS> __device__ __forceinline__ void turn(const T (&tile)[ROWS][TILE@ + 1], T &out)
{
    out = tile[threadIdx.x][threadIdx.y];
}
} // namespace tiles@
====
#pragma cf kernel blocks(w / TILE@, h / TILE@) block(TILE@, TILE@) in(x[h][w]) out(y[w][h]) \
    check(w % TILE@ == 0, h % TILE@ == 0)
__global__ void turn@(const int *x, int *y, int w, int h)
{
    __shared__ int tile[TILE@][TILE@ + 1];
    int column = blockIdx.x * TILE@ + threadIdx.x, row = blockIdx.y * TILE@ + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x[row * w + column];
    __syncthreads();
    column = blockIdx.y * TILE@ + threadIdx.x;
    row = blockIdx.x * TILE@ + threadIdx.y;
    tiles@::turn(tile, y[row * h + column]);
}
====
if (real_turn@(x, y, 32, 16) != CF_OK) FAIL;
for (int i = 0; i < 16; i++) for (int j = 0; j < 32; j++) if (y[j * 16 + i] != x[i * 32 + j]) FAIL;
----
using word@ = unsigned int;
typedef struct {
    word@ low, high;
} pair@;
static __device__ pair@ split@(word@ value)
{
    pair@ p = {value & 15, value >> 4};
    return p;
}
====
#pragma cf kernel grid(n) in(x[n]) out(y[n])
extern "C" __global__ void __launch_bounds__(256) join@(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    pair@ p = split@((word@)x[i]);
    y[i] = (int)(p.low * 100 + p.high);
}
====
if (real_join@(x, y, N) != CF_OK) FAIL;
for (int i = 0; i < N; i++) if (y[i] != (x[i] & 15) * 100 + (x[i] >> 4)) FAIL;
----
!nvcc <ostream> <string> <vector> <nowhere_too.h>
class vec@ {
    int v;
public:
    __host__ __device__ vec@(int v) : v{v} {}
    explicit vec@(const std::vector<int> &from) : v(from.at(0)) { if (from.empty()) throw std::string("none"); }
    vec@(const nowhere::array &from);
    __host__ __device__ int get() const { return v; }
    std::string text() const { return nowhere::format(v); }
    void save(FILE *file) const { fwrite(this, sizeof *this, 1, file); }
    __host__ __device__ vec@ operator+(const vec@ &other) const { return vec@(v + other.v); }
    friend std::ostream &operator<<(std::ostream &to, const vec@ &v) { return to << v.v; }
    struct part { int x; __device__ int get() { return x; } void load(nowhere::array &a) { x = a[0]; } };
};
vec@::vec@(const nowhere::array &from) : v(from[0]) {}
std::ostream &operator>>(std::ostream &to, const vec@ &v) { return to << v.text(); }
====
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void members@(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (vec@(x[i]) + vec@(vec@::part{x[i]}.get())).get();
}
====
EXPECT_TWICE(members@)
----
static int on_cpu@(int x) { return 2 * x; }
__host__ __device__ int either@(int x)
{
#ifdef __CUDA_ARCH__
    return x + x;
#else
    return on_cpu@(x);
#endif
}
====
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void skipped@(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = either@(x[i]);
}
====
EXPECT_TWICE(skipped@)
----
struct scale@ { int by; __host__ __device__ int apply(int x) const; int host(int); };
__device__ int doubled@(int x);
int doubled@(const double &x, int y) { throw x; }
int scale@::apply(int x) const { return by * x; }
int scale@::host(int x) { throw x; }
int doubled@(int x) { return scale@{2}.apply(x); }
====
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void worded@(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = doubled@(x[i]);
}
====
EXPECT_TWICE(worded@)
----
#pragma pack(push, 1)
struct packed@ { char c; float f; };
static int host_only@(packed@ p) { return p.c; }
#pragma pack(pop)
struct natural@ { char c; float f; };
static_assert(sizeof(packed@) == 5 && sizeof(natural@) == 8, "layout");
static_assert(sizeof(long) > 1 || host_only@, "host");
static const int PARTS@ = 4, ALL@ = PARTS@;
====
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void laid@(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int sum = 0;
        #pragma unroll ALL@
        for (int part = 0; part < 2; ++part) sum -=-x[i] * (sizeof(packed@) == 5 ? 1 : 0) *(sizeof(natural@) >>3);
        y[i] = sum;
    }
}
====
EXPECT_TWICE(laid@)
----
<functional> <stdexcept> <vector>
namespace base@ {
enum class kind : char { whole, real };
template <typename T> struct view { const T *first; view(const std::vector<T> &all) : first(all.data()) {} };
using lengths = view<long>;
}
namespace array@ {
using base@::kind;
using base@::lengths;
template <typename T> struct plain { typedef T *pointer; };
template <typename T, int N, template <typename> class P = plain, typename I = long> class rows_base {
public:
    typedef typename P<T>::pointer pointer;
    __host__ __device__ rows_base(pointer data, const I *sizes) : data(data), sizes(sizes) {}
    kind what() const { return kind::real; }
    lengths shape() const { throw std::logic_error("none"); }
protected:
    pointer data;
    const I *sizes;
};
template <typename T, int N, template <typename> class P = plain, typename I = long>
class rows : public rows_base<T, N, P, I> {
public:
    typedef typename P<T>::pointer pointer;
    __host__ __device__ rows(pointer data, const I *sizes) : rows_base<T, N, P, I>(data, sizes) {}
    __host__ __device__ T &operator[](I i) { return this->data[i]; }
};
template <typename T, int N = 1> using packed = rows<T, N, plain, int>;
class clock { public: virtual void start() = 0; };
class silent : public clock { public: inline void start(); };
inline void silent::start() { throw 1; }
}
====
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void spaced@(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        array@::packed<int>(y, &n)[i] = 2 * x[i];
}
====
EXPECT_TWICE(spaced@)
----
namespace sizes@ { enum { WIDE = 2 }; struct add { template <typename T> static __device__ T apply(T x) { return x + x; } }; }
int WIDE(int x, sizes@::add) { throw x; }
constexpr int factor@() { return 2; }
static const int TWO@ = factor@();
====
#pragma cf kernel grid(n) in(x[n]) out(y[n]) name(of@)
#pragma cf instances(i32: int, sizes@::WIDE)
template <typename T, int N> __global__ void sized@(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = sizes@::add::apply(x[i]) * N / TWO@;
}
====
EXPECT_TWICE(of@_i32)
'''  # noqa: E501

TEST = r'''#include <cuferry.h>
#include <stdint.h>
#include <stdio.h>
#include "real.h"
enum { N = 1024 };
#define FAIL return printf("line %d: %s\n", __LINE__, cf_last_error()), 1
#define EXPECT_TWICE(name) \
    if (real_##name(x, y, N) != CF_OK) FAIL; \
    for (int i = 0; i < N; i++) if (y[i] != 2 * x[i]) FAIL;
static int x[N], y[N];
int main(void)
{
    unsigned state = 12345;
    for (int i = 0; i < N; i++)
        x[i] = (int)((state = state * 1664525 + 1013904223) >> 16) % 1000;
'''
