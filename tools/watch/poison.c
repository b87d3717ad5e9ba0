/* poison.c - finds reads of unwritten memory, and outputs that stay unwritten. */
#include "watch/poison.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cuferry.h>

#include "base/runtime.h"
#include "kernel/declared_section.h"
#include "watch/finding.h"
#include "watch/region.h"
#include "watch/watch_thread.h"

static void tell(const struct region *region, const char *address, const void *pc, uint32_t block, uint32_t thread)
{
    char what[200], who[96];
    if (!finding_is_new(pc))
        return;
    region_describe(region, address, what, sizeof what);
    watch_describe(block, thread, who, sizeof who);
    finding_tell("{pc:%lx}: reads %s, which nobody wrote; %s", finding_offset(pc) - 1, what, who);
}

/* ---- Structs ---- */

/* Size in bytes of the largest copy that may contain padding. */
#define MAX_BYTES 1024

/* A read of memory that includes unwritten bytes. It is not reported if it copies a struct whose padding or unused
 * members are unwritten; a later read of those bytes in the copy is reported. */
struct part {
    const struct region *region;
    const char *unseen; /* first unwritten byte */
    const void *pc;
    uint32_t block, thread;
    uint32_t age;     /* number of accesses since the read */
    int is_whole;     /* the read can only be part of a copy, perhaps to a variable that is not watched */
    char *told_first; /* target, if gcc reports a copy (write, then read) before making it; or NULL */
    size_t bytes;
    unsigned char value[MAX_BYTES], seen[MAX_BYTES];
};

/* Most reads that are kept, and most accesses for which one is kept: a struct of several words may be read completely
 * before it is written. */
#define MAX_PARTS 8
#define MAX_AGE 32

static struct part parts[MAX_PARTS];
static int part_count;

/* The latest write access, which is known to be complete at the next access. */
static struct {
    char *address;
    size_t bytes;
} latest;

static void drop_part(int i)
{
    memmove(&parts[i], &parts[i + 1], (size_t)(--part_count - i) * sizeof *parts);
}

static void tell_part(void)
{
    if (!parts->is_whole)
        tell(parts->region, parts->unseen, parts->pc, parts->block, parts->thread);
    drop_part(0);
}

/* Returns 1 if the value that was read is now at `target`; then its unwritten bytes are marked as unwritten there,
 * too. */
static int is_copied(const struct part *part, char *target)
{
    if (!target || memcmp(part->value, target, part->bytes) != 0)
        return 0;
    struct region *region = region_find(target);
    if (region && region->seen && part->bytes <= region->bytes - (size_t)(target - region->begin))
        memcpy(region->seen + (target - region->begin), part->seen, part->bytes);
    return 1;
}

static void match(void)
{
    for (int i = part_count; i-- > 0;) {
        char *told_first = parts[i].told_first;
        parts[i].told_first = NULL;
        if (is_copied(&parts[i], told_first))
            drop_part(i);
    }
    for (int i = 0; latest.address && i < part_count; i++)
        if (parts[i].bytes == latest.bytes && is_copied(&parts[i], latest.address)) {
            drop_part(i);
            break;
        }
}

static void settle(void)
{
    match();
    latest.address = NULL;
    while (part_count)
        tell_part();
}

static void grow_older(void)
{
    match();
    for (int i = 0; i < part_count; i++)
        parts[i].age++;
    while (part_count && parts->age > MAX_AGE)
        tell_part();
}

static void add_part(const struct region *region, const char *address, size_t bytes, const char *unseen, int is_whole,
                     const void *pc)
{
    if (part_count == MAX_PARTS)
        tell_part();
    struct part *part = &parts[part_count++];
    *part = (struct part){.region = region,
                          .unseen = unseen,
                          .pc = pc,
                          .block = watch_current->slot->number,
                          .thread = watch_current->number,
                          .is_whole = is_whole,
                          .told_first = latest.bytes == bytes ? latest.address : NULL,
                          .bytes = bytes};
    memcpy(part->value, address, bytes);
    memcpy(part->seen, region->seen + (address - region->begin), bytes);
}

/* ---- Accesses ---- */

/* Returns the first unwritten byte; NULL if all are written. */
static const char *find_unseen(const struct region *region, const char *address, size_t bytes)
{
    const unsigned char *seen = region->seen + (address - region->begin), *unseen = memchr(seen, 0, bytes);
    return unseen ? address + (unseen - seen) : NULL;
}

static int is_seen_anywhere(const struct region *region, const char *address, size_t bytes)
{
    return memchr(region->seen + (address - region->begin), 1, bytes) != NULL;
}

