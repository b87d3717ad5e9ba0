// warp.cu - kernels that run the operations in an array, for test_warp.c.
#include <stdint.h>

#include "warp_reduce.cuh"

template <typename T> __device__ T shuffle(int which, uint32_t mask, T value, int argument, int width)
{
    switch (which) {
    case 0:
        return __shfl_sync(mask, value, argument, width);
    case 1:
        return __shfl_up_sync(mask, value, argument, width);
    case 2:
        return __shfl_down_sync(mask, value, argument, width);
    default:
        return __shfl_xor_sync(mask, value, argument, width);
    }
}

// A step has a mask (0: the thread ends), the number of an operation in test_warp.c, an argument and a width. The
// thread's next step works on the result.
#pragma cf kernel blocks(blocks) block(width, height, depth) \
    in(steps[count * blocks * width * height * depth][4]) inout(x[blocks * width * height * depth])
__global__ void operations(const int *steps, unsigned long long *x, int count, int blocks, int width, int height,
                           int depth)
{
    int size = blockDim.x * blockDim.y * blockDim.z;
    int thread = blockIdx.x * size + (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (int i = 0; i < count; i++) {
        const int *step = steps + 4 * ((long long)i * blocks * size + thread);
        const uint32_t mask = (uint32_t)step[0];
        const int operation = step[1], argument = step[2], segment = step[3];
        if (!mask)
            return;
        unsigned long long value = x[thread];
        int all = 7;
        switch (operation) {
        case 0:
        case 1:
        case 2:
        case 3:
            value = shuffle(operation, mask, value, argument, segment);
            break;
        case 4:
        case 5:
        case 6:
        case 7:
            value = shuffle(operation - 4, mask, (unsigned int)value, argument, segment);
            break;
        case 8:
        case 9:
        case 10:
        case 11:
            value = (unsigned long long)shuffle(operation - 8, mask, (double)(value >> 32), argument, segment);
            break;
        case 12:
            value = __ballot_sync(mask, value & 4);
            break;
        case 13:
            value = __any_sync(mask, (int)(value & 0xf0000000) == 0x10000000);
            break;
        case 14:
            value = __all_sync(mask, value & 3);
            break;
        case 15:
            value = __match_any_sync(mask, value & 3);
            break;
        case 16:
            value = __match_any_sync(mask, (unsigned int)(value >> 40) & 1);
            break;
        case 17:
            value = __match_all_sync(mask, value & (1ull << 63), &all) * 8ull + all;
            break;
        case 18:
            value = __match_all_sync(mask, (float)(value & 1), &all) * 8ull + all;
            break;
        case 19:
            value = __reduce_add_sync(mask, (unsigned int)value);
            break;
        case 20:
            value = __reduce_min_sync(mask, (unsigned int)value);
            break;
        case 21:
            value = __reduce_max_sync(mask, (unsigned int)value);
            break;
        case 22:
            value = (unsigned int)__reduce_add_sync(mask, (int)value);
            break;
        case 23:
            value = (unsigned int)__reduce_min_sync(mask, (int)value);
            break;
        case 24:
            value = (unsigned int)__reduce_max_sync(mask, (int)value);
            break;
        case 25:
            value = __reduce_and_sync(mask, (unsigned int)value);
            break;
        case 26:
            value = __reduce_or_sync(mask, (unsigned int)value);
            break;
        case 27:
            value = __reduce_xor_sync(mask, (unsigned int)value);
            break;
        case 28:
            __syncwarp(mask);
            break;
        case 29:
            value = __syncthreads_count(value & 1);
            break;
        case 30:
            value = __syncthreads_and(value & 1);
            break;
        case 31:
            value = __syncthreads_or(value & 1);
            break;
        }
        x[thread] = value * 0x9e3779b97f4a7c15ull + i + thread;
    }
}

// There are three kinds of lanes: some end, the others take one of two branches.
#pragma cf kernel blocks(1) block(n) in(kind[n]) inout(found[n])
__global__ void active(const int *kind, uint32_t *found, int n)
{
    int i = threadIdx.x;
    if (kind[i] == 2)
        return;
    if (kind[i] == 1) {
        found[i] = __activemask();
    } else {
        __syncwarp(__activemask());
        found[i] = __activemask();
    }
}

// One lane asks for the active lanes while another lane of its warp waits at a barrier of the block.
#pragma cf kernel blocks(1) block(n) out(found[n])
__global__ void active_beside_barrier(uint32_t *found, int n)
{
    int i = threadIdx.x;
    found[i] = 0;
    if (i % 2)
        found[i] = __activemask();
    __syncthreads();
    if (i % 2 == 0)
        found[i] = __activemask();
    __syncthreads();
}

/* Only the first lanes shuffle, and the distances lead to other lanes, as in the second step of common reductions. */
#pragma cf kernel blocks(1) block(32) out(sum[1])
__global__ void sum_of_first(double *sum, int count)
{
    double value = threadIdx.x + 1;
    const unsigned int lanes = __ballot_sync(~0u, (int)threadIdx.x < count);
    if ((int)threadIdx.x < count) {
        for (int distance = 16; distance > 0; distance /= 2)
            value += __shfl_down_sync(lanes, value, distance);
        if (threadIdx.x == 0)
            *sum = value;
    }
}

#pragma cf kernel blocks(1) block(32) out(y[32])
__global__ void wrong_mask(int *y, int lane)
{
    y[threadIdx.x] = 0;
    __syncwarp((int)threadIdx.x == lane ? ~(1u << lane) : ~0u);
}

#pragma cf kernel blocks(1) block(32) out(y[32])
__global__ void wrong_operation(int *y, int lane)
{
    y[threadIdx.x] = (int)threadIdx.x == lane ? __any_sync(~0u, 1) : __reduce_add_sync(~0u, 1);
}

#pragma cf kernel blocks(1) block(32) out(y[32])
__global__ void shuffle_by(int *y, int width)
{
    y[threadIdx.x] = __shfl_xor_sync(~0u, (int)threadIdx.x, 1, width);
}
