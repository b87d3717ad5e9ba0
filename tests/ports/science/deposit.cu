/* deposit.cu - deposits the charges of particles on a periodic grid, each on the four nearest nodes. */
#ifdef _MSC_VER
#pragma warning(disable : 4244 4305)
#define _CRT_SECURE_NO_WARNINGS
#include <intrin.h>
#define PIC_INLINE __forceinline
#define PIC_EXPORT __declspec(dllexport)
#else
#define PIC_INLINE inline __attribute__((always_inline))
#define PIC_EXPORT __attribute__((visibility("default")))
#endif

#if defined(_WIN32) || defined(_WIN64)
#define NOMINMAX
#include <windows.h>
typedef __int64 pic_count;
#else
#include <unistd.h>
typedef long long pic_count;
#endif

#include <stdio.h>

#if defined(__CUDACC__)
#define PIC_HD __host__ __device__
#else
#define PIC_HD
#define __global__
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pic_particle {
    float x, y;
    float charge;
    union {
        unsigned int id;
        unsigned char tag[4];
    };
} pic_particle;

static PIC_HD PIC_INLINE int pic_wrap(int i, int n)
{
    i %= n;
    return i < 0 ? i + n : i;
}

#pragma cf kernel grid(count) block(192) in(p[count]) inout(rho[ny][nx]) check(nx > 0, ny > 0) tolerance(1e-4)
__global__ void deposit(const pic_particle *p, pic_count count, float *rho, int nx, int ny)
{
    pic_count step = (pic_count)gridDim.x * blockDim.x;
    const pic_particle *end = p + count;
    for (p += (pic_count)blockIdx.x * blockDim.x + threadIdx.x; p < end; p += step) {
        float fx = floorf(p->x), fy = floorf(p->y);
        float wx = p->x - fx, wy = p->y - fy, q = p->charge;
        int x0 = pic_wrap((int)fx, nx), y0 = pic_wrap((int)fy, ny);
        int x1 = x0 + 1 == nx ? 0 : x0 + 1, y1 = y0 + 1 == ny ? 0 : y0 + 1;

        if (p->tag[0] == 0xff) /* a particle that has left the grid */
            continue;
        atomicAdd(&rho[y0 * nx + x0], q * (1 - wx) * (1 - wy));
        atomicAdd(&rho[y0 * nx + x1], q * wx * (1 - wy));
        atomicAdd(&rho[y1 * nx + x0], q * (1 - wx) * wy);
        atomicAdd(&rho[y1 * nx + x1], q * wx * wy);
    }
}

PIC_EXPORT int pic_deposit(const pic_particle *p, pic_count count, float *rho, int nx, int ny)
{
#ifdef _MSC_VER
    __debugbreak();
#endif
    deposit<<<64, 192>>>(p, count, rho, nx, ny);
    return (int)cudaGetLastError();
}

#ifdef __cplusplus
}
#endif
