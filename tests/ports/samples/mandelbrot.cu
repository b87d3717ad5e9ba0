/* mandelbrot.cu - computes an image of the Mandelbrot set for display in a window. */
#include "common/gpu_check.h"

#define BLOCKDIM_X 16
#define BLOCKDIM_Y 16

static cudaGraphicsResource *cuda_pbo_resource;

template <class T> __device__ inline int CalcMandelbrot(const T xPos, const T yPos, const int crunch)
{
    T x = 0, y = 0, xx = 0, yy = 0;
    int i = crunch;
    while (--i && (xx + yy < T(4.0))) {
        y = x * y * T(2.0) + yPos;
        x = xx - yy + xPos;
        yy = y * y;
        xx = x * x;
    }
    return i;
}

#pragma cf kernel grid(imageW, imageH) block(BLOCKDIM_X, BLOCKDIM_Y) out(dst[imageH][imageW])
#pragma cf instances(f32: float; f64: double)
template <class T>
__global__ void Mandelbrot0(uchar4 *dst, const int imageW, const int imageH, const int crunch, const T xOff,
                            const T yOff, const T scale, const uchar4 colors)
{
    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    const int iy = blockDim.y * blockIdx.y + threadIdx.y;

    if ((ix < imageW) && (iy < imageH)) {
        const T xPos = (T)ix * scale + xOff;
        const T yPos = (T)iy * scale + yOff;
        int m = CalcMandelbrot<T>(xPos, yPos, crunch);
        m = m > 0 ? crunch - m : 0;
        uchar4 color;
        if (m) {
            color.x = m * colors.x;
            color.y = m * colors.y;
            color.z = m * colors.z;
        } else {
            color.x = 0;
            color.y = 0;
            color.z = 0;
        }
        color.w = 0;
        dst[imageW * iy + ix] = color;
    }
}

void renderImage(int imageW, int imageH)
{
    uchar4 *d_dst = NULL;
    size_t num_bytes;
    checkErrors(cudaGraphicsMapResources(1, &cuda_pbo_resource, 0));
    checkErrors(cudaGraphicsResourceGetMappedPointer((void **)&d_dst, &num_bytes, cuda_pbo_resource));
    dim3 threads(BLOCKDIM_X, BLOCKDIM_Y);
    dim3 grid((imageW + BLOCKDIM_X - 1) / BLOCKDIM_X, (imageH + BLOCKDIM_Y - 1) / BLOCKDIM_Y);
    Mandelbrot0<float><<<grid, threads>>>(d_dst, imageW, imageH, 512, -2.0f, -1.0f, 0.01f, uchar4{3, 5, 7, 0});
    checkErrors(cudaGraphicsUnmapResources(1, &cuda_pbo_resource, 0));
}
