/* array_typedef - arrays behind a name are elements: C sees their bytes. */
#include <curand_kernel.h>

namespace geo {
typedef float matrix[3][3];
}
using row = int[4];
struct Cell {
    geo::matrix turn;
    int tag;
};

#pragma cf kernel grid(n) in(vectors[n]) out(states[n]) host(none)
#pragma cf instances(v32: curandDirectionVectors32_t, curandStateSobol32; \
                     v64: curandDirectionVectors64_t, curandStateSobol64)
template <typename Vector, typename State>
__global__ void seed_quasi(Vector *vectors, State *states, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        curand_init(vectors[i], 0, &states[i]);
}

#pragma cf kernel grid(n) in(turns[n], cells[n]) inout(rows[n])
__global__ void trace(const geo::matrix *turns, const Cell *cells, row *rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        rows[i][3] += (int)(turns[i][0][0] + turns[i][1][1] + cells[i].turn[2][2]);
}
