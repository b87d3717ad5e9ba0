/* ranges.cu - kernels for test_regions.c whose variables change alike in all threads, or only concern a range of them.
 * All have n / 96 blocks of 96 threads and one element to a thread. */
#define SIZE 96

/* Variables of one declaration, some of which are the same for the block. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void declared_together(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const unsigned int t = threadIdx.x, last = SIZE - 1, b = blockIdx.x;
    const float least = in[0], *of = in + t;
    int half = SIZE / 2, i = b * SIZE + t, k = 0, first[2] = {1, 2}, other(t);
    s[t] = in[i] + first[t % 2] + least + *of;
    do {
        float above = s[(t + half) % SIZE], sum = 1, *own = s + t, factor = k;
        __syncthreads();
        *own += above * factor + sum + other;
        half /= 2, k++;
        __syncthreads();
    } while (half > 0);
    out[i] = s[last - t] + k;
}
