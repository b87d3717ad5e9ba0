// roi_pool.cu - maxima of regions, and their gradients by atomics, as in an extension of PyTorch.
#include "torch/extension.h"
#if __has_include(<ATen/cuda/CUDAContext.h>)
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#endif

#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor ")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous ")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

#define CUDA_1D_KERNEL_LOOP(i, n)                            \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; \
       i += blockDim.x * gridDim.x)

#define THREADS_PER_BLOCK 64
#define DIVUP(m, n) ((m) / (n) + ((m) % (n) > 0))

namespace {

inline int GET_BLOCKS(const int N, const int num_threads = THREADS_PER_BLOCK) {
  int optimal_block_num = (N + num_threads - 1) / num_threads;
  int max_block_num = 4096;
  return std::min(optimal_block_num, max_block_num);
}

template <typename scalar_t>
__device__ __forceinline__ scalar_t sigmoid(scalar_t z) {
  return 1.0 / (1.0 + exp(-z));
}

#pragma cf kernel blocks(8) block(THREADS_PER_BLOCK) in(input[channels][height * width], rois[nthreads / (channels * pooled)][2]) \
    out(output[nthreads], argmax[nthreads]) check(channels > 0, pooled > 0, nthreads % (channels * pooled) == 0, \
    0 <= rois[:] <= height * width)
#pragma cf instances(f32: float; f64: double)
template <typename scalar_t>
__global__ void roi_pool_forward_kernel(
    const int nthreads, const scalar_t* __restrict__ input, const int* __restrict__ rois,
    scalar_t* __restrict__ output, int* __restrict__ argmax,
    const int channels, const int height, const int width, const int pooled) {
  CUDA_1D_KERNEL_LOOP(index, nthreads) {
    int pw = index % pooled;
    int c = (index / pooled) % channels;
    int n = index / pooled / channels;
    const int* offset_rois = rois + n * 2;
    int start = offset_rois[0], end = max(offset_rois[1], start);
    int bin = DIVUP(end - start, pooled);
    int first = min(start + pw * bin, end), last = min(first + bin, end);
    bool is_empty = last <= first;
    scalar_t max_val = is_empty ? scalar_t(0) : scalar_t(-1e30);
    int max_idx = -1;
    const scalar_t* offset_input = input + c * height * width;
    for (int h = first; h < last; ++h) {
      if (offset_input[h] > max_val) {
        max_val = offset_input[h];
        max_idx = h;
      }
    }
    output[index] = sigmoid(max_val);
    if (argmax != NULL) argmax[index] = max_idx;
  }
}

}  // namespace

std::vector<torch::Tensor> roi_pool_forward_cuda(torch::Tensor input, torch::Tensor rois, int pooled) {
  CHECK_INPUT(input);
  const auto channels = input.size(0);
  auto output = torch::zeros_like(input), argmax = torch::zeros_like(rois);
  const int nthreads = rois.size(0) * channels * pooled;
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "roi_pool_forward", ([&] {
    roi_pool_forward_kernel<scalar_t><<<GET_BLOCKS(nthreads), THREADS_PER_BLOCK>>>(
        nthreads, input.data_ptr<scalar_t>(), rois.data_ptr<int>(), output.data_ptr<scalar_t>(),
        argmax.data_ptr<int>(), channels, input.size(1), input.size(2), pooled);
  }));
  return {output, argmax};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &roi_pool_forward_cuda, "RoI pooling (CUDA)");
}
