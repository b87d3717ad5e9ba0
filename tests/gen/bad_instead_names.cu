#pragma cf kernel internal grid(n) inout(x[n])
__global__ void step(float *x, int n);

#pragma cf operation inout(x[n]) uses(step)
void steps(float *x, int n);

#pragma cf operation inout(x[n]) uses(step)
#pragma cf instances(f32: float)
template <typename T> void typed(T *x, int n);

#pragma cf operation inout(x[n]) scratch(a[n]) uses(step)
void between(float *x, float *a, int n);

#pragma cf operation in(x[n]) uses(step)
void reads(const float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) instead(stepz: n > 2)
__global__ void misspelt(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) instead(step: n > 2)
__global__ void no_operation(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) instead(typed: n > 2)
__global__ void no_instance(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) instead(steps: n > 2)
__global__ void other_type(float *x, long n);

#pragma cf kernel grid(n) inout(x[n]) instead(reads: n > 2)
__global__ void other_direction(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) instead(steps: n > 2)
__global__ void one_more(float *x, int n, int m);

#pragma cf kernel grid(n) inout(x[n]) instead(between: n > 2)
__global__ void scratch_between(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) scratch(a[n]) instead(steps: n > 2)
__global__ void with_scratch(float *x, float *a, int n);
