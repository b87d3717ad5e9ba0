/* casts.cuh - reads the bits of a value as another type. */
#ifndef CUFERRY_CPU_CASTS_CUH
#define CUFERRY_CPU_CASTS_CUH

#include <cuferry/cpu/words.cuh>

template <typename To, typename From> CF__FN To cf__cast(From from)
{
    static_assert(sizeof(To) == sizeof(From), "both have the same size");
    To to;
    __builtin_memcpy(&to, &from, sizeof(to));
    return to;
}

CF__FN int __float_as_int(float x)
{
    return cf__cast<int>(x);
}

CF__FN unsigned int __float_as_uint(float x)
{
    return cf__cast<unsigned int>(x);
}

CF__FN float __int_as_float(int x)
{
    return cf__cast<float>(x);
}

CF__FN float __uint_as_float(unsigned int x)
{
    return cf__cast<float>(x);
}

CF__FN long long __double_as_longlong(double x)
{
    return cf__cast<long long>(x);
}

CF__FN double __longlong_as_double(long long x)
{
    return cf__cast<double>(x);
}

CF__FN int __double2hiint(double x)
{
    return (int)(cf__cast<unsigned long long>(x) >> 32);
}

CF__FN int __double2loint(double x)
{
    return (int)cf__cast<unsigned long long>(x);
}

CF__FN double __hiloint2double(int high, int low)
{
    return cf__cast<double>((unsigned long long)(unsigned int)high << 32 | (unsigned int)low);
}

#endif
