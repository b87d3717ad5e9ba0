/* functions.cu - kernels for test_regions.c that call functions with shuffles and barriers. A name that ends in _turns is
 * of a kernel without regions. All have n / 96 blocks of 96 threads and one element to a thread. */
#define SIZE 96
#define ALL 0xffffffffu

/* The kernels have variables with the names of this function's variables. */
__device__ float sum_of_warp(float v)
{
    for (int k = 16; k > 0; k /= 2)
        v += __shfl_xor_sync(ALL, v, k);
    return v;
}

template <typename T> __device__ __forceinline__ T most_of_warp(T v)
{
    for (int k = 16; k > 0; k >>= 1) {
        T other = __shfl_xor_sync(ALL, v, k);
        v = other > v ? other : v;
    }
    return v;
}

__device__ static float sum_of_block(float v, float *sums)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = sum_of_warp(v);
    if (lane == 0)
        sums[warp] = v;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < blockDim.x / 32; k++)
        sum += sums[k];
    __syncthreads();
    return sum;
}

/* All calls use the same __shared__ memory. */
__device__ float most_of_block(const float v)
{
    __shared__ float of_warps[SIZE / 32], count;
    const float most = most_of_warp(v);
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = most;
    if (threadIdx.x == 0)
        count = v > 1000 ? 1 : count + 1;
    __syncthreads();
    float result = of_warps[0];
    for (int i = 1; i < SIZE / 32; ++i)
        result = fmaxf(result, of_warps[i]);
    result += count;
    __syncthreads();
    return result;
}

