// half_math.cu - pairs of halves, bfloat16, unions that contain them, vector loads.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <algorithm>
#include <cstdio>

#ifdef ENABLE_BF16
typedef __nv_bfloat16 floatX;
#else
typedef half floatX;
#endif
#define HALF2(value) (reinterpret_cast<half2 *>(&(value))[0])
#define LDST128BITS(value) (reinterpret_cast<const float4 *>(&(value))[0])

union Packed8 {
    float4 f4;
    half2 h2[4];
    half h[8];
};

__device__ __forceinline__ half2 gelu2(half2 x)
{
    const half2 half_ = __float2half2_rn(0.5f), one = __float2half2_rn(1.0f);
    float2 f = __half22float2(__hmul2(x, __float2half2_rn(0.79788456f)));
    half2 t = __floats2half2_rn(tanhf(f.x), tanhf(f.y));
    return __hmul2(__hmul2(half_, x), __hadd2(one, t));
}

#pragma cf kernel grid(n / 8) block(64) in(x[n]) out(y[n]) check(n % 8 == 0) tolerance(4e-3)
__global__ void gelu_f16x8(const floatX *__restrict__ x, floatX *__restrict__ y, int n)
{
    int idx = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (idx >= n) return;
    Packed8 p;
    p.f4 = LDST128BITS(x[idx]);
#pragma unroll
    for (int i = 0; i < 4; i++) p.h2[i] = gelu2(p.h2[i]);
    *reinterpret_cast<float4 *>(y + idx) = p.f4;
}

#pragma cf kernel grid(n) in(a[n], b[n]) out(c[n]) tolerance(1e-2)
extern "C" __global__ void axpby_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, float alpha, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        c[i] = __hfma(__float2bfloat16(alpha), a[i], b[i]) * __nv_bfloat16(2.f);
}

template <typename T, size_t N> class Buffer
{
    T *data_ = nullptr;

  public:
    Buffer() { cudaMalloc(&data_, N * sizeof(T)); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(Buffer &&other) noexcept { std::swap(data_, other.data_); return *this; }
    ~Buffer() { cudaFree(data_); }
    operator T *() { return data_; }
};

int main()
{
    Buffer<floatX, 1024> x, y;
    gelu_f16x8<<<2, 64>>>(x, y, 1024);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
