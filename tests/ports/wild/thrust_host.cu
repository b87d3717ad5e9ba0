/* thrust_host.cu - host code with Thrust, CUB and device lambdas, together with kernels of functors. */
#include <cub/cub.cuh>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/random.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>

#include <functional>
#include <memory>

using thrust::device_vector;
using IntVec = thrust::device_vector<int>;

struct saxpy_functor {
    const float a;
    __host__ __device__ saxpy_functor(float _a) : a(_a) {}
    __host__ __device__ float operator()(const float &x, const float &y) const { return a * x + y; }
};

template <class T> struct square {
    __host__ __device__ T operator()(const T &x) const { return x * x; }
};

struct is_even {
    __host__ __device__ bool operator()(const int x) const { return (x & 1) == 0; }
};

struct prg {
    float a, b;
    __host__ __device__ prg(float _a = 0.f, float _b = 1.f) : a(_a), b(_b) {}
    __host__ __device__ float operator()(const unsigned int n) const
    {
        thrust::default_random_engine rng;
        thrust::uniform_real_distribution<float> dist(a, b);
        rng.discard(n);
        return dist(rng);
    }
};

template <typename UnaryOp, typename T>
__device__ __host__ inline T apply_twice(UnaryOp op, T x)
{
    return op(op(x));
}

template <typename F, typename T> __global__ void for_each_kernel(F f, T *data, std::size_t n)
{
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n; i += std::size_t{gridDim.x} * blockDim.x)
        data[i] = f(data[i]);
}

#pragma cf kernel grid(n) block(128) in(x[n]) inout(y[n])
__global__ void saxpy_kernel(float a, const float *x, float *y, size_t n)
{
    const auto saxpy = saxpy_functor(a);
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = saxpy(x[i], y[i]);
}

#pragma cf kernel blocks(4) block(128) inout(data[n])
#pragma cf instances(i32: int; i64: long long)
template <typename T> __global__ void __launch_bounds__(128) fourth_powers(T *__restrict__ data, long long n)
{
    auto step = [n] __device__(long long at) { return at + (long long)gridDim.x * blockDim.x < n ? at + gridDim.x * blockDim.x : n; };
    for (long long at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at = step(at))
        data[at] = apply_twice(square<T>(), data[at]);
}

#pragma cf kernel grid(n) in(keys[n]) inout(count[2])
__global__ void count_even(const int *keys, unsigned int *count, int n)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) return;
    atomicAdd(&count[is_even{}(keys[tid]) ? 0 : 1], 1u);
}

void saxpy_fast(float A, thrust::device_vector<float> &X, thrust::device_vector<float> &Y)
{
    thrust::transform(X.begin(), X.end(), Y.begin(), Y.begin(), saxpy_functor(A));
}

template <typename T> T norm(const thrust::device_vector<T> &v)
{
    return std::sqrt(thrust::transform_reduce(v.begin(), v.end(), square<T>(), T(0), thrust::plus<T>()));
}

template float norm<float>(const thrust::device_vector<float> &);

struct CachingBuffer {
    cub::CachingDeviceAllocator &allocator;
    std::unique_ptr<void, std::function<void(void *)>> data;
    size_t bytes = 0;
    explicit CachingBuffer(cub::CachingDeviceAllocator &a) : allocator(a), data(nullptr, [&a](void *p) { a.DeviceFree(p); }) {}
};

cub::CachingDeviceAllocator g_allocator(true);

int main()
{
    thrust::host_vector<int> h_vec(1 << 10);
    thrust::default_random_engine rng(1337);
    thrust::uniform_int_distribution<int> dist;
    thrust::generate(h_vec.begin(), h_vec.end(), [&] { return dist(rng); });
    IntVec d_vec = h_vec;
    int *raw = thrust::raw_pointer_cast(d_vec.data());
    size_t temp_storage_bytes = 0;
    CachingBuffer buffer(g_allocator);
    cub::DeviceReduce::Sum(nullptr, temp_storage_bytes, raw, raw, d_vec.size());
    auto evens = thrust::count_if(thrust::device, d_vec.begin(), d_vec.end(), is_even());
    thrust::transform(thrust::counting_iterator<unsigned int>(0), thrust::counting_iterator<unsigned int>(10), d_vec.begin(), prg(1.f, 2.f));
    auto first = thrust::make_zip_iterator(thrust::make_tuple(d_vec.begin(), d_vec.begin()));
    (void)first;
    for_each_kernel<<<2, 32>>>(square<int>(), raw, d_vec.size());
    fourth_powers<<<4, 128>>>(raw, (long long)d_vec.size());
    return evens > 0;
}
