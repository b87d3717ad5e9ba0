/* halos.cu - kernels for test_regions.c whose blocks fill tiles with a halo by a flat index, and load elements under
 * guards. All have n / 96 blocks of 96 threads and one element to a thread. */
#define WIDTH 16
#define HEIGHT 6
#define SIZE (WIDTH * HEIGHT)
#define W (WIDTH + 4)
#define H (HEIGHT + 4)

/* The code of the loops depends only on the flat index: with clamps, a limit within a row, and shifts and masks. */
#pragma cf kernel blocks(n / SIZE) block(WIDTH, HEIGHT) in(in[n])out(out[n])
__global__ void halo_by_rows(const float *in, int n, float *out)
{
    __shared__ float tile[H][W], packed[3][4][8], own[SIZE];
    int tx = threadIdx.x, ty = threadIdx.y, tid = ty * WIDTH + tx, x0 = blockIdx.x * 5 - 2, y0 = blockIdx.x % 7 - 2;
    own[tid] = 0;
    for (int k = tid; k < W * H; k += WIDTH * HEIGHT) {
        int y = k / W, x = k % W;
        int gy = min(max(y0 + y, 0), 5), gx = min(max(x0 + x, 0), 19);
        tile[y][x] = in[gy * 20 + gx];
    }
    __syncthreads();
    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < SIZE - 3; k += blockDim.x * blockDim.y) {
        float v = k & 7;
        for (unsigned int c = k >> 5; c < 3; c++)
            v += tile[c + 1][k & 7] + k / 32;
        packed[k / 32][(k >> 3) % 4][k & 7] = v;
    }
    for (int k = tid; k < 401; k += SIZE)
        own[k % 12 + k / 12 % 8 * 12] += in[k] + k;
    __syncthreads();
    float sum = tile[ty + 1][tx + 2] + tile[ty + 4][tx + 3] * 2;
    sum += tid < SIZE - 3 ? packed[tid / 32][tid / 8 % 4][tid % 8] : 0;
    out[blockIdx.x * SIZE + tid] = sum + own[tid];
}

/* Limits depend on the block, cells outside are 0, rows keep values across a loop, and a loop is around the tiles. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void halo_of_zeros(const float *in, int n, float *out)
{
    __shared__ float tile[H][W];
    int tid = threadIdx.x, count = blockIdx.x % 2 ? W * H - 7 : W * 3;
    float sum = 0;
    tile[tid / W][tid % W] = 1, tile[(tid + SIZE) / W][(tid + SIZE) % W] = 2;
    if (tid < W * H - 2 * SIZE)
        tile[H - 1][tid + 2 * SIZE - (H - 1) * W] = 3;
    __syncthreads();
    for (int c = 0; c < 3; c++) {
        for (int k = threadIdx.x; k < count; k += blockDim.x) {
            int gy = blockIdx.x + k / W - 2, gx = c * 7 + k % W - 2;
            float v = 0.f, w = -1;
            if (gy >= 0 && gy < 9 && gx >= 0 && gx < 20)
                v = in[gy * 20 + gx];
            for (int j = 0; j < c; j++)
                w += j * v;
            tile[k / W][k % W] = v + w;
        }
        __syncthreads();
        sum += tile[tid / WIDTH + 2][tid % WIDTH + 2] + tile[tid / WIDTH][tid % WIDTH + c];
        __syncthreads();
    }
    out[blockIdx.x * SIZE + tid] = sum;
}

/* Loops that fill no tile: with other steps and starts, sums of a thread, and code that reads the thread's index. */
#pragma cf kernel blocks(n / SIZE) block(WIDTH, HEIGHT) in(in[n])out(out[n])
__global__ void halo_of_threads(const float *in, int n, float *out)
{
    __shared__ float tile[H][W], other[H][W];
    int tx = threadIdx.x, ty = threadIdx.y, tid = ty * WIDTH + tx;
    float sum = 0;
    for (int k = tid; k < W * H; k += SIZE) {
        tile[k / W][k % W] = in[k] + threadIdx.x;
        other[k / W][k % W] = 3;
        sum += in[k / W * W];
    }
    __syncthreads();
    for (int k = tid; k < W * H; k += SIZE * 2)
        tile[k / W][k % W] += sum;
    for (int k = tx * HEIGHT + ty; k < W * H; k += SIZE)
        other[k / W][k % W] += 2 * sum;
    __syncthreads();
    if (tx > 2)
        for (int k = tid; k < W * H; k += SIZE)
            tile[k / W][k % W] += k;
    __syncthreads();
    for (int k = tid; k < W * H; k += SIZE) {
        if (k % W == 13)
            break;
        other[k / W][k % W] += 1;
    }
    __syncthreads();
    out[blockIdx.x * SIZE + tid] = tile[ty][tx] + tile[ty + 4][tx + 4] + other[ty][tx + 4] + other[ty + 4][tx] + sum;
}

/* A thread loads values only if a condition holds. */
#pragma cf kernel blocks(n / SIZE) block(WIDTH, HEIGHT) in(in[n])out(out[n])
__global__ void guarded_loads(const float *in, int n, float *out)
{
    __shared__ float a[HEIGHT][WIDTH], b[HEIGHT][WIDTH];
    __shared__ int c[HEIGHT][WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.x * HEIGHT + ty, rows = n / WIDTH - 4, columns = 13;
    float sum = 0;
    for (int t = 0; t < 3; t++) {
        float u = 0, v = -1.5f, late = 0;
        int whole = 7;
        if (row < rows && t * 5 + tx < columns)
            u = in[row * WIDTH + t * 5 + tx];
        if (t + ty < 5 && tx >= t) {
            v = in[(t + ty) * WIDTH + tx];
        }
        if (tx < 9 && row < rows)
            whole = in[row + tx] * 3;
        if (ty > t)
            late = in[ty * WIDTH + tx];
        a[ty][tx] = u;
        b[ty][tx] = v;
        c[ty][tx] = whole;
        __syncthreads();
        for (int i = 0; i < HEIGHT; i++)
            sum += a[ty][i] * b[i][tx] + c[i][tx];
        sum += late;
        __syncthreads();
    }
    out[(blockIdx.x * HEIGHT + ty) * WIDTH + tx] = sum;
}

/* An array of unknown size cannot live in several regions, so that the condition does not divide them. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void undivided(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float own[] = {in[i], 1};
    if (t < 20)
        own[1] = 2;
    s[t] = own[0] * own[1];
    __syncthreads();
    out[i] = s[95 - t];
}
