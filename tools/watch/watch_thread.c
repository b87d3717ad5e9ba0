/* watch_thread.c - the threads and blocks of a checked kernel. */
#include "watch/watch_thread.h"

#include <stdio.h>

struct watch_thread *watch_current;
const cf_host_launch *watch_launched;

void watch_describe(uint32_t block, uint32_t thread, char *text, size_t size)
{
    const cf_dim3 b = watch_launched->block, g = watch_launched->grid;
    snprintf(text, size, "thread (%u, %u, %u) of block (%u, %u, %u)", thread % b.x, thread / b.x % b.y,
             thread / b.x / b.y, block % g.x, block / g.x % g.y, block / g.x / g.y);
}
