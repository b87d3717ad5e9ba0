/* words.cuh - CUDA's words in front of functions, variables and types. */
#ifndef CUFERRY_CPU_WORDS_CUH
#define CUFERRY_CPU_WORDS_CUH

/* The toolkit's guard: its headers must not bring their own words. */
#define __HOST_DEFINES_H__

#define CF__INLINE __attribute__((always_inline))
/* Functions of these headers belong to the file that uses them: no symbol of one kernel file meets another's. */
#define CF__FN static inline

/* A kernel that its author wants not inlined is not: gcc warns of the two attributes that then meet. */
#pragma GCC diagnostic ignored "-Wattributes"
#define __global__ inline CF__INLINE
#define __device__
#define __host__
#define __constant__ /* the generator sees to `static` */
#define __managed__
/* Where the generator does not write the declaration anew, which is in headers: all threads of a block run on one thread. */
#define __shared__ static __thread
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __forceinline__ inline CF__INLINE
/* Nothing rather than an attribute: the C++ library writes __attribute__((__noinline__)), which this leaves valid. */
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

/* No lambda is one that only a GPU runs. */
#define __nv_is_extended_device_lambda_closure_type(type) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(type) false
#define __nv_is_extended_host_device_lambda_closure_type(type) false

#if !defined __clang__
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif

#endif
