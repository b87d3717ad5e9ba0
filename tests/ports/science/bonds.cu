/* bonds.cu - forces of harmonic bonds by atomics; the largest stretch is found by comparing the bits of floats. */
#include "vec/float3_ops.h"

#include <cstdlib>
#include <set>
#include <utility>

struct Bond {
    int i, j;
    float k, rest;
};

union Bits {
    float f;
    unsigned u;
};

__device__ static inline void add_to(float3 *sum, const float3 &term)
{
    atomicAdd(&sum->x, term.x);
    atomicAdd(&sum->y, term.y);
    atomicAdd(&sum->z, term.z);
}

#pragma cf kernel grid(bond_count) block(96) in(bonds[bond_count], r[atoms]) inout(force[atoms], stretch[1]) \
    check(0 <= bonds[:].i < atoms, 0 <= bonds[:].j < atoms) tolerance(1e-4) param(int atoms)
__global__ void bond_forces(Bond *bonds, float3 *r, float3 *force, unsigned *stretch, int bond_count)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= bond_count) return;

    Bond bond = bonds[index];
    float3 d = r[bond.j] - r[bond.i];
    if (d == float3{0, 0, 0}) return;

    float distance = length(d);
    Bits most;
    most.f = fabsf(distance - bond.rest);
    d *= bond.k * (distance - bond.rest);
    float3 pull = d / distance;
    add_to(force + bond.i, pull);
    add_to(force + bond.j, -pull);
    atomicMax(stretch, most.u); /* floats that are not negative have the same order as their bits */
}

class Topology
{
    std::set<std::pair<int, int>> seen_;

  public:
    explicit operator bool() const { return !seen_.empty(); }
    bool add(int i, int j) { return i != j && seen_.emplace(i < j ? i : j, i < j ? j : i).second; }
    int size() const { return (int)seen_.size(); }
};

int main(int, char *argv[])
{
    Topology topology;
    for (char **arg = argv + 1; *arg && arg[1]; arg += 2)
        if (!topology.add(atoi(arg[0]), atoi(arg[1])))
            return 1;
    if (topology)
        bond_forces<<<(topology.size() + 95) / 96, 96>>>(nullptr, nullptr, nullptr, nullptr, topology.size());
}
