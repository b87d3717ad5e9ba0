#pragma cf kernel grid(/* threads? */) block(/* threads? */, 4) shared(/* bytes? */) in(x[/* elements? */]) \
    inout(y[n][/* elements? */], z[n /* that many? */])
#pragma cf instances(/* tag: T? */)
template <typename T> __global__ void gaps(const T *x, T *y, T *z, int n);

#pragma cf kernel blocks(/* 4 * processors? */) inout(x[n]) check(n % /* what? */ 2 == 0, /* more? */)
__global__ void blocks(int *x, int n);
