/* complex.h - replaces the toolkit's thrust/complex.h when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_THRUST_COMPLEX_H
#define CUFERRY_THRUST_COMPLEX_H

#include <cuferry/cpu/prelude.cuh>

#if !defined CF__SCAN
#include <cuferry/cpu/types/complex.cuh>

namespace thrust
{
#define CF__USING(name) using cf__::name;
CF__USING(complex)
CF__COMPLEX_FUNCTIONS(CF__USING)
CF__COMPLEX_PARTS(CF__USING)
#undef CF__USING
} /* namespace thrust */
#endif

#endif
