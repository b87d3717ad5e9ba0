/* poison.c - reads of memory that nobody wrote, and outputs that nobody wrote. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cuferry.h>

#include "access.h"

#define MAX_PLACES 64

/* Places in the code that were told of: each once. */
static const void *places[MAX_PLACES];
static int place_count;

static int is_new(const void *pc)
{
    for (int i = 0; i < place_count; i++)
        if (places[i] == pc)
            return 0;
    if (place_count == MAX_PLACES)
        return 0;
    places[place_count++] = pc;
    return 1;
}

void poison_access(struct region *region, const char *address, size_t bytes, int how, const void *pc)
{
    if (!region->seen)
        return;
    size_t offset = (size_t)(address - region->begin);
    if (how & ACCESS_READ) {
        const unsigned char *unseen = memchr(region->seen + offset, 0, bytes);
        if (unseen && is_new(pc)) {
            char what[200], who[96];
            region_describe(region, region->begin + (unseen - region->seen), what, sizeof what);
            watch_describe(watch_current->slot->number, watch_current->number, who, sizeof who);
            watch_find("{pc:%lx}: reads %s, which nobody wrote; %s", watch_offset(pc) - 1, what, who);
        }
    }
    if (how & ACCESS_WRITE)
        memset(region->seen + offset, 1, bytes);
}

/* ---- Outputs ---- */

static int64_t value_of(const cf_kernel *kernel, const cf_expr *expr, void *const args[], int64_t absent)
{
    int64_t value;
    return expr && expr->ops && cf_kernel_evaluate(kernel, expr->ops, SIZE_MAX, args, &value) == CF_OK ? value : absent;
}

struct box {
    int64_t extents[CF_ARRAY_DIMS], lowers[CF_ARRAY_DIMS], pitches[CF_ARRAY_DIMS];
    uint32_t ndims;
};

static void measure(const cf_kernel *kernel, const cf_param *param, void *const args[], struct box *box)
{
    box->ndims = param->ndims;
    for (uint32_t d = 0; d < param->ndims; d++) {
        box->extents[d] = value_of(kernel, &param->extents[d], args, 0);
        box->lowers[d] = param->lowers ? value_of(kernel, &param->lowers[d], args, 0) : 0;
        box->pitches[d] =
            param->pitches ? value_of(kernel, &param->pitches[d], args, box->extents[d]) : box->extents[d];
    }
}

/* Steps to the next element; 0 past the last. */
static int step(const struct box *box, int64_t index[])
{
    for (uint32_t d = box->ndims; d-- > 0;) {
        if (++index[d] < box->extents[d])
            return 1;
        index[d] = 0;
    }
    return 0;
}

static void look_at_output(const cf_kernel *kernel, const cf_param *param, const struct region *region,
                           void *const args[])
{
    struct box box;
    int64_t index[CF_ARRAY_DIMS] = {0}, first[CF_ARRAY_DIMS] = {0};
    uint64_t missing = 0, total = 0;
    char text[200] = "";
    size_t used = 0;
    measure(kernel, param, args, &box);
    do {
        int64_t at = 0;
        for (uint32_t d = 0; d < box.ndims; d++)
            at = at * (d ? box.pitches[d] : 1) + box.lowers[d] + index[d];
        size_t offset = (size_t)at * param->bytes;
        total++;
        if (offset + param->bytes <= region->bytes && memchr(region->seen + offset, 0, param->bytes) && missing++ == 0)
            memcpy(first, index, sizeof first);
    } while (step(&box, index));
    if (!missing)
        return;
    for (uint32_t d = 0; d < box.ndims; d++)
        used += (size_t)snprintf(text + used, sizeof text - used, "[%" PRId64 "]", box.lowers[d] + first[d]);
    watch_find("%s:%" PRIu32 ": %s%s is not written, although it is an out(); %" PRIu64 " of %" PRIu64
               " elements are not",
               kernel->file, kernel->line, param->name, box.ndims ? text : "[0]", missing, total);
}

void poison_unwritten(const cf_kernel *kernel, void *const args[])
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        struct region *region = param->direction == CF_OUT ? region_find(*(void *const *)args[i]) : NULL;
        if (region && region->seen)
            look_at_output(kernel, param, region, args);
    }
}
