/* compile.c - compiles CUDA C++ for a GPU at run time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/program.h>

#include "program/compile.h"

#include "base/files.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "find/find.h"
#include "program/cache.h"
#include "program/headers.h"
#include "program/nvrtc.h"
#include "threads/limited.h"

/* The first CUDA versions whose NVRTC supports these options. */
enum { HAS_PRECOMPILED = 12080, HAS_NO_CACHE = 12090 };

enum { OLDEST_EXACT = 90 }; /* compute capability times ten */

struct compilation {
    const struct cf__request *request;
    char path[CF__PATH]; /* path of NVRTC */
    struct cf__nvrtc nvrtc;
    char toolkit[CF__PATH]; /* folder of the toolkit's headers, or "" */
    char target[48];        /* option such as --gpu-architecture=sm_90 */
    int is_ptx;
    cf__nvrtc_program program;
};

/* State that NVRTC uses while it compiles. It outlives the call if NVRTC is still running after the time limit. */
struct run {
    struct cf__nvrtc nvrtc;
    cf__nvrtc_program program;
    struct cf__flags flags;
    int64_t deadline; /* time limit, by cf__now() */
    int result;
};

static int fail_call(const struct compilation *compilation, int result, const char *call)
{
    return cf__fail(result == CF__NVRTC_OUT_OF_MEMORY ? CF_ENOMEM : CF_ECALL, "%s: %s: nvrtc%s returned %d (%s)",
                    compilation->request->function, compilation->request->name, call, result,
                    compilation->nvrtc.GetErrorString(result));
}

static int fail_memory(const struct cf__request *request)
{
    return cf__fail(CF_ENOMEM, "%s: %s: there is no memory for the compilation", request->function, request->name);
}

/* ---- The target ---- */

/* Writes the option for machine code of the device or, if NVRTC cannot produce that, for PTX of the newest older
 * target. */
static int choose_target(struct compilation *compilation)
{
    const struct cf__request *request = compilation->request;
    int known[256], count = 0, best = 0, capability = request->capability;
    int result = compilation->nvrtc.GetNumSupportedArchs(&count);
    if (result == CF__NVRTC_SUCCESS && count > 0 && count <= (int)(sizeof known / sizeof *known))
        result = compilation->nvrtc.GetSupportedArchs(known);
    else
        count = 0;
    if (result != CF__NVRTC_SUCCESS)
        return fail_call(compilation, result, "GetSupportedArchs");
    for (int i = 0; i < count; i++)
        if (known[i] <= capability && known[i] > best)
            best = known[i];
    compilation->is_ptx = best != capability;
    if (!best || (request->options->is_exact && (compilation->is_ptx || best < OLDEST_EXACT)))
        return cf__fail(CF_ENOCODE, "%s: %s: NVRTC %d.%d does not compile for %d.%d%s", request->function,
                        request->name, compilation->nvrtc.version / 1000, compilation->nvrtc.version % 1000 / 10,
                        capability / 10, capability % 10, request->options->is_exact ? "a" : "");
    snprintf(compilation->target, sizeof compilation->target, "--gpu-architecture=%s_%d%s",
             compilation->is_ptx ? "compute" : "sm", best, request->options->is_exact ? "a" : "");
    return CF_OK;
}

/* ---- Options ---- */

int cf__compile_limit(const cf_program_options *options)
{
    enum { FIVE_MINUTES = 5 * 60 * 1000 };
    return options->time_limit ? options->time_limit : FIVE_MINUTES;
}

size_t cf__flags_count(const char *const *texts, size_t *bytes)
{
    size_t count = 0;
    for (; texts && texts[count]; count++)
        *bytes += strlen(texts[count]);
    return count;
}

int cf__flags_begin(struct cf__flags *flags, size_t count, size_t bytes)
{
    enum { LONGEST_PREFIX = 32 };
    flags->count = 0;
    flags->list = malloc(count * (sizeof *flags->list + LONGEST_PREFIX + 1) + bytes);
    flags->at = flags->list ? (char *)(flags->list + count) : NULL;
    return flags->list != NULL;
}

