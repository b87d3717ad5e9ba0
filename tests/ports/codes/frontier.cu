// frontier.cu - levels of a breadth-first search by a queue, and a lock-free last block, as in a course's assignment.
#include <cassert>
#include <chrono>
#include <cstring>
#include <iostream>
#include <queue>
#include <sstream>
#include <vector>
#ifndef INT_MAX
#include <climits>
#endif

#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
        if (abort) exit(code);
    }
}

struct Graph {
    std::vector<int> adjacencyList; // all edges
    std::vector<int> edgesOffset;
    int numVertices = 0;
    int root() const noexcept { return edgesOffset.empty() ? -1 : 0; }
};

// pointers of a graph on the device, passed by value
struct GraphView {
    const int *__restrict__ offsets;
    const int *__restrict__ edges;
    int vertices;
    __device__ __forceinline__ int degree(int v) const { return offsets[v + 1] - offsets[v]; }
    __host__ __device__ explicit operator bool() const { return vertices > 0; }
};

__device__ unsigned int retired = 0;
__device__ double partial[1024];

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
__device__ double atomicAdd(double *address, double val)
{
    unsigned long long int *address_as_ull = (unsigned long long int *)address;
    unsigned long long int old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
#endif

__device__ double atomicMaxDouble(double *address, double value)
{
    auto *bits = (unsigned long long *)address;
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        if (__longlong_as_double(assumed) >= value) break;
        old = atomicCAS(bits, assumed, __double_as_longlong(value));
    } while (assumed != old);
    return __longlong_as_double(old);
}

#pragma cf kernel grid(size) block(64) in(queue[size], offsets[vertices + 1], edges[m]) inout(distance[vertices], next[vertices], nextSize[1]) \
    check(0 <= queue[:] < vertices, 0 <= edges[:] < vertices, 0 <= offsets[:] <= m) param(int m)
__global__ void queueBfs(int level, const int *offsets, const int *edges, int *distance, const int *queue, int size,
                         int *next, int *nextSize, int vertices)
{
    int thid = blockIdx.x * blockDim.x + threadIdx.x;
    if (thid < size) {
        const GraphView g{offsets, edges, vertices};
        int u = queue[thid];
        for (int i = g.offsets[u]; i < g.offsets[u] + g.degree(u); i++) {
            int v = g.edges[i];
            if (distance[v] == INT_MAX && atomicMin(&distance[v], level + 1) == INT_MAX) {
                int position = atomicAdd(nextSize, 1);
                next[position] = v;
            }
        }
    }
}

#pragma cf kernel blocks(4) block(128) in(x[n]) inout(result[2]) check(n >= 0) tolerance(1e-9)
__global__ void sumAndMax(const double *x, double *result, int n, bool use_atomics)
{
    __shared__ volatile double cache[128];
    __shared__ bool isLast;
    const int tid = threadIdx.x;
    double sum = 0, most = -1e300;
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += blockDim.x * gridDim.x) {
        sum += x[i];
        most = fmax(most, x[i]);
    }
    atomicMaxDouble(&result[1], most);
    if (use_atomics) {
        atomicAdd(&result[0], sum);
        return;
    }
    cache[tid] = sum;
    __syncthreads();
    for (unsigned s = blockDim.x >> 1; s > 0; s >>= 1) {
        if (tid < s) cache[tid] += cache[tid + s];
        __syncthreads();
    }
    if (tid == 0) {
        partial[blockIdx.x] = cache[0];
        __threadfence();
        unsigned ticket = atomicInc(&retired, gridDim.x - 1);
        isLast = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (isLast && tid == 0) {
        double total = 0;
        volatile double *parts = partial;
        for (unsigned b = 0; b < gridDim.x; b++) total += parts[b];
        result[0] += total;
    }
}

#pragma cf kernel blocks(rows) block(64) resident(table) out(counts[rows])
__global__ void countPositive(float **table, int *counts, int width, int rows)
{
    if (table[blockIdx.x] == nullptr) {
        if (threadIdx.x == 0) counts[blockIdx.x] = -1;
        return;
    }
    int count = 0;
    for (int i = 0; i < width; i += blockDim.x) {
        int at = i + threadIdx.x;
        count += __syncthreads_count(at < width && table[blockIdx.x][at] > 0);
    }
    if (!threadIdx.x) counts[blockIdx.x] = count;
}

void bfsCPU(int start, Graph &G, std::vector<int> &distance)
{
    std::queue<int> to_visit;
    to_visit.push(start);
    while (!to_visit.empty()) {
        int u = to_visit.front();
        to_visit.pop();
        for (int i = G.edgesOffset[u]; i < G.edgesOffset[u + 1]; i++)
            if (distance[G.adjacencyList[i]] == INT_MAX) to_visit.push(G.adjacencyList[i]);
    }
}

template <typename F> double timed(F &&f)
{
    auto start = std::chrono::steady_clock::now();
    std::forward<F>(f)();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
}

int main(int argc, char **argv)
{
    Graph G;
    std::vector<int> distance(G.numVertices, std::numeric_limits<int>::max());
    std::stringstream ss(argc > 1 ? argv[1] : "0");
    ss >> G.numVertices;
    std::cout << timed([&] { bfsCPU(0, G, distance); }) << "ms\n";
    gpuErrchk(cudaDeviceSynchronize());
}
