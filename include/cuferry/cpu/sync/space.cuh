/* space.cuh - the memory space of an address: shared memory of the running block, or global memory. */
#ifndef CUFERRY_CPU_SPACE_CUH
#define CUFERRY_CPU_SPACE_CUH

#include <stddef.h>
#include <stdint.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/loop/threads.cuh>
#include <cuferry/cpu/words.cuh>

CF__FN bool cf__is_within(const void *address, const void *memory, size_t bytes)
{
    return (uintptr_t)address - (uintptr_t)memory < bytes;
}

CF__FN unsigned int __isShared(const void *address)
{
    const cf_host_block *block = cf__index.state;
    if (!block)
        return 0;
    for (uint32_t i = 0; i < block->shared_count; i++)
        if (cf__is_within(address, block->shared[i].memory, block->shared[i].bytes))
            return 1;
    return cf__is_within(address, block->dynamic, block->launch->shared);
}

/* Local variables of threads count as global memory. */
CF__FN unsigned int __isGlobal(const void *address)
{
    return !__isShared(address);
}

CF__FN unsigned int __isConstant(const void *)
{
    return 0;
}

CF__FN unsigned int __isLocal(const void *)
{
    return 0;
}

CF__FN unsigned int __isGridConstant(const void *)
{
    return 0;
}

#endif
