/* tuning.c - which variant of a kernel with tune(...) a call runs.
 *
 * The state of such a kernel's own descriptor lists, for each context, a table of its variants by size class. It is made
 * at the first launch there, of the lines that came with the kernel and of those of the user's file: those of the
 * architecture that is nearest to the device's count, the user's before the others where both are as near; a class that
 * none is of has what the nearest class has, and all have the first variant where there is no line. The file is read
 * once. From then on a launch looks the table up, and works its size out where that makes a difference.
 *
 * A call is in order where the first variant takes it. Where the chosen one does not, the first runs. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>
#include <cuferry/tuning.h>

#include "kernel/tuning.h"

#include "base/cachefile.h"
#include "base/descriptor.h"
#include "base/env.h"
#include "base/log.h"
#include "kernel/tuning_file.h"

/* ---- The user's file ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *snapshot; /* NULL: there is none */
static int is_read;

/* With the lock. */
static const char *text_of_user(void)
{
    char path[CF__PATH];
    const char *reason = NULL;
    if (!is_read) {
        is_read = 1;
        snapshot = cf__cache_path("CF_TUNING", "tuning", path) ? cf__tuning_read(path, &reason) : NULL;
        if (reason && (errno != ENOENT || cf__env_file("CF_TUNING")))
            cf__log(CF_LOG_INFO, "%s: %s; it is not used", path, reason);
    }
    return snapshot ? cf__tuning_begin(snapshot) : "";
}

void cf__tuning_forget(void)
{
    cf__lock(&lock);
    free(snapshot);
    snapshot = NULL;
    is_read = 0;
    cf__unlock(&lock);
}

void cf__tuning_lock(void)
{
    cf__lock(&lock);
}

void cf__tuning_unlock(void)
{
    cf__unlock(&lock);
}

/* ---- The table ---- */

/* What lines say of the nearest architecture so far. */
struct found {
    int distance; /* INT_MAX: there are none */
    int8_t variants[CF_TUNING_CLASSES];
};

/* How far architectures are apart: others of the same major version are nearer than all others, and of two the older
 * one. The CPU and GPUs have nothing in common. */
static int distance(int of_line, int of_device)
{
    int apart = of_line > of_device ? of_line - of_device : of_device - of_line;
    if (!of_line != !of_device)
        return INT_MAX;
    return 2 * apart + (of_line > of_device) + (of_line / 10 != of_device / 10 ? 100000 : 0);
}

static void search(const char *text, const cf_kernel *kernel, int capability, struct found *found)
{
    struct cf__tuning_line line;
    while (*text) {
        if (!cf__tuning_next(&text, &line) || !cf__tuning_is_of(&line, kernel))
            continue;
        int variant = cf__tuning_variant(&line, kernel), apart = distance(line.capability, capability);
        if (variant < 0 || apart > found->distance || apart == INT_MAX)
            continue;
        if (apart < found->distance) {
            found->distance = apart;
            memset(found->variants, -1, sizeof found->variants);
        }
        found->variants[line.size_class] = (int8_t)variant;
    }
}

/* Of the nearest class, the smaller one of two; 0 where there is none. */
static uint8_t nearest(const struct found *found, int size_class)
{
    for (int apart = 0; apart < CF_TUNING_CLASSES; apart++) {
        int below = size_class - apart, above = size_class + apart;
        if (below >= 0 && found->variants[below] >= 0)
            return (uint8_t)found->variants[below];
        if (above < CF_TUNING_CLASSES && found->variants[above] >= 0)
            return (uint8_t)found->variants[above];
    }
    return 0;
}

void cf__tuning_choose(const cf_kernel *kernel, int capability, struct cf__choice *choice)
{
    struct found found = {.distance = INT_MAX};
    memset(found.variants, -1, sizeof found.variants);
    search(kernel->tuning ? kernel->tuning : "", kernel, capability, &found);
    cf__lock(&lock);
    search(text_of_user(), kernel, capability, &found);
    cf__unlock(&lock);
    choice->is_uniform = 1;
    for (int c = 0; c < CF_TUNING_CLASSES; c++) {
        choice->variants[c] = nearest(&found, c);
        choice->is_uniform &= choice->variants[c] == choice->variants[0];
    }
    char text[CF__VARIANT];
    cf__variant_text(kernel->variants[choice->variants[0]], text);
    if (found.distance < INT_MAX)
        cf__log(CF_LOG_INFO, "%s: it runs %s, as was measured on %s architecture", kernel->function,
                choice->is_uniform ? text : "different variants by size", found.distance ? "the nearest" : "this");
}
