/* groups.cu - kernels for test_regions.c with groups of cooperative_groups. A name that ends in _turns is of a kernel
 * without regions. All have n / 96 blocks of 96 threads and one element to a thread. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#define SIZE 96

namespace cg = cooperative_groups;

template <typename T> struct memory {
    __device__ operator T *()
    {
        extern __shared__ int bytes[];
        return (T *)bytes;
    }
};

namespace own
{
/* The kernel file's own class with this name waits for nothing. */
struct thread_block {
    int count;
    __device__ void sync()
    {
        count++;
    }
};

__device__ thread_block this_thread_block()
{
    return {3};
}
} /* namespace own */

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void group_of_block(const float *in, int n, float *out)
{
    cg::thread_block block = cg::this_thread_block();
    __shared__ float s[SIZE];
    unsigned int t = block.thread_rank(), i = block.group_index().x * block.size() + block.thread_index().x;
    s[t] = in[i];
    cg::sync(block);
    for (unsigned int k = block.group_dim().x / 2; k > 0; k /= 2) {
        float other = t + k < block.num_threads() ? s[t + k] : 0;
        block.sync();
        s[t] += other;
        cg::this_thread_block().sync();
    }
    out[i] = s[0] + cg::thread_rank(block) + cg::group_size(block);
}

