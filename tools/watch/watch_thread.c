/* watch_thread.c - the state of threads and blocks of a checked kernel. */
#include "watch/watch_thread.h"

#include <stdio.h>

struct watch_thread *watch_current;
const cf_host_launch *watch_launched;

void watch_describe(uint32_t block, uint32_t thread, char *text, size_t size)
{
    const cf_dim3 b = watch_launched->block, g = watch_launched->grid;
    const uint32_t t[] = {thread % b.x, thread / b.x % b.y}, n[] = {block % g.x, block / g.x % g.y};
    const int x = watch_launched->is_turned != 0, y = !x;
    snprintf(text, size, "thread (%u, %u, %u) of block (%u, %u, %u)", t[x], t[y], thread / b.x / b.y, n[x], n[y],
             block / g.x / g.y);
}
