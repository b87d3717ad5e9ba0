/* quotients.cu - kernels for test_regions.c that divide an index by a number that is known only at run time. All have
 * n / 96 blocks of 96 threads and one element to a thread. */

/* Quotients of quotients, of remainders and of sums, divisors of both signs, and 0. */
#pragma cf kernel blocks(n / 96) block(96) in(in[n]) out(out[n])
__global__ void quotients(const float *in, int n, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, size = n / 19, zero = n / 1000, less = -size;
    const int y = i / size, x = i % size, shifted = i - 100;
    int z = x / (size / 3), rest = x % (size / 3);
    long long near = shifted / size + shifted % size * 3ll, far = i / less + i % less + (shifted % size) / 5;
    out[i] = in[y * size + x] + (float)(near + far) + (float)(z * 10 + rest) +
             (float)(i / size / z + i / size % 7 + i / zero + i % zero);
}

/* An unsigned index, and rows that share their threads' elements. */
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

/* Rows shorter than those that are worth to be divided, and indices that change in between. */
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
