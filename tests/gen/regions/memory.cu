/* memory.cu - kernels for test_regions.c whose functions or arrays share memory or names. A name that ends in _turns is of
 * a kernel without regions. All have n / 96 blocks of 96 or 48 threads and one or two elements to a thread. */
#define SIZE 96
#define ALL 0xffffffffu

__device__ float through(float v, int puts)
{
    __shared__ float s[SIZE];
    float result = 0;
    if (puts)
        s[threadIdx.x] = v;
    else
        result = s[95 - threadIdx.x];
    return result;
}

/* Statements can replace only the first call of the function. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void half_expanded_turns(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    through(in[i], 1);
    __syncthreads();
    out[i] = n > 3 ? through(0, 0) : 0;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void whole_expanded(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    through(in[i], 1);
    __syncthreads();
    out[i] = through(0, 0);
}

template <typename T> __device__ T keep(T v, int puts)
{
    __shared__ double s[SIZE];
    T result = 0;
    if (puts)
        s[threadIdx.x] = v;
    else
        result = s[95 - threadIdx.x];
    return result;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void one_instance(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    float v = in[i];
    v = keep(v, 1);
    __syncthreads();
    float result = keep(v, 0);
    out[i] = result;
}

/* Each of the two instances of a template has an array of its own. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void two_instances(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, zero = 0;
    float v = in[i], none = 0;
    v = keep(v, 1);
    t = keep(t, 1);
    __syncthreads();
    float a = keep(none, 0);
    int b = keep(zero, 0);
    out[i] = a + b * 100;
}

constexpr int twofold = 2;

__device__ float doubled(float x)
{
    return x * twofold;
}

__device__ float sum_of_doubles(float v)
{
    v = doubled(v) + twofold;
    return v + __shfl_xor_sync(ALL, v, 1);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void one_scope(const float *in, int n, float *out)
{
    typedef float number;
    int i = blockIdx.x * SIZE + threadIdx.x;
    number v = sum_of_doubles(in[i]);
    out[i] = v;
}

__device__ float weight(double x)
{
    return x * 2;
}

__device__ float weigh(float v)
{
    v = weight(3) + v;
    return v + __shfl_xor_sync(ALL, v, 1);
}

/* A function that the file declares behind the caller suits the argument better. */
__device__ float weight_late(double x)
{
    return x * 2;
}

__device__ float weigh_early(float v)
{
    v = weight_late(3) + v;
    return v + __shfl_xor_sync(ALL, v, 1);
}

__device__ float weight_late(int x)
{
    return x * 3;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void overloaded_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    float v = weigh_early(in[i]);
    out[i] = v;
}

namespace inner
{
__device__ float weight(double x)
{
    return x * 3;
}

/* weight() is another function here than in weigh(). */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void other_scope_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    float v = weigh(in[i]);
    out[i] = v;
}
} // namespace inner

typedef double real;

__device__ float thirds(float v)
{
    real x = v + 1e-9;
    float result = (x - v) * 1e9 + __shfl_xor_sync(ALL, v, 1);
    return result;
}

/* The kernel and the function mean different types by one name. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void local_type_turns(const float *in, int n, float *out)
{
    typedef float real;
    int i = blockIdx.x * SIZE + threadIdx.x;
    real v = in[i];
    float w = thirds(v);
    out[i] = w;
}

/* The second array does not replace the first one, whose block has ended. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void shared_of_scopes(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float *p = nullptr, *q = nullptr;
    {
        __shared__ float first[SIZE];
        p = first;
        p[t] = in[i];
        __syncthreads();
    }
    {
        __shared__ float second[SIZE];
        q = second;
        q[t] = 2 * in[i];
        __syncthreads();
    }
    out[i] = p[95 - t] + q[(t + 1) % SIZE];
}

/* Both names mean the same memory. */
#pragma cf kernel blocks(n / SIZE) block(SIZE / 2) shared(2 * SIZE * sizeof(float)) in(in[n]) out(out[n])
__global__ void two_names(const float *in, int n, float *out)
{
    extern __shared__ float p[];
    extern __shared__ float q[];
    int t = threadIdx.x, i = blockIdx.x * SIZE + 2 * t, zero = n - 480;
    q[2 * t] = in[i];
    q[2 * t + 1] = in[i + 1];
    __syncthreads();
    float a = q[2 * t];
    p[2 * t + 1 + zero] = a * 2;
    float b = q[2 * t + 1];
    p[2 * t + zero] = b + 3;
    __syncthreads();
    out[i] = q[2 * t];
    out[i + 1] = q[2 * t + 1];
}

