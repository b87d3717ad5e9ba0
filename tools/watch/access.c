/* access.c - receives the reads and writes of a kernel that was compiled with -fsanitize=thread. These functions
 * replace ThreadSanitizer's runtime.
 *
 * ThreadSanitizer needs 4 to 100 us to start each thread of the CPU. All threads of a kernel run on one CPU thread in a
 * known order, so that a check here takes about 20 ns per access. */
#include <stdint.h>
#include <string.h>

#include "watch/check.h"
#include "watch/input.h"
#include "watch/region.h"
#include "watch/watch_thread.h"

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define IS_SANITIZED 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

/* A cf-run that is itself built with a sanitizer has these functions already; it cannot check kernels. */
#ifndef IS_SANITIZED

#define EXPORT __attribute__((visibility("default")))
#define PC __builtin_return_address(0)

/* ---- Plain accesses ---- */

/* `pc` is the address after the access. */
static void note_access(const void *address, size_t bytes, int how, const void *pc)
{
    if (!watch_current || !check_current->access || !bytes)
        return;
    const char *at = address;
    struct region *region = region_find(address);
    size_t rest = region ? region->bytes - (size_t)(at - region->begin) : bytes;
    if (how & ACCESS_WRITE)
        input_note_write(region, at, pc);
    check_current->access(region, at, bytes < rest ? bytes : rest, how, pc);
}

#define ACCESS(name, bytes, how)              \
    EXPORT void name(void *address);          \
    void name(void *address)                  \
    {                                         \
        note_access(address, bytes, how, PC); \
    }
