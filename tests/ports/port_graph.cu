/* port_graph.cu - sparse matrices, graphs and text in typical CUDA style: rows by lanes, frontiers, atomics. */
#include <stdint.h>

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

/* ---- y = A x for a matrix of compressed rows ---- */

/* One thread per row. */
#pragma cf kernel grid(rows) block(128) in(begins[rows + 1], column[count], value[count], x[cols]) out(y[rows]) \
    check(0 <= begins[:] <= count, 0 <= column[:] < cols) tolerance(1e-5 * max(1, count)) flops(2.0 * count)
#pragma cf instances(f32: float; f64: double)
template <typename T>
__global__ void spmv_scalar(const int *__restrict__ begins, const int *__restrict__ column, const T *__restrict__ value,
                            const T *__restrict__ x, T *__restrict__ y, int rows, int cols, int count)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        T sum = 0;
        for (int i = begins[row]; i < begins[row + 1]; i++)
            sum += value[i] * x[column[i]];
        y[row] = sum;
    }
}

/* LANES lanes per row. */
#pragma cf kernel grid(rows * LANES) block(128) in(begins[rows + 1], column[count], value[count], x[cols]) \
    out(y[rows]) check(0 <= begins[:] <= count, 0 <= column[:] < cols) tolerance(1e-5 * max(1, count)) \
    flops(2.0 * count)
#pragma cf instances(lanes32: 32; lanes8: 8; lanes2: 2)
template <int LANES>
__global__ void spmv_vector(const int *begins, const int *column, const float *value, const float *x, float *y,
                            int rows, int cols, int count)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / LANES, lane = thread % LANES;
    float sum = 0;
    if (row < rows)
        for (int i = begins[row] + lane; i < begins[row + 1]; i += LANES)
            sum += value[i] * x[column[i]];
#pragma unroll
    for (int offset = LANES / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset, LANES);
    if (lane == 0 && row < rows)
        y[row] = sum;
}

/* ---- Breadth-first search: one level, from one frontier to the next ---- */

/* Newly reached vertices get level + 1 and are appended to `next` in any order, after its first `next_count`
 * vertices. */
#pragma cf kernel grid(frontier_count) in(begins[vertices + 1], target[edges], frontier[frontier_count]) \
    inout(levels[vertices], next[vertices], next_count[1]) \
    check(0 <= begins[:] <= edges, 0 <= target[:] < vertices, 0 <= frontier[:] < vertices)
__global__ void bfs_step(const int *begins, const int *target, const int *frontier, int *levels, int *next,
                         unsigned int *next_count, int level, int vertices, int edges, int frontier_count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= frontier_count)
        return;
    const int vertex = frontier[i];
    for (int e = begins[vertex]; e < begins[vertex + 1]; e++) {
        const int other = target[e];
        if (atomicCAS(&levels[other], -1, level + 1) == -1)
            next[atomicAdd(next_count, 1u)] = other;
    }
}

/* ---- Connected components ---- */

/* Both ends of each edge take the lower label, which other threads may lower meanwhile; `changed` becomes 1 if a
 * label changed. */
#pragma cf kernel grid(edges) in(from[edges], to[edges]) inout(labels[vertices], changed[1]) \
    check(0 <= from[:] < vertices, 0 <= to[:] < vertices)
__global__ void label_step(const int *from, const int *to, int *labels, int *changed, int vertices, int edges)
{
    __shared__ int any;
    if (threadIdx.x == 0)
        any = 0;
    __syncthreads();
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges) {
        const volatile int *now = labels;
        const int a = now[from[e]], b = now[to[e]];
        const int least = min(a, b);
        bool is_less = false;
        if (a != b) {
            is_less |= atomicMin(&labels[from[e]], least) > least;
            is_less |= atomicMin(&labels[to[e]], least) > least;
        }
        if (is_less)
            any = 1;
    }
    __syncthreads();
    if (threadIdx.x == 0 && any)
        *changed = 1;
}

/* Reads parents again each time, because other threads may change the tree. */
__device__ int find_root(const volatile int *parents, int vertex)
{
    while (parents[vertex] != vertex)
        vertex = parents[vertex];
    return vertex;
}

/* Joins the trees of both ends of each edge, with the lower root on top. `parents` initially holds trees. */
#pragma cf kernel grid(edges) in(edge[edges]) inout(parents[vertices])
__global__ void union_edges(const int2 *edge, volatile int *parents, int vertices, int edges)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int a = edge[e].x, b = edge[e].y;
    for (;;) {
        a = find_root(parents, a);
        b = find_root(parents, b);
        if (a == b)
            break;
        if (a < b) {
            int kept = a;
            a = b;
            b = kept;
        }
        if (atomicCAS((int *)&parents[a], a, b) == a)
            break;
    }
}

#pragma cf kernel grid(vertices) inout(parents[vertices])
__global__ void flatten(volatile int *parents, int vertices)
{
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex < vertices)
        parents[vertex] = find_root(parents, vertex);
}

/* ---- Text ---- */

/* Marks positions where the pattern begins with 1, others with 0, and counts them. The pattern and the block's text
 * are in shared memory. */
#pragma cf kernel grid(n) block(128) shared(128 + 2 * m) in(text[n], pattern[m]) out(is_match[n]) inout(matches[1]) \
    check(0 < m <= 64)
__global__ void string_search(const char *text, const char *pattern, unsigned char *is_match, unsigned int *matches,
                              int n, int m)
{
    extern __shared__ char memory[];
    char *word = memory, *window = memory + m;
    const int begin = blockIdx.x * blockDim.x, i = begin + threadIdx.x;
    for (int k = threadIdx.x; k < m; k += blockDim.x)
        word[k] = pattern[k];
    for (int k = threadIdx.x; k < (int)blockDim.x + m && begin + k < n; k += blockDim.x)
        window[k] = text[begin + k];
    __syncthreads();
    bool is_found = i + m <= n;
    for (int k = 0; is_found && k < m; k++)
        is_found = window[threadIdx.x + k] == word[k];
    if (i < n)
        is_match[i] = is_found;
    const int found = __syncthreads_count(is_found);
    if (threadIdx.x == 0 && found)
        atomicAdd(matches, (unsigned int)found);
}
