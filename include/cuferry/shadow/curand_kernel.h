/* curand_kernel.h - types of cuRAND, for kernels that only GPUs run: their sizes, which the generated
 * code compares with the toolkit's. */
#ifndef CUFERRY_SHADOW_CURAND_KERNEL_H
#define CUFERRY_SHADOW_CURAND_KERNEL_H

#define CF__CURAND_STATE(kind, size, alignment)                            \
    struct curandState##kind {                                             \
      private:                                                             \
        [[maybe_unused]] alignas(alignment) unsigned char cf__bytes[size]; \
    };                                                                     \
    typedef struct curandState##kind curandState##kind##_t

CF__CURAND_STATE(XORWOW, 48, 8);
CF__CURAND_STATE(MRG32k3a, 48, 8);
CF__CURAND_STATE(Philox4_32_10, 64, 16);
CF__CURAND_STATE(Mtgp32, 4112, 8);
CF__CURAND_STATE(Sobol32, 140, 4);
CF__CURAND_STATE(ScrambledSobol32, 140, 4);
CF__CURAND_STATE(Sobol64, 536, 8);
CF__CURAND_STATE(ScrambledSobol64, 536, 8);

typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

#undef CF__CURAND_STATE

/* The generator reads system headers with device code, and so the types above. */
__device__ void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                            curandState_t *state);

#endif
