// Parameters of the C function that the kernel does not have.
#include <stdint.h>

typedef double real;
enum kind { PLAIN, OTHER };

/* Launch sizes, shared memory, extents, checks, tolerance and work; types of every kind of number. */
#pragma cf kernel blocks(rows) block(width) shared(width * sizeof(float)) in(x[rows][width]) out(y[rows][width]) \
    check(width % 32 == 0, 0 <= slack) tolerance(slack) flops(1.0 * rows * width * (kind == OTHER)) \
    param(int64_t rows, int width, const real slack, unsigned char kind, bool is_last)
__global__ void reverse(const float *x, float *y)
{
}

/* A parameter of the type of the instance; it follows scratch memory; one body on the CPU, a part of a call. */
#pragma cf kernel param(T limit, long n) grid(n) inout(x[n]) in(index[n]) scratch(work[n]) split(n) \
    check(0 <= index[:] < 8) tune(ITEMS: 1, 2)
#pragma cf instances(f32: float, int; i64: int64_t, unsigned)
template <typename T, typename I, int ITEMS> __global__ void mark(T *x, const int *index, I step, T *work)
{
}

/* The CPU alone counts threads by the parameter. */
#pragma cf kernel blocks(1) out(x[n]) host(grid(n)) param(int n, int m) check(m > 0)
__global__ void fill(int *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

void on_cpu(int *x)
{
    *x = 1;
}

#pragma cf kernel grid(n) inout(x[n]) host(on_cpu) param(size_t n)
__global__ void with_function(int *x)
{
}
