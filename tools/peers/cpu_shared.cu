// cpu_shared.cu - further kernels for cpu.cpp whose threads wait for one another.

/* Attention with one head, a block per query; there are 128 keys of 64 numbers. */
#pragma cf kernel blocks(queries) block(128) in(query[queries][64], key[128][64], value[128][64]) out(res[queries][64])
__global__ void attention_head(const float *query, const float *key, const float *value, float *res, int queries)
{
    __shared__ float own[64], score[128], part[128];
    int t = threadIdx.x, row = blockIdx.x;
    if (t < 64)
        own[t] = query[row * 64 + t];
    __syncthreads();
    float sum = 0;
    for (int d = 0; d < 64; d++)
        sum += own[d] * key[t * 64 + d];
    score[t] = part[t] = 0.125f * sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half)
            part[t] = fmaxf(part[t], part[t + half]);
        __syncthreads();
    }
    float largest = part[0];
    __syncthreads();
    score[t] = part[t] = expf(score[t] - largest);
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t < 64) {
        float result = 0;
        for (int k = 0; k < 128; k++)
            result += score[k] * value[k * 64 + t];
        res[row * 64 + t] = result / part[0];
    }
}

/* Pass of a radix sort over four bits: counts how often each digit occurs in each block of 256 keys. */
#pragma cf kernel blocks(blocks) block(256) in(keys[256 * blocks]) out(counts[16][blocks])
__global__ void radix_count(const unsigned int *keys, int *counts, int shift, int blocks)
{
    __shared__ int count[16];
    int t = threadIdx.x, b = blockIdx.x;
    if (t < 16)
        count[t] = 0;
    __syncthreads();
    atomicAdd(&count[keys[b * 256 + t] >> shift & 15], 1);
    __syncthreads();
    if (t < 16)
        counts[t * blocks + b] = count[t];
}

/* Computes exclusive sums of the counts in one block. */
#pragma cf kernel blocks(1) block(256) inout(counts[n])
__global__ void radix_sums(int *counts, int n)
{
    __shared__ int sums[256];
    int t = threadIdx.x, each = (n + 255) / 256, begin = min(t * each, n), end = min(begin + each, n), sum = 0;
    for (int i = begin; i < end; i++)
        sum += counts[i];
    sums[t] = sum;
    __syncthreads();
    for (int offset = 1; offset < 256; offset *= 2) {
        int other = t >= offset ? sums[t - offset] : 0;
        __syncthreads();
        sums[t] += other;
        __syncthreads();
    }
    int before = sums[t] - sum;
    for (int i = begin; i < end; i++) {
        int count = counts[i];
        counts[i] = before;
        before += count;
    }
}

/* Sorts the keys of a block by one bit at a time, and writes them to their places. */
#pragma cf kernel blocks(blocks) block(256) in(keys[256 * blocks], places[16][blocks]) inout(sorted[256 * blocks])
__global__ void radix_move(const unsigned int *keys, const int *places, unsigned int *sorted, int shift, int blocks)
{
    __shared__ unsigned int tile[256];
    __shared__ int zeros[256], first[16];
    int t = threadIdx.x, b = blockIdx.x;
    tile[t] = keys[b * 256 + t];
    __syncthreads();
    for (int bit = 0; bit < 4; bit++) {
        unsigned int key = tile[t];
        int is_zero = (key >> (shift + bit) & 1) == 0;
        zeros[t] = is_zero;
        __syncthreads();
        for (int offset = 1; offset < 256; offset *= 2) {
            int other = t >= offset ? zeros[t - offset] : 0;
            __syncthreads();
            zeros[t] += other;
            __syncthreads();
        }
        int place = is_zero ? zeros[t] - 1 : zeros[255] + t - zeros[t];
        tile[place] = key;
        __syncthreads();
    }
    int digit = tile[t] >> shift & 15;
    if (t == 0 || (int)(tile[t - 1] >> shift & 15) != digit)
        first[digit] = t;
    __syncthreads();
    sorted[places[digit * blocks + b] + t - first[digit]] = tile[t];
}

