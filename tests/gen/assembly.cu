/* assembly.cu - inline PTX that the CPU runs, too, for test_assembly.c. */
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
    /* The statement must evaluate each operand only once. */
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
    // PTX defines positions and lengths up to 255.
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

/* Copies 32 bytes with each kind of load and store, and reads numbers of 8 and 16 bits. */
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

/* ---- State that lasts within a statement, and between statements ---- */

enum { CARRIES = 10, CHOICES = 8 };

#pragma cf kernel grid(n) in(a[n], b[n], c[n], p[n], q[n]) out(results[CARRIES * n])
__global__ void carries(const unsigned *a, const unsigned *b, const unsigned *c, const unsigned long long *p,
                        const unsigned long long *q, unsigned long long *results, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned p0 = (unsigned)p[i], p1 = (unsigned)(p[i] >> 32), q0 = (unsigned)q[i], q1 = (unsigned)(q[i] >> 32);
    unsigned long long low, high;
    unsigned x, y, z;
    asm("add.cc.u64 %0, %2, %3; addc.u64 %1, %3, %2;" : "=&l"(low), "=l"(high) : "l"(p[i]), "l"(q[i]));
    results[i] = low, results[n + i] = high;
    asm("sub.cc.s64 %0, %2, %3; subc.s64 %1, %3, %2;" : "=&l"(low), "=l"(high) : "l"(p[i]), "l"(q[i]));
    results[2 * n + i] = low, results[3 * n + i] = high;
    asm("{\n\t"
        ".reg .u32 %%low, high;\n\t"
        "mad.lo.cc.u32 %%low, %1, %2, %3;\n\t"
        "madc.hi.u32 high, %1, %2, %4;\n\t"
        "mov.b64 %0, {%%low, high};\n\t"
        "}"
        : "=l"(results[4 * n + i])
        : "r"(a[i]), "r"(b[i]), "r"(q0), "r"(q1));
    /* The carry flag is kept between statements. */
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(x) : "r"(p0), "r"(q0));
    asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(y) : "r"(p1), "r"(q1));
    asm volatile("addc.u32 %0, 0, 0;" : "=r"(z));
    results[5 * n + i] = (unsigned long long)y << 32 | x, results[6 * n + i] = z;
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(x) : "r"(p0), "r"(q0));
    asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(y) : "r"(p1), "r"(q1));
    asm volatile("subc.u32 %0, 0, 0;" : "=r"(z));
    results[7 * n + i] = (unsigned long long)y << 32 | x, results[8 * n + i] = z;
    asm("mad.hi.cc.u32 %0, %2, %3, %4; madc.lo.cc.u32 %1, %2, 0, 0;"
        : "=&r"(x), "=r"(y)
        : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    results[9 * n + i] = (unsigned long long)y << 32 | x;
}

#pragma cf kernel grid(n) in(x[n], y[n]) \
    out(results[n * COUNT_ROWS(ROWS_EXTREME)])
__global__ void extremes(const float *x, const float *y, unsigned *results, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row = 0;
#define ROW(name, value) \
    asm("{ .reg .f32 t; " name " t, %1, %2; mov.b32 %0, t; }" \
        : "=r"(results[row++ * n + i]) \
        : "f"(x[i]), "f"(y[i]));
#define LACK(name, value) results[row++ * n + i] = LACKING;
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 860
    ROWS_EXTREME(LACK)
#else
    ROWS_EXTREME(ROW)
#endif
#undef LACK
#undef ROW
}

#pragma cf kernel grid(n) in(a[n], b[n], c[n], x[n], y[n]) \
    out(results[n * (COUNT_ROWS(ROWS_COMPARE) + COUNT_ROWS(ROWS_COMPARE_FLOAT) + COUNT_ROWS(ROWS_SATURATED) + CHOICES)])
