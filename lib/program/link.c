/* link.c - links GPU code at run time. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/program.h>
#include <cuferry/registry.h>

#include "program/link.h"

#include "base/files.h"
#include "base/error.h"
#include "base/text.h"
#include "find/find.h"
#include "program/cache.h"
#include "program/compile.h"
#include "program/definitions.h"
#include "program/inspect.h"
#include "program/nvjitlink.h"

enum { NO_MEMORY = -1 }; /* a result that this file adds to those of nvJitLink */

struct link {
    const struct cf__request *request;
    char path[CF__PATH]; /* path of nvJitLink */
    struct cf__nvjitlink nvjitlink;
    struct cf__link_target target;
    int is_ptx; /* 1 if the result is PTX */
    char target_flag[32];
    const char **flags; /* flags from the options, then flags for the target; the last is "-no-cache" */
    size_t option_count;
    uint32_t flag_count;
    int is_log_missing; /* 1 if there was no memory for the log */
};

static int fail_memory(const char *function)
{
    return cf__fail(CF_ENOMEM, "%s: there is no memory for the link", function);
}

/* ---- Logs and failures ---- */

/* Appends a text, which may be NULL, and its zero byte. Returns 0 if there is no memory; a link also works without its
 * log. */
static int add_log(char **log, const char *text)
{
    size_t before = *log ? strlen(*log) : 0;
    if (!text || !*text)
        return 1;
    char *longer = realloc(*log, before + strlen(text) + 1);
    if (longer)
        *log = strcpy(longer + before, text) - before;
    return longer != NULL;
}

static void read_log(struct link *link, cf__nvjitlink_handle handle, char **log)
{
    const struct cf__nvjitlink *nvjitlink = &link->nvjitlink;
    for (int is_info = 0; is_info < 2; is_info++) {
        size_t bytes = 0;
        int result = is_info ? nvjitlink->GetInfoLogSize(handle, &bytes) : nvjitlink->GetErrorLogSize(handle, &bytes);
        char *text = result == CF__NVJITLINK_SUCCESS && bytes ? calloc(bytes + 1, 1) : NULL;
        if (text)
            result = is_info ? nvjitlink->GetInfoLog(handle, text) : nvjitlink->GetErrorLog(handle, text);
        if (result == CF__NVJITLINK_SUCCESS && bytes && !(text && add_log(log, text)))
            link->is_log_missing = 1;
        free(text);
    }
}

static const char undefined[] = "Undefined reference to '";

/* Writes "a (needed by x.cu), b (needed by y.ptx)" from lines such as "error : Undefined reference to 'a' in 'x.cu'".
 * For code that was optimized across inputs, the lines do not name the input. */
static void list_undefined(const char *log, char *text, size_t size)
{
    size_t used = 0;
    for (const char *at = log; (at = strstr(at, undefined)) != NULL && used < size;) {
        at += strlen(undefined);
        int length = (int)strcspn(at, "'\n"), of_input = 0;
        const char *input = strncmp(at + length, "' in '", 6) == 0 ? at + length + 6 : "";
        of_input = strncmp(input, "ltoPtx'", 7) == 0 ? 0 : (int)strcspn(input, "'\n");
        used += (size_t)snprintf(text + used, size - used, "%s%.*s%s%.*s%s", used ? ", " : "", length, at,
                                 of_input ? " (needed by " : "", of_input, input, of_input ? ")" : "");
    }
    if (used >= size)
        memcpy(text + size - 4, "...", 4);
}

static int find_status(int result)
{
    switch (result) {
    case CF__NVJITLINK_OPTION:
    case CF__NVJITLINK_OPTIONS:
        return CF_EINVAL;
    case CF__NVJITLINK_INPUT:
    case CF__NVJITLINK_UNRECOGNIZED_INPUT:
    case CF__NVJITLINK_INPUT_KIND:
        return CF_EIMAGE;
    case CF__NVJITLINK_TARGET_MISMATCH:
    case CF__NVJITLINK_TARGET:
    case CF__NVJITLINK_OLD_TARGET:
        return CF_ENOCODE;
    case CF__NVJITLINK_OUTDATED:
        return CF_ENOTSUP;
    default:
        return CF_ECOMPILE;
    }
}

