/* host.cuh - what a kernel file sees when the C++ compiler builds it for the CPU: all that nvcc has at hand before the
 * first line of a file.
 *
 * One thread of the CPU runs all CUDA threads of a block, one after the other or, where they wait for one another, by turns;
 * blocks run in parallel. */
#ifndef CUFERRY_HOST_CUH
#define CUFERRY_HOST_CUH

/* What the toolkit's cuda_runtime.h brings; their macros may stand in annotations. */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/version.cuh"

#if !defined CF__SCAN /* the generator reads CUDA's words as they are */

#include "host/words.cuh"

#include "host/vector.cuh"

#include "host/atomics.cuh"
#include "host/casts.cuh"
#include "host/error_function.cuh"
#include "host/integer.cuh"
#include "host/intrinsics.cuh"
#include "host/loop.cuh"
#include "host/make_vector.cuh"
#include "host/math.cuh"
#include "host/memory.cuh"
#include "host/nv_atomic.cuh"
#include "host/runtime.cuh"
#include "host/runtime_templates.cuh"
#include "host/simd.cuh"
#include "host/space.cuh"
#include "host/threads.cuh"
#include "host/together.cuh"
#include "host/warp.cuh"
#include "host/wide_atomics.cuh"

#endif
#endif
