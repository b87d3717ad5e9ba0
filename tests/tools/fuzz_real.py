"""fuzz_real.py - kernel files of real shape, put together at random: host code, headers and kernels in one file. cfcc
builds each file as it is, and its kernels give the results of plain loops on the CPU.

usage: fuzz_real.py BUILDDIR [--files N] [--seconds N] [--seed S] [--keep DIR]

A file that fails is reduced: pieces are removed as long as it still fails. --keep takes a folder for reduced files.
"""

import argparse
import os
import random
import shlex
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import List

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import Tap, read, run

# Host code. `@` is a number of the piece's own. The first line may name headers, with blanks between them.
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
<thrust/device_vector.h> <thrust/reduce.h>
inline int total@(thrust::device_vector<int> &values)
{
    return thrust::reduce(values.begin(), values.end());
}
----
<map> <string>
const std::map<int, std::string> names@ = {{70, "Volta"}, {90, "Hopper"}};
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

#define RESULT@ int
RESULT@ next@(int a)
{
    return a + 1;
}
----
<cuda_runtime.h>
inline int processors@(int device)
{
    int value = 0;
    return cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device) == cudaSuccess ? value : -1;
}
----
<cuda.h>
inline const char *name_of@(CUresult result, CUdevice_attribute)
{
    const char *text = nullptr;
    return cuGetErrorName(result, &text) == CUDA_SUCCESS ? text : "?";
}
----
<curand.h>
static const char *name_of_random@(curandStatus_t status)
{
    switch (status) {
    case CURAND_STATUS_SUCCESS: return "success";
    default: return "?";
    }
}
----
<cublas_v2.h>
struct Blas@ {
    cublasHandle_t handle;
    Blas@() { cublasCreate(&handle); }
    ~Blas@() { cublasDestroy(handle); }
};
----
<cusparse.h>
inline bool is_right@(cusparseStatus_t status)
{
    return status == CUSPARSE_STATUS_SUCCESS;
}
----
<cufft.h>
inline cufftResult plan@(cufftHandle *plan, int n)
{
    return cufftPlan1d(plan, n, CUFFT_C2C, 1);
}
----
<memory> <cuda_runtime.h>
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
<cub/cub.cuh> <cuda_runtime.h>
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
'''

# Lines that stand at file scope of a kernel file.
FILE_SCOPE = ('using namespace std;', '#include <cub/cub.cuh>\nusing namespace cub;', 'typedef unsigned int uint;',
              '#define BLOCKS 8\n#define THREADS (BLOCKS * 32)', 'static int calls = 0;', '#pragma GCC diagnostic push',
              'namespace cg = cooperative_groups;')

# Kernels: device code that may stand in a header, the kernel with its annotation, and the C test. In the test, x has
# N random integers from 0 to 999, y has room for N, and FAIL ends the test.
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
'''  # noqa: E501

TEST = r'''#include <cuferry.h>
#include <stdint.h>
#include <stdio.h>
#include "real.h"
enum { N = 1024 };
#define FAIL return printf("line %d: %s\n", __LINE__, cf_last_error()), 1
static int x[N], y[N];
int main(void)
{
    unsigned state = 12345;
    for (int i = 0; i < N; i++)
        x[i] = (int)((state = state * 1664525 + 1013904223) >> 16) % 1000;
'''


@dataclass
class Piece:
    """Host code, or a kernel: `text` may stand in a header."""
    headers: List[str]
    text: str
    kernel: str = ''
    test: str = ''

    def numbered(self, number):
        return Piece(self.headers, *(t.replace('@', str(number)) for t in (self.text, self.kernel, self.test)))


@dataclass
class File:
    """A file of a case: pieces in order. `folder` is where a header stands, and how it is included."""
    name: str
    guard: str = ''
    pieces: List[Piece] = field(default_factory=list)


def host_pieces():
    for text in HOST.strip('\n').split('\n----\n'):
        first, rest = text.split('\n', 1) if text.startswith(('<', '\n')) else ('', text)
        yield Piece(first.split(), rest)


def kernel_pieces():
    for text in KERNELS.strip('\n').split('\n----\n'):
        device, kernel, test = text.split('\n====\n')
        yield Piece(['<cstdio>', '<cuda_runtime.h>'], device, kernel, test)


