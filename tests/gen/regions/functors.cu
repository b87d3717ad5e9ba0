/* functors.cu - kernels for test_regions.c that call function objects without data, and functions that take references
 * to constants. A name that ends in _turns is of a kernel without regions. */
#define SIZE 96
#define ALL 0xffffffffu

template <typename T> struct most {
    static __device__ T least() { return -1000; }
    __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
template <typename T> struct sum {
    static __device__ __forceinline__ T least() { return 0; }
    __device__ __forceinline__ T operator()(const T &a, const T &b) const { return a + b; }
};
struct middle {
    __device__ float operator()(const float a, const float &b) const
    {
        float half = a / 2;
        half += b / 2;
        return half;
    }
};
struct least_of_any {
    template <typename T> __device__ T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};

template <template <typename> class Op, typename T, int W> __device__ T of_lanes(T v)
{
    Op<T> op;
    for (int k = W / 2; k > 0; k /= 2)
        v = op(v, __shfl_xor_sync(ALL, v, k, W));
    return v;
}

template <typename T, typename Op> __device__ T of_warp(T v, Op op)
{
    for (int k = 16; k > 0; k /= 2)
        v = op(v, __shfl_xor_sync(ALL, v, k));
    return v;
}

template <typename Op, typename T> __device__ T of_pairs(const T &own)
{
    T v = Op()(own, __shfl_xor_sync(ALL, own, 1));
    return Op{}(v, __shfl_down_sync(ALL, v, 2));
}

template <typename T, typename Op> __device__ T of_block(T v, Op op, T none)
{
    __shared__ T warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = of_warp(v, op);
    __syncthreads();
    if (lane == 0)
        warps[warp] = v;
    __syncthreads();
    v = lane < SIZE / 32 ? warps[lane] : none;
    return of_warp(v, op);
}

template <typename T, int N, typename Op> __device__ T of_tree(T *s, const T &v, const Op &op)
{
    s[threadIdx.x] = v;
    __syncthreads();
    for (int k = N; k > 0; k /= 2) {
        if (threadIdx.x < k && threadIdx.x + k < SIZE)
            s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + k]);
        __syncthreads();
    }
    return s[0];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void functors(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    v += of_lanes<most, float, 16>(v);
    v += of_warp(v, middle());
    v += of_warp<float, sum<float>>(in[i], sum<float>{});
    v += of_pairs<least_of_any>(v) + threadIdx.x;
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void functors_of_blocks(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const sum<float> op;
    auto other = most<float>();
    float v = of_block(in[i], op, sum<float>::least());
    float w = of_block<float>(other(in[i], v / SIZE), other, most<float>::least());
    v += of_tree<float, 64>(s, w * 2, middle());
    out[i] = v + w;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
#pragma cf instances(f32: float, 8)
template <typename T, int W> __global__ void functors_of_instance(const T *in, int n, T *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T v = most<T>::least();
    for (int k = 0; k < 3; k++)
        v = most<T>()(v, in[(i + 7 * k) % n]);
    v = of_lanes<most, T, W>(v);
    out[i] = v + of_lanes<sum, T, W>(in[i]);
}

/* An object with data is no function. */
struct scaled {
    float by;
    __device__ float operator()(float a, float b) const { return a * by + b; }
};

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void functor_with_data_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = of_warp(in[i], scaled{0.5f});
}

/* An object whose function changes its argument is no plain function. */
struct taken {
    __device__ float operator()(float &a, float b) const { return a += b; }
};

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void functor_with_effect_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], w = of_warp(v, taken());
    out[i] = v + w;
}

/* Records of numbers hold no addresses. */
struct moments {
    float mean, squares, count;
};

__device__ moments joined(const moments &a, const moments &b)
{
    moments both;
    both.count = a.count + b.count;
    float apart = b.mean - a.mean, part = b.count / both.count;
    both.mean = a.mean + apart * part;
    both.squares = a.squares + b.squares + apart * apart * a.count * part;
    return both;
}

__device__ void join(moments &a, const moments &b)
{
    a = joined(a, b);
}

__device__ moments of_lane(const moments &own, const int &by)
{
    moments other;
    other.mean = __shfl_xor_sync(ALL, own.mean, by);
    other.squares = __shfl_xor_sync(ALL, own.squares, by);
    other.count = __shfl_xor_sync(ALL, own.count, by);
    return other;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void references_to_records(const float *in, int n, float *out)
{
    __shared__ moments s[SIZE / 32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    moments own = {in[i], 0, 1};
    for (int k = 8; k > 0; k /= 2)
        own = joined(own, of_lane(own, k));
    moments other = of_lane(own, 8 * 2);
    join(own, other);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = own;
    __syncthreads();
    for (int k = 0; k < SIZE / 32; k++)
        join(own, s[k]);
    out[i] = own.mean + own.squares / own.count;
}

/* The reference leads to memory that the function changes. */
__device__ float first_of(const float &v, float *s)
{
    s[threadIdx.x] += 1;
    __syncthreads();
    return v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void reference_to_shared_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = in[i];
    __syncthreads();
    float v = first_of(s[threadIdx.x], s);
    out[i] = v;
}

/* The record holds the address of a variable that lives across the barrier. */
struct placed {
    float *at;
};

__device__ placed place_of(float &v)
{
    return {&v};
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void reference_in_record_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    placed place = place_of(v);
    __syncthreads();
    *place.at += 1;
    out[i] = v;
}
