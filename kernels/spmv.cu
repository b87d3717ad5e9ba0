/* spmv - y = alpha A x + beta y, where the matrix A has its rows one behind the other (CSR). A first kernel looks at the
 * lengths of the rows; then even rows are summed up directly, each by some lanes, or all elements are dealt out to the
 * blocks evenly, whatever rows they are of. */
#include <stdint.h>

#include "spmv.h"

/* Sets y to alpha A x + beta y, of a matrix of nrows rows and ncols columns that has nnz elements: row i has elements
 * row_ptr[i] to row_ptr[i + 1] - 1 of val, in the columns that col says, in any order. row_ptr has nrows + 1 elements,
 * which lie in [0, nnz] and ascend; columns lie in [0, ncols). The plain call checks all of that. Elements in front of
 * row_ptr[0] and behind row_ptr[nrows] are of no row. y is not read where beta is 0; it must overlap no other array,
 * which the plain call checks. The same call gives the same bits each time; kernels/README.md says in which order sums
 * are. */
#pragma cf operation in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows]) \
    scratch(looked[SPMV_IS_LOOKED_AT ? 2 : 0], head[SPMV_PARTS(SPMV_TILE(sizeof(T)))], \
        tail[SPMV_PARTS(SPMV_TILE(sizeof(T)))], open[SPMV_PARTS(SPMV_TILE(sizeof(T)))]) zero(looked) \
    check(0 <= row_ptr[:] <= nnz, 0 <= col[:] < ncols) ascending(row_ptr) \
    uses(spmv_look, spmv_direct, spmv_split, spmv_join) tolerance((sizeof(T) == 8 ? 1e-15 : 1e-6) * (nnz + 16)) \
    bytes(nnz * (1.0 * sizeof(T) + sizeof(J)) + nrows * (2.0 * sizeof(T) + sizeof(I)) + 1.0 * ncols * sizeof(T)) \
    flops(2.0 * nnz + 3.0 * nrows)
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
void spmv(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
          const T *__restrict__ x, T beta, T *__restrict__ y, uint64_t *looked, T *head, T *tail, int64_t *open,
          int64_t nrows, int64_t ncols, int64_t nnz);

/* How y becomes what it is to be; what 0 is multiplied with is not read. */
template <typename T> __device__ __forceinline__ void spmv_set(T *y, T alpha, T sum, T beta)
{
    *y = beta == (T)0 ? alpha * sum : alpha * sum + beta * *y;
}

#ifdef __CUDA_ARCH__

#define SPMV_WARP 0xffffffffu

template <typename T, typename I, typename J> struct spmv_matrix {
    const I *row_ptr;
    const J *col;
    const T *val, *x;
    int64_t nrows;
};

/* The sum of a group of neighbouring lanes, as many as a power of two, in each of them. */
template <typename T> __device__ __forceinline__ T spmv_sum_of(T value, int lanes)
{
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(SPMV_WARP, value, distance);
    return value;
}

/* Products of every `step`th of `left` elements, as many as there is room for; their loads do not wait for one another.
 * What others read of the same 32 bytes comes from the first cache, so that no hint is given. */
template <int step, int count, typename T, typename J>
__device__ __forceinline__ void spmv_multiply(const J *col, const T *val, const T *x, int64_t left, T (&product)[count])
{
    J at[count];
#pragma unroll
    for (int u = 0; u < count; u++)
        if (u * step < left) {
            at[u] = __ldg(col + u * step);
            product[u] = __ldg(val + u * step);
        }
#pragma unroll
    for (int u = 0; u < count; u++)
        if (u * step < left)
            product[u] *= __ldg(x + at[u]);
}

/* ---- The look ---- */

/* What of one row at most two lanes take at once, without a second turn. */
#define SPMV_SHORT 8

/* Whether rows are summed up directly: `looked` has the elements that they would take if all were as long as the
 * longest of the same warp, and the length of the longest. */
