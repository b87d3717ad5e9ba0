// plain_cpu.cpp - the kernels of cpu_loops.cu, cpu_barriers.cu and cpu_shared.cu as OpenMP loops, as one writes them by
// hand: the outer loop is parallel, and if the order is free, an inner loop goes along memory.
//
// PLAIN is the name of the namespace. The file is compiled twice, for any processor and for the present one.
#include <algorithm>
#include <cmath>
#include <vector>

#include "plain_cpu.h"

namespace PLAIN
{

void stencil_points(const float *__restrict__ u, float *__restrict__ v, int nx, int ny, int nz)
{
    const int plane = nx * ny;
#pragma omp parallel for
    for (int z = 1; z < nz - 1; z++)
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++) {
                int i = (z * ny + y) * nx + x;
                v[i] =
                    0.5f * u[i] + 0.0625f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - plane] + u[i + plane]);
            }
}

void stencil_column(const float *u, float *v, int nx, int ny, int nz)
{
    stencil_points(u, v, nx, ny, nz);
}

void kmeans_assign(const float *points, const float *centres, int *member, int n, int clusters, int dims)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
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
}

void welford(const float *x, float *mean, float *variance, int rows, int columns)
{
#pragma omp parallel for
    for (int column = 0; column < columns; column++) {
        float average = 0, squares = 0;
        for (int row = 0; row < rows; row++) {
            float value = x[row * columns + column], before = value - average;
            average += before / (float)(row + 1);
            squares += before * (value - average);
        }
        mean[column] = average;
        variance[column] = squares / (float)rows;
    }
}

void adjust_weights(const float *__restrict__ delta, const float *__restrict__ layer, float *__restrict__ weights,
                    float *__restrict__ change, int to, int from)
{
#pragma omp parallel for
    for (int row = 0; row < from; row++)
        for (int column = 0; column < to; column++) {
            int i = row * to + column;
            float step = 0.25f * delta[column] * layer[row] + 0.5f * change[i];
            weights[i] += step;
            change[i] = step;
        }
}

void srad(float *image, float *north, float *south, float *west, float *east, float *diffusion, int nx, int ny,
          float q0)
{
#pragma omp parallel for
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            int i = y * nx + x;
            float here = image[i];
            float n = image[std::max(y - 1, 0) * nx + x] - here, s = image[std::min(y + 1, ny - 1) * nx + x] - here;
            float w = image[y * nx + std::max(x - 1, 0)] - here, e = image[y * nx + std::min(x + 1, nx - 1)] - here;
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
#pragma omp parallel for
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            int i = y * nx + x;
            float here = diffusion[i], below = diffusion[std::min(y + 1, ny - 1) * nx + x];
            float right = diffusion[y * nx + std::min(x + 1, nx - 1)];
            image[i] += 0.125f * (here * north[i] + below * south[i] + here * west[i] + right * east[i]);
        }
}

void particle_resample(const float *cumulated, const float *wanted, const float *x, const float *y, float *new_x,
                       float *new_y, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int index = n - 1;
        for (int k = 0; k < n; k++)
            if (cumulated[k] >= wanted[i]) {
                index = k;
                break;
            }
        new_x[i] = x[index];
        new_y[i] = y[index];
    }
}

void spmv_thread(const int *start, const int *column, const float *value, const float *x, float *y, int rows, int, int)
{
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        float sum = 0;
        for (int k = start[row]; k < start[row + 1]; k++)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

void nbody_direct(const float *body, float *force, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const float *own = body + 4 * i;
        float sum_x = 0, sum_y = 0, sum_z = 0;
        for (int j = 0; j < n; j++) {
            const float *other = body + 4 * j;
            float x = other[0] - own[0], y = other[1] - own[1], z = other[2] - own[2];
            float inverse = 1 / std::sqrt(x * x + y * y + z * z + 0.01f);
            float strength = other[3] * inverse * inverse * inverse;
            sum_x += strength * x;
            sum_y += strength * y;
            sum_z += strength * z;
        }
        force[4 * i] = sum_x;
        force[4 * i + 1] = sum_y;
        force[4 * i + 2] = sum_z;
        force[4 * i + 3] = 0;
    }
}

