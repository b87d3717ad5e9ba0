/* watch_operation.c - checks the kernels that an operation launches, on memory that the operation's arguments tell.
 *
 * An operation launches kernels by their registered descriptors, so that this file replaces the CPU bodies in the
 * descriptors, which are constants otherwise. */
#include "watch/watch_operation.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cuferry.h>

#include "base/runtime.h"
#include "watch/check.h"
#include "watch/finding.h"
#include "watch/region.h"
#include "watch/watch.h"
#include "watch/watch_arrays.h"

/* ---- Kernels ---- */

/* A CPU body does not know which kernel it belongs to, so that each kernel needs a function of its own. */
#define PLACES(X) EIGHT(X, 0) EIGHT(X, 1) EIGHT(X, 2) EIGHT(X, 3) EIGHT(X, 4) EIGHT(X, 5) EIGHT(X, 6) EIGHT(X, 7)
#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)

enum { MOST = 64 };
static struct {
    const cf_kernel *kernel;
    cf_host_body *cpu_body; /* the kernel's own CPU body */
} places[MOST];
static int count;

static void look(int place, const cf_host_launch *what, uint64_t begin, uint64_t end)
{
    if (!finding_operation) {
        places[place].cpu_body(what, begin, end);
        return;
    }
    watch_launch(places[place].kernel, places[place].cpu_body, what, begin, end);
    finding_kernel = finding_operation;
}

#define BODY(n)                                                                    \
    static void body_##n(const cf_host_launch *what, uint64_t begin, uint64_t end) \
    {                                                                              \
        look(0##n, what, begin, end);                                              \
    }
PLACES(BODY)
#define NAME(n) body_##n,
static cf_host_body *const bodies[MOST] = {PLACES(NAME)};

static int place_of(const cf_kernel *kernel)
{
    int i = 0;
    while (i < count && places[i].kernel != kernel)
        i++;
    return i;
}

cf_host_body *watch_cpu_body(const cf_kernel *kernel)
{
    int place = place_of(kernel);
    return place < count ? places[place].cpu_body : kernel->cpu_body;
}

/* Writes to a descriptor, whose pages the loader has made read-only. */
static int set_cpu_body(const cf_kernel *kernel, cf_host_body *cpu_body)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t at = (uintptr_t)&kernel->cpu_body, begin = at / page * page;
    if (mprotect((void *)begin, at + sizeof kernel->cpu_body - begin, PROT_READ | PROT_WRITE) != 0)
        return -1;
    memcpy((void *)at, &cpu_body, sizeof cpu_body);
    return 0;
}

int watch_uses(const cf_kernel *operation, struct message *message)
{
    for (uint32_t i = 0; i < operation->nuses; i++) {
        const cf_kernel *kernel = operation->uses[i];
        if (cf_kernel_is_operation(kernel)) {
            if (watch_uses(kernel, message) != 0)
                return -1;
            continue;
        }
        if (place_of(kernel) < count)
            continue;
        if (count == MOST)
            return message_set(message, "%s: --check: the operations of the module use more than %d kernels",
                               operation->name, MOST);
        places[count].kernel = kernel;
        places[count].cpu_body = kernel->cpu_body;
        if (set_cpu_body(kernel, bodies[count]) != 0)
            return message_set(message, "%s: --check: %s cannot be watched", operation->name, kernel->name);
        count++;
    }
    return 0;
}

/* ---- The operation ---- */

int watch_enqueue(struct CUstream_st *stream, void *const args[])
{
    const cf_kernel *operation = finding_operation;
    watch_runs++;
    if (!watch_is_looking())
        return operation->enqueue(stream, args);
    finding_kernel = operation;
    region_end(REGION_END_ALL);
    watch_arrays(watch_bytes, args, 1);
    int status = operation->enqueue(stream, args);
    if (status == CF_OK && check_current->look_at_outputs)
        check_current->look_at_outputs(operation, args);
    if (!check_is(CHECK_ADDRESS))
        region_end(REGION_END_ALL);
    return status;
}

/* ---- Writes without a kernel: the checked build calls these functions ---- */

static unsigned char *seen_of(const void *address, size_t bytes)
{
    const struct region *region = bytes ? region_find(address) : NULL;
    const size_t at = region ? (size_t)((const char *)address - region->begin) : 0;
    return region && region->seen && bytes <= region->bytes - at ? region->seen + at : NULL;
}

static void move(const void *target, const void *source, size_t bytes)
{
    unsigned char *to = seen_of(target, bytes), *from = seen_of(source, bytes);
    if (to && from)
        memmove(to, from, bytes);
    else if (to)
        memset(to, 1, bytes);
}

#define EXPORT __attribute__((visibility("default")))

EXPORT int cf__checked_mem_fill_async(cf_stream stream, void *target, unsigned char value, size_t bytes);
int cf__checked_mem_fill_async(cf_stream stream, void *target, unsigned char value, size_t bytes)
{
    unsigned char *seen = seen_of(target, bytes);
    if (seen)
        memset(seen, 1, bytes);
    return cf_mem_fill_async(stream, target, value, bytes);
}

EXPORT int cf__checked_mem_copy_async(cf_stream stream, void *target, const void *source, size_t bytes);
int cf__checked_mem_copy_async(cf_stream stream, void *target, const void *source, size_t bytes)
{
    move(target, source, bytes);
    return cf_mem_copy_async(stream, target, source, bytes);
}

EXPORT int cf__checked_mem_copy_2d_async(cf_stream stream, void *target, size_t target_pitch, const void *source,
                                         size_t source_pitch, size_t width, size_t height);
int cf__checked_mem_copy_2d_async(cf_stream stream, void *target, size_t target_pitch, const void *source,
                                  size_t source_pitch, size_t width, size_t height)
{
    for (size_t row = 0; row < height; row++)
        move((char *)target + row * target_pitch, (const char *)source + row * source_pitch, width);
    return cf_mem_copy_2d_async(stream, target, target_pitch, source, source_pitch, width, height);
}
