/* sanitize.c - runs cf-run again on kernels that were rebuilt for a check, and prints the findings. */
#include "watch/sanitize.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/program.h"
#include "watch/finding.h"
#include "watch/address.h"
#include "watch/watch_begin.h"

/* State and results of a run under a check. */
struct check {
    char folder[PATH_MAX], module[PATH_MAX + 16], findings[PATH_MAX + 16];
    char runtime[PATH_MAX]; /* AddressSanitizer's library; empty for other checks */
    char source[PATH_MAX];  /* location of the error according to its report */
    char caller[PATH_MAX];  /* for a location in a header: its caller in a kernel file, or "" */
    int has_address;        /* the report contains the wild address */
    unsigned long address;
    char *next;     /* NAME=VALUE, with which a further run continues after the error; NULL: there is none */
    int count;      /* number of printed findings */
    char **printed; /* printed findings that are kept */
    int kept;
};

/* ---- Rebuilding ---- */

/* Builds the kernels for the check. The user sees the compiler's messages. */
static int rebuild(struct check *check, const char *kind, const char *module, const char *family, const char *cxx,
                   struct message *message)
{
    char cfcc[PATH_MAX], *said = NULL;
    if (program_beside("cfcc", "--check", cfcc, message) != 0)
        return -1;
    char *real = module ? realpath(module, NULL) : NULL;
    if (module && !real)
        return message_set(message, "%s: %s", module, strerror(errno));
    const char *command[11] = {cfcc, "--private", "--check", kind, "-o", check->module};
    size_t used = 6;
    if (cxx) {
        command[used++] = "--cxx";
        command[used++] = cxx;
    }
    command[used++] = module ? "--again" : "--bundled";
    command[used] = module ? real : family;
    int status = program_run(command, PROGRAM_KEPT, &said);
    if (status == 0 && said)
        snprintf(check->runtime, sizeof check->runtime, "%.*s", (int)strcspn(said, "\n"), said);
    free(said);
    free(real);
    if (status == 0)
        return 0;
    message_set(message, "--check=%s: %s could not be built for it", kind, module ? module : "the bundled kernels");
    if (status == -1 || WIFSIGNALED(status))
        message_add(message, ": %s%s", cfcc, program_end_text(status));
    else if (WEXITSTATUS(status) != 1) /* at status 1, cfcc has printed the reason */
        message_add(message, ": %s ended with exit code %d", cfcc, WEXITSTATUS(status));
    return -1;
}

/* ---- Running ---- */

/* Adds a text to an environment variable, at its beginning if `is_first`, otherwise at its end. */
static int add_to(const char *name, const char *more, const char *separator, int is_first)
{
    const char *old = getenv(name);
    char *text = malloc((old ? strlen(old) : 0) + strlen(more) + 2);
    if (!text)
        return -1;
    if (!old || !*old)
        strcpy(text, more);
    else
        sprintf(text, "%s%s%s", is_first ? more : old, separator, is_first ? old : more);
    int status = setenv(name, text, 1);
    free(text);
    return status;
}

/* Makes a path of the runtime without blanks and colons, at which the loader splits LD_PRELOAD: a symbolic link. It has
 * the runtime's own file name, by which the runtime identifies itself. */
static int name_runtime(struct check *check, const char *kind, struct message *message)
{
    static const char separators[] = " :";
    const char *slash = strrchr(check->runtime, '/');
    char link[2 * PATH_MAX];
    if (!strpbrk(check->runtime, separators))
        return 0;
    snprintf(link, sizeof link, "%s%s", check->folder, slash ? slash : "/");
    if (strpbrk(link, separators) || strlen(link) >= sizeof check->runtime)
        return message_set(message,
                           "--check=%s: the loader takes no path with a blank or a colon, and there is one in %s "
                           "and in TMPDIR",
                           kind, check->runtime);
    if (symlink(check->runtime, link) != 0)
        return message_set(message, "--check=%s: %s: %s", kind, link, strerror(errno));
    strcpy(check->runtime, link);
    return 0;
}

