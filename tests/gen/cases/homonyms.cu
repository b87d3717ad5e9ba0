/* homonyms - structs that have the names of functions, which C++ allows; generated code cannot name them. */
struct point {
    int a;
};

#pragma cf kernel grid(n) inout(y[n])
__global__ void point(float *y, int n, struct point p)
{
    y[threadIdx.x] = p.a;
}

namespace space
{
struct dot {
    float x, y;
};

__device__ float dot(const struct dot *a)
{
    return a->x * a->y;
}

#pragma cf kernel grid(n) inout(y[n]) in(dots[n])
__global__ void dots(float *y, const struct dot *dots, int n)
{
    y[threadIdx.x] = dot(dots + threadIdx.x);
}
}

/* A function of <math.h>, which nvcc includes. */
struct gamma {
    float x;
};

#pragma cf kernel grid(n) inout(y[n])
__global__ void corrected(float *y, int n, struct gamma correction)
{
    y[threadIdx.x] *= correction.x;
}

struct area {
    float width;
};

namespace space
{
__device__ float area(float x)
{
    return x;
}
}

#pragma cf kernel grid(n) inout(y[n])
__global__ void right(float *y, int n, area a)
{
    y[threadIdx.x] = space::area(a.width);
}
