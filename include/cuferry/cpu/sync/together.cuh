/* together.cuh - operations that threads of a block perform together: barriers, __shared__ memory, failing. */
#ifndef CUFERRY_CPU_TOGETHER_CUH
#define CUFERRY_CPU_TOGETHER_CUH

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/loop/threads.cuh>
#include <cuferry/cpu/words.cuh>

/* The last parameters of a function that kernels call. By default they are the source location of the call. */
#define CF__WHERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

/* Restores the indices of the running thread after other threads have run. No condition guards the stores, so that
 * compilers know the values and load them only once. */
CF__FN CF__INLINE void cf__resume(const cf__running &turn)
{
    static_cast<cf__running &>(cf__index) = turn;
}

/* Calls the library for an operation during which the thread waits and other threads run, with their own indices. The
 * generator recognizes kernels that use such operations. If a kernel hides one from the generator, the kernel fails
 * here. */
#define CF__TOGETHER(result, ...)            \
    const cf__running turn = cf__index;      \
    cf_host_block *const block = turn.state; \
    if (!block)                              \
        __builtin_trap();                    \
    result block->ops->__VA_ARGS__;          \
    cf__resume(turn);

/* ---- Barriers of the block ---- */

CF__FN int cf__barrier(cf_host_vote vote, int value, const char *what, const char *file, int line)
{
    const cf_host_where where = {what, file, line};
    CF__TOGETHER(const int result = (int), barrier(block, vote, value, &where))
    return result;
}

CF__FN void __syncthreads(CF__WHERE)
{
    cf__barrier(CF_HOST_VOTE_COUNT, 0, "__syncthreads()", file, line);
}

CF__FN int __syncthreads_count(int predicate, CF__WHERE)
{
    return cf__barrier(CF_HOST_VOTE_COUNT, predicate, "__syncthreads_count()", file, line);
}

CF__FN int __syncthreads_and(int predicate, CF__WHERE)
{
    return cf__barrier(CF_HOST_VOTE_AND, predicate, "__syncthreads_and()", file, line);
}

CF__FN int __syncthreads_or(int predicate, CF__WHERE)
{
    return cf__barrier(CF_HOST_VOTE_OR, predicate, "__syncthreads_or()", file, line);
}

CF__FN void cf__sync_grid(const char *file, int line)
{
    const cf_host_where where = {"grid.sync()", file, line};
    CF__TOGETHER(, grid(block, &where))
}

/* The generator writes this before the last brace of a kernel and before a `return;` there. Threads that leave the
 * kernel earlier do not reach it, and barriers then continue without them (as for PTX's exit). */
#if defined CF__CHECKED_ENDS
extern "C" void cf__checked_end(const char *file, int line);
#define CF__END cf__checked_end(__FILE__, __LINE__);
#else
#define CF__END
#endif

/* ---- __shared__ ---- */

/* The shape of a variable of type T, for tools. */
template <typename T> struct cf__shape_of {
    static constexpr cf_host_shape get(int)
    {
        return {sizeof(T), {0, 0, 0}};
    }
};
template <typename T, size_t count> struct cf__shape_of<T[count]> {
    static constexpr cf_host_shape get(int dimensions)
    {
        const cf_host_shape row =
            dimensions > 1 ? cf__shape_of<T>::get(dimensions - 1) : cf_host_shape{sizeof(T), {0, 0, 0}};
        return {row.element, {count, row.extents[0], row.extents[1]}};
    }
};
template <typename T> constexpr cf_host_shape cf__shape()
{
    return cf__shape_of<T>::get(3);
}

/* A __shared__ variable of the block. The generator replaces the declaration
 *
 *     __shared__ float tile[32];
 *
 * by a typedef of the same shape and a reference to the result of this function. The key is an object of the calling
 * function. */
template <typename T> CF__FN T &cf__shared(const cf_host_shape *key, size_t align)
{
    cf_host_block *block = cf__index.state;
    for (uint32_t i = 0; i < block->shared_count; i++)
        if (block->shared[i].key == key)
            return *static_cast<T *>(block->shared[i].memory);
    return *static_cast<T *>(block->ops->shared(block, key, sizeof(T), align));
}

template <typename T> CF__FN T &cf__dynamic_shared()
{
    return *static_cast<T *>(cf__index.state->dynamic);
}

/* alignas() with a number or a type, as an attribute that a typedef may have. */
#define CF__ALIGN_AS(...) __attribute__((aligned(cf__alignment<__VA_ARGS__>())))

template <size_t bytes> constexpr size_t cf__alignment()
{
    return bytes;
}

template <typename T> constexpr size_t cf__alignment()
{
    return alignof(T);
}

template <typename T> struct cf__element_of;
template <typename T> struct cf__element_of<T[]> {
    typedef T type;
};
template <typename T> using cf__element = typename cf__element_of<T>::type;

/* An extern __shared__ array of a file. It converts to the type that an expression needs. */
template <typename T> struct cf__dynamic_array {
    template <typename U> operator U *() const
    {
        return static_cast<U *>(cf__index.state->dynamic);
    }

    T &operator[](size_t i) const
    {
        return static_cast<T *>(cf__index.state->dynamic)[i];
    }

    T &operator*() const
    {
        return *static_cast<T *>(cf__index.state->dynamic);
    }

    T *operator+(ptrdiff_t i) const
    {
        return static_cast<T *>(cf__index.state->dynamic) + i;
    }
};

/* ---- Failing ---- */

CF__FN void cf__fail(int is_assert, const char *what, const char *file, int line)
{
    const cf_host_where where = {what, file, line};
    cf_host_block *block = cf__index.state;
    if (block)
        block->ops->fail(block, is_assert, &where);
    __builtin_trap(); /* the code runs outside of a kernel */
}

CF__FN void __trap(CF__WHERE)
{
    cf__fail(0, "__trap()", file, line);
}

/* Sleeps. A thread that polls memory sleeps so that the thread that will write the memory can run. */
CF__FN void __nanosleep(unsigned int)
{
    if (cf_host_block *block = cf__index.state) {
        const cf__running turn = cf__index;
        block->ops->yield(block);
        cf__resume(turn);
    }
}

#endif
