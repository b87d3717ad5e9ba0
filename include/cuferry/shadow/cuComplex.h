/* cuComplex.h - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#include <cuferry/cpu/prelude.cuh>

#if !defined CF__SCAN && !defined CU_COMPLEX_H_
#define CU_COMPLEX_H_ /* the toolkit's guard */
#include <cuferry/cpu/types/cucomplex.cuh>
#endif