#pragma cf kernel blocks(n / SIZE) block(16, 3, 2) in(in[n]) out(out[n])
__global__ void group_of_volume(const float *in, int n, float *out)
{
    const auto group = cooperative_groups::this_thread_block();
    __shared__ float s[SIZE];
    s[group.thread_rank()] = in[blockIdx.x * SIZE + group.thread_rank()];
    group.sync();
    out[blockIdx.x * SIZE + group.thread_rank()] = s[95 - group.thread_rank()] + threadIdx.y;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void tile_of_block(const float *in, int n, float *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    auto same = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * SIZE + threadIdx.x;
    float sum = in[i], most = in[i];
    for (int k = tile.size() / 2; k > 0; k /= 2)
        sum += tile.shfl_down(sum, k);
    for (int k = 16; k > 0; k /= 2)
        most = fmaxf(most, same.shfl_xor(most, k));
    float first = tile.shfl(sum, 0), before = tile.shfl_up(sum, 1);
    unsigned int votes = tile.ballot(most > sum);
    int has_large = tile.any(sum > 400), are_large = same.all(most > 3);
    tile.sync();
    out[i] = first + before + most + votes % 1024 + has_large + 2 * are_large + tile.thread_rank() * 8 +
             tile.meta_group_rank();
}

/* Only the last warp takes the last steps of a sum. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) shared(SIZE * sizeof(T)) in(in[n]) out(out[n])
#pragma cf instances(f : float; d : double)
template <typename T> __global__ void sum_by_tile(const float *in, int n, float *out)
{
    cg::thread_block block = cg::this_thread_block();
    T *s = memory<T>();
    T sum = in[blockIdx.x * SIZE + threadIdx.x];
    s[threadIdx.x] = sum;
    cg::sync(block);
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    if (block.thread_rank() < 32) {
        sum += s[threadIdx.x + 32] + s[threadIdx.x + 64];
        for (int k = tile.size() / 2; k > 0; k /= 2)
            sum += tile.shfl_down(sum, k);
    }
    out[blockIdx.x * SIZE + threadIdx.x] = sum;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void small_tile_turns(const float *in, int n, float *out)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = blockIdx.x * SIZE + threadIdx.x;
    out[i] = tile.shfl_xor(in[i], 3) + tile.thread_rank();
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void narrow_shuffle_turns(const float *in, int n, float *out)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * SIZE + threadIdx.x;
    unsigned char small = (unsigned char)(in[i] * 8);
    out[i] = sizeof(tile.shfl_xor(small, 3)) + tile.shfl_xor(small, 3);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void copied_group(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_group group = block;
    s[threadIdx.x] = in[blockIdx.x * SIZE + threadIdx.x];
    group.sync();
    out[blockIdx.x * SIZE + threadIdx.x] = s[95 - threadIdx.x];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void group_under_condition_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    auto block = cg::this_thread_block();
    s[threadIdx.x] = in[blockIdx.x * SIZE + threadIdx.x];
    if (threadIdx.x % 2 == 0)
        block.sync();
    else
        block.sync();
    out[blockIdx.x * SIZE + threadIdx.x] = s[95 - threadIdx.x];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void own_group_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    own::thread_block block = own::this_thread_block();
    s[threadIdx.x] = in[blockIdx.x * SIZE + threadIdx.x];
    __syncthreads();
    block.sync();
    out[blockIdx.x * SIZE + threadIdx.x] = s[95 - threadIdx.x] + block.count;
}

/* Tiles are parts of warps or of larger tiles. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void small_tiles(const float *in, int n, float *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> half = cg::tiled_partition<16>(block);
    auto eight = cg::tiled_partition<8>(half);
    auto four = cg::tiled_partition<4>(cg::this_thread_block());
    auto one = cg::tiled_partition<1>(block);
    int i = blockIdx.x * SIZE + threadIdx.x;
    float v = in[i], sum = v;
    for (int k = half.size() / 2; k > 0; k /= 2)
        sum += half.shfl_down(sum, k);
    for (int k = 1; k < 8; k *= 2)
        sum += eight.shfl_xor(v, k) + eight.shfl_up(sum, k);
    v = four.shfl(sum, four.thread_rank() + 1);
    unsigned int votes = half.ballot(v > 300) + eight.ballot(v > 200) * 8 + one.ballot(v > 100) * 3;
    if (half.any(v > 700))
        v += 1;
    half.sync();
    out[i] = v + votes + four.all(v > 50) * 2 + half.meta_group_rank() + four.meta_group_size() * 8 +
             eight.thread_rank() + one.num_threads();
}

/* Some tiles run the code, and others do not. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void tile_per_row(const float *in, int n, float *out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * SIZE + threadIdx.x, row = i / 8, length = (int)in[row];
    out[i] = -1;
    if (row % 5 < 3 && row < n / 8 - 3) {
        float sum = 0;
        for (int k = row + tile.thread_rank(); k < row + 30; k += 8)
            sum += in[k];
        for (int k = tile.size() / 2; k > 0; k >>= 1)
            sum += tile.shfl_down(sum, k);
        sum = tile.shfl(sum, 0);
        tile.sync();
        sum += tile.ballot(length > 5) + cg::reduce(tile, length, cg::greater<int>());
        out[i] = sum;
    }
}

/* Tiles of several sizes and types reduce values, also in the lanes of the last warp. */
#pragma cf kernel blocks(n / 80) block(80) in(in[n]) out(out[n])
#pragma cf instances(f : float; d : double; i : int; u : unsigned int; l : long long)
template <typename T> __global__ void reduced_by_tile(const float *in, int n, float *out)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto part = cg::tiled_partition<4>(block);
    auto half = cg::tiled_partition<16>(block);
    int i = blockIdx.x * 80 + threadIdx.x, whole = (int)in[i];
    T v = (T)(in[i] * 3), least = v;
    float sum = in[i] / 3;
    out[i] = 0.25f;
    v = cg::reduce(warp, v, cg::plus<T>());
    least = cg::reduce(part, least, cg::less<T>{});
    whole = cooperative_groups::reduce(half, whole, cooperative_groups::bit_xor<int>());
    sum = cg::reduce(half, sum, cg::plus<float>()) + cg::reduce(warp, sum, cg::plus<float>());
    if (threadIdx.x % 32 > 27)
        return;
    v += 2 * cg::reduce(warp, v, cg::plus<T>()) + cg::reduce(half, least, cg::greater<T>());
    out[i] = (float)v + (float)least + whole + sum + cg::reduce(part, sum, cg::less<float>());
}

/* Functions take groups as parameters. */
__device__ float sum_of_tile(const cg::thread_block_tile<32> &tile, float v)
{
    for (int k = tile.size() / 2; k > 0; k /= 2)
        v += tile.shfl_down(v, k);
    return v;
}

__device__ float sum_of_group(cg::thread_block group, float *s, float v)
{
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(group);
    v = sum_of_tile(tile, v);
    if (tile.thread_rank() == 0)
        s[tile.meta_group_rank()] = v;
    group.sync();
    float sum = 0;
    for (int k = 0; k < tile.meta_group_size(); k++)
        sum += s[k];
    cg::sync(group);
    return sum;
}