__device__ __forceinline__ bool spmv_is_direct(const uint64_t *looked, int64_t nrows, int64_t nnz, int lanes)
{
    const uint64_t slots = __ldg((const unsigned long long *)looked);
    const uint64_t longest = __ldg((const unsigned long long *)looked + 1);
    return (longest <= SPMV_SHORT && lanes == 2) ||
           (slots * 4 <= (uint64_t)nnz * 9 &&
            (longest <= 128 * (uint64_t)lanes || (double)longest * (double)nrows <= 4.0 * (double)nnz));
}

/* A warp's rows, 128 of them: neighbouring ones that are of one warp of spmv_direct are as one. */
template <typename I>
__device__ __forceinline__ void spmv_look_at(const I *row_ptr, int64_t first_row, int64_t nrows, int lanes,
                                             uint64_t *slots, unsigned int *longest)
{
    const int lane = (int)threadIdx.x % 32;
    I first[4], last[4];
#pragma unroll
    for (int u = 0; u < 4; u++) {
        const int64_t row = first_row + 32 * u + lane;
        first[u] = __ldg(row_ptr + (row < nrows ? row : nrows));
        last[u] = lane == 31 ? __ldg(row_ptr + (row + 1 < nrows ? row + 1 : nrows)) : (I)0;
    }
#pragma unroll
    for (int u = 0; u < 4; u++) {
        const I next = __shfl_down_sync(SPMV_WARP, first[u], 1);
        const int64_t difference = (int64_t)(lane == 31 ? last[u] : next) - (int64_t)first[u];
        unsigned int length = difference < INT32_MAX ? (unsigned int)difference : INT32_MAX;
        for (int distance = 16 / lanes; distance > 0; distance /= 2) {
            const unsigned int other = __shfl_xor_sync(SPMV_WARP, length, distance);
            length = other > length ? other : length;
        }
        *longest = length > *longest ? length : *longest;
        if (lane % (32 / lanes) == 0)
            *slots += 128 * (uint64_t)((length + 4 * (unsigned int)lanes - 1) / (4 * (unsigned int)lanes));
    }
}

/* ---- Rows by lanes ---- */

/* Rows that some lanes have each, in turns of four elements a lane. */
template <int lanes, typename T, typename I, typename J>
__device__ __forceinline__ void spmv_rows(const spmv_matrix<T, I, J> &a, T alpha, T beta, T *y)
{
    const int lane = (int)threadIdx.x % lanes;
    const int64_t step = (int64_t)gridDim.x * (128 / lanes);
    int64_t row = (int64_t)blockIdx.x * (128 / lanes) + threadIdx.x / lanes;
#pragma unroll 1
    for (; __any_sync(SPMV_WARP, row < a.nrows); row += step) {
        I first = 0, last = 0;
        if (row < a.nrows) {
            first = __ldg(a.row_ptr + row);
            last = __ldg(a.row_ptr + row + 1);
        }
        const J *col = a.col + first + lane;
        const T *val = a.val + first + lane;
        T sum = 0;
#pragma unroll 1
        for (I left = last - first - lane; __any_sync(SPMV_WARP, left > 0); left -= 4 * lanes) {
            T product[4];
            spmv_multiply<lanes>(col, val, a.x, left, product);
#pragma unroll
            for (int u = 0; u < 4; u++)
                if (u * lanes < left)
                    sum += product[u];
            col += 4 * lanes;
            val += 4 * lanes;
        }
        sum = spmv_sum_of(sum, lanes);
        if (lane == 0 && row < a.nrows)
            spmv_set(y + row, alpha, sum, beta);
    }
}

/* Rows of eight elements at most: two lanes have two rows, and all loads of both are under way at once. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_short_rows(const spmv_matrix<T, I, J> &a, T alpha, T beta, T *y)
{
    const int lane = (int)threadIdx.x % 2;
    const int64_t number = (int64_t)blockIdx.x * 128 + threadIdx.x / 32 * 32 + threadIdx.x % 32 / 2;
    const J *col[2];
    const T *val[2];
    int left[2];
    J at[2][4];
    T product[2][4];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        I first = 0, last = 0;
        if (number + 16 * r < a.nrows) {
            first = __ldg(a.row_ptr + number + 16 * r);
            last = __ldg(a.row_ptr + number + 16 * r + 1);
        }
        col[r] = a.col + first + lane;
        val[r] = a.val + first + lane;
        left[r] = (int)(last - first) - lane;
    }
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (2 * u < left[r]) {
                at[r][u] = __ldg(col[r] + 2 * u);
                product[r][u] = __ldg(val[r] + 2 * u);
            }
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (2 * u < left[r])
                product[r][u] *= __ldg(a.x + at[r][u]);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        T sum = 0;
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (2 * u < left[r])
                sum += product[r][u];
        sum += __shfl_xor_sync(SPMV_WARP, sum, 1);
        if (lane == 0 && number + 16 * r < a.nrows)
            spmv_set(y + number + 16 * r, alpha, sum, beta);
    }
}

/* ---- Elements by blocks ---- */

