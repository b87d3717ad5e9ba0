/* cfcc.c - compiles annotated sources to programs: runs cfcc, and loads the shared object that it writes.
 *
 * The shared object has descriptors that use this runtime. It has no runtime of its own, whose fork handlers might run
 * while it is being closed. All files are in a folder that is removed as soon as the object is loaded. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/program.h>
#include <cuferry/registry.h>

#include "program/cfcc.h"

#include "base/child.h"
#include "base/env.h"
#include "base/error.h"
#include "base/files.h"
#include "base/linker.h"
#include "base/text.h"
#include "base/trust.h"
#include "base/write.h"
#include "program/cache.h"
#include "program/compile.h"
#include "program/headers.h"
#include "program/program.h"

/* Paths within the temporary folder of a compilation. */
#define SOURCES "sources/" /* the caller's source and headers, with arbitrary names */
#define SOURCE SOURCES "program.cu"
#define SHARED "program.so"
#define LOG "log"
#define INPUTS "inputs"

struct build {
    const struct cf__request *request;
    const char *cfcc;      /* path of cfcc */
    const char *setting;   /* option or variable that gave this path, for messages */
    char folder[CF__PATH]; /* path of the folder, ending with a slash */
    void *library;         /* handle from dlopen() */
    const cf_module *module;
};

static int fail_memory(const struct cf__request *request)
{
    return cf__fail(CF_ENOMEM, "%s: %s: there is no memory for the compilation", request->function, request->name);
}

/* ---- Annotations ---- */

/* Skips `word` and the blanks before it. Returns the end of the word, or `at` if another word follows. */
static const char *skip_word(const char *at, const char *word)
{
    const char *begin = at + strspn(at, " \t");
    size_t length = strlen(word);
    return strncmp(begin, word, length) == 0 && strchr(" \t\v\f\r\n/", begin[length]) ? begin + length : at;
}

/* Returns the directive that ends the group of `#if 0` at `at`, or `at` if there is no such group. */
static const char *skip_if_0(const char *at)
{
    const char *condition = *at == '#' ? skip_word(at + 1, "if") : at + 1, *next = skip_word(condition, "0");
    if (condition == at + 1 || next == condition || !strchr("\r\n/", next[strspn(next, " \t")]))
        return at;
    for (int depth = 1, is_begin = 0; *next;) {
        if (is_begin && *next == '#') {
            const char *word = next + 1 + strspn(next + 1, " \t");
            if (strncmp(word, "if", 2) == 0)
                depth++;
            else if (strncmp(word, "endif", 5) == 0 && --depth == 0)
                return next;
            else if (strncmp(word, "el", 2) == 0 && depth == 1)
                return next;
        }
        const char *end = cf__text_skip(next);
        is_begin = *next == '\n' || (is_begin && (end > next ? *next == '/' : strchr(" \t", *next) != NULL));
        next = end > next ? end : next + 1;
    }
    return next;
}

int cf__cfcc_takes(const char *source)
{
    static const char *const words[] = {"#", "pragma", "cf", "kernel"};
    enum { WORDS = sizeof words / sizeof *words };
    int found = 0; /* number of words found in this line so far; above WORDS if another word was found */
    for (const char *at = source; *at && found != WORDS;) {
        const char *next = found == 0 ? skip_if_0(at) : at;
        next = next > at ? next : cf__text_skip(at);
        if (next > at) {
            at = next;
        } else if (strchr(" \t\v\f\r\n\\", *at)) { /* a backslash continues the line */
            found = *at == '\n' && found && at[-1] != '\\' ? 0 : found;
            at++;
        } else {
            size_t length = strcspn(at, " \t\v\f\r\n\\#/\"'(");
            length = length ? length : 1;
            int is_next = found < WORDS && strlen(words[found]) == length && memcmp(at, words[found], length) == 0;
            found = is_next ? found + 1 : WORDS + 1;
            at += length;
        }
    }
    return found == WORDS;
}

