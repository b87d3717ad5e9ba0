/* cholesky.cu - Cholesky factors of many matrices, with the number of the first bad pivot; threads may return early. */
#include <cstdio>
#include <exception>
#include <string>

#define CHECKED(call)                                          \
    if (cudaError_t error_ = (call); error_ != cudaSuccess) {  \
        throw CudaFailure(error_, #call, __FILE__, __LINE__);  \
    } else                                                     \
        ((void)0)

class CudaFailure : public std::exception
{
    std::string text_;

  public:
    CudaFailure(cudaError_t error, const char *call, const char *file, int line)
        : text_(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " + cudaGetErrorString(error))
    {
    }
    const char *what() const noexcept override { return text_.c_str(); }
};

#pragma cf kernel blocks(batch) block(32) shared(n * n * sizeof(double)) inout(a[batch][n][n]) out(info[batch]) \
    check(0 < n <= 32) param(int batch) tolerance(1e-9)
__global__ void cholesky(double *a, int *info, int n)
{
    extern __shared__ double l[];
    __shared__ volatile int bad;
    const int i = threadIdx.x;

    if (i >= n)
        return;
    double *row = a + ((size_t)blockIdx.x * n + i) * n;
    if (i == 0)
        bad = 0;
    for (int j = 0; j < n; j++)
        l[i * n + j] = row[j];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (i == k) {
            double pivot = l[k * n + k];
            for (int j = 0; j < k; j++)
                pivot -= l[k * n + j] * l[k * n + j];
            if (!(pivot > 0))
                bad = k + 1;
            else
                l[k * n + k] = sqrt(pivot);
        }
        __syncthreads();
        if (bad)
            break;
        if (i > k) {
            double sum = l[i * n + k];
            for (int j = 0; j < k; j++)
                sum -= l[i * n + j] * l[k * n + j];
            l[i * n + k] = sum / l[k * n + k];
        }
        __syncthreads();
    }
    if (i == 0)
        info[blockIdx.x] = bad;
    if (bad)
        return;
    for (int j = 0; j < n; j++)
        row[j] = j <= i ? l[i * n + j] : 0.0;
}

int main() try {
    double *a;
    int *info;
    CHECKED(cudaMalloc(&a, sizeof(double) * 100 * 32 * 32));
    CHECKED(cudaMalloc(&info, sizeof(int) * 100));
    CHECKED(cudaMemset(a, 0, sizeof(double) * 100 * 32 * 32));
    cholesky<<<100, 32, 32 * 32 * sizeof *a>>>(a, info, 32);
    CHECKED(cudaDeviceSynchronize());
    return 0;
} catch (const std::exception &e) {
    std::fputs(e.what(), stderr);
    return 1;
}
