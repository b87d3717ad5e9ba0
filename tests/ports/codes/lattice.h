/* lattice.h - the D2Q9 lattice for lattice_boltzmann.cu, in code for both host and device. */
#ifndef LATTICE_H
#define LATTICE_H

#include <array>
#include <fstream>
#include <string>

#ifdef DOUBLE_PRECISION
typedef double real;
#else
typedef float real;
#endif

#define Q 9
#define IDX(q, x, y, nx, ny) (((q) * (ny) + (y)) * (nx) + (x))

namespace lattice
{
constexpr real weight_rest = real(4) / 9, weight_side = real(1) / 9, weight_corner = real(1) / 36;

__host__ __device__ constexpr real weight(int q)
{
    return q == 0 ? weight_rest : q < 5 ? weight_side : weight_corner;
}

inline void save(const std::string &path, const std::array<real, Q> &cell)
{
    std::ofstream out(path);
    for (real f : cell)
        out << f << '\n';
    if (!out)
        throw std::ios_base::failure("cannot write " + path);
}
} // namespace lattice

#endif
