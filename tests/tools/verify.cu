/* verify.cu - kernels that cf-run --verify --all finds correct, finds wrong, or cannot run. */
#include <stdint.h>
#include <stdlib.h>

#include <cuda_fp16.h>

#include "run_types.h"

/* ---- Correct kernels ---- */

/* Has conditions that few numbers satisfy. */
#pragma cf kernel grid(n) in(x[n * k]) out(y[n]) check(n % 2 == 0, k > n % 5, 0.4 < c <= 0.5, 7 <= shift < 9)
__global__ void picky(const int *x, int *y, int n, int k, double c, int shift)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i * k] << shift;
}

/* Has sections in the middle of rows; the bytes between them must not change. */
#pragma cf kernel grid(nx, ny) block(16, 8) in(u[1:ny][2:nx]) out(v[1:ny][2:nx]) pitch(u: ld; v: ld) check(ld >= nx + 2)
__global__ void midst(const float *u, float *v, int nx, int ny, int ld)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny)
        v[(y + 1) * ld + x + 2] = 2 * u[(y + 1) * ld + x + 2];
}

/* Has indices with every kind of bound. */
#pragma cf kernel grid(n) in(i[n], j[n], k[n], x[m]) inout(y[n]) check(0 <= i[:] < m, j[:] < 0, k[:] > 200)
__global__ void indexed(const int *i, const signed char *j, const unsigned char *k, const double *x, double *y, int n,
                        int m)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n)
        y[t] += x[i[t]] + (j[t] >= 0 || k[t] <= 200);
}

/* Has members of structs and vectors, each with a range of its own. */
#pragma cf kernel include("run_types.h") grid(n) in(ends[n], bodies[n]) out(y[n]) \
    check(3 <= ends[:].x < m + 3, ends[:].y < 0, 100 < bodies[:].id, bodies[:].id <= 104) check(m >= 1)
__global__ void linked(const int2 *ends, const body *bodies, int *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = ends[i].x >= 3 && ends[i].x < m + 3 && ends[i].y < 0 && bodies[i].id > 100 && bodies[i].id <= 104;
}

/* Has more checks than members: the checks of one member are merged. */
#define X_TWICE 3 <= ends[:].x, ends[:].x < m + 3
#define X_8_TIMES X_TWICE, X_TWICE, X_TWICE, X_TWICE
#pragma cf kernel grid(n) in(ends[n]) out(y[n]) check(m >= 1) \
    check(X_8_TIMES, X_8_TIMES, X_8_TIMES, X_8_TIMES, X_8_TIMES, 5 <= ends[:].y, ends[:].y < 7, ends[:].y > 5)
__global__ void merged(const int2 *ends, int *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = ends[i].x >= 3 && ends[i].x < m + 3 && ends[i].y == 6;
}

/* Has more members than verify can bound. */
struct wide {
    int v[33];
};
#define V3(i) 0 <= rows[:].v[i], 0 <= rows[:].v[i + 1], 0 <= rows[:].v[i + 2]
#pragma cf kernel grid(n) in(rows[n]) out(y[n]) \
    check(V3(0), V3(3), V3(6), V3(9), V3(12), V3(15), V3(18), V3(21), V3(24), V3(27), V3(30))
__global__ void crowded(const wide *rows, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = rows[i].v[32];
}

/* Works in place, with arrays of other lengths and other types of the same size; all inputs may be one array. */
#pragma cf kernel grid(n) in(x[n + 1], k[n]) inout(y[n]) inplace(x, y, k) check(0 <= x[:] < 50, 20 <= k[:] < 200)
__global__ void adds(const int *x, const unsigned *k, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += x[i] + (x[i] >= 50 || k[i] < 20 ? 1000 : (int)k[i]);
}

/* Has counts that are 0 if there are no elements. */
#pragma cf kernel grid(n) in(x[n]) out(counts[bins]) zero(counts) check(bins >= 1)
__global__ void tally(const int *x, int *counts, int n, int bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[x[i] % bins], 1);
}

/* Does not write the padding of structs; one number may deviate. */
struct tile {
    char kind;
    struct {
        short row;
        double weight;
    } cells[3];
    union {
        float whole;
        unsigned short half[2];
    };
};

