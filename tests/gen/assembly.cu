/* assembly.cu - inline PTX that the CPU runs too, for test_assembly.c. */
#include "assembly_rows.h"

#pragma cf include("assembly_rows.h")

#pragma cf kernel grid(n) in(a[n], b[n], c[n]) out(results[n * (COUNT_ROWS(ROWS_1) + COUNT_ROWS(ROWS_2) + \
    COUNT_ROWS(ROWS_3) + 5)])
__global__ void words(const unsigned *a, const unsigned *b, const unsigned *c, unsigned *results, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row = 0;
#define ROW(name, value) asm(name " %0, %1;" : "=r"(results[row++ * n + i]) : "r"(a[i]));
    ROWS_1(ROW)
#undef ROW
#define ROW(name, value) asm volatile(name "\t%0,%1,%2;" : "=r"(results[row++ * n + i]) : "r"(a[i]), "r"(b[i]));
    ROWS_2(ROW)
#undef ROW
#define ROW(name, value) \
    __asm__ __volatile__(name " %0, %1, %2, %3;\n" \
                         : "=r"(results[row++ * n + i]) \
                         : "r"(a[i]), "r"(b[i]), "r"(c[i]) \
                         : "memory");
    ROWS_3(ROW)
#undef ROW
    int most = (int)a[i];
    asm("bfi.b32 %0, %0, %0, %1, %2; // into itself" : "+r"(most) : "r"(b[i]), "r"(c[i]));
    results[row++ * n + i] = (unsigned)most;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(results[row++ * n + i]) : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    asm("lop3.b32 %0, %1, %2, %3, %4;"
        : "=r"(results[row++ * n + i])
        : "r"(a[i]), "r"(b[i]), "r"(c[i]), "n"(0xca));
    /* The statement evaluates its operands once. */
    asm("shl.b32 %0, %1, 5;\n\t"
        "xor.b32 %0, %0, %1; /* twice */"
        "add.u32 %0, %0, -3;"
        : "=r"(results[row++ * n + i])
        : "r"(a[i]));
    if (a[i] > b[i])
        asm("div.u32 %0, %1, %2;" : "=r"(most) : "r"(a[i]), "r"(b[i] | 1));
    else
        asm("rem.s32 %0, %1, %2;" : "=r"(most) : "r"(a[i]), "r"((b[i] & 0xffff) | 1));
    results[row++ * n + i] = (unsigned)most;
}

#pragma cf kernel grid(n) in(a[n], b[n], p[n], q[n]) \
    out(results[n * (COUNT_ROWS(ROWS_1_WIDE) + COUNT_ROWS(ROWS_2_WIDE) + COUNT_ROWS(ROWS_SHIFT) + \
        COUNT_ROWS(ROWS_PRODUCT) + 8)], counts[n * COUNT_ROWS(ROWS_COUNT)])
