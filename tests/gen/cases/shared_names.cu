// Other things with the name of extern __shared__ memory, or with the name of a function that uses such memory: no
// kernel of these needs shared(...).

extern __shared__ float buffer[];

template <typename T> __device__ T sum(T v)
{
    extern __shared__ unsigned char raw[];
    return v + raw[0];
}

struct sums {
    float sum;
};

__device__ float load(const float *p)
{
    return *p;
}

__device__ float load(const float *p, int n)
{
    extern __shared__ float kept[];
    return p[n] + kept[0];
}

__device__ float2 operator+(float2 a, float2 b)
{
    extern __shared__ float kept[];
    return make_float2(a.x + b.x + kept[0], a.y + b.y);
}

#pragma cf kernel grid(n) inout(buffer[n])
__global__ void shared_parameter(float *buffer, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        buffer[i] *= 2;
}

#pragma cf kernel grid(n) inout(y[n])
__global__ void shared_local(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    const float *buffer = y;
    if (i < n)
        y[i] = sum + buffer[i];
}

#pragma cf kernel grid(n) inout(y[n])
__global__ void shared_member(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums of_all = {0};
    if (i < n)
        y[i] = of_all.sum;
}

#pragma cf kernel grid(n) in(x[n]) inout(y[n])
__global__ void shared_overload(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = load(x + i);
}

namespace one
{
#pragma cf kernel grid(n) inout(y[n])
__global__ void shared_in_another(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 1;
}
} // namespace one

namespace other
{
__global__ void shared_in_another(double *y, int n)
{
    extern __shared__ double kept[];
    y[0] = kept[n];
}
} // namespace other

template <class T> struct SharedMemory {
    __device__ operator T *()
    {
        extern __shared__ int words[];
        return reinterpret_cast<T *>(words);
    }
    static constexpr int width = 4;
};

template <> struct SharedMemory<double> {
    __device__ operator double *()
    {
        extern __shared__ double doubles[];
        return doubles;
    }
    static constexpr int width = 8;
};

struct helpers {
    __device__ static float kept()
    {
        extern __shared__ float more[];
        return more[0];
    }
    __device__ static float twice(float x)
    {
        return 2 * x;
    }
};

enum class where { buffer, elsewhere };

struct halves {
    float low, high;
};

#pragma cf kernel grid(n) inout(y[n])
__global__ void shared_specialised(float *y, int n)
{
    double s = SharedMemory<float>::width;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] *= float(s) * helpers::twice(2);
}

#pragma cf kernel grid(n) inout(y[n])
__global__ void shared_second(float *y, int n)
{
    float a = 1, buffer = 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a + buffer;
}

#pragma cf kernel grid(n) inout(y[n])
__global__ void shared_enumerator(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (int)where::buffer;
}

#pragma cf kernel grid(n) inout(y[n])
__global__ void shared_binding(float *y, int n)
{
    auto [low, buffer] = halves{1, 2};
    auto twice = [](auto kept) { return 2 * kept; };
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = low + twice(buffer);
}

// Said to be none.
#pragma cf kernel grid(n) shared(0) inout(y[n])
__global__ void shared_of_none(float *y, int n)
{
    extern __shared__ float kept[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < 0)
        kept[i] = 0;
    if (i < n)
        y[i] = 1;
}
