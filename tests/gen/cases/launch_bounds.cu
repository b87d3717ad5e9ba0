/* launch_bounds - where a bound stands and what its value is. Kernels called `wrong` have one error each. */
struct small {
    static const int threads = 256;
};
namespace traits
{
template <typename T> struct of;
template <> struct of<float> {
    enum { threads = 512 };
};
template <> struct of<double> {
    static constexpr int threads = of<float>::threads / 4;
};
constexpr int warps(int n)
{
    return 32 * n;
}
}

__global__ void __launch_bounds__(128) wrong_by_prototype(const float *, int);

#pragma cf kernel grid(n) in(x[n])
__global__ void wrong_by_prototype(const float x[], int n)
{
}

__global__ void __launch_bounds__(64) wrong_by_prototype(const double *, int);
__global__ void __launch_bounds__(64) wrong_by_prototype(const float *, int, int);

__global__ void wrong_by_prototype(const double *x, int n)
{
}

#pragma cf kernel grid(n) in(x[n])
#pragma cf instances(wrong: float; right: double)
template <typename T> __global__ void by_prototype_of_template(const T *x, int n)
{
}

template <class U> __global__ void __launch_bounds__(64) by_prototype_of_template(U *);
template <class U> __global__ void __launch_bounds__(512 / sizeof(U)) by_prototype_of_template(const U *, int);
template <> __global__ void by_prototype_of_template<float>(const float *y, int n)
{
}
template <> __global__ void __launch_bounds__(256) by_prototype_of_template<double>(const double *x, int n)
{
}

__global__ void __launch_bounds__(128) right_by_the_last(int n);

#pragma cf kernel grid(n)
__global__ void __launch_bounds__(256) right_by_the_last(int n)
{
}

__global__ void wrong_by_the_last(int n);

#pragma cf kernel grid(n)
__global__ void __launch_bounds__(256) wrong_by_the_last(int n)
{
}

__global__ void __launch_bounds__(128) wrong_by_the_last(int n);

#pragma cf kernel grid(n) block(512)
#pragma cf instances(wrong: small, float; right: small, char)
template <typename T, typename U> __global__ void __launch_bounds__(2 * T::threads / (sizeof(U) / 4 + 1)) by_trait(int n)
{
}

namespace traits
{
#pragma cf kernel grid(n) block(512)
#pragma cf instances(right: float; wrong: double)
template <typename T> __global__ void __launch_bounds__(of<T>::threads) by_class_template(int n)
{
}

#pragma cf kernel grid(n)
__global__ void __launch_bounds__(warps(4)) wrong_by_function(int n)
{
}
}
