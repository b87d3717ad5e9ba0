/* vectors.cu - kernels for test_regions.c with variables of vector types and of small structs that live across barriers
 * and in serial loops. A name that ends in _turns is of a kernel without regions. All have n / 96 blocks of 96 threads
 * and one element to a thread. */
#include <cuda_fp16.h>

#define SIZE 96

struct named {
    int id;
    float x;
};

struct mixed {
    float x;
    short k[2];
};

struct twice {
    double x, y;
};

__device__ named make_named(int id, float x)
{
    return {id, x};
}

__device__ mixed make_mixed(float x, int k)
{
    return {x, {(short)k, (short)(k * 3)}};
}

__device__ void add_to(float3 &sum, float x)
{
    sum.x += x;
    sum.z -= x;
}

/* The sum of the forces of all bodies, in three kinds of vectors. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void forces(const float *in, int n, float *out)
{
    __shared__ float4 body[SIZE];
    const int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    const float4 own = make_float4(in[i], in[(i + 7) % n], in[(i + 31) % n], t);
    float3 sum = {0, 0, 0};
    double2 wide = make_double2(0, 1);
    int2 counts = {0, t};
    for (int first = 0; first < n; first += SIZE) {
        body[t] = make_float4(in[first + t], first, t, in[(first + 2 * t) % n]);
        __syncthreads();
        for (int j = 0; j < SIZE; j++) {
            float x = body[j].x - own.x, y = body[j].z - own.w;
            sum.x += x * body[j].w;
            sum.y += fabsf(y);
            sum.z -= x;
            wide.y += x * y;
            counts.x += x < y;
        }
        __syncthreads();
    }
    out[i] = sum.x + sum.y + sum.z + (float)(wide.x + wide.y) + counts.x + counts.y + own.w;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void of_kinds(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    uchar4 bytes = make_uchar4(t, t + 200, 3, 4);
    short2 low;
    char3 narrow = make_char3(t, -t, 1);
    longlong2 far = make_longlong2((long long)t << 33, -t);
    ulonglong4 farther = make_ulonglong4(t, 2, 3, 1ull << 63);
    float1 one = make_float1(in[i]);
    uint3 three;
    __half2 halves = __floats2half2_rn(in[i], 2.0f);
    dim3 extents(t, 2);
    s[t] = in[i];
    if (t % 3 == 0)
        three.y = 7;
    __syncthreads();
    low = make_short2(t, (short)s[95 - t]);
    three.x = t;
    three.z = 5;
    if (t % 3)
        three.y = t;
    bytes.y += 100;
    narrow.z = (char)-t;
    extents.z += t;
    farther.w += (unsigned long long)t;
    __syncthreads();
    float sum = bytes.x + bytes.y + bytes.z + low.x + low.y + narrow.x + narrow.y + narrow.z + one.x + three.x;
    sum += three.y;
    sum += (float)(far.x >> 33) + (float)far.y + (float)(farther.w >> 60) + (float)farther.x + __high2float(halves);
    out[i] = sum + extents.x + extents.y + extents.z + three.z;
}

/* Auto variables hold structs, whose members are kept, whatever the name of the first member is. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void of_structs(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    auto first = make_named(0x7f800001 + t, in[i]);
    const auto second = make_mixed(in[i], -t);
    auto third = twice{in[i] / 3.0, -0.0};
    auto fourth = make_float3(1, in[i], t);
    s[t] = second.x;
    __syncthreads();
    first.x += s[95 - t];
    first.id ^= t << 3;
    third.y += third.x;
    fourth.y += s[(t + 1) % SIZE];
    __syncthreads();
    out[i] = (float)(first.id & 0xffff) + first.x + second.k[0] + second.k[1] + (float)(third.x + third.y) + fourth.x +
             fourth.y + fourth.z;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void of_references(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float3 sum = {1, 2, 3};
    s[t] = in[i];
    add_to(sum, in[i]);
    __syncthreads();
    add_to(sum, s[95 - t]);
    __syncthreads();
    out[i] = sum.x + sum.y + sum.z;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void of_kept_addresses_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float4 four = make_float4(in[i], 1, 2, 3);
    float *place = &four.y;
    s[t] = in[i];
    __syncthreads();
    *place += s[95 - t];
    four.y *= 2;
    (&four.x)[t % 4] += 5;
    __syncthreads();
    out[i] = four.x + four.y + *place;
}

/* Threads end, and only some threads change a value. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void of_some(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float2 low = make_float2(in[i], t), high = low;
    s[t] = 0;
    if (in[i] > 11)
        return;
    __syncthreads();
    if (t & 1)
        low = make_float2(high.y, high.x);
    else if (t % 5 == 0)
        high.x = -1;
    s[t] = low.x;
    __syncthreads();
    float2 last = low;
    low = high;
    high = last;
    for (int k = 0; k < 3; k++) {
        if (t < 40 + k)
            low.y += high.x * k;
        __syncthreads();
        high.y += s[(t + k) % SIZE];
    }
    out[i] = low.x + low.y * 2 + high.x * 3 + high.y * 4;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void of_lanes(const float *in, int n, float *out)
{
    const int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float4 v = make_float4(in[i], t, in[(i + 1) % n], 1);
    uint2 bits = make_uint2(t, 0);
    for (int k = 16; k > 0; k /= 2) {
        v.x += __shfl_xor_sync(~0u, v.x, k);
        v.y = fmaxf(v.y, __shfl_down_sync(~0u, v.y, k));
        v.w += __shfl_sync(~0u, v.z, k);
    }
    bits.y = __ballot_sync(~0u, v.w > 9);
    out[i] = v.x + v.y + v.z + v.w + __popc(bits.y) + bits.x;
}

struct own_vector { float v, x; };
struct own_quad { float v, x, y, z; };

/* Classes of the file that look like vectors live across barriers as objects. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void own_vectors(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    own_quad d;
    own_vector e = {in[i], 1};
    d.x = in[i];
    s[t] = d.x + e.v;
    __syncthreads();
    d.y = s[SIZE - 1 - t];
    e.x += d.y;
    __syncthreads();
    s[t] = d.x + d.y + e.x;
    __syncthreads();
    out[i] = s[(t + 1) % SIZE] + e.v;
}

struct peak {
    float height, where;
};

__device__ peak higher_of(peak a, const peak &b)
{
    bool is_first = a.height > b.height;
    peak higher = is_first ? a : b;
    peak lower = b;
    const peak other = is_first ? b : a;
    lower = a.height > b.height || a.where < 2 ? b : a;
    higher.where += 0.25f * other.height + lower.where / 8;
    return higher.where > 40 ? lower : higher;
}

struct first_of {
    __device__ peak operator()(const peak &a, const peak &b) const
    {
        return a.where < b.where ? a : b;
    }
};

__device__ peak first_by_value(peak a, peak b)
{
    return first_of()(a, b);
}

using peak_reference = peak &;

__device__ auto higher_place(peak &a, peak &b) -> peak &
{
    return a.height > b.height ? a : b;
}

__device__ peak_reference lower_place(peak &a, peak &b)
{
    return a.height > b.height ? b : a;
}

__device__ float less_raised(peak a, peak b)
{
    peak &less = a.height < b.height ? a : b;
    less.height += 0.5f;
    higher_place(a, b).height += 1;
    lower_place(a, b).height += 2;
    return a.height - b.height / 2;
}

/* Declarations, assignments and results choose between objects by value; the choice of a reference stays one. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void peaks(const float *in, int n, float *out)
{
    __shared__ peak s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    peak own, first;
    own.height = in[i];
    own.where = t;
    first = own;
    for (int k = t; k < n; k += SIZE) {
        peak next;
        next.height = in[k];
        next.where = k % 7;
        own = higher_of(own, next);
        first = next.height < 20 ? first_by_value(first, next) : first;
        first.height += less_raised(own, first);
    }
    s[t] = own;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (t < k && t + k < SIZE)
            s[t] = higher_of(s[t], s[t + k]);
        __syncthreads();
    }
    float2 pair = make_float2(s[0].height, t);
    float2 last = make_float2(first.where, first.height);
    float2 chosen = pair.x < last.y ? pair : last;
    out[i] = chosen.x + chosen.y + own.where + s[t % 4].where;
}

/* Threads access their arrays as vectors, before and after a barrier. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void arrays_as_vectors(const float *in, int n, float *out)
{
    __shared__ float4 s[96];
    float v[8];
    int bits[4] = {1, 2, 3, 4};
    const int t = threadIdx.x, i = blockIdx.x * 96 + t;
    for (int k = 0; k < 8; k++)
        v[k] = in[i] * k + t;
    s[t] = *(float4 *)&v[4];
    *(int2 *)&bits[2] = make_int2(t, 7);
    __syncthreads();
    *reinterpret_cast<float4 *>(&v[0]) = s[95 - t];
    const float2 last = *(const float2 *)&v[2];
    v[7] += (*reinterpret_cast<const int2 *>(&bits[2])).x;
    __syncthreads();
    s[t].y = v[7] + last.y + bits[3];
    __syncthreads();
    out[i] = s[(t + 5) % 96].y + v[0] * 2 + v[5] + bits[0];
}

/* The address of an array's vector, or a reference to the vector, stays. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void addresses_of_vectors_turns(const float *in, int n, float *out)
{
    float v[4] = {1, 2, 3, 4};
    float4 *whole = &*(float4 *)&v[0];
    const int i = blockIdx.x * 96 + threadIdx.x;
    v[1] = in[i];
    __syncthreads();
    out[i] = whole->y + v[2];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void references_to_vectors_turns(const float *in, int n, float *out)
{
    float v[4] = {1, 2, 3, 4};
    float4 &whole = *(float4 *)&v[0];
    const int i = blockIdx.x * 96 + threadIdx.x;
    v[1] = in[i];
    __syncthreads();
    out[i] = whole.y + v[2];
}

/* The arrays of neighbouring threads would not be aligned for the vector. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void odd_array_turns(const float *in, int n, float *out)
{
    float v[6] = {1, 2, 3, 4, 5, 6};
    const int i = blockIdx.x * 96 + threadIdx.x;
    *(float2 *)&v[2] = make_float2(in[i], 5);
    __syncthreads();
    out[i] = v[2] + v[3];
}
