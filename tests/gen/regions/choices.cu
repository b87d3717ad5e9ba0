/* choices.cu - kernels for test_regions.c with conditions and clamps within the code of a thread that hold for a range
 * of threads. All have n / 96 blocks of 96 threads and one element to a thread. */
#define SIZE 96

/* A region has one choice: the loop for threads outside of its range takes the other value without a test. */
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

/* A region has several choices, also in guards, in subscripts and in one another, and calls of min() and max(). */
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

/* The loop must not read a limit early: the thread changes its memory, or the limit is a quotient by 0. */
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

/* Conditions are variables that are assigned after their declaration, and between barriers. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void assigned(const float *in, int n, float *out)
{
    __shared__ float now[SIZE], next[SIZE];
    __shared__ int count;
    int t, i, half, steps = n > 0 ? 4 : 0;
    bool is_inside, has_computed = false, is_far, is_counted = false;
    t = threadIdx.x;
    half = SIZE / 2;
    i = blockIdx.x * SIZE + t;
    is_inside = i > 2 && i < n - 4;
    is_far = t > 40;
    now[t] = is_inside ? in[i] : 1;
    if (t == 0)
        count = 50;
    __syncthreads();
    for (int k = 1; k <= steps; k++) {
        has_computed = is_inside && t >= k && t < SIZE - k;
        if (has_computed)
            next[t] = now[t] + now[t - 1] + now[min(t + k, SIZE - 1)];
        __syncthreads();
        if (has_computed && k < steps)
            now[t] = next[t];
        __syncthreads();
    }
    float sum = now[t];
    if (has_computed)
        sum += 100;
    int least = 5;
    has_computed = t > least;
    least = 50;
    if (has_computed)
        sum += 200;
    is_counted = t < count;
    __syncthreads();
    if (t == 0)
        count = 10;
    __syncthreads();
    if (is_counted && is_far)
        sum += count;
    for (int k = 0; k < 3; k++) {
        if (has_computed)
            sum += 400;
        has_computed = t > 30 + k;
        __syncthreads();
        if (has_computed)
            sum += 7;
    }
    if (is_far) {
        has_computed = t < half;
        if (t > 60)
            has_computed = in[i] > 3;
        if (has_computed)
            sum += 800;
    }
    int late;
    __syncthreads();
    late = now[(t + 1) % SIZE];
    __syncthreads();
    if (late < 20)
        sum += late;
    if (t < half)
        sum += now[t + half] > 9 ? 1 : 2;
    out[i] = sum;
}

/* The value of a mask names an index, and another variable hides this index. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void assigned_hidden(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    bool is_far = false;
    float sum = 0;
    s[t] = in[i];
    __syncthreads();
    is_far = t > 30;
    {
        int t = 7;
        if (is_far)
            sum += s[t];
    }
    __syncthreads();
    out[i] = sum;
}

/* A lambda and a pointer change a mask. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void assigned_by_lambda(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    bool is_far = false;
    float sum = 0;
    s[t] = in[i];
    __syncthreads();
    auto change = [&] { is_far = t > 60; };
    is_far = t > 5;
    change();
    if (is_far)
        sum += s[95 - t];
    sum += is_far ? s[t - 5] : 2;
    __syncthreads();
    out[i] = sum;
}

/* Masks are of types that are too narrow for their values, or contain floating-point numbers. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void assigned_narrow(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, all = n / 480 * 256;
    float a = blockIdx.x + 1.1f, b = n + 3.3f, c = a * b - 1;
    unsigned char low = 0, late;
    int of_late = 0;
    bool is_far = false;
    float sum = 0;
    s[t] = in[i];
    __syncthreads();
    low = all;
    late = all;
    of_late = late;
    is_far = t > 20 && a * b - c > 0.5f;
    if (t > 3 && low)
        sum += s[95 - t];
    if (t > 3 && late)
        sum += s[95 - t] * 2;
    if (t > 3 && of_late)
        sum += s[95 - t] * 4;
    if (is_far)
        sum += s[95 - t] * 8;
    sum += t > 20 && low ? s[t - 20] : 7;
    __syncthreads();
    out[i] = sum;
}

/* A bool is kept in memory outside of the stack. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void kept_bools(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i = blockIdx.x * SIZE + threadIdx.x;
    float v0 = in[i] + 0, v1 = in[i] + 1, v2 = in[i] + 2, v3 = in[i] + 3, v4 = in[i] + 4, v5 = in[i] + 5,
          v6 = in[i] + 6, v7 = in[i] + 7, v8 = in[i] + 8, v9 = in[i] + 9, v10 = in[i] + 10, v11 = in[i] + 11,
          v12 = in[i] + 12, v13 = in[i] + 13, v14 = in[i] + 14, v15 = in[i] + 15, v16 = in[i] + 16,
          v17 = in[i] + 17, v18 = in[i] + 18, v19 = in[i] + 19, v20 = in[i] + 20, v21 = in[i] + 21,
          v22 = in[i] + 22, v23 = in[i] + 23, v24 = in[i] + 24, v25 = in[i] + 25, v26 = in[i] + 26,
          v27 = in[i] + 27, v28 = in[i] + 28, v29 = in[i] + 29, v30 = in[i] + 30, v31 = in[i] + 31;
    bool is_low = in[i] < 5, is_high = in[i] > 9;
    s[threadIdx.x] = in[i];
    __syncthreads();
    float sum = s[95 - threadIdx.x] + is_low;
    is_low = is_high || sum > 7;
    is_high = !is_high;
    __syncthreads();
    sum += v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 +
           v18 + v19 + v20 + v21 + v22 + v23 + v24 + v25 + v26 + v27 + v28 + v29 + v30 + v31;
    out[i] = sum + is_low * 3 + is_high * 5;
}

/* Indices, a mask and a converted value are assigned anew in the block that declares them. No space stands before one of
 * them. */