void matmul_direct(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int rows, int inner,
                   int columns)
{
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        float *own = c + row * columns;
        std::fill(own, own + columns, 0.0f);
        for (int k = 0; k < inner; k++) {
            const float factor = a[row * inner + k];
            for (int column = 0; column < columns; column++)
                own[column] += factor * b[k * columns + column];
        }
    }
}

void conv1d_direct(const float *x, const float *tap, float *y, int n, int taps)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0;
        int first = i - taps / 2;
        for (int k = 0; k < taps; k++)
            if (first + k >= 0 && first + k < n)
                sum += x[first + k] * tap[k];
        y[i] = sum;
    }
}

static float normal_below(float d)
{
    float k = 1 / (1 + 0.2316419f * std::fabs(d));
    float tail =
        0.39894228f * std::exp(-0.5f * d * d) *
        (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - tail : tail;
}

void black_scholes(const float *price, const float *strike, const float *years, float *call, float *put, float rate,
                   float volatility, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float root = std::sqrt(years[i]);
        float d1 =
            (std::log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
        float d2 = d1 - volatility * root, discounted = strike[i] * std::exp(-rate * years[i]);
        float below1 = normal_below(d1), below2 = normal_below(d2);
        call[i] = price[i] * below1 - discounted * below2;
        put[i] = discounted * (1 - below2) - price[i] * (1 - below1);
    }
}

void tree_sum(const float *x, float *sums, int n)
{
#pragma omp parallel for
    for (int block = 0; block < (n + 255) / 256; block++) {
        float sum = 0;
        for (int i = block * 256; i < std::min(block * 256 + 256, n); i++)
            sum += x[i];
        sums[block] = sum;
    }
}

void lud(float *a, int n)
{
    for (int k = 0; k < n - 1; k++) {
        const float *pivot = a + k * n;
#pragma omp parallel for
        for (int i = k + 1; i < n; i++) {
            float *row = a + i * n;
            const float factor = row[k] /= pivot[k];
            for (int j = k + 1; j < n; j++)
                row[j] -= factor * pivot[j];
        }
    }
}

void hotspot(const float *power, float *from, float *to, int nx, int ny, int rounds)
{
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel for
        for (int y = 0; y < ny; y++) {
            const float *row = from + y * nx, *above = from + std::max(y - 1, 0) * nx;
            const float *below = from + std::min(y + 1, ny - 1) * nx;
            for (int x = 0; x < nx; x++) {
                float west = row[std::max(x - 1, 0)], east = row[std::min(x + 1, nx - 1)], here = row[x];
                to[y * nx + x] = here + 0.125f * (power[y * nx + x] + (above[x] + below[x] - 2 * here) +
                                                  (east + west - 2 * here) + 0.25f * (80 - here));
            }
        }
        std::swap(from, to);
    }
}

void pathfinder(const int *wall, int *from, int *to, int columns, int rows)
{
    for (int row = 0; row < rows; row++) {
#pragma omp parallel for
        for (int x = 0; x < columns; x++) {
            int least = from[x];
            if (x > 0)
                least = std::min(least, from[x - 1]);
            if (x < columns - 1)
                least = std::min(least, from[x + 1]);
            to[x] = least + wall[row * columns + x];
        }
        std::swap(from, to);
    }
}

// Aligns two sequences (Needleman and Wunsch). Tiles of one diagonal are independent of one another.
void nw(const int *match, int *score, int n, int penalty)
{
    const int side = 64, tiles = n / side, width = n + 1;
    for (int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
#pragma omp parallel for
        for (int tile = std::max(0, diagonal - tiles + 1); tile <= std::min(diagonal, tiles - 1); tile++) {
            const int row = tile * side, column = (diagonal - tile) * side;
            for (int i = row; i < row + side; i++)
                for (int j = column; j < column + side; j++)
                    score[(i + 1) * width + j + 1] =
                        std::max(score[i * width + j] + match[i * n + j],
                                 std::max(score[(i + 1) * width + j] - penalty, score[i * width + j + 1] - penalty));
        }
    }
}

