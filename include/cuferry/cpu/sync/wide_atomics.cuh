/* wide_atomics.cuh - atomic access to 16 bytes without the compiler's libatomic. */
#ifndef CUFERRY_CPU_WIDE_ATOMICS_CUH
#define CUFERRY_CPU_WIDE_ATOMICS_CUH

#include <cuferry/cpu/words.cuh>

#if defined __clang__
#if __has_feature(thread_sanitizer)
#define CF__THREADS_CHECKED 1
#elif __has_feature(address_sanitizer)
#define CF__ADDRESSES_CHECKED 1
#endif
#elif defined __SANITIZE_THREAD__
#define CF__THREADS_CHECKED 1
#elif defined __SANITIZE_ADDRESS__
#define CF__ADDRESSES_CHECKED 1
#endif

__extension__ typedef unsigned __int128 cf__bits128;

#if defined CF__THREADS_CHECKED
extern "C" cf__bits128 __tsan_atomic128_compare_exchange_val(volatile cf__bits128 *address, cf__bits128 expected,
                                                             cf__bits128 value, int order, int other);
#endif

/* Replaces the 16 bytes at `address` by `value` if they equal `expected`; returns the old bytes. The memory order is
 * always the strictest one; only checking tools use `order`. */
CF__FN cf__bits128 cf__exchange128(cf__bits128 *address, cf__bits128 expected, cf__bits128 value,
                                   [[maybe_unused]] int order)
{
#if defined CF__THREADS_CHECKED
    return __tsan_atomic128_compare_exchange_val(address, expected, value, order, __ATOMIC_RELAXED);
#else
#if defined CF__ADDRESSES_CHECKED /* address sanitizers do not see the accesses of assembly code */
    *reinterpret_cast<volatile char *>(address);
    *(reinterpret_cast<volatile char *>(address) + 15);
#endif
#if defined __x86_64__
    unsigned long long low = (unsigned long long)expected, high = (unsigned long long)(expected >> 64);
    __asm__ volatile("lock cmpxchg16b %0"
                     : "+m"(*address), "+a"(low), "+d"(high)
                     : "b"((unsigned long long)value), "c"((unsigned long long)(value >> 64))
                     : "cc", "memory");
    return (cf__bits128)high << 64 | low;
#else
    unsigned long long low, high, next_low, next_high;
    unsigned int is_lost;
    /* A failed comparison writes the old value back. This store succeeds only if both halves were read at once.
     * */
    __asm__ volatile("dmb ish\n"
                     "0:\n"
                     "ldaxp %[low], %[high], [%[address]]\n"
                     "cmp %[low], %[expected_low]\n"
                     "ccmp %[high], %[expected_high], #0, eq\n"
                     "csel %[next_low], %[value_low], %[low], eq\n"
                     "csel %[next_high], %[value_high], %[high], eq\n"
                     "stlxp %w[is_lost], %[next_low], %[next_high], [%[address]]\n"
                     "cbnz %w[is_lost], 0b\n"
                     "dmb ish"
                     : [low] "=&r"(low), [high] "=&r"(high), [next_low] "=&r"(next_low), [next_high] "=&r"(next_high),
                       [is_lost] "=&r"(is_lost)
                     : [address] "r"(address), [expected_low] "r"((unsigned long long)expected),
                       [expected_high] "r"((unsigned long long)(expected >> 64)),
                       [value_low] "r"((unsigned long long)value), [value_high] "r"((unsigned long long)(value >> 64))
                     : "cc", "memory");
    return (cf__bits128)high << 64 | low;
#endif
#endif
}

template <typename T> CF__FN cf__bits128 cf__to_bits128(const T &value)
{
    cf__bits128 bits;
    static_assert(sizeof value == sizeof bits, "16 bytes");
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

template <typename T> CF__FN T cf__of_bits128(cf__bits128 bits)
{
    alignas(16) unsigned char bytes[16];
    __builtin_memcpy(bytes, &bits, sizeof bytes);
    return *reinterpret_cast<T *>(bytes);
}

/* Replaces *address by `value` if it equals `expected`, and returns the old value. */
template <typename T> CF__FN T cf__compare_and_swap128(T *address, const T &expected, const T &value, int order)
{
    return cf__of_bits128<T>(cf__exchange128(reinterpret_cast<cf__bits128 *>(address), cf__to_bits128(expected),
                                             cf__to_bits128(value), order));
}

template <typename T> CF__FN T cf__swap128(T *address, const T &value, int order)
{
    const cf__bits128 next = cf__to_bits128(value);
    cf__bits128 *bits = reinterpret_cast<cf__bits128 *>(address), expected = 0, old;
    while ((old = cf__exchange128(bits, expected, next, order)) != expected)
        expected = old;
    return cf__of_bits128<T>(old);
}

/* ---- atomicCAS() and atomicExch() of any type that has 16 bytes and is aligned to 16 bytes ---- */

template <typename T> struct cf__has_16_bytes {
    static constexpr bool value = sizeof(T) == 16 && alignof(T) >= 16 && __is_trivially_copyable(T);
};
template <typename T, bool is_wide = cf__has_16_bytes<T>::value> struct cf__if_16_bytes {
};
template <typename T> struct cf__if_16_bytes<T, true> {
    typedef T type;
};
template <typename T> using cf__of_16_bytes = typename cf__if_16_bytes<T>::type;

#define CF__WIDE(suffix)                                                                              \
    template <typename T> CF__FN cf__of_16_bytes<T> atomicCAS##suffix(T *address, T compare, T value) \
    {                                                                                                 \
        return cf__compare_and_swap128(address, compare, value, __ATOMIC_RELAXED);                    \
    }                                                                                                 \
    template <typename T> CF__FN cf__of_16_bytes<T> atomicExch##suffix(T *address, T value)           \
    {                                                                                                 \
        return cf__swap128(address, value, __ATOMIC_RELAXED);                                         \
    }
CF__WIDE()
CF__WIDE(_block)
CF__WIDE(_system)
#undef CF__WIDE

#endif