static int fail_link(const struct link *link, int result, const char *call, const char *log)
{
    const char *function = link->request->function;
    char symbols[CF__DETAIL / 2];
    int length;
    if (result == NO_MEMORY || (!log && link->is_log_missing))
        return fail_memory(function);
    if (!log)
        return cf__fail(CF_ECALL, "%s: nvJitLink%s returned %d", function, call, result);
    if (strstr(log, undefined)) {
        list_undefined(log, symbols, sizeof symbols);
        return cf__fail(CF_ECOMPILE, "%s: undefined symbols: %s", function, symbols);
    }
    const char *second = strncmp(log, "ERROR in ", 9) == 0 ? strchr(log, '\n') : NULL; /* line 1 only names the input */
    const char *line = cf__log_error(second && second[1] ? second + 1 : log, &length);
    return cf__fail(find_status(result), "%s: %.*s", function, length, line);
}

/* ---- The target ---- */

/* Creates the handle. If that fails, tries again without the last flag, which early versions of CUDA 12 do not know. */
static int create_handle(const struct link *link, cf__nvjitlink_handle *handle)
{
    const struct cf__nvjitlink *nvjitlink = &link->nvjitlink;
    *handle = NULL;
    int result = nvjitlink->Create(handle, link->flag_count, link->flags);
    if (result != CF__NVJITLINK_OPTION)
        return result;
    cf__nvjitlink_handle first = *handle;
    *handle = NULL;
    int second = nvjitlink->Create(handle, link->flag_count - 1, link->flags);
    if (first)
        (void)nvjitlink->Destroy(&first);
    return second;
}

static void set_target(struct link *link, int capability)
{
    const struct cf__request *request = link->request;
    link->is_ptx = capability / 10 != request->capability / 10;
    link->target.sm = (unsigned int)capability | (request->options->is_exact ? CF_TARGET_EXACT : 0);
    snprintf(link->target_flag, sizeof link->target_flag, "-arch=%s_%d%s", link->is_ptx ? "compute" : "sm", capability,
             CF_TARGET_SUFFIX(link->target.sm));
    link->flag_count = (uint32_t)link->option_count;
    link->flags[link->flag_count++] = link->target_flag;
    if (link->is_ptx)
        link->flags[link->flag_count++] = "-ptx";
    link->flags[link->flag_count++] = "-no-cache";
}

/* Finds the device's target or, if nvJitLink does not support it, the newest older one whose code runs on the
 * device. */
static int choose_target(struct link *link, char **log)
{
    const struct cf__request *request = link->request;
    cf__nvjitlink_handle handle;
    int result = CF__NVJITLINK_TARGET;
    for (int capability = request->capability; capability >= 10; capability--) {
        set_target(link, capability);
        if ((link->is_ptx && !link->target.is_lto) || (request->options->is_exact && capability != request->capability))
            break;
        result = create_handle(link, &handle);
        int is_unknown = result == CF__NVJITLINK_TARGET || result == CF__NVJITLINK_OLD_TARGET;
        if (result != CF__NVJITLINK_SUCCESS && !is_unknown && handle)
            read_log(link, handle, log);
        if (handle)
            (void)link->nvjitlink.Destroy(&handle);
        if (result == CF__NVJITLINK_SUCCESS)
            return CF_OK;
        if (!is_unknown)
            return fail_link(link, result, "Create", *log);
    }
    return cf__fail(CF_ENOCODE, "%s: nvJitLink %d.%d does not link for %d.%d%s%s", request->function,
                    link->nvjitlink.major, link->nvjitlink.minor, request->capability / 10, request->capability % 10,
                    request->options->is_exact ? "a" : "",
                    link->target.is_lto ? "" : "; with options.is_lto it makes PTX for newer GPUs");
}

/* ---- The link ---- */

