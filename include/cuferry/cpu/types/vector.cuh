/* vector.cuh - CUDA's vector types and dim3, under CUDA's names. */
#ifndef CUFERRY_CPU_VECTOR_CUH
#define CUFERRY_CPU_VECTOR_CUH

/* The guards of the toolkit's headers. With them, its own headers do not define these types, and in cuferry/types.h
 * cf_float4 is float4 itself. */
#define __VECTOR_TYPES_H__
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END

/* Each entry has a name, the element type, and the alignments in bytes of the forms with 2 and 4 components. */
#define CF__VECTORS(X)                            \
    X(char, signed char, 2, 4)                    \
    X(uchar, unsigned char, 2, 4)                 \
    X(short, short, 4, 8)                         \
    X(ushort, unsigned short, 4, 8)               \
    X(int, int, 8, 16)                            \
    X(uint, unsigned int, 8, 16)                  \
    X(long, long, 2 * sizeof(long), 16)           \
    X(ulong, unsigned long, 2 * sizeof(long), 16) \
    X(longlong, long long, 16, 16)                \
    X(ulonglong, unsigned long long, 16, 16)      \
    X(float, float, 8, 16)                        \
    X(double, double, 16, 16)

/* The types whose forms with 4 components also exist with two other alignments. */
#define CF__VECTORS_ALIGNED(X)       \
    X(long, long)                    \
    X(ulong, unsigned long)          \
    X(longlong, long long)           \
    X(ulonglong, unsigned long long) \
    X(double, double)

#define CF__VECTOR(name, element, align2, align4) \
    struct name##1                                \
    {                                             \
        element x;                                \
    };                                            \
    struct alignas(align2) name##2                \
    {                                             \
        element x, y;                             \
    };                                            \
    struct name##3                                \
    {                                             \
        element x, y, z;                          \
    };                                            \
    struct alignas(align4) name##4                \
    {                                             \
        element x, y, z, w;                       \
    };
CF__VECTORS(CF__VECTOR)
#undef CF__VECTOR

#define CF__VECTOR_ALIGNED(name, element) \
    struct alignas(16) name##4_16a        \
    {                                     \
        element x, y, z, w;               \
    };                                    \
    struct alignas(32) name##4_32a        \
    {                                     \
        element x, y, z, w;               \
    };
CF__VECTORS_ALIGNED(CF__VECTOR_ALIGNED)
#undef CF__VECTOR_ALIGNED

struct dim3 {
    unsigned int x, y, z;

    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_)
    {
    }

    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }

    constexpr operator uint3() const
    {
        return {x, y, z};
    }
};

#endif