void cf__flags_add(struct cf__flags *flags, const char *prefix, const char *text)
{
    flags->list[flags->count++] = flags->at;
    flags->at += sprintf(flags->at, "%s%s", prefix, text) + 1;
}

void cf__flags_add_all(struct cf__flags *flags, const char *prefix, const char *const *texts)
{
    for (; texts && *texts; texts++)
        cf__flags_add(flags, prefix, *texts);
}

/* Composes the options. The toolkit's headers come last. Returns 0 if there is no memory. */
static int make_flags(const struct compilation *compilation, struct cf__flags *flags)
{
    enum { OWN = 7 };
    const cf_program_options *options = compilation->request->options;
    size_t bytes = strlen(compilation->target) + 2 * strlen(compilation->toolkit) + 64;
    size_t count = OWN + cf__flags_count(options->include_folders, &bytes) +
                   cf__flags_count(options->definitions, &bytes) + cf__flags_count(options->flags, &bytes);
    bytes += options->precompiled ? strlen(options->precompiled) : 0;
    if (!cf__flags_begin(flags, count, bytes))
        return 0;
    cf__flags_add(flags, compilation->target, "");
    if (compilation->request->output != CF__PROGRAM)
        cf__flags_add(flags, compilation->request->output == CF__LTO ? "-dlto" : "--relocatable-device-code=true", "");
    if (compilation->nvrtc.version >= HAS_NO_CACHE)
        cf__flags_add(flags, "--no-cache", "");
    if (options->precompiled && compilation->nvrtc.version >= HAS_PRECOMPILED) {
        cf__flags_add(flags, "--pch", "");
        cf__flags_add(flags, "--pch-dir=", options->precompiled);
    }
    cf__flags_add_all(flags, "--define-macro=", options->definitions);
    cf__flags_add_all(flags, "", options->flags);
    cf__flags_add_all(flags, "--include-path=", options->include_folders);
    if (*compilation->toolkit) {
        cf__flags_add(flags, "--include-path=", compilation->toolkit);
        flags->list[flags->count++] = flags->at; /* folder of libcu++ in CUDA 13 */
        sprintf(flags->at, "--include-path=%s/cccl", compilation->toolkit);
    }
    return 1;
}

int cf__options_check(const char *function, const cf_program_options *options, int is_link)
{
    for (size_t i = 0; i < sizeof options->reserved / sizeof *options->reserved; i++)
        if (options->reserved[i])
            return cf__fail(CF_EINVAL, "%s: options.reserved[%zu] is not 0", function, i);
    if (options->time_limit < 0)
        return cf__fail(CF_EINVAL, "%s: options.time_limit is %d; it is 0 or more milliseconds", function,
                        options->time_limit);
    if (options->is_exact != 0 && options->is_exact != 1)
        return cf__fail(CF_EINVAL, "%s: options.is_exact is %d; it is 0 or 1", function, options->is_exact);
    if (options->is_lto != 0 && options->is_lto != 1)
        return cf__fail(CF_EINVAL, "%s: options.is_lto is %d; it is 0 or 1", function, options->is_lto);
    if (!is_link && (options->is_lto || options->link_flags))
        return cf__fail(CF_EINVAL, "%s: options.%s is of cf_program_link() alone", function,
                        options->is_lto ? "is_lto" : "link_flags");
    for (const cf_program_header *header = options->headers; header && header->name; header++)
        if (!header->text)
            return cf__fail(CF_EINVAL, "%s: options.headers: %s has no text", function, header->name);
    return CF_OK;
}

/* ---- The program ---- */

static int create_program(struct compilation *compilation)
{
    const struct cf__request *request = compilation->request;
    const cf_program_header *headers = request->options->headers;
    int count = 0, result;
    while (headers && headers[count].name)
        count++;
    const char **texts = malloc((2 * (size_t)count + 1) * sizeof *texts);
    if (!texts)
        return fail_memory(request);
    const char **names = texts + count;
    for (int i = 0; i < count; i++) {
        texts[i] = headers[i].text;
        names[i] = headers[i].name;
    }
    result =
        compilation->nvrtc.CreateProgram(&compilation->program, request->source, request->name, count, texts, names);
    free(texts);
    return result == CF__NVRTC_SUCCESS ? CF_OK : fail_call(compilation, result, "CreateProgram");
}

