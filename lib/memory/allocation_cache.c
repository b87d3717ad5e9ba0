/* owned.c - what cf_mem_alloc() gave on GPUs and cf_mem_free() has not taken back, as far as there is room to remember
 * it: of that memory the driver need not be asked at each call. */
#include <stdint.h>

#include "memory/allocation_cache.h"

#include "base/fast.h"
#include "driver/driver.h"
#include "context/enter.h"

/* A slot for each value of the hash; the latest allocation has it. Nothing is lost with one that has none: the driver
 * knows them all. `version` is odd while the slot is being written, and a reader that finds another one behind has read
 * nothing. */
enum { SLOT_BITS = 9 };
static struct slot {
    _Alignas(32) uint64_t version;
    uintptr_t begin; /* 0: empty */
    size_t bytes;
    unsigned long long context;
} slots[1 << SLOT_BITS];

/* Allocations begin at multiples of 512 bytes at least, most of them at the like of 2 MiB: the upper bits of a product
 * hang on all of the lower ones (Knuth, The Art of Computer Programming 3, 6.4). */
static struct slot *slot_of(const void *begin)
{
    return &slots[(uint64_t)(uintptr_t)begin * 0x9E3779B97F4A7C15 >> (64 - SLOT_BITS)];
}

/* Whether the slot is the caller's to write; one that another thread writes is left to it. */
static int take(struct slot *slot, uint64_t *version)
{
    *version = __atomic_load_n(&slot->version, __ATOMIC_RELAXED);
    return !(*version & 1) &&
           __atomic_compare_exchange_n(&slot->version, version, *version + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Who reads one of these finds the odd version behind it, too. */
static void write(struct slot *slot, uint64_t version, uintptr_t begin, size_t bytes, unsigned long long context)
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
    struct slot *slot = slot_of(begin);
    if (!scope->driver->is_cpu && scope->driver->cuCtxGetId(scope->context, &context) == CUDA_SUCCESS &&
        take(slot, &version))
        write(slot, version, (uintptr_t)begin, bytes, context);
}

void cf__allocation_drop(const void *begin)
{
    uint64_t version;
    struct slot *slot = slot_of(begin);
    while (__atomic_load_n(&slot->begin, __ATOMIC_RELAXED) == (uintptr_t)begin)
        if (take(slot, &version)) {
            uintptr_t found = __atomic_load_n(&slot->begin, __ATOMIC_RELAXED);
            write(slot, version, found == (uintptr_t)begin ? 0 : found, slot->bytes, slot->context);
        }
}

CF__HOT int cf__allocation_has(unsigned long long context, const void *begin, size_t bytes)
{
    const struct slot *slot = slot_of(begin);
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
