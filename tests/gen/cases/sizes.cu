/* Launch rules and checks of every kind; the generator compiles a size function from them. */
#include <stdint.h>

#include "sizes_types.h"

#pragma cf include("sizes_types.h")

/* Every type that an expression reads. */
#pragma cf kernel grid(a, b) block(c, d) in(x[e][f]) out(y[g + h]) check(i >= 0, k ? l < 9 : l > 2) shared(m)
__global__ void every_type(int8_t a, int16_t b, int32_t c, int64_t d, uint8_t e, uint16_t f, uint32_t g, uint64_t h,
                           char i, const float *x, float *y, bool k, long long l, unsigned long long m)
{
}

#pragma cf kernel grid(n, n, n) block(a, b, c) in(x[a][b][c])
__global__ void three_dimensions(const float *x, int n, int a, int b, int c)
{
}

/* What may overflow, divide by 0, or stand behind what decides first. */
#pragma cf kernel grid(n * m) in(x[n + m], y[n - m], z[n * 3 - m / 2]) \
    check(m == 0 || n / m > 2, n % 7 != 3, n != 0 && m % n >= 0 || m < 5, -n <= m)
__global__ void arithmetic(const float *x, const double *y, const char *z, int64_t n, int64_t m)
{
}

#pragma cf kernel grid(n / m, n % m, n - n / m * m) block(min(n, 512), max(m, 1)) items(k) in(x[-(-n)]) \
    check(n > m ? n / (n - m) > 1 : m / (n - m - 1) < 1, !(n < 3), ~n < 0)
__global__ void division(const float *x, long n, long m, long k)
{
}

#pragma cf kernel blocks(n << 3, m >> 2, (n | m) & 0xff) block(n ^ m) in(x[n << 40], y[m << 20]) \
    check((n & 1) == 0, (n & -n) == n, n >> 1 << 1 == n)
__global__ void bits(const char *x, const int *y, int64_t n, uint32_t m)
{
}

#pragma cf kernel grid(2 * n + 1) in(x[l:n], y[l:n][k:m]) inout(z[n][m][k]) pitch(y: ld; z: ld, m + l) check(ld <= 4096)
__global__ void sections(const float *x, const double *y, short *z, int n, int m, int k, int l, int64_t ld)
{
}

/* Comparisons are numbers, too. */
#pragma cf kernel grid((n > 2) * 2147483647 * 4 + 1) block((n > 2) + (m > 2) + 1) in(x[min(n > 2, m)]) \
    check((n < m) == (m > n), (n == m) + (n < m) + (n > m) == 1, n == n)
__global__ void truth(const float *x, int n, uint16_t m)
{
}

/* Real numbers. */
#pragma cf kernel grid(n) in(x[n]) check(0 < dt <= 0.5, dt / n < 1, min(dt, h) > -1e-3, !(h > 1e300), h != 3 || n > 2, \
    dt > 0 ? h < 2.5 : h > -(dt < 1), max(h, 2) >= n)
__global__ void real_checks(const double *x, float dt, double h, uint32_t n)
{
}

/* Left to the interpreter: a compiler could round this once where the interpreter rounds twice. */
#pragma cf kernel grid(n) in(x[n]) check(a * a + b * b <= 1)
__global__ void contracted(const double *x, double a, double b, int n)
{
}

/* Never in order, so that nothing is compiled. */
#pragma cf kernel grid(n) block(32, 2 * 8 - 16 + (n < 0) * 0) in(x[n]) check((n & 0) > 2)
__global__ void never(const double *x, int n)
{
}

/* Members, some of types that only the C compiler can tell. */
#pragma cf kernel grid(b.size[0], b.size[1], b.nested.depth) in(x[b.count][b.width]) \
    check(b.kind == 1 || b.kind > 5, b.ratio < 2, b.packed.odd > 0, b.flag, way >= 0, lanes.x < lanes.w)
__global__ void members(const particle_t *x, struct box b, enum way way, int4 lanes)
{
}

/* Names that the generated function must not take for its own. */
#pragma cf kernel grid(args, size) in(cf[size]) check(cf_launch_size > 0)
__global__ void names(const float *cf, int args, int size, int cf_launch_size)
{
}

/* By numbers that are known at the call alone. */
#pragma cf kernel grid(n >> level) in(x[n >> level]) check(level < 40)
__global__ void coarse(const float *x, int64_t n, int level)
{
}
