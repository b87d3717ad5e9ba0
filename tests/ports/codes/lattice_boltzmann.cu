/* lattice_boltzmann.cu - one step of the lattice Boltzmann method: streaming from neighbours, then relaxation. */
#include <stdio.h>

#include "lattice.h"

__constant__ int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

#pragma cf kernel grid(nx, ny) block(32, 4) in(f[Q][ny][nx]) out(g[Q][ny][nx]) check(nx > 0, ny > 0, 0 < omega < 2) \
    tolerance(1e-5)
__global__ void step(const real *__restrict__ f, real *__restrict__ g, real omega, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;

    real in[Q], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int q = 0; q < Q; q++) {
        int sx = (x - cx[q] + nx) % nx, sy = (y - cy[q] + ny) % ny;
        in[q] = f[IDX(q, sx, sy, nx, ny)];
        rho += in[q];
        ux += in[q] * cx[q];
        uy += in[q] * cy[q];
    }
    ux /= rho;
    uy /= rho;
    real usq = real(1.5) * (ux * ux + uy * uy);
#pragma unroll
    for (int q = 0; q < Q; q++) {
        real cu = 3 * (cx[q] * ux + cy[q] * uy);
        real eq = lattice::weight(q) * rho * (1 + cu + real(0.5) * cu * cu - usq);
        g[IDX(q, x, y, nx, ny)] = in[q] + omega * (eq - in[q]);
    }
}

int main(int argc, char *argv[])
{
    const int nx = argc > 1 ? atoi(argv[1]) : 512, ny = nx;
    real *f, *g;
    cudaMalloc(&f, sizeof(real) * Q * nx * ny);
    cudaMalloc(&g, sizeof(real) * Q * nx * ny);
    dim3 block(32, 4), grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y);
    for (int t = 0; t < 100; t++) {
        step<<<grid, block>>>(f, g, real(1.2), nx, ny);
        std::swap(f, g);
    }
    std::array<real, Q> cell;
    cudaMemcpy(cell.data(), f, sizeof cell, cudaMemcpyDeviceToHost);
    lattice::save("out.txt", cell);
    return cudaFree(f) || cudaFree(g);
}
