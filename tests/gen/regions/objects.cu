/* objects.cu - kernels for test_regions.c with classes, addresses of variables and declarations of rare forms. A name
 * that ends in _turns is of a kernel without regions. All have n / 96 blocks of 96 threads and one element to a
 * thread. */
#define SIZE 96

struct taker {
    int value;
    __device__ taker(int &from) : value(from)
    {
        from += 100;
    }
};

struct bumper {
    __device__ void operator()(int &value) const
    {
        value += threadIdx.x;
    }
};

__constant__ bumper bump;

struct keeper {
    const float *place;
    __device__ keeper(const float &value) : place(&value)
    {
    }
};

typedef float row[3];

struct rows {
    row first;
    float second[2][3];
};

__device__ const float *address_of(const float &value)
{
    return &value;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void in_parentheses_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float v = 3;
    {
        float(v) = in[i];
        s[t] = v;
        __syncthreads();
        out[i] = s[95 - t] + v;
    }
    out[i] += v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void compared(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, b = 7;
    {
        int a = t<n / 12, b = t>(n / 8);
        s[t] = in[i] + a + b;
        __syncthreads();
        out[i] = s[95 - t] + b + a;
    }
    out[i] += b;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void taken_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, x = 5;
    s[t] = in[i];
    if (t < 50) {
        taker other = x;
        s[t] += taker(x).value + other.value;
    }
    __syncthreads();
    out[i] = s[95 - t] + x;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void bumped(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, x = 5;
    s[t] = in[i];
    bump(x);
    __syncthreads();
    out[i] = s[95 - t] + x;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void bumped_at_once_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, x = 5;
    s[t] = in[i];
    bumper{}(x);
    __syncthreads();
    out[i] = s[95 - t] + x;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void assigned_behind_comma(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, x = 1, y = 2;
    s[t] = in[i];
    (y, x) = t;
    __syncthreads();
    out[i] = s[95 - t] + x + y;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void any_extent_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    int a[] = {t, 2 * t, 3};
    s[t] = in[i] + a[1];
    __syncthreads();
    out[i] = s[95 - t] + a[t % 3];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void attribute_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    [[maybe_unused]] float x = in[i];
    s[t] = x;
    __syncthreads();
    out[i] = s[95 - t] + x;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void kept_address_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float x = in[i];
    keeper keep(x);
    s[t] = x;
    __syncthreads();
    x += s[95 - t];
    __syncthreads();
    out[i] = *keep.place + x;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void returned_address_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float x = in[i];
    const float *p = address_of(x);
    s[t] = x;
    __syncthreads();
    x += s[95 - t];
    __syncthreads();
    out[i] = *p + x;
}

__device__ void number_of(unsigned long long &number, float &value)
{
    number = (unsigned long long)&value;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void number_of_address_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float x = in[i];
    unsigned long long place;
    number_of(place, x);
    s[t] = x;
    __syncthreads();
    *(float *)place += s[95 - t];
    __syncthreads();
    out[i] = x;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void by_function_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float x = in[i], *p = s;
    auto point = [&](float &value) { p = &value; };
    point(x);
    s[t] = x;
    __syncthreads();
    *p += s[95 - t];
    __syncthreads();
    out[i] = x;
}

/* Functions of this form, and casts, keep no address. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void by_value(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float x = in[i];
    auto weigh = [=](float value) { return value * n; };
    s[t] = weigh(x) + (double)(float)(x);
    __syncthreads();
    out[i] = s[95 - t] + x;
}

__device__ int min(int x, rows)
{
    return x + threadIdx.x;
}

struct least {
    static __device__ int max(int x, int y)
    {
        return x + y + threadIdx.x;
    }
};

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void own_least_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    __shared__ rows other;
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    s[t] = in[i];
    if (t == 0)
        other.first[0] = 0;
    __syncthreads();
    int x = min(3, other);
    __syncthreads();
    out[i] = s[95 - t] + x;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void least_of_class_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, x = least::max(3, n);
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + x;
}

#define ADDRESS(name, declaration, address)                                                                         \
    _Pragma("cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])") __global__ void name(const float *in,   \
                                                                                                 int n, float *out) \
    {                                                                                                               \
        __shared__ float s[SIZE];                                                                                   \
        int t = threadIdx.x, i = blockIdx.x * SIZE + t;                                                             \
        float y = 2;                                                                                                \
        declaration;                                                                                                \
        float *p = address;                                                                                         \
        *p = s[t] = in[i];                                                                                          \
        __syncthreads();                                                                                            \
        *p += s[95 - t];                                                                                            \
        __syncthreads();                                                                                            \
        out[i] = *p + y;                                                                                            \
    }

ADDRESS(in_brackets_turns, float x = 1, &(x))
ADDRESS(of_step_turns, float x = 1, &++x)
ADDRESS(of_assignment_turns, float x = 1, &(x = 3))
ADDRESS(of_cast_turns, float x = 1, &(float &)x)
ADDRESS(of_named_cast_turns, float x = 1, &static_cast<float &>(x))
ADDRESS(of_choice_turns, float x = 1, &(t < 5 ? x : y))
ADDRESS(of_comma_turns, float x = 1, &(y, x))
ADDRESS(of_element_turns, float x[3], &(x[1]))
ADDRESS(of_row_turns, float x[2][3]; int k[2] = {}, x[k[0]])
ADDRESS(of_named_array_turns, row x, x)
ADDRESS(of_named_member_turns, rows x, x.first)
ADDRESS(of_member_turns, rows x, x.second[1])
ADDRESS(of_objects_turns, rows x[2], x[1].first)
ADDRESS(of_reference_turns, float x[2] = {}; float *found = s; for (float &r : x) found = &r, found)

struct counted {
    float v;
    __device__ explicit counted(float v) : v(v)
    {
    }
    __device__ operator float() const
    {
        return v;
    }
};

template <typename T> __device__ float first_of(T v)
{
    return __shfl_sync(0xffffffffu, (float)v, 0);
}

/* The class has no constructor without arguments. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void classes_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    counted v(in[i]);
    float first = first_of<counted>(v);
    out[i] = first;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
#pragma cf instances(f : float)
template <typename T> __global__ void of_number(const T *in, int n, T *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T v = in[i];
    v = first_of<T>(v);
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
#pragma cf instances(f : float; s : short)
template <typename T> __global__ void of_some_class_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T v = in[i];
    v = first_of<T>(v);
    out[i] = v;
}
