/* planted.cu - kernels with one error each, for test_sanitize.py; with `bug` 0 they are correct. The test looks for the
 * marked lines. Macros WITHOUT_... leave out the errors of checks that the test does not run. */
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>
#include <stdint.h>

#include "planted_inner.cuh"

#pragma nv_diag_suppress static_var_with_dynamic_init

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

#ifndef WITHOUT_UNDEFINED

/* ---- Undefined in C++ ---- */

#pragma cf kernel grid(n) in(x[n])out(y[n]) check(0 <= x[:] < 100)
__global__ void divides(const int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 100 / (x[i] + 1 - bug); /* BUG divides */
}

#pragma cf kernel grid(n) in(x[n])out(y[n]) check(0 <= x[:] < 100)
__global__ void shifts(const int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 1 << (x[i] % 31 + 32 * bug); /* BUG shifts */
}

#pragma cf kernel grid(n) in(x[n])out(y[n]) check(0 <= x[:] < 100)
__global__ void converts(const int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (int)(x[i] + 3e9f * bug); /* BUG converts */
}

#endif

#ifndef WITHOUT_ADDRESS
/* ---- Out of bounds ---- */

#pragma cf kernel grid(n) in(x[n])out(y[n])
__global__ void read_past_end(const int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i + bug]; /* BUG read_past_end */
}

/* The loops of the CPU exchange x and y in this kernel; the message must not do so. */
#pragma cf kernel grid(rows, columns) block(4, 8) in(x[rows][columns]) out(y[rows][columns])
__global__ void read_past_rows(const int *x, int *y, int rows, int columns, int bug)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns)
        y[row * columns + column] = x[row * columns + column + bug]; /* BUG read_past_rows */
}

#pragma cf kernel grid(n) inout(y[n])
__global__ void write_in_front(int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i - 3 * bug] = i; /* BUG write_in_front */
}

/* Reads elements next to the section: on a GPU, host arrays that are staged lack these elements. */
#pragma cf kernel grid(nx, ny) block(16, 4) in(u[ny][nx]) out(v[ny][nx]) pitch(u: ld; v: ld) check(ld >= nx)
__global__ void read_between_rows(const int *u, int *v, int nx, int ny, int ld, int bug)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny)
        v[y * ld + x] = u[y * ld + x + (x == nx - 1 ? bug : 0)]; /* BUG read_between_rows */
}

/* The rows end in the middle of a granule of AddressSanitizer. */
#pragma cf kernel grid(nx, ny) block(16, 4) inout(u[ny][nx]) out(v[ny][nx]) pitch(u: ld; v: ld) check(ld >= nx)
__global__ void write_padding(int *u, int *v, int nx, int ny, int ld, int bug)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny)
        v[y * ld + x] = u[y * ld + x];
    if (x == 0 && y < ny && bug)
        u[y * ld + nx] = 0; /* BUG write_padding */
}

#pragma cf kernel grid(n) inout(y[first:n])
__global__ void write_after_section(int *y, int n, int first, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[first + i + bug] = i; /* BUG write_after_section */
}

/* Lacks the check of the index, as many kernels do by mistake. */
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

/* Has shared memory for one element too few. */
#pragma cf kernel blocks(1) block(n) shared((n - bug) * sizeof(int)) in(x[n])out(y[n])
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

/* Accesses whole vectors in an array of floats; clang does not check their alignment. */
#pragma cf kernel grid(n) in(x[4 * n + 4]) out(y[4 * n])
__global__ void not_aligned_copy(const float *x, float *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        reinterpret_cast<float4 *>(y)[i] = reinterpret_cast<const float4 *>(x + bug)[i]; /* BUG not_aligned_copy */
}

