/* test_types.c - the C types have the size, alignment and members of CUDA's types. They are compared with the toolkit's
 * types if a toolkit is installed. */
#include <cuferry/types.h>

#include "config.h"
#include "run_group.h"

#if CF_CONFIG_CUDA_TYPEDEFS
#define __NV_NO_VECTOR_DEPRECATION_DIAG
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <vector_types.h>
#endif

#define SAME(a, b) _Static_assert(sizeof(a) == sizeof(b) && _Alignof(a) == _Alignof(b), #a)
#define SAME_MEMBER(a, b, member)                                                                 \
    _Static_assert(offsetof(a, member) == offsetof(b, member) &&                                  \
                       _Generic(((a *)0)->member, __typeof__(((b *)0)->member) : 1, default : 0), \
                   #a "." #member)

/* Checks the layout of a vector of `count` elements. CUDA aligns vectors to their size, but at most to 16 bytes;
 * vectors with 1 or 3 elements are aligned like an element. */
#define LAYOUT(type, element, count, alignment)                                                        \
    _Static_assert(sizeof(type) == (count) * sizeof(element) && _Alignof(type) == (alignment), #type); \
    _Static_assert(_Generic(((type *)0)->x, element : 1, default : 0) && offsetof(type, x) == 0, #type " x")
#define AT_MOST_16(bytes) ((bytes) < 16 ? (bytes) : 16)
#define LAYOUTS(name, element, align2, align4)                                     \
    LAYOUT(cf_##name##1, element, 1, _Alignof(element));                           \
    LAYOUT(cf_##name##2, element, 2, AT_MOST_16(2 * sizeof(element)));             \
    LAYOUT(cf_##name##3, element, 3, _Alignof(element));                           \
    LAYOUT(cf_##name##4, element, 4, AT_MOST_16(4 * sizeof(element)));             \
    _Static_assert(offsetof(cf_##name##2, y) == sizeof(element), #name "2 y");     \
    _Static_assert(offsetof(cf_##name##3, z) == 2 * sizeof(element), #name "3 z"); \
    _Static_assert(offsetof(cf_##name##4, w) == 3 * sizeof(element), #name "4 w");
CF_VECTOR_LIST(LAYOUTS)
#define ALIGNED_LAYOUTS(name, element)        \
    LAYOUT(cf_##name##4_16a, element, 4, 16); \
    LAYOUT(cf_##name##4_32a, element, 4, 32);
CF_VECTOR_ALIGNED_LIST(ALIGNED_LAYOUTS)

#if CF_CONFIG_CUDA_TYPEDEFS
#define TOOLKITS(name, element, align2, align4)   \
    SAME(cf_##name##1, struct name##1);           \
    SAME_MEMBER(cf_##name##1, struct name##1, x); \
    SAME(cf_##name##2, struct name##2);           \
    SAME_MEMBER(cf_##name##2, struct name##2, y); \
    SAME(cf_##name##3, struct name##3);           \
    SAME_MEMBER(cf_##name##3, struct name##3, z); \
    SAME(cf_##name##4, struct name##4);           \
    SAME_MEMBER(cf_##name##4, struct name##4, w);
CF_VECTOR_LIST(TOOLKITS)
#if defined __NV_SILENCE_DEPRECATION_BEGIN /* CUDA 13 */
#define ALIGNED_TOOLKITS(name, element)                   \
    SAME(cf_##name##4_16a, struct name##4_16a);           \
    SAME_MEMBER(cf_##name##4_16a, struct name##4_16a, w); \
    SAME(cf_##name##4_32a, struct name##4_32a);           \
    SAME_MEMBER(cf_##name##4_32a, struct name##4_32a, w);
CF_VECTOR_ALIGNED_LIST(ALIGNED_TOOLKITS)
#endif
SAME(cf_half, __half_raw);
SAME(cf_half2, __half2_raw);
SAME(cf_bfloat16, __nv_bfloat16_raw);
SAME(cf_bfloat162, __nv_bfloat162_raw);
SAME(cf_fp8_e4m3, __nv_fp8_storage_t);
SAME(cf_fp8_e5m2, __nv_fp8_storage_t);
_Static_assert(sizeof(cf_complex64) == sizeof(cuFloatComplex), "cf_complex64");
_Static_assert(sizeof(cf_complex128) == sizeof(cuDoubleComplex), "cf_complex128");
#endif

TEST(vector_components_are_adjacent)
{
    const float expected[4] = {1, 2, 3, 4};
    cf_float4 vector = {.x = 1, .y = 2, .z = 3, .w = 4};
    assert_memory_equal(&vector, expected, sizeof(expected));
    struct cf_uchar3 bytes[2] = {{1, 2, 3}, {4, 5, 6}};
    assert_int_equal(((const unsigned char *)bytes)[4], 5);
}

TEST(half_is_its_bits)
{
    cf_half2 pair = {{0x3c00}, {0xc000}};
    const uint16_t expected[2] = {0x3c00, 0xc000};
    assert_memory_equal(&pair, expected, sizeof(expected));
    cf_bfloat162 other = {{0x3f80}, {0xc000}};
    assert_int_equal(other.y.bits, 0xc000);
}

TEST(complex_is_real_then_imaginary)
{
    const double expected[2] = {1, 2};
    union {
        double parts[2];
        cf_complex128 number;
    } parts = {.parts = {1, 2}};
    cf_complex128 sum = parts.number + 1;
    assert_true(sum == parts.number + 1);
    assert_memory_equal(&parts.number, expected, sizeof(expected));
    assert_int_equal(sizeof(cf_complex64), 2 * sizeof(float));
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
