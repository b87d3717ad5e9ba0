/* region.c - the memory that a checked kernel works on: its arrays, scratch memory, and __shared__ variables. */
#include "region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "access.h"
#include "watch.h"

static struct region **regions; /* sorted by address */
static size_t count, room;
static struct region *latest; /* that was found */

/* How many regions begin at or below an address. */
static size_t up_to(const void *address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)regions[middle]->begin <= (uintptr_t)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct region *region_add(const struct region *what)
{
    struct region *region = malloc(sizeof *region);
    if (region && count == room) {
        size_t larger = room ? 2 * room : 16;
        struct region **array = realloc(regions, larger * sizeof *array);
        if (!array) {
            free(region);
            return NULL;
        }
        regions = array;
        room = larger;
    }
    if (!region)
        return NULL;
    size_t at = up_to(what->begin);
    memmove(regions + at + 1, regions + at, (count - at) * sizeof *regions);
    regions[at] = region;
    count++;
    *region = *what;
    return region;
}

struct region *region_find(const void *address)
{
    if (latest && (uintptr_t)address - (uintptr_t)latest->begin < latest->bytes)
        return latest;
    size_t at = up_to(address);
    if (!at || (uintptr_t)address - (uintptr_t)regions[at - 1]->begin >= regions[at - 1]->bytes)
        return NULL;
    return latest = regions[at - 1];
}

struct region *region_before(const void *address)
{
    size_t at = up_to(address);
    return at ? regions[at - 1] : NULL;
}

void region_end(int all)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct region *region = regions[i];
        if (!all && region->kind == REGION_ARRAY) {
            regions[kept++] = region;
            continue;
        }
        free(region->seen);
        race_forget(region);
        if (region->words)
            munmap(region->words, region->words_bytes);
        free(region);
    }
    count = kept;
    latest = NULL;
}

void region_each(const void *block, void (*body)(struct region *))
{
    for (size_t i = 0; i < count; i++)
        if (regions[i]->block == block)
            body(regions[i]);
}

void region_describe(const struct region *region, const void *address, char *text, size_t size)
{
    ptrdiff_t offset = (const char *)address - region->begin;
    switch (region->kind) {
    case REGION_ARRAY:
        if (region->element > 0 && offset >= 0)
            snprintf(text, size, "%s[%td]", region->name, offset / (ptrdiff_t)region->element);
        else
            snprintf(text, size, "byte %td of %s", offset, region->name);
        break;
    case REGION_SHARED:
        snprintf(text, size, "byte %td of __shared__ {key:%lx}", offset, watch_offset(region->key));
        break;
    case REGION_DYNAMIC:
        snprintf(text, size, "byte %td of dynamic shared memory", offset);
        break;
    }
}
