/* percolation.cu - clusters of open sites by union-find with atomics; the root of a cluster is its lowest site. */
#include <cstdio>
#include <random>
#include <unordered_map>
#include <vector>

#define N_SITES (width * height)

static __device__ int find_root(const volatile int *parent, int site)
{
    while (parent[site] != site)
        site = parent[site];
    return site;
}

static __device__ void unite(int *parent, int a, int b)
{
    for (;;) {
        a = find_root(parent, a);
        b = find_root(parent, b);
        if (a == b)
            return;
        if (a > b) {
            int t = a;
            a = b;
            b = t;
        }
        int old = atomicMin(&parent[b], a);
        if (old == b)
            return;
        b = old;
    }
}

#pragma cf kernel grid(width, height) block(32, 4) in(open[height][width]) inout(parent[N_SITES]) \
    check(0 <= parent[:] < N_SITES)
__global__ void percolate(const bool *open, int *parent, const int width, const int height, const bool diagonal)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int site = y * width + x;
    if (x >= width || y >= height || not open[site])
        return;
    const bool east = x + 1 < width, south = y + 1 < height;
    if (east and open[site + 1])
        unite(parent, site, site + 1);
    if (south and open[site + width])
        unite(parent, site, site + width);
    if (diagonal and east and south and open[site + width + 1])
        unite(parent, site, site + width + 1);
}

static int find_root(const std::unordered_map<int, int> &parent, int site)
{
    for (auto found = parent.find(site); found != parent.end() && found->second != site; found = parent.find(site))
        site = found->second;
    return site;
}

int main()
{
    std::mt19937 random(42);
    std::bernoulli_distribution open_site(0.59);
    std::vector<char> open(64 * 64);
    for (char &site : open)
        site = open_site(random);
    percolate<<<dim3(2, 16), dim3(32, 4)>>>(reinterpret_cast<const bool *>(open.data()), nullptr, 64, 64, false);
    std::printf("%d\n", find_root(std::unordered_map<int, int>{{1, 0}}, 1));
}
