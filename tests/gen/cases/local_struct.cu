/* local_struct - structs, unions and enumerations that the kernel file and a C++ header declare: the generated header
 * defines them for C. */
#include <cuComplex.h>
#include <cuda_fp16.h>

#include "local_struct.cuh"

#define LANES 2
constexpr int ORDER = 3;

struct Params {
    static constexpr int kMost = 4;
    int nx, ny{1};
    float dt = 0.5f;
    double weights[kMost][ORDER];
    Params() = default;
    __host__ __device__ float half() const
    {
        return dt / 2;
    }
    bool is_wide() const;
    static int count;
};

#pragma cf kernel grid(p.nx, p.ny) block(16, 16) inout(u[p.ny][p.nx])
__global__ void decay(float *u, Params p)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < p.nx && y < p.ny)
        u[y * p.nx + x] *= 1 - p.dt;
}

typedef cell *cells_t;

/* Every kind of member. */
struct __align__(32) everything {
    geo::box bounds[LANES];
    geo::axis axis;
    const float *const *rows;
    struct everything *next;
    cell *cells;
    const struct cell *first;
    void (*report)(int);
    std_like::string_like *text;
    union {
        int i;
        float f;
        struct {
            short low, high;
        };
    };
    struct {
        unsigned char r, g, b;
    } colours[5];
    alignas(16) char tag[3];
    float4 position;
    __half2 pair;
    cuFloatComplex phase;
    const volatile long long stamp;
    size_t sizes[sizeof(geo::box) / 4][LANES];
    particle_t particle;
    cells_t rest[2];
    enum kind { NONE, SOME = 7 } kind;
};

#pragma cf kernel grid(n) inout(x[n]) in(cells[n])
__global__ void every(everything *x, const cell *cells, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i].i += cells[i].count + everything::SOME;
}

union either {
    int i;
    double d;
};

#pragma cf kernel grid(n) out(y[n])
#pragma cf instances(box: geo::box; either: either)
template <typename T> __global__ void fill(T *y, T value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = value;
}

__constant__ geo::box limits[LANES];

#pragma cf kernel grid(n) out(y[n])
__global__ void bounds(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = limits[i % LANES].low.x;
}