/* Callback by which NVRTC asks whether to cancel the compilation; a nonzero result cancels it. NVRTC calls it from
 * several threads. */
static int is_late(void *data, void *reserved)
{
    (void)reserved;
    return cf__now() > ((const struct run *)data)->deadline;
}

/* Adds the name expressions. */
static int prepare_program(struct compilation *compilation)
{
    const cf_program_options *options = compilation->request->options;
    int result;
    for (const char *const *name = options->names; name && *name; name++)
        if ((result = compilation->nvrtc.AddNameExpression(compilation->program, *name)) != CF__NVRTC_SUCCESS)
            return fail_call(compilation, result, "AddNameExpression");
    return CF_OK;
}

/* Reads the log. If it cannot be read, the program is kept without a log. Returns 0 if there is no memory. */
static int read_log(const struct compilation *compilation, struct cf__compiled *compiled)
{
    size_t bytes = 0;
    if (compilation->nvrtc.GetProgramLogSize(compilation->program, &bytes) != CF__NVRTC_SUCCESS || bytes <= 1)
        return 1;
    compiled->log = calloc(bytes + 1, 1);
    if (compiled->log)
        (void)compilation->nvrtc.GetProgramLog(compilation->program, compiled->log);
    return compiled->log != NULL;
}

static int fail_compilation(const struct compilation *compilation, int result, const struct cf__compiled *compiled)
{
    const struct cf__request *request = compilation->request;
    int length, limit = cf__compile_limit(request->options);
    if (result == CF__NVRTC_CANCELLED)
        return cf__fail(CF_ECOMPILE, "%s: %s: compiling took longer than %d ms", request->function, request->name,
                        limit);
    if (result != CF__NVRTC_COMPILATION && result != CF__NVRTC_INVALID_OPTION)
        return fail_call(compilation, result, "CompileProgram");
    const char *line = cf__log_error(compiled->log ? compiled->log : "NVRTC gave no reason", &length);
    return cf__fail(result == CF__NVRTC_COMPILATION ? CF_ECOMPILE : CF_EINVAL, "%s: %.*s", request->function, length,
                    line);
}

/* Compiles. It runs in a separate thread, and so has to switch to the locale "C" itself. */
static void compile(void *data)
{
    struct run *run = data;
    struct cf__locale locale = cf__enter_c_locale();
    run->result = run->nvrtc.CompileProgram(run->program, run->flags.count, run->flags.list);
    cf__leave_c_locale(locale);
}

static void free_run(struct run *run)
{
    free(run->flags.list);
    free(run);
}

static void abandon(void *data)
{
    struct run *run = data;
    (void)run->nvrtc.DestroyProgram(&run->program);
    free_run(run);
}

static int run_compiler(struct compilation *compilation, struct cf__compiled *compiled)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run || !make_flags(compilation, &run->flags)) {
        free(run);
        return fail_memory(compilation->request);
    }
    int limit = cf__compile_limit(compilation->request->options), result = CF__NVRTC_SUCCESS;
    run->nvrtc = compilation->nvrtc;
    run->program = compilation->program;
    run->deadline = cf__now() + (int64_t)limit * 1000000;
    if (run->nvrtc.SetFlowCallback) /* lets NVRTC stop at the time limit, but it may call is_late() only rarely */
        result = run->nvrtc.SetFlowCallback(run->program, is_late, run);
    if (result != CF__NVRTC_SUCCESS) {
        free_run(run);
        return fail_call(compilation, result, "SetFlowCallback");
    }
    if (!cf__limited_run(compile, abandon, run, limit)) {
        compilation->program = NULL;
        return fail_compilation(compilation, CF__NVRTC_CANCELLED, compiled);
    }
    result = run->result;
    free_run(run);
    int has_memory = read_log(compilation, compiled);
    if (result == CF__NVRTC_SUCCESS)
        return CF_OK;
    return has_memory ? fail_compilation(compilation, result, compiled) : fail_memory(compilation->request);
}

