/* kmeans.cu - finds the nearest centre for each point; the centres are copied to dynamic shared memory. */
#include <float.h>
#include <stdlib.h>

static inline int nextPowerOfTwo(int n)
{
    n--;
    n = n >> 1 | n;
    n = n >> 2 | n;
    n = n >> 4 | n;
    n = n >> 8 | n;
    n = n >> 16 | n;
    return ++n;
}

__host__ __device__ inline static float euclid_dist_2(int numCoords, int numObjs, int numClusters,
                                                      float *objects,  /* [numCoords][numObjs] */
                                                      float *clusters, /* [numCoords][numClusters] */
                                                      int objectId, int clusterId)
{
    float ans = 0.0;
    for (int i = 0; i < numCoords; i++) {
        ans += (objects[numObjs * i + objectId] - clusters[numClusters * i + clusterId]) *
               (objects[numObjs * i + objectId] - clusters[numClusters * i + clusterId]);
    }
    return ans;
}

#pragma cf kernel grid(numObjs) block(128) shared(numCoords * numClusters * sizeof(float)) \
    in(objects[numCoords][numObjs], deviceClusters[numCoords][numClusters]) out(membership[numObjs]) \
    inout(changed[1]) check(numClusters > 0)
__global__ static void find_nearest_cluster(int numCoords, int numObjs, int numClusters, float *objects,
                                            float *deviceClusters, int *membership, int *changed)
{
    extern __shared__ char sharedMemory[];
    float *clusters = (float *)sharedMemory;

    for (int i = threadIdx.x; i < numClusters; i += blockDim.x) {
        for (int j = 0; j < numCoords; j++) {
            clusters[numClusters * j + i] = deviceClusters[numClusters * j + i];
        }
    }
    __syncthreads();

    int objectId = blockDim.x * blockIdx.x + threadIdx.x;
    if (objectId < numObjs) {
        int index = 0;
        float min_dist = FLT_MAX;
        for (int i = 0; i < numClusters; i++) {
            float dist = euclid_dist_2(numCoords, numObjs, numClusters, objects, clusters, objectId, i);
            if (dist < min_dist) {
                min_dist = dist;
                index = i;
            }
        }
        if (index != 0)
            atomicAdd(changed, 1);
        membership[objectId] = index;
    }
}

float **cuda_kmeans(float *deviceObjects, int numCoords, int numObjs, int numClusters)
{
    float **dimObjects = (float **)malloc(numCoords * sizeof(float *));
    const unsigned int numThreadsPerClusterBlock = 128;
    const unsigned int numClusterBlocks = (numObjs + numThreadsPerClusterBlock - 1) / numThreadsPerClusterBlock;
    const unsigned int clusterBlockSharedDataSize = numClusters * numCoords * sizeof(float);
    const unsigned int numReductionThreads = nextPowerOfTwo(numClusterBlocks);
    int *membership;
    cudaMalloc(&membership, numReductionThreads * sizeof(int));
    find_nearest_cluster<<<numClusterBlocks, numThreadsPerClusterBlock, clusterBlockSharedDataSize>>>(
        numCoords, numObjs, numClusters, deviceObjects, deviceObjects, membership, membership);
    return dimObjects;
}
