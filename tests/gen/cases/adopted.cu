// Kernels whose code is in images: variants with an image each, instances in one image, a function for the CPU, and
// beside them a kernel that nvcc compiles.

/* y = x in each row, scaled to the sum 1. */
#pragma cf kernel image("adopted_{WARPS}.ptx") entry("softmax_kernel") blocks(rows) block(WARPS * 32) shared(64) \
    in(x[rows][cols]) out(y[rows][cols]) scratch(global_scratch[0]) tune(WARPS: 4, 8) param(int rows)
template <int WARPS> __global__ void softmax(const float *x, float *y, int cols, char *global_scratch);

#pragma cf kernel image("adopted.ptx") entry("scale_{T}") grid(n) in(x[n]) out(y[n]) host(scale_on_cpu)
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void scale(const T *x, T *y, T a, int n);

struct pair {
    double first;
    int second;
};

#pragma cf kernel image("adopted.ptx") grid(1) out(y[1])
__global__ void add_up(struct pair p, bool both, double *y);

#pragma cf kernel grid(n) inout(y[n])
__global__ void negate(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = -y[i];
}
