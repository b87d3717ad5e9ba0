/* rows.cu - kernels for test_regions.c that divide a flat block into rows themselves. All have n / 96 blocks of 96 threads
 * and one element to a thread. */
constexpr int ROW = 16;

/* The kernel divides by several lengths, and other variables hold the index. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void rows_of_lengths(const float *in, int n, float *out)
{
    __shared__ float tile[3][32], flat[96];
    const int tid = threadIdx.x, last = n - 1;
    int row = tid / 32, column = tid % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int other_row = threadIdx.x / 8, other = threadIdx.x & 7;
    for (int k = 0; k < 4; k++) {
        tile[row][column] = in[blockIdx.x * 96 + row * 32 + column] + k;
        flat[other_row * 8 + 7 - other] = i < last ? in[i + 1] : -1;
        __syncthreads();
        if (column > k)
            tile[row][column] += flat[tid] + flat[(tid + 32) % 96];
        __syncthreads();
    }
    out[i] = tile[(row + 1) % 3][column] + flat[95 - tid];
}

/* Divisors are written in all forms. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void rows_of_spellings(const float *in, int n, float *out)
{
    const int width = 4, length = width * (ROW / 4);
    __shared__ float tile[6][ROW], next[96];
    unsigned int t = threadIdx.x, y = t >> 4, x = t & 15;
    int row = threadIdx.x / ROW, column = threadIdx.x % length;
    tile[row][column] = in[blockIdx.x * 96 + y * ROW + x];
    __syncthreads();
    next[t / 16 * 16 + x] = tile[(y + 1) % 6][column] + (int)(-t / 16) + (float)t / 16 + 2 * t / 16 + t / (16 + 1);
    __syncthreads();
    out[blockIdx.x * 96 + threadIdx.x] = next[row * 16 + 15 - x] + (t % 16 < 4) + (t + 1) / 16 + (3 + t & 15);
}

/* Serial loops run over rows of blocks that are neighbours along y. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void rows_of_blocks(const float *in, int n, float *out)
{
    const int row = blockIdx.x * 3 + (threadIdx.x / 32), column = blockIdx.y * 32 + (threadIdx.x % 32);
    if (row < n / 32 && column < n) {
        float sum = 0;
        for (int k = 0; k < n / 32; k++)
            sum += in[row * 32 + k] * in[k * 32 + column];
        out[row * 32 + column] = sum;
    }
}

/* Indices in rows are compared as signed and unsigned numbers, and around the largest number. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void rows_compared(const float *in, int n, float *out)
{
    __shared__ float tile[3][32];
    int row = threadIdx.x / 32, column = threadIdx.x % 32, tid = threadIdx.x;
    int x = blockIdx.x * 32 + column, far = (blockIdx.x + 67108863) * 32 + column, odd = blockIdx.x * 24 + column;
    unsigned int below = blockIdx.x * 32 + column;
    tile[row][column] = 0;
    __syncthreads();
    if (x < n / 3 - 40 && row < 2)
        tile[row][column] += in[x];
    if (far > 5)
        tile[row][column] += 1;
    if (below >= 45 && odd < 50)
        tile[row][column] += 2;
    if (tid < 41)
        tile[row][column] += in[tid];
    __syncthreads();
    out[blockIdx.x * 96 + tid] = tile[2 - row][column] + (below < -1 ? 1 : 0) + (x - 40 < 7 ? tile[row][column] : 3);
}

/* The blocks of some instances do not consist of whole rows. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
#pragma cf instances(of_32: 32; of_12: 12; of_40_turns: 40)
template <int LENGTH> __global__ void rows(const float *in, int n, float *out)
{
    __shared__ float tile[96 / 12 * 40];
    int row = threadIdx.x / LENGTH, column = threadIdx.x % LENGTH;
    tile[row * LENGTH + column] = in[blockIdx.x * 96 + row * LENGTH + column];
    __syncthreads();
    for (int k = 1; k < 3; k++) {
        float before = column >= k ? tile[row * LENGTH + column - k] : 0;
        __syncthreads();
        tile[row * LENGTH + column] += before;
        __syncthreads();
    }
    out[blockIdx.x * 96 + threadIdx.x] = tile[95 - threadIdx.x];
}

/* The kernel has no barriers, and a serial loop is faster around the rows. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void rows_of_products(const float *in, int n, float *out)
{
    const int row = blockIdx.x * 3 + threadIdx.x / 32, column = threadIdx.x % 32;
    if (row < n / 32 && column < 31) {
        float sum = 0;
        for (int k = 0; k < n / 32; k++)
            sum += in[row * 32 + k] * in[k * 32 + column];
        out[row * 32 + column] = sum;
    } else {
        out[row * 32 + column] = row;
    }
}

/* The size of a block is no constant, and all threads of a block share out elements. */
#pragma cf kernel blocks(5) block(n / 5) in(in[n]) out(out[n])
__global__ void rows_of_any_size(const float *in, int n, float *out)
{
    __shared__ float tile[3][32];
    int row = threadIdx.x / 32, column = threadIdx.x % 32;
    tile[row][column] = in[blockIdx.x * 96 + row * 32 + column];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = tile[2 - row][column];
}

#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void rows_and_elements(const float *in, int n, float *out)
{
    __shared__ float tile[3][32], flat[200];
    int row = threadIdx.x / 32, column = threadIdx.x % 32;
    tile[row][column] = in[blockIdx.x * 96 + row * 32 + column];
    for (int i = threadIdx.x; i < 200; i += blockDim.x)
        flat[i] = in[(blockIdx.x + i) % n];
    __syncthreads();
    out[blockIdx.x * 96 + threadIdx.x] = tile[2 - row][column] + flat[2 * threadIdx.x];
}
