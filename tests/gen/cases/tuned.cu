// Variants of tuned kernels share one CPU body if no definition depends on the constant.

/* One body for both: the constant is in the launch alone. */
#pragma cf kernel grid(n) block(BLOCK) tune(BLOCK: 128, 256) inout(x[n])
template <int BLOCK> __global__ void shared(float *x, int n);

template <int BLOCK> __global__ void shared(float *x, int n)
{
}

/* Two: the definition uses it. */
#pragma cf kernel grid(n) items(W) tune(W: 1, 4) in(x[n]) out(y[n])
template <int W> __global__ void defined(const float *x, float *y, int n);

template <int W> __global__ void defined(const float *x, float *y, int n)
{
    for (int i = 0; i < W; i++)
        y[i] = x[i];
}

/* Two: the definition calls it otherwise. */
#pragma cf kernel grid(n) items(W) tune(W: 1, 4) in(x[n]) out(y[n])
template <int W> __global__ void renamed(const float *x, float *y, int n);

template <int WIDTH> __global__ void renamed(const float *x, float *y, int n)
{
    for (int i = 0; i < WIDTH; i++)
        y[i] = x[i];
}
