/* triangles.cu - applies the Laplacian of linear finite elements to a field, one element at a time, with atomics. */
#include "mesh/fem_triangle.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <vector>

std::ostream &operator<<(std::ostream &out, const Point &p)
{
    return out << '(' << p.x << ", " << p.y << ')';
}

namespace
{
class Mesh
{
    std::vector<Point> points_;
    std::vector<Triangle> triangles_;

  public:
    Mesh() = default;
    Mesh(std::vector<Point> points, std::vector<Triangle> triangles)
        : points_(std::move(points)), triangles_(std::move(triangles))
    {
        const int nodes = (int)points_.size();
        if (!std::all_of(triangles_.begin(), triangles_.end(), [=](const Triangle &t) { return is_valid(t, nodes); }))
            throw std::out_of_range("a triangle without corners");
    }
    std::size_t size() const noexcept { return triangles_.size(); }
};
} // namespace

#pragma cf kernel grid(elements) block(64) in(triangles[elements], points[nodes], u[nodes]) inout(residual[nodes]) \
    param(int nodes) tolerance(1e-12) \
    check(0 <= triangles[:].a < nodes, 0 <= triangles[:].b < nodes, 0 <= triangles[:].c < nodes)
__global__ void apply_laplacian(const Triangle *__restrict__ triangles, const Point *__restrict__ points,
                                const double *__restrict__ u, double *__restrict__ residual, const std::size_t elements)
{
    const std::size_t e = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (e >= elements)
        return;
    const int corners[3] = {triangles[e].a, triangles[e].b, triangles[e].c};
    Point at[3], gradient[3], slope{0, 0};
    for (int i = 0; i < 3; ++i)
        at[i] = points[corners[i]];
    const double area = mesh::detail::gradients(at, gradient);
    for (int i = 0; i < 3; ++i) {
        slope.x += u[corners[i]] * gradient[i].x;
        slope.y += u[corners[i]] * gradient[i].y;
    }
    for (int i = 0; i < 3; ++i)
        atomicAdd(residual + corners[i], area * (slope.x * gradient[i].x + slope.y * gradient[i].y));
}

void assemble(const Triangle *t, const Point *p, const double *u, double *r)
{
    const std::vector<Point> corners = {{0, 0}, {1, 0}, {0, 1}};
    const auto mesh = std::make_unique<Mesh>(corners, std::vector<Triangle>{{0, 1, 2}});
    apply_laplacian<<<(unsigned)(mesh->size() + 63) / 64, 64>>>(t, p, u, r, mesh->size());
}
