/* region.c - keeps a list of the memory of a checked kernel: arrays, scratch memory, __device__ and __shared__
 * variables. */
#include "watch/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch/finding.h"

static struct region **regions; /* sorted by address */
static size_t count, room;

/* Cache of the regions found last, latest first, since a kernel alternates between few. */
#define RECENT 4
static struct region *recent[RECENT];

/* Returns the number of regions that begin at or below an address. */
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

static int has(const struct region *region, const void *address)
{
    return (uintptr_t)address - (uintptr_t)region->begin < region->bytes;
}

struct region *region_find(const void *address)
{
    for (int i = 0; i < RECENT && recent[i]; i++)
        if (has(recent[i], address))
            return recent[i];
    size_t at = up_to(address);
    if (!at || !has(regions[at - 1], address))
        return NULL;
    memmove(recent + 1, recent, (RECENT - 1) * sizeof *recent);
    return recent[0] = regions[at - 1];
}

struct region *region_nearest(const void *address)
{
    size_t at = up_to(address);
    if (!at || (at < count && !has(regions[at - 1], address) &&
                (const char *)address - (regions[at - 1]->begin + regions[at - 1]->bytes) >
                    regions[at]->begin - (const char *)address))
        return at < count ? regions[at] : NULL;
    return regions[at - 1];
}

void region_end(enum region_end which)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct region *region = regions[i];
        if (which < REGION_END_ALL &&
            (region->is_kept || (which == REGION_END_BLOCKS && region->kind <= REGION_DATA))) {
            regions[kept++] = region;
            continue;
        }
        free(region->seen);
        free(region->before);
        if (region->end)
            region->end(region);
        free(region);
    }
    count = kept;
    memset(recent, 0, sizeof recent);
}

void region_each(const void *block, void (*body)(struct region *))
{
    for (size_t i = 0; i < count; i++)
        if (regions[i]->block == block)
            body(regions[i]);
}

/* Divides and rounds down, for negative offsets, too. */
static ptrdiff_t divide(ptrdiff_t offset, ptrdiff_t bytes)
{
    return (offset - (offset < 0 ? bytes - 1 : 0)) / bytes;
}

static void describe_shared(const struct region *region, ptrdiff_t offset, char *text, size_t size)
{
    const cf_host_shape *shape = region->key;
    const ptrdiff_t bytes = (ptrdiff_t)region->bytes;
    int used;
    if (shape->element == 0 || (shape->extents[0] == 0 && (offset < 0 || offset >= bytes || bytes > 8))) {
        snprintf(text, size, "byte %td of __shared__ {key:%lx}", offset, finding_offset(region->key));
        return;
    }
    used = snprintf(text, size, "__shared__ {key:%lx}", finding_offset(region->key));
    for (int i = 0; i < 3 && shape->extents[i] && used >= 0 && (size_t)used < size; i++) {
        ptrdiff_t row = (ptrdiff_t)shape->element; /* bytes from one index of this dimension to the next */
        for (int j = i + 1; j < 3 && shape->extents[j]; j++)
            row *= (ptrdiff_t)shape->extents[j];
        const ptrdiff_t index = divide(offset, row);
        offset -= index * row;
        used += snprintf(text + used, size - (size_t)used, "[%td]", index);
    }
}

void region_describe(const struct region *region, const void *address, char *text, size_t size)
{
    ptrdiff_t offset = (const char *)address - region->begin;
    switch (region->kind) {
    case REGION_ARRAY:
        if (region->element > 0)
            snprintf(text, size, "%s[%td]", region->name, divide(offset, (ptrdiff_t)region->element));
        else
            snprintf(text, size, "byte %td of %s", offset, region->name);
        break;
    case REGION_DATA:
        snprintf(text, size, "{data:%lx}", finding_offset(address));
        break;
    case REGION_SHARED:
        describe_shared(region, offset, text, size);
        break;
    case REGION_DYNAMIC:
        snprintf(text, size, "byte %td of dynamic shared memory", offset);
        break;
    }
}