static int add_inputs(const struct link *link, cf__nvjitlink_handle handle, const enum cf__input_kind *kinds)
{
    const struct cf__request *request = link->request;
    int result = CF__NVJITLINK_SUCCESS;
    for (size_t i = 0; i < request->input_count && result == CF__NVJITLINK_SUCCESS; i++) {
        const struct cf__input *input = &request->inputs[i];
        size_t zero = kinds[i] == CF__INPUT_PTX; /* the zero byte is part of the text */
        result = link->nvjitlink.AddData(handle, (int)kinds[i], input->data, input->size + zero, input->name);
    }
    return result;
}

static int read_image(const struct link *link, cf__nvjitlink_handle handle, struct cf__compiled *compiled)
{
    const struct cf__nvjitlink *nvjitlink = &link->nvjitlink;
    int result = link->is_ptx ? nvjitlink->GetLinkedPtxSize(handle, &compiled->bytes)
                              : nvjitlink->GetLinkedCubinSize(handle, &compiled->bytes);
    if (result != CF__NVJITLINK_SUCCESS)
        return result;
    compiled->image = calloc(compiled->bytes + 1, 1);
    if (!compiled->image)
        return NO_MEMORY;
    result = link->is_ptx ? nvjitlink->GetLinkedPtx(handle, compiled->image)
                          : nvjitlink->GetLinkedCubin(handle, compiled->image);
    if (link->is_ptx)
        compiled->bytes = strlen(compiled->image);
    return result;
}

/* Links once. Returns nvJitLink's result, and in `call` the function that returned it. `is_probe` links code for
 * optimization across inputs like other code: then the linker reports all undefined symbols, while its assembler stops
 * at the first. */
static int link_once(struct link *link, const enum cf__input_kind *kinds, int is_probe, const char **call,
                     struct cf__compiled *compiled)
{
    static const char nothing[] = ".version 7.0\n.target sm_75\n.address_size 64\n";
    const struct cf__nvjitlink *nvjitlink = &link->nvjitlink;
    cf__nvjitlink_handle handle;
    *call = "Create";
    int result = create_handle(link, &handle);
    if (result == CF__NVJITLINK_SUCCESS) {
        *call = "AddData";
        result = add_inputs(link, handle, kinds);
    }
    if (result == CF__NVJITLINK_SUCCESS && is_probe)
        result = nvjitlink->AddData(handle, CF__INPUT_PTX, nothing, sizeof nothing, "nothing");
    if (result == CF__NVJITLINK_SUCCESS) {
        *call = "Complete";
        result = nvjitlink->Complete(handle);
    }
    if (handle)
        read_log(link, handle, &compiled->log);
    if (result == CF__NVJITLINK_SUCCESS) {
        *call = link->is_ptx ? "GetLinkedPtx" : "GetLinkedCubin";
        result = read_image(link, handle, compiled);
    }
    if (handle)
        (void)nvjitlink->Destroy(&handle);
    return result;
}

static int link_all(struct link *link, const enum cf__input_kind *kinds, struct cf__compiled *compiled)
{
    struct cf__compiled probe = {0};
    const char *call, *ignored;
    int result = link_once(link, kinds, 0, &call, compiled), length;
    if (result == CF__NVJITLINK_SUCCESS && !(compiled->log && cf__log_find_error(compiled->log, &length)))
        return CF_OK; /* nvJitLink reports success despite some errors */
    if (compiled->log && strstr(compiled->log, "Unresolved extern")) {
        (void)link_once(link, kinds, 1, &ignored, &probe);
        (void)add_log(&compiled->log, probe.log);
        cf__compiled_free(&probe);
    }
    free(compiled->image);
    compiled->image = NULL;
    return fail_link(link, result, call, compiled->log);
}

/* Writes the kinds of the inputs, and rejects symbols that two inputs define. */
static int inspect_inputs(const struct link *link, enum cf__input_kind *kinds)
{
    const struct cf__request *request = link->request;
    struct cf__definitions definitions = {.list = NULL};
    int status = CF_OK;
    for (size_t i = 0; i < request->input_count && status == CF_OK; i++) {
        const struct cf__input *input = &request->inputs[i];
        char prefix[CF__DETAIL / 2];
        snprintf(prefix, sizeof prefix, "%s: %s", request->function, input->name);
        definitions.input = (unsigned int)i;
        status = cf__inspect_input(prefix, (const unsigned char *)input->data, input->size, &link->target, &definitions,
                                   &kinds[i]);
    }
    if (status == CF_OK)
        status = cf__definitions_check(&definitions, request->function, request->inputs);
    cf__definitions_free(&definitions);
    return status;
}