__global__ void wide(const unsigned *a, const unsigned *b, const unsigned long long *p, const unsigned long long *q,
                     unsigned long long *results, unsigned *counts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row = 0;
#define ROW(name, value) asm(name " %0, %1;" : "=l"(results[row++ * n + i]) : "l"(p[i]));
    ROWS_1_WIDE(ROW)
#undef ROW
#define ROW(name, value) asm(name " %0, %1, %2;" : "=l"(results[row++ * n + i]) : "l"(p[i]), "l"(q[i]));
    ROWS_2_WIDE(ROW)
#undef ROW
#define ROW(name, value) asm(name " %0, %1, %2;" : "=l"(results[row++ * n + i]) : "l"(p[i]), "r"(b[i]));
    ROWS_SHIFT(ROW)
#undef ROW
#define ROW(name, value) asm(name " %0, %1, %2;" : "=l"(results[row++ * n + i]) : "r"(a[i]), "r"(b[i]));
    ROWS_PRODUCT(ROW)
#undef ROW
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(results[row++ * n + i]) : "r"(a[i]), "r"(b[i]), "l"(q[i]));
    asm("mad.lo.u64 %0, %1, %2, %1;" : "=l"(results[row++ * n + i]) : "l"(p[i]), "l"(q[i]));
    // PTX defines places and counts up to 255.
    asm("bfe.u64 %0, %1, %2, %3;" : "=l"(results[row++ * n + i]) : "l"(p[i]), "r"(a[i] & 255), "r"(b[i] & 255));
    asm("bfe.s64 %0, %1, %2, %3;" : "=l"(results[row++ * n + i]) : "l"(p[i]), "r"(a[i] & 255), "r"(b[i] & 255));
    asm("bfi.b64 %0, %1, %2, %3, %4;"
        : "=l"(results[row++ * n + i])
        : "l"(p[i]), "l"(q[i]), "r"(a[i] & 255), "r"(b[i] & 255));
    unsigned low, high;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(p[i]));
    asm("mov.b64 %0, {%1, %2};" : "=l"(results[row++ * n + i]) : "r"(high), "r"(low));
    asm("cvt.s64.s32 %0, %1;" : "=l"(results[row++ * n + i]) : "r"(a[i]));
    asm("cvt.u64.u32 %0, %1;" : "=l"(results[row++ * n + i]) : "r"(a[i]));
    row = 0;
#define ROW(name, value) asm(name " %0, %1;" : "=r"(counts[row++ * n + i]) : "l"(p[i]));
    ROWS_COUNT(ROW)
#undef ROW
}

#pragma cf kernel grid(n) in(x[n], y[n], u[n], v[n]) \
    out(f32[n * (COUNT_ROWS(ROWS_FLOAT_1) + COUNT_ROWS(ROWS_FLOAT_2) + 3)], f64[n * (COUNT_ROWS(ROWS_DOUBLE) + 2)], \
        whole[4 * n])
__global__ void numbers(const float *x, const float *y, const double *u, const double *v, float *f32, double *f64,
                        int *whole, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row = 0;
#define ROW(name, value, far) asm(name " %0, %1;" : "=f"(f32[row++ * n + i]) : "f"(x[i]));
    ROWS_FLOAT_1(ROW)
#undef ROW
#define ROW(name, value, far) asm(name " %0, %1, %2;" : "=f"(f32[row++ * n + i]) : "f"(x[i]), "f"(y[i]));
    ROWS_FLOAT_2(ROW)
#undef ROW
    asm("fma.rn.f32 %0, %1, %2, 0f3F000000;" : "=f"(f32[row++ * n + i]) : "f"(x[i]), "f"(y[i]));
    asm("cvt.rn.f32.s32 %0, %1;" : "=f"(f32[row++ * n + i]) : "r"(i * 1234567));
    asm("cvt.rn.f32.f64 %0, %1;" : "=f"(f32[row++ * n + i]) : "d"(u[i]));
    row = 0;
#define ROW(name, value, far) asm(name " %0, %1, %2;" : "=d"(f64[row++ * n + i]) : "d"(u[i]), "d"(v[i]));
    ROWS_DOUBLE(ROW)
#undef ROW
    asm("fma.rn.f64 %0, %1, %2, %1;" : "=d"(f64[row++ * n + i]) : "d"(u[i]), "d"(v[i]));
    asm("cvt.f64.f32 %0, %1;" : "=d"(f64[row++ * n + i]) : "f"(x[i]));
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(whole[i]) : "f"(y[i] * 100));
    asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(whole[n + i]) : "f"(y[i] * 100));
    asm("cvt.rmi.s32.f64 %0, %1;" : "=r"(whole[2 * n + i]) : "d"(v[i] * 100));
    asm("mov.b32 %0, %1;" : "=r"(whole[3 * n + i]) : "f"(x[i]));
}

