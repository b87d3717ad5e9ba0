#pragma cf kernel grid(n) out(x[n]) split(1)
__global__ void number(float *x, int n);

#pragma cf kernel grid(n) out(x[n]) split(n) split(n)
__global__ void twice(float *x, int n);

#pragma cf kernel grid(n) out(x[n]) split(m)
__global__ void unknown(float *x, int n);

#pragma cf kernel grid(n) out(x[n]) split(x)
__global__ void array(float *x, int n);

#pragma cf kernel grid(n) out(x[n]) split(a)
__global__ void real(float *x, int n, float a);

#pragma cf kernel grid(n) out(x[2 * n]) split(n)
__global__ void pairs(float *x, int n);

#pragma cf kernel grid(n) out(x[n]) in(y[n + 2]) split(n)
__global__ void halo(float *x, const float *y, int n);

#pragma cf kernel grid(n) out(x[n][n]) split(n)
__global__ void square(float *x, int n);

#pragma cf kernel grid(n) out(x[n]) in(y[n:3]) split(n)
__global__ void moving(float *x, const float *y, int n);

#pragma cf kernel grid(n) out(x[1:n]) split(n)
__global__ void section(float *x, int n);

#pragma cf kernel grid(n) out(x[n][4]) pitch(x: ld) split(n)
__global__ void pitched(float *x, int n, int ld);

#pragma cf kernel grid(n) in(x[n]) out(count[4]) zero(count) split(n)
__global__ void counts(const int *x, int *count, int n);

#pragma cf kernel grid(n) in(x[n]) out(sum[1]) split(n)
__global__ void result(const float *x, float *sum, int n);

#pragma cf kernel grid(n) in(x[n], index[n]) out(y[n]) check(0 <= index[:] < n) split(n)
__global__ void permute(const float *x, const int *index, float *y, int n);

#pragma cf kernel grid(n) scratch(x[n]) split(n)
__global__ void scratch_alone(int *x, int n);

#pragma cf operation in(x[n]) uses(counts) split(n)
void whole(const int *x, int n);