void layer_forward(const float *input, const float *weights, float *partial, int inputs)
{
#pragma omp parallel for
    for (int group = 0; group < inputs / 16; group++) {
        float sums[16] = {};
        for (int i = group * 16; i < group * 16 + 16; i++)
            for (int unit = 0; unit < 16; unit++)
                sums[unit] += input[i] * weights[i * 16 + unit];
        std::copy(sums, sums + 16, partial + group * 16);
    }
}

void btree_search(const int *keys, const int *query, int *found, int queries, int, int levels)
{
#pragma omp parallel for
    for (int i = 0; i < queries; i++) {
        int node = 0;
        for (int level = 0; level < levels; level++) {
            const int *own = keys + node * 33;
            int child = 0;
            while (child < 31 && own[child + 1] <= query[i])
                child++;
            node = 32 * node + child + 1;
        }
        found[i] = node;
    }
}

void cluster_gain(const float *coord, const float *weight, const float *cost, float *gain, int *switches, int n,
                  int dims, int centre)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float distance = 0;
        for (int d = 0; d < dims; d++) {
            float difference = coord[d * n + i] - coord[d * n + centre];
            distance += difference * difference;
        }
        float change = cost[i] - weight[i] * distance;
        switches[i] = change > 0;
        gain[i] = change > 0 ? change : 0;
    }
}

void particle_weights(const int *picture, const float *x, const float *y, const int *offset, float *weight, float *sums,
                      int n, int points, int nx, int ny)
{
#pragma omp parallel for
    for (int block = 0; block < (n + 255) / 256; block++) {
        float sum = 0;
        for (int i = block * 256; i < std::min(block * 256 + 256, n); i++) {
            float likelihood = 0;
            for (int k = 0; k < points; k++) {
                int at_x = std::min(std::max((int)x[i] + offset[2 * k], 0), nx - 1);
                int at_y = std::min(std::max((int)y[i] + offset[2 * k + 1], 0), ny - 1);
                float value = (float)picture[at_y * nx + at_x];
                likelihood += ((value - 100) * (value - 100) - (value - 228) * (value - 228)) / 25600;
            }
            weight[i] *= std::exp(likelihood / (float)points);
            sum += weight[i];
        }
        sums[block] = sum;
    }
}

void conv1d_tile(const float *x, const float *tap, float *y, int n)
{
    for (int i = 0; i < 4; i++) {
        float sum = 0;
        for (int k = 4 - i; k < 9; k++)
            sum += x[i + k - 4] * tap[k];
        y[i] = sum;
    }
#pragma omp parallel for
    for (int i = 4; i < n - 4; i++) {
        float sum = 0;
        for (int k = 0; k < 9; k++)
            sum += x[i + k - 4] * tap[k];
        y[i] = sum;
    }
    for (int i = n - 4; i < n; i++) {
        float sum = 0;
        for (int k = 0; i + k - 4 < n; k++)
            sum += x[i + k - 4] * tap[k];
        y[i] = sum;
    }
}

// Computes an element near the rim, where each tap needs a test.
static float convolve_rim(const float *image, const float *tap, int x, int y, int nx, int ny)
{
    float sum = 0;
    for (int j = std::max(0, 2 - y); j < std::min(5, ny + 2 - y); j++)
        for (int i = std::max(0, 2 - x); i < std::min(5, nx + 2 - x); i++)
            sum += image[(y + j - 2) * nx + x + i - 2] * tap[j * 5 + i];
    return sum;
}

void conv2d_tile(const float *image, const float *tap, float *result, int nx, int ny)
{
#pragma omp parallel for
    for (int y = 0; y < ny; y++) {
        const bool is_inner = y >= 2 && y < ny - 2;
        for (int x = 0; x < nx; x++)
            if (!is_inner || x < 2 || x >= nx - 2)
                result[y * nx + x] = convolve_rim(image, tap, x, y, nx, ny);
        for (int x = 2; is_inner && x < nx - 2; x++) {
            float sum = 0;
            for (int j = 0; j < 5; j++)
                for (int i = 0; i < 5; i++)
                    sum += image[(y + j - 2) * nx + x + i - 2] * tap[j * 5 + i];
            result[y * nx + x] = sum;
        }
    }
}

