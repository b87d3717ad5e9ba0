/* mixed - host code, classes, tables and macros around one kernel; the CPU's copy keeps little of them. */
#include <iostream>
#include <stdint.h>
#include <vector>
#define min(a, b) ((a) < (b) ? (a) : (b))
#define value 3
typedef double real, real2;
typedef const int ci;
namespace n { inline namespace v { typedef float f1; } }
static __global__ void sh(float *x) { __shared__ float s[32]; s[threadIdx.x] = x[0]; __syncthreads(); x[0] = s[0]; }
struct A { void run() { sh<<<1,32>>>(nullptr); } };
template <class T> struct B { void run() { sh<<<1,32>>>(nullptr); } };
static auto l = [](float *p) { sh<<<1,32>>>(p); };
struct Ld { __device__ float s(float v) const { return __shfl_xor_sync(~0u, v, 1); } };
struct C { void f() { throw 1; } };
static int init() { return 4; }
static int once = init();
void (*table[])(float *) = {sh};
std::vector<int> global_vector(10);
alignas(16) __constant__ float a4[4];
__constant__ alignas(16) float b4[4];
__constant__ unsigned char raw[sizeof(double) * 4];
__constant__ int a1, *b1, c1[2], d1;
__constant__ struct { float r, g; } luma = {0.3f, 0.6f};
template <typename T> __constant__ T tv;
constexpr unsigned U = 7;
constexpr unsigned char SMALL = 44;
__device__ const float lut[3] = {1, 2, 3};
__device__ float pick(int i) { return lut[i]; }
struct v2 { float x, y; };
__device__ v2 operator+(v2 a, v2 b) { return {a.x + b.x, a.y + b.y}; }
enum color { RED, BLUE };
template <typename T> struct traits;
template <> struct traits<float> { static constexpr int n = 2; };
#pragma cf kernel grid(n) inout(x[n]) check(SMALL == 44, color::BLUE == 1)
__global__ void k(real2 *x, ci n, n::f1 y) { v2 p = {1, 2}; p = p + p; x[0] = p.x + pick(1) + min(n, 3) + traits<float>::n + a4[0] + d1; }
void host() { std::cout << once; A().run(); k<<<1,1>>>(nullptr, 1, 2); }
int main() { host(); }