#pragma cf kernel grid(n) in(x[4 * n + 4]) out(y[n])
__global__ void not_aligned_load(const float *x, float *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __ldg(reinterpret_cast<const float4 *>(x + bug) + i).w; /* BUG not_aligned_load */
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

/* Accesses a tile with a pitch that is too long. */
#pragma cf kernel blocks(1) block(8, 8) shared(8 * 8 * sizeof(float)) in(x[8][8])out(y[8][8])
__global__ void wrong_pitch(const float *x, float *y, int bug)
{
    extern __shared__ float rows[];
    const int pitch = 8 + bug;
    rows[threadIdx.y * pitch + threadIdx.x] = x[threadIdx.y * 8 + threadIdx.x]; /* BUG wrong_pitch */
    __syncthreads();
    y[threadIdx.y * 8 + threadIdx.x] = rows[threadIdx.x * pitch + threadIdx.y];
}

/* Has a tile whose halo is one element too short at the end of the block. */
#pragma cf kernel blocks(n) block(64) in(x[n][64])out(y[n][64])
__global__ void halo(const int *x, int *y, int n, int bug)
{
    __shared__ int tile[66];
    const int *from = tile;
    tile[threadIdx.x + 1] = x[blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x == 0)
        tile[0] = tile[65] = 0;
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = from[threadIdx.x] + from[threadIdx.x + 2 + bug]; /* BUG halo */
}

#pragma cf kernel grid(n) in(x[n + 1]) out(y[n])
#pragma cf instances(i32 : int, 1; f64 : double, 1)
template <typename T, int STEP> __global__ void in_header(const T *x, T *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = neighbour<T, STEP>(x, i + bug); /* OTHER in_header */
}

__device__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};

#pragma cf kernel grid(n) out(y[n])
__global__ void device_table(int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int *from = table + bug;
    if (i < n)
        y[i] = from[i % 8]; /* BUG device_table */
}

#pragma cf kernel grid(n) in(x[n])out(y[n])
__global__ void null_pointer(const int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int *from = bug && i == 7 ? nullptr : x;
    if (i < n)
        y[i] = from[i]; /* BUG null_pointer */
}

/* The index overflows. */
#pragma cf kernel grid(n) in(x[n])out(y[n])
__global__ void wild(const int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i + bug * 0x123456789abll]; /* BUG wild */
}

#pragma cf kernel blocks(n) block(8, 4) out(y[n][8][4])
__global__ void row_past_end(int *y, int n, int bug)
{
    __shared__ int tile[2][4][9];
    int own = threadIdx.y * 8 + threadIdx.x, *cells = &tile[0][0][0];
    cells[own + (bug && own == 31 ? 44 : 0)] = own; /* BUG row_past_end */
    __syncthreads();
    y[blockIdx.x * 32 + own] = cells[own];
}

/* Only half of a tile of two warps takes the branch with the barrier. */
#pragma cf kernel blocks(1) block(128) out(y[128])
__global__ void half_a_tile(int *y, int bug)
{
    auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
    if (!bug || threadIdx.x >= 32)
        tile.sync(); /* BUG half_a_tile */
    y[threadIdx.x] = 1;
}

#endif

#ifndef WITHOUT_RACE
/* ---- Races ---- */

#pragma cf kernel blocks(n) block(256) in(x[n][256])out(y[n][256])
__global__ void no_barrier(const int *x, int *y, int n, int bug)
{
    __shared__ int tile[256];
    tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x]; /* OTHER no_barrier */
    if (!bug)
        __syncthreads();
    y[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x]; /* BUG no_barrier */
}

/* Has no barriers in the last steps, as if all their threads were in one warp. */
#pragma cf kernel blocks(n) block(128) in(x[n][128])out(sums[n])
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

/* A shuffle does not order memory accesses, but __syncwarp() does. */
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

#pragma cf kernel grid(n) in(x[n])inout(bins[8])
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

/* Threads race neither if they write different bytes of one word nor if they write equal values. */
#pragma cf kernel blocks(n) block(64) out(y[n][64]) inout(found[1])
__global__ void bytes(uint8_t *y, int *found, int n, int bug)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    y[bug ? i / 2 * 2 : i] = (uint8_t)i; /* BUG bytes */
    if (bug)
        y[i / 2 * 2 + 1] = 0;
    *found = 1;
}

/* The last block adds the other blocks' results, which a fence makes visible. */
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

