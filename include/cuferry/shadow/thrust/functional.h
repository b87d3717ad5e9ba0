/* functional.h - replaces the toolkit's thrust/functional.h when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_THRUST_FUNCTIONAL_H
#define CUFERRY_THRUST_FUNCTIONAL_H

#include <functional>

#include <cuferry/cpu/prelude.cuh>

#include "../cuda/functional"

#if !defined CF__SCAN
namespace thrust
{
using ::cuda::maximum;
using ::cuda::minimum;
using ::std::bit_and;
using ::std::bit_or;
using ::std::bit_xor;
using ::std::divides;
using ::std::equal_to;
using ::std::greater;
using ::std::greater_equal;
using ::std::less;
using ::std::less_equal;
using ::std::logical_and;
using ::std::logical_not;
using ::std::logical_or;
using ::std::minus;
using ::std::modulus;
using ::std::multiplies;
using ::std::negate;
using ::std::not_equal_to;
using ::std::plus;
} /* namespace thrust */
#endif

#endif
