/* barrier.cuh - barriers in a kernel's memory: threads arrive at a word and wait for its next phase. */
#ifndef CUFERRY_CPU_BARRIER_CUH
#define CUFERRY_CPU_BARRIER_CUH

#include <time.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/loop/threads.cuh>
#include <cuferry/cpu/words.cuh>

#include "together.cuh"

CF__FN constexpr uint64_t cf__new_barrier(uint64_t expected)
{
    return expected * CF_HOST_ARRIVAL | expected;
}

CF__FN CF__INLINE uint64_t cf__next_phase(uint64_t word)
{
    return ((word & CF_HOST_PHASE) ^ CF_HOST_PHASE) | cf__new_barrier(CF_HOST_EXPECTED(word));
}

/* A completion function that does nothing. */
struct cf__no_completion {
    void operator()() const
    {
    }
};

template <typename T> struct cf__is_nothing {
    static constexpr bool value = false;
};
template <> struct cf__is_nothing<cf__no_completion> {
    static constexpr bool value = true;
};

/* Wakes the threads that wait at `word`. */
CF__FN void cf__wake(const uint64_t *word)
{
    if (cf_host_block *block = cf__index.state)
        block->ops->wake(block, word);
}

/* Replaces the word by `next` if it equals `old`; otherwise returns false and writes the word's value to `old`. For a
 * block's barrier, the expensive atomic instruction is not needed, because threads of one block never run at the same
 * time. */
template <bool is_of_block> CF__FN CF__INLINE bool cf__replace(uint64_t *word, uint64_t &old, uint64_t next)
{
    if (!is_of_block)
        return __atomic_compare_exchange_n(word, &old, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    __atomic_store_n(word, next, __ATOMIC_RELEASE);
    return true;
}

/* Counts `count` arrivals and returns the phase in which they arrived. Some of the threads may drop out: they are not
 * expected in the next phase. The last arrival calls `completion` before the next phase begins. */
template <bool is_of_block, typename Completion>
CF__FN CF__INLINE uint64_t cf__arrive(uint64_t *word, uint64_t count, uint64_t dropped, Completion &completion,
                                      bool &is_last, const char *what, const char *file, int line)
{
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED), next;
    constexpr bool is_called = !cf__is_nothing<Completion>::value;
    do {
        if (count > CF_HOST_MISSING(old))
            cf__fail(0, what, file, line);
        next = old - count * CF_HOST_ARRIVAL - dropped;
        is_last = count > 0 && CF_HOST_MISSING(next) == 0;
        if (!is_called && is_last)
            next = cf__next_phase(next);
    } while (!cf__replace<is_of_block>(word, old, next));
    if (is_last) {
        if (is_called) {
            completion();
            __atomic_store_n(word, cf__next_phase(next), __ATOMIC_RELEASE);
        }
        cf__wake(word);
    }
    return old & CF_HOST_PHASE;
}

CF__FN CF__INLINE bool cf__is_past(const uint64_t *word, uint64_t phase)
{
    return (__atomic_load_n(word, __ATOMIC_ACQUIRE) & CF_HOST_PHASE) != phase;
}

CF__FN CF__INLINE void cf__await(const uint64_t *word, uint64_t phase, const char *what, const char *file, int line)
{
    const cf_host_where where = {what, file, line};
    while (!cf__is_past(word, phase)) {
        CF__TOGETHER(, wait(block, word, phase, &where))
    }
}

/* Arrives at the barrier, and waits for all other threads. */
template <bool is_of_block, typename Completion>
CF__FN CF__INLINE void cf__meet(uint64_t *word, Completion &completion, const char *too_many, const char *what,
                                const char *file, int line)
{
    bool is_last;
    const uint64_t phase = cf__arrive<is_of_block>(word, 1, 0, completion, is_last, too_many, file, line);
    const cf_host_where where = {what, file, line};
    if (is_last)
        return;
    do {
        CF__TOGETHER(, wait(block, word, phase, &where))
    } while (!cf__is_past(word, phase));
}

CF__FN long long cf__nanoseconds()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Returns true if the barrier leaves `phase` within the given time, during which other threads run. */
CF__FN bool cf__await_for(const uint64_t *word, uint64_t phase, long long nanoseconds)
{
    const long long begin = nanoseconds > 0 ? cf__nanoseconds() : 0;
    do {
        if (cf__is_past(word, phase))
            return true;
        __nanosleep(0);
    } while (nanoseconds > 0 && cf__nanoseconds() - begin < nanoseconds);
    return cf__is_past(word, phase);
}

#endif
