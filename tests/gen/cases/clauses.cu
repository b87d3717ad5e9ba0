/* clauses - wrong annotations, one error each. */
#include <stdint.h>

#pragma cf kernel
__global__ void no_grid(int n);

#pragma cf kernel grid(n) gird(n)
__global__ void unknown_clause(int n);

#pragma cf kernel grid(n) blocks(n)
__global__ void two_grids(int n);

#pragma cf kernel grid(n, n, n, n)
__global__ void four_dimensions(int n);

#pragma cf kernel grid(n) block(32, 64)
__global__ void large_block(int n);

#pragma cf kernel grid(n) block(32 * 64)
__global__ void large_product(int n);

#pragma cf kernel grid(n) block(-1)
__global__ void negative_block(int n);

#pragma cf kernel grid(n) block(1, 1, 128)
__global__ void deep_block(int n);

#pragma cf kernel grid(n) in(x)
__global__ void no_extent(const float *x, int n);

#pragma cf kernel grid(n) in(x[n]) out(x[n])
__global__ void named_twice(const float *x, int n);

#pragma cf kernel grid(n) in(y[n])
__global__ void no_such_array(const float *x, int n);

#pragma cf kernel grid(n) in(lenght[n])
__global__ void close_name(const float *length, int n);

#pragma cf kernel grid(n) in(n[n])
__global__ void scalar_as_array(int n);

#pragma cf operation in(x[n]) uses(no_grid)
void in_not_const(float *x, int n);

#pragma cf kernel grid(n) \
    out(x[n])
__global__ void out_const(const float *x, int n);

#pragma cf kernel grid(n
__global__ void open_parenthesis(int n);

#pragma cf kernel bytes(n, n) grid(n)
__global__ void two_bytes(int n);

#pragma cf kernel grid(n) host(grid(n)) host(none)
__global__ void two_hosts(int n);

#pragma cf kernel grid(n) host(grid(n, n))
__global__ void host_grid_of_two(int n);

#pragma cf kernel grid(n) host(grid(k))
__global__ void host_grid_of_nothing(int n);

#pragma cf kernel grid(n) check(distinct(1))
__global__ void distinct_numbers(int n);

#pragma cf kernel grid(n) in(x[n], y[n]) distinct(x, y)
__global__ void distinct_clause(const int *x, const int *y, int n);

#pragma cf kernel grid(n) in(index[n]) check(distinct(indx))
__global__ void distinct_close_name(const int *index, int n);

#pragma cf kernel grid(n) check(distinct(n))
__global__ void distinct_scalar(int n);

#pragma cf kernel grid(n) out(x[n]) check(distinct(x))
__global__ void distinct_results(int *x, int n);

#pragma cf kernel grid(n) in(x[n]) check(distinct(x))
__global__ void distinct_floats(const float *x, int n);

#pragma cf kernel grid(n) scratch(x[n]) zero(1)
__global__ void zero_numbers(int *x, int n);

#pragma cf kernel grid(n) scratch(x[n]) zero(x[1], x[2:1])
__global__ void zero_twice(int *x, int n);

#pragma cf kernel grid(n) scratch(x[n][2]) zero(x[n][2])
__global__ void zero_of_two_dimensions(int *x, int n);

#pragma cf kernel grid(n) scratch(x[n][2]) zero(x[n])
__global__ void zero_of_rows(int *x, int n);

#pragma cf kernel grid(n) scratch(count[1]) zero(cuont)
__global__ void zero_close_name(int *count, int n);

#pragma cf kernel grid(n) inout(x[n]) zero(x)
__global__ void zero_results(int *x, int n);

#pragma cf kernel grid(n) in(y[n]) out(x[n]) inplace(x, y) zero(x)
__global__ void zero_in_place(int *x, const int *y, int n);

#pragma cf kernel grid(n) out(x[n][2]) zero(x)
__global__ void zero_of_written_rows(int *x, int n);

#pragma cf kernel grid(n) zero(n)
__global__ void zero_scalar(int n);

#pragma cf kernel grid(n) scratch(x[n]) zero(x[k])
__global__ void zero_of_nothing(int *x, int n);

#pragma cf kernel grid(n) scratch(x[n]) zero(x[2:])
__global__ void zero_without_length(int *x, int n);

#pragma cf kernel grid(n) scratch(x[n]) zero(x[-1])
__global__ void zero_negative(int *x, int n);

#pragma cf kernel grid(n) scratch(x[8]) zero(x[9])
__global__ void zero_past_its_end(int *x, int n);

#pragma cf kernel grid(n) scratch(x[8]) zero(x[4:5])
__global__ void zero_section_past_its_end(int *x, int n);

#pragma cf kernel grid(n) scratch(x[2:8]) zero(x[1])
__global__ void zero_before_its_begin(int *x, int n);

#pragma cf kernel grid(n) scratch(x[n]) rezero(x)
__global__ void rezero_of_what_is_not_zero(int *x, int n);

