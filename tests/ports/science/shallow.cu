/* shallow.cu - one step of the shallow-water equations on a torus by Lax and Friedrichs. Lines end as on Windows. */
#include <cmath>
#include <cstdlib>

#define GRAVITY 9.81f
#define AT(f, x, y) (f)[(size_t)(y) * width + (x)]
#define EAST (x + 1 == width ? 0 : x + 1)
#define WEST (x == 0 ? width - 1 : x - 1)
#define NORTH (y + 1 == height ? 0 : y + 1)
#define SOUTH (y == 0 ? height - 1 : y - 1)
#define MEAN(f) (0.25f * (AT(f, EAST, y) + AT(f, WEST, y) + AT(f, x, NORTH) + AT(f, x, SOUTH)))

#define PRESSURE(h) (0.5f * GRAVITY * (h) * (h))
#define ACROSS(a, b, h) ((a) * (b) / (h))

#define FIELDS(qualifier, prefix) \
    qualifier float *__restrict__ prefix##h, qualifier float *__restrict__ prefix##u, \
        qualifier float *__restrict__ prefix##v

#define FLUX_X(x, y, fh, fu, fv) \
    do { \
        float h_ = AT(old_h, x, y), u_ = AT(old_u, x, y), v_ = AT(old_v, x, y); \
        (fh) = u_; \
        (fu) = ACROSS(u_, u_, h_) + PRESSURE(h_); \
        (fv) = ACROSS(u_, v_, h_); \
    } while (0)
#define FLUX_Y(x, y, fh, fu, fv) \
    do { \
        float h_ = AT(old_h, x, y), u_ = AT(old_u, x, y), v_ = AT(old_v, x, y); \
        (fh) = v_; \
        (fu) = ACROSS(u_, v_, h_); \
        (fv) = ACROSS(v_, v_, h_) + PRESSURE(h_); \
    } while (0)

#define EXTENT [height][width]

#pragma cf kernel grid(width, height) block(32, 4) in(old_h EXTENT, old_u EXTENT, old_v EXTENT) \
    out(new_h EXTENT, new_u EXTENT, new_v EXTENT) \
    tolerance(1e-4)
extern "C" __global__ void water(FIELDS(const, old_), FIELDS(, new_), int width, int height, float ratio)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float e[3], w[3], n[3], s[3];
        FLUX_X(EAST, y, e[0], e[1], e[2]);
        FLUX_X(WEST, y, w[0], w[1], w[2]);
        FLUX_Y(x, NORTH, n[0], n[1], n[2]);
        FLUX_Y(x, SOUTH, s[0], s[1], s[2]);
#define STEP(f, k) AT(new_##f, x, y) = MEAN(old_##f) - 0.5f * ratio * (e[k] - w[k] + n[k] - s[k])
        STEP(h, 0);
        STEP(u, 1);
        STEP(v, 2);
#undef STEP
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 256;
    float *f[6];
    for (int k = 0; k < 6; k++)
        cudaMallocManaged(&f[k], sizeof(float) * n * n);
    for (int i = 0; i < n * n; i++)
        f[0][i] = 1 + 0.1f * std::sin(6.2831853f * i / n);
    water<<<dim3((n + 31) / 32, (n + 3) / 4), dim3(32, 4)>>>(f[0], f[1], f[2], f[3], f[4], f[5], n, n, 0.1f);
    return cudaDeviceSynchronize();
}
