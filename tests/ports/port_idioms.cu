/* port_idioms.cu - idioms of CUDA code other than loops: classes, functors, unions, recursion, state. */
#include <cstdio>
#include <cstdint>
#include <limits>
#include <type_traits>

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

/* ---- A class that uses its caller's shared memory, and an operation as a type ---- */

namespace blocks
{
template <typename T, int THREADS> class Reduce
{
    static_assert(THREADS % 32 == 0, "whole warps");

  public:
    struct TempStorage {
        T warps[THREADS / 32];
        T total;
    };

    __device__ explicit Reduce(TempStorage &storage)
        : storage_(storage), lane_(threadIdx.x % 32), warp_(threadIdx.x / 32)
    {
    }

    template <typename Op> __device__ T all(T value, Op op)
    {
        for (int offset = 1; offset < 32; offset *= 2)
            value = op(value, __shfl_xor_sync(0xffffffffu, value, offset));
        if (lane_ == 0)
            storage_.warps[warp_] = value;
        __syncthreads();
        if (threadIdx.x == 0) {
            T total = storage_.warps[0];
#pragma unroll
            for (int w = 1; w < THREADS / 32; ++w)
                total = op(total, storage_.warps[w]);
            storage_.total = total;
        }
        __syncthreads();
        T result = storage_.total;
        __syncthreads();
        return result;
    }

  private:
    TempStorage &storage_;
    int lane_, warp_;
};
} // namespace blocks

template <typename T> struct Sum {
    static constexpr T start = T(0);
    __device__ __forceinline__ T operator()(const T &a, const T &b) const
    {
        return a + b;
    }
};

template <typename T> struct Greatest {
    static constexpr T start = std::numeric_limits<T>::lowest();
    __device__ __forceinline__ T operator()(const T &a, const T &b) const
    {
        return b > a ? b : a;
    }
};

enum class which { SUM, GREATEST };

/* The sum or the maximum of each row. */
#pragma cf kernel name(row_reduce) blocks(rows) block(64) in(x[rows][cols]) out(y[rows])
#pragma cf instances(sum_i32: int, 0; max_i32: int, 1; max_u8: uint8_t, 1)
template <typename T, int WHICH> __global__ void row_reduce_kernel(const T *x, T *y, int rows, int cols)
{
    using Op = typename std::conditional<WHICH == (int)which::SUM, Sum<T>, Greatest<T>>::type;
    using Block = blocks::Reduce<T, 64>;
    __shared__ typename Block::TempStorage storage;
    T mine = Op::start;
    for (int i = threadIdx.x; i < cols; i += 64)
        mine = Op()(mine, x[(size_t)blockIdx.x * cols + i]);
    if constexpr (WHICH == (int)which::SUM)
        mine = Block(storage).all(mine, [](T a, T b) { return a + b; });
    else
        mine = Block(storage).all(mine, Op());
    if (threadIdx.x == 0)
        y[blockIdx.x] = mine;
}

/* ---- A union for the memory of two phases ---- */

/* Reverses each section of 128 elements, then sums pairs; both phases use the same memory. */
#pragma cf kernel blocks(CEIL_DIV(n, 128)) block(128) in(x[n]) out(y[n])
__global__ void two_phases(const int *x, long long *y, int n)
{
    __shared__ union Memory {
        int narrow[128];
        long long wide[130];
    } memory;
    const int t = threadIdx.x, i = blockIdx.x * 128 + t, last = min(n - (int)blockIdx.x * 128, 128) - 1;
    if (i < n)
        memory.narrow[last - t] = x[i];
    __syncthreads();
    const int turned = i < n ? memory.narrow[t] : 0;
    __syncthreads();
    memory.wide[t] = turned;
    if (t < 2)
        memory.wide[128 + t] = 0;
    __syncthreads();
    if (i < n)
        y[i] = memory.wide[t] + memory.wide[t + 1];
}

/* ---- Loops that all threads leave together ---- */

