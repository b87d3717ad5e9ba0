/* version.cuh - the version of CUDA that kernel files can test with #if. */
#ifndef CUFERRY_CPU_VERSION_CUH
#define CUFERRY_CPU_VERSION_CUH

/* These macros are also defined when the generator scans the file. */
#ifndef __CUDACC__
#define __CUDACC__
#endif
#ifndef __CUDACC_EXTENDED_LAMBDA__
#define __CUDACC_EXTENDED_LAMBDA__
#define __CUDACC_RELAXED_CONSTEXPR__
#endif

/* A build with a toolkit may define CUDART_VERSION with -D. These headers then follow that version. */
#ifndef CUDART_VERSION
#define CUDART_VERSION 13000
#endif
#ifndef CUDA_VERSION
#define CUDA_VERSION CUDART_VERSION
#endif
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0
#endif

#endif
