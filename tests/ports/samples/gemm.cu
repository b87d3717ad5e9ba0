/* gemm.cu - matrix products: structs that describe submatrices, two-dimensional tiles of registers, vector loads. */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define OFFSET(row, col, ld) ((row) * (ld) + (col))
#define FETCH_FLOAT4(pointer) (reinterpret_cast<float4 *>(&(pointer))[0])
#define CFETCH_FLOAT4(pointer) (reinterpret_cast<const float4 *>(&(pointer))[0])
#define cudaCheck(err) (cudaCheck(err, __FILE__, __LINE__))

// Matrices are stored in row-major order:
// M(row, col) = *(M.elements + row * M.stride + col)
typedef struct {
  int width;
  int height;
  int stride;
  float *elements;
} Matrix;

#define BLOCK_SIZE 16

// Get a matrix element
__device__ float GetElement(const Matrix A, int row, int col)
{
  return A.elements[row * A.stride + col];
}

__device__ void SetElement(Matrix A, int row, int col, float value) { A.elements[row * A.stride + col] = value; }

__device__ Matrix GetSubMatrix(Matrix A, int row, int col)
{
  Matrix Asub;
  Asub.width = BLOCK_SIZE;
  Asub.height = BLOCK_SIZE;
  Asub.stride = A.stride;
  Asub.elements = &A.elements[A.stride * BLOCK_SIZE * row + BLOCK_SIZE * col];
  return Asub;
}

// Forward declaration of the matrix multiplication kernel
__global__ void MatMulKernel(const Matrix, const Matrix, Matrix);

void MatMul(const Matrix A, const Matrix B, Matrix C)
{
  Matrix d_A;
  d_A.width = d_A.stride = A.width;
  d_A.height = A.height;
  size_t size = A.width * A.height * sizeof(float);
  cudaMalloc(&d_A.elements, size);
  cudaMemcpy(d_A.elements, A.elements, size, cudaMemcpyHostToDevice);
  dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
  dim3 dimGrid(B.width / dimBlock.x, A.height / dimBlock.y);
  MatMulKernel<<<dimGrid, dimBlock>>>(d_A, B, C);
  cudaFree(d_A.elements);
}

#pragma cf kernel blocks(B.width / BLOCK_SIZE, A.height / BLOCK_SIZE) block(BLOCK_SIZE, BLOCK_SIZE) \
    check(A.width % BLOCK_SIZE == 0, A.width == B.height)
__global__ void MatMulKernel(Matrix A, Matrix B, Matrix C)
{
  int blockRow = blockIdx.y;
  int blockCol = blockIdx.x;
  Matrix Csub = GetSubMatrix(C, blockRow, blockCol);
  float Cvalue = 0;
  int row = threadIdx.y;
  int col = threadIdx.x;
  for (int m = 0; m < (A.width / BLOCK_SIZE); ++m) {
    Matrix Asub = GetSubMatrix(A, blockRow, m);
    Matrix Bsub = GetSubMatrix(B, m, blockCol);
    __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
    As[row][col] = GetElement(Asub, row, col);
    Bs[row][col] = GetElement(Bsub, row, col);
    __syncthreads();
    for (int e = 0; e < BLOCK_SIZE; ++e)
      Cvalue += As[row][e] * Bs[e][col];
    __syncthreads();
  }
  SetElement(Csub, row, col, Cvalue);
}

#pragma cf kernel blocks(CEIL_DIV(N, BN), CEIL_DIV(M, BM)) block((BM * BN) / (TM * TN)) in(A[M][K], B[K][N]) \
    inout(C[M][N]) check(M % BM == 0, N % BN == 0, K % BK == 0) tolerance(1e-4)
