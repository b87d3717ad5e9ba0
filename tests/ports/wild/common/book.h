/* book.h - helpers for programs of a textbook: checks, generated data, and a window if there is OpenGL. */
#ifndef __BOOK_H__
#define __BOOK_H__
#include <stdio.h>
#include <stdlib.h>
#if defined(_WIN32) || defined(WIN32)
#include <windows.h>
#define DELAY(ms) Sleep(ms)
#elif __has_include(<GL/glut.h>)
#include <GL/glut.h>
#include <GL/glext.h>
#define HAVE_WINDOW 1
#endif

static void HandleError(cudaError_t err, const char *file, int line)
{
    if (err != cudaSuccess) {
        printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line);
        exit(EXIT_FAILURE);
    }
}
#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))

#define HANDLE_NULL(a)                                                  \
    {                                                                   \
        if (a == NULL) {                                                \
            printf("no memory in %s at line %d\n", __FILE__, __LINE__); \
            exit(EXIT_FAILURE);                                         \
        }                                                               \
    }

template <typename T> void swap(T &a, T &b)
{
    T t = a;
    a = b;
    b = t;
}

void *big_random_block(int size)
{
    unsigned char *data = (unsigned char *)malloc(size);
    HANDLE_NULL(data);
    for (int i = 0; i < size; i++)
        data[i] = rand();
    return data;
}

__device__ unsigned char value(float n1, float n2, int hue)
{
    if (hue > 360)
        hue -= 360;
    else if (hue < 0)
        hue += 360;

    if (hue < 60)
        return (unsigned char)(255 * (n1 + (n2 - n1) * hue / 60));
    if (hue < 180)
        return (unsigned char)(255 * n2);
    if (hue < 240)
        return (unsigned char)(255 * (n1 + (n2 - n1) * (240 - hue) / 60));
    return (unsigned char)(255 * n1);
}

__global__ void float_to_color(unsigned char *optr, const float *outSrc)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    int offset = x + y * blockDim.x * gridDim.x;
    float l = outSrc[offset];
    optr[offset] = value(1 - l, l, (int)(360 * l));
}
#endif // __BOOK_H__
