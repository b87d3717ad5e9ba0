/* allocation_cache.c - remembers live allocations of cf_mem_alloc() on GPUs, so that calls on them need no driver
 * query. The cache has a fixed size and overwrites old entries. */
#include <stdint.h>

#include "memory/allocation_cache.h"

#include "base/fast.h"
#include "driver/driver.h"
#include "context/scope.h"

/* Each hash value has one slot, for the latest allocation with that value; calls on other allocations query the driver.
 * `version` is odd while a thread writes the slot, and a reader that sees it change ignores the slot. */
enum { SLOT_BITS = 9 };
static struct slot {
    _Alignas(32) uint64_t version;
    uintptr_t begin; /* address of the allocation; 0: empty slot */
    size_t bytes;
    unsigned long long context;
} slots[1 << SLOT_BITS];

/* Allocations begin at multiples of 512 bytes, most of them at multiples of 2 MiB. Multiplicative hashing takes the
 * upper bits of a product, which depend on all address bits (Knuth, The Art of Computer Programming 3, 6.4). */
static struct slot *find_slot(const void *begin)
{
    return &slots[(uint64_t)(uintptr_t)begin * 0x9E3779B97F4A7C15 >> (64 - SLOT_BITS)];
}

/* Returns 1 if the caller may write the slot, or 0 if another thread is writing it. */
static int lock_slot(struct slot *slot, uint64_t *version)
{
    *version = __atomic_load_n(&slot->version, __ATOMIC_RELAXED);
    return !(*version & 1) &&
           __atomic_compare_exchange_n(&slot->version, version, *version + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Release order ensures that a reader that sees a new field also sees the odd version. */
static void write_slot(struct slot *slot, uint64_t version, uintptr_t begin, size_t bytes, unsigned long long context)
{
    __atomic_store_n(&slot->begin, begin, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->bytes, bytes, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->context, context, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->version, version + 2, __ATOMIC_RELEASE);
}

void cf__allocation_add(const struct cf__scope *scope, const void *begin, size_t bytes)
{
    unsigned long long context;
    uint64_t version;
    struct slot *slot = find_slot(begin);
    if (!scope->driver->is_cpu && scope->driver->cuCtxGetId(scope->context, &context) == CUDA_SUCCESS &&
        lock_slot(slot, &version))
        write_slot(slot, version, (uintptr_t)begin, bytes, context);
}

void cf__allocation_drop(const void *begin)
{
    uint64_t version;
    struct slot *slot = find_slot(begin);
    while (__atomic_load_n(&slot->begin, __ATOMIC_RELAXED) == (uintptr_t)begin)
        if (lock_slot(slot, &version)) {
            uintptr_t found = __atomic_load_n(&slot->begin, __ATOMIC_RELAXED);
            write_slot(slot, version, found == (uintptr_t)begin ? 0 : found, slot->bytes, slot->context);
        }
}

CF__HOT int cf__allocation_has(unsigned long long context, const void *begin, size_t bytes)
{
    const struct slot *slot = find_slot(begin);
    uint64_t version = __atomic_load_n(&slot->version, __ATOMIC_ACQUIRE);
    int has = __atomic_load_n(&slot->begin, __ATOMIC_ACQUIRE) == (uintptr_t)begin && begin &&
              __atomic_load_n(&slot->bytes, __ATOMIC_ACQUIRE) >= bytes &&
              __atomic_load_n(&slot->context, __ATOMIC_ACQUIRE) == context;
    return has && !(version & 1) && __atomic_load_n(&slot->version, __ATOMIC_RELAXED) == version;
}

void cf__allocation_forget(void)
{
    for (int i = 0; i < 1 << SLOT_BITS; i++)
        slots[i] = (struct slot){.begin = 0};
}
