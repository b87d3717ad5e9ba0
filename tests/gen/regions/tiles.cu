/* tiles.cu - kernels for test_regions.c in the style of stencils with tiles: conditions from macros with parentheses,
 * integers that are changed where they are declared, and bools that several regions ask. All have n / 96 blocks of 96
 * threads and one element to a thread. */
#define WIDTH 16
#define HEIGHT 6
#define SIZE (WIDTH * HEIGHT)
#define IN_RANGE(x, least, most) ((x) >= (least) && (x) <= (most))

/* Heat flows in a tile, which loses the cells at its sides step by step; the rim of the field has no neighbours. */
#pragma cf kernel blocks(n / SIZE) block(WIDTH, HEIGHT) in(in[n]) out(out[n])
__global__ void heat(const float *in, int n, float *out)
{
    __shared__ float tile[HEIGHT][WIDTH], next[HEIGHT][WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y, block = blockIdx.x, steps = 1 + blockIdx.x % 2;
    int left = (int)(block % 3) * 12 - 2, right = left + WIDTH - 1, width = 36;
    int x = left + tx, index = block * SIZE + ty * WIDTH + tx;
    if (IN_RANGE(x, 0, width - 1) && (IN_RANGE(ty, 0, HEIGHT - 1)))
        tile[ty][tx] = in[index];
    else
        tile[ty][tx] = 1;
    __syncthreads();
    int least_x = (left < 0) ? -left : 0, most_x = (right > width - 1) ? WIDTH - 1 - (right - width + 1) : WIDTH - 1;
    int north = ty - 1, south = ty + 1, west = tx - 1, east = tx + 1;
    north = (north < 0) ? 0 : north;
    south = (south > HEIGHT - 1) ? HEIGHT - 1 : south;
    west = (west < least_x) ? least_x : west;
    east = (east > most_x) ? most_x : east;
    bool computed;
    for (int i = 0; i < steps; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, WIDTH - i - 2) && IN_RANGE(ty, i, HEIGHT - i - 1) && IN_RANGE(tx, least_x, most_x)) {
            computed = true;
            next[ty][tx] = tile[ty][tx] + 0.25f * (tile[south][tx] + tile[north][tx] - 2 * tile[ty][tx]) +
                           0.125f * (tile[ty][east] + tile[ty][west] - 2 * tile[ty][tx]);
        }
        __syncthreads();
        if (i == steps - 1)
            break;
        if (computed)
            tile[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed)
        out[index] = next[ty][tx];
}

/* The kernel finds the cheapest paths in one dimension. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void paths(const float *in, int n, float *out)
{
    __shared__ float cost[SIZE], next[SIZE];
    int t = threadIdx.x, left = blockIdx.x * (SIZE - 6) - 3, x = left + t;
    int least = left < 0 ? -left : 0, most = left + SIZE > n - 48 ? n - 49 - left : SIZE - 1;
    int west = t - 1, east = t + 1;
    if (west < least)
        west = least;
    if (east > most) {
        east = most;
    }
    bool is_valid = IN_RANGE(t, least, most), has_computed = false;
    if (IN_RANGE(x, 0, n - 49))
        cost[t] = in[x];
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        has_computed = false;
        if (IN_RANGE(t, i + 1, SIZE - i - 2) && is_valid) {
            has_computed = true;
            next[t] = fminf(fminf(cost[west], cost[t]), cost[east]) + in[blockIdx.x * SIZE + t];
        }
        __syncthreads();
        if (has_computed)
            cost[t] = next[t];
        __syncthreads();
    }
    if (has_computed)
        out[x] = next[t];
}

/* A blur limits its indices by min() and max(). */
#pragma cf kernel blocks(n / SIZE) block(WIDTH, HEIGHT) in(in[n]) out(out[n])
__global__ void blur(const float *in, int n, float *out)
{
    __shared__ float tile[HEIGHT][WIDTH];
    const int tx = threadIdx.x, ty = threadIdx.y, most = WIDTH - 1 - blockIdx.x % 3;
    const int west = max(tx - 1, 0), east = min(tx + 1, most), far = tx > 3 ? tx - 4 : 0;
    int near = tx - 2, either = (int)threadIdx.x + 3;
    near = max(near, 1);
    near = min(near, most - 2);
    either = either > most ? most : either;
    either = either - 1;
    either = either < 4 ? 4 : either;
    tile[ty][tx] = in[blockIdx.x * SIZE + ty * WIDTH + tx];
    __syncthreads();
    float sum = tile[ty][west] + 2 * tile[ty][east] + 4 * tile[ty][far];
    __syncthreads();
    sum += 8 * tile[ty][near] + 16 * tile[ty][either];
    __syncthreads();
    if ((tx > 2 && (tx < 14)) && ((ty != 3) && (west < 9 || east < 12)))
        sum += tile[ty][tx - 3];
    __syncthreads();
    if (!((tx < 2 || tx > most) || ((ty == 4))))
        sum += 3 * tile[ty][tx - 2];
    __syncthreads();
    out[blockIdx.x * SIZE + ty * WIDTH + tx] = sum;
}

