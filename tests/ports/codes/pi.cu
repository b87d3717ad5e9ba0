/* pi.cu - counts random points in a circle; the random generator is in this file. */
#include <curand_kernel.h>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <sstream>

class Xorshift
{
    uint32_t x_, y_, z_, w_;

  public:
    __device__ __host__ Xorshift(uint32_t seed) : x_(123456789u ^ seed), y_(362436069u), z_(521288629u), w_(88675123u) {}
    __device__ __host__ uint32_t next()
    {
        uint32_t t = x_ ^ (x_ << 11);
        x_ = y_;
        y_ = z_;
        z_ = w_;
        return w_ = w_ ^ (w_ >> 19) ^ t ^ (t >> 8);
    }
    __device__ __host__ float uniform() { return (next() >> 8) * (1.0f / 16777216.0f); }
    std::string state() const
    {
        std::ostringstream text;
        text << std::hex << std::setw(8) << x_;
        return text.str();
    }
};

#pragma cf kernel blocks(blocks) block(256) out(hits[blocks * 256]) param(unsigned blocks)
__global__ void throw_darts(unsigned *hits, unsigned seed, int darts)
{
    unsigned tid = blockIdx.x * blockDim.x + threadIdx.x;
    Xorshift random(seed + tid);
    unsigned count = 0;
    for (int i = 0; i < darts; i++) {
        float x = random.uniform(), y = random.uniform();
        count += x * x + y * y < 1.0f;
    }
    hits[tid] = count;
}

int main()
{
    std::cout << Xorshift(1).state() << std::endl;
    throw_darts<<<4, 256>>>(nullptr, 1, 100);
}
