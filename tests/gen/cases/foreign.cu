/* Library calls that the CPU cannot run, and the advice for each; the headers of these libraries are found. */
#include <cub/block/block_reduce.cuh>
#include <cub/cub.cuh>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda_fp8.h>
#include <curand_kernel.h>
#include <mma.h>
#include <stdint.h>
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <thrust/swap.h>

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned load_matrix(unsigned address)
{
    unsigned part;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(part) : "r"(address));
    return part;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly(int *x, int n)
{
    x[0] = load_matrix(n);
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_of_named_barriers(int *x, int n)
{
    asm volatile("bar.sync 1, 64;" ::: "memory");
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_with_loops(int *x, int n)
{
    asm("{ .reg .pred p; next: add.u32 %0, %0, 1; setp.lt.u32 p, %0, %1; @p bra next; }" : "+r"(x[0]) : "r"(n));
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_that_jumps(int *x, int n)
{
    asm("{ .reg .pred p; setp.lt.u32 p, %0, %1; @p bra end; }" : "+r"(x[0]) : "r"(n));
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_of_matrices(float *x, int n)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
                 : "r"(n));
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_of_three_parts(unsigned long long *x, int n)
{
    asm("mov.b64 {%0, %0, %0}, %1;" : "+r"(n) : "l"(x[0]));
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_without_operands(int *x, int n)
{
    asm("setp.lt.u32;");
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_with_half_a_block(int *x, int n)
{
    asm("{ add.u32 %0, %0, %1;" : "+r"(x[0]) : "r"(n));
}

/* One of the instructions has a CPU form. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_with_registers(int *x, int n)
{
    asm("{ .reg .u32 t; mov.u32 t, %%laneid; } xor.b32 %0, %0, t;" : "+r"(x[0]));
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_of_other_widths(long long *x, int n)
{
    asm("popc.b32 %0, %1;" : "=l"(x[0]) : "r"(n));
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_of_other_modes(int *x, int n)
{
    asm("prmt.b32.f4e %0, %0, %0, %1;" : "+r"(x[0]) : "r"(n));
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_with_names(int *x, int n)
{
    asm("not.b32 %[to], %[to];" : [to] "+r"(x[0]));
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_with_too_many_registers(int *x, int n)
{
    asm("{ .reg .u32 r<1000000000>; mov.u32 r0, %1; mov.u32 %0, r0; }" : "=r"(x[0]) : "r"(n));
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_with_a_matching_constraint(int *x, int n)
{
    asm("add.u32 %0, %1, %2;" : "=r"(x[0]) : "0"(x[0]), "r"(n));
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembly_with_an_unknown_constraint(int *x, int n)
{
    asm("add.u32 %0, %0, %1;" : "+r"(x[0]) : "m"(n));
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void matrices(float *x, int n)
{
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c;
    nvcuda::wmma::fill_fragment(c, 0.0f);
    nvcuda::wmma::store_matrix_sync(x, c, 16, nvcuda::wmma::mem_row_major);
}

#pragma cf kernel grid(n) block(128) inout(x[n])
__global__ void block_decode(int *x, int n)
{
    typedef cub::BlockRunLengthDecode<int, 128, 1, 1> Decode;
    __shared__ typename Decode::TempStorage storage;
    Decode(storage, x, x).RunLengthDecode(x);
}

using cub::BlockRadixRank;
typedef BlockRadixRank<128, 4, false> DigitRank;

#pragma cf kernel grid(n) block(128) inout(x[n])
__global__ void block_rank(int *x, int n)
{
    __shared__ typename DigitRank::TempStorage storage;
    DigitRank(storage).RankKeys(x);
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void sum_in_a_kernel(int *x, int n)
{
    using namespace cub;
    DeviceReduce::Sum(nullptr, *(size_t *)x, x, x, n);
}

namespace own
{
struct DeviceScan {
    static __device__ int first(const int *x)
    {
        return x[0];
    }
};
} // namespace own

thrust::device_vector<int> cells;

/* No part of CUB, and no object of Thrust. */
#pragma cf kernel grid(n) inout(cells[n])
__global__ void own_scan(int *cells, int n)
{
    cells[0] = own::DeviceScan::first(cells);
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void twister(float *x, int n)
{
    curandStateMtgp32 *state = nullptr;
    x[threadIdx.x] = curand_uniform(state);
}

#pragma cf kernel grid(n) inout(states[1], x[n])
__global__ void twister_states(curandStateMtgp32_t *states, float *x, int n)
{
    x[threadIdx.x] = curand_uniform(states);
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void clusters(int *x, int n)
{
    x[0] = __clusterRelativeBlockRank();
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void textures(float *x, cudaTextureObject_t texture, int n)
{
    x[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

#pragma cf kernel grid(n) in(x[n])
__global__ void conditions(const int *x, cudaGraphConditionalHandle handle, int n)
{
    cudaGraphSetConditional(handle, x[0] < n);
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void bytes(float *x, int n)
{
    x[0] = float(__nv_fp8_e8m0(x[0]));
}

#pragma cf kernel grid(n) block(128) inout(x[n])
__global__ void latches(int *x, int n)
{
    __shared__ cuda::latch latch;
    latch.arrive_and_wait();
    x[threadIdx.x] = 0;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void launches(int *x, int n)
{
    if (n > 1)
        launches<<<1, 1>>>(x, n - 1);
}

__device__ void launches_too(int *x, int n)
{
    launches<<<1, 1>>>(x, n);
}

#pragma cf kernel grid(n) inout(x[n]) host(none)
__global__ void calls_what_launches(int *x, int n)
{
    launches_too(x, n);
}

__device__ __managed__ int shared_with_host[4], other_count;

__device__ int counts_so_far(int i)
{
    return shared_with_host[i];
}

#pragma cf kernel grid(n) inout(x[n]) host(none)
__global__ void managed(int *x, int n)
{
    x[threadIdx.x] += counts_so_far(threadIdx.x % 4);
}

static texture<float, 1, cudaReadModeElementType> heights;

#pragma cf kernel grid(n) inout(x[n]) host(none)
__global__ void texture_references(float *x, int n)
{
    x[threadIdx.x] = tex1Dfetch(heights, threadIdx.x);
}

#pragma cf kernel grid(1) block(1) inout(x[n])
__global__ void in_order(int *x, int n)
{
    thrust::sort(thrust::seq, x, x + n);
}

/* The calls above do not affect these kernels. */
#pragma cf kernel grid(n) inout(x[n]) host(none)
__global__ void gpu_alone(int *x, int n)
{
    x[0] = load_matrix(n);
}

#pragma cf kernel grid(1) block(1) inout(x[n])
__global__ void swapped(int *x, int n)
{
    thrust::swap(x[0], x[n - 1]);
}

inline void sorted(int *x, int n)
{
    thrust::device_vector<int> v(x, x + n);
    thrust::sort(v.begin(), v.end());
}
