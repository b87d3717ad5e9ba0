/* refused_dependent_type - the result's type is a trait's; expected: T::type cannot be known before compilation. */
template <typename T> struct wider;
template <> struct wider<float> {
    typedef double type;
};

#pragma cf kernel grid(n) in(x[n]) out(y[n])
#pragma cf instances(f32: float)
template <typename T> __global__ void widen(const T *x, typename wider<T>::type *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