__device__ float drift;

#pragma cf kernel blocks(1) block(1) out(tiles[n]) tolerance(1e-3)
__global__ void pads(tile *tiles, int n)
{
    drift += 1e-5f;
    for (int i = 0; i < n; i++) {
        tiles[i].kind = 'a' + i % 26;
        tiles[i].whole = 1;
        for (int k = 0; k < 3; k++) {
            tiles[i].cells[k].row = k;
            tiles[i].cells[k].weight = 1 + drift;
        }
    }
}

/* Numbers deviate from run to run, unless members of the structs are 0. */
struct load {
    char is_there;
    double parts[2];
};

#pragma cf kernel blocks(1) block(1) in(loads[n]) out(y[n])
__global__ void weighs(const load *loads, double *y, int n)
{
    drift += 1;
    for (int i = 0; i < n; i++)
        y[i] = loads[i].is_there * loads[i].parts[1] * drift;
}

#pragma cf kernel blocks(1) block(1) out(y[n])
__global__ void loads(load by, double *y, int n)
{
    drift += 1;
    for (int i = 0; i < n; i++)
        y[i] = by.is_there * by.parts[1] * drift;
}

#pragma cf kernel include("run_types.h") blocks(1) block(1) out(readings[n]) tolerance(0.1)
__global__ void rounds(reading *readings, int n)
{
    drift += 0.01f;
    for (int i = 0; i < n; i++) {
        readings[i].value = __float2half(1 + drift);
        readings[i].at = {drift, 0, 1};
    }
}

/* ---- Wrong kernels ---- */

/* Members that differ in each run: an integer, by less than the tolerance for numbers, and a number. */
__device__ int passes_made;

#pragma cf kernel blocks(1) block(1) out(tiles[n]) tolerance(5)
__global__ void miscounts(tile *tiles, int n)
{
    passes_made++;
    for (int i = 0; i < n; i++) {
        tiles[i].kind = 'a';
        tiles[i].whole = 1;
        for (int k = 0; k < 3; k++) {
            tiles[i].cells[k].row = i == 17 && k == 2 ? passes_made : 0;
            tiles[i].cells[k].weight = passes_made;
        }
    }
}

#pragma cf kernel blocks(1) block(1) out(tiles[n])
__global__ void reweighs(tile *tiles, int n)
{
    passes_made++;
    for (int i = 0; i < n; i++) {
        tiles[i].kind = 'a';
        tiles[i].whole = 1;
        for (int k = 0; k < 3; k++) {
            tiles[i].cells[k].row = 0;
            tiles[i].cells[k].weight = i == 30 && k ? passes_made / 4.0 : 0;
        }
    }
}

/* A struct with a type that is compared only as bytes. */
struct flags {
    int low : 3, high : 5;
};

struct marked {
    float x;
    flags set;
};

#pragma cf kernel blocks(1) block(1) out(y[n])
__global__ void remarks(marked *y, int n)
{
    passes_made++;
    for (int i = 0; i < n; i++) {
        y[i].x = i;
        y[i].set.low = passes_made;
        y[i].set.high = 0;
    }
}

/* Without threads, writes no element. */
#pragma cf kernel grid(n) in(x[n]) out(y[m])
__global__ void deals(const int *x, int *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = i; i < n && k < m; k += n)
        y[k] = x[i];
}

/* Is wrong in place, contrary to its annotation: the last threads read elements that the first threads have written. */
#pragma cf kernel grid(n) in(x[n + 1], w[n]) out(y[n]) inplace(x, w, y)
__global__ void differences(const float *x, const float *w, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = w[i] * (x[n - i] - x[i]);
}

/* Works in place, but writes the element of another thread. */
#pragma cf kernel grid(n) in(x[n + 1]) inout(y[n]) inplace(y, x)
__global__ void reaches(int *y, const int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x != y)
        y[i] += x[i];
    else if (i < n)
        y[i == 5 ? n : i] += x[i];
}

/* Both are wrong in parts, contrary to their annotations: one writes global indices, the other reads its neighbour. */
#pragma cf kernel grid(n) out(y[n]) split(n)
__global__ void numbers(int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = i;
}