/* Threads arrive and then read without waiting for the others. */
#pragma cf kernel blocks(n) block(128) out(y[n][128])
__global__ void arrives_alone(int *y, int n, int bug)
{
    __shared__ block_barrier barrier;
    __shared__ int tile[128];
    if (threadIdx.x == 0)
        init(&barrier, 128);
    __syncthreads();
    tile[threadIdx.x] = threadIdx.x; /* OTHER arrives_alone */
    block_barrier::arrival_token token = barrier.arrive();
    if (!bug)
        barrier.wait(static_cast<block_barrier::arrival_token &&>(token));
    y[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x]; /* BUG arrives_alone */
}

/* A barrier orders only its own block, even if the next block has a barrier at the same address. */
#pragma cf kernel blocks(n) block(64) scratch(first[1]) out(y[n])
__global__ void of_another_block(int *first, int *y, int n, int bug)
{
    auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
    if (threadIdx.x == 0 && blockIdx.x == 0)
        *first = 4; /* OTHER of_another_block */
    tile.sync();
    if (threadIdx.x == 63)
        y[blockIdx.x] = bug || blockIdx.x == 0 ? *first : 4; /* BUG of_another_block */
}

/* An old form of the warp sum, with volatile and without barriers. */
#pragma cf kernel blocks(n) block(64) in(x[n][64])out(sums[n])
__global__ void volatile_sum(const int *x, int *sums, int n, int bug)
{
    __shared__ int part[64];
    volatile int *all = part;
    part[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    for (int half = 32; threadIdx.x < 32 && half; half /= 2) {
        int both = all[threadIdx.x] + all[threadIdx.x + half]; /* OTHER volatile_sum */
        if (!bug)
            __syncwarp();
        all[threadIdx.x] = both; /* BUG volatile_sum */
        if (!bug)
            __syncwarp();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}

/* Correct uses of volatile: a flag that ends a search early, and a flag that is read after a fence. */
#pragma cf kernel blocks(n) block(64) in(x[n][64])out(y[n])
__global__ void flags(const int *x, int *y, int n, int bug)
{
    __shared__ volatile bool is_found;
    __shared__ volatile int ready[2];
    __shared__ int value;
    if (threadIdx.x == 0)
        is_found = ready[0] = ready[1] = false;
    __syncthreads();
    for (int i = 0; i < 64 && !is_found; i++)
        if (x[blockIdx.x * 64 + i] == (int)threadIdx.x)
            is_found = true;
    if (threadIdx.x == 63) { /* thread 63 runs first after a barrier */
        value = 4;           /* OTHER flags */
        if (!bug)
            __threadfence_block();
        ready[1] = 1;
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = ready[1] ? value : 4; /* BUG flags */
}

/* Overwrites the tile while other threads still read it. */
#pragma cf kernel blocks(n) block(64) in(x[n][256])out(y[n][64])
__global__ void tile_again(const int *x, int *y, int n, int bug)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int k = 0; k < 256; k += 64) {
        tile[threadIdx.x] = x[blockIdx.x * 256 + k + threadIdx.x]; /* OTHER tile_again */
        __syncthreads();
        sum += tile[63 - threadIdx.x]; /* BUG tile_again */
        if (!bug)
            __syncthreads();
    }
    y[blockIdx.x * 64 + threadIdx.x] = sum;
}

/* Some threads read the counters while others still count. */
#pragma cf kernel blocks(n) block(64) in(x[n][64])out(y[n][4])
__global__ void counts_and_reads(const int *x, int *y, int n, int bug)
{
    __shared__ int bins[4];
    if (threadIdx.x < 4)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[x[blockIdx.x * 64 + threadIdx.x] & 3], 1); /* OTHER counts_and_reads */
    if (!bug)
        __syncthreads();
    if (threadIdx.x < 4)
        y[blockIdx.x * 4 + threadIdx.x] = bins[threadIdx.x]; /* BUG counts_and_reads */
}

__device__ int total;

