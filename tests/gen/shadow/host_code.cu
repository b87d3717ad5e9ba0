/* host_code.cu - parts of kernel files other than kernels: headers of CUDA and the C++ library, host code, keywords. */
#include <builtin_types.h>
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <driver_types.h>
#include <memory>
#include <vector>
#include <vector_functions.h>
#include <vector_types.h>

#include "expect.h"
#include "host_code.h"

#if CUDART_VERSION < 12000 || CUDA_VERSION < 12000 || __CUDACC_VER_MAJOR__ < 12 || !defined __CUDACC__
#error "an old toolkit"
#endif

__host__ __device__ constexpr int square(int x)
{
    return x * x;
}

__device__ float helper(float x);

__device__ float helper(float x)
{
    return x < 0 ? -x : x;
}

__global__ void check(int *wrong)
{
    EXPECT(square(3) == 9 && helper(-2) == 2);
    cuda::std::array<cuda::std::int64_t, 2> pair = {1, 2};
    static_assert(cuda::std::is_same<cuda::std::uint8_t, uint8_t>::value && sizeof(CUdeviceptr) == 8, "cuda::std");
    EXPECT(pair[1] == 2 && cuda::std::numeric_limits<int>::max() == INT_MAX && cuda::std::abs(-2.5f) == 2.5f);
    EXPECT(cooperative_groups::this_grid().thread_rank() == 0 && cooperative_groups::this_thread_block().size() == 1);
    assert(pair[0] == 1);
    float memory[2];
    memset(memory, 0, sizeof(memory));
    EXPECT(memory[1] == 0 && CUDART_VERSION >= 12000);
    if (*wrong)
        printf("printf in a kernel: %d\n", *wrong);
}

EXPECT_RUN
