/* structs.cu - kernels with types that no C header declares. */
#include "structs.cuh"

enum class Rule : short { Add = 1, Scale = -2 };

struct Params {
    static constexpr int kMost = 4;
    int n{0};
    Rule rule = Rule::Add;
    double weights[kMost][2];
    geo::vec shift;
    geo::axis axis;
    alignas(16) char tag[3];
    struct Limits {
        short of[2];
        bool on;
    } limits;
    __host__ __device__ double weight(int i) const
    {
        return weights[i % kMost][i & 1];
    }
};

/* Changes vectors by parameters that are passed by value. */
#pragma cf kernel grid(p.n) inout(v[p.n])
__global__ void change(geo::vec *v, Params p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.n)
        return;
    if (p.rule == Rule::Scale)
        v[i].x *= (float)p.weight(i);
    else
        v[i].x += p.shift.x + (p.axis == geo::Z ? 100 : 0) + p.tag[2] + (p.limits.on ? p.limits.of[1] : 0);
    v[i].y = v[i].dot(p.shift);
}

/* Types that are only bytes in C. */
class Counter
{
  public:
    __host__ __device__ explicit Counter(int first) : first_(first), step_(2)
    {
    }
    __host__ __device__ int at(int i) const
    {
        return first_ + step_ * i;
    }

  private:
    int first_, step_;
};

#pragma cf kernel grid(n) out(c[n])
__global__ void make(Counter *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = Counter(10 * i);
}

#pragma cf kernel grid(n) in(c[n]) out(y[n])
__global__ void count(const Counter *c, Counter one, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = c[i].at(3) + one.at(1);
}

#pragma cf kernel grid(n)
__global__ void count_span(Span<int> span, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i < span.count)
        span.data[i] = i;
}

/* Types that depend on the instance. */
template <typename T> struct vec4;
template <> struct vec4<float> {
    typedef float4 Type;
};
template <> struct vec4<double> {
    typedef geo::vec Type;
};

#pragma cf kernel grid(n) out(v[n]) in(x[n])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void widen(const T *x, typename vec4<T>::Type *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i].x = v[i].y = v[i].z = (float)x[i];
}

__constant__ geo::vec limits[2];

#pragma cf kernel grid(n) inout(v[n])
__global__ void limit(geo::vec *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && v[i].x > limits[i & 1].x)
        v[i].x = limits[i & 1].x;
}
