// cpu_loops.cu - kernels without barriers for cpu.cpp, in the forms in which programs contain them: with the global
// index computed in several ways, with guards, and with serial loops in a thread.

/* Stencil with seven points; each thread computes one element. The rim stays as it is. */
#pragma cf kernel grid(nx, ny, nz) block(32, 4, 2) in(u[nz][ny][nx]) inout(v[nz][ny][nx])
__global__ void stencil_points(const float *__restrict__ u, float *__restrict__ v, int nx, int ny, int nz)
{
    int x = blockDim.x * blockIdx.x + threadIdx.x;
    int y = blockDim.y * blockIdx.y + threadIdx.y;
    int z = blockDim.z * blockIdx.z + threadIdx.z;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1) {
        int i = (z * ny + y) * nx + x, plane = nx * ny;
        v[i] = 0.5f * u[i] + 0.0625f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - plane] + u[i + plane]);
    }
}

/* Stencil with seven points; each thread goes along a column and keeps three of its elements. */
#pragma cf kernel grid(nx, ny) block(32, 8) in(u[nz][ny][nx]) inout(v[nz][ny][nx])
__global__ void stencil_column(const float *__restrict__ u, float *__restrict__ v, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= nx - 1 || y < 1 || y >= ny - 1)
        return;
    int i = y * nx + x, plane = nx * ny;
    float below = u[i], here = u[i + plane];
    for (int z = 1; z < nz - 1; z++) {
        i += plane;
        float above = u[i + plane];
        v[i] = 0.5f * here + 0.0625f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + below + above);
        below = here;
        here = above;
    }
}

/* Finds the nearest of `clusters` centres for each point, as in a step of k-means. */
#pragma cf kernel grid(n) in(points[dims][n], centres[clusters][dims]) out(member[n])
__global__ void kmeans_assign(const float *points, const float *centres, int *member, int n, int clusters, int dims)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n)
        return;
    int best = 0;
    float least = 3.4e38f;
    for (int c = 0; c < clusters; c++) {
        float distance = 0;
        for (int d = 0; d < dims; d++) {
            float difference = points[d * n + i] - centres[c * dims + d];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    member[i] = best;
}

/* Computes the mean and variance of each column in one pass, by Welford's method. */
#pragma cf kernel grid(columns) block(128) in(x[rows][columns]) out(mean[columns], variance[columns]) check(rows > 0)
__global__ void welford(const float *x, float *mean, float *variance, int rows, int columns)
{
    int column = blockDim.x * blockIdx.x + threadIdx.x;
    if (column < columns) {
        float average = 0, squares = 0;
        for (int row = 0; row < rows; row++) {
            float value = x[row * columns + column], before = value - average;
            average += before / (row + 1);
            squares += before * (value - average);
        }
        mean[column] = average;
        variance[column] = squares / rows;
    }
}

/* Updates the weights between two layers in backpropagation, with momentum. */
#pragma cf kernel grid(to, from) block(16, 16) in(delta[to], layer[from]) inout(weights[from][to], change[from][to])
__global__ void adjust_weights(const float *delta, const float *layer, float *weights, float *change, int to, int from)
{
    int column = threadIdx.x + blockDim.x * blockIdx.x;
    int row = threadIdx.y + blockDim.y * blockIdx.y;
    if (column < to && row < from) {
        int i = row * to + column;
        float step = 0.25f * delta[column] * layer[row] + 0.5f * change[i];
        weights[i] += step;
        change[i] = step;
    }
}

/* First half of a step of speckle-reducing anisotropic diffusion (SRAD): computes derivatives and the diffusion
 * coefficient. At the rim, an element is its own outer neighbour. */
#pragma cf kernel grid(nx, ny) block(16, 16) in(image[ny][nx]) \
    out(north[ny][nx], south[ny][nx], west[ny][nx], east[ny][nx], diffusion[ny][nx])
__global__ void srad_coefficient(const float *image, float *north, float *south, float *west, float *east,
                                 float *diffusion, int nx, int ny, float q0)
{
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int x = bx * 16 + tx, y = by * 16 + ty;
    if (x < nx && y < ny) {
        int i = y * nx + x;
        float here = image[i];
        float n = image[max(y - 1, 0) * nx + x] - here, s = image[min(y + 1, ny - 1) * nx + x] - here;
        float w = image[y * nx + max(x - 1, 0)] - here, e = image[y * nx + min(x + 1, nx - 1)] - here;
        float gradient = (n * n + s * s + w * w + e * e) / (here * here), laplacian = (n + s + w + e) / here;
        float denominator = 1 + 0.25f * laplacian;
        float q = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (denominator * denominator);
        float c = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
        north[i] = n;
        south[i] = s;
        west[i] = w;
        east[i] = e;
        diffusion[i] = c < 0 ? 0 : c > 1 ? 1 : c;
    }
}

/* Second half of a step of SRAD: updates the image. */
#pragma cf kernel grid(nx, ny) block(16, 16) \
    in(north[ny][nx], south[ny][nx], west[ny][nx], east[ny][nx], diffusion[ny][nx]) inout(image[ny][nx])
__global__ void srad_update(float *image, const float *north, const float *south, const float *west, const float *east,
                            const float *diffusion, int nx, int ny, float lambda)
{
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int x = bx * 16 + tx, y = by * 16 + ty;
    if (x < nx && y < ny) {
        int i = y * nx + x;
        float here = diffusion[i], below = diffusion[min(y + 1, ny - 1) * nx + x];
        float right = diffusion[y * nx + min(x + 1, nx - 1)];
        float sum = here * north[i] + below * south[i] + here * west[i] + right * east[i];
        image[i] += 0.25f * lambda * sum;
    }
}

/* Resampling in a particle filter: each thread finds the first particle whose cumulated weight reaches its number. */
#pragma cf kernel grid(n) block(128) in(cumulated[n], wanted[n], x[n], y[n]) out(new_x[n], new_y[n])
__global__ void particle_resample(const float *cumulated, const float *wanted, const float *x, const float *y,
                                  float *new_x, float *new_y, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) {
        int index = n - 1;
        for (int k = 0; k < n; k++) {
            if (cumulated[k] >= wanted[i]) {
                index = k;
                break;
            }
        }
        new_x[i] = x[index];
        new_y[i] = y[index];
    }
}

