/* Constants that a branch passes over, that have a value, or that some arguments make right. */
#pragma cf kernel grid(n) block(K ? 256 / (K + 0) : 256) in(x[0], y[n == 0 || n / 0]) shared(227 * 1024) \
    check(K == 0 || n % K == 0, n > 1 ? n : n / 0, n > 0 && K != 0 && n / K > 1 || n < 9, dt < 1.0 / 0, n < 5 || 0 < K < n / K) \
    flops(K == 0 ? n : n / K) tolerance(n / 0)
#pragma cf instances(none: 0; some: 4)
template <int K> __global__ void passed_over(const float *x, const float *y, int n, float dt)
{
}

#pragma cf kernel grid(1 << 39) items(1 << 8) block(auto) \
    in(x[0][1 << 40][1 << 40], y[n][2:8], z[((1 << 62) - 1) * 2 + 1]) pitch(y: 10)
__global__ void large(const float *x, const float *y, const char *z, int n)
{
}

#pragma cf kernel blocks(2147483647, 65535, 65535) block(1024 >> 10 << 4, 64, n >> 63)
__global__ void largest(int n)
{
}