void layer_norm(const float *x, const float *gamma, const float *beta, float *y, int rows, int columns)
{
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        const float *in = x + row * columns;
        float sum = 0, squares = 0;
        for (int i = 0; i < columns; i++)
            sum += in[i];
        const float mean = sum / (float)columns;
        for (int i = 0; i < columns; i++)
            squares += (in[i] - mean) * (in[i] - mean);
        const float scale = 1 / std::sqrt(squares / (float)columns + 1e-5f);
        for (int i = 0; i < columns; i++)
            y[row * columns + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
    }
}

void softmax_warp(const float *x, float *y, int rows, int columns)
{
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        const float *in = x + row * columns;
        float *out = y + row * columns, largest = in[0], sum = 0;
        for (int i = 1; i < columns; i++)
            largest = std::max(largest, in[i]);
        for (int i = 0; i < columns; i++) {
            out[i] = std::exp(in[i] - largest);
            sum += out[i];
        }
        for (int i = 0; i < columns; i++)
            out[i] /= sum;
    }
}

void attention_head(const float *query, const float *key, const float *value, float *res, int queries)
{
#pragma omp parallel for
    for (int row = 0; row < queries; row++) {
        float score[128], result[64] = {}, largest = -3.4e38f, sum = 0;
        for (int t = 0; t < 128; t++) {
            float product = 0;
            for (int d = 0; d < 64; d++)
                product += query[row * 64 + d] * key[t * 64 + d];
            score[t] = 0.125f * product;
            largest = std::max(largest, score[t]);
        }
        for (int t = 0; t < 128; t++) {
            score[t] = std::exp(score[t] - largest);
            sum += score[t];
            for (int d = 0; d < 64; d++)
                result[d] += score[t] * value[t * 64 + d];
        }
        for (int d = 0; d < 64; d++)
            res[row * 64 + d] = result[d] / sum;
    }
}

// Makes a pass of a radix sort. Keys are counted per digit and part; there are enough parts to keep all threads busy.
void radix_pass(const unsigned int *keys, int *, unsigned int *sorted, int shift, int blocks)
{
    const int parts = 64, n = 256 * blocks, each = (n + parts - 1) / parts;
    static int places[parts][16];
#pragma omp parallel for
    for (int part = 0; part < parts; part++) {
        int counts[16] = {};
        for (int i = part * each; i < std::min(part * each + each, n); i++)
            counts[keys[i] >> shift & 15]++;
        std::copy(counts, counts + 16, places[part]);
    }
    int before = 0;
    for (int digit = 0; digit < 16; digit++)
        for (int part = 0; part < parts; part++) {
            int count = places[part][digit];
            places[part][digit] = before;
            before += count;
        }
#pragma omp parallel for
    for (int part = 0; part < parts; part++) {
        int next[16];
        std::copy(places[part], places[part] + 16, next);
        for (int i = part * each; i < std::min(part * each + each, n); i++)
            sorted[next[keys[i] >> shift & 15]++] = keys[i];
    }
}

void histogram_shared(const unsigned char *x, int *counts, int n)
{
    std::fill(counts, counts + 256, 0);
#pragma omp parallel
    {
        int own[256] = {};
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            own[x[i]]++;
#pragma omp critical
        for (int value = 0; value < 256; value++)
            counts[value] += own[value];
    }
}

void scan(const int *x, int *y, int n, int each)
{
#pragma omp parallel for
    for (int begin = 0; begin < n; begin += each) {
        int sum = 0;
        for (int i = begin; i < begin + each; i++)
            y[i] = sum += x[i];
    }
}

void transpose_tile(const float *in, float *out, int nx, int ny)
{
#pragma omp parallel for
    for (int y = 0; y < nx; y++)
        for (int x = 0; x < ny; x++)
            out[y * ny + x] = in[x * nx + y];
}

} // namespace PLAIN