/* Multiplies a sparse matrix (CSR) by a vector, a row per thread. */
#pragma cf kernel grid(rows) block(128) in(start[rows + 1], column[count], value[count], x[columns]) out(y[rows])
__global__ void spmv_thread(const int *start, const int *column, const float *value, const float *x, float *y, int rows,
                            int columns, int count)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int k = start[row]; k < start[row + 1]; k++)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

/* Computes the accelerations of bodies by all others; a body is x, y, z and its mass. */
#pragma cf kernel grid(n) in(body[n]) out(force[n])
__global__ void nbody_direct(const float4 *body, float4 *force, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 own = body[i], sum = make_float4(0, 0, 0, 0);
    for (int j = 0; j < n; j++) {
        float x = body[j].x - own.x, y = body[j].y - own.y, z = body[j].z - own.z;
        float inverse = 1 / sqrtf(x * x + y * y + z * z + 0.01f);
        float strength = body[j].w * inverse * inverse * inverse;
        sum.x += strength * x;
        sum.y += strength * y;
        sum.z += strength * z;
    }
    force[i] = sum;
}

/* c = a b, an element per thread. */
#pragma cf kernel grid(columns, rows) block(32, 8) in(a[rows][inner], b[inner][columns]) out(c[rows][columns])
__global__ void matmul_direct(const float *a, const float *b, float *c, int rows, int inner, int columns)
{
    int column = blockDim.x * blockIdx.x + threadIdx.x, row = blockDim.y * blockIdx.y + threadIdx.y;
    if (row >= rows || column >= columns)
        return;
    float sum = 0;
    for (int k = 0; k < inner; k++)
        sum += a[row * inner + k] * b[k * columns + column];
    c[row * columns + column] = sum;
}

/* One-dimensional convolution that clamps indices to the array by a test for each tap. */
#pragma cf kernel grid(n) in(x[n], tap[taps]) out(y[n])
__global__ void conv1d_direct(const float *x, const float *tap, float *y, int n, int taps)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) {
        float sum = 0;
        int first = i - taps / 2;
        for (int k = 0; k < taps; k++)
            if (first + k >= 0 && first + k < n)
                sum += x[first + k] * tap[k];
        y[i] = sum;
    }
}

/* Returns the normal distribution's probability below d, by the polynomial of Abramowitz and Stegun, for prices of
 * options by the formula of Black and Scholes. */
__device__ static float normal_below(float d)
{
    float k = 1 / (1 + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * expf(-0.5f * d * d) *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - tail : tail;
}

#pragma cf kernel grid(n) block(128) in(price[n], strike[n], years[n]) out(call[n], put[n])
__global__ void black_scholes(const float *price, const float *strike, const float *years, float *call, float *put,
                              float rate, float volatility, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) {
        float root = sqrtf(years[i]);
        float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
                   (volatility * root);
        float d2 = d1 - volatility * root, discounted = strike[i] * expf(-rate * years[i]);
        float below1 = normal_below(d1), below2 = normal_below(d2);
        call[i] = price[i] * below1 - discounted * below2;
        put[i] = discounted * (1 - below2) - price[i] * (1 - below1);
    }
}
