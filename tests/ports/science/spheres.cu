/* spheres.cu - finds the nearest sphere and its depth for each pixel; a base class has no virtual functions. */
#include <cmath>
#include <cstdint>
#include <iostream>

__host__ __device__ inline float3 operator+(const float3 &a, const float3 &b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
__host__ __device__ inline float3 operator-(const float3 &a, const float3 &b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}
__host__ __device__ inline float3 operator*(float s, const float3 &a)
{
    return make_float3(s * a.x, s * a.y, s * a.z);
}
__host__ __device__ inline float dot(const float3 &a, const float3 &b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

struct Camera {
    int width = 640, height = 480;
    float3 eye = {0, 0, -2};
    float scale = 1.0f / 240;
};

struct Ball {
    float3 centre;
    float radius;
    uchar4 colour;
};

class Ray
{
  public:
    __device__ Ray(const float3 &origin, const float3 &direction)
        : origin_(origin), direction_(rsqrtf(dot(direction, direction)) * direction)
    {
    }
    __device__ const float3 &origin() const { return origin_; }
    __device__ const float3 &direction() const { return direction_; }
    __device__ float3 at(float t) const { return origin_ + t * direction_; }

  private:
    float3 origin_, direction_;
};

class Shape
{
  protected:
    float3 centre_;

  public:
    static constexpr float never = 1e30f;
    __device__ explicit Shape(const float3 &centre) : centre_(centre) {}
};

class SphereShape final : public Shape
{
    float square_;

  public:
    __device__ SphereShape(const Ball &ball) : Shape(ball.centre), square_(ball.radius * ball.radius) {}
    __device__ float hit(const Ray &ray) const
    {
        const float3 to = ray.origin() - centre_;
        const float b = dot(to, ray.direction()), c = dot(to, to) - square_, d = b * b - c;
        return d < 0 || -b - sqrtf(d) <= 0 ? never : -b - sqrtf(d);
    }
};

#pragma cf kernel grid(camera.width, camera.height) block(16, 8) in(balls[count]) tolerance(1e-3) \
    out(nearest[camera.height][camera.width], depth[camera.height][camera.width]) check(count >= 0)
__global__ void trace(const Ball *balls, int count, Camera camera, int16_t *nearest, float *depth)
{
    const int px = threadIdx.x + blockIdx.x * blockDim.x, py = threadIdx.y + blockIdx.y * blockDim.y;
    if (!(px < camera.width && py < camera.height))
        return;
    const Ray ray(camera.eye, make_float3((px + 0.5f - camera.width / 2) * camera.scale,
                                          (py + 0.5f - camera.height / 2) * camera.scale, 1));
    int16_t best = -1;
    float least = Shape::never;
    for (int i = 0; i < count; ++i) {
        const SphereShape sphere(balls[i]);
        if (const float t = sphere.hit(ray); t < least) {
            least = t;
            best = static_cast<int16_t>(i);
        }
    }
    nearest[py * camera.width + px] = best;
    depth[py * camera.width + px] = best < 0 ? 0 : ray.at(least).z;
}

int main()
{
    Camera camera;
    const Ball ball = {{0, 0, 1}, 0.5f, {255, 0, 0, 255}};
    trace<<<dim3((camera.width + 15) / 16, (camera.height + 7) / 8), dim3(16, 8)>>>(&ball, 1, camera, nullptr, nullptr);
    std::cout << camera.width << 'x' << camera.height << " of " << std::sqrt(ball.radius) << '\n';
}