#pragma cf instances(t64: 64, 64, 8, 8, 8)
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
    sgemmVectorize(int M, int N, int K, float alpha, float const *__restrict__ const A, const float *__restrict B,
                   float beta, float *C) {
  const uint cRow = blockIdx.y;
  const uint cCol = blockIdx.x;

  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);

  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];

  const float *a = A + cRow * BM * K;
  B += cCol * BN;
  C += cRow * BM * N + cCol * BN;

  const uint innerRowA = threadIdx.x / (BK / 4);
  const uint innerColA = threadIdx.x % (BK / 4);
  const uint innerRowB = threadIdx.x / (BN / 4);
  const uint innerColB = threadIdx.x % (BN / 4);
  constexpr uint rowStrideA = ((BM * BN) / (TM * TN) * 4) / BK;

  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};

  for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
    for (uint offset = 0; offset + rowStrideA <= BM; offset += rowStrideA) {
      float4 tmp = CFETCH_FLOAT4(a[OFFSET(innerRowA + offset, innerColA * 4, K)]);
      As[(innerColA * 4 + 0) * BM + innerRowA + offset] = tmp.x;
      As[(innerColA * 4 + 1) * BM + innerRowA + offset] = tmp.y;
      As[(innerColA * 4 + 2) * BM + innerRowA + offset] = tmp.z;
      As[(innerColA * 4 + 3) * BM + innerRowA + offset] = tmp.w;
    }
    for (uint offset = 0; offset + 4 <= BK; offset += 4)
      FETCH_FLOAT4(Bs[OFFSET(innerRowB + offset, innerColB * 4, BN)]) =
          CFETCH_FLOAT4(B[OFFSET(innerRowB + offset, innerColB * 4, N)]);
    __syncthreads();

    a += BK;
    B += BK * N;

#pragma unroll
    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
#pragma unroll TM
      for (uint i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
      #pragma unroll (TN)
      for (uint i = 0; i < TN; ++i)
        regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (uint resIdxM = 0; resIdxM < TM; ++resIdxM)
        for (uint resIdxN = 0; resIdxN < TN; ++resIdxN)
          threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
    }
    __syncthreads();
  }

  for (uint resIdxM = 0; resIdxM < TM; resIdxM += 1) {
    for (uint resIdxN = 0; resIdxN < TN; resIdxN += 4) {
      float4 tmp = reinterpret_cast<float4 *>(&C[(threadRow * TM + resIdxM) * N + threadCol * TN + resIdxN])[0];
      tmp.x = alpha * threadResults[resIdxM * TN + resIdxN] + beta * tmp.x;
      tmp.y = alpha * threadResults[resIdxM * TN + resIdxN + 1] + beta * tmp.y;
      tmp.z = alpha * threadResults[resIdxM * TN + resIdxN + 2] + beta * tmp.z;
      tmp.w = alpha * threadResults[resIdxM * TN + resIdxN + 3] + beta * tmp.w;
      reinterpret_cast<float4 *>(&C[(threadRow * TM + resIdxM) * N + threadCol * TN + resIdxN])[0] = tmp;
    }
  }
}

void(cudaCheck)(cudaError_t error, const char *file, int line)
{
  if (error != cudaSuccess) {
    printf("[CUDA ERROR] at file %s:%d:\n%s\n", file, line, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
  }
};

void run_kernel(int kernel_num, int M, int N, int K, float alpha, float *A, float *B, float beta, float *C,
                cublasHandle_t handle)
{
  switch (kernel_num) {
  case 0: cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &alpha, B, N, A, K, &beta, C, N); break;
  case 1: {
    const uint BK = 8, TM = 8, TN = 8, BM = 64, BN = 64;
    dim3 gridDim(CEIL_DIV(N, BN), CEIL_DIV(M, BM));
    dim3 blockDim((BM * BN) / (TM * TN));
    sgemmVectorize<BM, BN, BK, TM, TN><<<gridDim, blockDim>>>(M, N, K, alpha, A, B, beta, C);
    break;
  }
  default: throw std::invalid_argument("Unknown kernel number");
  }
}

int main(int argc, char **argv)
{
  std::vector<int> SIZE = {128, 256, 512, 1024, 2048, 4096};
  if (argc != 2) {
    std::cerr << "Please select a kernel (range 0 - 1)" << std::endl;
    exit(EXIT_FAILURE);
  }
  cublasHandle_t handle;
  if (cublasCreate(&handle)) exit(EXIT_FAILURE);
  cudaEvent_t beg, end;
  cudaEventCreate(&beg);
  cudaEventCreate(&end);
  for (int size : SIZE) {
    float elapsed_time;
    cudaEventRecord(beg);
    run_kernel(std::stoi(argv[1]), size, size, size, 0.5f, nullptr, nullptr, 3.0f, nullptr, handle);
    cudaEventRecord(end);
    cudaEventSynchronize(beg);
    cudaEventElapsedTime(&elapsed_time, beg, end);
    elapsed_time /= 1000.;
    printf("Average elapsed time: (%7.6f) s, performance: (%7.1f) GFLOPS. size: (%d).\n", elapsed_time,
           (2. * 1e-9 * size * size * size) / elapsed_time, size);
    cudaCheck(cudaGetLastError());
  }
  cublasDestroy(handle);
}
