/* casts.cu - memory that is read as another type than its array's, for test_casts.c. */
#include <cuda_fp16.h>
#include <stdint.h>

#pragma cf kernel grid(n) in(x[8 * n]) out(sums[n])
__global__ void packed(const __half *x, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half own[8];
    for (int k = 0; k < 8; k++)
        own[k] = __float2half(0);
    *(float4 *)own = *(const float4 *)(x + 8 * i);
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += __half2float(own[k]);
    sums[i] = sum;
}

/* Arrays of a type are read as wider types: through a function, a macro, and a pointer to bytes. */
#define AS_FLOAT4(value) (reinterpret_cast<float4 *>(&(value))[0])

template <typename V> __device__ V load_as(const void *from)
{
    return *static_cast<const V *>(from);
}

#pragma cf kernel grid(n) in(x[n][4], halves[8 * n], index[n]) inout(y[n][4]) pitch(y: pitch) inplace(x, y)
__global__ void wide(const float *x, const __half *halves, const int *index, float *y, int pitch, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int4 bits = load_as<int4>(halves + 8 * i);
    const float4 all = *(const float4 *)(x + 4 * i);
    float4 old = AS_FLOAT4(y[pitch * i]);
    old.x += all.x;
    old.y += all.w + (float)(bits.w >> 16);
    old.z += (float)index[i];
    AS_FLOAT4(y[pitch * i]) = old;
}

/* Reads none of its arrays as a wider type. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void narrow(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float own[4] = {x[i], 1, 2, 3};
    const float4 all = *(float4 *)own;
    y[i] = all.x + all.w + *(const int *)(x + i) * 0;
}

/* Each array is read as a wider type in another way: by a pointer type's name, as a reference, by a template, by a
 * function with another name of the type, with a large alignment, as arrays, as a struct, and by decltype. */
typedef const float4 *quads;

template <typename T, int N> struct alignas(sizeof(T) * N) lanes {
    T lane[N];
};

struct alignas(32) fours {
    double four[4];
};

struct two_ints {
    int first, second;
};

__device__ float2 load_pair(const half *from)
{
    return *(const float2 *)from;
}

__device__ int load_fourth(const int *from)
{
    return ((const longlong2 (*)[1])from)[0][0].y >> 32;
}

#pragma cf kernel grid(1) block(1) \
    in(a[n], b[n], c[n], d[n], e[n], f[n], g[n], h[n]) out(y[8])
__global__ void ways(const float *a, const unsigned char *b, const short *c, const __half *d, const double *e,
                     const int *f, const two_ints *g, const long long *h, double *y, int n)
{
    longlong2 both;
    const longlong2 *at = &both;
    at = (decltype(at))h;
    y[0] = ((quads)a)->w;
    y[1] = ((const int4 &)b[0]).w;
    y[2] = ((const lanes<short, (16 > 8 ? 8 : 4)> *)c)->lane[7];
    const float2 pair = load_pair(d);
    y[3] = pair.y;
    const fours four = *(const fours *)e;
    y[4] = four.four[0] + four.four[1] + four.four[2] + four.four[3];
    y[5] = load_fourth(f);
    y[6] = load_fourth(&g->first);
    y[7] = (double)at->y;
}

/* Reads the first elements one by one, until the rest is aligned. */
#pragma cf kernel grid(1) block(1) in(x[n]) out(sum[1])
__global__ void peeled(const float *x, float *sum, int n)
{
    float total = 0;
    int i = 0;
    for (; i < n && reinterpret_cast<uintptr_t>(x + i) % 16; i++)
        total += x[i];
    for (; i + 4 <= n; i += 4) {
        const float4 four = *reinterpret_cast<const float4 *>(x + i);
        total += four.x + four.y + four.z + four.w;
    }
    for (; i < n; i++)
        total += x[i];
    *sum = total;
}

/* The same array is passed as rows of two shapes, which have the same number of elements and of bytes. */
#pragma cf kernel grid(1) block(1) in(a[2][6], b[4][3]) out(sums[2]) pitch(a: 9; b: 4)
__global__ void shapes(const float *a, const float *b, float *sums)
{
    const float4 first = *(const float4 *)a;
    sums[0] = first.x + first.y + first.z + first.w + a[4] + a[5];
    for (int k = 9; k < 15; k++)
        sums[0] += a[k];
    sums[1] = 0;
    for (int k = 0; k < 15; k++)
        sums[1] += k % 4 == 3 ? 0 : b[k];
}

/* Writes the even elements of `y`, and the odd elements of the same array through `others`. */
#pragma cf kernel grid(1) block(1) inout(y[n], others[n])
__global__ void halves(float *y, int *others, int n)
{
    const float first = (*(float4 *)y).x;
    for (int k = 0; k < n; k += 2)
        y[k] = first + k;
    for (int k = 1; k < n; k += 2)
        others[k] = k;
}

/* A type has the alignment of its widest member or of its alignas, even if the types refer to one another. */
struct rgb {
    unsigned char r, g, b;
    __device__ int sum() const { return r + g + b; }
};

#pragma cf kernel grid(n) in(x[3 * n]) out(sums[n])
__global__ void colours(const unsigned char *x, int *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sums[i] = ((const rgb *)(x + 3 * i))->sum();
}

struct list;

struct node {
    list *in;
    int value;
};

struct list {
    node *first, last;
};

#pragma cf kernel grid(1) block(1) in(c[n]) out(y[1])
__global__ void linked(const signed char *c, int *y, int n)
{
    y[0] = ((const list *)c)->last.value;
}

#if defined __CUDACC__ && __CUDACC_VER_MAJOR__ < 13
struct alignas(32) double4_32a {
    double x, y, z, w;
};
#endif

#pragma cf kernel grid(1) block(1) in(d[n], f[n], q[n]) out(y[3])
__global__ void widths(const double *d, const float *f, const int *q, double *y, int n)
{
    y[0] = ((const double4_32a *)d)->y;
    y[1] = ((const float *)__builtin_assume_aligned(f, 64))[1];
    y[2] = ((const int4 *__restrict)q)->w;
}