static void note_access(struct region *region, const char *address, size_t bytes, int how, const void *pc)
{
    if (part_count)
        grow_older();
    if (region && region->seen && how & ACCESS_READ) {
        const char *unseen = find_unseen(region, address, bytes);
        if (unseen && (how | ACCESS_WHOLE) == (ACCESS_READ | ACCESS_WHOLE) && bytes > 4 && bytes <= MAX_BYTES &&
            is_seen_anywhere(region, address, bytes))
            add_part(region, address, bytes, unseen, how & ACCESS_WHOLE, pc);
        else if (unseen)
            tell(region, unseen, pc, watch_current->slot->number, watch_current->number);
    }
    if (how & ACCESS_WRITE && region && region->seen)
        memset(region->seen + (address - region->begin), 1, bytes);
    latest.address = how & ACCESS_WRITE ? (char *)(uintptr_t)address : NULL;
    latest.bytes = bytes;
}

static void note_copy(char *target, const char *source, size_t bytes, const void *pc)
{
    struct region *from = region_find(source), *to = region_find(target);
    if (part_count)
        grow_older();
    latest.address = NULL;
    if (from && (!from->seen || bytes > from->bytes - (size_t)(source - from->begin)))
        from = NULL;
    if (to && (!to->seen || bytes > to->bytes - (size_t)(target - to->begin)))
        to = NULL;
    if (from && !is_seen_anywhere(from, source, bytes))
        tell(from, source, pc, watch_current->slot->number, watch_current->number);
    if (to && from)
        memmove(to->seen + (target - to->begin), from->seen + (source - from->begin), bytes);
    else if (to)
        memset(to->seen + (target - to->begin), 1, bytes);
}

/* ---- Outputs ---- */

/* Returns 1 if an element is not written. Of a struct, one written byte suffices, since its padding may stay
 * unwritten. */
static int is_missing(const cf_param *param, const unsigned char *seen)
{
    return param->type == CF_OPAQUE ? !memchr(seen, 1, param->bytes) : memchr(seen, 0, param->bytes) != NULL;
}

static void look_at_output(const cf_kernel *kernel, uint32_t i, const struct region *region, void *const args[])
{
    const cf_param *param = &kernel->params[i];
    cf_section section;
    int64_t index[CF_ARRAY_DIMS] = {0}, first[CF_ARRAY_DIMS] = {0};
    uint64_t missing = 0, total = 0;
    char text[200] = "";
    size_t used = 0;
    if (cf_kernel_section(kernel, i, args, &section) != CF_OK || !section.count)
        return;
    do {
        size_t offset = section_place(&section, index);
        total++;
        if (offset + param->bytes <= region->bytes && is_missing(param, region->seen + offset) && missing++ == 0)
            memcpy(first, index, sizeof first);
    } while (section_step(&section, index));
    if (!missing)
        return;
    for (uint32_t d = 0; d < section.ndims; d++)
        used += (size_t)snprintf(text + used, sizeof text - used, "[%" PRId64 "]", section.lowers[d] + first[d]);
    finding_tell("%s:%" PRIu32 ": %s%s is not written, although it is an out(); %" PRIu64 " of %" PRIu64
                 " elements are not",
                 kernel->file, kernel->line, param->name, section.ndims ? text : "[0]", missing, total);
}

static void look_at_outputs(const cf_kernel *kernel, void *const args[])
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        struct region *region = param->direction == CF_OUT ? region_find(*(void *const *)args[i]) : NULL;
        if (region && region->seen)
            look_at_output(kernel, i, region, args);
    }
}

static void look_at_scratch(const cf_kernel *kernel, uint32_t i, const struct region *region, void *const args[])
{
    const cf_param *param = &kernel->params[i];
    cf_section section;
    if (cf_kernel_section(kernel, i, args, &section) != CF_OK)
        return;
    for (size_t at = section.offset; at < region->bytes; at++)
        if (region->begin[at]) {
            finding_tell("%s:%" PRIu32 ": leaves %s[%zu], which is in a rezero(), not 0", kernel->file, kernel->line,
                         param->name, at / param->bytes);
            return;
        }
}

static void look_at_all_scratch(const cf_kernel *kernel, void *const args[])
{
    for (uint32_t i = 0; i < kernel->nzeros; i++) {
        const cf_zero *zero = &kernel->zeros[i];
        const struct region *region = zero->is_rezeroed ? region_find(*(void *const *)args[zero->array]) : NULL;
        if (region)
            look_at_scratch(kernel, zero->array, region, args);
    }
}

const struct check_ops poison_check = {.kind = CHECK_POISON,
                                       .look_at_outputs = look_at_outputs,
                                       .look_at_scratch = look_at_all_scratch,
                                       .settle = settle,
                                       .access = note_access,
                                       .copy = note_copy};
