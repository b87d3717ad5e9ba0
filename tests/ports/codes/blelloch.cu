/* blelloch.cu - exclusive sums of sections of 2 * blockDim.x elements; padding avoids bank conflicts. */
#include <assert.h>
#include <stdio.h>

#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#ifdef ZERO_BANK_CONFLICTS
#define CONFLICT_FREE_OFFSET(n) (((n) >> LOG_NUM_BANKS) + ((n) >> (2 * LOG_NUM_BANKS)))
#else
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
#endif
#define BLOCK 64

#pragma cf kernel blocks((len + 2 * BLOCK - 1) / (2 * BLOCK)) block(BLOCK) \
    shared((2 * BLOCK + CONFLICT_FREE_OFFSET(2 * BLOCK)) * sizeof(unsigned)) \
    in(d_in[len]) out(d_out[len], d_block_sums[(len + 2 * BLOCK - 1) / (2 * BLOCK)])
__global__ void prescan(unsigned int *const d_out, const unsigned int *const d_in, unsigned int *const d_block_sums,
                        const size_t len)
{
    extern __shared__ unsigned int s_out[];
    unsigned int thid = threadIdx.x, n = 2 * blockDim.x;
    unsigned int ai = thid, bi = thid + blockDim.x;
    size_t base = (size_t)n * blockIdx.x;

    s_out[ai + CONFLICT_FREE_OFFSET(ai)] = base + ai < len ? d_in[base + ai] : 0;
    s_out[bi + CONFLICT_FREE_OFFSET(bi)] = base + bi < len ? d_in[base + bi] : 0;

    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int a = offset * ((thid << 1) + 1) - 1;
            int b = offset * ((thid << 1) + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            s_out[b] += s_out[a];
        }
        offset <<= 1;
    }
    if (thid == 0) {
        d_block_sums[blockIdx.x] = s_out[n - 1 + CONFLICT_FREE_OFFSET(n - 1)];
        s_out[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
    }
    for (int d = 1; d < n; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int a = offset * ((thid << 1) + 1) - 1;
            int b = offset * ((thid << 1) + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            unsigned int temp = s_out[a];
            s_out[a] = s_out[b];
            s_out[b] += temp;
        }
    }
    __syncthreads();
    if (base + ai < len)
        d_out[base + ai] = s_out[ai + CONFLICT_FREE_OFFSET(ai)];
    if (base + bi < len)
        d_out[base + bi] = s_out[bi + CONFLICT_FREE_OFFSET(bi)];
}

void sum_scan(unsigned int *const d_out, const unsigned int *const d_in, const size_t numElems)
{
    unsigned int block_sz = BLOCK, max_elems_per_block = 2 * block_sz;
    unsigned int grid_sz = numElems / max_elems_per_block;
    if (numElems % max_elems_per_block != 0)
        grid_sz += 1;
    unsigned int shmem_sz = max_elems_per_block + ((max_elems_per_block) >> LOG_NUM_BANKS);
    unsigned int *d_block_sums;
    assert(cudaMalloc(&d_block_sums, sizeof(unsigned int) * grid_sz) == cudaSuccess);
    prescan<<<grid_sz, block_sz, sizeof(unsigned int) * shmem_sz>>>(d_out, d_in, d_block_sums, numElems);
}