/* Composes the flags from the options, with room for those of the target. */
static int make_flags(struct link *link)
{
    enum { OWN = 4 };
    const char *const *flags = link->request->options->link_flags;
    size_t count = 0;
    while (flags && flags[count])
        count++;
    link->flags = malloc((count + OWN) * sizeof *link->flags);
    if (!link->flags)
        return fail_memory(link->request->function);
    for (; link->option_count < count; link->option_count++)
        link->flags[link->option_count] = flags[link->option_count];
    if (link->target.is_lto)
        link->flags[link->option_count++] = "-lto";
    return CF_OK;
}

static int make_link(void *data, struct cf__compiled *compiled)
{
    struct link *link = data;
    int status = cf__nvjitlink_open(link->request->function, link->path, &link->nvjitlink);
    if (status == CF_OK)
        status = make_flags(link);
    if (status != CF_OK)
        return status;
    enum cf__input_kind *kinds = malloc(link->request->input_count * sizeof *kinds);
    status = kinds ? choose_target(link, &compiled->log) : fail_memory(link->request->function);
    if (status == CF_OK)
        status = inspect_inputs(link, kinds);
    if (status == CF_OK)
        status = link_all(link, kinds, compiled);
    free(link->flags);
    free(kinds);
    return status;
}

/* ---- Inputs ---- */

static int check_input(const char *function, const cf_program_input *input, size_t number)
{
    if (!input->name)
        return cf__fail(CF_EINVAL, "%s: inputs[%zu].name is NULL", function, number);
    if (input->is_source != 0 && input->is_source != 1)
        return cf__fail(CF_EINVAL, "%s: %s: is_source is %d; it is 0 or 1", function, input->name, input->is_source);
    if (input->names && !input->is_source)
        return cf__fail(CF_EINVAL, "%s: %s: names are those of a source, and is_source is 0", function, input->name);
    return CF_OK;
}

static int read_input(const char *function, const cf_program_input *input, struct cf__input *copy)
{
    copy->name = input->name;
    copy->size = input->size;
    if (input->data) {
        copy->data = input->size < SIZE_MAX ? malloc(input->size + 1) : NULL;
        if (!copy->data)
            return fail_memory(function);
        memcpy(copy->data, input->data, input->size);
        copy->data[input->size] = 0;
    } else if (!(copy->data = cf__file_load(input->name, &copy->size)))
        return cf__fail(errno == ENOMEM ? CF_ENOMEM : CF_EINVAL, "%s: %s cannot be read: %s", function, input->name,
                        cf__strerror(errno));
    copy->size = cf__image_bytes(copy->data, copy->size);
    return copy->size ? CF_OK : cf__fail(CF_EIMAGE, "%s: %s is empty", function, input->name);
}

/* Returns the major version in the name of a file such as libnvrtc.so.13. */
static int read_major(const char *path)
{
    const char *at = strstr(path, ".so."), *next;
    while (at && (next = strstr(at + 1, ".so.")) != NULL)
        at = next;
    return at ? atoi(at + strlen(".so.")) : 0;
}

/* Finds an NVRTC of nvJitLink's major version for the first source. Later sources use the same one. */
static int find_compiler(const struct cf__request *request, const char *linker, char compiler[CF__PATH])
{
    if (*compiler)
        return CF_OK;
    int major = read_major(linker), status = cf__find_part(request->function, "nvrtc", major, compiler);
    if (status == CF_OK && read_major(compiler) != major)
        status =
            cf__fail(CF_ENOTSUP, "%s: %s and %s are of different versions; CF_CUDA_HOME may name a toolkit's folder",
                     request->function, compiler, linker);
    return status;
}

