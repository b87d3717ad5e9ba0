/* words.cuh - CUDA's keywords before functions, variables and types. */
#ifndef CUFERRY_CPU_WORDS_CUH
#define CUFERRY_CPU_WORDS_CUH

/* The guard of the toolkit's header, which must not define these words. */
#define __HOST_DEFINES_H__

#define CF__INLINE __attribute__((always_inline))
/* Functions of these headers are local to a file, so that symbols of two kernel files never collide. */
#define CF__FN static inline

/* gcc would warn about a kernel with __noinline__, since the kernel's attributes contradict one another. The kernel is
 * not inlined. */
#pragma GCC diagnostic ignored "-Wattributes"
#define __global__ inline CF__INLINE
/* Stands before a function that kernels of other files call. No other function of an object has this visibility. */
#define CF__LINKED __attribute__((visibility("protected")))
#define __device__
#define __host__
#define __constant__ /* the generator adds `static` */
#define __managed__
/* The meaning of __shared__ in code that the generator did not rewrite: one CPU thread runs a whole block. */
#define __shared__ static __thread
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __forceinline__ inline CF__INLINE
/* The word expands to nothing, so that __attribute__((__noinline__)) in the C++ library stays valid. */
#define __noinline__
#define __inline_hint__
#define __no_return__ __attribute__((noreturn))
#define __nv_pure__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define CUDARTAPI
#define CUDART_CB

/* Lambdas for the device alone do not exist on the CPU. */
#define __nv_is_extended_device_lambda_closure_type(type) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(type) false
#define __nv_is_extended_host_device_lambda_closure_type(type) false

#if !defined __clang__
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif

#endif
