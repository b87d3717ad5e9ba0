/* util_type.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_UTIL_TYPE_CUH
#define CUFERRY_CUB_UTIL_TYPE_CUH

#include "config.cuh"

#if !defined CF__SCAN
namespace cub
{
struct NullType {
    typedef NullType value_type;

    NullType() = default;
    template <typename T> explicit NullType(const T &)
    {
    }
    template <typename T> NullType &operator=(const T &)
    {
        return *this;
    }
    bool operator==(const NullType &) const
    {
        return true;
    }
    bool operator!=(const NullType &) const
    {
        return false;
    }
};

template <typename _Key, typename _Value> struct KeyValuePair {
    typedef _Key Key;
    typedef _Value Value;
    Key key;
    Value value;

    KeyValuePair()
    {
    }
    KeyValuePair(const Key &key_, const Value &value_) : key(key_), value(value_)
    {
    }
    bool operator!=(const KeyValuePair &other)
    {
        return value != other.value || key != other.key;
    }
};

template <int N> struct PowerOfTwo {
    enum { VALUE = (N & (N - 1)) == 0 };
};

/* Logarithm to base 2, rounded up. */
template <int N> struct Log2 {
    enum { VALUE = N > 1 ? 32 - __builtin_clz((unsigned int)N - 1) : 0 };
};
} /* namespace cub */
#endif

#endif
