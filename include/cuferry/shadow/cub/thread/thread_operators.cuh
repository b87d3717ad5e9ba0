/* thread_operators.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_THREAD_OPERATORS_CUH
#define CUFERRY_CUB_THREAD_OPERATORS_CUH

#include "../../cuda/functional"
#include "../util_type.cuh"

#if !defined CF__SCAN
namespace cub
{
typedef ::cuda::std::plus<> Sum;
typedef ::cuda::maximum<> Max;
typedef ::cuda::minimum<> Min;
typedef ::cuda::std::equal_to<> Equality;
typedef ::cuda::std::not_equal_to<> Inequality;

template <typename EqualityOp> struct InequalityWrapper {
    EqualityOp op;

    InequalityWrapper(EqualityOp op_) : op(op_)
    {
    }
    template <typename T, typename U> bool operator()(T &&a, U &&b)
    {
        return !op(a, b);
    }
};

template <typename B> struct CastOp {
    template <typename A> B operator()(A &&a) const
    {
        return (B)a;
    }
};

/* Returns the pair with the larger value. If both values are equal, returns the pair with the lower key. */
struct ArgMax {
    template <typename Pair> Pair operator()(const Pair &a, const Pair &b) const
    {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

struct ArgMin {
    template <typename Pair> Pair operator()(const Pair &a, const Pair &b) const
    {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
} /* namespace cub */
#endif

#endif
