/* quotients.cu - kernels for test_regions.c that divide an index by a number that is known only at run time. All have
 * n / 96 blocks of 96 threads and one element to a thread. */

/* Operands are quotients, remainders and sums. Rows with a negative index stay whole. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void quotients(const float *in, int n, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, size = n / 19;
    const int y = i / size, x = i % size, shifted = i - 100;
    int z = x / (size / 3), rest = x % (size / 3);
    long long near = shifted / size + shifted % size * 3ll, far = (shifted % size) / 5;
    out[i] = in[y * size + x] + (float)(near + far) + (float)(z * 10 + rest) + (float)(i / size % 7 + i / n + i % n);
}

/* Rows stay whole for these divisors: small ones, negative ones and 0. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void quotients_of_whole_rows(const float *in, int n, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, size = n / 19, few = n / 240, zero = n / 100000, less = -size;
    out[i] = in[i % size] + (float)(i / few + i % few + i / less + i % less) +
             (float)(i / size / few + i / zero + i % zero);
}

/* The index is unsigned, and the threads of a row share out elements. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void quotients_of_steps(const float *in, int n, float *out)
{
    __shared__ float tile[96];
    const unsigned int size = n / 30, i = blockIdx.x * blockDim.x + threadIdx.x, row = i / size;
    for (unsigned int k = threadIdx.x; k < 96; k += blockDim.x)
        tile[k] = in[k % size] * (float)(k / size) + in[blockIdx.x * 96 + k];
    __syncthreads();
    out[i] = tile[95 - threadIdx.x] + in[row * size + i % size];
    for (int k = 0; k < 3; k++)
        out[i] += in[(row + k) % 30 * size + i % size];
}

/* The index changes between two quotients. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void quotients_that_stay(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = i;
    const int few = n / 240, size = n / 20;
    float sum = in[i / few] + (float)(i % few);
    k /= size;
    sum += in[k] + (float)(k % size);
    i = i % 96 / size;
    out[blockIdx.x * 96 + threadIdx.x] = sum + (float)i;
}

/* Quotients are in a part of a row that conditions divide. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void quotients_of_parts(const float *in, int n, float *out)
{
    const int i = blockIdx.x * 96 + threadIdx.x, size = n / 19;
    float sum = 0;
    if (i > 10)
        sum = in[0];
    sum += (float)(i < 400 ? i / size : i % size);
    out[i] = sum;
}

/* Operands are parts of casts, calls, signs and products. */
__device__ float quotients_value(int i)
{
    return (float)(i + 1);
}

#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void quotients_of_others(const float *in, int n, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, size = n / 20;
    float sum = in[i % size] + static_cast<float>(i) / size + (float)(i) / size + (float)i / size;
    sum += quotients_value(i) / size + (float)(-i / size + 3 * i / size + n / (i + 1) % size + (unsigned char)(i) / size);
    sum += (float)(-(i + 5) % size + (~i) / size + ~i / size) + i / (float)size + i / ((float)size) + i / (size * 0.5f);
    out[i] = sum + (float)(n - i / size);
}

/* Loops and blocks around the quotient declare the divisor, or another variable has the divisor's name. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void quotients_of_inner(const float *in, int n, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int size = n / 20, all = n / 24;
    float sum = in[i % all];
    for (int k = 5; k < 9; k++) {
        int size = k * 10, inner = k * 20;
        sum += (float)(i / size + i % inner);
    }
    for (int size = 31; size < 99; size *= 2)
        sum += (float)(i / size);
    {
        const int n = 50, less = i + n;
        sum += (float)(i / n + less / size);
    }
    out[i] = in[i / size] + sum;
}

#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void quotients_of_changing(const float *in, int n, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int size = n / 20, step = n / 30, x = i + 3;
    float sum = (float)(x / size);
    x = x < n ? x : 0;
    sum += (float)(x / size);
    for (int k = 0; k < 3; k++) {
        sum += (float)(i / step);
        step += k;
    }
    out[i] = in[i / size] + sum;
}