/* ---- The folder ---- */

/* Creates a private folder, because the shared object in it is executed. */
static int make_folder(struct build *build)
{
    char real[PATH_MAX];
    const char *temporary = cf__env_file("TMPDIR");
    temporary = temporary && *temporary ? temporary : "/tmp";
    temporary = realpath(temporary, real) ? real : temporary; /* resolved because compilers name files by this path */
    int length = snprintf(build->folder, sizeof build->folder - 1, "%s/cuferry-XXXXXX", temporary);
    errno = ENAMETOOLONG;
    if (length + 64 >= (int)sizeof build->folder || !mkdtemp(build->folder))
        return cf__fail(CF_ENOTSUP, "%s: no folder can be made in %s: %s; TMPDIR names another one",
                        build->request->function, temporary, cf__strerror(errno));
    char why[CF__DETAIL];
    int folder = cf__trust_open_folder(build->folder, 0, why);
    if (folder < 0) {
        (void)rmdir(build->folder);
        return cf__fail(CF_ENOTSUP, "%s: %s of TMPDIR: %s", build->request->function, build->folder, why);
    }
    close(folder);
    strcpy(build->folder + length, "/");
    return CF_OK;
}

static int remove_item(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    (void)remove(path);
    return 0;
}

static void remove_folder(const struct build *build)
{
    enum { OPEN_FILES = 8 };
    (void)nftw(build->folder, remove_item, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
}

/* Writes a new file below a subfolder of the build's folder, beginning with the given first line. */
static int write_file(const struct build *build, const char *folder, const char *name, const char *line,
                      const char *bytes, size_t count)
{
    char path[2 * CF__PATH];
    size_t first = strlen(line);
    snprintf(path, sizeof path, "%s%s%s", build->folder, folder, name);
    for (char *slash = path + strlen(build->folder); (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = 0;
        (void)mkdir(path, 0700);
    }
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int is_written =
        file >= 0 && cf__write(file, line, first, 0) == 0 && cf__write(file, bytes, count, (off_t)first) == 0;
    int error = errno;
    if (file >= 0)
        close(file);
    if (is_written)
        return CF_OK;
    /* These errors mean that the caller has given two files the same name, or has given a file the name of a folder. */
    int is_callers = error == EEXIST || error == ENOTDIR || error == EISDIR || error == ENAMETOOLONG;
    return cf__fail(is_callers ? CF_EINVAL : CF_ENOTSUP, "%s: %s cannot be written: %s", build->request->function, path,
                    cf__strerror(error));
}

/* Returns 1 if a header's name stays within the folder. */
static int is_inside(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length >= CF__PATH || *name == '/' || name[length - 1] == '/')
        return 0;
    for (const char *part = name; *part; part += strcspn(part, "/"), part += *part == '/')
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || !part[2]))
            return 0;
    return 1;
}

static int write_header(const struct build *build, const cf_program_header *header)
{
    if (!is_inside(header->name))
        return cf__fail(CF_EINVAL, "%s: options.headers: %s is no name of a file in a folder", build->request->function,
                        *header->name ? header->name : "\"\"");
    return write_file(build, SOURCES, header->name, "", header->text, strlen(header->text));
}

static int write_sources(const struct build *build)
{
    const struct cf__request *request = build->request;
    char line[CF__PATH + 16];
    if (strpbrk(request->name, "\"\\\n\r") || strlen(request->name) >= CF__PATH)
        return cf__fail(CF_EINVAL, "%s: the name of the source is too long, or has a quote, a backslash or two lines",
                        request->function);
    snprintf(line, sizeof line, "#line 1 \"%s\"\n", request->name);
    int status = write_file(build, "", SOURCE, line, request->source, strlen(request->source));
    const cf_program_header *header = request->options->headers;
    for (; status == CF_OK && header && header->name; header++)
        status = write_header(build, header);
    return status;
}

