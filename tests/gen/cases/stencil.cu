// A kernel without a template, with two dimensions, launch bounds and checks of scalars.
#include <stdint.h>

#define WIDTH 32

namespace heat {
namespace detail {
struct unrelated {
    int member;
};
}

/* One Jacobi step over the inside of an ny by nx field.
 *
 * The rim stays as it is. */
#pragma cf kernel grid(nx, ny) block(32, 8) \
    in(u[ny][nx]) inout(v[ny][nx]) \
    check(nx >= 3 && ny >= 3, 0 < stride <= 2 * WIDTH_LIMIT)
#pragma cf instances(w64: 64; w128: 128)
template <int WIDTH_LIMIT>
static __global__ void __launch_bounds__(256) step(const double *__restrict__ u, double *__restrict__ v, int nx, int ny,
                                                   unsigned short stride, double c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
        v[y * nx + x] = c * u[y * nx + x] * stride;
}
}

#pragma cf kernel blocks(max(rows, 1)) block(64) in(a[rows * cols]) out(sum[rows]) bytes(rows * (cols + 1) * sizeof(float))
extern "C" __global__ void rowsum(const float a[], float *sum, long rows, size_t cols)
{
    if (threadIdx.x == 0 && (long)blockIdx.x < rows) {
        sum[blockIdx.x] = 0;
        for (size_t i = 0; i < cols; i++)
            sum[blockIdx.x] += a[blockIdx.x * cols + i];
    }
}

#pragma cf kernel grid(1) resident(counter)
__global__ void tick(unsigned long long *counter, long stream)
{
    *counter += (unsigned long long)stream;
}

#if 0
#pragma cf kernel grid(n) nonsense
__global__ void inactive(int n);
#endif
