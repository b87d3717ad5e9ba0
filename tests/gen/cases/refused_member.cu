/* refused_member - kernels in a class; expected: a kernel has to be at file or namespace scope. */
struct Solver {
#pragma cf kernel grid(n) inout(x[n])
    static __global__ void step(float *x, int n);
};

template <typename T> class Operator
{
  public:
#pragma cf kernel grid(n) inout(x[n])
    static __global__ void apply(T *x, int n);
};