#pragma cf kernel blocks(n / SIZE) block(32, 3) in(in[n]) out(out[n])
__global__ void renamed(const float *in, int n, float *out)
{
    __shared__ float s[32][33];
    int x = blockIdx.x * SIZE + threadIdx.x, y = threadIdx.y, late;
    bool is_inside = x < n - 5;
    short low = n;
    float sum = 0;
    late = x;
    s[y][threadIdx.x] = is_inside ? in[x + y * 32] : late;
    __syncthreads();
    x = blockIdx.x * SIZE + threadIdx.x + 32 * threadIdx.y;
    is_inside = x > 7 && y < 2;late = in[x] * 1e9f;
    low = late;
    if (is_inside)
        sum += s[threadIdx.y][31 - threadIdx.x] + low + (late >> 8);
    __syncthreads();
    is_inside = threadIdx.x < 20;
    {
        int x = 3;
        if (is_inside)
            sum += x;
        x = threadIdx.x + 5;
        sum += x < 17 ? s[threadIdx.y][x] : 7;
    }
    for (int k = 0; k < 3; k++) {
        int far = k + threadIdx.x;
        __syncthreads();
        if (far < 17)
            s[threadIdx.y][far] = k;
        __syncthreads();
        far = threadIdx.x + 3;
        if (far < 30)
            sum += s[threadIdx.y][far];
        __syncthreads();
    }
    out[x] = sum;
}

