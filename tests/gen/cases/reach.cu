/* The reach of kernels: names begin with `bounded` or `loops`, then `closed` or `open`, as has to be found. */
#include <stdint.h>
#include <stdio.h>

#include "reach_data.h"
#include "reach_types.h"

#pragma cf include("reach_types.h")

#define EACH(i, n) for (int i = 0; i < n; i++)
#define TWICE(x) ((x) * 2)

/* ---- Declarations at file scope */

__constant__ float weights[3];
__constant__ const float fixed_weights[3] = {1, 2, 1};
__device__ int counter;
__device__ constexpr int primes[] = {2, 3, 5};
static const float half_of = 0.5f;
constexpr int SIZE = 4;
__device__ const char *changing = nullptr;
static __device__ const float *const kept = nullptr;
static int host_counter;
namespace deep {
namespace inner {
__device__ float hidden = 1;
}
}
extern __device__ int elsewhere;
struct defaults {
    float scale;
    __device__ float apply(float x) const { return scale * x; }
} static __device__ preset = {2};

/* ---- Functions */

__device__ float square(float x)
{
    return x * x;
}
__device__ __forceinline__ float fourth(float x)
{
    return square(square(x));
}
__device__ float looped(float x, int n)
{
    while (n-- > 0)
        x += 1;
    return x;
}
__device__ float to_loop(float x)
{
    return looped(x, 3);
}
__device__ int factorial(int n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}
__device__ int odd(int n);
__device__ int even(int n)
{
    return n == 0 ? 1 : odd(n - 1);
}
__device__ int odd(int n)
{
    return n == 0 ? 0 : even(n - 1);
}
__device__ float counts(float x)
{
    atomicAdd(&counter, 1);
    return x;
}
__device__ float remembers(float x)
{
    static float last;
    float before = last;
    last = x;
    return before;
}
__device__ float table(int i)
{
    static const float values[] = {1, 2, 3};
    return values[i % 3];
}
__device__ float not_here(float x);

/* A function with a kernel's name, for the host only, so that no kernel calls it. */
static void bounded_closed_wrapper(int n)
{
    for (host_counter = 0; host_counter < n;)
        host_counter++;
}

struct walker {
    int at;
    __device__ int step() { return at + 1; }
    __device__ int two() { return step() + step(); }
};
struct runner {
    int at;
    __device__ int run() { do at++; while (at < 9); return at; }
};
struct caller {
    __device__ int again(int n) { return n ? again(n - 1) : 0; }
};

/* ---- Kernels */

#define ELEMENTS _Pragma("cf kernel grid(n) inout(x[n])")

ELEMENTS __global__ void bounded_closed_plain(float *x, int n) { x[0] = TWICE(fourth(x[0])) * half_of * SIZE * fixed_weights[0]; }
ELEMENTS __global__ void bounded_closed_table(float *x, int n) { x[0] = table(n) + primes[1] + (kept != nullptr); }
ELEMENTS __global__ void bounded_closed_prints(float *x, int n) { printf("%f\n", x[0]); }
ELEMENTS __global__ void bounded_closed_wrapper(float *x, int n) { x[0] = n; }
ELEMENTS __global__ void bounded_closed_class(float *x, int n) { walker w = {n}; x[0] = w.two(); }
ELEMENTS __global__ void bounded_closed_word(float *x, int n) { const char *text = "for while"; x[0] = text[n & 1]; /* for */ }
ELEMENTS __global__ void bounded_closed_casts(float *x, int64_t n)
{
    const float4 *four = (const float4 *)x;
    float local[4];
    int *bits = reinterpret_cast<int *>(&local[0]);
    x[0] = four[0].x + bits[1] + (float)n + *(unsigned *)(void *)local;
}
ELEMENTS __global__ void loops_closed_plain(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] += 1;
}
ELEMENTS __global__ void loops_closed_goto(float *x, int n) { again: if (x[0] < n) { x[0]++; goto again; } }
ELEMENTS __global__ void loops_closed_macro(float *x, int n) { EACH(i, n) x[i] = 0; }
ELEMENTS __global__ void loops_closed_helper(float *x, int n) { x[0] = to_loop(x[0]); }
ELEMENTS __global__ void loops_closed_itself(float *x, int n) { x[0] = factorial(n); }
ELEMENTS __global__ void loops_closed_each_other(float *x, int n) { x[0] = even(n); }
ELEMENTS __global__ void loops_closed_method(float *x, int n) { runner r = {n}; x[0] = r.run(); }
ELEMENTS __global__ void loops_closed_method_itself(float *x, int n) { caller c; x[0] = c.again(n); }
ELEMENTS __global__ void loops_open_unknown(float *x, int n) { x[0] = not_here(x[0]); }

