/* cuda_barrier.cuh - cuda::barrier in every scope, and copies that a barrier tracks. */
#ifndef CUFERRY_CPU_CUDA_BARRIER_CUH
#define CUFERRY_CPU_CUDA_BARRIER_CUH

#include <chrono>
#include <stddef.h>

#include <cuferry/cpu/types/aligned_size.cuh>
#include <cuferry/cpu/types/cuda_std.cuh>

#include "async_copy.cuh"
#include "barrier.cuh"
#include "cuda_atomic.cuh"
#include "memory.cuh"
#include "wide_atomics.cuh"

namespace cuda
{
/* The state of a barrier. The word is its first member, and its only one without a completion function. */
struct cf__barrier_word {
    uint64_t cf__word;
};
template <typename Completion> struct cf__barrier_state : cf__barrier_word {
    Completion cf__completion;

    cf__barrier_state() = default;
    constexpr cf__barrier_state(ptrdiff_t expected, Completion completion)
        : cf__barrier_word{cf__new_barrier((uint64_t)expected)}, cf__completion(completion)
    {
    }

    Completion &cf__called()
    {
        return cf__completion;
    }
};
template <> struct cf__barrier_state<cf__no_completion> : cf__barrier_word {
    cf__barrier_state() = default;
    constexpr cf__barrier_state(ptrdiff_t expected, cf__no_completion)
        : cf__barrier_word{cf__new_barrier((uint64_t)expected)}
    {
    }

    static cf__no_completion cf__called()
    {
        return {};
    }
};

/* Members that barriers of all scopes share. */
template <bool is_of_block, typename Completion> class cf__barrier : cf__barrier_state<Completion>
{
    typedef cf__barrier_state<Completion> state;

    static void check(ptrdiff_t expected, const char *file, int line)
    {
        if (expected < 0 || expected > max())
            cf__fail(0, "a barrier that expects less than none, or too many", file, line);
    }

  public:
    typedef uint64_t arrival_token;

    cf__barrier() = default;
    cf__barrier(const cf__barrier &) = delete;
    cf__barrier &operator=(const cf__barrier &) = delete;

    constexpr cf__barrier(ptrdiff_t expected, Completion completion = Completion()) : state(expected, completion)
    {
    }

    [[nodiscard]] arrival_token arrive(ptrdiff_t update = 1, CF__WHERE)
    {
        auto &&completion = this->cf__called();
        bool is_last;
        return cf__arrive<is_of_block>(&this->cf__word, (uint64_t)update, 0, completion, is_last,
                                       "cuda::barrier::arrive() of more than it expects", file, line);
    }

    void wait(arrival_token &&phase, CF__WHERE) const
    {
        cf__await(&this->cf__word, phase, "cuda::barrier::wait()", file, line);
    }

    void wait_parity(bool parity, CF__WHERE) const
    {
        cf__await(&this->cf__word, parity ? CF_HOST_PHASE : 0, "cuda::barrier::wait_parity()", file, line);
    }

    CF__INLINE void arrive_and_wait(CF__WHERE)
    {
        auto &&completion = this->cf__called();
        cf__meet<is_of_block>(&this->cf__word, completion, "cuda::barrier::arrive_and_wait() of more than it expects",
                              "cuda::barrier::arrive_and_wait()", file, line);
    }

    void arrive_and_drop(CF__WHERE)
    {
        auto &&completion = this->cf__called();
        bool is_last;
        (void)cf__arrive<is_of_block>(&this->cf__word, 1, 1, completion, is_last,
                                      "cuda::barrier::arrive_and_drop() of more than it expects", file, line);
    }

    template <typename Rep, typename Period>
    [[nodiscard]] bool try_wait_for(arrival_token &&phase, const ::std::chrono::duration<Rep, Period> &time) const
    {
        return cf__try(phase, ::std::chrono::duration_cast<::std::chrono::nanoseconds>(time).count());
    }

    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_wait_until(arrival_token &&phase,
                                      const ::std::chrono::time_point<Clock, Duration> &time) const
    {
        return try_wait_for(static_cast<arrival_token &&>(phase), time - Clock::now());
    }

    template <typename Rep, typename Period>
    [[nodiscard]] bool try_wait_parity_for(bool parity, const ::std::chrono::duration<Rep, Period> &time) const
    {
        return try_wait_for(parity ? CF_HOST_PHASE : 0, time);
    }

    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_wait_parity_until(bool parity, const ::std::chrono::time_point<Clock, Duration> &time) const
    {
        return try_wait_until(parity ? CF_HOST_PHASE : 0, time);
    }

    static constexpr ptrdiff_t max()
    {
        return (1 << 20) - 1;
    }

    void cf__init(ptrdiff_t expected, Completion completion, const char *file, int line)
    {
        check(expected, file, line);
        static_cast<state &>(*this) = state(expected, completion);
    }

  private:
    /* Returns true if `phase` ends within the given time. Other threads run in that time. */
    bool cf__try(arrival_token phase, long long nanoseconds) const
    {
        return cf__await_for(&this->cf__word, phase, nanoseconds);
    }
};

template <thread_scope Scope>
constexpr bool cf__is_of_block = Scope == thread_scope_block || Scope == thread_scope_thread;

template <thread_scope Scope, typename Completion = cf__no_completion>
class barrier : public cf__barrier<cf__is_of_block<Scope>, Completion>
{
  public:
    using cf__barrier<cf__is_of_block<Scope>, Completion>::cf__barrier;
    barrier() = default;

