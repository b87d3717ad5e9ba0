/* thread_reduce.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_THREAD_REDUCE_CUH
#define CUFERRY_CUB_THREAD_REDUCE_CUH

#include "thread_operators.cuh"

#if !defined CF__SCAN
#include <type_traits>
#include <utility>

namespace cub
{
template <typename Operator, typename T>
using cf__sum =
    typename ::std::decay<decltype(::std::declval<Operator>()(::std::declval<T>(), ::std::declval<T>()))>::type;

/* Combines items in ascending order. */
template <typename T, int items, typename Operator>
CF__FN cf__sum<Operator, T> ThreadReduce(const T (&input)[items], Operator op)
{
    cf__sum<Operator, T> value = input[0];
    for (int i = 1; i < items; i++)
        value = op(value, input[i]);
    return value;
}

template <typename T, int items, typename Operator, typename Prefix>
CF__FN cf__sum<Operator, T> ThreadReduce(const T (&input)[items], Operator op, Prefix prefix)
{
    cf__sum<Operator, T> value = prefix;
    for (int i = 0; i < items; i++)
        value = op(value, input[i]);
    return value;
}
} /* namespace cub */
#endif

#endif