/* Sorts each section of 64 elements by odd-even transposition, until no element moves. */
#pragma cf kernel blocks(CEIL_DIV(n, 64)) block(64) inout(x[n]) out(rounds[CEIL_DIV(n, 64)])
__global__ void odd_even_sort(short *x, int *rounds, int n)
{
    __shared__ short tile[64];
    const int t = threadIdx.x, i = blockIdx.x * 64 + t, count = min(64, n - (int)blockIdx.x * 64);
    int passes = 0, has_moved;
    if (i < n)
        tile[t] = x[i];
    __syncthreads();
    do {
        has_moved = 0;
        for (int parity = 0; parity < 2; parity++) {
            if (t % 2 == parity && t + 1 < count && tile[t] > tile[t + 1]) {
                short kept = tile[t];
                tile[t] = tile[t + 1];
                tile[t + 1] = kept;
                has_moved = 1;
            }
            __syncthreads();
        }
        passes++;
    } while (__syncthreads_or(has_moved));
    if (i < n)
        x[i] = tile[t];
    if (t == 0)
        rounds[blockIdx.x] = passes;
}

/* Parallel cyclic reduction of tridiagonal systems, one per block. */
#pragma cf kernel blocks(systems) block(n) shared(8 * n * sizeof(double)) \
    in(a[systems][n], b[systems][n], c[systems][n], d[systems][n]) out(x[systems][n]) check(0 < n <= 512) \
    tolerance(1e-3)
__global__ void tridiagonal(const double *a, const double *b, const double *c, const double *d, double *x, int systems,
                            int n)
{
    extern __shared__ double lines[];
    struct Line {
        double *a, *b, *c, *d;
    };
    Line now = {lines, lines + n, lines + 2 * n, lines + 3 * n};
    Line next = {lines + 4 * n, lines + 5 * n, lines + 6 * n, lines + 7 * n};
    const int t = threadIdx.x;
    const size_t at = (size_t)blockIdx.x * n + t;
    now.a[t] = t > 0 ? a[at] : 0;
    now.b[t] = b[at] + 4;
    now.c[t] = t < n - 1 ? c[at] : 0;
    now.d[t] = d[at];
    __syncthreads();
    for (int distance = 1; distance < n; distance *= 2) {
        const bool has_left = t - distance >= 0, has_right = t + distance < n;
        const double alpha = has_left ? -now.a[t] / now.b[t - distance] : 0;
        const double gamma = has_right ? -now.c[t] / now.b[t + distance] : 0;
        next.a[t] = has_left ? alpha * now.a[t - distance] : 0;
        next.c[t] = has_right ? gamma * now.c[t + distance] : 0;
        next.b[t] = now.b[t] + (has_left ? alpha * now.c[t - distance] : 0);
        next.b[t] += has_right ? gamma * now.a[t + distance] : 0;
        next.d[t] = now.d[t] + (has_left ? alpha * now.d[t - distance] : 0);
        next.d[t] += has_right ? gamma * now.d[t + distance] : 0;
        const Line kept = now;
        now = next;
        next = kept;
        __syncthreads();
    }
    x[at] = now.d[t] / now.b[t];
}

/* ---- Wavefronts: the Smith-Waterman score of two texts, one block per pair ---- */

constexpr int MATCH = 3, MISMATCH = -2, GAP = -2;

/* The score of the best local alignment of two texts of M characters. */
#pragma cf kernel blocks(pairs) block(M) in(a[pairs][M], b[pairs][M]) out(score[pairs])
#pragma cf instances(m32: 32; m100: 100)
template <int M> __global__ void align(const char *a, const char *b, int *score, int pairs)
{
    __shared__ int diagonal[3][M + 1];
    __shared__ int best;
    const char *text = a + (size_t)blockIdx.x * M, *other = b + (size_t)blockIdx.x * M;
    const int row = threadIdx.x;
    for (int d = 0; d < 3; d++) {
        diagonal[d][row + 1] = 0;
        if (row == 0)
            diagonal[d][0] = 0;
    }
    if (row == 0)
        best = 0;
    __syncthreads();
    for (int step = 0; step < 2 * M - 1; step++) {
        int *here = diagonal[step % 3], *left = diagonal[(step + 2) % 3], *corner = diagonal[(step + 1) % 3];
        const int col = step - row;
        int value = 0;
        if (col >= 0 && col < M) {
            value = corner[row] + (text[row] == other[col] ? MATCH : MISMATCH);
            value = max(value, max(left[row], left[row + 1]) + GAP);
            value = value > 0 ? value : 0;
            atomicMax(&best, value);
        }
        here[row + 1] = value;
        __syncthreads();
    }
    if (row == 0)
        score[blockIdx.x] = best;
}