    friend void init(barrier *object, ptrdiff_t expected, Completion completion = Completion(), CF__WHERE)
    {
        object->cf__init(expected, completion, file, line);
    }
};

namespace std
{
template <typename Completion = cf__no_completion> class barrier : public cf__barrier<false, Completion>
{
  public:
    using cf__barrier<false, Completion>::cf__barrier;
};
} /* namespace std */

/* ---- Copies that a barrier's phase or a pipeline's stage tracks. Here they are done at once, before the thread
 * arrives. ---- */

enum async_contract_fulfillment { none, async };

struct cf__one_thread {
    static constexpr size_t size()
    {
        return 1;
    }

    static constexpr size_t thread_rank()
    {
        return 0;
    }
};

template <typename Group>
CF__FN CF__INLINE async_contract_fulfillment cf__fulfil(const Group &group, void *to, const void *from, size_t bytes)
{
    cf__copy_part(group, to, from, bytes);
    return none;
}

/* Is defined for barriers and pipelines only, so that copies with other objects do not compile. */
template <typename Tracker> struct cf__tracking;
template <thread_scope Scope, typename Completion> struct cf__tracking<barrier<Scope, Completion>> {
    typedef async_contract_fulfillment type;
};
template <typename Tracker> using cf__tracked = typename cf__tracking<Tracker>::type;

template <typename Group, typename T, size_t Alignment, typename Tracker>
CF__FN CF__INLINE cf__tracked<Tracker> memcpy_async(const Group &group, T *to, const T *from,
                                                    aligned_size_t<Alignment> bytes, Tracker &)
{
    static_assert(__is_trivially_copyable(T), "memcpy_async() copies types that are trivially copyable");
    return cf__fulfil(group, to, from, bytes);
}

template <typename T, typename Size, typename Tracker>
CF__FN CF__INLINE cf__tracked<Tracker> memcpy_async(T *to, const T *from, Size bytes, Tracker &)
{
    static_assert(__is_trivially_copyable(T), "memcpy_async() copies types that are trivially copyable");
    return cf__fulfil(cf__one_thread(), to, from, bytes);
}

template <typename Group, typename T, typename Tracker>
CF__FN CF__INLINE cf__tracked<Tracker> memcpy_async(const Group &group, T *to, const T *from, size_t bytes, Tracker &)
{
    static_assert(__is_trivially_copyable(T), "memcpy_async() copies types that are trivially copyable");
    return cf__fulfil(group, to, from, bytes);
}

template <typename Group, typename Tracker>
CF__FN CF__INLINE cf__tracked<Tracker> memcpy_async(const Group &group, void *to, const void *from, size_t bytes,
                                                    Tracker &)
{
    return cf__fulfil(group, to, from, bytes);
}

template <typename Group, size_t Alignment, typename Tracker>
CF__FN CF__INLINE cf__tracked<Tracker> memcpy_async(const Group &group, void *to, const void *from,
                                                    aligned_size_t<Alignment> bytes, Tracker &)
{
    return cf__fulfil(group, to, from, bytes);
}

template <typename Size, typename Tracker>
CF__FN CF__INLINE cf__tracked<Tracker> memcpy_async(void *to, const void *from, Size bytes, Tracker &)
{
    return cf__fulfil(cf__one_thread(), to, from, bytes);
}

} /* namespace cuda */

#endif
