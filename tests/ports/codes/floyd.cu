/* floyd.cu - one round of Floyd's algorithm for shortest paths between all pairs. */
#include <iostream>
using namespace std;

const int INF = 1 << 28;
static int n_of_graph;

#pragma cf kernel blocks((n + 255) / 256, n) block(256) inout(dist[n][n], path[n][n]) check(0 <= k < n)
__global__ void _Wake_GPU(int k, int *dist, int *path, int n)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= n)
        return;
    const int idx = n * blockIdx.y + col;
    __shared__ int best;
    if (threadIdx.x == 0)
        best = dist[n * blockIdx.y + k];
    __syncthreads();
    if (best == INF)
        return;
    int tmp_b = dist[k * n + col];
    if (tmp_b == INF)
        return;
    int cur = best + tmp_b;
    if (cur < dist[idx]) {
        dist[idx] = cur;
        path[idx] = k;
    }
}

ostream &operator<<(ostream &out, const cudaDeviceProp &prop)
{
    return out << prop.name;
}

int main()
{
    cin >> n_of_graph;
    cudaDeviceProp prop;
    if (cudaGetDeviceProperties(&prop, 0) == cudaSuccess)
        cout << prop << endl;
    for (int k = 0; k < n_of_graph; k++)
        _Wake_GPU<<<dim3((n_of_graph + 255) / 256, n_of_graph), 256>>>(k, nullptr, nullptr, n_of_graph);
}
