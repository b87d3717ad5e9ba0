/* bad_types - declarations that C cannot have, one per kernel. */
#include <stdint.h>

#include <string>

#pragma cf kernel grid(n)
__global__ void string_by_value(std::string text, int n);

#pragma cf kernel grid(n)
__global__ void void_by_value(void nothing, int n);

#pragma cf kernel grid(n) in(raw[n])
__global__ void extent_of_void(const void *raw, int n);

#pragma cf kernel grid(n)
template <typename T> template <typename U> __global__ void template_in_template(T *x, int n);

#pragma cf kernel grid(n)
__global__ int no_function;

namespace outer {
__global__ void elsewhere(int n);
}
#pragma cf kernel grid(n)
__global__ void outer::elsewhere(int n)
{
}

template <typename T> __global__ void special(T *x, int n);
#pragma cf kernel grid(n)
template <> __global__ void special<float>(float *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(a: float)
template <template <typename> class T> __global__ void template_template(int n);

#pragma cf kernel grid(n)
#pragma cf instances(a: 1)
template <int *P> __global__ void pointer_constant(int n);

#pragma cf kernel grid(n)
__global__ void same_parameter_twice(int n, float n);

#pragma cf kernel grid(n)
__global__ void empty_parameter(int n, , int m);

#pragma cf kernel grid(n)
__global__ void string_for_a_parameter(int n, "text");

#pragma cf kernel grid(n)
__global__ void ellipsis(int n, ...);

#pragma cf kernel grid(n)
__global__ void type_alone(unsigned int, int n);

#pragma cf kernel grid(n)
__global__ void five_deep(float *****x, int n);

#pragma cf kernel grid(n)
__global__ void words_after_the_star(float *x y, int n);

#pragma cf kernel grid(n)
__global__ void name_alone(x, int n);

#pragma cf kernel grid(n)
__global__ void const_alone(const x, int n);

template <typename T> __global__ void made(T *x, int n);
#pragma cf kernel grid(n)
template __global__ void made<float>(float *x, int n);

#pragma cf kernel grid(n)
__global__ void odd_character(float ? x, int n);

#pragma cf kernel grid(n)
__global__ volatile void returns_volatile(int n);

#pragma cf kernel grid(n)
__global__ int returns_int(int n);

typedef float weights[4];
#pragma cf kernel grid(n) out(x[n])
__global__ void array_by_value(float *x, const weights by, int n);

#pragma cf kernel grid(n)
__global__ void not_closed(float *x, int n
