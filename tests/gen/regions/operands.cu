/* operands.cu - kernels for test_regions.c whose operators && and || read memory, and whose stores go to chosen
 * elements, and loops that warps repeat. All have n / 96 blocks of 96 threads and one element to a thread. */
#define SIZE 96

/* All right operands read elements that the same thread accesses before. */
#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void safe_operands(const float *in, int n, float *out)
{
    __shared__ unsigned char s[8][18];
    const int x = threadIdx.x + 1, y = threadIdx.y + 1, i = blockIdx.x * SIZE + threadIdx.y * 16 + threadIdx.x;
    s[y][x] = (int)in[i] & 1;
    if (threadIdx.x == 0)
        s[y][0] = s[y][17] = 1;
    if (threadIdx.y == 0)
        s[0][x] = s[7][x] = threadIdx.x & 1;
    if (x == 1 && y == 1)
        s[0][0] = s[0][17] = s[7][0] = s[7][17] = 0;
    __syncthreads();
    int count = s[y - 1][x - 1] + s[y - 1][x] + s[y - 1][x + 1] + s[y][x - 1] + s[y][x + 1] + s[y + 1][x - 1] +
                s[y + 1][x] + s[y + 1][x + 1];
    int alive = count == 3 || (count == 2 && s[y][x]) ? 1 : 0;
    float first = in[i];
    bool few = count < 2 && first && s[y - 1][x] || s[y][x + 1] && !(count > 4 || in[i] > 6) || count == 5;
    out[i] = alive * 2 + few;
}

/* No operator may become one without branches: its right operand reads an element that no statement reads in any case or
 * that is volatile, divides, has an effect, or assigns. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void unsafe_operands(const float *in, int n, float *out)
{
    __shared__ int s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, k = t, d = 1 << 20;
    s[t] = (int)in[i];
    __syncthreads();
    int far = t < SIZE || s[d * t] > 3;
    far += t * d > SIZE && s[t] || t > SIZE && s[t * d - d] > 2;
    for (int j = 0; j < 2; j++) {
        int moved = s[k];
        k += d;
        far += j && s[k - d] > moved;
        k -= d;
    }
    int own = s[t], zero = t / SIZE;
    far += zero && s[t] / zero > 1;
    far += (own > 3 && s[t]++) || own == 2;
    far <<= own > 4 || s[t];
    if (t > SIZE)
        far += s[2 * d];
    far += t > SIZE && s[2 * d];
    int held = s[k];
    k += d;
    far += t > SIZE && s[k] > held;
    const int *p = s + t;
    int here = p[0];
    p += d;
    far += t > SIZE && p[0] > here;
    volatile int flag = t;
    far += t > 90 && s[t] > flag;
    __syncthreads();
    out[i] = far + s[t] * 2;
}

template <typename T> __device__ float size_of(T)
{
    return sizeof(T);
}

/* The results are of the type bool. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void types_of_operands(const float *in, int n, float *out)
{
    __shared__ int s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    s[t] = (int)in[i];
    __syncthreads();
    auto both = t > 3 && s[t];
    float size = size_of(t > 5 || s[t] == 2);
    __syncthreads();
    out[i] = sizeof(both) * 10 + size + both;
}

/* The place of a store is chosen by a number that memory gives through another variable. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void splits(const float *in, int n, float *out)
{
    __shared__ int before[SIZE + 1];
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float key = in[i];
    for (int bit = 0; bit < 3; bit++) {
        bool zero = !((int)key >> bit & 1);
        before[t + 1] = zero;
        __syncthreads();
        if (t == 0) {
            before[0] = 0;
            for (int k = 1; k <= SIZE; k++)
                before[k] += before[k - 1];
        }
        __syncthreads();
        int place = before[t];
        int chosen = zero ? place : before[SIZE] + t - place;
        s[chosen] = key;
        __syncthreads();
        key = s[t];
        __syncthreads();
    }
    out[i] = key;
}

/* Each warp runs the first two loops once. The other loops differ between lanes, or change values of earlier code. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void repeated_by_lanes(const float *in, int n, float *out)
{
    __shared__ float sums[3], most[3];
    const int t = threadIdx.x, i = blockIdx.x * SIZE + t, lane = t & 31, warp = t >> 5;
    float v = in[i];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    if (lane == 0) {
        sums[warp] = v;
        most[warp] = in[i];
    }
    __syncthreads();
    float before = 0;
    for (int w = 0; w < warp; w++)
        before += sums[w];
    int larger = 0, last = 0;
    for (int w = warp; w < 3; ++w) {
        const float other = most[w];
        if (other > sums[0] / 32)
            larger++;
        else
            last = w;
    }
    float mixed = 1;
    for (int w = 0; w < warp; w++)
        mixed += in[i] * sums[w];
    float few = 2;
    for (int w = 0; w < lane; w++)
        few += sums[w % 3];
    for (int w = 0; w < warp; w++)
        v += most[w];
    out[i] = before + larger * 3 + last + mixed + few + v;
}

/* A statement that takes an address or a size, or whose value is not used, does not read the element that it names, so
 * that the right operands stay behind &&. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void named_operands(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int t = threadIdx.x, i = blockIdx.x * SIZE + t, far = (i + 1) * 1000000;
    const float *address = &(in[far]);
    const int size = sizeof(in[far + 1]);
    in[far + 2];
    const float after = (in[far + 3], 2.0f);
    s[t] = in[i];
    __syncthreads();
    const bool is_read = far < n && in[far] > 3;
    const bool is_sized = far < n && in[far + 1] > 3;
    const bool is_alone = far < n && in[far + 2] > 3;
    const bool is_first = far < n && in[far + 3] > 3;
    const int count = is_read + is_sized + is_alone + is_first;
    out[i] = s[SIZE - 1 - t] + count + size + after + (address == in);
}