/* ---- Recursion and pointers to functions ---- */

__device__ __noinline__ long long ackermann_like(int m, long long n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann_like(m - 1, 1);
    return ackermann_like(m - 1, ackermann_like(m, n - 1));
}

typedef int (*unary)(int);

__device__ int twice(int x) { return 2 * x; }
__device__ int negate(int x) { return -x; }
__device__ int collatz(int x)
{
    int steps = 0;
    while (x > 1) {
        x = x & 1 ? 3 * x + 1 : x >> 1;
        steps++;
    }
    return steps;
}

/* Calls the function whose number the element has. */
#pragma cf kernel grid(n) in(what[n]) inout(x[n]) check(0 <= what[:] < 4)
__global__ void dispatch(const unsigned char *what, int *x, int n)
{
    const unary table[3] = {twice, negate, collatz};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        switch (what[i]) {
        case 3:
            x[i] = (int)ackermann_like(2, x[i] & 3);
            break;
        default:
            x[i] = table[what[i]](x[i] & 0xffff);
        }
    }
}

/* ---- A hash table ---- */

static const unsigned long long EMPTY = ~0ull;

__host__ __device__ inline uint32_t mix(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
    return (uint32_t)key;
}

/* Counts keys in an open-addressing table of 2^bits slots, whose keys begin as EMPTY and whose counts as 0. `slot` is
 * -1 for a key that finds no slot. */
#pragma cf kernel grid(n) in(key[n]) inout(keys[1 << bits], counts[1 << bits]) out(slot[n]) check(0 <= bits <= 20)
__global__ void hash_count(const unsigned long long *key, unsigned long long *keys, unsigned int *counts, int *slot,
                           int bits, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint32_t mask = (1u << bits) - 1;
    uint32_t at = mix(key[i]) & mask;
    for (uint32_t probe = 0; probe <= mask; probe++, at = (at + 1) & mask) {
        const unsigned long long found = atomicCAS(&keys[at], EMPTY, key[i]);
        if (found != EMPTY && found != key[i])
            continue;
        atomicAdd(&counts[at], 1u);
        slot[i] = (int)at;
        return;
    }
    slot[i] = -1;
}

/* ---- A checksum with a table in constant memory, eight lanes per message ---- */

__constant__ unsigned int crc_table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                           0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                           0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

/* The CRC-32 of each message of `length` bytes, as in zlib. */
#pragma cf kernel grid(n) block(96) in(message[n][length]) out(crc[n])
extern "C" __global__ __launch_bounds__(96) void checksums(const uint8_t *__restrict__ message,
                                                           uint32_t *__restrict__ crc, int n, int length)
{
    auto step = [](uint32_t c, uint32_t nibble) { return c >> 4 ^ crc_table[(c ^ nibble) & 15]; };
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t c = ~0u;
    const uint8_t *at = message + (size_t)i * length;
#pragma unroll 1
    for (const uint8_t *end = at + length; at != end; ++at)
        c = step(step(c, *at), *at >> 4);
    crc[i] = ~c;
}

/* ---- Medians; shortest paths between all pairs, one round in tiles; dot products of bytes ---- */

#define EXCHANGE(a, b)                 \
    do {                               \
        unsigned char low = min(a, b); \
        b = max(a, b);                 \
        a = low;                       \
    } while (0)

/* The median of three by three pixels; the border is unchanged. */
#pragma cf kernel grid(width, height) block(16, 16) in(from[height][width]) out(to[height][width])
__global__ void median(const unsigned char *from, unsigned char *to, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        to[y * width + x] = from[y * width + x];
        return;
    }
    unsigned char v[9];
    int count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            v[count++] = from[(y + dy) * width + x + dx];
    for (int last = 8; last >= 4; last--)
        for (int i = 0; i < last; i++)
            EXCHANGE(v[i], v[i + 1]);
    to[y * width + x] = v[4];
}

