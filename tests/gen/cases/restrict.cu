// Arrays that may not overlap, and forms of __restrict__ that do not forbid overlaps.
#define APART __restrict

// All three: what is written is apart from all.
#pragma cf kernel grid(n) in(x[n], y[n]) out(z[n])
__global__ void add(const float *x, const float *y, float *__restrict__ z, int n)
{
}

// A reader is apart from what is written; the macro says it.
#pragma cf kernel grid(n) in(x[n], y[n]) inout(z[n])
__global__ void accumulate(const float *const APART x, const float *y, float *z, int n)
{
}

// What is read alone may be one array.
#pragma cf kernel grid(1) in(x[n], y[n]) scratch(partial[n])
__global__ void compare(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ partial, int n)
{
}

// One array, beside a pointer that has no extent.
#pragma cf kernel grid(n) inout(x[n]) resident(table)
__global__ void alone(float *__restrict__ x, float *__restrict__ table, int n)
{
}
