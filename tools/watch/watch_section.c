/* watch_section.c - what a kernel's arrays have beside the sections that its annotation declares: of a call with host
 * arrays a GPU does not get it, so that accesses to it are errors, as those outside of an array are. AddressSanitizer
 * finds them. */
#include "watch/watch.h"

#include <dlfcn.h>
#include <stddef.h>

#include "kernel/declared_section.h"
#include "watch/region.h"

/* AddressSanitizer's own, which is loaded before cf-run and not linked with it. It has one mark for eight bytes: where a
 * section begins among them, those in front of it stay open, too. */
static void (*close_bytes)(const void *begin, size_t bytes), (*open_bytes)(const void *begin, size_t bytes);

static struct region *array_of(uint32_t i, void *const args[])
{
    struct region *region = watch_told->params[i].direction == CF_VALUE ? NULL : region_find(*(void *const *)args[i]);
    return region && region->kind == REGION_ARRAY ? region : NULL;
}

static int has_section(const cf_param *param)
{
    return param->ndims > 0 &&
           (param->direction == CF_IN || param->direction == CF_OUT || param->direction == CF_INOUT);
}

/* Row by row. */
static void open_section(const cf_param *param, const char *array, const struct region *region, void *const args[])
{
    struct section section;
    int64_t index[CF_ARRAY_DIMS] = {0};
    const char *const end = region->begin + region->bytes;
    section_measure(watch_told, param, args, &section);
    if (section_is_empty(&section))
        return;
    const size_t row = (size_t)section.extents[section.ndims - 1] * param->bytes;
    section.extents[section.ndims - 1] = 1; /* steps by rows */
    do {
        const char *begin = array + section_place(&section, index) * (int64_t)param->bytes;
        if (begin < end)
            open_bytes(begin, (size_t)(end - begin) < row ? (size_t)(end - begin) : row);
    } while (section_step(&section, index));
}

void watch_sections(void *const args[])
{
    *(void **)&close_bytes = dlsym(RTLD_DEFAULT, "__asan_poison_memory_region");
    *(void **)&open_bytes = dlsym(RTLD_DEFAULT, "__asan_unpoison_memory_region");
    if (!close_bytes || !open_bytes || !watch_told->is_closed)
        return;
    for (uint32_t i = 0; i < watch_told->nparams; i++) {
        const struct region *region = array_of(i, args);
        if (region && has_section(&watch_told->params[i]))
            close_bytes(region->begin, region->bytes);
    }
    for (uint32_t i = 0; i < watch_told->nparams; i++) {
        const struct region *region = array_of(i, args);
        if (region && has_section(&watch_told->params[i]))
            open_section(&watch_told->params[i], *(char *const *)args[i], region, args);
        else if (region)
            open_bytes(region->begin, region->bytes);
    }
}

void watch_sections_end(void *const args[])
{
    if (!open_bytes)
        return;
    for (uint32_t i = 0; i < watch_told->nparams; i++) {
        const struct region *region = array_of(i, args);
        if (region)
            open_bytes(region->begin, region->bytes);
    }
}
