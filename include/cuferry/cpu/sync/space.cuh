/* space.cuh - the memory space of an address: shared memory of the running block, or global memory. */
#ifndef CUFERRY_CPU_SPACE_CUH
#define CUFERRY_CPU_SPACE_CUH

#include <stddef.h>
#include <stdint.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/loop/threads.cuh>
#include <cuferry/cpu/words.cuh>

#include "together.cuh"

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

/* Addresses of shared memory as 32-bit numbers: the number of the variable, which is 0 for dynamic shared memory,
 * followed by an offset of this many bits. */
#define CF__SHARED_BITS 20

/* Counts the byte after a variable as a part of it, because the end of a variable has an address, too. */
CF__FN size_t __cvta_generic_to_shared(const void *address, CF__WHERE)
{
    const cf_host_block *block = cf__index.state;
    for (uint32_t i = 0; block && i < block->shared_count; i++) {
        const cf_host_shared &variable = block->shared[i];
        if (!cf__is_within(address, variable.memory, variable.bytes + 1))
            continue;
        return ((size_t)(i + 1) << CF__SHARED_BITS) + ((uintptr_t)address - (uintptr_t)variable.memory);
    }
    if (!block || !cf__is_within(address, block->dynamic, block->launch->shared + (size_t)1))
        cf__fail(0,
                 "__cvta_generic_to_shared() of an address outside of shared memory: pass one of a __shared__ "
                 "variable of this block",
                 file, line);
    return (uintptr_t)address - (uintptr_t)block->dynamic;
}

CF__FN void *__cvta_shared_to_generic(size_t address)
{
    const cf_host_block *block = cf__index.state;
    const size_t number = address >> CF__SHARED_BITS, distance = address & (((size_t)1 << CF__SHARED_BITS) - 1);
    if (!block || number > block->shared_count)
        return nullptr;
    return (char *)(number ? block->shared[number - 1].memory : block->dynamic) + distance;
}

CF__FN size_t __cvta_generic_to_global(const void *address)
{
    return (uintptr_t)address;
}

CF__FN void *__cvta_global_to_generic(size_t address)
{
    return (void *)address;
}

/* Returns 1 also for a thread's local variables, which count as global memory. */
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