#pragma cf kernel grid(n) in(x[n])out(y[n])
__global__ void device_total(const int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (bug)
        total += x[i]; /* BUG device_total */
    else
        atomicAdd(&total, x[i]);
    y[i] = 1;
}

/* A step of Jacobi's method that is done in place by mistake. */
#pragma cf kernel grid(n) inout(u[n])
__global__ void in_place(float *u, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        u[i] = bug ? 0.5f * (u[i - 1] + u[i + 1]) : 2 * u[i]; /* BUG in_place */
}

/* If x and y are the same array, another thread may have written the element that this one reads. */
#pragma cf kernel grid(n) in(x[n + 1]) out(y[n]) inplace(x, y)
__global__ void false_inplace(const int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i + bug]; /* BUG false_inplace */
}

/* Two arrays in dynamic shared memory overlap. */
#pragma cf kernel blocks(n) block(32) shared(64 * sizeof(int)) out(y[n][32])
__global__ void carved(int *y, int n, int bug)
{
    extern __shared__ int memory[];
    int *first = memory, *second = memory + 32 - bug;
    first[threadIdx.x] = threadIdx.x;            /* OTHER carved */
    second[threadIdx.x] = 2 * threadIdx.x + 100; /* BUG carved */
    __syncthreads();
    y[blockIdx.x * 32 + threadIdx.x] = first[31 - threadIdx.x] + second[31 - threadIdx.x];
}

/* ---- Waiting ---- */

#pragma cf kernel blocks(1) block(64) out(y[64])
__global__ void divergent(int *y, int bug)
{
    if (bug ? threadIdx.x % 2 == 0 : threadIdx.x < 32)
        __syncthreads(); /* BUG divergent */
    else if (bug)
        __syncwarp(); /* OTHER divergent */
    else
        __syncthreads();
    y[threadIdx.x] = 1;
}

/* Only threads with an element reach the barrier; the others go on to the end. A barrier does not wait for threads that
 * have returned. */
#pragma cf kernel grid(n) block(64) in(x[n]) out(y[n])
__global__ void barrier_in_branch(const int *x, int *y, int n, int bug)
{
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (!bug && i >= n)
        return;
    if (i < n) {
        tile[threadIdx.x] = x[i];
        __syncthreads(); /* BUG barrier_in_branch */
        y[i] = tile[0];
    }
} /* OTHER barrier_in_branch */

/* Like barrier_in_branch(), in a kernel that ends with a return. */
#pragma cf kernel grid(n) block(64) in(x[n]) out(y[n])
__global__ void barrier_before_return(const int *x, int *y, int n, int bug)
{
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (!bug && i >= n)
        return;
    if (i < n) {
        tile[threadIdx.x] = x[i];
        __syncthreads(); /* BUG barrier_before_return */
        y[i] = tile[0];
    }
    return; /* OTHER barrier_before_return */
}

/* Like barrier_in_branch(), in a loop whose last step is taken by all threads but one, which reaches the end first. */
#pragma cf kernel blocks(1) block(64) in(x[n]) out(sums[64])
__global__ void barrier_in_last_step(const int *x, int *sums, int n, int bug)
{
    __shared__ int sum[64];
    sum[threadIdx.x] = 0;
    __syncthreads();
    for (int first = 0; first < n; first += 64) {
        if (first + (int)threadIdx.x < n) {
            sum[threadIdx.x] += x[first + threadIdx.x];
            if (bug)
                __syncthreads(); /* BUG barrier_in_last_step */
        }
        if (!bug)
            __syncthreads();
    }
    sums[threadIdx.x] = sum[threadIdx.x];
    if (threadIdx.x < 63)
        return;
} /* OTHER barrier_in_last_step */

