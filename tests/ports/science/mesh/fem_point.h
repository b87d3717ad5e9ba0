/* fem_point.h - a point of the plane. */
#ifndef MESH_FEM_POINT_H
#define MESH_FEM_POINT_H

#include <initializer_list>
#include <iosfwd>

#if defined(__CUDACC__)
#define MESH_HD __host__ __device__ __forceinline__
#else
#define MESH_HD inline
#endif

struct Point {
    double x, y;
};

MESH_HD Point operator-(Point a, Point b)
{
    return {a.x - b.x, a.y - b.y};
}

MESH_HD double cross(Point a, Point b)
{
    return a.x * b.y - a.y * b.x;
}

std::ostream &operator<<(std::ostream &out, const Point &p);

#include "fem_triangle.h"

#endif
