/* address.c - reports accesses outside arrays and outside declared sections, which AddressSanitizer finds. A finding
 * names the nearest array and the thread. */
#include "watch/address.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/runtime.h"
#include "kernel/declared_section.h"
#include "watch/finding.h"
#include "watch/region.h"
#include "watch/watch_thread.h"

/* ---- Reports ---- */

/* Looks up a function of AddressSanitizer's runtime, which is preloaded, since cf-run is not linked with it. */
static void *function(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

/* Largest distance in bytes from a region at which a finding names the region. */
#define NEAR (1 << 20)

/* Describes an address relative to the nearest region. */
static void describe_address(const char *address, size_t bytes, int is_write, const char *kind)
{
    char what[200] = "", who[96] = "outside of the kernel's threads";
    const struct region *region = region_nearest(address);
    if (!bytes) { /* reported for a signal, which has no size */
        if (watch_current)
            watch_describe(watch_current->slot->number, watch_current->number, who, sizeof who);
        finding_tell("{asan}: {wild}; %s", who);
        return;
    }
    if (region && address > region->begin - NEAR && address < region->begin + region->bytes + NEAR)
        region_describe(region, address, what, sizeof what);
    if (watch_current)
        watch_describe(watch_current->slot->number, watch_current->number, who, sizeof who);
    /* A report inside an array means an access outside its section, since only close_sections() poisons bytes of
     * arrays. */
    const int is_undeclared =
        region && region->kind == REGION_ARRAY && address >= region->begin && address < region->begin + region->bytes;
    finding_tell("{asan}: %s: %s of %zu bytes%s%s%s; %s", is_undeclared ? "undeclared" : kind,
                 is_write ? "a write" : "a read", bytes, *what ? " at " : "", what,
                 !*what                                     ? ""
                 : address < region->begin                  ? ", which is before its start"
                 : address >= region->begin + region->bytes ? ", which is past its end"
                 : is_undeclared                            ? ", which is outside of the section that is declared"
                                                            : "",
                 who);
}

/* Sends the finding. AddressSanitizer calls this function after its report, just before it ends the process. */
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
    if (!finding_kernel)
        return;
    if (is_present && address && access && size && description && is_present())
        describe_address(address(), size(), access(), description());
    else
        finding_tell("{asan}: the kernel ends");
    finding_tell_next();
}

/* Sets the report's path and the function that is called after it. ASAN_OPTIONS cannot contain the path, which may have
 * blanks. */
static void catch_reports(const char *module_path)
{
    void (*set)(void (*)(void)), (*set_path)(const char *);
    *(void **)&set = function("__sanitizer_set_death_callback");
    *(void **)&set_path = function("__sanitizer_set_report_path");
    if (set)
        set(note_death);
    const char *slash = strrchr(module_path, '/');
    char path[4096];
    if (set_path && slash &&
        snprintf(path, sizeof path, "%.*s/" ADDRESS_REPORT, (int)(slash - module_path), module_path) < (int)sizeof path)
        set_path(path);
}

/* ---- Sections: other accesses are errors, since a call copies only sections of host arrays to a GPU ---- */

/* Functions that forbid and permit accesses. AddressSanitizer marks groups of eight bytes; a group in which a section
 * begins stays permitted as a whole. */
static void (*close_bytes)(const void *begin, size_t bytes), (*open_bytes)(const void *begin, size_t bytes);

static struct region *array_of(uint32_t i, void *const args[])
{
    struct region *region =
        finding_kernel->params[i].direction == CF_VALUE ? NULL : region_find(*(void *const *)args[i]);
    return region && region->kind == REGION_ARRAY ? region : NULL;
}

static int has_section(const cf_param *param)
{
    return param->ndims > 0 &&
           (param->direction == CF_IN || param->direction == CF_OUT || param->direction == CF_INOUT);
}

/* Permits accesses to the section, row by row. */
static void open_section(uint32_t i, const char *array, const struct region *region, void *const args[])
{
    cf_section section;
    int64_t index[CF_ARRAY_DIMS] = {0};
    const char *const end = region->begin + region->bytes;
    if (cf_kernel_section(finding_kernel, i, args, &section) != CF_OK || !section.count)
        return;
    const size_t row = (size_t)section.extents[section.ndims - 1] * finding_kernel->params[i].bytes;
    section.extents[section.ndims - 1] = 1; /* section_step() then goes from row to row */
    do {
        const char *begin = array + section_place(&section, index);
        if (begin < end)
            open_bytes(begin, (size_t)(end - begin) < row ? (size_t)(end - begin) : row);
    } while (section_step(&section, index));
}

static void close_sections(void *const args[])
{
    *(void **)&close_bytes = dlsym(RTLD_DEFAULT, "__asan_poison_memory_region");
    *(void **)&open_bytes = dlsym(RTLD_DEFAULT, "__asan_unpoison_memory_region");
    if (!close_bytes || !open_bytes || !finding_kernel->is_closed)
        return;
    for (uint32_t i = 0; i < finding_kernel->nparams; i++) {
        const struct region *region = array_of(i, args);
        if (region && has_section(&finding_kernel->params[i]))
            close_bytes(region->begin, region->bytes);
    }
    for (uint32_t i = 0; i < finding_kernel->nparams; i++) {
        const struct region *region = array_of(i, args);
        if (region && has_section(&finding_kernel->params[i]))
            open_section(i, *(char *const *)args[i], region, args);
        else if (region)
            open_bytes(region->begin, region->bytes);
    }
}

static void open_arrays(void *const args[])
{
    if (!open_bytes)
        return;
    for (uint32_t i = 0; i < finding_kernel->nparams; i++) {
        const struct region *region = array_of(i, args);
        if (region)
            open_bytes(region->begin, region->bytes);
    }
}

const struct check_ops address_check = {
    .kind = CHECK_ADDRESS, .begin = catch_reports, .begin_part = close_sections, .end_part = open_arrays};
