/* refused_long_double - types that a GPU does not have; expected: long double and __int128 are refused by name. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void round_off(const long double *x, double *y, int n);

#pragma cf kernel grid(n) inout(x[n])
__global__ void scale_wide(double *x, long double factor, int n);

#pragma cf kernel grid(n) inout(counter[n])
__global__ void count_wide(__int128 *counter, int n);
