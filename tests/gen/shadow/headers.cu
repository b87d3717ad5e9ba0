/* headers.cu - declarations from small headers of the toolkit. */
#include <cooperative_groups.h>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/bitset>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda_pipeline.h>
#include <nv/target>
#include <thrust/functional.h>
#include <thrust/pair.h>
#include <thrust/swap.h>
#include <thrust/tuple.h>

#include "expect.h"

__device__ double memory[4];

__device__ int where()
{
    NV_IF_TARGET(NV_IS_HOST, (return 1;))
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return 2;), (return 3;))
}

__global__ void check(int *wrong)
{
    EXPECT(cuda::ceil_div(10, 3) == 4 && cuda::ceil_div(9u, 3u) == 3 && cuda::round_up(10, 8) == 16);
    EXPECT(cuda::round_down(10, 8) == 8);
    EXPECT(cuda::maximum<>{}(2, 3) == 3 && cuda::minimum<int>{}(2, 3) == 2);
    EXPECT(cuda::proclaim_return_type<int>([](int x) { return x + 1; })(2) == 3);

    EXPECT(cuda::std::popcount(0xf0u) == 4 && cuda::std::countl_zero((unsigned char)1) == 7);
    EXPECT(cuda::std::countr_zero(8ull) == 3 && cuda::std::countr_zero(0u) == 32 && cuda::std::countl_zero(0ull) == 64);
    EXPECT(cuda::std::countr_one(7u) == 3 && cuda::std::countl_one(0xc0000000u) == 2);
    EXPECT(cuda::std::bit_width(9u) == 4 && cuda::std::has_single_bit(64u) && !cuda::std::has_single_bit(0u));
    EXPECT(cuda::std::bit_ceil(9u) == 16 && cuda::std::bit_floor(9u) == 8 && cuda::std::bit_ceil(0u) == 1);
    EXPECT(cuda::std::rotl(0x80000001u, 1) == 3 && cuda::std::rotr(3u, 1) == 0x80000001u);
    EXPECT(cuda::std::bit_cast<unsigned>(1.0f) == 0x3f800000);

    cuda::std::array<int, 3> array = {1, 2, 3};
    cuda::std::tuple<int, float> tuple(4, 0.5f);
    cuda::std::optional<int> maybe;
    EXPECT(array[1] == 2 && array.size() == 3 && cuda::std::get<1>(tuple) == 0.5f && !maybe);
    maybe = 5;
    EXPECT(*maybe == 5 && maybe.has_value());
    EXPECT((cuda::std::is_same<cuda::std::remove_const_t<const int>, int>::value));
    EXPECT(cuda::std::numeric_limits<float>::max() > 1e38f);
    cuda::std::swap(array[0], array[2]);
    EXPECT(array[0] == 3);

    int a = 1, b = 2;
    thrust::swap(a, b);
    thrust::pair<int, float> pair = thrust::make_pair(a, 0.5f);
    auto three = thrust::make_tuple(1, 2.5, 'c');
    EXPECT(a == 2 && b == 1 && pair.first == 2 && thrust::get<1>(three) == 2.5 && thrust::plus<int>()(a, b) == 3);
    EXPECT(thrust::maximum<float>()(1, 2) == 2 && thrust::multiplies<double>()(2, 4) == 8);

    double from[2] = {3, 4};
    memory[2] = from[0];
    memory[3] = from[1];
    __shared__ double2 to;
    __pipeline_memcpy_async(&to, &memory[2], 16, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    EXPECT(to.x == 3 && to.y == 0);
#ifdef __CUDA_ARCH__
    EXPECT(where() == 2);
#else
    EXPECT(where() == 1);
#endif
}

EXPECT_RUN
