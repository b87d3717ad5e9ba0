/* gradient.h - the gradients of the three linear shape functions of a triangle. */
#pragma once
#include "../fem_point.h"
#include "../fem_triangle.h"

namespace mesh
{
namespace detail
{
MESH_HD double gradients(const Point corner[3], Point gradient[3])
{
    const double twice = cross(corner[1] - corner[0], corner[2] - corner[0]);
    for (int i = 0; i < 3; ++i) {
        const Point edge = corner[(i + 2) % 3] - corner[(i + 1) % 3];
        gradient[i] = {-edge.y / twice, edge.x / twice};
    }
    return (twice < 0 ? -twice : twice) / 2;
}
} // namespace detail
} // namespace mesh
