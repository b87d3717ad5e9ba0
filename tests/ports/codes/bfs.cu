/* bfs.cu - one level of a breadth-first search; nodes are structs of this file. */
#include <cstdio>
#include <cstring>
#include <queue>

#define MAX_THREADS_PER_BLOCK 512

struct Node {
    int starting;
    int no_of_edges;
};

FILE *fp;

#pragma cf kernel grid(no_of_nodes) block(MAX_THREADS_PER_BLOCK) in(g_graph_nodes[no_of_nodes], \
    g_graph_edges[no_of_edges]) inout(g_graph_mask[no_of_nodes], g_cost[no_of_nodes]) \
    in(g_graph_visited[no_of_nodes]) inout(g_updating_graph_mask[no_of_nodes]) param(int no_of_edges) \
    check(0 <= g_graph_edges[:] < no_of_nodes)
__global__ void Kernel(Node *g_graph_nodes, int *g_graph_edges, bool *g_graph_mask, bool *g_updating_graph_mask,
                       bool *g_graph_visited, int *g_cost, int no_of_nodes)
{
    int tid = blockIdx.x * MAX_THREADS_PER_BLOCK + threadIdx.x;
    if (tid < no_of_nodes && g_graph_mask[tid]) {
        g_graph_mask[tid] = false;
        for (int i = g_graph_nodes[tid].starting;
             i < (g_graph_nodes[tid].no_of_edges + g_graph_nodes[tid].starting); i++) {
            int id = g_graph_edges[i];
            if (!g_graph_visited[id]) {
                g_cost[id] = g_cost[tid] + 1;
                g_updating_graph_mask[id] = true;
            }
        }
    }
}

void BFSGraph(int argc, char **argv)
{
    int no_of_nodes = 0;
    fp = fopen(argv[1], "r");
    if (!fp) {
        printf("Error Reading graph file\n");
        return;
    }
    if (fscanf(fp, "%d", &no_of_nodes) != 1)
        return;
    std::queue<Node> open;
    Node *h_graph_nodes = new Node[no_of_nodes];
    open.push(h_graph_nodes[0]);
    dim3 grid(no_of_nodes / MAX_THREADS_PER_BLOCK + 1, 1, 1);
    dim3 threads(MAX_THREADS_PER_BLOCK, 1, 1);
    Kernel<<<grid, threads, 0>>>(h_graph_nodes, NULL, NULL, NULL, NULL, NULL, no_of_nodes);
    delete[] h_graph_nodes;
}

int main(int argc, char **argv)
{
    BFSGraph(argc, argv);
}