#define ACCESSES(prefix, how) \
    ACCESS(prefix##1, 1, how) \
    ACCESS(prefix##2, 2, how) \
    ACCESS(prefix##4, 4, how) \
    ACCESS(prefix##8, 8, how) \
    ACCESS(prefix##16, 16, how | ACCESS_WHOLE)
ACCESSES(__tsan_read, ACCESS_READ)
ACCESSES(__tsan_write, ACCESS_WRITE)
ACCESSES(__tsan_read_write, ACCESS_READ | ACCESS_WRITE)
ACCESSES(__tsan_unaligned_read, ACCESS_READ)
ACCESSES(__tsan_unaligned_write, ACCESS_WRITE)
ACCESSES(__tsan_unaligned_read_write, ACCESS_READ | ACCESS_WRITE)

/* Records a volatile access, which is a relaxed access in PTX, such as that of a thread that polls a flag. Two of them
 * do not race. */
static void note_volatile(const void *address, size_t bytes, int how, const void *pc)
{
    if (watch_current && check_current->looseness)
        how |= check_current->looseness(address, bytes);
    note_access(address, bytes, how | ACCESS_ATOMIC, pc);
    if (watch_current && check_current->atomic)
        check_current->atomic(address, how & ACCESS_READ, how & ACCESS_WRITE, 0);
}

#define VOLATILE(name, bytes, how)              \
    EXPORT void name(void *address);            \
    void name(void *address)                    \
    {                                           \
        note_volatile(address, bytes, how, PC); \
    }
#define VOLATILES(prefix, how)  \
    VOLATILE(prefix##1, 1, how) \
    VOLATILE(prefix##2, 2, how) \
    VOLATILE(prefix##4, 4, how) \
    VOLATILE(prefix##8, 8, how) \
    VOLATILE(prefix##16, 16, how)
VOLATILES(__tsan_volatile_read, ACCESS_READ)
VOLATILES(__tsan_volatile_write, ACCESS_WRITE)
VOLATILES(__tsan_unaligned_volatile_read, ACCESS_READ)
VOLATILES(__tsan_unaligned_volatile_write, ACCESS_WRITE)

EXPORT void __tsan_read_range(void *address, size_t bytes);
void __tsan_read_range(void *address, size_t bytes)
{
    note_access(address, bytes, ACCESS_READ | ACCESS_WHOLE, PC);
}

EXPORT void __tsan_write_range(void *address, size_t bytes);
void __tsan_write_range(void *address, size_t bytes)
{
    note_access(address, bytes, ACCESS_WRITE | ACCESS_WHOLE, PC);
}

/* ---- Copies: compilers call these functions; newer ones also report the accesses ---- */

static void note_copy(void *target, const void *source, size_t bytes, const void *pc)
{
    if (check_current && check_current->copy) {
        if (watch_current && bytes) {
            input_note_write(region_find(target), target, pc);
            check_current->copy(target, source, bytes, pc);
        }
        return;
    }
    note_access(source, bytes, ACCESS_READ, pc);
    note_access(target, bytes, ACCESS_WRITE, pc);
}

#define COPY(name, call)                                               \
    EXPORT void *name(void *target, const void *source, size_t bytes); \
    void *name(void *target, const void *source, size_t bytes)         \
    {                                                                  \
        note_copy(target, source, bytes, PC);                          \
        return call(target, source, bytes);                            \
    }
COPY(cf__checked_memcpy, memcpy)
COPY(cf__checked_memmove, memmove)
COPY(__tsan_memcpy, memcpy)
COPY(__tsan_memmove, memmove)

#define FILL(name)                                            \
    EXPORT void *name(void *target, int value, size_t bytes); \
    void *name(void *target, int value, size_t bytes)         \
    {                                                         \
        note_access(target, bytes, ACCESS_WRITE, PC);         \
        return memset(target, value, bytes);                  \
    }
FILL(cf__checked_memset)
FILL(__tsan_memset)

/* ---- Atomics ---- */

static void note_atomic(const void *address, size_t bytes, int how, int order, const void *pc)
{
    note_access(address, bytes, how | ACCESS_ATOMIC, pc);
    if (watch_current && check_current->atomic)
        check_current->atomic(address, how & ACCESS_READ, how & ACCESS_WRITE, order >= __ATOMIC_RELEASE);
}

#define RMW(bits, T, name, builtin)                                                                         \
    EXPORT T __tsan_atomic##bits##_##name(volatile T *address, T value, int order);                         \
    T __tsan_atomic##bits##_##name(volatile T *address, T value, int order)                                 \
    {                                                                                                       \
        note_atomic((const void *)(uintptr_t)address, sizeof value, ACCESS_READ | ACCESS_WRITE, order, PC); \
        return builtin(address, value, __ATOMIC_SEQ_CST);                                                   \
    }

#define CAS(bits, T, name)                                                                                        \
    EXPORT int __tsan_atomic##bits##_compare_exchange_##name(volatile T *address, T *old, T value, int order,     \
                                                             int other);                                          \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile T *address, T *old, T value, int order, int other) \
    {                                                                                                             \
        (void)other;                                                                                              \
        note_atomic((const void *)(uintptr_t)address, sizeof value, ACCESS_READ | ACCESS_WRITE, order, PC);       \
        return __atomic_compare_exchange_n(address, old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    }

#define ATOMIC(bits, T)                                                                                             \
    EXPORT T __tsan_atomic##bits##_load(const volatile T *address, int order);                                      \
    T __tsan_atomic##bits##_load(const volatile T *address, int order)                                              \
    {                                                                                                               \
        (void)order;                                                                                                \
        note_atomic((const void *)(uintptr_t)address, sizeof *address, ACCESS_READ, 0, PC);                         \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                          \
    }                                                                                                               \
    EXPORT void __tsan_atomic##bits##_store(volatile T *address, T value, int order);                               \
    void __tsan_atomic##bits##_store(volatile T *address, T value, int order)                                       \
    {                                                                                                               \
        note_atomic((const void *)(uintptr_t)address, sizeof value, ACCESS_WRITE, order, PC);                       \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                         \
    }                                                                                                               \
    RMW(bits, T, exchange, __atomic_exchange_n)                                                                     \
    RMW(bits, T, fetch_add, __atomic_fetch_add)                                                                     \
    RMW(bits, T, fetch_sub, __atomic_fetch_sub)                                                                     \
    RMW(bits, T, fetch_and, __atomic_fetch_and)                                                                     \
    RMW(bits, T, fetch_or, __atomic_fetch_or)                                                                       \
    RMW(bits, T, fetch_xor, __atomic_fetch_xor)                                                                     \
    RMW(bits, T, fetch_nand, __atomic_fetch_nand)                                                                   \
    CAS(bits, T, strong)                                                                                            \
    CAS(bits, T, weak)                                                                                              \
    EXPORT T __tsan_atomic##bits##_compare_exchange_val(volatile T *address, T old, T value, int order, int other); \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T *address, T old, T value, int order, int other)         \
    {                                                                                                               \
        (void)other;                                                                                                \
        note_atomic((const void *)(uintptr_t)address, sizeof value, ACCESS_READ | ACCESS_WRITE, order, PC);         \
        __atomic_compare_exchange_n(address, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
        return old;                                                                                                 \
    }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

/* The headers call this function for atomic operations on 16 bytes. It need not be atomic, since all kernel threads run
 * on one CPU thread. */
__extension__ typedef unsigned __int128 bits128;
EXPORT bits128 __tsan_atomic128_compare_exchange_val(volatile bits128 *address, bits128 old, bits128 value, int order,
                                                     int other);
bits128 __tsan_atomic128_compare_exchange_val(volatile bits128 *address, bits128 old, bits128 value, int order,
                                              int other)
{
    (void)other;
    note_atomic((const void *)(uintptr_t)address, sizeof value, ACCESS_READ | ACCESS_WRITE, order, PC);
    bits128 before = *address;
    if (before == old)
        *address = value;
    return before;
}

EXPORT void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    if (watch_current && check_current->fence)
        check_current->fence();
}

EXPORT void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

/* ---- Other calls ---- */

EXPORT void __tsan_init(void);
void __tsan_init(void)
{
}

EXPORT void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc)
{
    (void)pc;
}

/* A virtual call reads the object's pointer to its virtual table, and a constructor writes it. */
EXPORT void __tsan_vptr_read(void **address);
void __tsan_vptr_read(void **address)
{
    note_access(address, sizeof *address, ACCESS_READ, PC);
}

EXPORT void __tsan_vptr_update(void **address, void *value);
void __tsan_vptr_update(void **address, void *value)
{
    (void)value;
    note_access(address, sizeof *address, ACCESS_WRITE, PC);
}

EXPORT void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

#endif