/* Returns the program's status, or -1. Redzones have the largest size, so that accesses far outside an array are found,
 * too. */
static int run_again(struct check *check, const char *kind, char **argv, struct message *message)
{
    static const char options[] =
        "symbolize=0:detect_leaks=0:redzone=2048:max_redzone=2048:halt_on_error=1:exitcode=1:abort_on_error=0:"
        "handle_sigill=1:handle_sigfpe=1:print_legend=0:detect_stack_use_after_return=0:allocator_may_return_null=1";
    char told[PATH_MAX + 64];
    int findings = open(check->findings, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (findings < 0)
        return message_set(message, "%s: %s", check->findings, strerror(errno));
    if (name_runtime(check, kind, message) != 0) {
        (void)close(findings);
        return -1;
    }
    snprintf(told, sizeof told, "%s:%d:%s", kind, findings, check->module);
    int status = -1;
    if (setenv(WATCH_VARIABLE, told, 1) == 0 && setenv("CF_DRIVER", "host", 1) == 0 &&
        setenv("CF_THREADS", "1", 1) == 0 &&
        (!*check->runtime ||
         (add_to("ASAN_OPTIONS", options, ":", 0) == 0 && add_to("LD_PRELOAD", check->runtime, ":", 1) == 0))) {
        status = program_run((const char *const *)(uintptr_t)argv, PROGRAM_SHOWN, NULL);
    }
    (void)close(findings);
    return status;
}

/* ---- Source lines ---- */

static int is_ours(const char *file)
{
    return strstr(file, "cuferry/cpu/") || strstr(file, ".host.cpp") || *file == '?';
}

/* Returns 1 for a file in cuferry/shadow/, a replacement of a CUDA header. Its functions are inlined in kernels, like
 * those of our own headers. */
static int is_stand_in(const char *file)
{
    return strstr(file, "cuferry/shadow/") != NULL;
}

/* Returns a path relative to the current folder, if it is below that. */
static const char *shown(const char *file)
{
    char here[PATH_MAX];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (length > 1 && strncmp(file, here, length) == 0 && file[length] == '/')
        file += length + 1;
    return file[0] == '.' && file[1] == '/' ? file + 2 : file;
}

static int is_kernel_file(const char *place)
{
    const char *colon = strrchr(place, ':');
    return colon && colon - place > 3 && strncmp(colon - 3, ".cu", 3) == 0;
}

/* Writes a place such as "block.cu:12" for a byte of the module's code. It is in the innermost inlined function outside
 * our headers and, if possible, outside shadow headers. `function` gets this function's name. If it is in a header,
 * `caller` gets the place of its caller in a kernel file, otherwise "". */
static void find_line(const struct check *check, const char *offset, char *line, size_t size, char *function,
                      size_t function_size, char caller[PATH_MAX])
{
    const char *const command[] = {"addr2line", "-i", "-f", "-C", "-e", check->module, offset, NULL};
    int is_found = 0, is_best = 0; /* is_best: found outside the shadow headers */
    snprintf(line, size, "module.so+%s", offset);
    snprintf(function, function_size, "?");
    *caller = 0;
    char *text = program_output(command);
    for (char *at = text, *end; at && *at && (end = strchr(at, '\n')) != NULL;) {
        char *file = end + 1, *file_end = strchr(file, '\n');
        if (!file_end)
            break;
        *end = *file_end = 0;
        char *more = strstr(file, " (discriminator ");
        if (more)
            *more = 0;
        if (!is_ours(file) && (!is_found || (!is_best && !is_stand_in(file)))) {
            is_best = !is_stand_in(file);
            snprintf(line, size, "%s", shown(file));
            snprintf(function, function_size, "%.*s", (int)strcspn(at, "("), at);
            is_found = 1;
        }
        if (is_found && is_kernel_file(file)) {
            if (!is_kernel_file(line))
                snprintf(caller, PATH_MAX, "%s", shown(file));
            break;
        }
        at = file_end + 1;
    }
    free(text);
}

/* Writes a text such as "byte 4 of table" for a byte of the module's data. */
static void find_data(const struct check *check, const char *offset, char *what, size_t size)
{
    const char *const command[] = {"nm", "-CS", check->module, NULL};
    unsigned long wanted = strtoul(offset, NULL, 16), best = 0;
    snprintf(what, size, "a variable");
    char *text = program_output(command);
    for (char *at = text, *end; at && *at; at = end + (*end == '\n')) {
        unsigned long begin, bytes;
        char type;
        int used = 0;
        end = at + strcspn(at, "\n");
        if (sscanf(at, "%lx %lx %c %n", &begin, &bytes, &type, &used) < 3 || !used || !strchr("bBdDuV", type) ||
            begin > wanted || begin < best)
            continue;
        best = begin;
        snprintf(what, size, "byte %lu of %.*s%s", wanted - begin, (int)(end - at) - used, at + used,
                 wanted - begin < bytes ? "" : ", which is past its end");
    }
    free(text);
}

/* Writes the name of the __shared__ variable whose key is at a byte of the module. */
static void find_name(const struct check *check, const char *offset, char *name, size_t size)
{
    const char *const command[] = {"nm", "-C", check->module, NULL};
    unsigned long wanted = strtoul(offset, NULL, 16);
    snprintf(name, size, "variable");
    char *text = program_output(command);
    for (char *at = text; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char *end = at + strcspn(at, "\n"), *key = strstr(at, "cf__K_");
        if (key && key < end && strtoul(at, NULL, 16) == wanted) {
            size_t length = strspn(key + 6, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
            snprintf(name, size, "%.*s", (int)length, key + 6);
            break;
        }
    }
    free(text);
}

/* Prints the wild address, or the signal, that ended the run. */
static void print_wild(const struct check *check, FILE *out)
{
    if (!check->has_address)
        fputs("a wild access, or an instruction that cannot be run", out);
    else if (check->address < 4096)
        fprintf(out, "an access of address 0x%lx, through a null pointer", check->address);
    else
        fprintf(out, "a wild access, of address 0x%lx", check->address);
}

/* Prints a finding with {pc:N}, {key:N}, {data:N}, {asan} and {wild} replaced by names. */
static void write_finding(const struct check *check, const char *text, FILE *out)
{
    char offset[32], name[PATH_MAX], function[256], caller[PATH_MAX], called[PATH_MAX] = "";
    text = shown(text);
    for (const char *at = text; *at;) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        const char *colon = end ? memchr(at, ':', (size_t)(end - at)) : NULL;
        if (end && strncmp(at, "{wild}", 6) == 0) {
            print_wild(check, out);
            at = end + 1;
            continue;
        }
        if (!end || (!colon && strncmp(at, "{asan}", 6) != 0)) {
            fputc(*at++, out);
            continue;
        }
        if (colon)
            snprintf(offset, sizeof offset, "0x%.*s", (int)(end - colon - 1), colon + 1);
        *caller = 0;
        if (!colon) {
            snprintf(name, sizeof name, "%s", *check->source ? check->source : "the kernel");
            snprintf(caller, sizeof caller, "%s", check->caller);
        } else if (strncmp(at, "{pc:", 4) == 0)
            find_line(check, offset, name, sizeof name, function, sizeof function, caller);
        else if (strncmp(at, "{data:", 6) == 0)
            find_data(check, offset, name, sizeof name);
        else
            find_name(check, offset, name, sizeof name);
        fputs(name, out);
        if (at == text)
            snprintf(called, sizeof called, "%s", caller);
        at = end + 1;
    }
    fprintf(out, "%s%s\n", *called ? "; called at " : "", called);
}

/* Returns 1 if a line was printed before. Compilers split one access into several, whose findings are the same line. */
static int is_printed(const struct check *check, const char *line)
{
    for (int i = 0; i < check->kept; i++)
        if (strcmp(check->printed[i], line) == 0)
            return 1;
    return 0;
}

/* Keeps a finding's line, and frees it later. */
static void keep(struct check *check, char *line)
{
    char **larger = realloc(check->printed, ((size_t)check->kept + 1) * sizeof *larger);
    if (!larger) {
        free(line);
        return;
    }
    check->printed = larger;
    check->printed[check->kept++] = line;
}

static void print_finding(struct check *check, const char *text)
{
    char *line = NULL;
    size_t size;
    FILE *out = open_memstream(&line, &size);
    write_finding(check, text, out ? out : stderr);
    if (out && fclose(out) != 0) {
        free(line);
        line = NULL;
        write_finding(check, text, stderr);
    }
    if (line && is_printed(check, line)) {
        free(line);
        return;
    }
    check->count++;
    if (line) {
        fputs(line, stderr);
        keep(check, line);
    }
}

/* ---- AddressSanitizer's report ---- */

/* Reads a stack frame in the module: "    #3 0x7f12 (/tmp/x/module.so+0x1234)". */
static const char *offset_in(const struct check *check, const char *line, char *offset, size_t size)
{
    const char *frame = strstr(line, check->module), *hash = line + strspn(line, " ");
    if (*hash != '#' || !frame || frame[strlen(check->module)] != '+')
        return NULL;
    frame += strlen(check->module) + 1;
    snprintf(offset, size, "%.*s", (int)strcspn(frame, ") "), frame);
    return hash;
}

#define WILD "on unknown address 0x"

/* Prints those parts of a report that concern the kernel, with source lines. */
static void read_report(struct check *check, FILE *file, FILE *out)
{
    char line[4096], offset[64], place[PATH_MAX], function[256], caller[PATH_MAX];
    while (fgets(line, sizeof line, file) && strncmp(line, "Shadow bytes", 12) != 0) {
        const char *frame = offset_in(check, line, offset, sizeof offset), *wild = strstr(line, WILD);
        if (wild) {
            check->has_address = 1;
            check->address = strtoul(wild + strlen(WILD), NULL, 16);
        }
        if (!frame) {
            if (line[strspn(line, " ")] != '#' && strncmp(line, "SUMMARY", 7) != 0 &&
                strspn(line, "=\n") != strlen(line))
                fputs(line, out);
            continue;
        }
        find_line(check, offset, place, sizeof place, function, sizeof function, caller);
        if (strncmp(place, "module.so", 9) == 0)
            continue;
        if (!*check->source)
            snprintf(check->source, sizeof check->source, "%s", place);
        else if (!is_kernel_file(check->source) && !*check->caller && is_kernel_file(place))
            snprintf(check->caller, sizeof check->caller, "%s", place);
        if (!*check->caller)
            snprintf(check->caller, sizeof check->caller, "%s", caller);
        fprintf(out, "    %.*s in %s %s\n", (int)strcspn(frame, " "), frame, function, place);
    }
}

/* Returns the report's text, which the caller frees; NULL without a report. */
static char *take_report(struct check *check)
{
    char *text = NULL;
    size_t size;
    FILE *out = NULL;
    DIR *folder = opendir(check->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[2 * PATH_MAX];
        if (strncmp(entry->d_name, ADDRESS_REPORT ".", sizeof ADDRESS_REPORT) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", check->folder, entry->d_name);
        FILE *file = fopen(path, "re");
        if (file && (out || (out = open_memstream(&text, &size)) != NULL))
            read_report(check, file, out);
        if (file)
            fclose(file);
    }
    if (folder)
        (void)closedir(folder);
    if (out)
        fclose(out);
    return text;
}

static void print_findings(struct check *check)
{
    char line[2 * MESSAGE_SIZE];
    char *report = take_report(check);
    FILE *file = fopen(check->findings, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, FINDING_NEXT, sizeof FINDING_NEXT - 1) == 0) {
            free(check->next);
            check->next = strdup(line + sizeof FINDING_NEXT - 1);
        } else {
            print_finding(check, line);
        }
    }
    if (file)
        fclose(file);
    if (report) {
        fputs(report, stderr);
        if (!check->count)
            print_finding(check, "{asan}: AddressSanitizer found an error");
    }
    free(report);
}