__device__ void reverse_by_group(cg::thread_group group, float *s, float v)
{
    s[group.size() - 1 - group.thread_rank()] = v;
    group.sync();
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void group_parameters(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    cg::thread_block block = cg::this_thread_block();
    int i = blockIdx.x * SIZE + block.thread_rank();
    float sum = sum_of_group(block, s, in[i]);
    sum -= sum_of_group(cg::this_thread_block(), s, sum / 4);
    reverse_by_group(block, s, sum + threadIdx.x);
    out[i] = sum + s[threadIdx.x];
}

/* A tile has 64 threads, or its operator has another type than the value. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void large_tile_turns(const float *in, int n, float *out)
{
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    int i = blockIdx.x * SIZE + threadIdx.x;
    float v = in[i];
    if (threadIdx.x < 64)
        v = tile.any(v > 3) + tile.thread_rank();
    out[i] = v;
}

/* The kernel divides a flat block into rows, in a file with groups. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void rows_beside_groups(const float *in, int n, float *out)
{
    __shared__ float s[3][32];
    int row = threadIdx.x / 32, column = threadIdx.x % 32;
    const float *own = in + blockIdx.x * SIZE;
    float sum = 0;
    s[row][column] = own[row * 32 + column];
    __syncthreads();
    for (int k = 0; k < 3; k++)
        sum += s[k][column] * own[row * 32 + k];
    out[blockIdx.x * SIZE + row * 32 + column] = sum;
}

/* The lanes of a tile share out the columns of a row. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void norm_of_tile(const float *in, int n, float *out)
{
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank(), length = 32 - row;
    const float *x = in + row * 32;
    float sum = 0, squares = 0;
    out[row * 32 + tile.thread_rank()] = 0;
    if (row >= n / 32 - 1)
        return;
    for (int k = tile.thread_rank(); k < length; k += tile.size())
        sum += x[k];
    sum = cg::reduce(tile, sum, cg::plus<float>{});
    for (int k = tile.thread_rank(); k < length; k += tile.size())
        squares += fabsf(x[k] - sum / 32);
    squares = cg::reduce(tile, squares, cg::plus<float>{});
    float *y = out + row * 32;
    for (int k = tile.thread_rank(); k < 32; k += tile.size())
        y[k] = (x[k] - sum / 32) / squares;
}

__device__ int count_before(float v)
{
    auto group = cg::coalesced_threads();
    int number;
    if (group.thread_rank() == 0)
        number = (int)v + group.size();
    group.sync();
    return group.shfl(number, 0) % 7 + group.thread_rank();
}

/* Lanes meet in a condition on memory, in a function within an index, and in loops that lanes leave. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void coalesced(const float *in, int n, float *out)
{
    __shared__ float s[SIZE + 64];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float *own = &s[t / 32 * 48];
    s[t] = 0;
    if (t < 64)
        s[SIZE + t] = 0;
    __syncthreads();
    if (in[i] > n % 50)
        own[count_before(in[i])] = in[i] + s[t / 32 * 48 + 47];
    __syncthreads();
    float v = s[t];
    if (in[n - 1 - i] > 40) {
        cg::coalesced_group rest = cg::coalesced_threads();
        v += rest.any(in[i] > 90) + 2 * rest.all(in[i] > 5) + rest.num_threads() * 8;
    } else if (in[i] < 30)
        v += __popc(__activemask());
    out[i] = v;
}

__device__ int rank_of(int v)
{
    return __shfl_xor_sync(0xffffffffu, v, 1);
}

constexpr int sizes[] = {3, 4};

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void assigned_in_a_list_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, w = 3;
    s[rank_of(t)] = in[i], w = 4;
    __syncthreads();
    out[i] = s[95 - t] + w;
}

/* A constant condition stands around a shuffle, and a shuffle's value is in braces. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void constant_condition(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float v = in[i], least = 0;
    s[rank_of(t)] = v;
    __syncthreads();
    if constexpr (sizes[0] > 2)
        v += __shfl_xor_sync(0xffffffffu, v, 2);
    if (t > 9)
        least = {in[i - 9]};
    out[i] = s[95 - t] + v + least;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void parts_of_coalesced_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    auto group = cg::coalesced_threads();
    auto part = cg::tiled_partition(group, 4);
    out[i] = part.shfl(in[i], 0);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void wide_coalesced_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    cg::thread_group group = cg::coalesced_threads();
    out[i] = in[i] + (float)(group.size() - 40);
}

/* Variables have the names of functions that make threads wait. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void names_of_functions(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int ballot = threadIdx.x, any = blockIdx.x * SIZE + ballot;
    float reduce = in[any];
    s[ballot] = reduce;
    __syncthreads();
    out[any] = s[95 - ballot] + reduce;
}

/* Functions of the file have names that cooperative_groups has, or that begin like them. */
__device__ float reduce(float a, float b)
{
    return a > b ? a : b;
}
__device__ int all(int a)
{
    return a % 7;
}

__device__ float reduceMax(float v)
{
    for (int k = 16; k > 0; k /= 2)
        v = reduce(v, __shfl_xor_sync(~0u, v, k));
    return v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void functions_of_the_file(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    out[i] = reduceMax(in[i]) + (float)all(i);
}

template <int a, int b> __device__ float scaled_by(float v)
{
    return v * a / b;
}

/* The call names a function of cooperative_groups, whose argument contains a comma. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void function_of_groups_turns(const float *in, int n, float *out)
{
    using namespace cooperative_groups;
    int i = blockIdx.x * SIZE + threadIdx.x;
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    out[i] = reduce(tile, scaled_by<1, 2>(in[i]), cg::plus<float>());
}

/* Sums of floats depend on their order. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void scans_of_tiles(const float *in, int n, float *out)
{
    __shared__ float last[SIZE / 32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto tile = cg::tiled_partition<8>(block);
    const int i = blockIdx.x * SIZE + threadIdx.x;
    float v = in[i] / 3, below = 0;
    int count = (int)in[i] - 5;
    const float sum = cg::inclusive_scan(warp, v), before = cg::exclusive_scan(tile, v, cg::plus<float>());
    const float most = cg::exclusive_scan(warp, v, cg::greater<float>{});
    const int counts = cg::exclusive_scan(warp, count) * 3 + cg::inclusive_scan(tile, count, cg::bit_xor<int>());
    if (warp.thread_rank() == 31)
        last[warp.meta_group_rank()] = sum;
    cg::sync(block);
    if (warp.meta_group_rank() > 0)
        below = last[warp.meta_group_rank() - 1];
    out[i] = sum + below + before * 0.5f + most * 0.25f + counts;
}

/* Only some lanes take part, and some warps have no such lane. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void scans_of_coalesced(const float *in, int n, float *out)
{
    const int i = blockIdx.x * SIZE + threadIdx.x;
    float v = in[i], rank = -1;
    int count = (int)v % 7;
    if (v > 3 && threadIdx.x / 32 != 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        const float sum = cg::inclusive_scan(active, v, cg::plus<float>());
        const float most = cg::exclusive_scan(active, v, cg::greater<float>());
        const int at = cg::exclusive_scan(active, count);
        rank = sum / 7 + most + at;
    }
    out[i] = rank;
}

/* The last warp has lanes that are not there, and others have ended. */
#pragma cf kernel blocks(n / 80) block(80) in(in[n])out(out[n])
__global__ void scans_without_lanes(const float *in, int n, float *out)
{
    const int i = blockIdx.x * 80 + threadIdx.x;
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    float v = in[i] / 3;
    out[i] = v;
    if (threadIdx.x / 16 == 3)
        return;
    const float sum = cg::inclusive_scan(tile, v), before = cg::exclusive_scan(tile, v);
    out[i] = sum - before * 4;
}

/* A class of the caller's own as an operator, and an expression as the value, keep the groups. */
struct second {
    __device__ int operator()(int a, int b) const
    {
        return a * 3 + b;
    }
};

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void scan_by_class_turns(const float *in, int n, float *out)
{
    const int i = blockIdx.x * SIZE + threadIdx.x;
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    out[i] = cg::inclusive_scan(tile, (int)in[i] % 9, second());
}
