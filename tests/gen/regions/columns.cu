/* columns.cu - kernels for test_regions.c with arrays of each thread that live across barriers. All have n / 96 blocks of
 * 96 threads and one element to a thread. */

/* Values move along a queue, in loops whose steps are written out. */
#pragma cf kernel blocks(n / 96) block(32, 3) in(in[n]) out(out[n])
__global__ void queues(const float *in, int n, float *out)
{
    __shared__ float tile[3][34];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.x * 96 + ty * 32 + tx;
    float before[3], behind[4], sum = 0;
    int counts[2] = {tx, ty};
    for (int k = 2; k >= 0; k--)
        before[k] = in[(i + k) % n];
    for (int k = 0; k < 4; k++)
        behind[k] = in[(i + 3 * k + 1) % n];
    for (int z = 0; z < 5; z++) {
        for (int k = 3 - 1; k > 0; k--)
            before[k] = before[k - 1];
        before[0] = behind[0];
        for (int k = 0; k < 4 - 1; k++)
            behind[k] = behind[k + 1];
        behind[3] = in[(i + z * 7) % n];
        __syncthreads();
        tile[ty][tx + 1] = before[0];
        if (tx < 1) {
            tile[ty][0] = behind[1];
            tile[ty][33] = before[2];
        }
        __syncthreads();
        for (int k = 0; k < 3; k++)
            sum += before[k] * (tile[ty][tx + 2] - tile[ty][tx]) + behind[k];
        counts[z % 2] += (int)sum & 3;
        counts[1]++;
    }
    out[i] = sum + counts[0] - 2 * counts[1];
}

/* Each thread has several results, and the loops over results stand around the loops over threads. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
#pragma cf instances(short_ones: 4; long_ones: 20)
template <int COUNT> __global__ void results(const float *in, int n, float *out)
{
    __shared__ float a[6 * COUNT], b[96];
    int row = threadIdx.x / 16, column = threadIdx.x % 16;
    float result[COUNT] = {0.5f};
    for (int tile = 0; tile < 3; tile++) {
        b[threadIdx.x] = in[(blockIdx.x * 32 + tile * 11 + threadIdx.x) % n];
        for (int k = column; k < COUNT; k += 16)
            a[row * COUNT + k] = in[(k + row + tile) % n];
        __syncthreads();
        for (int k = 0; k < 6; k++)
            for (int r = 0; r < COUNT; r++)
                result[r] += a[row * COUNT + r] * b[k * 16 + column];
        __syncthreads();
    }
    float sum = 0;
    for (int r = 0; r < COUNT; r++)
        sum += result[r] * (r + 1);
    out[blockIdx.x * 96 + threadIdx.x] = sum;
}

/* Threads choose elements of arrays, which are narrow and wide, and more than the stack holds; and some threads end. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void chosen_elements(const float *in, int n, float *out)
{
    __shared__ float s[96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t;
    unsigned char bytes[5];
    double wide[8];
    bool flags[3] = {false, true, false};
    short none[2];
    float given[2] = {1, 2}, same[2] = {in[i], 3};
    const float weights[3] = {1, 2, 4};
    for (int k = 0; k < 5; k++)
        bytes[k] = 250 + k * t;
    for (int k = 0; k < 8; k++)
        wide[k] = in[(i + k) % n] / 3.0;
    none[1] = t;
    s[t] = in[i];
    __syncthreads();
    if (t % 5 == 3) {
        out[i] = -1;
        return;
    }
    flags[t % 3] = bytes[t % 5] + 300;
    bytes[(t + 1) % 5] += s[95 - t];
    wide[t & 7] -= s[(t + 7) % 96];
    none[0] = none[1]++;
    given[0] += wide[1];
    __syncthreads();
    s[t] = bytes[1] + wide[t % 8] + flags[0] + 2 * flags[1] + 4 * flags[2];
    __syncthreads();
    out[i] = s[t] + bytes[4] + none[0] * none[1] + given[0] + same[t & 1] * weights[t % 3];
}

/* The array belongs to the lanes of a warp. */
#pragma cf kernel blocks(n / 96) block(32, 3) in(in[n]) out(out[n])
__global__ void elements_of_lanes(const float *in, int n, float *out)
{
    int lane = threadIdx.x, i = blockIdx.x * 96 + threadIdx.y * 32 + lane;
    float part[4];
    for (int k = 0; k < 4; k++)
        part[k] = in[(i + 5 * k) % n];
    for (int k = 16; k > 0; k /= 2)
        part[0] += __shfl_xor_sync(0xffffffff, part[0], k);
    for (int k = 0; k < 3; k++)
        part[k + 1] += part[k];
    float other = __shfl_down_sync(0xffffffff, part[3], 1);
    out[i] = part[1] - part[lane & 3] + other;
}

/* A loop fills an array before other uses in each step, beside arrays that keep elements of the last step. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void refilled(const float *in, int n, float *out)
{
    __shared__ float a[96], b[96];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, row = t / 8, column = t % 8;
    float product[4] = {0};
    float of_a[4] = {};
    float of_b[3] = {1.5f, -2};
    float partly[3] = {1, 2, 3};
    float last[2] = {0.5f};
    for (int step = 0; step < 3; step++) {
        a[t] = in[i] + step;
        b[t] = in[(i + 7 * step) % n];
        __syncthreads();
        for (int k = 0; k < 8; k++) {
            for (int j = 0; j < 4; ++j)
                of_a[j] = a[(row * 8 + j + k) % 96];
            for (int j = 0; j < 3; j++) {
                of_b[j] = b[(column + 8 * k + j) % 96];
            }
            for (int j = 0; j < 2; j++)
                partly[j] = of_a[j] - of_b[j];
            product[0] += last[0] - last[1];
            for (int j = 0; j < 2; j += 1)
                last[j] = of_b[j] / 8;
            for (int j = 0; j < 4; j++)
                product[j] = product[j] / 2 + of_a[j] + of_b[j % 3] / 4 + partly[2 - j % 3];
        }
        __syncthreads();
    }
    out[i] = product[0] + product[1] * 2 + product[2] * 4 + product[3] * 8 + last[1];
}
