/* version.cuh - the version of CUDA that kernel files may ask for with #if. */
#ifndef CUFERRY_CPU_VERSION_CUH
#define CUFERRY_CPU_VERSION_CUH

/* What the generator saw when it scanned the file. */
#ifndef __CUDACC__
#define __CUDACC__
#endif

/* A build that has a toolkit may name its version with -D; this is the one that these headers follow. */
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
