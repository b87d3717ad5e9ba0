#pragma cf kernel internal grid(n) inout(x[n])
__global__ void step(float *x, int n);

#pragma cf operation inout(x[n]) uses(step)
void steps(float *x, int n);

#pragma cf operation inout(x[n]) uses(step)
#pragma cf instances(f32: float)
template <typename T> void typed(T *x, int n);

#pragma cf kernel grid(n) inout(x[n]) instead(steps)
__global__ void no_condition(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) instead(1: n > 2)
__global__ void number(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) instead(steps: n > 2) instead(steps: n > 3)
__global__ void twice(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) instead(steps: m > 2)
__global__ void unknown(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) instead(steps: n / 0)
__global__ void never(float *x, int n);

#pragma cf operation inout(x[n]) uses(step) instead(steps: n > 2)
void whole(float *x, int n);

#pragma cf kernel grid(n) inout(x[n]) tune(ITEMS: 1, 2) instead(steps: n > ITEMS)
template <int ITEMS> __global__ void tuned(float *x, int n);
