/* particles.cu - moves particles in a box; the type of their parameters is a struct that only this file declares. */
#include <cstring>

#include "common/gpu_check.h"

struct SimParams {
    uint3 gridSize;
    unsigned int numCells;
    float3 worldOrigin;
    float3 cellSize;
    float3 gravity;
    float globalDamping, particleRadius;
    float boundaryDamping;
};

typedef struct __align__(16)
{
    float3 at;
    int cell;
    float3 speed;
    int alive;
}
Particle;

static SimParams defaults()
{
    SimParams p;
    memset(&p, 0, sizeof p);
    p.gravity = make_float3(0, -0.0003f, 0);
    return p;
}
static const SimParams h_defaults = defaults();

__device__ int3 calcGridPos(const SimParams &params, float3 p)
{
    int3 gridPos;
    gridPos.x = floorf((p.x - params.worldOrigin.x) / params.cellSize.x);
    gridPos.y = floorf((p.y - params.worldOrigin.y) / params.cellSize.y);
    gridPos.z = floorf((p.z - params.worldOrigin.z) / params.cellSize.z);
    return gridPos;
}

__device__ unsigned int calcGridHash(const SimParams &params, int3 gridPos)
{
    gridPos.x = gridPos.x & (params.gridSize.x - 1);
    gridPos.y = gridPos.y & (params.gridSize.y - 1);
    gridPos.z = gridPos.z & (params.gridSize.z - 1);
    return __umul24(__umul24(gridPos.z, params.gridSize.y), params.gridSize.x) +
           __umul24(gridPos.y, params.gridSize.x) + gridPos.x;
}

#pragma cf kernel grid(numParticles) inout(particles[numParticles]) tolerance(1e-5)
__global__ void integrate(Particle *particles, SimParams params, float deltaTime, unsigned int numParticles)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= numParticles)
        return;
    Particle p = particles[i];
    p.speed.x += params.gravity.x * deltaTime;
    p.speed.y += params.gravity.y * deltaTime;
    p.speed.z += params.gravity.z * deltaTime;
    p.speed.x *= params.globalDamping;
    p.speed.y *= params.globalDamping;
    p.speed.z *= params.globalDamping;
    p.at.x += p.speed.x * deltaTime;
    p.at.y += p.speed.y * deltaTime;
    p.at.z += p.speed.z * deltaTime;
    if (p.at.y < -1.0f + params.particleRadius) {
        p.at.y = -1.0f + params.particleRadius;
        p.speed.y *= params.boundaryDamping;
    }
    p.cell = calcGridHash(params, calcGridPos(params, p.at));
    particles[i] = p;
}

void integrateSystem(Particle *particles, float deltaTime, int numParticles)
{
    int numThreads = min(256, numParticles);
    int numBlocks = (numParticles % numThreads != 0) ? (numParticles / numThreads + 1) : (numParticles / numThreads);
    integrate<<<numBlocks, numThreads>>>(particles, h_defaults, deltaTime, numParticles);
    checkErrors(cudaGetLastError());
}
