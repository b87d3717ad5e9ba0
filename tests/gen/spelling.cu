// spelling.cu - unusual code around and in kernels, which the generator must understand or leave alone.
#include <type_traits>

/* Names that the generated code uses, too. */
#define in(row, column) x[(row) * 10 + (column)]
#define thread (threadIdx.x + 1)
#define block (blockIdx.x)
#define block_size (blockDim.x)
#define args 1
#define is_wide 4

#define AT int i = blockIdx.x * blockDim.x + threadIdx.x

/* ---- Names that only the CPU's code uses ---- */

#define SCALE 3
static const char *source_of_another()
{
    return R"cuda(
#define SCALE 2
)cuda";
}

const char *text_of_another()
{
    return source_of_another();
}

struct of_host {
    int a;
};
using alias_of_host = of_host;
static_assert(sizeof(of_host) == sizeof(int), "");
extern of_host elsewhere;
template <class T> struct template_of_host {
    T t;
    static const int count;
};
template <class T> const int template_of_host<T>::count = 4;
template <class T> using alias_of_template = template_of_host<T>;
constexpr int square(int a)
{
    return a * a;
}
static_assert(square(3) == 9, "");
namespace host_only
{
inline int one()
{
    return 1;
}
} // namespace host_only
using host_only::one;

static int thousands(int v)
{
    int a = 1'000;
    if (a > v) {
        a = 2'000;
    }
    return a;
}

int use_all(int v)
{
    const char *brace = R"(}  " })";
    return thousands(v) + one() + *brace;
}

/* ---- Guards ---- */

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void guard_xor(const int *x, int *y, int n)
{
    AT;
    bool flip = n > 10;
    if (i < n && (i < 100 xor flip))
        y[i] = x[i];
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void guard_not_equal(const int *x, int *y, int n)
{
    AT;
    bool flip = n > 10;
    if (i >= n)
        return;
    if (i < 100 not_eq flip)
        y[i] = x[i];
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void guard_and(const int *x, int *y, int n)
{
    AT;
    if (i < n and x[i] > 50)
        y[i] = x[i];
}

/* ---- Indices ---- */

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void global_names(const int *x, int *y, int n)
{
    int i = ::blockIdx.x * ::blockDim.x + ::threadIdx.x;
    if (i < n)
        y[i] = x[i] + ::threadIdx.x;
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void local_classes(const int *x, int *y, int n)
{
    AT;
    struct alignas(16) aligned {
        int v;
        __device__ int get() const
        {
            return v + threadIdx.x;
        }
    };
    struct last final {
        int v;
        __device__ int get() const
        {
            return v + threadIdx.x;
        }
    };
    aligned a{1};
    last b{2};
    if (i < n)
        y[i] = x[i] + a.get() + b.get();
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void lambda_after_if(const int *x, int *y, int n)
{
    AT;
    if (i < n) [i, x, y] { y[i] = x[i] + threadIdx.x; }();
}

/* ---- Declarations at file scope ---- */

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void scaled(const int *x, int *y, int n)
{
    AT;
    if (i < n)
        y[i] = x[i] * SCALE;
}

template <typename T, std::enable_if_t<std::is_integral<T>{}, int> = 0> __device__ T twice(T v)
{
    return v + v;
}

template <typename T, std::enable_if_t<sizeof(T) < 8, int> = 0> __device__ T next(T v)
{
    return v + 1;
}

template <int N, std::enable_if_t<N < 4, int> = 0> __device__ int plus(int v)
{
    return v + N;
}

template <int N, bool is_small = N < 4> struct choice {
    static constexpr int value = is_small;
};

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void template_heads(const int *x, int *y, int n)
{
    AT;
    if (i < n)
        y[i] = twice(x[i]) + next(1) + plus<2>(1) + choice<3>::value;
}

__device__ [[maybe_unused]] int attribute_inside = 3;
static const int attribute_after __attribute__((unused)) = 5;
namespace [[deprecated("old")]] attribute_of_namespace
{
__device__ int unused_one(int a)
{
    return a + 1;
}
} // namespace attribute_of_namespace
namespace visible __attribute__((visibility("default")))
{
__device__ int more(int a)
{
    return a + 1;
}
} // namespace visible
template <class T> struct base {
    T b;
};
constexpr int lanes = 2;
struct alignas(sizeof(double) * lanes) derived : base<double> {
    int v;
};
static const int in_parentheses(4);
const float real_in_parentheses(2.5f);

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void attributes(const int *x, int *y, int n)
{
    AT;
    derived d;
    d.v = 1;
    if (i < n)
        y[i] = x[i] + attribute_inside + attribute_after + visible::more(1) + d.v + in_parentheses +
               (int)real_in_parentheses;
}

struct real {
    float v;
};
__device__ real next_real(real a)
{
    return {a.v + 1};
}
__device__ real (*next_of_real)(real) = next_real;

struct sum_of_two {
    int a, b;
    __device__ sum_of_two(int v);
};
__device__ sum_of_two::sum_of_two(int v) : a{v}, b(v + 1)
{
    b += a;
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void initializers(const int *x, int *y, int n)
{
    AT;
    if (i >= n)
        return;
    sum_of_two two(x[i]);
    y[i] = two.a + two.b + (int)next_of_real({1.f}).v;
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void separators(const int *x, int *y, int n)
{
    AT;
    __shared__ int s[1'00] __attribute__((unused)), t[1'00];
    s[threadIdx.x] = 1'000;
    t[threadIdx.x] = 2;
    if (i < n)
        y[i] = x[i] + s[threadIdx.x] + t[threadIdx.x];
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void macros(const int *x, int *y, int n)
{
    int i = block * block_size + threadIdx.x;
    if ((short)n > 0 && i < (short)n)
        y[i] = in(i / 10, i % 10) + thread + 2 * args - is_wide + 1;
}

namespace modes
{
enum class mode : short { less = -1, more = 1 };
}

#pragma cf instances(less: modes::mode::less; more: modes::mode::more)
#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
template <modes::mode m> __global__ void moved(const int *x, int *y, int n)
{
    AT;
    if (i < n)
        y[i] = x[i] + (m == modes::mode::more ? 3 : -3);
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(y[n])
__global__ void body_elsewhere(const int *x, int *y, int n)
{
#include "spelling_body.inc"
}