/* These changes are of another kind: of types that wrap around, by values from memory, of variables that other
 * variables were computed from before, under conditions on other variables, and in other regions. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void changed(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    __shared__ int limit;
    int t = threadIdx.x, block = blockIdx.x;
    if (t == 0)
        limit = 7 + block;
    s[t] = in[block * SIZE + t];
    unsigned int wrapped = threadIdx.x - 5;
    wrapped = wrapped > 90 ? 90 : wrapped;
    short small = (short)(t + 32700);
    small = small < 0 ? 0 : small;
    unsigned char byte = t - 3;
    byte = byte > 80 ? 80 : byte;
    int before = t - 2, behind = before + 1;
    before = max(before, 3);
    int odd = t + 1, twice = t - 6;
    if (t % 2)
        odd = 95 - t;
    twice = max(twice, 20);
    twice = min(twice, 10);
    long long wide = t;
    wide = wide > n / 8 ? n / 8 : wide;
    int least = block, other = t;
    least = least > 2 ? 2 : least;
    other = other < least ? least : other;
    unsigned int high = 12 + block % 2;
    int low = t - 2, less = t, mixed = t - 3, moved = t;
    low = low < high ? high : low;
    low = low > 9 ? 9 : low;
    less = less > 9 ? less - 5 : less;
    less = less < 8 ? 8 : less;
    mixed = t > 9 ? 5 : mixed;
    __syncthreads();
    int late = t + 4;
    late = late > limit ? limit : late;
    float sum = s[wrapped] + small + 2 * s[byte] + 3 * s[before] + 4 * s[max(behind, 0)] + s[odd];
    __syncthreads();
    sum += s[late] + 2 * s[twice];
    __syncthreads();
    sum += 5 * s[wide] + 6 * s[other] + 7 * s[moved];
    __syncthreads();
    sum += low;
    __syncthreads();
    sum += 3 * less;
    __syncthreads();
    sum += 5 * mixed;
    late = late > 3 ? 3 : late;
    moved = moved > 50 ? 50 : moved;
    __syncthreads();
    sum += 7 * s[late] + s[before] + s[wrapped] + s[moved] + s[byte] + small + behind;
    for (int k = 0; k < 3; k++) {
        int step = t + k;
        step = step > 93 ? 93 : step;
        __syncthreads();
        sum += s[step] * k;
        step = step < 5 ? 5 : step;
        sum += s[step];
        __syncthreads();
        sum += s[step];
    }
    out[block * SIZE + t] = sum;
}

/* Bools are read from memory, or are true for threads that are no range. */
#pragma cf kernel blocks(n / SIZE) block(WIDTH, HEIGHT) in(in[n]) out(out[n])
__global__ void holes(const float *in, int n, float *out)
{
    __shared__ float s[HEIGHT][WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y, at = blockIdx.x * SIZE + ty * WIDTH + tx, west = tx - 1;
    west = west < 0 ? 0 : west;
    float own = in[at], sum = 1;
    bool is_hot = own > 4, is_even = false, is_none = own < 0, is_all = own >= 0, is_part = false;
    if (tx % 2 == 0)
        is_even = true;
    if (tx > ty && tx < 13 - ty)
        is_part = true;
    s[ty][tx] = own;
    __syncthreads();
    if (is_hot)
        sum += s[ty][west];
    __syncthreads();
    if (is_even) {
        s[ty][tx] += 3;
        sum += 2;
    }
    __syncthreads();
    if (is_even)
        sum += tx > 3 ? s[ty][tx - 4] : 9;
    __syncthreads();
    if (is_none)
        sum += s[ty][tx];
    __syncthreads();
    if (is_all)
        sum += 2 * s[ty][west];
    __syncthreads();
    if (is_part && ty < 5)
        sum += 4 * s[ty + 1][west];
    __syncthreads();
    if (!is_part)
        sum += 8 * s[ty][tx];
    __syncthreads();
    if (is_part)
        out[at] = sum;
    else
        out[at] = -sum;
    __syncthreads();
    if (is_part || is_hot)
        out[at] += s[ty][west];
}
