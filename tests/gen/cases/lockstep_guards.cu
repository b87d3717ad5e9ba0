// Steps of a warp: conditions let through more lanes than the distance of a step, and other updates are writes, too.
#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void folds_one_lane_too_many(int *x)
{
    __shared__ int v[64];
    const int t = threadIdx.x;
    v[t] = x[t];
    v[t] += v[t + 32];
    __syncwarp();
    if (t <= 16)
        v[t] += v[t + 16];
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void scans_behind_the_first_lane(int *x)
{
    __shared__ int v[32];
    const int t = threadIdx.x;
    v[t] = x[t];
    if (t >= 16)
        v[t] += v[t - 16];
    __syncwarp();
    if (t > 0)
        v[t] += v[t - 1];
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void two_lanes_fold_in_loop(int *x)
{
    __shared__ int v[32];
    const int t = threadIdx.x;
    v[t] = x[t];
    for (int d = 16; d > 0; d /= 2) {
        if (t < 2)
            v[t] += v[t + d];
        __syncwarp();
    }
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void collects_bits(unsigned *x)
{
    __shared__ unsigned v[64];
    const int t = threadIdx.x;
    v[t] = x[t];
    v[t] ^= v[t + 16];
    v[t] |= v[t + 8];
}

// Right: lanes read what none of them writes.
#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void few_lanes_fold(int *x)
{
    __shared__ int v[64];
    const int t = threadIdx.x, u = t + 24;
    v[t] = x[t];
    v[t] += v[t + 32];
    __syncwarp();
    if (t <= 15)
        v[t] += v[t + 16];
    __syncwarp();
    if (t > 23)
        v[t] += v[t + 8];
    __syncwarp();
    if (u < 32)
        v[t] += v[t + 8];
    __syncwarp();
    v[t] += t < 6 ? v[t + 6] : 0;
    __syncwarp();
    if (t >= 5)
        x[t] = 0;
    else
        v[t] += v[t + 5];
    __syncwarp();
    if (t >= 4) {
        x[t] = 0;
    } else {
        v[t] += v[t + 4];
    }
    __syncwarp();
    for (int d = 2; d > 0; d /= 2) {
        if (t < 1)
            v[t] += v[t + d];
        __syncwarp();
    }
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void reads_around(int *x)
{
    __shared__ int v[128], w[128];
    const int t = threadIdx.x, i = t + 32, even = 2 * t;
    v[i] = w[t] = x[t];
    __syncwarp();
    v[i] += v[i + 33];
    v[i] += v[i + 33];
    v[i] += v[i - 32];
    __syncwarp();
    if (i < 40)
        v[i] += v[i - 8];
    __syncwarp();
    w[even] += w[even + 3];
    __syncwarp();
    w[even] += w[even + 1];
    x[t] = v[t] == v[t + 2];
    x[t] += v[t] == v[t + 1];
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void folds_behind_exits(int *x, int n)
{
    __shared__ int v[64];
    const int t = threadIdx.x;
    v[t] = x[t];
    v[t] += v[t + 32];
    __syncwarp();
    do {
        if (t >= 16)
            continue;
        if (n > 5)
            break;
        v[t] += v[t + 16];
    } while (false);
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void folds_behind_breaks(int *x)
{
    __shared__ int v[64];
    const int t = threadIdx.x;
    v[t] = x[t];
    v[t] += v[t + 32];
    __syncwarp();
    do {
        if (t >= 16)
            break;
        v[t] += v[t + 16];
    } while (false);
}