/* The first row that begins at `element` or behind it, found by a warp. */
template <typename I> __device__ __forceinline__ int64_t spmv_find(const I *row_ptr, int64_t nrows, int64_t element)
{
    int64_t first = 0, last = nrows;
    while (first < last) {
        const int64_t step = (last - first + 31) / 32, at = first + (threadIdx.x % 32 + 1) * step - 1;
        const unsigned int before = __ballot_sync(SPMV_WARP, at < last && __ldg(row_ptr + at) < element);
        const int64_t steps = __popc(before);
        last = first + (steps + 1) * step - 1 < last ? first + (steps + 1) * step - 1 : last;
        first += steps * step;
    }
    return first;
}

/* The sums of what rows have of a tile's products: a lane sums up few, its warp one row's after the other's where there
 * are many. */
template <typename T> __device__ __forceinline__ T spmv_sum_products(const T *products, int first, int last)
{
    const int lane = (int)threadIdx.x % 32;
    const bool has_many = last - first > 24;
    T sum = 0;
    if (!has_many)
#pragma unroll 2
        for (int k = first; k < last; k++)
            sum += products[k];
    for (unsigned int many = __ballot_sync(SPMV_WARP, has_many); many; many &= many - 1) {
        const int owner = __ffs((int)many) - 1;
        const int begin = __shfl_sync(SPMV_WARP, first, owner), end = __shfl_sync(SPMV_WARP, last, owner);
        T together = 0;
#pragma unroll 1
        for (int k = begin + lane; k < end; k += 32)
            together += products[k];
        together = spmv_sum_of(together, 32);
        if (lane == owner)
            sum = together;
    }
    return sum;
}

/* A block's part of the elements, tile by tile. Rows that begin in it and end in it are set; what it has of the one that
 * others began goes to head, and of the one that it leaves open to tail. What is read stays within the arrays, whatever
 * row_ptr says within its range. */
template <int items, typename T, typename I, typename J>
__device__ __forceinline__ void spmv_part(const spmv_matrix<T, I, J> &a, T alpha, T beta, T *y, T *head, T *tail,
                                          int64_t *open, int64_t nnz, int64_t length)
{
    constexpr int tile = SPMV_THREADS * items;
    __shared__ T products[tile];
    __shared__ T carried; /* of the row that the tile before left open */
    __shared__ int64_t bounds[2];
    const int thread = (int)threadIdx.x;
    const I begin = (I)(blockIdx.x * length), end = nnz - begin < length ? (I)nnz : (I)(begin + length);
    if (thread < 64) {
        const bool is_end = thread >= 32;
        const int64_t element = is_end ? end : begin;
        const int64_t row = element == 0 ? 0 : element == nnz ? a.nrows : spmv_find(a.row_ptr, a.nrows, element);
        if (thread % 32 == 0)
            bounds[is_end] = row;
    }
    if (thread == 0)
        carried = 0;
    __syncthreads();
    const int64_t first_row = bounds[0], last_row = bounds[1];
    int64_t row = first_row - 1; /* thread 0's */
#pragma unroll 1
    for (I from = begin; from < end; from += tile) {
        const I to = end - from > tile ? from + tile : end;
        const int left = (int)(to - from) - thread;
        T product[items];
        spmv_multiply<SPMV_THREADS>(a.col + from + thread, a.val + from + thread, a.x, left, product);
#pragma unroll
        for (int u = 0; u < items; u++)
            if (u * SPMV_THREADS < left)
                products[thread + u * SPMV_THREADS] = product[u];
        __syncthreads();
        int done;
        do {
            const int64_t mine = row + thread;
            const bool is_row = mine < last_row;
            const I first = is_row && mine >= 0 ? __ldg(a.row_ptr + mine) : (I)0;
            const I last = is_row ? __ldg(a.row_ptr + mine + 1) : (I)0;
            const int low = first <= from ? 0 : (int)((first < to ? first : to) - from);
            const int high = last <= from ? 0 : (int)((last < to ? last : to) - from);
            T sum = spmv_sum_products(products, low, high);
            if (thread == 0) {
                sum += carried;
                carried = 0;
            }
            const bool is_done = is_row && last <= to;
            done = __syncthreads_count(is_done);
            if (is_done && mine < first_row)
                head[blockIdx.x] = sum;
            else if (is_done)
                spmv_set(y + mine, alpha, sum, beta);
            if (is_row && thread == done)
                carried = sum;
            row += done;
        } while (done == SPMV_THREADS);
    }
    __syncthreads();
    if (thread == 0) {
        const bool is_open = row < last_row, is_own = row >= first_row;
        open[blockIdx.x] = is_open && is_own ? row : -1;
        if (is_open)
            (is_own ? tail : head)[blockIdx.x] = carried;
    }
}

