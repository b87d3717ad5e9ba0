/* tuple.h - replaces the toolkit's thrust/tuple.h when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_THRUST_TUPLE_H
#define CUFERRY_THRUST_TUPLE_H

#include <tuple>

#include <cuferry/cpu/prelude.cuh>

#include "pair.h"

#if !defined CF__SCAN
namespace thrust
{
using ::std::get;
using ::std::make_tuple;
using ::std::tie;
using ::std::tuple;
using ::std::tuple_element;
using ::std::tuple_size;
} /* namespace thrust */
#endif

#endif