/* Copies 32 bytes by each kind of load and store, and reads numbers of 8 and 16 bits. */
#pragma cf kernel grid(n) in(from[n * 8]) out(to[n * 8], small[n * 6])
__global__ void copies(const unsigned *from, unsigned *to, int *small, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned *in = from + i * 8;
    unsigned *out = to + i * 8;
    float4 four;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
                 : "l"(in));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(in + 4));
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(out), "f"(four.x), "f"(four.y), "f"(four.z),
                 "f"(four.w)
                 : "memory");
    unsigned long long pair;
    asm("ld.global.cg.b64 %0, [%1+16];" : "=l"(pair) : "l"(in));
    asm("st.global.u64 [%0 + 16], %1;" ::"l"(out), "l"(pair) : "memory");
    asm volatile("membar.gl;");
    uint2 two;
    asm("ld.global.ca.v2.u32 {%0, %1}, [%2 + 24];" : "=r"(two.x), "=r"(two.y) : "l"(in));
    asm("st.volatile.global.u32 [%0 + 24], %1;" ::"l"(out), "r"(two.x) : "memory");
    asm("st.global.u16 [%0 + 28], %1;" ::"l"(out), "h"((unsigned short)two.y) : "memory");
    asm("st.global.u8 [%0 + 30], %1;" ::"l"(out), "r"(two.y >> 16) : "memory");
    asm("st.global.u8 [%0 + 31], %1;" ::"l"(out), "r"(two.y >> 24) : "memory");
    asm("ld.global.nc.u8 %0, [%1];" : "=r"(small[i * 6]) : "l"(in));
    asm("ld.global.s8 %0, [%1];" : "=r"(small[i * 6 + 1]) : "l"(in));
    asm("ld.global.u16 %0, [%1];" : "=r"(small[i * 6 + 2]) : "l"(in));
    asm("ld.s16 %0, [%1];" : "=r"(small[i * 6 + 3]) : "l"(in));
    asm("ld.volatile.global.s32 %0, [%1];" : "=r"(small[i * 6 + 4]) : "l"(in));
    asm("fence.acq_rel.gpu; ld.acquire.gpu.global.u32 %0, [%1 + 4];" : "=r"(small[i * 6 + 5]) : "l"(in) : "memory");
}

/* ---- Special registers ---- */

enum { REGISTERS = 20 };

__device__ unsigned lane()
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

#pragma cf kernel blocks(2, 3, 2) block(8, 6, 3) out(found[2 * 3 * 2 * 144][REGISTERS])
__global__ void registers(unsigned *found)
{
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned *own = found + (block * 144 + (threadIdx.z * 6 + threadIdx.y) * 8 + threadIdx.x) * REGISTERS;
    int at = 0;
#define READ(name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(own[at++]));
    READ("tid.x") READ("tid.y") READ("tid.z")
    READ("ntid.x") READ("ntid.y") READ("ntid.z")
    READ("ctaid.x") READ("ctaid.y") READ("ctaid.z")
    READ("nctaid.x") READ("nctaid.y") READ("nctaid.z")
    READ("lanemask_eq") READ("lanemask_lt") READ("lanemask_le") READ("lanemask_gt") READ("lanemask_ge")
    own[at++] = lane();
    unsigned warp, warps, processor, processors, first, last;
    long long begin, end;
    unsigned long long now;
    asm volatile("mov.u32 %0, %clock;" : "=r"(first));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(begin));
    asm volatile("mov.u32 %0, %warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %nwarpid;" : "=r"(warps));
    asm volatile("mov.u32 %0, %smid; mov.u32 %1, %nsmid;" : "=r"(processor), "=r"(processors));
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(end));
    asm volatile("mov.u32 %0, %clock;" : "=r"(last));
    own[at++] = warp < warps && processor < processors;
    own[at++] = begin <= end && last - first < 1u << 31 && now > 0;
}

/* The CPU runs such kernels as a loop. */
#pragma cf kernel grid(n) block(64) out(place[n][2])
__global__ void places(unsigned *place, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    place[2 * i] = lane();
    unsigned index;
    asm("mov.u32 %0, %ctaid.x; mad.lo.u32 %0, %0, %1, %2;" : "=r"(index) : "r"(blockDim.x), "r"(threadIdx.x));
    place[2 * i + 1] = index;
}
