/* error_function.cuh - functions of CUDA that the C library lacks: inverse error functions, erfcx(), and the normal
 * distribution. */
#ifndef CUFERRY_CPU_ERROR_FUNCTION_CUH
#define CUFERRY_CPU_ERROR_FUNCTION_CUH

#include "math.cuh"

/* A step of Halley's method for the inverse of erf() or erfc(). `error` is the function at y minus the target, and
 * `sign` the sign of the slope. The remaining error is of the third order. */
CF__FN double cf__halley(double y, double error, int sign)
{
    const double two_over_sqrt_pi = 1.12837916709551257390;
    const double step = error / (sign * two_over_sqrt_pi * exp(-y * y));
    return y - step / (1 + y * step);
}

/* Returns the inverse of erf() for x in [-1/2, 1/2]. */
CF__FN double cf__erfinv_middle(double x)
{
    double y = 0.886226925452758 * x; /* the slope at 0, which gives a value that is 7 percent too small at 1/2 */
    for (int i = 0; i < 3; i++)
        y = cf__halley(y, erf(y) - x, 1);
    return y;
}

/* Returns exp(x * x) * erfc(x), for large x by the continued fraction of Abramowitz and Stegun, 7.1.14. */
CF__FN double cf__erfcx(double x)
{
    const double one_over_sqrt_pi = 0.56418958354775628695;
    if (x >= 10) {
        double under = x;
        for (int k = 24; k > 0; k--)
            under = x + k / 2.0 / under;
        return one_over_sqrt_pi / under;
    }
    const double square = x * x, rest = fma(x, x, -square);
    return square > 710 ? HUGE_VAL : exp(square) * (1 + rest) * erfc(x); /* only negative x gives such a large value */
}

/* Inverse of erfc() for x in (0, 1/2]. Starts from the approximation of S. Winitzki, "A handy approximation for the
 * error function and its inverse" (2008), which is accurate to one percent. */
CF__FN double cf__erfcinv_tail(double x)
{
    const double a = 0.147, half = (log(x) + log1p(1 - x)) / 2, t = 2 / (3.14159265358979 * a) + half;
    double y = sqrt(sqrt(t * t - 2 * half / a) - t);
    for (int i = 0; i < 4; i++)
        y = cf__halley(y, erfc(y) - x, -1);
    const int steps = x < 2.2250738585072014e-308 ? 2 : 0; /* erfc(y) is denormal for such x */
    for (int i = 0; i < steps; i++) {                      /* Newton's method on the logarithm of erfc() */
        const double half_sqrt_pi = 0.88622692545275801365, scaled = cf__erfcx(y);
        y += (log(scaled) - y * y - log(x)) * scaled * half_sqrt_pi;
    }
    return y;
}

CF__FN double cf__erfcinv(double x)
{
    if (!(x > 0 && x < 2))
        return x == 0 ? HUGE_VAL : x == 2 ? -HUGE_VAL : NAN;
    if (x < 0.5)
        return cf__erfcinv_tail(x);
    return x <= 1.5 ? cf__erfinv_middle(1 - x) : -cf__erfcinv_tail(2 - x); /* both differences are exact */
}

CF__FN double cf__erfinv(double x)
{
    return fabs(x) <= 0.5 ? cf__erfinv_middle(x) : copysign(cf__erfcinv(1 - fabs(x)), x);
}

/* Computes the normal distribution. The argument of erfc() is rounded, which matters in the tail, so a term with the
 * slope of erfc() corrects the result. */
CF__FN double cf__normcdf(double x)
{
    const double root = 0.70710678118654752440, root_rest = -4.8336466567264565e-17,
                 over_sqrt_pi = 0.56418958354775628695;
    const double place = -x * root, rest = fma(-x, root, -place) - x * root_rest;
    return rest == rest ? 0.5 * erfc(place) - over_sqrt_pi * exp(-place * place) * rest : 0.5 * erfc(place);
}

#define CF__ERROR_FUNCTION(name, value)                               \
    template <typename A> CF__FN typename cf__real<A>::type name(A a) \
    {                                                                 \
        const double x = (double)a;                                   \
        return (typename cf__real<A>::type)(value);                   \
    }                                                                 \
    template <typename A> CF__FN float name##f(A a)                   \
    {                                                                 \
        return name((float)a);                                        \
    }
CF__ERROR_FUNCTION(erfinv, cf__erfinv(x))
CF__ERROR_FUNCTION(erfcinv, cf__erfcinv(x))
CF__ERROR_FUNCTION(erfcx, cf__erfcx(x))
CF__ERROR_FUNCTION(normcdf, cf__normcdf(x))
CF__ERROR_FUNCTION(normcdfinv, 0 - 1.41421356237309504880 * cf__erfcinv(2 * x)) /* 0 for 1/2, not -0 */
#undef CF__ERROR_FUNCTION

#endif