__global__ void choices(const unsigned *a, const unsigned *b, const unsigned *c, const float *x, const float *y,
                        unsigned *results, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row = 0;
#define ROW(name, value) \
    asm("{ .reg .pred p; " name " p, %1, %2; selp.u32 %0, 1, 0, p; }" \
        : "=r"(results[row++ * n + i]) \
        : "r"(a[i]), "r"(b[i]));
    ROWS_COMPARE(ROW)
#undef ROW
#define ROW(name, value) \
    asm("{ .reg .pred p; " name " p, %1, %2; selp.u32 %0, 1, 0, p; }" \
        : "=r"(results[row++ * n + i]) \
        : "f"(x[i]), "f"(y[i]));
    ROWS_COMPARE_FLOAT(ROW)
#undef ROW
#define ROW(name, value) asm(name " %0, %1, %2;" : "=r"(results[row++ * n + i]) : "r"(a[i]), "r"(b[i]));
    ROWS_SATURATED(ROW)
#undef ROW
    unsigned to = 0;
    asm(R"({
        .reg .pred p, q, both;
        .reg .b32 t<2>;
        setp.lt.u32 p, %1, %2;
        setp.ne.and.b32 q|both, %3, 0, p;   // q: c != 0 and p; both: c == 0 and p
        mov.b32 t0, 10;
        @p add.u32 t0, t0, 1;
        @!p add.u32 t0, t0, 2;
        { .reg .b32 t1; mov.b32 t1, 100; @q add.u32 t0, t0, t1; }
        mov.b32 t1, 1000;
        @both add.u32 t0, t0, t1;
        not.pred p, p;
        or.pred p, p, q;
        selp.b32 t1, 10000, 0, p;
        add.u32 %0, t0, t1;
    })"
        : "=r"(to)
        : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    results[row++ * n + i] = to;
    asm(R"({
        .reg .pred p, q;
        setp.lt.u32 p, %1, %2;
        setp.ne.and.b32 p|q, %3, 0, p;      // both targets need p as it was
        selp.u32 %0, 1, 0, p;
        @q add.u32 %0, %0, 2;
    })"
        : "=r"(results[row++ * n + i])
        : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    asm("{ .reg .u32 _x, %%x; mov.u32 _x, %1; mov.u32 %%x, %2; sub.u32 %0, _x, %%x; }"
        : "=r"(results[row++ * n + i])
        : "r"(a[i]), "r"(b[i]));
    /* A statement without instructions leaves its operands unchanged. */
    float same = x[i];
    asm("" : "+f"(same));
    asm volatile("// nothing\n" : "+r"(to) : "f"(same) : "memory");
    asm volatile("/* nothing */");
    results[row++ * n + i] = to + (same == x[i] || same != same ? 0 : 1);
    asm("{ .reg .u32 t; mov.u32 t, %%laneid; and.b32 t, t, %1; shl.b32 %0, t, WARP_SZ; or.b32 %0, %0, t; }"
        : "=&r"(results[row++ * n + i])
        : "n"(7));
    /* Halves, and numbers that are limited to 0 and 1 or to the range of a byte. */
    unsigned short bits;
    float wide, unit;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x[i]));
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
    asm("mov.b32 %0, %1;" : "=r"(results[row++ * n + i]) : "f"(wide));
    asm("add.sat.f32 %0, %1, %2;" : "=f"(unit) : "f"(x[i]), "f"(y[i]));
    asm("mov.b32 %0, %1;" : "=r"(results[row++ * n + i]) : "f"(unit));
    asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(results[row++ * n + i]) : "f"(x[i] * 1000));
}

/* ---- Shared memory and atomic operations ---- */

enum { CELLS = 10 };

__device__ unsigned shared_address(const void *address)
{
    return (unsigned)__cvta_generic_to_shared(address);
}

/* Takes the address of a variable, of its end, or of memory that is not shared. */
#pragma cf kernel blocks(1) block(1) out(y[1]) shared(16)
__global__ void addresses(int kind, unsigned *y)
{
    __shared__ unsigned own[4];
    extern __shared__ unsigned dynamic[];
    own[0] = dynamic[0] = 0;
    y[0] = shared_address(kind == 0 ? own + 4 : kind == 1 ? dynamic + 4 : kind == 2 ? dynamic + 5 : y) -
           shared_address(kind == 0 ? own : dynamic);
}