/* Round k of the Floyd-Warshall algorithm: d[i][j] = min(d[i][j], d[i][k] + d[k][j]). Row k and column k do not
 * change. */
#pragma cf kernel grid(n, n) block(16, 16) inout(d[n][n]) check(0 <= k < n, 0 <= d[:] < 1000000)
__global__ void floyd_warshall(int *d, int n, int k)
{
    __shared__ int row[16], column[16];
    const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    if (threadIdx.y == 0 && j < n)
        row[threadIdx.x] = d[k * n + j];
    if (threadIdx.x == 0 && i < n)
        column[threadIdx.y] = d[i * n + k];
    __syncthreads();
    if (i < n && j < n && i != k && j != k)
        d[i * n + j] = min(d[i * n + j], column[threadIdx.y] + row[threadIdx.x]);
}

/* Products of byte matrices and vectors; eight lanes per row take four bytes at a time. */
#pragma cf kernel grid(8 * rows) block(64) in(a[rows][words], x[words]) out(y[rows])
__global__ void dot_bytes(const int *a, const int *x, int *y, int rows, int words)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    int sum = 0;
    for (int i = lane; row < rows && i < words; i += 8)
        sum = __dp4a(a[row * words + i], x[i], sum);
    const unsigned int mates = 0xffu << (threadIdx.x % 32 / 8 * 8);
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
    for (int distance = 4; distance; distance /= 2)
        sum += __shfl_xor_sync(mates, sum, distance);
#else
    sum = __reduce_add_sync(mates, sum);
#endif
    if (lane == 0 && row < rows)
        y[row] = sum;
}

/* The discrete cosine transform of 8 x 8 pixels, first rows, then columns; two transforms per block. */
#pragma cf kernel blocks(CEIL_DIV(count, 2)) block(8, 8, 2) in(pixels[count][8][8]) out(result[count][8][8]) \
    tolerance(1e-3)
__global__ void dct8(const float *pixels, float *result, int count)
{
    __shared__ float tile[2][8][9], half[2][8][9];
    const int block = blockIdx.x * 2 + threadIdx.z, u = threadIdx.x, v = threadIdx.y;
    float(&mine)[8][9] = tile[threadIdx.z];
    mine[v][u] = block < count ? pixels[block * 64 + v * 8 + u] : 0;
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 8; i++)
        sum += mine[v][i] * cospif((2 * i + 1) * u / 16.0f);
    half[threadIdx.z][v][u] = sum * (u == 0 ? 0.35355339f : 0.5f);
    __syncthreads();
    sum = 0;
    for (int i = 0; i < 8; i++)
        sum += half[threadIdx.z][i][u] * cospif((2 * i + 1) * v / 16.0f);
    if (block < count)
        result[block * 64 + v * 8 + u] = sum * (v == 0 ? 0.35355339f : 0.5f);
}

/* ---- Random numbers: Philox with 4 words and 10 rounds, four numbers per counter ---- */

__device__ inline uint4 philox_round(uint4 counter, uint2 key)
{
    const uint32_t high0 = __umulhi(0xd2511f53u, counter.x), low0 = 0xd2511f53u * counter.x;
    const uint32_t high1 = __umulhi(0xcd9e8d57u, counter.z), low1 = 0xcd9e8d57u * counter.z;
    return make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
}

#pragma cf kernel grid(quads) out(numbers[quads])
__global__ void philox(uint4 *numbers, uint64_t seed, int64_t quads)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads)
        return;
    uint4 counter = make_uint4((uint32_t)i, (uint32_t)(i >> 32), 0, 0);
    uint2 key = make_uint2((uint32_t)seed, (uint32_t)(seed >> 32));
#pragma unroll
    for (int round = 0; round < 10; round++) {
        counter = philox_round(counter, key);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    numbers[i] = counter;
}
