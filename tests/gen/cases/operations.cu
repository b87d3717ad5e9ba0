// Operations: entry points that make several launches.
#include <stdint.h>

/* Counts digits. */
#pragma cf kernel internal grid(n) in(keys[n]) inout(counts[256])
#pragma cf instances(u32: uint32_t; u64: uint64_t)
template <typename T> __global__ void count(const T *keys, uint32_t *counts, int64_t n)
{
}

#pragma cf kernel grid(n) in(keys[n], counts[256]) out(sorted[n]) host(none)
#pragma cf instances(u32: uint32_t; u64: uint64_t)
template <typename T> __global__ void move(const T *keys, const uint32_t *counts, T *sorted, int64_t n)
{
}

namespace parts {
#pragma cf kernel name(clear) internal grid(n) out(x[n])
__global__ void clear_it(uint32_t *x, int64_t n)
{
}
}

/* Sorts keys; with a scratch array, a part of it zero, checks, and what is reported. */
#pragma cf operation in(keys[n]) out(sorted[n]) scratch(other[n], work[256 + 2 * N]) zero(work[256]) uses(count, move, clear) \
    check(0 <= bits <= 8 * sizeof(T), N > 0) inplace(keys, sorted) bytes(16.0 * n * sizeof(T)) tolerance(0)
#pragma cf instances(u32: uint32_t; u64: uint64_t)
template <typename T> void sort(const T *keys, T *sorted, T *other, uint32_t *work, int64_t n, int bits, int N);

/* Uses an instance of another kernel by its name, all instances of a kernel without this tag, a bundled kernel, and
 * another operation. It is internal, in a namespace, and no template. */
namespace parts {
#pragma cf operation internal name(sort_some) inout(x[m][n]) in(index[n]) pitch(x: ld) check(ld >= n, 0 <= index[:] < m) \
    uses(move_u64, count, cf_sum_f32, sort_u32) check(distinct(index)) resident(elsewhere)
void sort_rows(float *x, const int32_t *index, float **elsewhere, int32_t stream, int m, int n, int ld);
}

/* Nothing but kernels that the CPU has. */
#pragma cf operation uses(clear)
extern "C" void nothing(void);

/* Of bundled families the instance of the same tag, or all. */
#pragma cf operation in(x[n]) out(y[1]) uses(cf_sum, cf_argsort)
#pragma cf instances(f32: float; f64: double)
template <typename T> void bundled(const T *x, T *y, int64_t n);
