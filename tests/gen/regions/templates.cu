/* templates.cu - kernels for test_regions.c that call function templates with shuffles and barriers, and functions with
 * references. A name that ends in _turns is of a kernel without regions. All have n / 96 blocks of 96 threads and one
 * element to a thread. */
#define SIZE 96
#define ALL 0xffffffffu

template <typename T, int lanes> __device__ __inline__ T sum_of_lanes(T v)
{
#pragma unroll
    for (int k = lanes / 2; k > 0; k /= 2)
        v += __shfl_xor_sync(ALL, v, k, 32);
    return v;
}

/* Each instance has memory of its own, which stays the same between its calls. */
template <typename T, unsigned int scale> __device__ T all_of_block(T v)
{
    static __shared__ T of_warps[32];
    __shared__ static int calls[scale];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = sum_of_lanes<T, 32>(v);
    if (lane == 0)
        of_warps[warp] = v;
    if (threadIdx.x == 0)
        calls[0] = v > 50000 ? 1 : calls[0] + 1;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? of_warps[lane] : (T)0;
    v = sum_of_lanes<T, 32>(v);
    if (threadIdx.x == 0)
        of_warps[0] = v;
    __syncthreads();
    v = of_warps[0] * (-1 < scale ? 1 : 2) + calls[0];
    __syncthreads();
    return v;
}

__device__ void spread(float &least, float &most, const int &by)
{
    for (int k = 16; k > 0; k >>= 1) {
        least = fminf(least, __shfl_xor_sync(ALL, least, k));
        most = fmaxf(most, __shfl_xor_sync(ALL, most, k) + by);
    }
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void instances(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    float sum = all_of_block<float, 1>(v + 2000);
    int other = 3, whole;
    whole = all_of_block<int, 1>(v + 2000);
    sum += all_of_block<float, 1>(v);
    whole += all_of_block<int, 1>(v * 3);
    whole += all_of_block<int, 2>(3000);
    other = sum_of_lanes<float, 8>(other + threadIdx.x / 2);
    out[i] = sum + whole + other * v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
#pragma cf instances(f: float)
template <typename T> __global__ void of_templates(const T *in, int n, T *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T v = in[i];
    v = all_of_block<T, 1>(v + 4000);
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void references(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, by = threadIdx.x / 32;
    float least = in[i], most = least;
    spread(least, most, by);
    for (int k = 0; k < 2; k++)
        spread(most, least, k);
    out[i] = least * 100 + most;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void converted_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float both[2] = {in[i], in[i]};
    spread(both[0], both[1], 2);
    out[i] = both[0] + both[1];
}

__device__ float moved(float &v)
{
    v = __shfl_xor_sync(ALL, v, 1);
    return v + 1;
}

/* Compilers may read the variable first. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void moved_beside_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], sum;
    sum = v * 0 + moved(v);
    out[i] = sum;
}

template <typename T, int by = 1> __device__ T neighbour(T v)
{
    return __shfl_xor_sync(ALL, v, by);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void defaults(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = neighbour<float>(in[i]);
    out[i] = v;
}

/* Constants are template arguments of functions with __shared__ memory of their own. */
constexpr int of_file = SIZE / 32, of_more = 5, of_most{of_file * 2};
enum { of_names = 3, of_next };

template <typename T, int warps = of_file, typename S = float> __device__ S kept(T v)
{
    __shared__ T part[warps];
    __shared__ int calls[1];
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    if (threadIdx.x == 0)
        calls[0] = v > 50000 ? 1 : calls[0] + 1;
    __syncthreads();
    S sum = 0;
    for (int k = 0; k < 3; k++)
        sum += part[k];
    sum += warps * 100 + calls[0];
    __syncthreads();
    return sum;
}

/* Calls with equal values use one instance, which counts its calls. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void constants_of_shared(const float *in, int n, float *out)
{
    constexpr int warps = 3, lanes = 32;
    static constexpr unsigned more = warps + 1u;
    const int five{5};
    constexpr auto whole = lanes * warps;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    float sum = kept<float, warps>(60000);
    sum += kept<float, 3>(v);
    sum += kept<float>(v);
    sum += kept<float, of_file>(v) * 2;
    sum += kept(v) * 3;
    sum += kept<float, whole / lanes>(v) * 4;
    sum += kept<float, of_names>(v) * 5;
    sum += kept<float, more>(60000);
    sum += kept<float, of_next>(v);
    sum += kept<float, 2 * 2>(v);
    sum += kept<float, five>(60000);
    sum += kept<float, of_more>(v);
    sum += kept<float, of_most>(60000);
    sum += kept<float, 6>(v);
    out[i] = sum;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
#pragma cf instances(three: 96)
template <int size = 96> __global__ void hidden_constants(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = kept<float, size / 32>(60000);
    {
        constexpr int of_more = 3;
        sum += kept<float, size / 32>(of_more);
    }
    out[i] = sum + in[i];
}

/* A local variable has the name of a constant of the file. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void local_constants(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    float sum = kept<float, of_more>(60000);
    {
        constexpr int of_more = 4;
        sum += kept<float, of_more>(60000) * 2;
        sum += kept<float, of_more>(v) * 3;
    }
    sum += kept<float, of_more>(5);
    out[i] = sum;
}

/* Members and elements tell the types of template parameters, and calls and shuffles are in braces. */
struct moments {
    float mean, square;
    int count;
};

template <typename T> __device__ T next_of(T v, int k)
{
    return __shfl_down_sync(ALL, v, k);
}

template <int count> __device__ void sum_each(float *v)
{
    for (int k = 16; k > 0; k /= 2)
        for (int j = 0; j < count; j++)
            v[j] += __shfl_xor_sync(ALL, v[j], k) / 2;
}

__device__ void count_votes(int counts[2], const float *x, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        for (int j = 0; j < 2; j++)
            counts[j] += __popc(__ballot_sync(ALL, x[i] > 3 + j));
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void types_of_members(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    moments m;
    m.mean = in[i];
    m.count = i % 7;
    m.square = next_of(m.mean, 1);
    m.count = next_of(m.count, 2);
    float pair[2] = {m.mean, 2};
    pair[1] = next_of(pair[0], 3);
    out[i] = m.square + m.count + pair[1];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void values_in_braces(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    float pair[2] = {__shfl_down_sync(ALL, v, 1), v};
    moments m = {next_of<float>(v, 1), next_of<float>(v, 2), 3};
    m = moments{__shfl_xor_sync(ALL, v, 1), m.mean + m.square, m.count + 1};
    out[i] = pair[0] + pair[1] + m.mean * m.square + m.count;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void constants_as_arguments(const float *in, int n, float *out)
{
    constexpr int count = SIZE > 64 ? 2 : 1;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[count] = {in[i], 1};
    sum_each<count>(v);
    out[i] = v[0] + v[1];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void counts_by_votes(const float *in, int n, float *out)
{
    int counts[2] = {0, 0}, i = blockIdx.x * blockDim.x + threadIdx.x;
    count_votes(counts, in, n);
    out[i] = counts[0] + 2 * counts[1];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void named_casts(const float *in, int n, float *out)
{
    __shared__ int s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = reinterpret_cast<const int *>(in)[i];
    __syncthreads();
    reinterpret_cast<int *>(out)[i] = s[SIZE - 1 - t];
}
