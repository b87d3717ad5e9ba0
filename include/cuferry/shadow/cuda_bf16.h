/* cuda_bf16.h - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#include <cuferry/cpu/prelude.cuh>

#include "cuda_fp16.h"

#if !defined CF__SCAN && !defined __CUDA_BF16_H__
#define __CUDA_BF16_H__ /* the toolkit's guard: cuferry/types.h makes cf_bfloat16 __nv_bfloat16 itself */
#include <cuferry/cpu/float16/bfloat16.cuh>
#endif
