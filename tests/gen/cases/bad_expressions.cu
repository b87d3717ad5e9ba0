/* bad_expressions - mistakes in expressions over structs and macros, one per kernel. */
#include "bad_types.h"
#pragma cf include("bad_types.h")

#define TWICE(a, b) ((a) + (b))
#define MORE(x) x, x, x, x, x, x, x, x, x, x
#define MANY(x) MORE(MORE(MORE(MORE(x))))

#pragma cf kernel grid(TWICE(n))
__global__ void macro_of_two(int n);

#pragma cf kernel grid(n) check(MANY(n > 0))
__global__ void too_many_tokens(int n);

#define ONCE(x) (x)
#pragma cf kernel grid(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(ONCE(n)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
__global__ void macros_too_deep(int n);

#pragma cf kernel grid(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((n)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
__global__ void too_deep(int n);

#pragma cf kernel grid(sizeof(3))
__global__ void size_of_a_number(int n);

#pragma cf kernel grid(a::3)
__global__ void qualified_number(int n);

#pragma cf kernel grid(s.3)
__global__ void number_for_a_member(shared s);

#pragma cf kernel grid(s.n[m])
__global__ void parameter_for_an_index(shared s, int m);

#pragma cf kernel grid(s.(n))
__global__ void parenthesis_for_a_member(shared s);

#pragma cf kernel grid(s)
__global__ void whole_struct(shared s);

#pragma cf kernel grid(t.n)
__global__ void member_of_nothing(shared s);

#pragma cf kernel grid(s.n)
__global__ void member_of_an_array(shared *s);

#pragma cf kernel grid(n.n)
__global__ void member_of_a_number(int n);

#pragma cf kernel grid(s.m)
__global__ void no_such_member(shared s);

#pragma cf kernel grid(s.sizes)
__global__ void whole_array(shaped s);

#pragma cf kernel grid(s.sizes[3])
__global__ void element_past_the_end(shaped s);

#pragma cf kernel grid(s.kind)
__global__ void bit_field(shaped s);

#pragma cf kernel grid(s.inner)
__global__ void whole_inner_struct(shaped s);

#pragma cf kernel grid(s.sizes.x)
__global__ void member_of_an_array_member(shaped s);

#pragma cf kernel grid(s.n[0])
__global__ void element_of_no_array(shared s);

constexpr int unknown()
{
    return 3;
}
constexpr int THREE = unknown();
constexpr float NO_INTEGER = 3;

#pragma cf kernel grid(THREE)
__global__ void constant_of_a_function(int n);

#pragma cf kernel grid(NO_INTEGER)
__global__ void constant_of_floating_type(int n);

#pragma cf kernel grid(cf_call)
__global__ void name_of_the_library(int cf_call);

#pragma cf kernel grid(s.h)
__global__ void member_of_floating_type(shared s);

#pragma cf kernel grid(n) bytes(sizeof(long double))
__global__ void size_of_a_refused_type(int n);

#pragma cf kernel grid(n) flops(n % 2)
__global__ void remainder_of_real_numbers(int n);

#pragma cf kernel grid(n) tolerance(1e999)
__global__ void too_large_a_number(int n);

#pragma cf kernel grid(09)
__global__ void bad_octal(int n);

#pragma cf kernel grid(n) in(x[n]) check(0 <= x[:] < x[:])
__global__ void two_arrays_in_a_check(const int *x, int n);

#pragma cf kernel grid(n ? 1)
__global__ void half_a_choice(int n);

#pragma cf kernel grid(n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n ? n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n : n)
__global__ void too_many_choices(int n);

#pragma cf kernel grid(n) tolerance(1e39f)
__global__ void too_large_a_float(int n);
