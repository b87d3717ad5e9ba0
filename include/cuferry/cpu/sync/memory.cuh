/* memory.cuh - loads and stores with a cache hint, fences, and functions that tell the place and the time of
 * execution. */
#ifndef CUFERRY_CPU_MEMORY_CUH
#define CUFERRY_CPU_MEMORY_CUH

#include <time.h>

#include <cuferry/cpu/words.cuh>

/* A load with a hint for caches. The CPU ignores the hint. */
#define CF__LOAD(name)                                    \
    template <typename T> CF__FN T name(const T *address) \
    {                                                     \
        return *address;                                  \
    }
CF__LOAD(__ldg)
CF__LOAD(__ldca)
CF__LOAD(__ldcg)
CF__LOAD(__ldcs)
CF__LOAD(__ldlu)
CF__LOAD(__ldcv)
#undef CF__LOAD

/* The type of a stored value, which is deduced from the pointer alone: __stcg(x, 0) also accepts a float *. */
template <typename T> struct cf__stored {
    typedef T type;
};

#define CF__STORE(name)                                                                    \
    template <typename T> CF__FN void name(T *address, typename cf__stored<T>::type value) \
    {                                                                                      \
        *address = value;                                                                  \
    }
CF__STORE(__stwb)
CF__STORE(__stcg)
CF__STORE(__stcs)
CF__STORE(__stwt)
#undef CF__STORE

CF__FN void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

CF__FN void __threadfence_block()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

CF__FN void __threadfence_system()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Launches on the CPU run one after the other, so a kernel that may begin early has nothing to wait for. */
CF__FN void cudaGridDependencySynchronize()
{
}

CF__FN void cudaTriggerProgrammaticLaunchCompletion()
{
}

/* Returns a counter that increases with time. */
CF__FN long long clock64()
{
#if defined __x86_64__
    return (long long)__builtin_ia32_rdtsc();
#elif defined __aarch64__
    long long ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
#endif
}

/* Tells the processor that a loop waits for another thread. It is a function because CPU forms of kernels contain no
 * inline assembly of their own. */
CF__FN void cf__pause()
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

CF__FN void __brkpt()
{
}

CF__FN void __prof_trigger(int)
{
}

#endif