/* ---- cfcc ---- */

/* Composes the arguments. The user's flags come last, so that they override the others. */
static int make_arguments(const struct build *build, struct cf__flags *flags)
{
    enum { OWN = 13 };
    const cf_program_options *options = build->request->options;
    const char *name = build->request->name, *slash = strrchr(name, '/');
    size_t bytes = strlen(build->cfcc) + 5 * strlen(build->folder) + strlen(name) + 160;
    size_t count = OWN + cf__flags_count(options->include_folders, &bytes) +
                   cf__flags_count(options->definitions, &bytes) + cf__flags_count(options->flags, &bytes);
    char text[CF__PATH + 16], folder[CF__PATH + 16];
    snprintf(folder, sizeof folder, "%s" SOURCES, build->folder);
    if (!cf__flags_begin(flags, count, bytes))
        return 0;
    cf__flags_add(flags, build->cfcc, "");
    cf__flags_add(flags, "--shared", "");
    cf__flags_add(flags, "--kernels", "");
    cf__flags_add(flags, "--private", "");
    cf__flags_add(flags, "-o", "");
    cf__flags_add(flags, build->folder, SHARED);
    cf__flags_add(flags, "--inputs", "");
    cf__flags_add(flags, build->folder, INPUTS);
    snprintf(text, sizeof text, "--targets=%d", build->request->capability);
    cf__flags_add(flags, build->request->capability ? text : "--cuda=no", "");
    cf__flags_add(flags, "-I", folder);
    snprintf(text, sizeof text, "-I%.*s", slash ? (int)(slash + 1 - name) : 0, name);
    cf__flags_add(flags, slash ? text : "-Xcxx=-iquote.", "");
    cf__flags_add_all(flags, "-I", options->include_folders);
    cf__flags_add_all(flags, "-D", options->definitions);
    cf__flags_add_all(flags, "", options->flags);
    cf__flags_add(flags, build->folder, SOURCE);
    flags->list[flags->count] = NULL;
    return 1;
}

/* Reads the output of cfcc, and removes the build's folder from the paths in it. Returns NULL if there is no memory. */
static char *read_log(const struct build *build, const char *path)
{
    const char *mark = build->folder + strlen(build->folder) - strlen("cuferry-XXXXXX/");
    size_t bytes;
    char *log = cf__file_load(path, &bytes), *at = log;
    while (at && (at = strstr(at, mark)) != NULL) {
        const char *after = at + strlen(mark);
        after += strncmp(after, SOURCES, strlen(SOURCES)) == 0 ? strlen(SOURCES) : 0;
        while (at > log && !strchr(" \n\"'", at[-1]))
            at--;
        memmove(at, after, strlen(after) + 1);
    }
    if (log && *log)
        return log;
    free(log);
    return NULL;
}

/* Returns 1 if the loader or cfcc's interpreter ran out of memory before cfcc began. CPython sometimes loses a
 * MemoryError, and then raises another error or reports that the source ends too early. */
static int is_short_of_memory(const char *log)
{
    static const char *const begins[] = {"MemoryError", "SystemError", "SyntaxError: unterminated",
                                         "OSError: [Errno 12]", "Fatal Python error"};
    const char *line = log ? log : "";
    for (; *line; line += strcspn(line, "\n"), line += *line == '\n')
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
            if (strncmp(line, begins[i], strlen(begins[i])) == 0)
                return 1;
    line = log ? strstr(log, ": error while loading shared libraries: ") : NULL;
    return line && strstr(line, ": failed to map segment");
}

