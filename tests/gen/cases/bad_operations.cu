// One mistake per operation.
#include <stdint.h>

#pragma cf kernel grid(n) inout(x[n])
__global__ void kernel(float *x, int n)
{
}

#pragma cf operation inout(x[n]) uses(kernel)
void with_body(float *x, int n)
{
}

#pragma cf operation inout(x[n]) uses(kernel)
__global__ void is_kernel(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel)
int returns(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel)
static void is_static(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel)
__device__ void on_device(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel)
float variable;

#pragma cf operation inout(x[n]) uses(kernel) grid(n)
void with_grid(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel) blocks(n)
void with_blocks(float *x, int n);

#pragma cf operation inout(x[n]) block(128) uses(kernel)
void with_block(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel) cooperative
void with_cooperative(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel) host(none)
void with_host(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel) tune(B: 1, 2)
template <int B> void with_tune(float *x, int n);

#pragma cf operation inout(x[n])
void uses_nothing(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel, kernel)
void uses_twice(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel[n])
void uses_elements(float *x, int n);

#pragma cf operation inout(x[n]) uses(128)
void uses_number(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel) uses(kernel)
void two_uses(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) uses(kernel)
__global__ void kernel_that_uses(float *x, int n)
{
}

#pragma cf kernel internal grid(n) inout(x[n]) internal
__global__ void twice_internal(float *x, int n)
{
}

#pragma cf operation inout(x[n]) uses(kernel)
#pragma cf operation inout(x[n]) uses(kernel)
void two_annotations(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel)
#pragma cf kernel grid(n)
void both_annotations(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel)
template <typename T> void no_instances(T *x, int n);

#pragma cf operation inout(x[n]) uses(kernel) check(m > 0)
void unknown_name(float *x, int n);

#pragma cf operation inout(x[n]) uses(kernel) zero(x)
void zero_of_inout(float *x, int n);

struct body {
#pragma cf operation inout(x[n]) uses(kernel)
    void member(float *x, int n);
};

#pragma cf operation inout(x[n]) uses(kernel)
