/* class_template - types that C cannot express: instances of class templates, private members, bit-fields, base
 * classes. C sees their bytes. */
#include "class_template_types.h"

template <typename T> struct Span {
    T *data;
    int count;
};

template <typename T> struct Twice {
    __host__ __device__ T operator()(T x) const
    {
        return x + x;
    }
};

template <typename T, typename Index> struct TensorInfo {
    T *data;
    Index sizes[25];
    int dims;
    __host__ __device__ Index size(int i) const
    {
        return sizes[i];
    }
};
typedef TensorInfo<long, long> Tensor;

class View
{
  public:
    View() = default;
    View(const View &other) = default;
    ~View() = default;
    __host__ __device__ int count() const
    {
        return count_ + (step_ > 0);
    }

  private:
    double step_ = 0;
    int count_ = 0;
};

struct Derived : base {
    float more;
    View view;
};

struct Holder {
    int n;
    View view;
    Span<const double> spans[2];
};

#pragma cf kernel grid(n)
__global__ void zero_span(Span<float> span, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i < span.count)
        span.data[i] = 0;
}

#pragma cf kernel grid(n) inout(x[n])
#pragma cf instances(twice: float, Twice<float>; wide: double, Twice<double>)
template <typename T, typename Functor> __global__ void map(T *x, int n, Functor functor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = functor(x[i]);
}

#pragma cf kernel grid(n) in(spans[m])
#pragma cf instances(i32: int, unsigned int; i64: long, long)
template <typename T, typename Index>
__global__ void clear(TensorInfo<T, Index> a, const Span<T> *spans, Tensor tensor, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a.data[i] = spans[i % m].count + tensor.size(0);
}

#pragma cf kernel grid(n) out(y[n]) in(flags[n], holders[n])
__global__ void look(View view, Derived d, const flags *flags, const Holder *holders, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = view.count() + d.n + flags[i].b + holders[i].n;
}