/* Takes the address of memory that is not shared, in assembly only. */
#pragma cf kernel blocks(1) block(1) inout(y[1])
__global__ void address_of_global(unsigned long long *y)
{
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(y[0]) : "l"(y));
}

/* Each block reverses its row through shared memory, the last time by copies that the hardware makes. */
#pragma cf kernel blocks((n + 63) / 64) block(64) in(x[n]) out(y[2 * n]) shared(2 * 64 * sizeof(unsigned))
__global__ void rows(const unsigned *x, unsigned *y, int n)
{
    __shared__ unsigned own[2][64];
    extern __shared__ unsigned dynamic[];
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(&own[1][t])),
                 "l"(x + (i < n ? i : 0)), "r"(i < n ? 4 : 0)
                 : "memory");
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group %0;" ::"n"(0) : "memory");
    asm volatile("st.shared.u32 [%0+256], %1;" ::"r"(shared_address(dynamic + t)), "r"(i < n ? x[i] : 0) : "memory");
    asm volatile("bar.sync 0;" ::: "memory");
    unsigned first, second;
    asm volatile("ld.shared.u32 %0, [%1 + 256];" : "=r"(first) : "r"(shared_address(&own[0][63 - t])));
    asm volatile("{ .reg .u64 at; cvta.to.shared.u64 at, %1; ld.volatile.shared.u32 %0, [at]; }"
                 : "=r"(second)
                 : "l"(dynamic + 64 + 63 - t));
    if (i < n) {
        y[i] = first;
        y[n + i] = second;
    }
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(cells[CELLS], wide[2], numbers[1])
__global__ void cells(const unsigned *x, unsigned *cells, unsigned long long *wide, float *numbers, int n)
{
    __shared__ unsigned sum;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        sum = 0;
    asm volatile("barrier.sync 0;");
    if (i < n) {
        unsigned before, exchanged, compared;
        asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(shared_address(&sum)), "r"(x[i]) : "memory");
        asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(cells) : "memory");
        asm volatile("red.global.add.u32 [%0 + 4], %1;" ::"l"(cells), "r"(before) : "memory");
        asm volatile("red.min.s32 [%0], %1;" ::"l"(cells + 2), "r"(x[i]) : "memory");
        asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(cells + 3), "r"(x[i]) : "memory");
        asm volatile("red.global.and.b32 [%0], %1;" ::"l"(cells + 4), "r"(x[i]) : "memory");
        asm volatile("red.global.or.b32 [%0], %1;" ::"l"(cells + 5), "r"(x[i]) : "memory");
        asm volatile("red.global.xor.b32 [%0], %1;" ::"l"(cells + 6), "r"(x[i]) : "memory");
        asm volatile("atom.acq_rel.gpu.global.exch.b32 %0, [%1], %2;"
                     : "=r"(exchanged)
                     : "l"(cells + 7), "r"(7)
                     : "memory");
        asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;"
                     : "=r"(compared)
                     : "l"(cells + 8), "r"(0), "r"(8)
                     : "memory");
        if ((exchanged != 0 && exchanged != 7) || (compared != 0 && compared != 8))
            cells[0] = 0;
        asm volatile("red.global.inc.u32 [%0], %1;" ::"l"(cells + 9), "r"(99) : "memory");
        asm volatile("red.global.add.u64 [%0], %1;" ::"l"(wide), "l"(3000000000ull) : "memory");
        asm volatile("red.global.add.f32 [%0], %1;" ::"l"(numbers), "f"(0.5f) : "memory");
    }
    asm volatile("bar.sync 0;" ::: "memory");
    if (threadIdx.x == 0)
        asm volatile("{\n\t"
                     ".reg .u32 t;\n\t"
                     ".reg .u64 w;\n\t"
                     "ld.shared.u32 t, [%0];\n\t"
                     "cvt.u64.u32 w, t;\n\t"
                     "red.global.add.u64 [%1], w;\n\t"
                     "}" ::"r"(shared_address(&sum)),
                     "l"(wide + 1)
                     : "memory");
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

/* The CPU runs this kernel as a loop over its threads. */
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
