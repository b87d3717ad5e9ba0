/* declarations - kernels that cannot have an entry point, one error each. */
#include <stdint.h>

typedef float real;

#pragma cf kernel grid(n)
__global__ void unknown_type(const rael *x, int n);

#pragma cf kernel grid(n)
__global__ void by_reference(const float &x, int n);

#pragma cf kernel grid(n)
__global__ void unnamed(float *, int n);

#pragma cf kernel grid(n)
template <typename T> __global__ void no_instances(T *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(f32: float)
__global__ void no_template(float *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(f32: float; f32: double)
template <typename T> __global__ void tag_twice(T *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(f32: float, 3)
template <typename T> __global__ void too_many_arguments(T *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(a: reel)
template <typename T> __global__ void unknown_argument(T *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(a: float)
template <int N> __global__ void type_for_constant(int n);

#pragma cf kernel grid(n)
template <typename... T> __global__ void pack(int n, T... rest);

struct holder {
#pragma cf kernel grid(n)
    static __global__ void member(int n);
};

#pragma cf kernel grid(n)
__global__ void twice(int n);

#pragma cf kernel grid(n)
__global__ void twice(int n);

#pragma cf kernel grid(n)
__global__ void twice_async(int n);

#pragma cf kernel grid(n)
__global__ void registry(int n);

#pragma cf kernel grid(n)
__global__ void word_of_c(float *restrict, int n);

#pragma cf kernel grid(n)
#pragma cf instances(a: int; b: int32_t)
template <typename T> __global__ void same_twice(T *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(a: 18446744073709551615)
template <unsigned long N> __global__ void large_constant(int n);

#pragma cf kernel grid(n)
#pragma cf instances(T: float; N: 4)
template <typename T, int N = 2 + 2> __global__ void names_for_tags(T *x, int n);

#pragma cf kernel grid(n) tune(N: 4, 8)
#pragma cf instances(f32: float, 4)
template <typename T, int N> __global__ void tuned_argument(T *x, int n);

#pragma cf kernel grid(n) tune(M: 4, 8)
#pragma cf instances(f32: float)
template <typename T, const int N> __global__ void tuned_by_another_name(T *x, int n);

namespace deep
{
struct Twice {
    float a, b;
};
} // namespace deep
#pragma cf kernel grid(n) out(y[n])
__global__ void type_of_a_namespace(Twice *y, int n)
{
}

#pragma cf kernel grid(n) out(x[n])
__global__ void types_of_the_driver(float *x, CUgraphExec made, int n)
{
    x[0] = n;
}
