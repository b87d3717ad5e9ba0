/* doubts.cu - kernels for test_regions.c in which names, barriers and variables are easily taken for something else. A
 * name that ends in _turns is of a kernel without regions. All have n / 96 blocks of 96 threads and one element to a
 * thread. */
#define SIZE 96

__shared__ int flag;
__device__ int counter;

struct indexed {
    int value;
    __device__ indexed(int base) : value(base + threadIdx.x)
    {
    }
};

struct adder {
    int base;
    __device__ int operator()(int x) const
    {
        return x + base + threadIdx.x;
    }
    __device__ operator int() const
    {
        return base + 2 * threadIdx.x;
    }
};

__constant__ adder of_file = {5};

struct fixed {
    const int first;
    int second;
};

typedef float three[3];
typedef int number;
typedef int &reference;

struct reader {
    int next;
    __device__ reader &operator>>(int &value)
    {
        value = next++;
        return *this;
    }
};

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void in_lambda_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    s[t] = in[i];
    auto get = [&](int k) {
        __syncthreads();
        return s[k];
    };
    out[i] = get(95 - t);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void in_expression_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    s[t] = in[i], __syncthreads();
    out[i] = s[95 - t];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void in_cast_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    s[t] = in[i];
    (void)__syncthreads();
    out[i] = s[95 - t];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void in_header_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, k;
    s[t] = in[i];
    float sum = 0;
    for (k = 0, __syncthreads(); k < 3; k++)
        sum += s[(95 - t + k) % SIZE];
    out[i] = sum;
}

/* Only the first block uses the variable of the device. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void data_changes(const float *in, int n, float *out)
{
    int t = threadIdx.x;
    out[blockIdx.x * SIZE + t] = in[blockIdx.x * SIZE + t];
    if (blockIdx.x == 0) {
        if (t == 0)
            counter = n;
        __syncthreads();
        int x = counter + t;
        __syncthreads();
        if (t == 0)
            counter = 50;
        __syncthreads();
        out[t] = x;
    }
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void shared_changes(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    if (t == 0)
        flag = (int)in[i];
    __syncthreads();
    int x = flag + t;
    __syncthreads();
    if (t == 0)
        flag = 50;
    __syncthreads();
    out[i] = x + flag;
}

#pragma cf kernel blocks(n) block(1) in(in[n]) out(out[n])
__global__ void read_after_write(const float *in, int n, float *out)
{
    __shared__ float s[1];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x];
    __syncthreads();
    flag = t + (int)s[0];
    int after = flag + 1;
    s[0] = after;
    float next = s[0] + 1;
    out[blockIdx.x] = next;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void same_names(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    int k = 3;
    int x = t + k;
    int y = t + n;
    float sum = 0, v = in[i];
    s[t] = v;
    for (int k = 0; k < 3; ++k) {
        __syncthreads();
        sum += x + s[(t + k) % SIZE];
    }
    for (int n = 0; n < 2; n++) {
        __syncthreads();
        sum += y;
    }
    for (int r = 0; r < 2; r++) {
        float w = v + r;
        s[t] += w + v;
        float v = s[t] * 2 + w;
        __syncthreads();
        s[t] = v;
        sum += v;
        __syncthreads();
    }
    out[i] = sum + v + k + n;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void lasting(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float sum = 0;
    for (int r = 0; r < 2; r++) {
        __shared__ float s[SIZE];
        if (r == 0)
            s[t] = in[i];
        else
            sum += s[95 - t];
        __syncthreads();
    }
    out[i] = sum;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void words_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    s[t] = in[i];
    __syncthreads();
    float v = 0;
    if (t < 40 bitand n)
        v = s[95 - t];
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void declared_late(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x;
    int x = n, step = n / SIZE;
    s[t] = in[blockIdx.x * SIZE + t];
    __syncthreads();
    number sum = 0;
    for (number k = 0; k < step; k++) {
        __syncthreads();
        sum += (int)s[(t + k) % SIZE];
    }
    out[blockIdx.x * SIZE + t] = sum + x;
}

/* No thread runs the loop, whose counter would not grow. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void never(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, none = n - gridDim.x * SIZE;
    float v = in[i];
    s[t] = v;
    __syncthreads();
    if (t < none)
        for (int k = 0; k < 64; k += none)
            v += s[t];
    out[i] = v;
    if (t >= none)
        return;
    for (int k = 0; k < 64; k += none)
        s[t] += k;
    __syncthreads();
    out[i] = s[95 - t];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void constants(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    const fixed pair = {t, n};
    three row = {in[i], 2, 3};
    s[t] = row[0];
    row[1] = t;
    __syncthreads();
    row[2] += s[95 - t];
    fixed other = {n, t};
    __syncthreads();
    other.second += pair.first;
    out[i] = pair.first + pair.second + row[1] + row[2] + other.second + other.first;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void addresses_turns(const float *in, int n, float *out)
{
    __shared__ float *places[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float x = in[i], y = x;
    float *place = &x;
    unsigned long long number = (unsigned long long)&y;
    places[t] = place;
    __syncthreads();
    *places[95 - t] += t;
    *(float *)number = 9;
    __syncthreads();
    out[i] = x + y;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void converted(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    indexed x = n;
    adder add = of_file;
    int first = of_file(3), second = add(4), third = add;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + x.value + first + second + third + of_file;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void named_reference_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    int x = 0;
    reference r = x;
    r = t;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + x;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void read_by_operator_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    int x = 0;
    reader source = {t};
    source >> x;
    s[t] = in[i];
    __syncthreads();
    source >> x;
    out[i] = s[95 - t] + x;
}

/* Several names mean the same places in shared memory. */
#pragma cf kernel blocks(n / SIZE) block(SIZE / 2) in(in[n]) out(out[n])
__global__ void reread_shared(const float *in, int n, float *out)
{
    __shared__ float s[SIZE + 1];
    int t = threadIdx.x, i = blockIdx.x * SIZE + 2 * t;
    float *p = s + n % 2, *q = s;
    s[2 * t] = in[i];
    s[2 * t + 1] = in[i + 1];
    __syncthreads();
    float a = q[2 * t];
    p[2 * t + 1] = a * 2;
    float b = q[2 * t + 1];
    p[2 * t] = b + 3;
    a += q[2 * t];
    out[i] = a;
    out[i + 1] = b;
}

/* The second element belongs to all blocks. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void pointers_of_all(const float *in, int n, float *out)
{
    __shared__ float *c[2];
    __shared__ float sums[2];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    if (t < 2) {
        c[t] = out + blockIdx.x * SIZE;
        sums[t] = 0;
    }
    out[i] = in[i];
    __syncthreads();
    atomicAdd(&c[1][0], 0.5f);
    atomicAdd(&sums[t & 1], 0.5f);
    __syncthreads();
    if (t == 1)
        out[i] = sums[0] + sums[1];
}
