/* refused_local_struct - a struct that the kernel file declares itself; expected: it has to come from a header that an
 * include(...) names, since callers need it too. */
struct Params {
    int nx, ny;
    float dt;
};

#pragma cf kernel grid(p.nx, p.ny) block(16, 16) inout(u[p.ny][p.nx])
__global__ void decay(float *u, Params p)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < p.nx && y < p.ny)
        u[y * p.nx + x] *= 1 - p.dt;
}
