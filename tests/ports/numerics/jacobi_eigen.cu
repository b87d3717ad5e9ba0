/* jacobi_eigen.cu - eigenvalues of symmetric 3 x 3 matrices by Jacobi's rotations, one matrix per thread. */
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

namespace eigen
{
namespace
{
constexpr int sweeps = 12;
}

template <class T> struct Symmetric {
    T xx, xy, xz, yy, yz, zz;
};

template <class T, int N = 3> class Rotations
{
  public:
    __device__ explicit Rotations(const Symmetric<T> &m)
        : a_{{m.xx, m.xy, m.xz}, {m.xy, m.yy, m.yz}, {m.xz, m.yz, m.zz}}
    {
    }

    template <int P, int Q> __device__ bool rotate()
    {
        static_assert(P < Q && Q < N, "above the diagonal");
        if (a_[P][Q] == T(0))
            return false;
        const T theta = (a_[Q][Q] - a_[P][P]) / (2 * a_[P][Q]);
        const T t = copysign(T(1), theta) / (fabs(theta) + sqrt(theta * theta + 1));
        const T c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < N; ++k) {
            const T kp = a_[k][P], kq = a_[k][Q];
            a_[k][P] = c * kp - s * kq;
            a_[k][Q] = s * kp + c * kq;
        }
        for (int k = 0; k < N; ++k) {
            const T pk = a_[P][k], qk = a_[Q][k];
            a_[P][k] = c * pk - s * qk;
            a_[Q][k] = s * pk + c * qk;
        }
        a_[P][Q] = a_[Q][P] = 0;
        return true;
    }

    __device__ T &operator()(int i) { return a_[i][i]; }

  private:
    T a_[N][N];
};
} // namespace eigen

template <class M> __device__ bool sweep(M &m)
{
    bool any = m.template rotate<0, 1>();
    any |= m.template rotate<0, 2>();
    any |= m.template rotate<1, 2>();
    return any;
}

#pragma cf kernel grid(count) block(64) in(matrices[count][6]) out(values[count][3]) tolerance(1e-9)
extern "C" __global__ __launch_bounds__(64, 2) void eigenvalues(const double *matrices, double *values, uint32_t count)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const double *m = &matrices[6 * i];
        eigen::Rotations<double> rotations({m[0], m[1], m[2], m[3], m[4], m[5]});
        for (int k = 0; k < eigen::sweeps && sweep(rotations); ++k)
            ;
        double(*const out)[3] = reinterpret_cast<double(*)[3]>(values);
        for (int k = 0; k < 3; ++k)
            out[i][k] = rotations(k);
        auto order = [&](int p, int q) {
            if (out[i][p] > out[i][q]) {
                double kept = out[i][p];
                out[i][p] = out[i][q], out[i][q] = kept;
            }
        };
        order(0, 1), order(1, 2), order(0, 1);
    }
}

double largest(const std::vector<double> &matrices, double *d_matrices, double *d_values)
{
    double value = -DBL_MAX;
    eigenvalues<<<(unsigned)(matrices.size() / 6 + 63) / 64, 64>>>(d_matrices, d_values, matrices.size() / 6);
    cudaMemcpy(&value, d_values + 2, sizeof value, cudaMemcpyDeviceToHost);
    return std::fmax(value, 0);
}
