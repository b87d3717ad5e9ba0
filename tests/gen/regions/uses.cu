/* uses.cu - kernels for test_regions.c with variables that change, or whose addresses are taken, in places that do not
 * look so, and with guards whose value is easily mistaken. A name that ends in _turns is of a kernel without regions.
 * All have n / 96 blocks of 96 threads and one element to a thread. */
#define SIZE 96

struct accum {
    float sum;
    __device__ accum &operator<<(float v)
    {
        sum += v;
        return *this;
    }
};
__constant__ accum none = {1};
__device__ accum make_accum(float v)
{
    accum a = {v};
    return a;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void changed_by_operator(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    accum acc = none;
    s[t] = in[i];
    acc << in[i];
    __syncthreads();
    out[i] = s[95 - t] + acc.sum;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void auto_changed_by_operator(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    auto acc = make_accum(t);
    s[t] = in[i];
    __syncthreads();
    acc << s[95 - t];
    __syncthreads();
    out[i] = s[95 - t] + acc.sum;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void changed_pointer(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    const float *p = in;
    const float *&r = p;
    r += i;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + *p;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void changed_by_capture(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, x = 3;
    auto add = [&, &r = x](int by) { r += by; };
    add(t);
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + x;
}

typedef int &reference;
__device__ void bump(reference x)
{
    x += threadIdx.x;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void named_reference_of_call_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, x = 3;
    bump(x);
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + x;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void reference_of_lambda_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float x = 3;
    auto get = [&]() -> float & { return x; };
    get() += t;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + x;
}

struct tally {
    int sum;
    friend __device__ void bump(tally &t, int by)
    {
        t.sum += by;
    }
    friend __device__ void bump_number(tally, int &x, int by)
    {
        x += by;
    }
};
__constant__ tally no_tally = {1};

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void changed_by_friend_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    tally own = no_tally;
    bump(own, t);
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + own.sum;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void number_changed_by_friend(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, x = 3;
    bump_number(no_tally, x, t);
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + x;
}

__device__ float *places[480];
__device__ void keep_second(float *p, int i)
{
    places[i] = p;
}
__device__ void keep_first(float *p, int i)
{
    keep_second(p, i);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void address_kept_by_callee_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float x = in[i];
    keep_first(&x, i);
    s[t] = x;
    __syncthreads();
    *places[i] += s[95 - t];
    __syncthreads();
    out[i] = x;
}

struct stack {
    int data[4];
    int *top;
    __device__ stack() : top(data)
    {
    }
    __device__ void push(int x)
    {
        *top++ = x;
    }
};

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void address_in_object_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    stack own;
    own.push(t);
    own.push(2 * t);
    s[t] = in[i];
    __syncthreads();
    own.push(t + 5);
    __syncthreads();
    out[i] = s[95 - t] + own.data[0] + own.data[1] + own.data[2] + own.top[-1];
}

struct buffer {
    float d[4];
    __device__ operator float *()
    {
        return d;
    }
};

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void converted_to_address_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    buffer b = {{1, 2, 3, 4}};
    float *p = b;
    p[1] = in[i];
    s[t] = in[i];
    __syncthreads();
    p[2] = s[95 - t];
    __syncthreads();
    out[i] = b.d[1] + b.d[2];
}

struct handle {
    float d[4];
    __device__ float &operator*()
    {
        return d[1];
    }
    __device__ handle *operator->()
    {
        return this;
    }
};
__constant__ handle first_handle = {{1, 2, 3, 4}};

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void by_arrow_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    handle h = first_handle;
    h->d[2] = t;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + h.d[2];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void by_star_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    handle h = first_handle;
    float *p = &*h;
    s[t] = in[i];
    *p = t;
    __syncthreads();
    *p += s[95 - t];
    __syncthreads();
    out[i] = h.d[1];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void shadowed_guard(const float *in, int n, float *out)
{
    const int m = n - 480;
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, x = m + 50;
    float v = in[i];
    s[t] = v;
    __syncthreads();
    if (t < x) {
        int x = 7;
        for (int k = 0; k < x; k++)
            v += s[k] * 0.5f + s[t];
    }
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void x_is_no_index(const float *in, int n, float *out)
{
    const int m = n - 480;
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, x = m - 5;
    unsigned int y = threadIdx.x + x;
    float v = in[i];
    s[t] = v;
    __syncthreads();
    if (y < 7) {
        v += 1000;
    }
    out[i] = v + s[95 - t];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void signed_x_is_no_index(const float *in, int n, float *out)
{
    const int m = n - 480;
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, x = m - 5;
    int y = threadIdx.x + x;
    float v = in[i];
    s[t] = v;
    __syncthreads();
    if (y < 7u) {
        v += 1000;
    }
    out[i] = v + s[95 - t];
}

#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void rounded_guard(const float *in, int n, float *out)
{
    __shared__ float s[6][16];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.x * SIZE + ty * 16 + tx;
    int half = ty * 0.5f;
    float v = in[i];
    s[ty][tx] = v;
    __syncthreads();
    if (half && tx < 10) {
        v += 1000;
    }
    out[i] = v + s[5 - ty][tx];
}

#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void narrow_guard(const float *in, int n, float *out)
{
    __shared__ float s[6][16];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.x * SIZE + ty * 16 + tx;
    unsigned char low = ty * 256;
    float v = in[i];
    s[ty][tx] = v;
    __syncthreads();
    if (low && tx < 10)
        v += 1000;
    out[i] = v + s[5 - ty][tx];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void below_zero_again(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    unsigned int low = t * -2.5f;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + low;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void rounded_once(const float *in, int n, float *out)
{
    const int m = n - 480;
    __shared__ int s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float scale = 0.1f + m;
    int x = (t * scale - 1.0f) * 1e9f;
    s[t] = x;
    out[i] = t * scale;
    __syncthreads();
    out[i] = x - s[t];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void asked_once(const float *in, int n, float *out)
{
    const int m = n - 480;
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float scale = 0.1f + m, v = 0, w = 0, u = 0;
    s[t] = in[i];
    __syncthreads();
    if (t * scale - 1.0f > 0) {
        u = t * scale;
        w = 1;
        for (int k = 0; k < n; k++)
            v += s[t] * k;
        w += v > 0;
    }
    out[i] = w + u * 0;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void wrapped_seed(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    int seed = t * 1103515245 + 12345;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[95 - t] + (seed & 0xfff);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void converted_guards(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    int lo = t - 3, hi = lo + 8;
    unsigned u = lo, w = hi;
    size_t wide = lo;
    float v = in[i];
    s[t] = v;
    __syncthreads();
    if (u < 5)
        v += 100;
    if (w - 1 < 9)
        v += 200;
    if (wide < 6)
        v += 800;
    if (lo < 4u)
        v += 1600;
    if (t + lo < 9)
        v += 3200;
    out[i] = v + s[95 - t];
}

/* The block sets `column`, and `row` changes behind the indices that are computed from it. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void set_in_branches(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int row, column;
    if (n % 5 < 3) {
        row = blockIdx.x;
        column = (blockIdx.x + n) % 7;
    } else {
        int all = blockIdx.x + gridDim.x;
        row = all % gridDim.x;
        column = all / gridDim.x;
    }
    int from = row * SIZE + threadIdx.x, of = column * 3 + threadIdx.x;
    s[threadIdx.x] = in[from];
    __syncthreads();
    out[from] = s[95 - threadIdx.x] + of;
    row += column;
    int end = row + threadIdx.x;
    for (int k = 0; k < 3; k++) {
        int at = row + threadIdx.x;
        __syncthreads();
        s[threadIdx.x] += at % 7 + end;
        row += k;
        __syncthreads();
        out[from] += s[95 - threadIdx.x] + at;
    }
}

/* Short loops stay in one region, so that their counters are known only there. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void counted_in_region(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x;
    float v = 0;
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * SIZE + k * 24 + t;
        if (i < n)
            v += in[i];
    }
    s[t] = v;
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        int i = blockIdx.x * SIZE + k * 32 + t;
        if (t < 32 && i < n)
            out[i] = s[95 - (k * 32 + t) % 96] + k;
    }
}

/* Enumerations within the kernel name numbers. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void names_of_numbers(const float *in, int n, float *out)
{
    enum { LANES = 32, WARPS = SIZE / LANES, PAD };
    __shared__ float s[WARPS][LANES + PAD];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    s[warp][lane] = in[blockIdx.x * SIZE + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int w = 0; w < WARPS; w++) {
        enum { STEP = 2 };
        sum += s[w][(lane + w * STEP) % LANES];
        __syncthreads();
        s[w][lane] = lane << STEP;
        __syncthreads();
    }
    out[blockIdx.x * SIZE + threadIdx.x] = sum;
}

/* The name of a number hides that of a variable. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void hidden_by_number_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int k = (int)in[threadIdx.x];
    s[threadIdx.x] = in[blockIdx.x * SIZE + threadIdx.x];
    __syncthreads();
    {
        enum { k = 5 };
        s[SIZE - 1 - threadIdx.x] = k;
        __syncthreads();
        s[threadIdx.x] += k;
    }
    __syncthreads();
    out[blockIdx.x * SIZE + threadIdx.x] = s[threadIdx.x] + k;
}
