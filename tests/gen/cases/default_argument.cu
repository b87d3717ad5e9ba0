/* default_argument - values that callers in C++ may leave out; callers in C give them. */
enum class Rule { Shift, Scale };

template <typename T, int N> struct Window {
    T weights[N];
};

#pragma cf kernel grid(n) inout(x[n]) resident(weights)
__global__ void shift(double *x, int n, double by = 1.0, Rule rule = Rule::Shift, bool is_odd = (3 > 2),
                      const float *weights = nullptr, Window<float, 4> window = Window<float, 4>{{1, 2, 3, 4}})
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && is_odd && !weights)
        x[i] = rule == Rule::Shift ? x[i] + by : x[i] * by * window.weights[3];
}