/* Is wrong in parts, too, but few calls pass its check. */
#pragma cf kernel grid(n) out(y[n]) split(n) check(n % 16 == 0)
__global__ void sixteens(int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = i;
}

#pragma cf kernel grid(rows * width) in(x[rows][width]) out(y[rows][width]) split(rows)
__global__ void smooths(const float *x, float *y, uint8_t rows, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * width)
        y[i] = i < width ? x[i] : x[i] - x[i - width];
}

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void forgets(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i != 30)
        y[i] = x[i];
}

/* Passes a value to the next thread in an array that it promises not to write. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void scribbles(float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
    if (i < n && i == 5)
        x[i] = -1;
}

/* Writes between the rows. */
#pragma cf kernel grid(nx, ny) block(16, 8) out(v[ny][nx]) pitch(v: ld) check(ld > nx)
__global__ void spills(float *v, int nx, int ny, int ld)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x <= nx && y < ny - (x == nx))
        v[y * ld + x] = 1;
}

/* Writes before the array. */
#pragma cf kernel grid(n) out(y[n]) host(precedes_on_cpu)
__global__ void precedes(short *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 1;
}

static void precedes_on_cpu(short *y, int n)
{
    for (int i = n == 33 ? -1 : 0; i < n; i++)
        y[i] = 1;
}

/* Writes after the array. */
#pragma cf kernel grid(n + 1) out(y[n]) host(passes_on_cpu)
__global__ void passes(unsigned char *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 1;
}

static void passes_on_cpu(unsigned char *y, int n)
{
    for (int i = 0; i < n + (n == 33); i++)
        y[i] = 1;
}

/* Gives a different result in each run. */
__device__ int runs;

#pragma cf kernel blocks(1) block(1) out(count[1])
__global__ void counts(int *count)
{
    *count = ++runs + 10 * (blockDim.x + blockIdx.x);
}

#pragma cf kernel grid(n) in(x[n]) out(y[n]) tolerance(1 - n) check(n > 1)
__global__ void tolerant(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}

/* Crashes the process, but only on the CPU. */
static void strays_on_cpu(const int *x, int *y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i + (n < 33 ? 0 : 1ll << 40)];
}

#pragma cf kernel grid(n) in(x[n]) out(y[n]) host(strays_on_cpu)
__global__ void strays(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}

/* Ends the process by another signal. */
static void falls_on_cpu(const int *x, int *y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i];
    if (n > 31)
        abort();
}

#pragma cf kernel grid(n) in(x[n]) out(y[n]) host(falls_on_cpu)
__global__ void falls(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}

/* ---- Kernels that cannot run ---- */

#pragma cf kernel grid(n) out(y[n]) check(n > 5, n < 5)
__global__ void never(int *y, int n)
{
}

#pragma cf kernel blocks(1) block(n + 2000) out(y[n])
__global__ void too_large(int *y, int n)
{
}

#pragma cf kernel grid(n) out(y[n]) host(none)
__global__ void elsewhere(int *y, int n)
{
}

/* Has pointers that no clause declares: one in a value, one in elements. */
struct view {
    int n;
    const float *data;
};

#pragma cf kernel grid(v.n) out(y[v.n])
__global__ void through(view v, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.n)
        y[i] = v.data[i];
}

struct pair {
    view views[2];
};

#pragma cf kernel grid(n) in(pairs[n]) out(y[n])
__global__ void among(const pair *pairs, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = pairs[i].views[1].data[0];
}

/* Class types: a descriptor records only their size in bytes. */
class hidden {
public:
    __host__ __device__ float at(int i) const
    {
        return data[i];
    }

private:
    const float *data;
};

class small {
public:
    __host__ __device__ float get() const
    {
        return value;
    }

private:
    float value;
};

#pragma cf kernel grid(n) out(y[n])
__global__ void hides(hidden v, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = v.at(i);
}

#pragma cf kernel grid(n) in(views[n]) out(y[n])
__global__ void lists(const hidden *views, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = views[i].at(0);
}

#pragma cf kernel grid(n) out(y[n])
__global__ void shows(small v, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = v.get();
}
