/* planted.cu - kernels with an error each, for test_sanitize.py: where `bug` is 0 they are right. The test looks for the lines
 * that are marked. */
#include <stdint.h>

/* ---- Out of bounds ---- */

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void read_past_end(const int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i + bug]; /* BUG read_past_end */
}

#pragma cf kernel grid(n) inout(y[n])
__global__ void write_in_front(int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i - 3 * bug] = i; /* BUG write_in_front */
}

/* The check that everyone forgets. */
#pragma cf kernel grid(n) out(y[n])
__global__ void no_guard(double *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n || bug)
        y[i] = i; /* BUG no_guard */
}

#pragma cf kernel grid(ny, nx) block(8, 8) out(v[nx][ny])
__global__ void swapped(float *v, int nx, int ny, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ny && j < nx)
        v[bug ? (long)i * nx + j + nx : (long)j * ny + i] = 1; /* BUG swapped */
}

__device__ int at(const int *tile, int i)
{
    return tile[i]; /* BUG static_shared */
}

#pragma cf kernel blocks(n) block(64) out(y[n][64])
__global__ void static_shared(int *y, int n, int bug)
{
    __shared__ int other[64];
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    other[threadIdx.x] = n;
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = at(tile, (63 - threadIdx.x) + bug) + other[threadIdx.x];
}

/* One element less than the kernel takes. */
#pragma cf kernel blocks(1) block(n) shared((n - bug) * sizeof(int)) in(x[n]) out(y[n])
__global__ void dynamic_shared(const int *x, int *y, int n, int bug)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = x[threadIdx.x]; /* BUG dynamic_shared */
    __syncthreads();
    y[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

__device__ void put(int *place, int i, int value)
{
    place[i] = value; /* BUG local_array */
}

#pragma cf kernel grid(n) out(y[n])
__global__ void local_array(int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, last[4] = {0, 0, 0, 0};
    if (i >= n)
        return;
    put(last, i % 4 + bug, i);
    y[i] = last[0] + last[1] + last[2] + last[3];
}

#pragma cf kernel grid(n) out(y[n])
__global__ void local_index(int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, last[4] = {0, 1, 2, 3};
    if (i < n)
        y[i] = last[i % 4 + bug]; /* BUG local_index */
}

#pragma cf kernel grid(n) in(x[4 * n + 4]) out(y[n])
__global__ void not_aligned(const float *x, float *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float4 *four = (const float4 *)(x + 4 * i + bug);
    y[i] = four->x + four->w; /* BUG not_aligned */
}

#pragma cf kernel grid(n) scratch(tmp[n]) out(y[n])
__global__ void past_scratch(int *tmp, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    tmp[i + bug] = i; /* BUG past_scratch */
    y[i] = i;
}

/* ---- Races ---- */

#pragma cf kernel blocks(n) block(256) in(x[n][256]) out(y[n][256])
__global__ void no_barrier(const int *x, int *y, int n, int bug)
{
    __shared__ int tile[256];
    tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x]; /* OTHER no_barrier */
    if (!bug)
        __syncthreads();
    y[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x]; /* BUG no_barrier */
}

/* The barrier of the last steps is missing, as when all threads were of one warp. */
#pragma cf kernel blocks(n) block(128) in(x[n][128]) out(sums[n])
__global__ void tree(const int *x, int *sums, int n, int bug)
{
    __shared__ int part[128];
    part[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
    __syncthreads();
    for (int half = 64; half; half /= 2) {
        if ((int)threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half]; /* BUG tree */
        if (!bug || half > 32)
            __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}

/* A shuffle orders no memory; __syncwarp() does. */
#pragma cf kernel blocks(1) block(32) out(y[32])
__global__ void lanes(int *y, int bug)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = threadIdx.x; /* OTHER lanes */
    if (bug)
        __shfl_sync(0xffffffff, 1, 0);
    else
        __syncwarp();
    y[threadIdx.x] = tile[threadIdx.x ^ 1]; /* BUG lanes */
}

#pragma cf kernel grid(n) in(x[n]) inout(bins[8])
__global__ void histogram(const int *x, int *bins, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (bug)
        bins[x[i] & 7]++; /* BUG histogram */
    else
        atomicAdd(&bins[x[i] & 7], 1);
}

/* Bytes of one word, each written by a thread of its own, are no race; nor are equal values. */
#pragma cf kernel blocks(n) block(64) out(y[n][64]) inout(found[1])
__global__ void bytes(uint8_t *y, int *found, int n, int bug)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    y[bug ? i / 2 * 2 : i] = (uint8_t)i; /* BUG bytes */
    if (bug)
        y[i / 2 * 2 + 1] = 0;
    *found = 1;
}

