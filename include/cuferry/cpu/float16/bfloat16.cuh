/* bfloat16.cuh - __nv_bfloat16 and __nv_bfloat162. */
#ifndef CUFERRY_CPU_BFLOAT16_CUH
#define CUFERRY_CPU_BFLOAT16_CUH

#include <math.h>
#include <stdint.h>

#include <cuferry/cpu/math/intrinsics.cuh>
#include <cuferry/cpu/math/math.cuh>
#include <cuferry/cpu/sync/atomics.cuh>
#include <cuferry/cpu/sync/warp.cuh>
#include <cuferry/cpu/types/vector.cuh>

#include "float16_bits.cuh"
#include "half.cuh"

#define CF__F16 __nv_bfloat16
#define CF__F16_RAW __nv_bfloat16_raw
#define CF__F16X2 __nv_bfloat162
#define CF__F16X2_RAW __nv_bfloat162_raw
#define CF__F16_FORMAT cf__bfloat16
#define CF__F16_OTHER __half
#define CF__F16_WORD bfloat16
#include "float16_type.cuh"
#include "float16_convert.cuh"
#include "float16_math.cuh"
#undef CF__F16
#undef CF__F16_RAW
#undef CF__F16X2
#undef CF__F16X2_RAW
#undef CF__F16_FORMAT
#undef CF__F16_OTHER
#undef CF__F16_WORD

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

inline __half::__half(__nv_bfloat16 x) : __half((float)x)
{
}

inline __nv_bfloat16::__nv_bfloat16(__half x) : __nv_bfloat16((float)x)
{
}

#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)

#endif
