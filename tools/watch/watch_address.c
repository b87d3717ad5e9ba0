/* watch_address.c - what AddressSanitizer found in a checked kernel: which array it is beside, and which thread of which block
 * ran. */
#include "watch/watch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "watch/region.h"

/* It is loaded before cf-run, which is not linked with it. */
static void *function(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

/* How far outside of a region an address may be to be told by it. */
#define NEAR (1 << 20)

/* Says where an address is, as near to a region as it is. */
static void describe_address(const char *address, size_t bytes, int is_write, const char *kind)
{
    char what[200] = "", who[96] = "outside of the kernel's threads";
    const struct region *region = region_nearest(address);
    if (!bytes) { /* a signal, which tells no more */
        if (watch_current)
            watch_describe(watch_current->slot->number, watch_current->number, who, sizeof who);
        watch_find("{asan}: {wild}; %s", who);
        return;
    }
    if (region && address > region->begin - NEAR && address < region->begin + region->bytes + NEAR)
        region_describe(region, address, what, sizeof what);
    if (watch_current)
        watch_describe(watch_current->slot->number, watch_current->number, who, sizeof who);
    /* An array of its own is closed by watch_sections() alone, whatever AddressSanitizer takes it for. */
    const int is_undeclared =
        region && region->kind == REGION_ARRAY && address >= region->begin && address < region->begin + region->bytes;
    watch_find("{asan}: %s: %s of %zu bytes%s%s%s; %s", is_undeclared ? "undeclared" : kind,
               is_write ? "a write" : "a read", bytes, *what ? " at " : "", what,
               !*what                                     ? ""
               : address < region->begin                  ? ", which is in front of its begin"
               : address >= region->begin + region->bytes ? ", which is past its end"
               : is_undeclared                            ? ", which is outside of the section that is declared"
                                                          : "",
               who);
}

/* Called behind a report, just before the process ends. */
static void note_death(void)
{
    int (*is_present)(void);
    void *(*address)(void);
    int (*access)(void);
    size_t (*size)(void);
    const char *(*description)(void);
    *(void **)&is_present = function("__asan_report_present");
    *(void **)&address = function("__asan_get_report_address");
    *(void **)&access = function("__asan_get_report_access_type");
    *(void **)&size = function("__asan_get_report_access_size");
    *(void **)&description = function("__asan_get_report_description");
    if (!watch_told)
        return;
    if (is_present && address && access && size && description && is_present())
        describe_address(address(), size(), access(), description());
    else
        watch_find("{asan}: the kernel ends");
}

/* The report's path is none of ASAN_OPTIONS, where nothing may hold a blank. */
void watch_deaths(const char *module_path)
{
    void (*set)(void (*)(void)), (*set_path)(const char *);
    *(void **)&set = function("__sanitizer_set_death_callback");
    *(void **)&set_path = function("__sanitizer_set_report_path");
    if (set)
        set(note_death);
    const char *slash = strrchr(module_path, '/');
    char path[4096];
    if (set_path && slash &&
        snprintf(path, sizeof path, "%.*s/" WATCH_REPORT, (int)(slash - module_path), module_path) < (int)sizeof path)
        set_path(path);
}
