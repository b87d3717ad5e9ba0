// wait.cu - a kernel that runs programs whose steps make threads wait for one another.
#include <cuda/barrier>

#include "wait.h"
#include "warp_reduce.cuh"

using meeting_point = cuda::barrier<cuda::thread_scope_block>;

__device__ bool takes_part(uint32_t lanes, uint32_t warps)
{
    return (lanes >> threadIdx.x % 32 & 1) && (warps >> threadIdx.x / 32 & 1);
}

__device__ uint32_t read_others(uint32_t *memory, uint32_t value, uint32_t distance)
{
    memory[threadIdx.x] = value;
    __syncthreads();
    uint32_t sum = 0;
    for (uint32_t i = 1; i < 4; i++)
        sum += memory[(threadIdx.x + i * distance) % blockDim.x];
    __syncthreads();
    memory[threadIdx.x] = 0;
    __syncthreads();
    return sum;
}

/* Returns the result of a step for a thread; `wrong` counts results that are impossible. */
__device__ uint32_t take(const step &now, uint32_t value, uint32_t *memory, meeting_point *points, uint32_t *wrong)
{
    switch (now.kind) {
    case STEP_SYNC_WARP:
        __syncwarp(now.mask);
        return 0;
    case STEP_SHUFFLE:
        return __shfl_sync(now.mask, value, now.argument, now.width);
    case STEP_SHUFFLE_UP:
        return __shfl_up_sync(now.mask, value, now.argument, now.width);
    case STEP_SHUFFLE_DOWN:
        return (
            uint32_t)(__shfl_down_sync(now.mask, (unsigned long long)value << 20 | value, now.argument, now.width) >>
                      3);
    case STEP_SHUFFLE_XOR:
        return __shfl_xor_sync(now.mask, value, now.argument, now.width);
    case STEP_BALLOT:
        return __ballot_sync(now.mask, value & 1);
    case STEP_MATCH_ANY:
        return __match_any_sync(now.mask, value & 3);
    case STEP_MATCH_ALL: {
        int all;
        const uint32_t lanes = __match_all_sync(now.mask, value >> 31, &all);
        return lanes + all;
    }
    case STEP_SUM:
        return __reduce_add_sync(now.mask, value);
    case STEP_LEAST:
        return (uint32_t)__reduce_min_sync(now.mask, (int)value);
    case STEP_BARRIER:
        __syncthreads();
        return 0;
    case STEP_COUNT:
        return __syncthreads_count(value & 1);
    case STEP_AND:
        return __syncthreads_and(value & now.argument);
    case STEP_OR:
        return __syncthreads_or((value & now.argument) == now.argument);
    case STEP_SHARED:
        return read_others(memory, value, now.argument);
    case STEP_MEET:
        points[now.argument].arrive_and_wait();
        return 0;
    case STEP_YIELD:
        __nanosleep(1);
        return 0;
    case STEP_ACTIVE: {
        const uint32_t lanes = __activemask();
        if (!(lanes >> threadIdx.x % 32 & 1) || __ballot_sync(lanes, 1) != lanes)
            atomicAdd(wrong, 1);
        return 0;
    }
    default:
        return now.argument;
    }
}

#pragma cf kernel include("wait.h") blocks(blocks) block(threads) \
    in(steps[count])in(meetings[MEETINGS])inout(wrong[1]) out(y[blocks * threads])
__global__ void run(const step *steps, int count, const meeting *meetings, uint32_t *wrong, uint32_t *y, int blocks,
                    int threads)
{
    __shared__ alignas(meeting_point) char room[MEETINGS * sizeof(meeting_point)];
    __shared__ uint32_t memory[1024];
    meeting_point *points = reinterpret_cast<meeting_point *>(room);
    const uint32_t own = blockIdx.x * threads + threadIdx.x;
    uint32_t value = (own + 1) * 2654435761u;
    memory[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        for (int i = 0; i < MEETINGS; i++)
            init(points + i, meetings[i].count);
    __syncthreads();
    for (int i = 0; i < count; i++) {
        const step now = steps[i];
        if (!takes_part(now.lanes, now.warps))
            continue;
        if (now.kind == STEP_END) {
            for (int p = 0; p < MEETINGS; p++)
                if (takes_part(meetings[p].lanes, meetings[p].warps))
                    points[p].arrive_and_drop();
            break;
        }
        value = value * 31 + take(now, value, memory, points, wrong);
    }
    y[own] = value;
}
