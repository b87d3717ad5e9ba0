/* plan - sorts a rank's global indices by owner and round, and finds the elements that are sent between ranks. */
#include <stdint.h>

/* Returns the number of elements of sorted that are less than value. */
__device__ inline int64_t count_below(const int64_t *sorted, int64_t n, int64_t value)
{
    int64_t low = 0;
    while (low < n) {
        const int64_t middle = low + (n - low) / 2;
        if (sorted[middle] < value)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Skips the atomic operation if *lowest is already low enough, because many threads may be using it. */
__device__ inline void lower_to(int64_t *lowest, int64_t i)
{
#ifdef __CUDA_ARCH__
    if (*(const volatile int64_t *)lowest <= i)
        return;
#endif
    atomicMin((long long *)lowest, (long long)i);
}

/* Divides n indices into own and other ones: own[i] = index[i] - begin if index[i] is in [begin, end), else -1;
 * is_other[i] is 0 or 1. Sets is_other[n] to 0. */
#pragma cf kernel grid(n + 1) host(grid(n + 1)) in(index[n]) out(own[n], is_other[n + 1])
__global__ void mark(const int64_t *__restrict__ index, int64_t *__restrict__ own, int64_t *__restrict__ is_other,
                     int64_t begin, int64_t end, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_own = i < n && index[i] >= begin && index[i] < end;
    if (i < n)
        own[i] = is_own ? index[i] - begin : -1;
    if (i <= n)
        is_other[i] = i < n && !is_own;
}

/* Collects, in their order, the m of the n indices that are not own: writes the indices to key and their positions to
 * place. others[i] is the number of such indices before position i. */
#pragma cf kernel grid(n) host(grid(n)) in(index[n], own[n], others[n + 1]) out(key[m], place[m])
__global__ void partition(const int64_t *__restrict__ index, const int64_t *__restrict__ own,
                          const int64_t *__restrict__ others, int64_t *__restrict__ key, int64_t *__restrict__ place,
                          int64_t n, int64_t m)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || own[i] >= 0)
        return;
    key[others[i]] = index[i];
    place[others[i]] = i;
}

/* Sets step[i] to 1 if key[i] differs from the previous key, else to 0; step[n] is 1 if there are keys. Lowers
 * *repeated to the first i whose key equals the previous one. */
#pragma cf kernel grid(n + 1) host(grid(n + 1)) in(key[n]) out(step[n + 1]) inout(repeated[1])
__global__ void differ(const int64_t *__restrict__ key, int64_t *__restrict__ step, int64_t *repeated, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n)
        return;
    step[i] = i > 0 && (i == n || key[i] != key[i - 1]);
    if (i > 0 && i < n && key[i] == key[i - 1])
        lower_to(repeated, i);
}

/* Sets below[i] to the number of elements of sorted that are less than value[i]. */
#pragma cf kernel grid(n) host(grid(n)) in(sorted[m], value[n]) out(below[n])
__global__ void search(const int64_t *__restrict__ sorted, const int64_t *__restrict__ value,
                       int64_t *__restrict__ below, int64_t n, int64_t m)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        below[i] = count_below(sorted, m, value[i]);
}

/* number[i] is the number of sorted key i among the distinct keys. Replaces it by a slot, and writes each distinct key,
 * minus its owner's first key, to its slot of wanted. Rank p owns the numbers from bound[p] and the keys from offset[p]
 * on; part[p] of its elements are sent in a round, from slot start[k * ranks + p] on in round k. */
#pragma cf kernel grid(n) host(grid(n)) inout(number[n], wanted[m]) \
    in(key[n], bound[ranks + 1], offset[ranks + 1], part[ranks], start[rounds * ranks])
__global__ void assign(int64_t *__restrict__ number, int64_t *__restrict__ wanted, const int64_t *__restrict__ key,
                       const int64_t *__restrict__ bound, const int64_t *__restrict__ offset,
                       const int64_t *__restrict__ part, const int64_t *__restrict__ start, int64_t n, int64_t m,
                       int64_t ranks, int64_t rounds)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int64_t owner = count_below(bound, ranks + 1, number[i] + 1) - 1;
    const int64_t at = number[i] - bound[owner];
    number[i] = start[at / part[owner] * ranks + owner] + at % part[owner];
    if (i == 0 || key[i] != key[i - 1])
        wanted[number[i]] = key[i] - offset[owner];
}

/* Makes each slot relative to the first slot of its round, which is start[k] in round k. Adds k N to the place of a
 * slot of round k; places are less than N. */
#pragma cf kernel grid(n) host(grid(n)) inout(slot[n], place[n]) in(start[rounds])
__global__ void enter_rounds(int64_t *__restrict__ slot, int64_t *__restrict__ place, const int64_t *__restrict__ start,
                       int64_t N, int64_t n, int64_t rounds)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int64_t round = count_below(start, rounds, slot[i] + 1) - 1;
    slot[i] -= start[round];
    place[i] += round * N;
}

/* Subtracts again what enter_rounds() has added to each place. */
#pragma cf kernel grid(n) host(grid(n)) inout(place[n])
__global__ void leave_rounds(int64_t *__restrict__ place, int64_t N, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        place[i] %= N;
}

/* Sets the bits of n elements of M, and lowers *first to the smallest element whose bit was already set. Negative
 * elements are ignored. */
#pragma cf kernel grid(n) host(grid(n)) in(element[n]) inout(bits[(M + 31) / 32], first[1])
__global__ void claim(const int64_t *__restrict__ element, unsigned int *__restrict__ bits, int64_t *first, int64_t n,
                      int64_t M)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || element[i] < 0)
        return;
    const unsigned int bit = 1u << (element[i] % 32);
    if (atomicOr(bits + element[i] / 32, bit) & bit)
        lower_to(first, element[i]);
}