/* The last block to come adds what the others left: the fence makes that theirs to see. */
#pragma cf kernel blocks(n) block(64) scratch(part[n]) inout(count[1], sum[1])
__global__ void last_block(int *part, unsigned *count, int *sum, int n, int bug)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x; /* OTHER last_block */
        if (!bug)
            __threadfence();
        is_last = atomicInc(count, n - 1) == (unsigned)n - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 33) {
        int all = 0;
        for (int i = 0; i < n; i++)
            all += part[i]; /* BUG last_block */
        *sum = all;
    }
}

/* ---- Waiting ---- */

#pragma cf kernel blocks(1) block(64) out(y[64])
__global__ void divergent(int *y, int bug)
{
    if (threadIdx.x % 2 == 0)
        __syncthreads(); /* BUG divergent */
    else if (bug)
        __syncwarp(); /* OTHER divergent */
    else
        __syncthreads();
    y[threadIdx.x] = 1;
}

#pragma cf kernel blocks(1) block(64) out(y[64])
__global__ void own_lane(int *y, int bug)
{
    unsigned lanes = bug && threadIdx.x == 37 ? 0xffff0000 & ~(1u << 5) : 0xffffffff;
    y[threadIdx.x] = __ballot_sync(lanes, 1) != 0; /* BUG own_lane */
}

/* ---- Memory that nobody wrote ---- */

#pragma cf kernel blocks(n) block(64) in(x[n][64]) out(y[n][64])
__global__ void unwritten_shared(const int *x, int *y, int n, int bug)
{
    __shared__ int tile[64];
    int own = blockIdx.x * 64 + threadIdx.x;
    if (!bug || threadIdx.x != 7 || blockIdx.x == 0)
        tile[threadIdx.x] = x[own];
    __syncthreads();
    y[own] = tile[threadIdx.x ^ 1]; /* BUG unwritten_shared */
}

#pragma cf kernel grid(n) scratch(tmp[n]) out(y[n])
__global__ void unwritten_scratch(int *tmp, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (!bug)
        tmp[i] = i;
    y[i] = tmp[i]; /* BUG unwritten_scratch */
}

#pragma cf kernel grid(n) out(y[n])
__global__ void unwritten_out(float *y, int n, int bug) /* BUG unwritten_out */
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - bug)
        y[i] = 1;
}

/* It reads what it should write. */
#pragma cf kernel grid(n) out(y[n])
__global__ void adds_to_out(float *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = bug ? y[i] + 1 : 1; /* BUG adds_to_out */
}

#pragma cf kernel blocks(1) block(32) out(y[32])
__global__ void ended_lane(int *y, int bug)
{
    y[threadIdx.x] = 0;
    if (bug && threadIdx.x >= 16)
        return;
    y[threadIdx.x] = __shfl_down_sync(0xffffffff, threadIdx.x, 8); /* BUG ended_lane */
}

/* ---- Ends ---- */

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void asserts(const int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    assert(!bug || i != 300); /* BUG asserts */
    y[i] = x[i];
}

#pragma cf kernel grid(n) out(y[n])
__global__ void traps(int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (bug && i == 300)
        __trap(); /* BUG traps */
    y[i] = i;
}