template <typename T> struct Memory {
    __device__ operator T *()
    {
        extern __shared__ int bytes_of_memory[];
        return (T *)bytes_of_memory;
    }
    __device__ operator const T *() const
    {
        extern __shared__ int bytes_of_memory[];
        return (const T *)bytes_of_memory;
    }
};

template <> struct Memory<double> {
    __device__ operator double *()
    {
        extern __shared__ double doubles_of_memory[];
        return doubles_of_memory;
    }
};

template <typename T> __device__ T *memory_of()
{
    extern __shared__ unsigned char of_function[];
    return reinterpret_cast<T *>(of_function);
}

__device__ float *half_of(int half)
{
    extern __shared__ float halves[];
    return halves + half * (threadIdx.x >= 48 ? SIZE : 0);
}

/* The values of these pointers are the same for a block, except for `own`. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) shared(2 * SIZE * sizeof(float)) in(in[n]) out(out[n])
__global__ void pointers_to_memory(const float *in, int n, float *out)
{
    float *by_class = Memory<float>();
    auto *second = reinterpret_cast<float *>(memory_of<int>() + SIZE);
    float *own = half_of(1);
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    by_class[t] = in[i];
    second[t] = 2 * in[i];
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s && t + s < SIZE)
            by_class[t] += by_class[t + s] + second[t];
        __syncthreads();
    }
    out[i] = by_class[0] + own[t] + memory_of<float>()[95 - t];
}

/* The second array holds the address of the first one. */
#pragma cf kernel blocks(n / SIZE) block(SIZE / 2) in(in[n]) out(out[n])
__global__ void shared_rows(const float *in, int n, float *out)
{
    __shared__ float a[SIZE], *b[2];
    int t = threadIdx.x, i = blockIdx.x * SIZE + 2 * t;
    if (t == 0)
        b[0] = a + n - 480;
    a[2 * t] = in[i];
    a[2 * t + 1] = in[i + 1];
    __syncthreads();
    float u = a[2 * t];
    b[0][2 * t + 1] = u * 2;
    float v = a[2 * t + 1];
    b[0][2 * t] = v + 3;
    __syncthreads();
    out[i] = a[2 * t];
    out[i + 1] = a[2 * t + 1];
}

/* A parameter gets the address of an array, and a variable with another parameter's name holds such an address. */
#pragma cf kernel blocks(n / SIZE) block(SIZE / 2) in(in[n]) out(out[n])
__global__ void parameter_of_shared(const float *in, int n, float *out)
{
    __shared__ float a[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + 2 * t;
    float *last = out;
    a[2 * t] = in[i];
    a[2 * t + 1] = in[i + 1];
    out = a + n - 480;
    __syncthreads();
    float u = a[2 * t];
    out[2 * t + 1] = u * 2;
    float v = a[2 * t + 1];
    out[2 * t] = v + 3;
    __syncthreads();
    {
        float *in = a + n - 480;
        __syncthreads();
        float u = a[2 * t];
        in[2 * t + 1] = u * 2;
        float v = a[2 * t + 1];
        in[2 * t] = v + 3;
    }
    last[i] = a[2 * t];
    last[i + 1] = a[2 * t + 1];
}

/* Another variable has the array's name. */
#pragma cf kernel blocks(n / SIZE) block(SIZE / 2) in(in[n]) out(out[n])
__global__ void hidden_shared(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + 2 * t;
    s[t] = in[i];
    out[i] = in[i];
    out[i + 1] = in[i + 1];
    __syncthreads();
    {
        float *s = out + n - 480;
        __syncthreads();
        float a = out[i];
        s[i + 1] = a * 2;
        float b = out[i + 1];
        s[i] = b + 3;
    }
    out[i] += s[47 - t];
}

/* The array has the name that generated code could give to the seventh variable's memory. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void numbered(const float *in, int n, float *out)
{
    __shared__ float v_6[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float v = in[i];
    v_6[t] = v;
    __syncthreads();
    v += v_6[95 - t];
    __syncthreads();
    out[i] = v;
}

__device__ float twice(float v)
{
    float result = 0;
    {
        __shared__ float s[SIZE];
        s[threadIdx.x] = v;
        __syncthreads();
        result = s[95 - threadIdx.x];
        __syncthreads();
    }
    {
        __shared__ float s[2 * SIZE];
        s[threadIdx.x + SIZE] = v;
        __syncthreads();
        result += s[SIZE + (threadIdx.x + 1) % SIZE];
        __syncthreads();
    }
    return result;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void two_of_a_name(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    float v = twice(in[i]);
    out[i] = v;
}
