#pragma cf kernel grid(n) check(ascending(1))
__global__ void numbers(int n);

#pragma cf kernel grid(n) in(x[n], y[n]) check(ascending(x, y))
__global__ void two(const int *x, const int *y, int n);

#pragma cf kernel grid(n) in(index[n]) check(ascending(indx))
__global__ void close_name(const int *index, int n);

#pragma cf kernel grid(n) check(ascending(n))
__global__ void scalar(int n);

#pragma cf kernel grid(n) out(x[n]) check(ascending(x))
__global__ void results(int *x, int n);

#pragma cf kernel grid(n) in(x[n]) check(ascending(x))
__global__ void floats(const float *x, int n);

#pragma cf kernel grid(n) in(x[n][2]) check(ascending(x))
__global__ void rows(const int *x, int n);

#pragma cf kernel grid(n) in(x[n]) ascending(x)
__global__ void a_clause(const int *x, int n);

#pragma cf kernel grid(n) in(x[n]) check(n > 0 && ascending(x))
__global__ void a_part(const int *x, int n);
