/* block_sum.cu - sums and maxima of rows by CUB's BlockReduce. */
#include <cub/cub.cuh>
#include <vector>

using namespace cub;

CachingDeviceAllocator g_allocator(true);

#pragma cf kernel blocks(rows) block(THREADS) in(x[rows][n]) out(sums[rows], most[rows]) check(n > 0)
#pragma cf instances(warp: 128, cub::BLOCK_REDUCE_WARP_REDUCTIONS; raking: 64, cub::BLOCK_REDUCE_RAKING)
template <int THREADS, BlockReduceAlgorithm ALGORITHM>
__global__ void block_sum(const int *x, int *sums, int *most, int n, int rows)
{
    typedef BlockReduce<int, THREADS, ALGORITHM> BlockReduceT;
    __shared__ typename BlockReduceT::TempStorage temp_storage;
    const int *row = x + (size_t)blockIdx.x * n;
    int sum = 0, greatest = row[0];
    for (int i = threadIdx.x; i < n; i += THREADS) {
        sum += row[i];
        greatest = max(greatest, row[i]);
    }
    int aggregate = BlockReduceT(temp_storage).Sum(sum);
    __syncthreads();
    int best = BlockReduceT(temp_storage).Reduce(greatest, [](int a, int b) { return a > b ? a : b; });
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = aggregate;
        most[blockIdx.x] = best;
    }
}

int device_sum(const std::vector<int> &h)
{
    int *d_in = NULL, *d_out = NULL, out = 0;
    void *d_temp_storage = NULL;
    size_t temp_storage_bytes = 0;
    g_allocator.DeviceAllocate((void **)&d_in, sizeof(int) * h.size());
    DeviceReduce::Sum(d_temp_storage, temp_storage_bytes, d_in, d_out, (int)h.size());
    block_sum<128, BLOCK_REDUCE_WARP_REDUCTIONS><<<1, 128>>>(d_in, d_out, d_out, (int)h.size(), 1);
    return out;
}
