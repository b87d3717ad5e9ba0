/* matrix_mul.cu - C = A B by tiles, of which a template constant gives the size. */
#include <cstring>

#include "common/gpu_check.h"

#define TILES(n, size) ((n) / (size))

#pragma cf kernel blocks(TILES(wB, BLOCK_SIZE), TILES(hA, BLOCK_SIZE)) block(BLOCK_SIZE, BLOCK_SIZE) \
    in(A[hA][wA], B[wA][wB]) out(C[hA][wB]) param(int hA) \
    check(wA % BLOCK_SIZE == 0, wB % BLOCK_SIZE == 0, hA % BLOCK_SIZE == 0)
#pragma cf instances(t16: 16; t32: 32)
template <int BLOCK_SIZE> __global__ void MatrixMulCUDA(float *C, float *A, float *B, int wA, int wB)
{
    int bx = blockIdx.x;
    int by = blockIdx.y;
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int aBegin = wA * BLOCK_SIZE * by;
    int aEnd = aBegin + wA - 1;
    int aStep = BLOCK_SIZE;
    int bBegin = BLOCK_SIZE * bx;
    int bStep = BLOCK_SIZE * wB;
    float Csub = 0;

    for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[ty][tx] = A[a + wA * ty + tx];
        Bs[ty][tx] = B[b + wB * ty + tx];
        __syncthreads();

#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k) {
            Csub += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }

    int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
    C[c + wB * ty + tx] = Csub;
}

void ConstantInit(float *data, int size, float val)
{
    for (int i = 0; i < size; ++i)
        data[i] = val;
}

int MatrixMultiply(int argc, char **argv, int block_size, const dim3 &dimsA, const dim3 &dimsB)
{
    float *h_A, *d_A, *d_B, *d_C;
    cudaStream_t stream;
    checkErrors(cudaMallocHost(&h_A, sizeof(float) * dimsA.x * dimsA.y));
    ConstantInit(h_A, dimsA.x * dimsA.y, 1.0f);
    checkErrors(cudaMalloc(&d_A, sizeof(float) * dimsA.x * dimsA.y));
    checkErrors(cudaMalloc(&d_B, sizeof(float) * dimsB.x * dimsB.y));
    checkErrors(cudaMalloc(&d_C, sizeof(float) * dimsB.x * dimsA.y));
    checkErrors(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    dim3 threads(block_size, block_size);
    dim3 grid(dimsB.x / threads.x, dimsA.y / threads.y);
    if (block_size == 16) {
        MatrixMulCUDA<16><<<grid, threads, 0, stream>>>(d_C, d_A, d_B, dimsA.x, dimsB.x);
    } else {
        MatrixMulCUDA<32><<<grid, threads, 0, stream>>>(d_C, d_A, d_B, dimsA.x, dimsB.x);
    }
    checkErrors(cudaStreamSynchronize(stream));
    return argc > 1 && !strcmp(argv[1], "-h");
}
