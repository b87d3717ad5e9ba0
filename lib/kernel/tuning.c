/* tuning.c - chooses variants of kernels with tune(...).
 *
 * The first launch of such a kernel in a context builds a table of variants by size class, from lines that were built
 * into the kernel and lines of the user's file, which is read once. Only the lines of the architecture that is nearest
 * to the device's are used; if both sources have lines of it, the user's take precedence. A class without a line gets
 * the variant of the nearest class. If there is no line at all, every class gets the first variant.
 *
 * Later launches look up the table, and compute their size class only if the variants differ. The first variant decides
 * whether a call is valid, and runs if the device refuses the chosen variant. */
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

#include "base/env.h"
#include "base/files.h"
#include "base/lock.h"
#include "base/log.h"
#include "model/descriptor.h"
#include "kernel/tuning_file.h"

/* ---- The user's file ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *snapshot; /* text of the file, or NULL */
static int is_read;

/* Reads the file at the first call, and returns its lines, or "". The caller holds the lock. */
static const char *read_user_lines(void)
{
    char path[CF__PATH];
    const char *reason = NULL;
    if (!is_read) {
        is_read = 1;
        snapshot = cf__file_path("CF_TUNING", "tuning", path) ? cf__tuning_read(path, &reason) : NULL;
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

/* Variants of the nearest architecture found so far. */
struct nearest {
    int distance;                       /* distance of that architecture; INT_MAX: no line yet */
    int8_t variants[CF_TUNING_CLASSES]; /* number of the variant of each class; -1: no line for the class */
};

/* Returns the distance between two architectures. Architectures of the same major version are nearest; of two that
 * differ equally, the older one is nearer. Lines of the CPU are never used for a GPU. */
static int compute_distance(int of_line, int of_device)
{
    int apart = of_line > of_device ? of_line - of_device : of_device - of_line;
    if (!of_line != !of_device)
        return INT_MAX;
    return 2 * apart + (of_line > of_device) + (of_line / 10 != of_device / 10 ? 100000 : 0);
}

static void search_lines(const char *text, const cf_kernel *kernel, int capability, struct nearest *nearest)
{
    struct cf__tuning_line line;
    while (*text) {
        if (!cf__tuning_next(&text, &line) || !cf__tuning_is_of(&line, kernel))
            continue;
        int variant = cf__tuning_variant(&line, kernel), apart = compute_distance(line.capability, capability);
        if (variant < 0 || apart > nearest->distance || apart == INT_MAX)
            continue;
        if (apart < nearest->distance) {
            nearest->distance = apart;
            memset(nearest->variants, -1, sizeof nearest->variants);
        }
        nearest->variants[line.size_class] = (int8_t)variant;
    }
}

/* Returns the variant of the nearest class that has a line; of two equally near classes, the smaller one counts.
 * Returns 0 if there are no lines. */
static uint8_t find_variant(const struct nearest *nearest, int size_class)
{
    for (int apart = 0; apart < CF_TUNING_CLASSES; apart++) {
        int below = size_class - apart, above = size_class + apart;
        if (below >= 0 && nearest->variants[below] >= 0)
            return (uint8_t)nearest->variants[below];
        if (above < CF_TUNING_CLASSES && nearest->variants[above] >= 0)
            return (uint8_t)nearest->variants[above];
    }
    return 0;
}

void cf__tuning_choose(const cf_kernel *kernel, int capability, struct cf__choice *choice)
{
    struct nearest nearest = {.distance = INT_MAX};
    memset(nearest.variants, -1, sizeof nearest.variants);
    search_lines(kernel->tuning ? kernel->tuning : "", kernel, capability, &nearest);
    cf__lock(&lock);
    search_lines(read_user_lines(), kernel, capability, &nearest);
    cf__unlock(&lock);
    choice->is_uniform = 1;
    for (int c = 0; c < CF_TUNING_CLASSES; c++) {
        choice->variants[c] = find_variant(&nearest, c);
        choice->is_uniform &= choice->variants[c] == choice->variants[0];
    }
    char text[CF__VARIANT];
    cf__variant_text(kernel->variants[choice->variants[0]], text);
    if (nearest.distance < INT_MAX)
        cf__log(CF_LOG_INFO, "%s: it runs %s, as was measured on %s architecture", kernel->function,
                choice->is_uniform ? text : "different variants by size", nearest.distance ? "the nearest" : "this");
}
