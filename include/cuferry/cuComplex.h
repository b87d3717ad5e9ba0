/* cuComplex.h - stands in for the toolkit's when the C++ compiler reads a kernel file. */
#include "host.cuh"

#if !defined CF__SCAN && !defined CU_COMPLEX_H_
#define CU_COMPLEX_H_ /* the toolkit's guard */
#include "host/cucomplex.cuh"
#endif
