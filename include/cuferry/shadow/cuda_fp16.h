/* cuda_fp16.h - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#include <cuferry/cpu/prelude.cuh>

#if !defined CF__SCAN && !defined __CUDA_FP16_H__
#define __CUDA_FP16_H__ /* the toolkit's guard: cuferry/types.h makes cf_half __half itself */
#include <cuferry/cpu/float16/half.cuh>
#endif
