/* prelude.cuh - for a kernel file that a C++ compiler builds for the CPU: all that nvcc has at hand before the file's
 * first line. Each folder here uses those before it: types, loop, math, sync, float16, groups, runtime.
 *
 * One thread of the CPU runs all CUDA threads of a block, one after the other or, where they wait for one another, by
 * turns; blocks run in parallel. */
#ifndef CUFERRY_CPU_PRELUDE_CUH
#define CUFERRY_CPU_PRELUDE_CUH

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

#include "version.cuh"

#if !defined CF__SCAN /* the generator reads CUDA's words as they are */

#include "words.cuh"

#include <cuferry/cpu/types/vector.cuh>

#include <cuferry/cpu/loop/loop.cuh>
#include <cuferry/cpu/loop/threads.cuh>
#include <cuferry/cpu/math/casts.cuh>
#include <cuferry/cpu/math/error_function.cuh>
#include <cuferry/cpu/math/integer.cuh>
#include <cuferry/cpu/math/intrinsics.cuh>
#include <cuferry/cpu/math/math.cuh>
#include <cuferry/cpu/math/simd.cuh>
#include <cuferry/cpu/runtime/runtime.cuh>
#include <cuferry/cpu/runtime/runtime_templates.cuh>
#include <cuferry/cpu/sync/atomics.cuh>
#include <cuferry/cpu/sync/memory.cuh>
#include <cuferry/cpu/sync/nv_atomic.cuh>
#include <cuferry/cpu/sync/space.cuh>
#include <cuferry/cpu/sync/together.cuh>
#include <cuferry/cpu/sync/warp.cuh>
#include <cuferry/cpu/sync/wide_atomics.cuh>
#include <cuferry/cpu/types/make_vector.cuh>

#endif
#endif
