"""suggest_sound.py - input files of test_suggest.py with accesses that --suggest once misread. An extent that it cannot
prove has to stay a comment."""

from suggest_cases import Case

SOUND_CASES = [
    Case('groups_of_eight', '''__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i + 7 < n) {
        *(float4 *)&c[i] = *(const float4 *)&a[i];
        *reinterpret_cast<float4 *>(c + i + 4) = *(const float4 *)(b + i + 4);
    }
}
__global__ void plain(const float *a, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n)
        c[i] = a[i + 1] - a[i];
}
template <typename T> __global__ void unknown(T *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        *(float4 *)&c[4 * i] = float4{};
}
void host(const float *a, float *c, int n)
{
    plain<<<(n + 127) / 128, 128>>>(a, c, n);
    unknown<<<(n + 127) / 128, 128>>>(c, n);
}
''', '''#pragma cf kernel grid(/* threads? */) in(a[n], b[n]) inout(c[n])
#pragma cf kernel grid(n) block(128) in(a[n]) inout(c[n - 1])
#pragma cf kernel grid(n) block(128) inout(c[/* elements? */])
#pragma cf instances(f32: float)'''),

    Case('vectors_of_a_cast', '''__global__ void copy(const float *__restrict__ x, float *y, int n4)
{
    const float4 *x4 = (const float4 *)x;
    float4 *y4 = reinterpret_cast<float4 *>(y);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4)
        y4[i] = __ldg(x4 + i);
}
__global__ void bytes(const float *x, float4 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ((float *)y)[i] = ((const char *)x)[i];
}
void host(const float *x, float *y, int n)
{
    copy<<<(n + 127) / 128, 128>>>(x, y, n);
    bytes<<<(n + 127) / 128, 128>>>(x, (float4 *)y, n);
}
''', '''#pragma cf kernel grid(n4) block(128) in(x[4 * n4]) inout(y[4 * n4])
#pragma cf kernel grid(n) block(128) in(x[/* elements? */]) inout(y[/* elements? */])'''),

    Case('lanes_that_stride', '''__global__ void softmax(float *out, const float *in, int n, int c)
{
    int t = threadIdx.x;
    const float *x = in + blockIdx.x * c;
    float *y = out + blockIdx.x * c;
    if (t >= c) return;
    for (int i = t % 32; i < c; i += 32)
        y[i] = x[i];
}
void host(float *out, const float *in, int n, int c) { softmax<<<n, 128>>>(out, in, n, c); }
''', '''#pragma cf kernel blocks(n) block(128) in(in[n][c]) inout(out[n][c])'''),

    Case('lambda_with_a_counter', '''__device__ void load(const float *in, int pos, float *v)
{
    auto get = [&]() { return in[pos + 1]; };
    v[0] = get(); ++pos;
    v[1] = get(); ++pos;
    v[2] = get(); ++pos;
    v[3] = get(); ++pos;
}
__global__ void decode(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v[4];
    load(in, 4 * i, v);
    for (int k = 0; k < 4; k++) out[4 * i + k] = v[k];
}
__global__ void steps(const float *x, float *y, const float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = 0;
    if (i >= n) return;
    y[i] = x[++j] + z[i];
    auto twice = [=](int i) { return 2 * z[i]; };
    y[i] += twice(2 * n);
}
void host(const float *in, float *out, int n)
{
    decode<<<(n + 127) / 128, 128>>>(in, out, n);
    steps<<<(n + 127) / 128, 128>>>(in, out, in, n);
}
''', '''#pragma cf kernel grid(n) block(128) in(in[/* elements? */]) inout(out[n][4])
#pragma cf kernel grid(n) block(128) in(x[/* elements? */], z[/* elements? at least n */]) \\
    inout(y[n])'''),

    Case('constants_of_the_launching_function', '''template <typename T, int W> __global__ void fill(T *x, int n)
{
    int i = blockIdx.x * W + threadIdx.x;
    if (i < n) x[i] = 0;
}
template <typename T> void twice(T *x, int n)
{
    constexpr int half = 32;
    typedef T own;
    const int width = 2 * half;
    fill<own, width><<<(n + width - 1) / width, width>>>(x, n);
}
void host(float *x, double *y, int n)
{
    constexpr int W = 128;
    using real = float;
    fill<real, W><<<(n + W - 1) / W, W>>>(x, n);
    twice<double>(y, n);
}
''', '''#pragma cf kernel grid(n) block(W) inout(x[n])
#pragma cf instances(f64_64: double, 64; f32_128: float, 128)'''),

    Case('kernel_that_launches', '''__global__ void child(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0;
}
__global__ void parent(float *x, int n)
{
    if (threadIdx.x == 0) child<<<(n + 255) / 256, 256>>>(x, n);
}
void host(float *x, int n) { parent<<<1, 1>>>(x, n); }
''', '''#pragma cf kernel grid(n) inout(x[n])''', notes=['note: parent gets no annotation: it launches a kernel']),
]
