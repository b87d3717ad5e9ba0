// cpu_barriers.cu - kernels for cpu.cpp whose threads wait for one another: for the block, or for a warp.

/* Computes the sum of each block's 256 elements. */
#pragma cf kernel grid(n) block(256) in(x[n]) out(sums[(n + 255) / 256])
__global__ void tree_sum(const float *x, float *sums, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockDim.x * blockIdx.x + t;
    part[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}

/* c = a b by tiles. */
#pragma cf kernel grid(n, n) block(16, 16) in(a[n][n], b[n][n]) out(c[n][n]) check(n % 16 == 0)
__global__ void matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float of_a[16][16], of_b[16][16];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int row = by * 16 + ty, column = bx * 16 + tx;
    float sum = 0;
    for (int tile = 0; tile < n / 16; tile++) {
        of_a[ty][tx] = a[row * n + tile * 16 + tx];
        of_b[ty][tx] = b[(tile * 16 + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += of_a[ty][k] * of_b[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

/* Blocked LU without pivoting, first kernel of a step: factorises the tile on the diagonal at `at`. */
#pragma cf kernel blocks(1) block(16) inout(a[n][n]) check(at + 16 <= n)
__global__ void lud_diagonal(float *a, int n, int at)
{
    __shared__ float tile[16][16];
    int t = threadIdx.x;
    for (int i = 0; i < 16; i++)
        tile[i][t] = a[(at + i) * n + at + t];
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        if (t > k)
            tile[t][k] /= tile[k][k];
        __syncthreads();
        if (t > k)
            for (int i = k + 1; i < 16; i++)
                tile[i][t] -= tile[i][k] * tile[k][t];
        __syncthreads();
    }
    for (int i = 0; i < 16; i++)
        a[(at + i) * n + at + t] = tile[i][t];
}

/* Second kernel of a step: solves for the tiles right of the diagonal tile and below it. Half of a block's threads
 * compute a column each, the others a row each. */
#pragma cf kernel blocks((n - at) / 16 - 1) block(32) inout(a[n][n]) check(at + 16 <= n)
__global__ void lud_perimeter(float *a, int n, int at)
{
    __shared__ float diagonal[16][16], right[16][16], below[16][16];
    int t = threadIdx.x % 16, far = at + (blockIdx.x + 1) * 16;
    if (threadIdx.x < 16) {
        for (int i = 0; i < 16; i++) {
            diagonal[i][t] = a[(at + i) * n + at + t];
            right[i][t] = a[(at + i) * n + far + t];
        }
    } else {
        for (int i = 0; i < 16; i++)
            below[i][t] = a[(far + i) * n + at + t];
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        for (int i = 1; i < 16; i++)
            for (int k = 0; k < i; k++)
                right[i][t] -= diagonal[i][k] * right[k][t];
    } else {
        for (int i = 0; i < 16; i++) {
            for (int k = 0; k < i; k++)
                below[t][i] -= below[t][k] * diagonal[k][i];
            below[t][i] /= diagonal[i][i];
        }
    }
    __syncthreads();
    if (threadIdx.x < 16)
        for (int i = 1; i < 16; i++)
            a[(at + i) * n + far + t] = right[i][t];
    else
        for (int i = 0; i < 16; i++)
            a[(far + i) * n + at + t] = below[i][t];
}

/* Third kernel of a step: updates the rest of the matrix. */
#pragma cf kernel blocks((n - at) / 16 - 1, (n - at) / 16 - 1) block(16, 16) inout(a[n][n]) check(at + 16 <= n)
__global__ void lud_internal(float *a, int n, int at)
{
    __shared__ float right[16][16], below[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = at + (blockIdx.y + 1) * 16 + ty, column = at + (blockIdx.x + 1) * 16 + tx;
    right[ty][tx] = a[(at + ty) * n + column];
    below[ty][tx] = a[row * n + at + tx];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 16; k++)
        sum += below[ty][k] * right[k][tx];
    a[row * n + column] -= sum;
}

/* Two steps of heat flow on a chip; tiles overlap by the two cells that they lose at each side. */
#define HEAT_STEPS 2
#define HEAT_INNER (16 - 2 * HEAT_STEPS)
#pragma cf kernel blocks((nx + HEAT_INNER - 1) / HEAT_INNER, (ny + HEAT_INNER - 1) / HEAT_INNER) block(16, 16) \
    in(power[ny][nx], from[ny][nx]) out(to[ny][nx])
__global__ void hotspot_steps(const float *power, const float *__restrict__ from, float *__restrict__ to, int nx,
                              int ny)
{
    __shared__ float now[16][16], next[16][16], source[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int left = HEAT_INNER * blockIdx.x - HEAT_STEPS, top = HEAT_INNER * blockIdx.y - HEAT_STEPS;
    int x = left + tx, y = top + ty;
    bool is_inside = x >= 0 && x < nx && y >= 0 && y < ny;
    if (is_inside) {
        now[ty][tx] = from[y * nx + x];
        source[ty][tx] = power[y * nx + x];
    }
    __syncthreads();
    int first_x = left < 0 ? -left : 0, last_x = left + 15 > nx - 1 ? nx - 1 - left : 15;
    int first_y = top < 0 ? -top : 0, last_y = top + 15 > ny - 1 ? ny - 1 - top : 15;
    bool has_computed = false;
    for (int step = 1; step <= HEAT_STEPS; step++) {
        has_computed = is_inside && tx >= step && tx < 16 - step && ty >= step && ty < 16 - step;
        if (has_computed) {
            float west = now[ty][max(tx - 1, first_x)], east = now[ty][min(tx + 1, last_x)];
            float north = now[max(ty - 1, first_y)][tx], south = now[min(ty + 1, last_y)][tx], here = now[ty][tx];
            next[ty][tx] = here + 0.125f * (source[ty][tx] + (north + south - 2 * here) + (east + west - 2 * here) +
                                            0.25f * (80 - here));
        }
        __syncthreads();
        if (step < HEAT_STEPS && has_computed)
            now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (has_computed)
        to[y * nx + x] = next[ty][tx];
}

/* Finds the costs of the cheapest paths through `steps` rows of a grid, from any column to each column of the last
 * row. */
#define PATH_BLOCK 256
#pragma cf kernel blocks((columns + PATH_BLOCK - 2 * steps - 1) / (PATH_BLOCK - 2 * steps)) block(PATH_BLOCK) \
    in(wall[first + steps][columns], from[columns]) out(to[columns]) check(steps > 0, steps < PATH_BLOCK / 2)
__global__ void pathfinder_steps(const int *wall, const int *__restrict__ from, int *__restrict__ to, int columns,
                                 int first, int steps)
{
    __shared__ int now[PATH_BLOCK], next[PATH_BLOCK];
    int tx = threadIdx.x, left = blockIdx.x * (PATH_BLOCK - 2 * steps) - steps, column = left + tx;
    bool is_inside = column >= 0 && column < columns, has_computed = false;
    if (is_inside)
        now[tx] = from[column];
    __syncthreads();
    for (int i = 1; i <= steps; i++) {
        has_computed = is_inside && tx >= i && tx < PATH_BLOCK - i;
        if (has_computed) {
            int west = now[column > 0 ? tx - 1 : tx], east = now[column < columns - 1 ? tx + 1 : tx];
            next[tx] = min(min(west, east), now[tx]) + wall[(first + i - 1) * columns + column];
        }
        __syncthreads();
        if (has_computed && i < steps)
            now[tx] = next[tx];
        __syncthreads();
    }
    if (has_computed)
        to[column] = next[tx];
}

/* Computes one diagonal of tiles of the table that aligns two sequences (Needleman and Wunsch). `score` has one row and
 * one column more than `match`. */
#pragma cf kernel blocks(tiles) block(16) in(match[n][n]) inout(score[n + 1][n + 1]) \
    check(n % 16 == 0, first_row + tiles <= n / 16, last_column < n / 16, last_column - tiles >= -1)
__global__ void nw_diagonal(const int *match, int *score, int n, int penalty, int tiles, int first_row, int last_column)
{
    __shared__ int table[17][17], of_match[16][16];
    int t = threadIdx.x, bx = blockIdx.x;
    int row = (first_row + bx) * 16, column = (last_column - bx) * 16, width = n + 1;
    for (int i = 0; i < 16; i++)
        of_match[i][t] = match[(row + i) * n + column + t];
    if (t == 0)
        table[0][0] = score[row * width + column];
    table[t + 1][0] = score[(row + t + 1) * width + column];
    table[0][t + 1] = score[row * width + column + t + 1];
    __syncthreads();
    for (int m = 0; m < 16; m++) {
        if (t <= m) {
            int x = t + 1, y = m - t + 1;
            table[y][x] = max(table[y - 1][x - 1] + of_match[y - 1][x - 1],
                              max(table[y][x - 1] - penalty, table[y - 1][x] - penalty));
        }
        __syncthreads();
    }
    for (int m = 14; m >= 0; m--) {
        if (t <= m) {
            int x = t + 16 - m, y = 16 - t;
            table[y][x] = max(table[y - 1][x - 1] + of_match[y - 1][x - 1],
                              max(table[y][x - 1] - penalty, table[y - 1][x] - penalty));
        }
        __syncthreads();
    }
    for (int i = 0; i < 16; i++)
        score[(row + i + 1) * width + column + t + 1] = table[i + 1][t + 1];
}

/* Backpropagation, forward: a block multiplies 16 inputs with their weights and adds them for 16 units. */
#pragma cf kernel blocks(1, inputs / 16) block(16, 16) in(input[inputs], weights[inputs][16]) \
    out(partial[inputs / 16][16]) check(inputs % 16 == 0)
__global__ void layer_forward(const float *input, const float *weights, float *partial, int inputs)
{
    __shared__ float node[16], product[16][16];
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int row = by * 16 + ty;
    if (tx == 0)
        node[ty] = input[row];
    __syncthreads();
    product[ty][tx] = weights[row * 16 + tx];
    __syncthreads();
    product[ty][tx] = product[ty][tx] * node[ty];
    __syncthreads();
    for (int power = 2; power <= 16; power *= 2) {
        if (ty % power == 0)
            product[ty][tx] += product[ty + power / 2][tx];
        __syncthreads();
    }
    if (ty == 0)
        partial[by * 16 + tx] = product[0][tx];
}

/* Searches in a B+ tree: a block per query, a thread per key of a node. Node 0 is the root; child c of node k is node
 * 32 k + c + 1; nodes of the lowest level name values. Each key is the least key of a child. */
#pragma cf kernel blocks(queries) block(32) in(keys[nodes][33], query[queries]) out(found[queries])
__global__ void btree_search(const int *keys, const int *query, int *found, int queries, int nodes, int levels)
{
    __shared__ int node;
    int t = threadIdx.x, wanted = query[blockIdx.x];
    if (t == 0)
        node = 0;
    __syncthreads();
    for (int level = 0; level < levels; level++) {
        int here = node;
        __syncthreads();
        if (keys[here * 33 + t] <= wanted && wanted < keys[here * 33 + t + 1])
            node = 32 * here + t + 1;
        __syncthreads();
    }
    if (t == 0)
        found[blockIdx.x] = node;
}

/* Computes the gain of a new centre in clustering, by comparing its distance to each point with the point's present
 * cost. */
#pragma cf kernel grid(n) block(256) in(coord[dims][n], weight[n], cost[n]) out(gain[n], switches[n]) \
    check(dims <= 64, 0 <= centre < n)
__global__ void cluster_gain(const float *coord, const float *weight, const float *cost, float *gain, int *switches,
                             int n, int dims, int centre)
{
    __shared__ float own[64];
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (threadIdx.x < dims)
        own[threadIdx.x] = coord[threadIdx.x * n + centre];
    __syncthreads();
    if (i >= n)
        return;
    float distance = 0;
    for (int d = 0; d < dims; d++)
        distance += (coord[d * n + i] - own[d]) * (coord[d * n + i] - own[d]);
    float change = cost[i] - weight[i] * distance;
    switches[i] = change > 0;
    gain[i] = change > 0 ? change : 0;
}

/* Computes the likelihood of particles in a picture, and the sum of each block's weights. */
#pragma cf kernel grid(n) block(256) in(picture[ny][nx], x[n], y[n], offset[2 * points]) inout(weight[n]) \
    out(sums[(n + 255) / 256])
__global__ void particle_weights(const int *picture, const float *x, const float *y, const int *offset, float *weight,
                                 float *sums, int n, int points, int nx, int ny)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    part[t] = 0;
    if (i < n) {
        float likelihood = 0;
        for (int k = 0; k < points; k++) {
            int at_x = min(max((int)x[i] + offset[2 * k], 0), nx - 1);
            int at_y = min(max((int)y[i] + offset[2 * k + 1], 0), ny - 1);
            float value = picture[at_y * nx + at_x];
            likelihood += ((value - 100) * (value - 100) - (value - 228) * (value - 228)) / 25600;
        }
        weight[i] *= expf(likelihood / points);
        part[t] = weight[i];
    }
    __syncthreads();
    for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}

/* One-dimensional convolution with 9 taps, with a tile in shared memory. */
#pragma cf kernel grid(n) block(256) in(x[n], tap[9]) out(y[n])
__global__ void conv1d_tile(const float *x, const float *tap, float *y, int n)
{
    __shared__ float tile[256 + 8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t + 4] = i < n ? x[i] : 0;
    if (t < 4) {
        tile[t] = i >= 4 ? x[i - 4] : 0;
        tile[t + 260] = i + 256 < n ? x[i + 256] : 0;
    }
    __syncthreads();
    if (i < n) {
        float sum = 0;
        for (int k = 0; k < 9; k++)
            sum += tile[t + k] * tap[k];
        y[i] = sum;
    }
}

/* Two-dimensional convolution with 5 by 5 taps, with a tile and its halo in shared memory. */
#pragma cf kernel grid(nx, ny) block(16, 16) in(image[ny][nx], tap[5][5]) out(result[ny][nx])
__global__ void conv2d_tile(const float *image, const float *tap, float *result, int nx, int ny)
{
    __shared__ float tile[20][20];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int left = blockIdx.x * 16 - 2, top = blockIdx.y * 16 - 2;
    for (int j = ty; j < 20; j += blockDim.y)
        for (int i = tx; i < 20; i += blockDim.x) {
            int x = left + i, y = top + j;
            tile[j][i] = x >= 0 && x < nx && y >= 0 && y < ny ? image[y * nx + x] : 0;
        }
    __syncthreads();
    int x = blockIdx.x * blockDim.x + tx, y = blockIdx.y * blockDim.y + ty;
    if (x < nx && y < ny) {
        float sum = 0;
        for (int j = 0; j < 5; j++)
            for (int i = 0; i < 5; i++)
                sum += tile[ty + j][tx + i] * tap[j * 5 + i];
        result[y * nx + x] = sum;
    }
}

/* Normalises rows to mean 0 and variance 1, a block per row. Sums are computed by shuffles within warps and then over
 * the block's warps. */
__device__ static float sum_of_block(float value, float *of_warps)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    if (lane == 0)
        of_warps[warp] = value;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < blockDim.x / 32; k++)
        sum += of_warps[k];
    __syncthreads();
    return sum;
}

#pragma cf kernel blocks(rows) block(128) in(x[rows][columns], gamma[columns], beta[columns]) out(y[rows][columns])
__global__ void layer_norm(const float *x, const float *gamma, const float *beta, float *y, int rows, int columns)
{
    __shared__ float of_warps[4];
    const float *in = x + blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += in[i];
    float mean = sum_of_block(sum, of_warps) / columns;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        squares += (in[i] - mean) * (in[i] - mean);
    float scale = 1 / sqrtf(sum_of_block(squares, of_warps) / columns + 1e-5f);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[blockIdx.x * columns + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}

/* Softmax of rows, a warp per row. */
#pragma cf kernel blocks((rows + 3) / 4) block(32, 4) in(x[rows][columns]) out(y[rows][columns])
__global__ void softmax_warp(const float *x, float *y, int rows, int columns)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows)
        return;
    float largest = -3.4e38f, sum = 0;
    for (int i = lane; i < columns; i += 32)
        largest = fmaxf(largest, x[row * columns + i]);
    for (int mask = 16; mask > 0; mask >>= 1)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, mask));
    for (int i = lane; i < columns; i += 32) {
        float e = expf(x[row * columns + i] - largest);
        y[row * columns + i] = e;
        sum += e;
    }
    for (int mask = 16; mask > 0; mask >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, mask);
    for (int i = lane; i < columns; i += 32)
        y[row * columns + i] /= sum;
}
