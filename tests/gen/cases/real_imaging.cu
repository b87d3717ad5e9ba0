/* real_imaging - kernels of image processing: bytes, pixels of four channels, pitches in bytes, tiles, windows. */
#include <cuda_runtime.h>
#include <stdint.h>

#include "real_types.h"

#pragma cf include("real_types.h")

using byte = unsigned char;
using luminance = float;

static constexpr int MAX_RADIUS = 7;
constexpr int BINS = 1 << 8;

/* The right half of a symmetric window. */
__constant__ float window[MAX_RADIUS + 1];

__constant__ struct {
    float r, g, b;
} luma = {0.299f, 0.587f, 0.114f};

/* Grey values of pixels. */
#pragma cf kernel grid(width, height) block(32, 8) in(source[height][width]) out(grey[height][width])
__global__ void to_grey(const uchar4 *source, byte *grey, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    uchar4 p = source[y * width + x];
    grey[y * width + x] = (byte)(luma.r * p.x + luma.g * p.y + luma.b * p.z + 0.5f);
}

/* A row filter over a window of constant memory; rows stand a pitch of bytes apart, as cudaMallocPitch() gives it. */
#pragma cf kernel grid(width, height) block(64, 4) in(source[height][width]) out(target[height][width]) \
    pitch(source: pitch / sizeof(float); target: pitch / sizeof(float)) check(pitch % sizeof(float) == 0)
#pragma cf instances(r1: 1; r3: 3; r7: MAX_RADIUS)
template <int RADIUS>
__global__ void filter_rows(const luminance *source, luminance *target, int width, int height, size_t pitch)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float *row = (const float *)((const char *)source + y * pitch);
    float sum = 0;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += window[k < 0 ? -k : k] * row[min(max(x + k, 0), width - 1)];
    ((float *)((char *)target + y * pitch))[x] = sum;
}

/* An image as a struct with its pointer, thresholded in place. */
#pragma cf kernel grid(picture.width, picture.height) block(32, 8) check(picture.pitch >= picture.width)
__global__ void threshold(image picture, unsigned char level)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < picture.width && y < picture.height)
        picture.pixels[y * picture.pitch + x] = picture.pixels[y * picture.pitch + x] >= level ? 255 : 0;
}

static void histogram_cpu(const byte *data, unsigned *bins, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bins[data[i]]++;
}

/* Counts of the values of bytes, gathered in shared memory first. */
#pragma cf kernel grid(count) items(16) block(BINS) in(data[count]) inout(bins[BINS]) host(histogram_cpu)
__global__ void histogram(const byte *__restrict__ data, unsigned *__restrict__ bins, size_t count)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        atomicAdd(&own[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

/* A transposed matrix, by tiles of a size to be found. */
#pragma cf kernel blocks((width + TILE - 1) / TILE, (height + TILE - 1) / TILE) block(TILE, ROWS) \
    tune(TILE: 32, 16; ROWS: 8, 16) in(source[height][width]) out(target[width][height])
#pragma cf instances(u8: unsigned char; f32: float; f64: double)
template <typename T, int TILE, int ROWS>
__global__ void transpose(const T *__restrict__ source, T *__restrict__ target, int width, int height)
{
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS)
        if (x < width && y + k < height)
            tile[threadIdx.y + k][threadIdx.x] = source[(size_t)(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS)
        if (x < height && y + k < width)
            target[(size_t)(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

/* Images of several channels, each a plane of its own behind a table of pointers; the table does not change. */
#pragma cf kernel grid(width * height, channels) block(256, 1) in(planes[channels]) \
    out(mixed[channels][height][width])
__global__ void interleave(const float *const *planes, float *mixed, int channels, int width, int height)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (i < width * height)
        mixed[(size_t)c * width * height + i] = planes[c][i];
}

/* A pixel as a union by value. */
#pragma cf kernel grid(n) out(pixels[n])
__global__ void fill(pixel *pixels, const pixel colour, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        pixels[i] = colour;
        pixels[i].channel[3] = 255;
    }
}

/* Bilinear samples of a field of pairs at given places. */
#pragma cf kernel grid(n) in(field[size.y][size.x], place[n]) out(sample[n]) \
    check(size.x > 1, size.y > 1, size.z == 1)
__global__ void resample(const float2 *field, const dim3 size, const float2 *place, float2 *sample, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float fx = fminf(fmaxf(place[i].x, 0.f), (float)size.x - 1.001f);
    float fy = fminf(fmaxf(place[i].y, 0.f), (float)size.y - 1.001f);
    unsigned x = (unsigned)fx, y = (unsigned)fy;
    float ax = fx - (float)x, ay = fy - (float)y;
    const float2 *at = field + (size_t)y * size.x + x;
    sample[i].x =
        (1 - ay) * ((1 - ax) * at[0].x + ax * at[1].x) + ay * ((1 - ax) * at[size.x].x + ax * at[size.x + 1].x);
    sample[i].y =
        (1 - ay) * ((1 - ax) * at[0].y + ax * at[1].y) + ay * ((1 - ax) * at[size.x].y + ax * at[size.x + 1].y);
}
