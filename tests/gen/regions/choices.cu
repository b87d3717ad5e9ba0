/* choices.cu - kernels for test_regions.c with conditions and clamps within the code of a thread that hold for a range
 * of threads. All have n / 96 blocks of 96 threads and one element to a thread. */
#define SIZE 96

/* One choice between two barriers: the threads outside of its range are known not to meet it. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void choices(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, left = blockIdx.x * SIZE - 3, x = left + t;
    unsigned int u = threadIdx.x, wrapped = threadIdx.x - 4u, limit = n - 5;
    const bool is_inside = x >= 0 && x < n - 7, is_even = t % 2 == 0;
    float sum = 0;
    s[t] = x >= 0 && x < n ? in[x] : 1;
    __syncthreads();
    for (int k = 1; k < 128; k *= 2) {
        float other = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += other, sum += other;
        __syncthreads();
    }
    sum += i + 90 < n ? in[i + 90] : 2;
    __syncthreads();
    sum += is_inside ? in[x] : 3;
    __syncthreads();
    sum += is_inside && is_even ? in[x] : 4;
    __syncthreads();
    sum += t == 0 ? 5 : s[t - 1];
    __syncthreads();
    sum += t == 90 ? 5 : in[t];
    __syncthreads();
    sum += t < 2 || (t > 93) ? in[t] : s[t - 2] + s[t + 2];
    __syncthreads();
    sum += (i < 1) ? 6 : in[i - 1];
    __syncthreads();
    sum += wrapped < 20 ? s[wrapped] : 7;
    __syncthreads();
    sum += x < limit ? 8 : in[i];
    __syncthreads();
    sum += u + 3 < limit % 96 ? s[u + 3] : 9;
    __syncthreads();
    sum += 400 > t && n > 5 ? s[t] : in[t];
    __syncthreads();
    sum += t > 500 ? 10 : t < -1 ? 11 : s[t];
    __syncthreads();
    out[i] = sum;
}

/* Several in one region, also in guards, subscripts and one another, and calls of min() and max(). */
#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void clamps(const float *in, int n, float *out)
{
    __shared__ float s[6][16];
    const int tx = threadIdx.x, ty = threadIdx.y, least = blockIdx.x % 4, most = 15 - blockIdx.x % 3;
    int i = blockIdx.x * SIZE + ty * 16 + tx, near = blockIdx.x % 2 + tx;
    unsigned int above = 14;
    long long far = n % 10;
    s[ty][tx] = in[i];
    __syncthreads();
    float sum = s[ty][max(tx - 1, least)] + s[ty][min(tx + 1, most)] + s[max(ty - 1, 0)][tx];
    sum += s[ty][tx > 0 ? tx - 1 : tx] * s[ty][tx == 15 ? 15 : tx + 1] + s[ty][min(max(tx - 2, 0), most)];
    __syncthreads();
    sum += s[ty][max(0, min(most, tx + 3))] + s[ty][min(far, (long long)tx)] + s[ty][min(threadIdx.x, above)];
    sum += near > 2 ? near < 14 ? s[ty][near + 1] : s[ty][0] : (near == 1 ? s[5][tx] : 3), sum += near > 3 ? 1 : 2;
    const int before = max(near - 3, 0), behind = min(near + 3, most), either = max(near - 1, min(least, 3));
    __syncthreads();
    sum += s[ty][before] + 2 * s[ty][behind] + 4 * s[ty][either] + max(tx, 7) + min(ty, 3) + min(4u, above);
    if (tx >= least && ty < 5) {
        float own = tx > 3 ? s[ty][tx - 4] : 1;
        for (int k = 0; k < 3; k++)
            own += s[ty][max(tx - k, 0)] + s[ty][min(tx + 1, 15)];
        sum += own;
    } else if (tx < 2)
        sum += tx < 1 ? 5 : s[ty][tx - 1];
    __syncthreads();
    out[i] = sum;
}

/* Limits that are not to be read before: memory that the same thread changes, and a quotient that may not exist. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void limits(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    __shared__ int count;
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, zero = n < 0;
    float sum = 0;
    s[t] = in[i];
    if (t == 5)
        count = 2;
    __syncthreads();
    if (t == 5) {
        count = 50;
        sum = t < count ? 1 : 2;
    }
    if (zero)
        sum += t < n / zero ? s[t] : 3;
    sum += zero && t < n % zero ? 4 : 5;
    __syncthreads();
    int last = 80;
    if (t % 3 == 0) {
        int t = 95 - i % SIZE, last = 40;
        sum += t < last ? s[t] : 6;
    }
    sum += t < last ? s[t + 15] : 7;
    out[i] = sum + (t < count ? s[count] : 8);
}