/* An address and a loop also write an index, and one index needs its old value. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void not_renamed(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, far = t + 2, other = t, third = t, by_function = t;
    float sum = 0;
    s[t] = in[i];
    __syncthreads();
    auto change = [&] { by_function += 7; };
    by_function = t + 1;
    change();
    __syncthreads();
    far = t + 50;
    if (in[i] > 4)
        far = t - 1;
    other = other / 2 + 1;
    for (int k = 0; k < 3; k++)
        third += k;
    sum += far < SIZE && far >= 0 ? s[far] : 1;
    sum += other < 40 ? s[other] : 2;
    third = by_function - third;
    sum += third + (by_function < 90 ? s[by_function] : 3);
    __syncthreads();
    out[i] = sum + far;
}

/* A store to an element that a condition chooses is a region: a split by a bit, and buckets. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void parted(const float *in, int n, float *out)
{
    __shared__ int zeros[SIZE], keys[SIZE];
    __shared__ float other[2][SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    int key = (int)(in[i] * 8), is_zero = key % 2 == 0;
    zeros[t] = is_zero;
    __syncthreads();
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t >= k ? zeros[t - k] : 0;
        __syncthreads();
        zeros[t] += v;
        __syncthreads();
    }
    int place = is_zero ? zeros[t] - 1 : zeros[SIZE - 1] + t - zeros[t];
    keys[place] = key;
    key += place;
    __syncthreads();
    int at;
    if (keys[t] % 3 == 1)
        at = t;
    else
        at = t + SIZE;
    other[at / SIZE][at % SIZE] = in[i];
    other[1 - at / SIZE][at % SIZE] = at;
    __syncthreads();
    out[i] = keys[t] + key % 7 * 100 + other[0][t] + other[1][t] * 2;
}

/* Stores that are no regions: a return between, an index without a condition, variables that cannot be kept. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void not_parted(const float *in, int n, float *out)
{
    __shared__ int first[SIZE], keys[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    first[t] = (int)in[i] % 2 ? t : SIZE - 1 - t;
    keys[t] = -t;
    __syncthreads();
    auto place = in[i] > 3 ? first[t] : first[t] + 0;
    keys[place] = place;
    __syncthreads();
    int low = t % 2 ? 2 : 1, own = t;
    keys[own] += low;
    __syncthreads();
    float x = in[i] > 4 ? 1.0f : 2.0f;
    out[i] = keys[t] + x;
    int at = keys[t] > 3 ? i : i - t + t;
    if (x == 2)
        return;
    out[at] += x;
}

/* An index whose value has no sign is limited from below by 0 and read after a barrier. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void clamped_below(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, zero = n / 480 - 1;
    int a = threadIdx.x + 1, b = threadIdx.x, c = threadIdx.x, most = zero - 1, before = threadIdx.x - !(zero);
    a = a > most ? most : a;
    if (b > zero - 1)
        b = zero - 1;
    c = min(c, zero - 1);
    s[t] = in[i];
    __syncthreads();
    out[i] = s[a + 1] + s[b + 2] * 2 + s[c + 3] * 3 + a + b * 2 + c * 3 + before * 5;
}

/* Such an index has a type that does not hold each index of a grid. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void clamped_narrow(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i = blockIdx.x * SIZE + threadIdx.x;
    signed char west = threadIdx.x + 60;
    west = west < 0 ? 0 : west;
    unsigned char east = threadIdx.x + 200;
    if (east < 90)
        east = 90;
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[west % SIZE] + west + s[east % SIZE] * 2 + east;
}

/* Variables hold such an index under other names. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void named_narrow(const float *in, int n, float *out)
{
    __shared__ float s[SIZE], wide[192];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    unsigned char c = threadIdx.x + 200;
    signed char g = threadIdx.x + 60;
    int a = c, h = g;
    unsigned int u = c;
    s[t] = in[i];
    wide[t] = wide[t + SIZE] = 0;
    out[i] = 0;
    __syncthreads();
    if (a < 220)
        out[i] = s[a % SIZE] + a;
    __syncthreads();
    out[i] += (h >= 0 ? s[h % SIZE] : 7) + (u < 220 ? s[u % SIZE] : 5) + s[max(a, 100) % SIZE];
    for (int j = c; j < 190; j += blockDim.x)
        wide[j] += 5;
    __syncthreads();
    out[i] += wide[t] + wide[t + SIZE] * 2;
}

/* Elements at indices from memory are far apart in any order of loops, so that the order does not matter. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void gathered(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float sum = 0;
    s[t] = in[i];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        int place = min(max((int)in[i] + (int)in[k], 0), n - 1);
        sum += in[place] + s[(int)s[t] + k % 7];
    }
    out[i] = sum;
}

/* Threads write elements at indices from memory, so that each thread has to keep its own order. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void not_gathered(const float *in, int n, float *out)
{
    __shared__ int places[SIZE], counts[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, sum = 0;
    places[t] = SIZE - 1 - t;
    counts[t] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++)
        ++counts[places[t]];
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int *own = &counts[places[t]];
        *own += k;
    }
    __syncthreads();
    /* no element beside that of a neighbour */
    for (int k = 0; k < n; k++)
        sum += (int)in[(int)in[(i * 7 + k) % n]];
    out[i] = counts[t] + sum;
}