/* Lanes that have left the loop wait at another barrier than the rest of their warp. */
#pragma cf kernel blocks(n) block(64) in(x[n][64])out(sums[n])
__global__ void barrier_in_loop(const int *x, int *sums, int n, int bug)
{
    __shared__ int part[64];
    part[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    for (int half = 32; half; half /= 2) {
        if (bug && (int)threadIdx.x >= half)
            break;
        __syncthreads(); /* OTHER barrier_in_loop */
        if ((int)threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads(); /* BUG barrier_in_loop */
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}

/* Waits for the copy only in the thread that made it. */
#pragma cf kernel blocks(1) block(64) in(x[64]) out(y[64])
__global__ void pipeline(const int *x, int *y, int bug)
{
    __shared__ int tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(int)); /* BUG pipeline */
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (!bug)
        __syncthreads();
    y[threadIdx.x] = tile[63 - threadIdx.x]; /* OTHER pipeline */
}

#endif

#ifndef WITHOUT_POISON
/* ---- Uninitialized memory ---- */

#pragma cf kernel blocks(n) block(64) in(x[n][64])out(y[n][64])
__global__ void unwritten_shared(const int *x, int *y, int n, int bug)
{
    __shared__ int tile[64];
    int own = blockIdx.x * 64 + threadIdx.x;
    if (!bug || threadIdx.x != 7 || blockIdx.x == 0)
        tile[threadIdx.x] = x[own];
    __syncthreads();
    y[own] = tile[threadIdx.x ^ 1]; /* BUG unwritten_shared */
}

#pragma cf kernel blocks(n) block(8, 4) in(x[n][4][8]) out(y[n][8][4])
__global__ void unwritten_row(const int *x, int *y, int n, int bug)
{
    __shared__ int tile[4][9];
    int own = threadIdx.y * 8 + threadIdx.x;
    if (!bug || threadIdx.y != 2)
        tile[threadIdx.y][threadIdx.x] = x[blockIdx.x * 32 + own];
    __syncthreads();
    y[blockIdx.x * 32 + own] = tile[own % 4][own / 4]; /* BUG unwritten_row */
}

/* Reads what the previous block left in shared memory. */
#pragma cf kernel blocks(n) block(32) out(y[n][32])
__global__ void of_former_block(int *y, int n, int bug)
{
    __shared__ int tile[32];
    if (!bug || blockIdx.x == 0)
        tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[blockIdx.x * 32 + threadIdx.x] = tile[31 - threadIdx.x]; /* BUG of_former_block */
}

/* Copies whole structs, whose padding need not have been written. */
#pragma cf kernel blocks(n) block(32) out(y[n][32])
__global__ void padded(int *y, int n, int bug)
{
    __shared__ struct small {
        char tag;
        int value;
    } one[32], other[32];
    __shared__ struct large {
        double a;
        char b;
        short c[9];
    } two[32], another[32];
    int t = threadIdx.x;
    one[t].tag = 'a';
    if (!bug || t != 3)
        one[t].value = t;
    two[t].a = t;
    two[t].b = 'b';
    for (int i = 0; i < 9; i++)
        two[t].c[i] = i;
    __syncthreads();
    other[t] = one[31 - t];
    another[t] = two[31 - t];
    const large own = another[t];
    y[blockIdx.x * 32 + t] = other[t].tag + (int)own.a + own.b + own.c[t % 9] + other[t].value; /* BUG padded */
}

#pragma cf kernel include("planted_types.h") grid(n) out(y[n])
__global__ void out_struct(struct planted_pair *y, int n, int bug) /* BUG out_struct */
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - bug) {
        y[i].tag = 'a';
        y[i].value = i;
    }
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

#pragma cf kernel grid(n) scratch(tmp[2 * n]) zero(tmp[n]) out(y[n])
__global__ void unwritten_after_zeros(int *tmp, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = tmp[i] + tmp[i + bug]; /* BUG unwritten_after_zeros */
}

#pragma cf kernel grid(n) scratch(tmp[n]) zero(tmp) rezero(tmp) out(y[n])
__global__ void left_in_scratch(int *tmp, int *y, int n, int bug) /* BUG left_in_scratch */
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    tmp[i]++;
    y[i] = tmp[i];
    if (i < n - 3 * bug)
        tmp[i] = 0;
}

#pragma cf kernel grid(n) out(y[n])
__global__ void unwritten_out(float *y, int n, int bug) /* BUG unwritten_out */
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - bug)
        y[i] = 1;
}

