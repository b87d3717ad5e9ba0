/* pair.h - replaces the toolkit's thrust/pair.h when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_THRUST_PAIR_H
#define CUFERRY_THRUST_PAIR_H

#include <utility>

#include <cuferry/cpu/prelude.cuh>

#if !defined CF__SCAN
namespace thrust
{
using ::std::make_pair;
using ::std::pair;
} /* namespace thrust */
#endif

#endif
