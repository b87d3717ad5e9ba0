/* complex.cuh - thrust::complex and cuda::std::complex, which are one type here: arithmetic, and functions that call
 * std::complex. As in CUDA, the type is aligned to its whole size. */
#ifndef CUFERRY_CPU_COMPLEX_CUH
#define CUFERRY_CPU_COMPLEX_CUH

#include <math.h>

#include <complex>

#include <cuferry/cpu/words.cuh>

namespace cf__
{
template <typename T> class alignas(2 * sizeof(T)) complex
{
  public:
    typedef T value_type;

    complex() = default;

    constexpr complex(const T &re, const T &im = T()) : re_(re), im_(im)
    {
    }

    template <typename U> constexpr complex(const complex<U> &z) : re_(T(z.real())), im_(T(z.imag()))
    {
    }

    template <typename U> constexpr complex(const std::complex<U> &z) : re_(T(z.real())), im_(T(z.imag()))
    {
    }

    operator std::complex<T>() const
    {
        return std::complex<T>(re_, im_);
    }

    constexpr T real() const
    {
        return re_;
    }

    constexpr T imag() const
    {
        return im_;
    }

    void real(T re)
    {
        re_ = re;
    }

    void imag(T im)
    {
        im_ = im;
    }

    complex &operator=(const T &re)
    {
        re_ = re;
        im_ = T();
        return *this;
    }

    complex &operator+=(const complex &z)
    {
        return *this = *this + z;
    }

    complex &operator-=(const complex &z)
    {
        return *this = *this - z;
    }

    complex &operator*=(const complex &z)
    {
        return *this = *this * z;
    }

    complex &operator/=(const complex &z)
    {
        return *this = *this / z;
    }

    /* Friend functions convert their operands, so that z * 2 compiles. A real operand costs less than a complex one. */

    friend constexpr complex operator+(const complex &z)
    {
        return z;
    }

    friend constexpr complex operator-(const complex &z)
    {
        return complex(-z.re_, -z.im_);
    }

    friend constexpr complex operator+(const complex &a, const complex &b)
    {
        return complex(a.re_ + b.re_, a.im_ + b.im_);
    }

    friend constexpr complex operator+(const complex &a, const T &b)
    {
        return complex(a.re_ + b, a.im_);
    }

    friend constexpr complex operator+(const T &a, const complex &b)
    {
        return complex(a + b.re_, b.im_);
    }

    friend constexpr complex operator-(const complex &a, const complex &b)
    {
        return complex(a.re_ - b.re_, a.im_ - b.im_);
    }

    friend constexpr complex operator-(const complex &a, const T &b)
    {
        return complex(a.re_ - b, a.im_);
    }

    friend constexpr complex operator-(const T &a, const complex &b)
    {
        return complex(a - b.re_, -b.im_);
    }

    friend constexpr complex operator*(const complex &a, const complex &b)
    {
        return complex(a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_);
    }

    friend constexpr complex operator*(const complex &a, const T &b)
    {
        return complex(a.re_ * b, a.im_ * b);
    }

    friend constexpr complex operator*(const T &a, const complex &b)
    {
        return complex(a * b.re_, a * b.im_);
    }

    /* Divides by the larger part of b first, so that no intermediate result overflows (Smith's method). */
    friend constexpr complex operator/(const complex &a, const complex &b)
    {
        const T c = b.re_, d = b.im_;
        if ((c < 0 ? -c : c) >= (d < 0 ? -d : d)) {
            const T ratio = d / c, whole = c + d * ratio;
            return complex((a.re_ + a.im_ * ratio) / whole, (a.im_ - a.re_ * ratio) / whole);
        }
        const T ratio = c / d, whole = c * ratio + d;
        return complex((a.re_ * ratio + a.im_) / whole, (a.im_ * ratio - a.re_) / whole);
    }

    friend constexpr complex operator/(const complex &a, const T &b)
    {
        return complex(a.re_ / b, a.im_ / b);
    }

    friend constexpr complex operator/(const T &a, const complex &b)
    {
        return complex(a) / b;
    }

    friend constexpr bool operator==(const complex &a, const complex &b)
    {
        return a.re_ == b.re_ && a.im_ == b.im_;
    }

    friend constexpr bool operator!=(const complex &a, const complex &b)
    {
        return !(a == b);
    }

  private:
    T re_, im_;
};

template <typename T> using plain = std::complex<T>;

/* ---- Functions ---- */

template <typename T> T real(const complex<T> &z)
{
    return z.real();
}

template <typename T> T imag(const complex<T> &z)
{
    return z.imag();
}

template <typename T> T abs(const complex<T> &z)
{
    return ::hypot(z.real(), z.imag());
}

template <typename T> T norm(const complex<T> &z)
{
    return z.real() * z.real() + z.imag() * z.imag();
}

template <typename T> T arg(const complex<T> &z)
{
    return ::atan2(z.imag(), z.real());
}

template <typename T> complex<T> conj(const complex<T> &z)
{
    return complex<T>(z.real(), -z.imag());
}

template <typename T> complex<T> polar(const T &length, const T &angle = T())
{
    return complex<T>(length * ::cos(angle), length * ::sin(angle));
}

#define CF__FUNCTION(name)                                     \
    template <typename T> complex<T> name(const complex<T> &z) \
    {                                                          \
        return std::name(plain<T>(z));                         \
    }
CF__FUNCTION(proj)
CF__FUNCTION(exp)
CF__FUNCTION(log)
CF__FUNCTION(log10)
CF__FUNCTION(sqrt)
CF__FUNCTION(sin)
CF__FUNCTION(cos)
CF__FUNCTION(tan)
CF__FUNCTION(asin)
CF__FUNCTION(acos)
CF__FUNCTION(atan)
CF__FUNCTION(sinh)
CF__FUNCTION(cosh)
CF__FUNCTION(tanh)
CF__FUNCTION(asinh)
CF__FUNCTION(acosh)
CF__FUNCTION(atanh)
#undef CF__FUNCTION

template <typename T> complex<T> pow(const complex<T> &z, const complex<T> &exponent)
{
    return std::pow(plain<T>(z), plain<T>(exponent));
}

template <typename T> complex<T> pow(const complex<T> &z, const T &exponent)
{
    return std::pow(plain<T>(z), exponent);
}

template <typename T> complex<T> pow(const T &z, const complex<T> &exponent)
{
    return std::pow(z, plain<T>(exponent));
}
} /* namespace cf__ */

/* The names of the functions in both of CUDA's namespaces. Functions that also take real numbers come first.
 * */
#define CF__COMPLEX_FUNCTIONS(X)                                                                                   \
    X(abs)                                                                                                         \
    X(acos)                                                                                                        \
    X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cos) X(cosh) X(exp) X(log) X(log10) X(pow) X(sin) X(sinh) X(sqrt) \
        X(tan) X(tanh)
#define CF__COMPLEX_PARTS(X) X(arg) X(conj) X(imag) X(norm) X(polar) X(proj) X(real)

#endif