/* Copies a number of bytes for which compilers use a few moves instead of a call. */
#pragma cf kernel grid(n) in(x[n][8]) out(y[n][8])
__global__ void copies(const int *x, int *y, int n, int bug) /* BUG copies */
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - bug)
        memcpy(y + 8 * i, x + 8 * i, 8 * sizeof(int));
}

/* Reads an output. */
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

/* Reads a lane that did not take part in the vote; it does not matter whether the lane has ended. */
#pragma cf kernel blocks(3) block(64) out(y[3][64])
__global__ void left_out_lane(int *y, int bug)
{
    unsigned lanes = __ballot_sync(0xffffffff, threadIdx.x & 1);
    y[blockIdx.x * 64 + threadIdx.x] = 0;
    if (threadIdx.x & 1)
        y[blockIdx.x * 64 + threadIdx.x] = __shfl_sync(lanes, threadIdx.x, threadIdx.x - bug); /* BUG left_out_lane */
}

/* Uses an atomic operation that the compiler splits into two accesses. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void greatest_of_out(const int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (!bug)
        y[i] = 0;
    atomicMax(&y[i], x[i]); /* BUG greatest_of_out */
}

#pragma cf kernel blocks(1) block(64) out(y[64])
__global__ void own_lane(int *y, int bug)
{
    unsigned lanes = bug && threadIdx.x == 37 ? 0xffff0000 & ~(1u << 5) : 0xffffffff;
    y[threadIdx.x] = __ballot_sync(lanes, 1) != 0; /* BUG own_lane */
}

#endif

/* ---- Ends ---- */

/* Never ends. */
#pragma cf kernel blocks(1) block(1) inout(y[1])
__global__ void spins(volatile int *y, int bug)
{
    while (bug && *y == 0)
        ;
}

#pragma cf kernel grid(n) in(x[n])out(y[n])
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

/* ---- Inputs that are written: their pointers permit it ---- */

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void writes_input(int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i] = 2 * x[i];
    if (bug && i == 300)
        x[i] = y[i]; /* BUG writes_input */
}

#pragma cf kernel grid(n) in(x[4 * n]) inout(y[4 * n])
__global__ void copies_into_input(int *x, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        memcpy((bug ? x : y) + 4 * i, (bug ? y : x) + 4 * i, 4 * sizeof *x); /* BUG copies_into_input */
}

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void changes_input(int *x, int *y, int n, int bug) /* BUG changes_input */
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i] = 2 * x[i];
    x[i] += bug && i >= 300;
}

/* ---- Operations, which planted.c defines ---- */

#pragma cf kernel internal grid(n) in(x[n]) inout(total[1])
__global__ void adds(const int *x, int *total, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && bug)
        *total += x[i]; /* BUG launches_a_race */
    else if (i < n)
        atomicAdd(total, x[i]); /* BUG leaves_scratch */
}

#pragma cf kernel internal grid(n + 1) in(x[n], total[1]) inout(y[n])
__global__ void subtracts(const int *x, const int *total, int *y, int n, int bug)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n + bug)
        y[i] = (i < n ? x[i] : 0) - *total; /* BUG launches_past_end */
}

#pragma cf operation in(x[n]) out(y[n]) scratch(other[8], total[1]) zero(total) uses(adds, subtracts)
void launches_a_race(const int *x, int *y, int *other, int *total, int n, int bug);

#pragma cf operation in(x[n]) out(y[n]) scratch(total[1]) zero(total) uses(adds, subtracts)
void launches_past_end(const int *x, int *y, int *total, int n, int bug);

/* Fills scratch memory through a call, copies it, and works on the copy. */
#pragma cf operation in(x[n]) out(y[n]) scratch(other[8], total[8]) uses(adds, subtracts)
void leaves_scratch(const int *x, int *y, int *other, int *total, int n, int bug);

#pragma cf operation in(x[n]) out(y[n]) scratch(total[1]) zero(total) uses(launches_past_end)
void leaves_out(const int *x, int *y, int *total, int n, int bug); /* BUG leaves_out */
