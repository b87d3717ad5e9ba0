/* local_struct.cuh - types in C++ that kernels share. */
#pragma once

namespace std_like
{
class string_like;
}

namespace geo
{
struct vec {
    float x, y, z;
    __host__ __device__ float dot(const vec &other) const
    {
        return x * other.x + y * other.y + z * other.z;
    }
};

struct box {
    vec low, high;
};

enum axis { X = -1, Y, Z = sizeof(vec) };
} // namespace geo

struct cell {
    int count;
    geo::vec *points;
};

typedef struct particle {
    struct particle *other;
    double mass;
} __attribute__((aligned(16))) particle_t;
