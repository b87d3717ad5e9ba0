/* structs.cuh - C++ types for structs.cu; C programs get them from the generated header. */
#pragma once

namespace geo
{
struct vec {
    float x, y, z;
    __host__ __device__ float dot(const vec &other) const
    {
        return x * other.x + y * other.y + z * other.z;
    }
};

enum axis { X, Y, Z = 7 };
} // namespace geo

template <typename T> struct Span {
    T *data;
    int count;
};
