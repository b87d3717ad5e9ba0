/* link_requests.h - makes the code for links of GPU code, for the tests of links. nvJitLink needs no GPU. */
#ifndef LINK_REQUESTS_H
#define LINK_REQUESTS_H

#include "run_group.h"

#include <cuferry/find.h>
#include <cuferry/program.h>

#include "base/files.h"
#include "program_image.h"
#include "program/compile.h"
#include "program/link.h"

static cf_program_options options;
static struct cf__compiled linked;
static cf_program_input inputs[4];
static size_t count;

static inline int set_up(void **state)
{
    (void)state;
    unsetenv("CF_CACHE");
    options = (cf_program_options){.time_limit = 0};
    count = 0;
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    cf__compiled_free(&linked);
    return 0;
}

static inline void needs_linker(void)
{
    const char *path;
    if (cf_find("nvrtc", &path) != CF_OK || cf_find("nvJitLink", &path) != CF_OK)
        skip_test(NEEDS_NVJITLINK);
}

static inline void add_source(const char *name, const char *text)
{
    inputs[count++] = (cf_program_input){.name = name, .data = text, .size = strlen(text), .is_source = 1};
}

static inline void add_data(const char *name, const void *data, size_t size)
{
    inputs[count++] = (cf_program_input){.name = name, .data = data, .size = size};
}

static inline void add_text(const char *name, const char *text)
{
    add_data(name, text, strlen(text));
}

/* Compiles a source to relocatable code or LTO-IR. */
static inline void make_code_of(struct program_image *made, const char *source, enum cf__output output, int capability)
{
    struct cf__compiled compiled;
    struct cf__request request = {.function = "make_code",
                                  .source = source,
                                  .name = "made.cu",
                                  .options = &(cf_program_options){.is_lto = output == CF__LTO},
                                  .capability = capability,
                                  .driver = 13990,
                                  .output = output};
    if (cf__compile_source(&request, &compiled) != CF_OK)
        fail_msg("%s", cf_last_error());
    *made = (struct program_image){.size = 0};
    add_bytes(made, compiled.image, compiled.bytes);
    cf__compiled_free(&compiled);
}

static inline int link_for(int capability)
{
    struct cf__request request = {
        .function = "cf_test", .options = &options, .capability = capability, .driver = 13990};
    cf__compiled_free(&linked);
    return cf__link_inputs(&request, inputs, count, &linked);
}

#endif