/* Replaces a source by its compiled code. Appends its log and names to those of the earlier sources in `sources`. */
static int compile_input(const struct cf__request *request, const char *compiler, const cf_program_input *input,
                         struct cf__input *copy, struct cf__compiled *sources)
{
    cf_program_options options = *request->options;
    struct cf__request source = *request;
    struct cf__compiled compiled;
    options.names = input->names;
    options.link_flags = NULL;
    source.source = copy->data;
    source.name = copy->name;
    source.options = &options;
    source.output = options.is_lto ? CF__LTO : CF__RELOCATABLE;
    source.compiler = compiler;
    int status = cf__compile_source(&source, &compiled);
    (void)add_log(&sources->log, compiled.log);
    if (status == CF_OK && compiled.names) {
        char *names = realloc(sources->names, sources->names_bytes + compiled.names_bytes + 1);
        if (names) {
            memcpy(names + sources->names_bytes, compiled.names, compiled.names_bytes + 1);
            sources->names = names;
            sources->names_bytes += compiled.names_bytes;
        } else
            status = fail_memory(request->function);
    }
    if (status == CF_OK) {
        free(copy->data);
        copy->data = compiled.image;
        copy->size = compiled.bytes;
        compiled.image = NULL;
    }
    cf__compiled_free(&compiled);
    return status;
}

/* Rejects a zero byte within a source, where NVRTC would stop reading. */
static int check_source(const char *function, const struct cf__input *source)
{
    size_t length = strlen(source->data);
    return length == source->size ? CF_OK
                                  : cf__fail(CF_EINVAL, "%s: %s: the source has a zero byte after %zu bytes", function,
                                             source->name, length);
}

/* Prepares an input. `compiler` is the path of NVRTC, and is empty until the first source. */
static int prepare_input(const struct cf__request *request, const char *linker, char compiler[CF__PATH],
                         const cf_program_input *input, struct cf__input *copy, struct cf__compiled *sources)
{
    int status = read_input(request->function, input, copy);
    if (status != CF_OK || !input->is_source)
        return status;
    status = check_source(request->function, copy);
    if (status == CF_OK)
        status = find_compiler(request, linker, compiler);
    if (status == CF_OK)
        status = compile_input(request, compiler, input, copy, sources);
    return status;
}

/* Joins logs and names: the sources' come first, then the link's own. */
static void join_parts(struct cf__compiled *compiled, struct cf__compiled *sources)
{
    (void)add_log(&sources->log, compiled->log);
    free(compiled->log);
    free(compiled->names);
    compiled->log = sources->log;
    compiled->names = sources->names;
    compiled->names_bytes = sources->names_bytes;
}

static int check_inputs(const struct cf__request *request, const cf_program_input *inputs, size_t count)
{
    int status = cf__options_check(request->function, request->options, 1);
    if (status == CF_OK && request->options->names)
        status = cf__fail(CF_EINVAL, "%s: options.names belongs to cf_program_compile(); inputs have their own names",
                          request->function);
    if (status == CF_OK && count == 0)
        status = cf__fail(CF_EINVAL, "%s: there are no inputs", request->function);
    for (size_t i = 0; i < count && status == CF_OK; i++)
        status = check_input(request->function, &inputs[i], i);
    return status;
}

int cf__link_inputs(const struct cf__request *request, const cf_program_input *inputs, size_t count,
                    struct cf__compiled *compiled)
{
    struct cf__request whole = *request;
    struct link link = {.request = &whole, .target.is_lto = request->options->is_lto};
    struct cf__compiled sources = {0};
    char compiler[CF__PATH] = "";
    *compiled = (struct cf__compiled){0};
    int status = check_inputs(request, inputs, count);
    if (status == CF_OK)
        status = cf__find_part(request->function, "nvJitLink", request->driver / 1000, link.path);
    if (status != CF_OK)
        return status;
    struct cf__input *copies = calloc(count, sizeof *copies);
    if (!copies)
        return fail_memory(request->function);
    for (size_t i = 0; i < count && status == CF_OK; i++)
        status = prepare_input(request, link.path, compiler, &inputs[i], &copies[i], &sources);
    whole.name = "the link";
    whole.inputs = copies;
    whole.input_count = count;
    if (status == CF_OK)
        status = cf__cache_make(&whole, link.path, NULL, make_link, &link, compiled);
    join_parts(compiled, &sources);
    for (size_t i = 0; i < count; i++)
        free(copies[i].data);
    free(copies);
    return status;
}
