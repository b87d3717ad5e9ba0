/* async_copy.cuh - copies that threads of a group share. */
#ifndef CUFERRY_CPU_ASYNC_COPY_CUH
#define CUFERRY_CPU_ASYNC_COPY_CUH

#include <stddef.h>

#include <cuferry/cpu/words.cuh>

/* Copies bytes. Each thread of the group copies a part of them. */
template <typename Group>
CF__FN CF__INLINE void cf__copy_part(const Group &group, void *to, const void *from, size_t bytes)
{
    const size_t threads = (size_t)group.size(), rank = (size_t)group.thread_rank();
    const size_t each = bytes / threads, more = bytes % threads;
    const size_t begin = each * rank + (rank < more ? rank : more);
    size_t own = each + (rank < more);
#if defined CF__THREADS_CHECKED
    __asm__("" : "+r"(own)); /* compilers would warn about the copy without this statement */
#endif
    __builtin_memcpy(static_cast<char *>(to) + begin, static_cast<const char *>(from) + begin, own);
}

#endif
