/* input.c - finds writes to arrays that in(...) declares. The compiler accepts them if the pointer's elements are not
 * const. */
#include "watch/input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "watch/finding.h"
#include "watch/watch_thread.h"

void input_note_write(const struct region *region, const char *address, const void *pc)
{
    char what[200], who[96];
    if (!region || !region->is_input || !finding_is_new(pc))
        return;
    region_describe(region, address, what, sizeof what);
    watch_describe(watch_current->slot->number, watch_current->number, who, sizeof who);
    finding_tell("{pc:%lx}: %s " MESSAGE_WRITTEN_INPUT "; %s", finding_offset(pc) - 1, what, who);
}

void input_keep(struct region *region)
{
    region->before = region->is_input ? malloc(region->bytes) : NULL;
    if (region->before)
        memcpy(region->before, region->begin, region->bytes);
}

void input_compare(struct region *region)
{
    char what[200];
    size_t at = 0;
    while (region->before && at < region->bytes && region->before[at] == region->begin[at])
        at++;
    if (!region->before || at == region->bytes)
        return;
    region_describe(region, region->begin + at, what, sizeof what);
    finding_tell("%s:%" PRIu32 ": %s " MESSAGE_WRITTEN_INPUT "; --check race names the thread", finding_kernel->file,
                 finding_kernel->line, what);
    memcpy(region->before, region->begin, region->bytes);
}
