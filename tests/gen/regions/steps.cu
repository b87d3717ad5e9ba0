/* steps.cu - kernels for test_regions.c with loops, steps and pointers that regions have in another form. All have n / 96
 * blocks of 96 threads and one element to a thread. */
#define SIZE 96

/* Loops are written with `while`, threads share out an index, and steps are written in all forms. */
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

/* Pointers move along arrays of all kinds. */
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

/* The generator does not change these pointers and steps. */
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

/* Loops without barriers: with `while`, with a pointer that advances by rows, and backwards. */
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

/* Conditions choose indices that are computed from another index before all of these advance, and one index after. */
#pragma cf kernel grid(16, n / SIZE) block(8, 4) in(in[n]) out(out[n])
__global__ void chosen_indices(const float *in, int n, float *out)
{
    const int x = threadIdx.x + blockDim.x * blockIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, plane = n / 6;
    if (x >= 16 || y >= n / SIZE)
        return;
    int c = x + y * 16;
    int west = x == 0 ? c : c - 1, east = x == 15 ? c : c + 1, north = y == 0 ? c : c - 16;
    int south = y == n / SIZE - 1 ? c : c + 16;
    float below = in[c], here = in[c], above = in[c + plane];
    out[c] = here + below * 2 + above * 3 - in[west] + 2 * in[east] - 3 * in[north] + 4 * in[south];
    c += plane;
    west += plane;
    east += plane;
    north += plane;
    south += plane;
    int beside = c == plane ? c : c - 1;
    for (int k = 1; k < 5; k++) {
        below = here;
        here = above;
        above = in[c + plane];
        out[c] = here + below * 2 + above * 3 - in[west] + 2 * in[east] - 3 * in[north] + 4 * in[south] + in[beside];
        c += plane;
        west += plane;
        east += plane;
        north += plane;
        south += plane;
        beside += plane;
    }
    out[c] = above + here * 2 - in[west] + 2 * in[east] - 3 * in[north] + 4 * in[south] + in[beside];
}

/* Parameters are advanced to a thread's own elements, several times and backwards, and are read before that. */
#pragma cf kernel blocks(n / SIZE) block(32, 3) in(in[n]) out(out[n])
__global__ void moved_on(const float *__restrict__ in, int n, float *out)
{
    __shared__ float s[3][32 + 4];
    const unsigned int x = threadIdx.x, y = threadIdx.y;
    float first = in[n - 1];
    s[y][x] = 0;
    if (x < 4)
        s[y][x + 32] = 0;
    __syncthreads();
    in += blockIdx.x * SIZE + y * 32 + x;
    out += n - 1;
    out -= blockIdx.x * SIZE + (y * 32 + x);
    for (int k = 0; k < 2; k++) {
        s[y][x + 2 * k] = *in + k;
        __syncthreads();
        float sum = 0;
        for (int j = -2; j <= 1 + 1; j++)
            sum += (j + 3) * s[2 - y][x + 2 + j - 2 * (j > 0) + 2 * (j < 0)];
        first += sum;
        __syncthreads();
        in -= y + k < 3 ? 0 : 1;
    }
    out[0] = first + in[0];
}

__device__ void add_half(float by, float &sum)
{
    sum += by / 2;
}

/* Numbers get new values, loops change them, and casts and calls name other things that are spelled alike. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void renewed(const float *in, int n, float *out)
{
    __shared__ float s[2][SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, k = t * 2, own;
    float sum = 0, other;
    if (i < n)
        s[0][t] = in[i] * ((float)(n)) + (unsigned char)(t);
    __syncthreads();
    for (int j = 0; j < 4; j++) {
        sum += s[0][k % SIZE] * 3;
        k += 8;
    }
    s[1][t] = sum;
    __syncthreads();
    k = SIZE - 1 - t;
    sum = 1;
    for (int j = 0; j < 3; j++) {
        sum += s[1][k];
        k -= k > 0;
        other = s[0][k];
        own = k;
    }
    __syncthreads();
    if ((t + 1) % 3 == 0)
        s[1][t] += s[1][t - 1] + s[0][t - 2];
    __syncthreads();
    add_half((double)(t), sum);
    other = s[1][t] + own;
    __syncthreads();
    s[0][t] = other;
    __syncthreads();
    out[i] = sum + s[0][SIZE - 1 - t] + k + other;
}

/* A loop begins at a global index in a variable that the test of a block cannot read yet; and tables hold numbers. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void tables(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const unsigned int t = threadIdx.x;
    const int places[] = {3, 0, 2, 1};
    constexpr float factors[2] = {-1, .5f};
    float sum = 0;
    for (unsigned int i = blockIdx.x * SIZE + t; i < n; i += SIZE * 2)
        sum += in[i] * factors[i % 2];
    s[t] = sum;
    __syncthreads();
    out[blockIdx.x * SIZE + t] = s[t / 4 * 4 + places[t % 4]] + places[blockIdx.x % 4];
}
