#pragma cf kernel grid(n) ascending(1)
__global__ void numbers(int n);

#pragma cf kernel grid(n) in(x[n]) ascending(x) ascending(x)
__global__ void twice(const int *x, int n);

#pragma cf kernel grid(n) in(index[n]) ascending(indx)
__global__ void close_name(const int *index, int n);

#pragma cf kernel grid(n) ascending(n)
__global__ void scalar(int n);

#pragma cf kernel grid(n) out(x[n]) ascending(x)
__global__ void results(int *x, int n);

#pragma cf kernel grid(n) in(x[n]) ascending(x)
__global__ void floats(const float *x, int n);

#pragma cf kernel grid(n) in(x[n][2]) ascending(x)
__global__ void rows(const int *x, int n);

#pragma cf kernel grid(n) in(x[n]) ascends(x)
__global__ void another_word(const int *x, int n);