/* Prepares a further run, of the kernels after the one that ended the last run. Returns 0 if there are none. */
static int go_on(struct check *check)
{
    char *equal = check->next ? strchr(check->next, '=') : NULL;
    DIR *folder = equal ? opendir(check->folder) : NULL;
    if (!folder)
        return 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strncmp(entry->d_name, ADDRESS_REPORT ".", sizeof ADDRESS_REPORT) == 0)
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    (void)closedir(folder);
    *equal = 0;
    const int is_set = setenv(check->next, equal + 1, 1) == 0 && truncate(check->findings, 0) == 0;
    free(check->next);
    check->next = NULL;
    *check->source = *check->caller = 0;
    check->has_address = 0;
    return is_set;
}

/* Reports the end of a run that had no findings. Returns 0 if there is nothing to report. */
static int judge(const char *kind, const char *program, int ended, struct message *message)
{
    if (ended == -1)
        return *message->text ? -1 : message_set(message, "--check=%s: %s cannot be run", kind, program);
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
        return 0;
    if (WIFEXITED(ended))
        return message_set(message, "--check=%s found nothing, but the run itself failed, with exit code %d", kind,
                           WEXITSTATUS(ended));
    int number = WTERMSIG(ended), is_fault = number == SIGSEGV || number == SIGBUS || number == SIGFPE;
    return message_set(message, "--check=%s: the run was ended by signal %d (%s)%s", kind, number, strsignal(number),
                       number == SIGKILL                          ? ", as where memory runs out"
                       : is_fault && strcmp(kind, "address") != 0 ? "; --check=address may tell where"
                                                                  : "");
}