__device__ void turn(float *s, int by)
{
    float own = s[(threadIdx.x + by) % SIZE];
    __syncthreads();
    s[threadIdx.x] = own;
    s += 1;
    __syncthreads();
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void block_norm(const float *in, int n, float *out)
{
    __shared__ float s[SIZE / 32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = 3;
    float v = in[i], sum = 2;
    float mean = sum_of_block(v, s) / SIZE;
    sum += sum_of_block((v - mean) * (v - mean), s);
    float scale = 1 / sqrtf(sum_of_block(sum, s) / lane + 1);
    out[i] = (v - mean) * scale + most_of_warp(sum);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void block_most(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i = blockIdx.x * blockDim.x + threadIdx.x, whole = (int)in[i] * 3, k = 7;
    float most = most_of_block(2000);
    for (k = 0; k < 4; k++)
        most += most_of_block(in[i] + k);
    s[threadIdx.x] = in[i];
    __syncthreads();
    turn(s, k);
    for (int k = 0; k < 2; k++)
        turn(s, 2 * k + 1);
    int warp = most_of_warp(whole);
    if (threadIdx.x / 32 == 1)
        warp = sum_of_warp(warp + 1.5f);
    out[i] = most + s[threadIdx.x] + warp + k;
}

__device__ float early(float v)
{
    if (blockIdx.x == 1)
        return v;
    __syncthreads();
    return __shfl_xor_sync(ALL, v, 1);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void early_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = early(in[i]);
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void either_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = blockIdx.x > 1 ? sum_of_warp(in[i]) : 1;
    out[i] = v;
}

__device__ float changed(float &v)
{
    v += 1;
    return __shfl_xor_sync(ALL, v, 1);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void changed_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i], other = changed(v);
    out[i] = v + other;
}

__constant__ float outer = 5;

__device__ float plus_outer(float v)
{
    return outer + __shfl_xor_sync(ALL, v, 1);
}

/* The function means another variable than the kernel by this name. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void hidden_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float outer = in[i];
    float v = plus_outer(outer);
    out[i] = v + outer;
}

/* The function writes memory that the calling statement reads. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void reads_around_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = 0;
    float v = sum_of_block(in[i], s) * 0 + s[3];
    out[i] = v * 0;
}

__device__ float weighted(float v, int by, int plus)
{
    return __shfl_xor_sync(ALL, v, 1) * by + plus;
}

__device__ int take(int &q)
{
    return q *= 2;
}

/* With a single argument, the order of evaluation is known. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void one_argument(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, q = threadIdx.x;
    float v = sum_of_warp(q++);
    v += weighted(in[i], q < 9, q == 9);
    out[i] = v + q;
}

/* Compilers may evaluate the arguments in any order. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void incremented_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, q = threadIdx.x;
    float v = weighted(in[i], q++, q * 2);
    out[i] = v * 0 + q;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void assigned_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, q = threadIdx.x;
    float v = weighted(in[i], q = 3, q);
    out[i] = v * 0 + q;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void shifted_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, q = threadIdx.x;
    float v = weighted(in[i], q, q <<= 1);
    out[i] = v * 0 + q;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void changed_by_call_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, q = threadIdx.x;
    float v = weighted(in[i], take(q), q);
    out[i] = v * 0 + q;
}

/* Vectors and structs are parameters, references and results, and the launch sets the size of memory. */
struct range {
    float low, high;
    int counts[2];
};

__device__ float3 pulls(float4 own, const float *all, range &seen, const range limits)
{
    extern __shared__ float4 tile[];
    float3 sum = {0.0f, 1.0f, 2.0f};
    for (int first = 0; first < 2 * SIZE; first += SIZE) {
        tile[threadIdx.x] = make_float4(all[first + threadIdx.x], own.y, own.z, 2);
        __syncthreads();
        for (int k = 0; k < blockDim.x; k++) {
            float by = tile[k].x - own.x;
            sum.x += by > limits.low ? by : limits.high;
            sum.y += tile[k].y * tile[k].w;
        }
        seen.high = fmaxf(seen.high, tile[(threadIdx.x + 1) % SIZE].x);
        seen.counts[first / SIZE] += threadIdx.x;
        __syncthreads();
    }
    own.x = sum.x;
    sum.z += own.x;
    return sum;
}

__device__ range joined(range a, range b)
{
    return {fminf(a.low, b.low), fmaxf(a.high, b.high), {a.counts[0] + b.counts[0], a.counts[1]}};
}

template <typename T> __device__ T of_first(T v, T *s)
{
    if (threadIdx.x == 0)
        s[0] = v;
    __syncthreads();
    T first = s[0];
    __syncthreads();
    return first;
}

__device__ range range_of_warp(range own)
{
    for (int k = 16; k > 0; k /= 2) {
        range other;
        other.low = __shfl_xor_sync(ALL, own.low, k);
        other.high = __shfl_xor_sync(ALL, own.high, k);
        other.counts[0] = k;
        own = joined(own, other);
    }
    return own;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) shared(SIZE * 16) in(in[n]) out(out[n])
__global__ void structs_of_functions(const float *in, int n, float *out)
{
    __shared__ float4 s[1];
    __shared__ range t[1];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = make_float4(in[i], 2, 3, 4);
    range seen = {in[i], 0, {1, 2}};
    float3 pull = pulls(own, in, seen, seen);
    own = of_first(own, s);
    seen = range_of_warp(seen);
    const range first = of_first<range>(seen, t);
    out[i] = pull.x + pull.y * 2 + pull.z * 4 + own.x + seen.low + seen.high * 2 + seen.counts[0] + first.counts[1] * 3;
}

/* The types of the arguments choose between functions of one name. */
template <int width = 32> __device__ float sum_of_lanes(float v)
{
    for (int k = width / 2; k > 0; k /= 2)
        v += __shfl_xor_sync(ALL, v, k, width);
    return v;
}

template <int width = 32> __device__ int sum_of_lanes(int v)
{
    for (int k = width / 2; k > 0; k /= 2)
        v ^= __shfl_xor_sync(ALL, v, k, width) + 1;
    return v;
}

__device__ float2 sum_of_lanes(float2 v)
{
    for (int k = 16; k > 0; k /= 2) {
        v.x += __shfl_xor_sync(ALL, v.x, k);
        v.y -= __shfl_xor_sync(ALL, v.y, k);
    }
    return v;
}

__device__ float sum_of_lanes(float v, float factor)
{
    v += factor * __shfl_xor_sync(ALL, v, 1);
    return v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void by_types_of_arguments(const float *in, int n, float *out)
{
    const int i = blockIdx.x * SIZE + threadIdx.x;
    float sum = in[i], part[2] = {in[i] + 1, 2};
    int bits = (int)in[i];
    float2 both = make_float2(in[i], in[i] / 3);
    sum = sum_of_lanes(sum);
    bits = sum_of_lanes<8>(bits);
    part[0] = sum_of_lanes<16>(part[0]);
    both = sum_of_lanes(both);
    part[1] = sum_of_lanes(both.y, sum);
    out[i] = sum + bits * 0.25f + part[0] * both.x + both.y + part[1];
}

/* A conversion chooses the function, which the generator does not follow. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void by_conversion_turns(const float *in, int n, float *out)
{
    const int i = blockIdx.x * SIZE + threadIdx.x;
    short bits = (short)in[i];
    out[i] = sum_of_lanes(bits);
}

/* The kernel sees only the first of these functions. */
__device__ double first_of_warp(double v)
{
    return __shfl_sync(ALL, v, 0) + 0.5;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void sees_one_turns(const float *in, int n, float *out)
{
    const int i = blockIdx.x * SIZE + threadIdx.x;
    float first = in[i];
    out[i] = first_of_warp(first);
}

__device__ float first_of_warp(float v)
{
    return __shfl_sync(ALL, v, 0);
}

/* The function returns further results by pointers to variables of its caller. */
__device__ int rank_of(bool is_set, int *total, float *most, const int *before, int *counts)
{
    const unsigned int set = __ballot_sync(ALL, is_set);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0)
        counts[warp] = __popc(set);
    __syncthreads();
    int rank = __popc(set & ((1u << lane) - 1)) + *before;
    *total = 0;
    for (int k = 0; k < SIZE / 32; k++) {
        rank += k < warp ? counts[k] : 0;
        *total += counts[k];
    }
    __syncthreads();
    *most = 3 * *total > *most ? *total : *most;
    ++*total;
    return rank;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void results_by_pointers(const float *in, int n, float *out)
{
    __shared__ int counts[SIZE / 32];
    const int i = blockIdx.x * SIZE + threadIdx.x;
    int before = (int)in[i] % 7, all;
    float most = in[i] * 11;
    for (int bit = 0; bit < 3; bit++) {
        const int rank = rank_of(((int)in[i] >> bit) % 2 != 0, &all, &most, &before, counts);
        before += rank * all;
    }
    out[i] = before % 100000 + most;
}

/* A pointer that moves, and one that is read as an array, stay addresses. */
__device__ float next_of(float *v, int *count)
{
    float first = *v++;
    count[0] += (int)__shfl_xor_sync(ALL, first, 1);
    return first;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void moved_pointer_turns(const float *in, int n, float *out)
{
    const int i = blockIdx.x * SIZE + threadIdx.x;
    float v = in[i];
    int count = 1;
    v += next_of(&v, &count);
    out[i] = v + count;
}
