/* steps.cu - kernels for test_regions.c with loops, steps and pointers that regions have in another form. All have n / 96
 * blocks of 96 threads and one element to a thread. */
#define SIZE 96

/* Loops by `while`, with an index that the threads share out, and steps in all spellings. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void steps(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, k = t, m, last = i, j = 0;
    short narrow = 32700;
    unsigned int wide = t + 4294967200u;
    float sum = 0;
    while (k < n) {
        sum += in[k];
        k += 64;
    }
    for (m = 0; m < 3; m++)
        sum += m * in[t];
    for (m = t; m < n; m = m + 40)
        sum += m * in[m];
    s[t] = sum;
    __syncthreads();
    while (last >= 0) {
        sum += s[last % SIZE];
        last = last - 50;
    }
    while (j < 5) {
        float own = s[(t + j) % SIZE];
        int step = 2;
        if (own > 5)
            sum += own;
        j += step;
    }
    while (j < 9) {
        if (j++ == 7)
            continue;
        j += 1;
    }
    for (; wide > 5;) {
        sum += 1;
        ++wide;
    }
    for (int z = 0; z < 40; z++) {
        narrow = 2 + narrow;
        narrow++;
    }
    __syncthreads();
    out[i] = sum + s[(t + 1) % SIZE] + last + j + wide + narrow;
}

struct pair {
    float a;
    int b;
};

/* Pointers into arrays of all kinds that walk along them. */
#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void walking(const float *in, int n, float *out)
{
    __shared__ float s[6][18];
    __shared__ pair pairs[SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    const unsigned int first = blockIdx.x * SIZE;
    const float *p = in + first + t, *end = in + n, *back = &in[t], *const same = in + t;
    float *row = s[ty], *left = &s[ty][1], sum = 0, *of_row = row + 1;
    pair *own = pairs + t;
    for (int k = 0; k < 3; k++)
        row[tx] = *p + k;
    __syncthreads();
    if (tx == 5)
        *left += tx;
    own->a = *back, own->b = t;
    __syncthreads();
    while (p < end) {
        sum += *p + p[-1 * (tx > 0)];
        p += 16;
    }
    for (const float *q = in + t; q != in + t + 5 && q < end; ++q)
        sum += *q;
    back += SIZE - t;
    back -= 3u;
    back--;
    sum += row[(tx + 1) % 16] + left[-1] + *of_row + (pairs + (t + 1) % SIZE)->a + own->b + (p > end) + *back;
    __syncthreads();
    if (tx == 3)
        *row = tx;
    __syncthreads();
    out[first + t] = sum + *same + (float)(p - in) + s[ty][0];
}

/* Pointers and steps that stay as they are. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void walking_else(const float *in, int n, float *out)
{
    __shared__ float a[SIZE], b[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, k = t, step = 1, m = 0;
    const float *p = in + t, *q = in + t, *from = in + t;
    float *x = a + t, *y = b + t, sum = 0;
    *x = *from++;
    if (t % 2)
        q = in + 1;
    *y = *q + *p;
    __syncthreads();
    for (int z = 0; z < 3; z++) {
        *y = *x * 0.5f + z;
        __syncthreads();
        float *other = x;
        x = y;
        y = other;
        __syncthreads();
    }
    while (k < n) {
        sum += in[k];
        k += step;
        step *= 2;
    }
    while (m < 20) {
        sum += a[(t + m) % SIZE];
        if (in[m] > 6)
            break;
        m += 3;
    }
    {
        const float *in = a + 1;
        sum += *p + *in;
    }
    p += t % 3;
    __syncthreads();
    out[i] = sum + *x + *from + k + m + *p;
}

/* Loops without barriers: by `while`, with a pointer that advances by rows, and backwards. */
#pragma cf kernel blocks(n / SIZE) block(32, 3) in(in[n]) out(out[n])
__global__ void walking_down(const float *in, int n, float *out)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = threadIdx.y, i = x + y * (n / 3);
    if (x >= n / 3)
        return;
    const float *p = in + x, *up = in + (n - n / 3) + x;
    float sum = 0;
    for (int r = 0; r < n / 160; r++) {
        sum = 0.5f * sum + *p;
        p += n / 3;
    }
    int r = 0;
    while (r < n / 160) {
        sum = 0.25f * sum + up[0];
        up -= n / 3;
        r++;
    }
    out[i] = sum + y;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void walking_on(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    while (i < n) {
        out[i] = in[i] * 2;
        i += gridDim.x * SIZE;
    }
}