#endif

/* The CPU's way. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_one_row(int64_t i, T alpha, const I *row_ptr, const J *col, const T *val,
                                             const T *x, T beta, T *y)
{
    T sum = 0;
    for (int64_t k = row_ptr[i]; k < row_ptr[i + 1]; k++)
        sum += val[k] * x[col[k]];
    spmv_set(y + i, alpha, sum, beta);
}

/* Adds to looked[0] how many elements the rows would have if those of one warp of spmv_direct were all as long as the
 * longest of them, in whole turns, and raises looked[1] to the length of the longest. The CPU looks at nothing. */
#pragma cf kernel internal blocks(min((nrows + 1023) / 1024, 2048)) block(256) host(grid(1)) check(nrows > 0) \
    in(row_ptr[nrows + 1]) inout(looked[2])
#pragma cf instances(i32: int32_t; i64: int64_t)
template <typename I>
__global__ void __launch_bounds__(256) spmv_look(const I *__restrict__ row_ptr, uint64_t *looked, int64_t nrows, int lanes)
{
#ifdef __CUDA_ARCH__
    __shared__ uint64_t all_slots[8];
    __shared__ unsigned int all_longest[8];
    const int warp = (int)threadIdx.x / 32;
    uint64_t slots = 0;
    unsigned int longest = 0;
    for (int64_t first = ((int64_t)blockIdx.x * 8 + warp) * 128; first < nrows; first += (int64_t)gridDim.x * 1024)
        spmv_look_at(row_ptr, first, nrows, lanes, &slots, &longest);
    for (int distance = 16; distance > 0; distance /= 2) {
        const unsigned int other = __shfl_xor_sync(SPMV_WARP, longest, distance);
        slots += __shfl_xor_sync(SPMV_WARP, slots, distance);
        longest = other > longest ? other : longest;
    }
    if (threadIdx.x % 32 == 0) {
        all_slots[warp] = slots;
        all_longest[warp] = longest;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int other = 1; other < 8; other++) {
            slots += all_slots[other];
            longest = all_longest[other] > longest ? all_longest[other] : longest;
        }
        atomicAdd((unsigned long long *)looked, (unsigned long long)slots);
        atomicMax((unsigned long long *)looked + 1, (unsigned long long)longest);
    }
#endif
}

