/* expressions - wrong expressions, one error each. */
#include <stdint.h>

#pragma cf kernel grid(m)
__global__ void unknown_name(int n);

#pragma cf kernel grid(x)
__global__ void array_as_number(const float *x);

#pragma cf kernel grid(f)
__global__ void float_as_number(float f);

#pragma cf kernel grid(1.5)
__global__ void float_literal(int n);

#pragma cf kernel grid(9223372036854775808)
__global__ void large_literal(int n);

#pragma cf kernel grid(n +)
__global__ void no_operand(int n);

#pragma cf kernel grid(n) in(x[n]) check(0 <= x[0])
__global__ void one_element(const int *x, int n);

#pragma cf kernel grid(x[:]) in(x[n])
__global__ void elements_in_grid(const int *x, int n);

#pragma cf kernel grid(n) in(x[n]) check(0 <= n < x[:])
__global__ void array_last(const int *x, int n);

#pragma cf kernel grid(n) in(x[n]) check(x[:] == 0)
__global__ void elements_equal(const int *x, int n);

#pragma cf kernel grid(n) in(x[n]) check(0 <= x[:])
__global__ void float_elements(const float *x, int n);

#pragma cf kernel grid(n) check(0 <= x[:])
__global__ void undeclared_elements(const int *x, int n);

#pragma cf kernel grid(n) check(1 < x[:] > 2) in(x[n])
__global__ void two_lower_bounds(const int *x, int n);

#pragma cf kernel grid(sizeof(struct s))
__global__ void sizeof_struct(int n);

#pragma cf kernel grid(min(n))
__global__ void min_of_one(int n);

#pragma cf kernel grid((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((n))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
__global__ void deep(int n);

#pragma cf kernel grid(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-n)))))))))))))))))
__global__ void wide(int n);

#pragma cf kernel grid(n+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1)
__global__ void many_operators(int n);
