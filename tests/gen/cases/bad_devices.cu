// Functions that no other file can call.
#pragma cf device
__global__ void k(int *p);
#pragma cf device
static __device__ int f1(int x) { return x; }
namespace {
#pragma cf device
__device__ int f2(int x) { return x; }
}
#pragma cf device
template <typename T> __device__ T f3(T x) { return x; }
#pragma cf device
__device__ __forceinline__ int f4(int x) { return x; }
#pragma cf device
__device__ int f5(int x);
#pragma cf device
__device__ int f6(int x) { return x + threadIdx.x; }
#pragma cf device
__device__ int f7(int x) { __syncthreads(); return x; }
#pragma cf device host(f)
__device__ int f8(int x) { return x; }
#pragma cf device grid(n)
__device__ int f9(int x) { return x; }
#pragma cf kernel grid(n)
#pragma cf device
__device__ int f10(int x) { return x; }
#pragma cf device
#pragma cf kernel grid(n)
__device__ int f11(int x) { return x; }
#pragma cf device
int f12(int x) { return x; }
struct s { __device__ int f13(int); };
#pragma cf device
__device__ int s::f13(int x) { return x; }
struct s2 {
#pragma cf device
    __device__ int f14(int) { return 1; }
};
#pragma cf device
__device__ int f15(int x) { asm("foo"); return x; }
#pragma cf device
__device__ int twice(int x) { return x; }
#pragma cf device
__device__ int twice(int x) { return x; }
#pragma cf device
__device__ int f16(int x)
{
#ifdef __CUDA_ARCH__
    return x;
#endif
}
#pragma cf device
struct s operator+(struct s a, struct s b) { return a; }
#pragma cf device host(none)
__device__ int f17(int x) { asm("foo"); return x; }
struct pair { int x, y; };
#pragma cf device numba
__device__ float of_struct(struct pair a) { return 1; }
#pragma cf device numba
__device__ char of_char(int a) { return 1; }
#pragma cf device numba host(none)
__device__ void of_pointers(float **a) { }
#pragma cf device numba
__device__ void *of_void(float *a) { return 0; }
#pragma cf device numba
__device__ float without_name(int) { return 1; }
#pragma cf device numba
__device__ float of_one_name(int x) { return 1; }
namespace q {
#pragma cf device numba
__device__ float of_one_name(float x) { return 1; }
}
#pragma cf device numba
__device__ float lambda(float x) { return x; }
#pragma cf device numba
__device__ float cuda(float x) { return x; }
