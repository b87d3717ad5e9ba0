/* curand_kernel.h - the functions of cuRAND for kernels: the toolkit's own header, which CPUs run too. */
#ifndef CUFERRY_SHADOW_CURAND_KERNEL_H
#define CUFERRY_SHADOW_CURAND_KERNEL_H

#if __has_include_next(<curand_kernel.h>) && !defined CF__SCAN

#include <library_types.h>

/* Promises that host code has erfcinvf(). Without it, normal numbers from Sobol's generators would be 0 in host
 * code. */
#define HOST_HAVE_ERFCINVF

/* The toolkit's header declares these indices for host code. Only MTGP32 uses them. */
#pragma push_macro("threadIdx")
#pragma push_macro("blockDim")
#undef threadIdx
#undef blockDim
#include_next <curand_kernel.h>
#pragma pop_macro("blockDim")
#pragma pop_macro("threadIdx")

#else

/* Most states are declared as bytes, whose size the generated code compares with the toolkit's. States with padding are
 * declared with their members, because cf-run --verify would otherwise compare the padding. */
struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};

struct curandStateMRG32k3a {
    unsigned int s1[3], s2[3];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};

#define CF__CURAND_STATE(kind, size, alignment)                            \
    struct curandState##kind {                                             \
      private:                                                             \
        [[maybe_unused]] alignas(alignment) unsigned char cf__bytes[size]; \
    };                                                                     \
    typedef struct curandState##kind curandState##kind##_t

CF__CURAND_STATE(Philox4_32_10, 64, 16);
CF__CURAND_STATE(Mtgp32, 4112, 8);
CF__CURAND_STATE(Sobol32, 140, 4);
CF__CURAND_STATE(ScrambledSobol32, 140, 4);
CF__CURAND_STATE(Sobol64, 536, 8);
CF__CURAND_STATE(ScrambledSobol64, 536, 8);

typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

#undef CF__CURAND_STATE

/* The generator reads system headers with device code, and so the types above. */
__device__ void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                            curandState_t *state);

#if !__has_include_next(<curand_kernel.h>)
/* The generator refuses uses of cuRAND in the CPU's kernels. */
struct cf__without_curand;
#endif

#endif

#endif