/* Reports the failure of cfcc. Its exit statuses are documented in cfcc(1). */
static int fail_cfcc(const struct build *build, int status, const char *log)
{
    enum { WRONG_OPTION = 2, NO_MEMORY, NO_SPACE };
    const struct cf__request *request = build->request;
    int length, code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    const char *line = cf__log_error(log ? log : "it gave no reason", &length);
    if (WIFSIGNALED(status))
        return cf__fail(CF_ENOTSUP, "%s: %s: %s=%s was ended by signal %d, as the system does where memory is short",
                        request->function, request->name, build->setting, build->cfcc, WTERMSIG(status));
    if (code == NO_MEMORY || is_short_of_memory(log))
        return cf__fail(CF_ENOMEM, "%s: %s: cfcc has no memory: %.*s", request->function, request->name, length, line);
    if (code == NO_SPACE)
        return cf__fail(CF_ENOTSUP, "%s: %s: cfcc cannot write its files, and TMPDIR names another folder: %.*s",
                        request->function, request->name, length, line);
    if (!log)
        return cf__fail(CF_ECOMPILE, "%s: %s: %s=%s ended with exit status %d and gave no reason", request->function,
                        request->name, build->setting, build->cfcc, code);
    return cf__fail(code == WRONG_OPTION ? CF_EINVAL : CF_ECOMPILE, "%s: %.*s", request->function, length, line);
}

static int run_cfcc(const struct build *build, struct cf__compiled *compiled)
{
    const struct cf__request *request = build->request;
    struct cf__flags flags;
    char log[CF__PATH + 16];
    int status, limit = cf__compile_limit(request->options);
    if (!make_arguments(build, &flags))
        return fail_memory(request);
    snprintf(log, sizeof log, "%s" LOG, build->folder);
    int error = cf__child_run((char *const *)(uintptr_t)flags.list, build->folder, log, limit, &status);
    free(flags.list);
    if (error == ENOMEM)
        return fail_memory(request);
    compiled->log = read_log(build, log);
    if (error == ETIMEDOUT)
        return cf__fail(CF_ECOMPILE, "%s: %s: compiling took longer than %d ms", request->function, request->name,
                        limit);
    if (error)
        return cf__fail(CF_ENOTSUP, "%s: %s=%s cannot be run: %s", request->function, build->setting, build->cfcc,
                        cf__strerror(error));
    return status == 0 || status == -1 ? CF_OK : fail_cfcc(build, status, compiled->log);
}

/* ---- The shared object ---- */

static int has_gpu_code(const cf_module *module)
{
    for (size_t i = 0; i < module->count; i++) {
        const cf_kernel *kernel = module->kernels[i];
        if (kernel->image || (kernel->nvariants && kernel->variants[0]->image))
            return 1;
    }
    return 0;
}

/* Loads the file, and stores the library and the module. Returns NULL, or the reason why the file cannot be loaded. */
static const char *load_file(struct build *build, const char *path)
{
    cf_module_info_function *info = NULL;
    if (cf__linker_is_cut_off(path))
        return "it is cut off";
    build->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!build->library)
        return dlerror();
    *(void **)&info = dlsym(build->library, "cf_module_info");
    build->module = info ? info() : NULL;
    return build->module && build->module->version == CF_REGISTRY_VERSION && build->module->count
               ? NULL
               : "it has no kernels of this Cuferry's version";
}

static int open_shared(struct build *build)
{
    const struct cf__request *request = build->request;
    char path[CF__PATH + 16];
    int status = CF_OK;
    snprintf(path, sizeof path, "%s" SHARED, build->folder);
    const char *why = load_file(build, path);
    if (why)
        status = cf__fail(CF_EIMAGE, "%s: the output of %s=%s cannot be loaded: %s", request->function, build->setting,
                          build->cfcc, why);
    else if (request->capability && !has_gpu_code(build->module))
        status = cf__fail(CF_ENOCODE, "%s: %s: cfcc made no code for the GPU; install nvcc, or use CF_HOST",
                          request->function, request->name);
    if (status != CF_OK && build->library) {
        dlclose(build->library);
        build->library = NULL;
    }
    return status;
}

