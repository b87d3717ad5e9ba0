/* refused_class_template - spans and functors by value; expected: an instance of a class template is no C type. */
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

#pragma cf kernel grid(n)
__global__ void zero_span(Span<float> span, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i < span.count)
        span.data[i] = 0;
}

#pragma cf kernel grid(n) inout(x[n])
#pragma cf instances(twice: float, Twice<float>)
template <typename T, typename Functor> __global__ void map(T *x, int n, Functor functor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = functor(x[i]);
}
