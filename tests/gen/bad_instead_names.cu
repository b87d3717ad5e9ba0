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

#pragma cf operation inout(x[n]) out(y[n]) uses(step)
#pragma cf instances(f32: float; f64: double)
template <typename T> void second(T *x, T *y, float a, int n);

#pragma cf kernel grid(n) inout(x[n]) out(y[n]) instead(second: n > 2)
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void second_differs(T *x, T *y, T a, int n);

#pragma cf operation in(x[n + 1]) out(y[n]) uses(step)
void halo(const float *x, float *y, int n);

#pragma cf kernel grid(n) in(x[n]) out(y[n]) instead(halo: n > 2)
__global__ void other_section(const float *x, float *y, int n);

#pragma cf operation in(x[n]) out(y[n]) uses(step)
void apart(const float *__restrict__ x, float *y, int n);

#pragma cf kernel grid(n) in(x[n]) out(y[n]) inplace(x, y) instead(apart: n > 2)
__global__ void in_place(const float *x, float *y, int n);

#pragma cf operation in(x[n]) out(y[n]) inplace(x, y) uses(step)
void as_one(const float *x, float *y, int n);

#pragma cf kernel grid(n) in(x[n]) out(y[n]) instead(as_one: n > 2)
__global__ void any_way(const float *x, float *y, int n);

#pragma cf kernel grid(n) in(x[n]) out(y[n]) zero(y) instead(plain: n > 2)
__global__ void cleared(const float *x, float *y, int n);

#pragma cf operation in(x[n]) out(y[n]) uses(step)
void plain(const float *x, float *y, int n);

#pragma cf operation inout(x[n]) uses(step) check(n % 2 == 0)
void even(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) check(n > 0) instead(even: n > 2)
__global__ void unchecked(float *x, int n);
