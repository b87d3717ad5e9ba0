/* blur.cu - a box blur of images with four bytes per pixel, through a tile with a halo. */
#include <algorithm>
#include <stdexcept>
#include <string>

namespace image
{
struct Size {
    int width, height;
};

class Picture
{
  public:
    explicit Picture(const std::string &path) : path_(path)
    {
        if (path.empty())
            throw std::invalid_argument("no path");
    }
    Size size() const { return size_; }
    virtual ~Picture() {}

  private:
    std::string path_;
    Size size_ = {0, 0};
};

enum { TILE_W = 16, TILE_H = 16, R = 2 };

__device__ __forceinline__ uchar4 texel(const uchar4 *img, Size size, int x, int y)
{
    x = min(max(x, 0), size.width - 1);
    y = min(max(y, 0), size.height - 1);
    return img[y * size.width + x];
}
} // namespace image

namespace image
{
namespace kernels
{
#pragma cf kernel grid(size.width, size.height) block(TILE_W, TILE_H) in(src[size.height][size.width]) \
    out(dst[size.height][size.width]) check(size.width > 0, size.height > 0)
__global__ void box_blur(const uchar4 *src, uchar4 *dst, Size size)
{
    __shared__ uchar4 smem[TILE_H + 2 * R][TILE_W + 2 * R];
    int x0 = blockIdx.x * TILE_W - R, y0 = blockIdx.y * TILE_H - R;
    for (int i = threadIdx.y * TILE_W + threadIdx.x; i < (TILE_H + 2 * R) * (TILE_W + 2 * R); i += TILE_W * TILE_H)
        smem[i / (TILE_W + 2 * R)][i % (TILE_W + 2 * R)] =
            texel(src, size, x0 + i % (TILE_W + 2 * R), y0 + i / (TILE_W + 2 * R));
    __syncthreads();
    int x = x0 + R + threadIdx.x, y = y0 + R + threadIdx.y;
    if (x < size.width && y < size.height) {
        int4 sum = make_int4(0, 0, 0, 0);
        for (int dy = 0; dy <= 2 * R; ++dy)
            for (int dx = 0; dx <= 2 * R; ++dx) {
                uchar4 p = smem[threadIdx.y + dy][threadIdx.x + dx];
                sum.x += p.x;
                sum.y += p.y;
                sum.z += p.z;
                sum.w += p.w;
            }
        constexpr int count = (2 * R + 1) * (2 * R + 1);
        dst[y * size.width + x] = make_uchar4(sum.x / count, sum.y / count, sum.z / count, sum.w / count);
    }
}
} // namespace kernels

void blur(const Picture &picture, const uchar4 *src, uchar4 *dst)
{
    const Size size = picture.size();
    const dim3 block(TILE_W, TILE_H);
    const dim3 grid((size.width + TILE_W - 1) / TILE_W, (size.height + TILE_H - 1) / TILE_H);
    kernels::box_blur<<<grid, block>>>(src, dst, size);
}
} // namespace image
