/* queens.cu - counts placements of queens by recursion; each thread begins with another column of the first queen. */
#include <algorithm>
#include <chrono>
#include <iostream>

struct Clock {
    using clock = std::chrono::high_resolution_clock;
    clock::time_point begin = clock::now();
    double seconds() const { return std::chrono::duration<double>(clock::now() - begin).count(); }
};

__device__ int place(unsigned columns, unsigned left, unsigned right, unsigned all)
{
    if (columns == all)
        return 1;
    int count = 0;
    for (unsigned open = all & ~(columns | left | right); open; open &= open - 1) {
        unsigned bit = open & (0u - open);
        count += place(columns | bit, (left | bit) << 1, (right | bit) >> 1, all);
    }
    return count;
}

#pragma cf kernel grid(n) block(32) inout(total[1]) check(1 <= n <= 16)
__global__ void queens(int n, unsigned long long *total)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    if (first < n) {
        unsigned bit = 1u << first;
        atomicAdd(total, (unsigned long long)place(bit, bit << 1, bit >> 1, (1u << n) - 1));
    }
}

int main()
{
    Clock clock;
    unsigned long long *total;
    cudaMallocManaged(&total, sizeof *total);
    queens<<<1, 32>>>(std::min(8, 32), total);
    cudaDeviceSynchronize();
    std::cout << *total << " in " << clock.seconds() << " s\n";
}
