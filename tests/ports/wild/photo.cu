/* photo.cu - filters of photographs, as in a student's project that was written for Windows. */
#ifdef _WIN32
#include <windows.h>
#include <io.h>
#pragma comment(lib, "cudart.lib")
#else
#include <unistd.h>
#endif
#define _CRT_SECURE_NO_WARNINGS
#define _USE_MATH_DEFINES
#include "cuda_runtime.h"
#include "device_launch_parameters.h"
#include <ctime>
#include <fstream>
#include <iostream>
#include <math.h>
#include <string>
#if __has_include("stb_image.h")
#define STB_IMAGE_IMPLEMENTATION
#include "stb_image.h"
#endif
using namespace std;

typedef unsigned char uchar;
typedef struct tagRGB { uchar r, g, b; } RGB;
enum Border { BORDER_CLAMP, BORDER_ZERO };

#define CHANNELS 3
#define FILTER_RADIUS 2
#define FILTER_SIZE (2 * FILTER_RADIUS + 1)
#define TILE_WIDTH 16
#define BLOCK_WIDTH (TILE_WIDTH + FILTER_SIZE - 1)
#define idx2(r, c, w) ((r) * (w) + (c))
#define clamp_to(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))

__constant__ float filter[FILTER_SIZE][FILTER_SIZE];
__device__ const float luma[3] = {0.25f, 0.5f, 0.25f};

cudaError_t addWithCuda(int *c, const int *a, unsigned int size);

#pragma cf kernel grid(width, height) block(16, 16) in(in[height * width]) out(out[height * width])
__global__ void toGray(const RGB *in, uchar *out, int width, int height)
{
    const auto x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) { return; }
    RGB rgb = in[idx2(y, x, width)];
    out[idx2(y, x, width)] = (uchar)(rgb.r * luma[0] + rgb.g * luma[1] + rgb.b * luma[2]);
}

#pragma cf kernel blocks((w + TILE_WIDTH - 1) / TILE_WIDTH, (h + TILE_WIDTH - 1) / TILE_WIDTH) block(BLOCK_WIDTH, BLOCK_WIDTH) \
    in(src[h][w]) out(dst[h][w])
__global__ void convolve(uchar *src, uchar *dst, int w, int h, Border border)
{
    __shared__ float tile[BLOCK_WIDTH][BLOCK_WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row_o = blockIdx.y * TILE_WIDTH + ty, col_o = blockIdx.x * TILE_WIDTH + tx;
    int row_i = row_o - FILTER_RADIUS, col_i = col_o - FILTER_RADIUS;
    if (border == BORDER_CLAMP) tile[ty][tx] = src[idx2(clamp_to(row_i, 0, h - 1), clamp_to(col_i, 0, w - 1), w)];
    else if (row_i >= 0 && row_i < h && col_i >= 0 && col_i < w) tile[ty][tx] = src[row_i * w + col_i];
    else tile[ty][tx] = 0.0f;
    __syncthreads();
    if (ty < TILE_WIDTH and tx < TILE_WIDTH && row_o < h && col_o < w) {
        float sum = 0;
        for (int i = 0; i < FILTER_SIZE; i++)
            for (int j = 0; j < FILTER_SIZE; j++)
                sum += filter[i][j] * tile[i + ty][j + tx];
        dst[row_o * w + col_o] = (uchar)min(max(sum, 0.f), 255.f);
    }
}

#pragma cf kernel grid(n) block(192) inout(img[n])
__global__ void brighten(uchar4 *img, long n, int amount)
{
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        uchar4 p = img[i];
        img[i] = make_uchar4(min(255, max(0, p.x + amount)), min(255, max(0, p.y + amount)), abs(p.z - amount) & 255, p.w);
    }
}

int main(int argc, char *argv[])
{
    clock_t start = clock();
    string name = argc > 1 ? argv[1] : "in.ppm";
    ifstream file(name, ios::binary);
    if (!file) { cerr << "cannot open " << name << endl; return -1; }
    float host[FILTER_SIZE][FILTER_SIZE] = {};
    for (auto &row : host) for (auto &v : row) v = 1.f / (FILTER_SIZE * FILTER_SIZE);
    cudaMemcpyToSymbol(filter, host, sizeof host);
    dim3 threads(BLOCK_WIDTH, BLOCK_WIDTH), blocks(1, 1, 1);
    convolve<<<blocks, threads>>>(nullptr, nullptr, 0, 0, BORDER_ZERO);
    cout << double(clock() - start) / CLOCKS_PER_SEC << "\n";
#ifdef _WIN32
    system("pause");
#endif
    return 0;
}

cudaError_t addWithCuda(int *c, const int *a, unsigned int size)
{
    int *dev_a = 0;
    cudaError_t cudaStatus = cudaSetDevice(0);
    if (cudaStatus != cudaSuccess) {
        fprintf(stderr, "cudaSetDevice failed!  Do you have a CUDA-capable GPU installed?");
        goto Error;
    }
    cudaStatus = cudaMalloc((void **)&dev_a, size * sizeof(int));
Error:
    cudaFree(dev_a);
    return cudaStatus;
}