int sanitize_run(const char *kind, const char *module, const char *family, const char *cxx, char **argv,
                 struct message *message)
{
    struct check check = {.count = 0};
    struct sigaction old[PROGRAM_SIGNALS];
    char program[PATH_MAX], what[32];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return message_set(message, "--check: /proc/self/exe: %s", strerror(errno));
    program[length] = 0;
    argv[0] = program;
    program_catch_signals(old);
    int status = program_make_folder("--check", check.folder, message);
    snprintf(check.module, sizeof check.module, "%s/module.so", check.folder);
    snprintf(check.findings, sizeof check.findings, "%s/findings", check.folder);
    if (status == 0)
        status = rebuild(&check, kind, module, family, cxx, message);
    if (status == 0) {
        fflush(stdout);
        int ended;
        do {
            ended = run_again(&check, kind, argv, message);
            print_findings(&check);
        } while (ended != -1 && !WIFSIGNALED(ended) && go_on(&check));
        if (check.count)
            status =
                message_set(message, "--check=%s found %d error%s%s%s", kind, check.count, check.count > 1 ? "s" : "",
                            WIFSIGNALED(ended) ? "; the run" : "", program_end_text(ended));
        else if ((status = judge(kind, program, ended, message)) == 0)
            printf("check: %s: nothing found\n", kind);
    }
    for (int i = 0; i < check.kept; i++)
        free(check.printed[i]);
    free(check.printed);
    free(check.next);
    if (*check.folder)
        file_remove_folder(check.folder);
    snprintf(what, sizeof what, "--check=%s", kind);
    program_release_signals(old, what);
    return status;
}