/* Counts how often each of 256 values occurs; each thread reads 16 elements. */
#pragma cf kernel blocks((n + 4095) / 4096) block(256) in(x[n]) out(counts[256]) zero(counts)
__global__ void histogram_shared(const unsigned char *x, int *counts, int n)
{
    __shared__ int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    int begin = blockIdx.x * 4096 + threadIdx.x;
    for (int k = 0; k < 16; k++)
        if (begin + k * 256 < n)
            atomicAdd(&own[x[begin + k * 256]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

/* Stencil with seven points; a block goes along z with a tile of the present plane in shared memory. */
#pragma cf kernel grid(nx, ny) block(32, 8) in(u[nz][ny][nx]) inout(v[nz][ny][nx])
__global__ void stencil_planes(const float *__restrict__ u, float *__restrict__ v, int nx, int ny, int nz)
{
    __shared__ float tile[10][34];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int plane = nx * ny, i = y * nx + x;
    bool exists = x < nx && y < ny, is_inner = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
    float below = exists ? u[i] : 0, here = exists ? u[i + plane] : 0;
    for (int z = 1; z < nz - 1; z++) {
        i += plane;
        float above = exists ? u[i + plane] : 0;
        __syncthreads();
        tile[ty][tx] = here;
        if (threadIdx.x == 0 && x > 0 && exists)
            tile[ty][0] = u[i - 1];
        if (threadIdx.x == 31 && x < nx - 1 && exists)
            tile[ty][33] = u[i + 1];
        if (threadIdx.y == 0 && y > 0 && exists)
            tile[0][tx] = u[i - nx];
        if (threadIdx.y == 7 && y < ny - 1 && exists)
            tile[9][tx] = u[i + nx];
        __syncthreads();
        if (is_inner)
            v[i] = 0.5f * here + 0.0625f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] +
                                            below + above);
        below = here;
        here = above;
    }
}

/* Computes the accelerations of bodies by all others, with tiles of bodies in shared memory. */
#pragma cf kernel grid(n) block(256) in(body[n]) out(force[n]) check(n % 256 == 0)
__global__ void nbody_tiled(const float4 *body, float4 *force, int n)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = body[i];
    float sum_x = 0, sum_y = 0, sum_z = 0;
    for (int begin = 0; begin < n; begin += 256) {
        tile[threadIdx.x] = body[begin + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            float x = tile[j].x - own.x, y = tile[j].y - own.y, z = tile[j].z - own.z;
            float inverse = rsqrtf(x * x + y * y + z * z + 0.01f);
            float strength = tile[j].w * inverse * inverse * inverse;
            sum_x += strength * x;
            sum_y += strength * y;
            sum_z += strength * z;
        }
        __syncthreads();
    }
    force[i] = make_float4(sum_x, sum_y, sum_z, 0);
}

/* Computes inclusive sums of each block's 512 elements, by Blelloch's tree. */
#pragma cf kernel blocks(n / 512) block(256) in(x[n]) out(y[n]) check(n % 512 == 0)
__global__ void scan_tree(const int *x, int *y, int n)
{
    __shared__ int part[512];
    int t = threadIdx.x, base = blockIdx.x * 512, offset = 1;
    part[2 * t] = x[base + 2 * t];
    part[2 * t + 1] = x[base + 2 * t + 1];
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            part[offset * (2 * t + 2) - 1] += part[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0)
        part[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int low = offset * (2 * t + 1) - 1, high = offset * (2 * t + 2) - 1, value = part[low];
            part[low] = part[high];
            part[high] += value;
        }
    }
    __syncthreads();
    y[base + 2 * t] = part[2 * t] + x[base + 2 * t];
    y[base + 2 * t + 1] = part[2 * t + 1] + x[base + 2 * t + 1];
}

/* Computes inclusive sums of each block's 256 elements, by doubling distances. */
#pragma cf kernel grid(n) block(256) in(x[n]) out(y[n]) check(n % 256 == 0)
__global__ void scan_steps(const int *x, int *y, int n)
{
    __shared__ int part[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    part[t] = x[i];
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        int value = part[t];
        if (t >= offset)
            value += part[t - offset];
        __syncthreads();
        part[t] = value;
        __syncthreads();
    }
    y[i] = part[t];
}

/* Transposes a matrix by tiles of 32 by 32; each thread moves four elements. */
#pragma cf kernel blocks((nx + 31) / 32, (ny + 31) / 32) block(32, 8) in(in[ny][nx]) out(out[nx][ny])
__global__ void transpose_tile(const float *in, float *out, int nx, int ny)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < nx && y + j < ny)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * nx + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < ny && y + j < nx)
            out[(y + j) * ny + x] = tile[threadIdx.x][threadIdx.y + j];
}

/* Multiplies a sparse matrix (CSR) by a vector, a row per warp. */
#pragma cf kernel grid(32 * rows) block(128) in(start[rows + 1], column[count], value[count], x[columns]) out(y[rows])
__global__ void spmv_warp(const int *start, const int *column, const float *value, const float *x, float *y, int rows,
                          int columns, int count)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += 32)
        sum += value[k] * x[column[k]];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[row] = sum;
}