/* ---- The results ---- */

static int read_image(const struct compilation *compilation, struct cf__compiled *compiled)
{
    const struct cf__nvrtc *nvrtc = &compilation->nvrtc;
    int is_lto = compilation->request->output == CF__LTO, is_ptx = compilation->is_ptx && !is_lto;
    const char *call = is_lto ? "GetLTOIR" : is_ptx ? "GetPTX" : "GetCUBIN";
    int (*get_size)(cf__nvrtc_program, size_t *) = is_lto   ? nvrtc->GetLTOIRSize
                                                   : is_ptx ? nvrtc->GetPTXSize
                                                            : nvrtc->GetCUBINSize;
    int (*get)(cf__nvrtc_program, char *) = is_lto ? nvrtc->GetLTOIR : is_ptx ? nvrtc->GetPTX : nvrtc->GetCUBIN;
    int result = get_size(compilation->program, &compiled->bytes);
    if (result == CF__NVRTC_SUCCESS) {
        compiled->image = calloc(compiled->bytes + 1, 1);
        if (!compiled->image)
            return fail_memory(compilation->request);
        result = get(compilation->program, compiled->image);
        compiled->bytes -= is_ptx && compiled->bytes; /* excludes NVRTC's own zero byte */
    }
    return result == CF__NVRTC_SUCCESS ? CF_OK : fail_call(compilation, result, call);
}

static int read_names(const struct compilation *compilation, struct cf__compiled *compiled)
{
    for (const char *const *name = compilation->request->options->names; name && *name; name++) {
        const char *lowered = NULL;
        int result = compilation->nvrtc.GetLoweredName(compilation->program, *name, &lowered);
        if (result != CF__NVRTC_SUCCESS || !lowered)
            return cf__fail(CF_ECOMPILE, "%s: %s: '%s' of options.names is no kernel and no data",
                            compilation->request->function, compilation->request->name, *name);
        size_t first = strlen(*name) + 1, second = strlen(lowered) + 1, used = compiled->names_bytes;
        char *names = realloc(compiled->names, used + first + second + 1);
        if (!names)
            return fail_memory(compilation->request);
        memcpy(names + used, *name, first);
        memcpy(names + used + first, lowered, second);
        names[used + first + second] = 0;
        compiled->names = names;
        compiled->names_bytes += first + second;
    }
    return CF_OK;
}

static int make_program(void *data, struct cf__compiled *compiled)
{
    struct compilation *compilation = data;
    int status = cf__headers_check(compilation->request, compilation->toolkit);
    if (status == CF_OK)
        status = cf__nvrtc_open(compilation->request->function, compilation->path, &compilation->nvrtc);
    if (status == CF_OK)
        status = choose_target(compilation);
    if (status == CF_OK)
        status = create_program(compilation);
    if (status != CF_OK)
        return status;
    status = prepare_program(compilation);
    if (status == CF_OK)
        status = run_compiler(compilation, compiled);
    if (status == CF_OK)
        status = read_image(compilation, compiled);
    if (status == CF_OK)
        status = read_names(compilation, compiled);
    if (compilation->program)
        (void)compilation->nvrtc.DestroyProgram(&compilation->program);
    return status;
}

int cf__compile_source(const struct cf__request *request, struct cf__compiled *compiled)
{
    struct compilation compilation = {.request = request};
    *compiled = (struct cf__compiled){0};
    int status = cf__options_check(request->function, request->options, request->output != CF__PROGRAM);
    if (status == CF_OK && request->compiler)
        snprintf(compilation.path, sizeof compilation.path, "%s", request->compiler);
    else if (status == CF_OK)
        status = cf__find_part(request->function, "nvrtc", request->driver / 1000, compilation.path);
    if (status != CF_OK)
        return status;
    cf__nvrtc_headers(compilation.path, compilation.toolkit);
    return cf__cache_make(request, compilation.path, compilation.toolkit, make_program, &compilation, compiled);
}
