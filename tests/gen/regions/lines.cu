/* lines.cu - kernels for test_regions.c with warps that have lanes in several rows of their block. */
#define ALL 0xffffffffu

/* Two rows are a warp, with neighbours along x and y, and sums of warps. */
#pragma cf kernel blocks(n / 96) block(16, 6) in(in[n]) out(out[n])
__global__ void pairs_of_rows(const float *in, int n, float *out)
{
    __shared__ float part[3];
    int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x, lane = t & 31, warp = t >> 5, i = blockIdx.x * 96 + t;
    float v = in[i], own = 0;
    if (x > 0 && x < 15 && y > 0)
        own = in[i] + in[i - 1] * 2 - in[i - 16];
    for (int k = 16; k > 0; k /= 2)
        own += __shfl_down_sync(ALL, own, k);
    if (lane == 0)
        part[warp] = own;
    if (x < 3)
        v += __shfl_up_sync(0x70007, v, 1, 16) * y;
    __syncthreads();
    if (warp == 1)
        v += __shfl_xor_sync(ALL, v + x, 17) + part[y / 2];
    out[i] = v + part[warp] + part[2];
}

/* Warps begin and end within rows, and the last one has few lanes. */
#pragma cf kernel blocks(n / 60) block(12, 5) in(in[n]) out(out[n])
__global__ void parts_of_rows(const float *in, int n, float *out)
{
    __shared__ float s[5][12];
    const int x = threadIdx.x, y = threadIdx.y, i = blockIdx.x * 60 + y * 12 + x;
    const unsigned int t = threadIdx.y * blockDim.x + threadIdx.x, lane = t % 32;
    const unsigned int mask = t < 32 ? ALL : 0xfffffff;
    float v = in[i];
    s[y][x] = v;
    __syncthreads();
    v += __shfl_up_sync(mask, v, 2) + lane;
    if (x >= 3 && x < 9)
        v += s[y][x - 3];
    if (v > 4)
        v -= s[y][11 - x];
    v += __popc(__ballot_sync(mask, x > 3 && v > 2)) + __any_sync(mask, y == 4);
    for (int k = lane; k < 40; k += 32)
        v += in[k] + __shfl_sync(__activemask(), v, 1);
    __syncthreads();
    s[y][x] = v;
    for (int k = x; k < 25; k += 5)
        v += in[k] * y;
    out[i] = v + __shfl_xor_sync(mask, v, 1) + s[y][0];
}

/* Three axes, rows of different layers in one warp, and a loop that depends on the warp. */
#pragma cf kernel blocks(n / 96) block(4, 3, 8) in(in[n]) out(out[n])
__global__ void layers_of_warps(const float *in, int n, float *out)
{
    __shared__ float sums[3];
    const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, warp = t / 32;
    float v = in[blockIdx.x * 96 + t] + threadIdx.z;
    for (int k = 0; k <= warp; k++) {
        v += __shfl_xor_sync(ALL, v, 4) / 8;
        if (threadIdx.y == 1)
            v += k;
    }
    if (threadIdx.x < 2 && threadIdx.z > 3)
        v += __shfl_down_sync(__activemask(), v, 1);
    if (t % 32 == 3)
        sums[warp] = v;
    __syncthreads();
    out[blockIdx.x * 96 + t] = v + sums[2 - warp];
}

/* Threads end before the operations of warps, and warps end as a whole. */
#pragma cf kernel blocks(n / 96) block(8, 12) in(in[n]) out(out[n])
__global__ void ends_of_rows(const float *in, int n, float *out)
{
    __shared__ float s[96];
    int x = threadIdx.x, t = threadIdx.x + blockDim.x * threadIdx.y, i = blockIdx.x * 96 + t;
    out[i] = 0;
    if (x == 7 || t > 70)
        return;
    float v = in[i];
    int count = (t >> 5) + 1;
    v += __shfl_down_sync(__activemask(), v, 2, 8);
    for (int k = 0; k < count; k++)
        v += __popc(__ballot_sync(__activemask(), v > k));
    s[t] = v;
    __syncthreads();
    int other = t % 8 == 6 ? t : t + 1;
    out[i] = s[other < 71 ? other : 0] + v;
}

/* Arrays, vectors and variables of a warp live across sections. */
#pragma cf kernel blocks(n / 96) block(6, 16) in(in[n]) out(out[n])
__global__ void kept_in_lines(const float *in, int n, float *out)
{
    __shared__ double s[16][6];
    const int x = threadIdx.x, y = threadIdx.y, t = y * 6 + x, lane = t % 32, i = blockIdx.x * 96 + t;
    double v = in[i];
    float pair[2] = {in[i], 1};
    float3 three = make_float3(x, y, 2);
    for (int k = 1; k < 4; k *= 2) {
        double other = __shfl_up_sync(ALL, v, k);
        if (lane >= k)
            v += other;
        pair[k & 1] += y;
        three.z += __shfl_sync(ALL, v, y);
        s[y][x] = v;
        __syncthreads();
        v += s[15 - y][5 - x];
        __syncthreads();
    }
    int match = __popc(__match_any_sync(ALL, y)), most = __reduce_max_sync(ALL, (int)v % 7 + x);
    s[y][x] = three.z + match;
    __syncthreads();
    out[i] = v + pair[0] + pair[1] + three.x * three.y + s[y][5 - x] + most;
}

/* The block's size along both axes is known at run time alone. */
#pragma cf kernel blocks(n / 40) block(n / 60, n / 96) in(in[n]) out(out[n])
__global__ void sizes_of_launch(const float *in, int n, float *out)
{
    __shared__ float part[2];
    int t = threadIdx.y * blockDim.x + threadIdx.x, i = blockIdx.x * 40 + t;
    unsigned int mask = t < 32 ? ALL : 0xff;
    float v = in[i] + threadIdx.y;
    if (threadIdx.x > 1)
        v += in[i - 2];
    v += __shfl_down_sync(mask, v, 1);
    v += __shfl_xor_sync(mask, v, 4, 8) * threadIdx.x;
    if ((t & 31) == 5)
        part[t / 32] = v;
    __syncthreads();
    out[i] = v + part[t < 32];
}
