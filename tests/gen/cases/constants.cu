/* constants - constant expressions that can never work, one error each. */
#include <stdint.h>

#pragma cf kernel grid(n) in(x[n / 0])
__global__ void extent_over_zero(const float *x, int n);

#pragma cf kernel grid(n) in(x[-5])
__global__ void negative_extent(const float *x, int n);

#pragma cf kernel grid(n) in(x[-1:n])
__global__ void negative_lower(const float *x, int n);

#pragma cf kernel grid(n) in(x[n][8]) pitch(x: -8)
__global__ void negative_pitch(const float *x, int n);

#pragma cf kernel grid(n) in(x[n][2:8]) pitch(x: 9)
__global__ void short_pitch(const float *x, int n);

#pragma cf kernel grid(n) in(x[1 << 31][1 << 30])
__global__ void large_array(const float *x, int n);

#pragma cf kernel grid(n) in(x[9223372036854775807])
__global__ void large_extent(const float *x, int n);

#pragma cf kernel grid(n) in(x[9223372036854775807:1])
__global__ void large_lower(const char *x, int n);

#pragma cf kernel grid(0)
__global__ void no_threads(int n);

#pragma cf kernel grid(n, 3 - 3)
__global__ void no_rows(int n);

#pragma cf kernel blocks(0)
__global__ void no_blocks(int n);

#pragma cf kernel grid(n / 0)
__global__ void grid_over_zero(int n);

#pragma cf kernel grid(n % (1 - 1))
__global__ void grid_modulo_zero(int n);

#pragma cf kernel grid(n << 64)
__global__ void long_shift(int n);

#pragma cf kernel grid(n >> -1)
__global__ void negative_shift(int n);

#pragma cf kernel grid(n + 9223372036854775807 * 2)
__global__ void overflow(int n);

#pragma cf kernel grid(n + (1 << 63))
__global__ void overflow_of_shift(int n);

#pragma cf kernel grid(n - (-9223372036854775807 - 2))
__global__ void overflow_below(int n);

#pragma cf kernel grid(n + (-9223372036854775807 - 1) / -1)
__global__ void overflow_of_quotient(int n);

#pragma cf kernel grid(n, 70000)
__global__ void high_grid(int n);

#pragma cf kernel grid(1 << 40) block(128)
__global__ void wide_grid(int n);

#pragma cf kernel blocks(n, n, 65536)
__global__ void deep_grid(int n);

#pragma cf kernel grid(n) items(0)
__global__ void no_items(int n);

#pragma cf kernel grid(n) block(0)
__global__ void no_block(int n);

#pragma cf kernel grid(n) block(2048)
__global__ void large_block(int n);

#pragma cf kernel grid(n) block(n / 0)
__global__ void block_over_zero(int n);

#pragma cf kernel grid(n) shared(100000000)
__global__ void much_shared(int n);

#pragma cf kernel grid(n) shared(227 * 1024 + 1)
__global__ void more_shared(int n);

#pragma cf kernel grid(n) shared(-1)
__global__ void negative_shared(int n);

#pragma cf kernel grid(n) check(n / 0 > 1)
__global__ void check_over_zero(int n);

#pragma cf kernel grid(n) check(n > 0 && n < 10 % 0)
__global__ void check_behind_another(int n);

#pragma cf kernel grid(n) in(x[n]) check(0 <= x[:] < n / 0)
__global__ void bound_over_zero(const int *x, int n);

#pragma cf kernel grid(n > 0 ? n / 0 : n % 0)
__global__ void both_ways(int n);

#pragma cf kernel grid(n) flops(n / 0)
__global__ void flops_over_zero(int n);

#pragma cf kernel grid(n) bytes(8.0 * n / 0.0)
__global__ void bytes_over_zero(int n);

#define LANES 0
#pragma cf kernel grid(n / LANES)
__global__ void macro_of_zero(int n);

static const int rows = 0;
#pragma cf kernel grid(n / rows)
__global__ void constant_of_zero(int n);

#pragma cf kernel grid(n / K) shared(K * 1000)
#pragma cf instances(good: 4; zero: 0; large: 300)
template <int K> __global__ void instances_of_zero(int n);

#pragma cf kernel grid(n) shared(K * 1000) tune(K: 4, 300)
template <int K> __global__ void tuned(int n);

#pragma cf kernel grid(n) host(grid(0))
__global__ void no_threads_of_the_cpu(int n);

#pragma cf kernel grid(n) host(grid(n / 0))
__global__ void host_grid_over_zero(int n);

#pragma cf kernel grid(n) host(grid(n << 64))
__global__ void host_grid_of_long_shift(int n);

#pragma cf kernel grid(n) tolerance(-1)
__global__ void negative_tolerance(int n);

#pragma cf kernel grid(n) tolerance(sizeof(T) == 8 ? 1e-14 : is_integral(T) ? 1 - 2.5 : 1e-6)
#pragma cf instances(f64: double; f32: float; i32: int)
template <typename T> __global__ void negative_tolerance_of_integers(T *x, int n);

#pragma cf kernel grid(n) tolerance(1 / 0.0)
__global__ void any_tolerance(int n);

#pragma cf kernel grid(n) tolerance(0.0 / 0)
__global__ void tolerance_of_no_number(int n);

#pragma cf kernel grid(n) check(1 > 2)
__global__ void never(int n);

#pragma cf kernel grid(n) check(n > 0, n > 1 && sizeof(int) == 8)
__global__ void never_beside_others(int n);

#pragma cf kernel grid(n) check(0.5 > 1)
__global__ void never_of_reals(int n);

#pragma cf kernel grid(n) check(BLOCK % 32 == 0)
#pragma cf instances(good: 64; bad: 48)
template <int BLOCK> __global__ void never_of_one_instance(int n);

#pragma cf kernel grid(n) block(1024)
__global__ void __launch_bounds__(256) above_its_bound(int n);

#pragma cf kernel grid(n, n) block(BLOCK / 8, 8)
#pragma cf instances(good: 512, double; bad: 512, float)
template <int BLOCK, typename T>
__global__ void __launch_bounds__(64 * sizeof(T), 2, 1) above_the_bound_of_one_instance(int n);

#pragma cf kernel grid(n)
__attribute__((launch_bounds(128))) __global__ void default_above_its_bound(int n);

#pragma cf kernel grid(n) block(512)
__global__ void bound_of_its_definition(int n);

__global__ void __launch_bounds__(64 + 64) bound_of_its_definition(int n)
{
}

#pragma cf kernel grid(n) block(129)
__global__ void __launch_bounds__(256) above_the_smaller_bound(int n);

__global__ void __launch_bounds__(128) above_the_smaller_bound(int n)
{
}
