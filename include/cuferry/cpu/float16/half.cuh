/* half.cuh - __half and __half2. */
#ifndef CUFERRY_CPU_HALF_CUH
#define CUFERRY_CPU_HALF_CUH

#include <math.h>
#include <stdint.h>

#include <cuferry/cpu/math/intrinsics.cuh>
#include <cuferry/cpu/math/math.cuh>
#include <cuferry/cpu/sync/atomics.cuh>
#include <cuferry/cpu/sync/warp.cuh>
#include <cuferry/cpu/types/vector.cuh>

#include "float16_bits.cuh"

struct __nv_bfloat16;

#define CF__F16 __half
#define CF__F16_RAW __half_raw
#define CF__F16X2 __half2
#define CF__F16X2_RAW __half2_raw
#define CF__F16_FORMAT cf__binary16
#define CF__F16_OTHER __nv_bfloat16
#define CF__F16_WORD half
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

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;

#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)

#endif