/* Chains of conditions at the edges of a block assign variables that are declared at the top. In a loop, one of them
 * keeps the value of the last step in some threads. */
#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void edges(const float *in, int n, float *out)
{
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, i = blockIdx.x * SIZE + t;
    float own, east, south, corner, last, sum = 0;
    __shared__ float s[6][16], next[6][16];
    s[ty][tx] = in[i];
    last = 0;
    __syncthreads();
    own = s[ty][tx];
    if (ty == 5 && tx == 15) {
        east = own;
        south = own * 2;
    } else if (tx == 15) {
        east = own;
        south = s[ty + 1][tx];
    } else if (ty == 5) {
        east = s[ty][tx + 1];
        south = own * 2;
    } else {
        east = s[ty][tx + 1];
        south = s[ty + 1][tx];
    }
    if (tx == 0 || tx == 15 || ty == 0)
        corner = 3;
    else
        corner = s[ty - 1][tx - 1] + s[ty - 1][tx + 1];
    if (tx > 0 && tx <= 13 && ty > 0)
        corner += own;
    else
        corner -= 2 * own;
    next[ty][tx] = own + 2 * east + 3 * south + 4 * corner;
    __syncthreads();
    for (int k = 0; k < n / 160; k++) {
        if (tx == k)
            last = next[ty][15 - tx];
        else if (tx > 8)
            last += next[ty][tx - 1];
        else
            sum += 1;
        sum += last;
        __syncthreads();
        next[ty][tx] += k;
        __syncthreads();
    }
    out[i] = next[5 - ty][tx] + sum;
}

/* An `if` only chooses the value of a variable: an index whose clamps hold for threads at an edge, a float, and an
 * unsigned number that wraps around. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void selects(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, distance = 1 + blockIdx.x % 3;
    s[t] = in[blockIdx.x * SIZE + t];
    float sum = 0;
    __syncthreads();
    for (int k = 0; k < 6; k++) {
        int own = t, left = own - distance, right = t + distance, both = t - 1, is_even = 0;
        unsigned int far = threadIdx.x - distance;
        if (right >= SIZE)
            right = SIZE - 1;
        if (left < 0) {
            left = 0;
        }
        both = max(both, 0);
        both = both > 90 ? 90 : both;
        if (far >= SIZE)
            far = distance / 2;
        if (t % 2 == 0)
            is_even = k;
        else
            left = left / 2;
        float step = s[left] / 2, other = s[right] / 4;
        if (t - distance < 0)
            step = 0;
        if (t + distance >= SIZE)
            other = 0.5f;
        step += s[both] + s[far] + is_even;
        if (k == t)
            step = sum, other = step * 2 + k;
        __syncthreads();
        s[t] += step + other;
        sum += step;
        distance *= 2;
        __syncthreads();
    }
    out[blockIdx.x * SIZE + t] = sum + s[SIZE - 1 - t];
}

/* Each thread computes limits in its own loop, one of them with the name of a parameter. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void limits_in_loops(const float *in, int n, float *out)
{
    const int i = blockIdx.x * SIZE + threadIdx.x;
    float sum = in[i];
    for (int k = 1; k < 5; k++) {
        int last = k * 90;
        sum += i < last ? in[i + 1] : 2;
    }
    for (int k = 1; k < 5; k++) {
        int n = k * 100;
        sum -= i < n ? in[i + 1] : 3;
    }
    out[i] = sum;
}