def make_case(rng):
    """Returns the files of a case: headers, then the kernel file."""
    hosts, kernels = list(host_pieces()), list(kernel_pieces())
    count = rng.randint(0, 3)
    headers = [File(f'{rng.choice(("", "common/", "inc/"))}part{i}.{rng.choice(("h", "hpp", "cuh"))}',
                    rng.choice(('once', 'ifndef'))) for i in range(count)]
    main = File('real.cu')
    files = headers + [main]
    numbered = [piece.numbered(number) for number, piece in enumerate(
        rng.sample(hosts, rng.randint(2, 9)) + rng.sample(kernels, rng.randint(1, 4)))]
    rng.shuffle(numbered)
    for piece in numbered:
        place = rng.choice(files)
        if piece.kernel and place is not main and rng.random() < 0.8:
            place.pieces.append(Piece(piece.headers, piece.text))
            piece = Piece(piece.headers, '', piece.kernel, piece.test)
            place = main
        elif piece.kernel:
            place = main
        place.pieces.append(piece)
    for line in rng.sample(FILE_SCOPE, rng.randint(0, 2)):
        needed = ['<cooperative_groups.h>'] if 'cooperative' in line else []
        main.pieces.insert(rng.randint(0, len(main.pieces)), Piece(needed, line))
    return files


def text_of(files, index):
    """Returns the text of a file, which includes the headers before it."""
    file = files[index]
    needed = list(dict.fromkeys(header for piece in file.pieces for header in piece.headers))
    lines = [f'#include {header}' for header in needed]
    up = '../' if '/' in file.name else ''
    others = range(index) if file.guard == '' else range(max(0, index - 1), index)
    lines += [f'#include "{up}{files[other].name}"' for other in others]
    body = '\n\n'.join(part for piece in file.pieces for part in (piece.text, piece.kernel) if part)
    text = '\n'.join(lines) + '\n\n' + body + '\n'
    if file.guard == 'once':
        return f'#pragma once\n{text}'
    return f'#ifndef PART_{index}\n#define PART_{index}\n{text}#endif\n' if file.guard else text


class Runner:
    """Builds and runs cases in a folder."""

    def __init__(self, builddir, folder):
        self._cfcc, self._folder = os.path.abspath(os.path.join(builddir, 'cfcc')), folder
        settings = read(os.path.join(builddir, 'build.ninja'))
        self._cc = shlex.split(next(line[5:] for line in settings.splitlines() if line.startswith('cc = ')))
        self._build, self._include = os.path.abspath(builddir), os.path.join(os.path.dirname(__file__), '../../include')

    def write(self, files):
        shutil.rmtree(self._folder, ignore_errors=True)
        for index, file in enumerate(files):
            path = os.path.join(self._folder, file.name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as out:
                out.write(text_of(files, index))
        with open(os.path.join(self._folder, 'test.c'), 'w', encoding='utf-8') as out:
            out.write(TEST + ''.join(piece.test + '\n' for file in files for piece in file.pieces if piece.test) +
                      '    return 0;\n}\n')

    def problem(self, files):
        """Builds and runs a case; returns the text of its failure, or ''."""
        self.write(files)
        commands = (
            [self._cfcc, 'real.cu'],
            [*self._cc, '-I', os.path.abspath(self._include), '-I', self._build + '/gen', 'test.c', 'real.o',
             self._build + '/libcuferry.a', '-lpthread', '-ldl', '-lm', '-o', 'test'],
            ['./test'])
        for command in commands:
            env = dict(os.environ, CF_DRIVER='host')
            code, out, err = run(command, cwd=self._folder, env=env)
            if code:
                return f'{os.path.basename(command[0])}: exit {code}\n{out[-1000:]}{err[:3000]}'
        return ''

    def reduced(self, files, problem):
        """Removes pieces as long as the case fails with the same program and another problem's first words."""
        start = problem.split('\n', 1)[0]
        for file in files:
            for piece in list(file.pieces):
                at = file.pieces.index(piece)
                del file.pieces[at]
                has_kernel = any(p.kernel for p in files[-1].pieces)
                now = self.problem(files) if has_kernel else ''
                if now.split('\n', 1)[0] == start:
                    problem = now
                else:
                    file.pieces.insert(at, piece)
        self.problem(files)
        return problem


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('usage: ')[1].split('\n\n')[0])
    parser.add_argument('builddir')
    parser.add_argument('--files', type=int, default=10)
    parser.add_argument('--seconds', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--keep')
    options = parser.parse_args()
    tap, end = Tap(), time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options.builddir, os.path.join(folder, 'case'))
        number = 0
        while number < options.files or time.monotonic() < end:
            seed = options.seed + number
            number += 1
            files = make_case(random.Random(seed))
            problem = runner.problem(files)
            if problem:
                problem = runner.reduced(files, problem)
                if options.keep:
                    runner.write(files)
                    shutil.copytree(os.path.join(folder, 'case'), os.path.join(options.keep, str(seed)),
                                    dirs_exist_ok=True)
                problem += '\n' + '\n'.join(f'---- {file.name}\n{text_of(files, index)}'
                                            for index, file in enumerate(files))
            tap.check(f'file {seed} builds and runs', problem)
    return tap.close()


sys.exit(main())
