/* constructors - a brace in a constructor opens a member's value or the body. The C definition has all data members, and
 * the copy for the CPU is without the constructors that only host code can call. */
#include <cstdlib>

static int ask(const char *name)
{
    return atoi(getenv(name));
}

template <typename T> struct w {
    T first;
    __host__ __device__ constexpr w(T given) noexcept : first{given} {}
};

struct S : w<int> {
    int v;
    __host__ __device__ S() noexcept : w<int>{2}, v{1} {}
    S(const char *name) noexcept : w<int>{ask(name)}, v{ask(name)} {}
    S(int given, int (*choose)(int)) noexcept : S() { v = ask("V") + choose(given); }
    int (*chosen)(int) = nullptr;
    int (S::*asked)(const char *) = nullptr;
    int last{static_cast<int>(sizeof(int))};
};

struct plain {
    int v{int(sizeof(int))};
    double u;
    __host__ __device__ plain() noexcept : v{1}, u(2) {}
    template <int N = 3> __host__ __device__ int times() const { return v * N; }
    int after;
};

#pragma cf kernel grid(n) out(y[n])
__global__ void use(plain p, int *y, int n)
{
    S s;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = s.first + s.v + s.last + p.times<>() + p.after;
}