/* Reads the list of files that cfcc has read. Files in the build's folder are omitted: they come from the options,
 * which the cache's key covers. If there is no list, or no memory for it, the program is not cached. */
static void read_inputs(const struct build *build, struct cf__compiled *compiled)
{
    char path[CF__PATH + 16];
    size_t bytes = 0, used = 0;
    snprintf(path, sizeof path, "%s" INPUTS, build->folder);
    char *list = cf__file_load(path, &bytes);
    for (size_t at = 0, size; list && at < bytes; at += size) {
        size = strlen(list + at) + 1;
        if (list[at] && strncmp(list + at + 1, build->folder, strlen(build->folder)) == 0)
            continue;
        memmove(list + used, list + at, size);
        used += size;
    }
    compiled->inputs = list;
    compiled->inputs_bytes = used;
}

static int read_shared(const struct build *build, struct cf__compiled *compiled)
{
    char path[CF__PATH + 16];
    read_inputs(build, compiled);
    snprintf(path, sizeof path, "%s" SHARED, build->folder);
    compiled->image = cf__file_load(path, &compiled->bytes);
    if (compiled->image)
        return CF_OK;
    return errno == ENOMEM
               ? fail_memory(build->request)
               : cf__fail(CF_ENOTSUP, "%s: %s cannot be read: %s", build->request->function, path, cf__strerror(errno));
}

/* Builds the shared object and loads it. */
static int make_shared(void *data, struct cf__compiled *compiled)
{
    struct build *build = data;
    int status = make_folder(build);
    if (status != CF_OK)
        return status;
    status = write_sources(build);
    if (status == CF_OK)
        status = run_cfcc(build, compiled);
    if (status == CF_OK)
        status = open_shared(build);
    if (status == CF_OK)
        status = read_shared(build, compiled);
    remove_folder(build);
    return status;
}

/* Loads a shared object from the cache. */
static int load_copy(struct build *build, const struct cf__compiled *compiled)
{
    int status = make_folder(build);
    if (status != CF_OK)
        return status;
    status = write_file(build, "", SHARED, "", compiled->image, compiled->bytes);
    if (status == CF_OK)
        status = open_shared(build);
    remove_folder(build);
    return status;
}

/* ---- The program ---- */

/* Returns 1 if the text is a list of paths that depends on the current folder, because a path in it is relative or
 * empty. */
static int has_relative(const char *value)
{
    if (!value || !*value)
        return 0;
    while (value && *value == '/') {
        value = strchr(value, ':');
        value = value ? value + 1 : NULL;
    }
    return value != NULL;
}

/* Returns the parts of the cache's key that describe cfcc's tools: the content of cfcc.json, which names compilers and
 * flags, the environment variables, and the current folder if one of them depends on it. Returns NULL if there is no
 * memory. */
static char *read_tools(const char *cfcc)
{
    static const char *const places[] = {"", "../lib/cuferry/"};
    static const char *const variables[] = {"PATH",
                                            "CPATH",
                                            "C_INCLUDE_PATH",
                                            "CPLUS_INCLUDE_PATH",
                                            "COMPILER_PATH",
                                            "GCC_EXEC_PREFIX",
                                            "LIBRARY_PATH",
                                            "LD_LIBRARY_PATH",
                                            "LD_PRELOAD",
                                            "LD_RUN_PATH",
                                            "CCC_OVERRIDE_OPTIONS",
                                            "SOURCE_DATE_EPOCH",
                                            "NVCC_PREPEND_FLAGS",
                                            "NVCC_APPEND_FLAGS",
                                            "NVCC_CCBIN",
                                            "PYTHONPATH",
                                            "PYTHONHOME"};
    enum { VARIABLES = sizeof variables / sizeof *variables };
    char real[PATH_MAX], path[PATH_MAX + 32], *text = NULL;
    const char *slash = realpath(cfcc, real) ? strrchr(real, '/') : NULL;
    size_t bytes = 0, room = 1;
    int is_relative = 0;
    for (size_t i = 0; slash && !text && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%.*s/%scfcc.json", (int)(slash - real), real, places[i]);
        text = cf__file_load(path, &bytes);
    }
    for (int i = 0; i < VARIABLES; i++) {
        const char *value = cf__env_file(variables[i]);
        room += 1 + (value ? strlen(value) : 0);
        is_relative |= has_relative(value);
    }
    const char *here = is_relative && realpath(".", real) ? real : "";
    room += 1 + strlen(here);
    char *longer = realloc(text, bytes + room);
    if (!longer) {
        free(text);
        return NULL;
    }
    char *end = longer + bytes;
    for (int i = 0; i < VARIABLES; i++) {
        const char *value = cf__env_file(variables[i]);
        end += sprintf(end, "\n%s", value ? value : "");
    }
    sprintf(end, "\n%s", here);
    return longer;
}

