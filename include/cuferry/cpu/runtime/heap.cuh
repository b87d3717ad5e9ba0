/* heap.cuh - new and delete in kernels. The generator includes this file where it is needed. Objects of kernel files
 * are linked without the C++ runtime, so these functions are local to an object. */
#ifndef CUFERRY_CPU_HEAP_CUH
#define CUFERRY_CPU_HEAP_CUH

#include <new>
#include <stdlib.h>

#include <cuferry/cpu/sync/together.cuh>

#define CF__HEAP __attribute__((weak))

/* Returns memory for new. The launch fails without memory, since compilers assume that new returns some. */
CF__FN void *cf__heap(size_t size, size_t align)
{
    void *memory;
    if (posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, size ? size : 1) != 0)
        cf__fail(0, "no memory for new", "", 0);
    return memory;
}

CF__HEAP void *operator new(size_t size)
{
    return cf__heap(size, 16);
}

CF__HEAP void *operator new[](size_t size)
{
    return cf__heap(size, 16);
}

CF__HEAP void *operator new(size_t size, std::align_val_t align)
{
    return cf__heap(size, (size_t)align);
}

CF__HEAP void *operator new[](size_t size, std::align_val_t align)
{
    return cf__heap(size, (size_t)align);
}

#define CF__DELETE(...)                                   \
    CF__HEAP void operator delete(__VA_ARGS__) noexcept   \
    {                                                     \
        free(memory);                                     \
    }                                                     \
    CF__HEAP void operator delete[](__VA_ARGS__) noexcept \
    {                                                     \
        free(memory);                                     \
    }
CF__DELETE(void *memory)
CF__DELETE(void *memory, size_t)
CF__DELETE(void *memory, std::align_val_t)
CF__DELETE(void *memory, size_t, std::align_val_t)
#undef CF__DELETE

/* The function that compilers call in place of a pure virtual function. */
extern "C" __attribute__((weak, visibility("hidden"))) void __cxa_pure_virtual()
{
    cf__fail(0, "a pure virtual function", "", 0);
}
#undef CF__HEAP

#endif
