/* cuda_fp8.h - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#include <cuferry/cpu/prelude.cuh>

#include "cuda_bf16.h"

#if !defined CF__SCAN && !defined __CUDA_FP8_H__
#define __CUDA_FP8_H__
#include <cuferry/cpu/float16/float8.cuh>
#endif