static int has_empty(const char *const *texts)
{
    while (texts && *texts && **texts)
        texts++;
    return texts && *texts;
}

static int check_request(const struct build *build)
{
    const struct cf__request *request = build->request;
    const cf_program_options *options = request->options;
    const char *useless = options->names         ? "names"
                          : options->precompiled ? "precompiled"
                          : options->is_exact    ? "is_exact"
                                                 : NULL;
    int status = cf__options_check(request->function, options, 0);
    if (status == CF_OK && useless)
        status = cf__fail(CF_EINVAL, "%s: options.%s has no meaning for annotated kernels", request->function, useless);
    for (const char *const *flag = options->flags; status == CF_OK && flag && *flag; flag++)
        if (**flag != '-')
            status = cf__fail(CF_EINVAL, "%s: options.flags: '%s' is no option of cfcc", request->function, *flag);
    if (status == CF_OK && (has_empty(options->definitions) || has_empty(options->include_folders)))
        status = cf__fail(CF_EINVAL, "%s: options.%s: a text is empty", request->function,
                          has_empty(options->definitions) ? "definitions" : "include_folders");
    if (status != CF_OK)
        return status;
    if (!build->cfcc)
        return cf__fail(CF_ENOTSUP,
                        "%s: cfcc compiles annotated kernels, and neither options.cfcc nor CF_CFCC is set to its path",
                        request->function);
    if (!strchr(build->cfcc, '/'))
        return cf__fail(CF_ENOTSUP,
                        "%s: cfcc compiles annotated kernels, and %s=%s is no path with a slash, such as /usr/bin/cfcc",
                        request->function, build->setting, build->cfcc);
    return CF_OK;
}

int cf__cfcc_compile(const struct cf__request *request, cf_program **program)
{
    struct cf__request keyed = *request;
    struct build build = {.request = &keyed,
                          .cfcc = request->options->cfcc ? request->options->cfcc : cf__env_file("CF_CFCC"),
                          .setting = request->options->cfcc ? "options.cfcc" : "CF_CFCC"};
    struct cf__compiled parts = {0};
    int status = check_request(&build);
    char *tools = status == CF_OK ? read_tools(build.cfcc) : NULL;
    if (status == CF_OK && !tools)
        status = fail_memory(request);
    keyed.tools = tools;
    if (status == CF_OK)
        status = cf__cache_make(&keyed, build.cfcc, "", make_shared, &build, &parts);
    free(tools);
    if (status == CF_OK && !build.library)
        status = load_copy(&build, &parts);
    cf_program *made = status == CF_OK ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        status = status == CF_OK ? fail_memory(request) : status;
        if (build.library)
            dlclose(build.library);
        return cf__program_drop(&parts, status);
    }
    free(parts.image);
    free(parts.inputs);
    parts.image = parts.inputs = NULL;
    made->library = build.library;
    made->module = build.module;
    made->image.state = build.module->kernels[0]->state;
    cf__program_add(made, &parts);
    *program = made;
    return CF_OK;
}
