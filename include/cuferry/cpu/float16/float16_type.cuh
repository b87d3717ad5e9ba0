/* float16_type.cuh - the class of a 16-bit float and the class of a pair. half.cuh and bfloat16.cuh include this file
 * with different definitions of these names:
 *
 *     CF__F16        __half       the class
 *     CF__F16_RAW    __half_raw   its bits, in CUDA's form
 *     CF__F16X2      __half2      a pair
 *     CF__F16X2_RAW  __half2_raw
 *     CF__F16_FORMAT              its cf__binary16 */

struct alignas(2) CF__F16_RAW {
    unsigned short x;
};

struct alignas(4) CF__F16X2_RAW {
    unsigned short x, y;
};

struct alignas(2) CF__F16 {
    uint16_t cf__bits;

    CF__F16() = default;

    constexpr CF__F16(const CF__F16_RAW &raw) : cf__bits(raw.x)
    {
    }

    CF__F16(float x) : cf__bits(CF__F16_FORMAT::from_float(x))
    {
    }

    CF__F16(double x) : cf__bits(CF__F16_FORMAT::from_float(cf__float_odd(x)))
    {
    }

    /* Converts from the other 16-bit float. */
    explicit CF__F16(CF__F16_OTHER x);

#define CF__FROM(T)                            \
    CF__F16(T x) : CF__F16(cf__integer_odd(x)) \
    {                                          \
    }
    CF__FROM(long long)
    CF__FROM(unsigned long long)
#undef CF__FROM
#define CF__FROM(T)                   \
    CF__F16(T x) : CF__F16((double)x) \
    {                                 \
    }
    CF__FROM(short)
    CF__FROM(unsigned short)
    CF__FROM(int)
    CF__FROM(unsigned int)
#undef CF__FROM

    CF__F16(long x) : CF__F16((long long)x)
    {
    }

    CF__F16(unsigned long x) : CF__F16((unsigned long long)x)
    {
    }

    operator CF__F16_RAW() const
    {
        return {cf__bits};
    }

    operator float() const
    {
        return CF__F16_FORMAT::to_float(cf__bits);
    }

    operator bool() const
    {
        return (cf__bits & 0x7fff) != 0;
    }

    /* Conversions to integers truncate and saturate. */
#define CF__TO(T)                            \
    operator T() const                       \
    {                                        \
        return cf__saturate<T>((float)*this); \
    }
    CF__TO(char)
    CF__TO(signed char)
    CF__TO(unsigned char)
    CF__TO(short)
    CF__TO(unsigned short)
    CF__TO(int)
    CF__TO(unsigned int)
    CF__TO(long)
    CF__TO(unsigned long)
    CF__TO(long long)
    CF__TO(unsigned long long)
#undef CF__TO
};

struct alignas(4) CF__F16X2 {
    CF__F16 x, y;

    CF__F16X2() = default;

    constexpr CF__F16X2(const CF__F16 &x_, const CF__F16 &y_) : x(x_), y(y_)
    {
    }

    CF__F16X2(const CF__F16X2_RAW &raw) : x(CF__F16_RAW{raw.x}), y(CF__F16_RAW{raw.y})
    {
    }

    operator CF__F16X2_RAW() const
    {
        return {x.cf__bits, y.cf__bits};
    }
};