/* All rows by lanes, where `looked` is NULL or says so. */
#pragma cf kernel internal blocks((nrows - 1) / (256 / lanes) + 1) block(128) host(grid(nrows)) \
    check(nrows > 0) in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(128, sizeof(T) + sizeof(J) > 8 ? 8 : 16)
    spmv_direct(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
                const T *__restrict__ x, T beta, T *__restrict__ y, const uint64_t *looked, int64_t nrows,
                int64_t ncols, int64_t nnz, int lanes)
{
#ifdef __CUDA_ARCH__
    if (looked && !spmv_is_direct(looked, nrows, nnz, lanes))
        return;
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, nrows};
    if (lanes == 2 && looked && __ldg((const unsigned long long *)looked + 1) <= SPMV_SHORT)
        spmv_short_rows(a, alpha, beta, y);
    else if (lanes == 2)
        spmv_rows<2>(a, alpha, beta, y);
    else if (lanes == 4)
        spmv_rows<4>(a, alpha, beta, y);
    else if (lanes == 8)
        spmv_rows<8>(a, alpha, beta, y);
    else if (lanes == 16)
        spmv_rows<16>(a, alpha, beta, y);
    else
        spmv_rows<32>(a, alpha, beta, y);
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nrows)
        spmv_one_row(i, alpha, row_ptr, col, val, x, beta, y);
#endif
}

/* All elements by blocks, where `looked` is NULL or does not say otherwise. The CPU sums up `alone` rows, all of them
 * where no other kernel does. */
#pragma cf kernel internal blocks(SPMV_PARTS(SPMV_TILE(sizeof(T)))) block(SPMV_THREADS) host(grid(alone)) \
    check(nrows > 0, nnz > 0) in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) \
    inout(y[nrows], head[SPMV_PARTS(SPMV_TILE(sizeof(T)))], tail[SPMV_PARTS(SPMV_TILE(sizeof(T)))], \
        open[SPMV_PARTS(SPMV_TILE(sizeof(T)))])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(SPMV_THREADS, 4)
    spmv_split(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
               const T *__restrict__ x, T beta, T *__restrict__ y, const uint64_t *looked, T *head, T *tail,
               int64_t *open, int64_t nrows, int64_t ncols, int64_t nnz, int lanes, int64_t alone)
{
#ifdef __CUDA_ARCH__
    if (looked && spmv_is_direct(looked, nrows, nnz, lanes))
        return;
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, nrows};
    constexpr int tile = SPMV_TILE((int)sizeof(T));
    spmv_part<tile / SPMV_THREADS>(a, alpha, beta, y, head, tail, open, nnz, SPMV_PART(tile));
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < alone)
        spmv_one_row(i, alpha, row_ptr, col, val, x, beta, y);
#endif
}

/* Rows that several blocks have parts of, a warp for each. */
#pragma cf kernel internal blocks((SPMV_PARTS(SPMV_TILE(sizeof(T))) + 3) / 4) block(128) host(grid(1)) check(nrows > 0, nnz > 0) \
    in(row_ptr[nrows + 1], head[SPMV_PARTS(SPMV_TILE(sizeof(T)))], tail[SPMV_PARTS(SPMV_TILE(sizeof(T)))], \
        open[SPMV_PARTS(SPMV_TILE(sizeof(T)))]) inout(y[nrows])
#pragma cf instances(f32_i32: float, int32_t; f32_i64: float, int64_t; f64_i32: double, int32_t; f64_i64: double, int64_t)
template <typename T, typename I>
__global__ void __launch_bounds__(128)
    spmv_join(T alpha, const I *__restrict__ row_ptr, T beta, T *__restrict__ y, const uint64_t *looked, const T *head,
              const T *tail, const int64_t *open, int64_t nrows, int64_t nnz, int lanes)
{
#ifdef __CUDA_ARCH__
    constexpr int tile = SPMV_TILE((int)sizeof(T));
    const int64_t part = (int64_t)blockIdx.x * 4 + threadIdx.x / 32, length = SPMV_PART(tile);
    const int lane = (int)threadIdx.x % 32;
    if ((looked && spmv_is_direct(looked, nrows, nnz, lanes)) || part >= SPMV_PARTS(tile) || open[part] < 0)
        return;
    const int64_t row = open[part], last = ((int64_t)row_ptr[row + 1] - 1) / length;
    T sum = lane == 0 ? tail[part] : (T)0;
    for (int64_t other = part + 1 + lane; other <= last; other += 32)
        sum += head[other];
    sum = spmv_sum_of(sum, 32);
    if (lane == 0)
        spmv_set(y + row, alpha, sum, beta);
#endif
}