ELEMENTS __global__ void bounded_open_constant(float *x, int n) { x[0] *= weights[1]; }
ELEMENTS __global__ void bounded_open_device(float *x, int n) { x[0] = counter; }
ELEMENTS __global__ void bounded_open_through_a_function(float *x, int n) { x[0] = counts(x[0]); }
ELEMENTS __global__ void bounded_open_local_static(float *x, int n) { x[0] = remembers(x[0]); }
ELEMENTS __global__ void bounded_open_namespace(float *x, int n) { x[0] = deep::inner::hidden; }
ELEMENTS __global__ void bounded_open_extern(float *x, int n) { x[0] = elsewhere; }
ELEMENTS __global__ void bounded_open_pointer_that_changes(float *x, int n) { x[0] = changing == nullptr; }
ELEMENTS __global__ void bounded_open_with_its_class(float *x, int n) { x[0] = preset.apply(x[0]); }
ELEMENTS __global__ void bounded_open_header(float *x, int n) { x[0] = from_header; }

#pragma cf kernel grid(n) inout(x[n])
__global__ void bounded_open_address(float *x, uint64_t address, int n) { x[0] = *(const float *)address; }
#pragma cf kernel grid(n) inout(x[n]) in(addresses[n])
__global__ void bounded_open_addresses(float *x, const uint64_t *addresses, int n) { x[0] = *reinterpret_cast<const float *>(addresses[0] + 8); }
#pragma cf kernel grid(n) inout(x[n]) resident(y)
__global__ void bounded_open_undeclared(float *x, float *y, int n) { x[0] = y[0]; }
#pragma cf kernel grid(n) inout(x[n])
__global__ void bounded_open_view(float *x, struct view v, int n) { x[0] = v.data[0]; }
#pragma cf kernel grid(n) inout(x[n])
__global__ void bounded_closed_range(float *x, struct range r, int n) { x[0] = r.first[1] + r.count; }
#pragma cf kernel grid(n) in(views[n]) inout(x[n])
__global__ void bounded_open_views(float *x, const struct view *views, int n) { x[0] = views[0].data[0]; }
#pragma cf kernel grid(n) in(rows[n]) inout(x[n])
__global__ void bounded_open_rows(float *x, const float *const *rows, int n) { x[0] = rows[0][0]; }

/* ---- Functions for the CPU */

static void on_cpu(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = i;
}
static void counting_on_cpu(float *x, int n)
{
    x[0] = host_counter++;
}
#pragma cf kernel grid(n) inout(x[n]) host(on_cpu)
__global__ void bounded_closed_host(float *x, int n) { x[0] = 1; }
#pragma cf kernel grid(n) inout(x[n]) host(counting_on_cpu)
__global__ void bounded_open_host(float *x, int n) { x[0] = 1; }
#pragma cf kernel grid(n) inout(x[n]) host(in_another_file)
__global__ void bounded_closed_host_elsewhere(float *x, int n) { x[0] = 1; }

/* Annotated where it is declared. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void loops_open_later(float *x, int n);
__global__ void loops_open_later(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = weights[i];
}