#pragma cf kernel grid(n) scratch(x[n]) zero(x[1]) rezero(x)
__global__ void rezero_of_a_part(int *x, int n);

#pragma cf kernel grid(n) out(x[n]) zero(x) rezero(x)
__global__ void rezero_of_results(int *x, int n);

#pragma cf kernel grid(n) in(x[n]) out(y[n]) inplace(x, 1)
__global__ void in_place_of_a_number(const float *x, float *y, int n);

#pragma cf kernel grid(n) in(x[n]) out(y[n]) inplace(x)
__global__ void in_place_alone(const float *x, float *y, int n);

#pragma cf kernel grid(n) in(x[n]) out(y[n]) inplace(x, y, x)
__global__ void in_place_twice(const float *x, float *y, int n);

#pragma cf kernel grid(n) in(x[n], a[n]) out(y[n], b[n]) inplace(x, y; a, y)
__global__ void in_place_in_two_lists(const float *x, const float *a, float *y, float *b, int n);

#pragma cf kernel grid(n) in(x[n]) out(y[n]) inplace(x, z; y, m)
__global__ void in_place_with_nothing(const float *x, float *y, int n);

#pragma cf kernel grid(n) in(input[n]) out(y[n]) inplace(inptu, y)
__global__ void in_place_with_a_close_name(const float *input, float *y, int n);

#pragma cf kernel grid(n) in(x[n]) inplace(x, n)
__global__ void in_place_with_a_value(const float *x, int n);

#pragma cf kernel grid(n) in(x[n]) inplace(x, y)
__global__ void in_place_without_extent(const float *x, float *y, int n);

#pragma cf kernel grid(n) in(x[n]) out(y[n]) scratch(z[n]) inplace(y, z)
__global__ void in_place_in_scratch(const float *x, float *y, float *z, int n);

#pragma cf kernel grid(n) in(x[n]) out(y[n]) inplace(x, y)
__global__ void in_place_and_apart(const float *x, float *__restrict__ y, int n);

#pragma cf kernel grid(n) in(x[n], y[n]) out(z[n]) inplace(x, y)
__global__ void in_place_of_readers(const float *x, const float *y, float *z, int n);

#pragma cf kernel grid(n) in(x[n]) out(y[n], z[n]) inplace(y, z)
__global__ void in_place_of_results(const float *x, float *y, float *z, int n);

#pragma cf kernel grid(n) in(x[n * m]) out(y[n][m]) inplace(x, y)
__global__ void in_place_of_other_shapes(const float *x, float *y, int n, int m);

#pragma cf kernel grid(n) in(x[n]) out(y[n]) inplace(x, y
__global__ void in_place_that_is_open(const float *x, float *y, int n);

#pragma cf launch grid(n)
__global__ void unknown_directive(int n);

#pragma cf instances(a: float)
__global__ void instances_alone(int n);

#pragma cf kernel grid(n)
#pragma cf kernel grid(n)
__global__ void two_kernels(int n);

#pragma cf kernel grid(n)
void not_global(int n);

#pragma cf kernel grid(n) in(x[n]) resident(x)
__global__ void resident_with_an_extent(const float *x, int n);

#pragma cf kernel grid(n) resident(n)
__global__ void resident_value(float *x, int n);

#pragma cf kernel grid(n) resident(xx)
__global__ void resident_of_no_parameter(float *xy, int n);

#pragma cf kernel grid(n) resident(x, x)
__global__ void resident_twice(float *x, int n);

#pragma cf kernel grid(n) resident(x[n])
__global__ void resident_section(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) instead(sort_long: n >= 1024)
__global__ void removed_clause(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) param()
__global__ void param_of_nothing(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) param
__global__ void param_alone(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) param(int n
__global__ void param_unclosed(float *x);

#pragma cf kernel grid(n) inout(x[n]) param(int n) param(int m)
__global__ void param_twice(float *x);

#pragma cf kernel grid(n) inout(x[n]) param(int m, int n)
__global__ void param_of_the_kernel(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) param(int m, long m)
__global__ void param_of_one_name(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) param(int n, const float *y)
__global__ void param_pointer(float *x);

#pragma cf kernel grid(n.x) inout(x[n.x]) param(int3 n)
__global__ void param_vector(float *x);

#pragma cf kernel grid(n) inout(x[n]) param(n)
__global__ void param_without_type(float *x);

#pragma cf kernel grid(n) inout(x[n]) param(count n)
__global__ void param_of_no_type(float *x);

#pragma cf kernel grid(n) inout(x[n]) param(int n = 3)
__global__ void param_default(float *x);

#pragma cf kernel grid(B) inout(x[B]) param(int B)
#pragma cf instances(a: 32)
template <int B> __global__ void param_of_the_template(float *x);

#pragma cf operation inout(x[n]) uses(no_grid) param(int n)
void param_of_an_operation(float *x);

#pragma cf kernel grid(n)
