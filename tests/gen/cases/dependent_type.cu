/* dependent_type - types that an instance decides through traits; the compiler tells what they are. */
#include <cuda_fp16.h>

namespace traits
{
struct pair {
    int a, b;
};
template <typename T> struct wider;
template <> struct wider<float> {
    typedef double type;
    using vector = float4;
    static constexpr int lanes = 4;
};
template <> struct wider<__half> {
    typedef float type;
    using vector = pair;
    static constexpr int lanes = 2;
};

#pragma cf kernel grid(n) in(x[n]) out(y[n], v[n])
#pragma cf instances(f32: float; f16: __half)
template <typename T>
__global__ void widen(const T *x, typename wider<T>::type *y, typename wider<T>::vector *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
} // namespace traits

struct Config {
    typedef unsigned short index;
    static constexpr int size = traits::wider<float>::lanes * 2;
    float table[size];
    enum class Mode : short { Fast } mode;
};

#pragma cf kernel grid(n) out(y[n]) check(step < 10)
#pragma cf instances(config: Config)
template <class Traits> __global__ void configured(typename Traits::index *y, Traits t, typename Traits::Mode mode,
                                                   const typename Traits::index step, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = step + (mode == Traits::Mode::Fast) + t.table[0];
}
