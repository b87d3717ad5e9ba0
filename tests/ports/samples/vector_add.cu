/* vector_add.cu - c = a + b, with the host code of a first program. */
#include <iostream>
#include <vector>

#include "common/gpu_check.h"
#include "common/timer.h"

#pragma cf kernel grid(numElements) in(A[numElements], B[numElements]) out(C[numElements])
__global__ void vectorAdd(const float *A, const float *B, float *C, int numElements)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < numElements) {
        C[i] = A[i] + B[i] + 0.0f;
    }
}

int main(void)
{
    int numElements = 50000;
    size_t size = numElements * sizeof(float);
    std::vector<float> h_A(numElements), h_B(numElements), h_C(numElements);
    float *d_A = NULL, *d_B = NULL, *d_C = NULL;
    checkErrors(cudaSetDevice(best_device()));
    checkErrors(cudaMalloc((void **)&d_A, size));
    checkErrors(cudaMalloc((void **)&d_B, size));
    checkErrors(cudaMalloc((void **)&d_C, size));
    checkErrors(cudaMemcpy(d_A, h_A.data(), size, cudaMemcpyHostToDevice));
    checkErrors(cudaMemcpy(d_B, h_B.data(), size, cudaMemcpyHostToDevice));
    int threadsPerBlock = 256;
    int blocksPerGrid = (numElements + threadsPerBlock - 1) / threadsPerBlock;
    std::cout << "time " << time_launch(vectorAdd, blocksPerGrid, threadsPerBlock, d_A, d_B, d_C, numElements) << "\n";
    checkErrors(cudaGetLastError());
    checkErrors(cudaMemcpy(h_C.data(), d_C, size, cudaMemcpyDeviceToHost));
    for (int i = 0; i < numElements; ++i) {
        if (fabs(h_A[i] + h_B[i] - h_C[i]) > 1e-5)
            throw std::runtime_error("wrong");
    }
    return 0;
}
