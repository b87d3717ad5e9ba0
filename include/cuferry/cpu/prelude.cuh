/* prelude.cuh - included first in a kernel file that a C++ compiler builds for the CPU: declares everything that nvcc
 * declares before the first line of a file. The folders have this order, in which a folder only uses earlier ones:
 * types, loop, math, sync, float16, groups, cub, runtime.
 *
 * One CPU thread runs all CUDA threads of a block, one after the other, or in turns if they wait for one another.
 * Blocks run in parallel. */
#ifndef CUFERRY_CPU_PRELUDE_CUH
#define CUFERRY_CPU_PRELUDE_CUH

#if !defined CF__SCAN /* the generator reads CUDA's words without expanding them */
/* The generator defines CF__NO_STD, CF__NO_MAKE and CF__NO_SIMD for files that do not use these parts. Compiling the
 * special functions in <cmath> takes as long as compiling all the rest. */
#ifdef CF__NO_STD
#include <cstddef>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif
#include <cuferry/cpu/math/clibrary.cuh>
#endif

/* Headers that the toolkit's cuda_runtime.h includes; annotations may use their macros. */
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

#if !defined CF__SCAN

#include "words.cuh"

#include <cuferry/cpu/types/vector.cuh>

#include <cuferry/cpu/loop/collected.cuh>
#include <cuferry/cpu/loop/loop.cuh>
#include <cuferry/cpu/loop/regions.cuh>
#include <cuferry/cpu/loop/threads.cuh>
#include <cuferry/cpu/math/casts.cuh>
#include <cuferry/cpu/math/error_function.cuh>
#include <cuferry/cpu/math/integer.cuh>
#include <cuferry/cpu/math/intrinsics.cuh>
#include <cuferry/cpu/math/math.cuh>
#include <cuferry/cpu/math/operators.cuh>
#ifndef CF__NO_SIMD
#include <cuferry/cpu/math/simd.cuh>
#endif
#include <cuferry/cpu/runtime/runtime.cuh>
#include <cuferry/cpu/runtime/runtime_templates.cuh>
#include <cuferry/cpu/sync/atomics.cuh>
#include <cuferry/cpu/sync/memory.cuh>
#include <cuferry/cpu/sync/nv_atomic.cuh>
#include <cuferry/cpu/sync/space.cuh>
#include <cuferry/cpu/sync/together.cuh>
#include <cuferry/cpu/sync/warp.cuh>
#include <cuferry/cpu/sync/wide_atomics.cuh>
#include <cuferry/cpu/types/convert.cuh>
#ifndef CF__NO_MAKE
#include <cuferry/cpu/types/make_vector.cuh>
#endif

#endif
#endif
