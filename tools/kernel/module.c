/* module.c - opens the kernels of a kernel file, or of a shared object or object made by cfcc. */
#include "kernel/module.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/runtime.h"

#if defined __x86_64__
#define MACHINE EM_X86_64
#elif defined __aarch64__
#define MACHINE EM_AARCH64
#else
#error "module.c does not know this machine's objects"
#endif

/* ---- Files ---- */

/* 1 if the file contains all segments of its header: reading a missing segment would end the process. */
static int is_whole(int fd, const Elf64_Ehdr *header, uint64_t size)
{
    uint64_t sections = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
    if (header->e_shoff > size || sections > size)
        return 0;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        if (header->e_phoff > size || header->e_phentsize != sizeof segment ||
            pread(fd, &segment, sizeof segment, (off_t)(header->e_phoff + i * sizeof segment)) !=
                (ssize_t)sizeof segment ||
            segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
            return 0;
    }
    return 1;
}

/* Distinguishes shared objects (ET_DYN) and objects (ET_REL) for this machine; -1 for anything else. */
static int examine(int fd, const char *path, struct message *message)
{
    Elf64_Ehdr header;
    struct stat info;
    if (fstat(fd, &info) != 0)
        return message_set(message, "%s: %s", path, strerror(errno));
    ssize_t size = pread(fd, &header, sizeof header, 0);
    if (size < EI_NIDENT || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return message_set(message, "%s: it is neither an object nor a shared object", path);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        size < (ssize_t)sizeof header || header.e_machine != MACHINE)
        return message_set(message, "%s: it is for another kind of machine", path);
    if (header.e_type != ET_REL && header.e_type != ET_DYN)
        return message_set(message, "%s: it is a program or a core file, not an object or a shared object", path);
    if (!is_whole(fd, &header, (uint64_t)info.st_size))
        return message_set(message, "%s: it is truncated", path);
    return header.e_type;
}

static int kind_of(const char *path, struct message *message)
{
    int fd = file_open(path, message);
    if (fd < 0)
        return -1;
    int kind = examine(fd, path, message);
    (void)close(fd);
    return kind;
}

/* ---- Shared objects ---- */

static int is_of_version(const char *path, const char *what, uint32_t version, struct message *message)
{
    if (version == CF_REGISTRY_VERSION)
        return 1;
    message_set(message,
                "%s: %s is of another Cuferry, whose descriptors have version %" PRIu32
                " and not %d; build the kernels again",
                path, what, version, CF_REGISTRY_VERSION);
    return 0;
}

static int check_versions(const char *path, const cf_module *module, struct message *message)
{
    if (!is_of_version(path, "it", module->version, message))
        return -1;
    for (size_t i = 0; i < module->count; i++) {
        const cf_kernel *kernel = module->kernels[i];
        if (!is_of_version(path, "one of its kernels", kernel->version, message))
            return -1;
    }
    for (size_t i = 0; i < module->nsymbols; i++) {
        const cf_symbol *symbol = module->symbols[i];
        if (!is_of_version(path, "one of its constants", symbol->version, message))
            return -1;
    }
    return 0;
}

/* `path` appears in messages. The object is never closed: threads of the library may run its code. */
static const cf_module *open_shared(const char *file, const char *path, struct message *message)
{
    cf_module_info_function *info = NULL;
    char *real = realpath(file, NULL); /* dlopen() would search for a name without a slash */
    void *handle = real ? dlopen(real, RTLD_NOW | RTLD_LOCAL) : NULL;
    free(real);
    if (!handle) {
        const char *why = dlerror();
        message_set(message, "%s: it cannot be loaded: %s", path, why ? why : strerror(errno));
        return NULL;
    }
    *(void **)&info = dlsym(handle, "cf_module_info");
    const cf_module *module = info ? info() : NULL;
    if (!module)
        message_set(message, "%s: cfcc did not make it: it has no function cf_module_info()", path);
    if (!module || check_versions(path, module, message) != 0)
        return NULL;
    size_t k = 0;
    while (k < module->count && !cf_kernel_is_operation(module->kernels[k]))
        k++;
    return k == module->count || runtime_use(handle, path, message) == 0 ? module : NULL;
}

/* ---- Signals: a signal that ends this process ends cfcc first, which leaves no folder behind ---- */

static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
#define SIGNALS (sizeof signals / sizeof *signals)

static volatile pid_t child;
static volatile sig_atomic_t caught;

static void pass_on(int number)
{
    caught = number;
    if (child > 0)
        (void)kill(child, number);
}

struct handlers {
    sigset_t mask;
    struct sigaction actions[SIGNALS];
};

static void block(sigset_t *old)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaddset(&set, signals[i]);
    (void)sigprocmask(SIG_BLOCK, &set, old);
}

/* Catches the signals that are not ignored; they stay blocked until the mask is restored. */
static void catch_signals(struct handlers *old)
{
    struct sigaction action = {.sa_handler = pass_on};
    sigemptyset(&action.sa_mask);
    block(&old->mask);
    for (size_t i = 0; i < SIGNALS; i++) {
        (void)sigaction(signals[i], NULL, &old->actions[i]);
        if (old->actions[i].sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
    }
}

/* Lets a caught signal take effect. */
static void release_signals(const struct handlers *old)
{
    for (size_t i = 0; i < SIGNALS; i++)
        (void)sigaction(signals[i], &old->actions[i], NULL);
    if (caught)
        (void)raise(caught);
    (void)sigprocmask(SIG_SETMASK, &old->mask, NULL);
}

/* ---- Objects ---- */

/* Reads the output of cfcc to its end, and keeps the first line, for a linker also the line that it introduces. */
static void read_line(int fd, char *line, size_t size)
{
    char buffer[512];
    size_t used = 0;
    int is_whole = 0;
    for (;;) {
        ssize_t got = read(fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        for (ssize_t i = 0; i < got && !is_whole; i++) {
            int is_end = buffer[i] == '\n' && !(used && line[used - 1] == ':');
            is_whole = is_end || used == size - 1;
            if (!is_whole)
                line[used++] = buffer[i] == '\n' ? ' ' : buffer[i];
        }
    }
    line[used] = 0;
}

/* In the child process: runs cfcc with its output in a pipe. Messages about a kernel file go to the user. */
static void run_cfcc(char *const *command, int output, int is_source, const sigset_t *mask)
{
    (void)dup2(output, STDOUT_FILENO);
    if (!is_source)
        (void)dup2(output, STDERR_FILENO);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    execv(command[0], command);
    dprintf(STDERR_FILENO, "%s: %s\n", command[0], strerror(errno));
    _exit(127);
}

/* Runs cfcc to make a shared object of an object or a kernel file, with signals caught and blocked. */
static int make_shared(const char *cfcc, const char *object, const char *target, const sigset_t *mask,
                       struct message *message)
{
    const int is_source = module_is_source(object);
    /* A path that begins with a dash would be an option. */
    char said[1024] = "", *path = realpath(object, NULL);
    char *const command[] = {(char *)(uintptr_t)cfcc,
                             (char *)(uintptr_t) "--shared",
                             (char *)(uintptr_t) "--private",
                             (char *)(uintptr_t) "-o",
                             (char *)(uintptr_t)target,
                             path,
                             NULL};
    int ends[2], status = 0;
    if (!path || pipe2(ends, O_CLOEXEC) != 0) {
        free(path);
        return message_set(message, "%s: %s", object, strerror(errno));
    }
    (void)fflush(stdout); /* this text comes before cfcc's */
    child = fork();
    if (child == 0)
        run_cfcc(command, ends[1], is_source, mask);
    (void)close(ends[1]);
    free(path);
    if (child < 0) {
        (void)close(ends[0]);
        return message_set(message, "%s: cfcc cannot be run: %s", object, strerror(errno));
    }
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    read_line(ends[0], said, sizeof said);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    block(NULL);
    child = 0;
    (void)close(ends[0]);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    const char *why = *said ? said : is_source && WIFEXITED(status) ? "cfcc has told the reason" : "cfcc was ended";
    return message_set(message, "%s: no shared object can be made of it: %s", object, why);
}

/* The cfcc beside this program. */
static int find_cfcc(const char *object, char path[PATH_MAX], struct message *message)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    char *slash = strrchr(path, '/');
    if (!slash || slash - path > PATH_MAX - 8)
        return message_set(message, "%s: /proc/self/exe does not tell where cfcc is", object);
    strcpy(slash + 1, "cfcc");
    if (access(path, X_OK) == 0)
        return 0;
    return message_set(message, "%s: it needs the cfcc beside cf-run, and %s cannot be run: %s", object, path,
                       strerror(errno));
}

static const cf_module *open_object(const char *path, struct message *message)
{
    const char *temporary = getenv("TMPDIR");
    char cfcc[PATH_MAX], folder[PATH_MAX], shared[PATH_MAX + 16];
    struct handlers old;
    const cf_module *module = NULL;
    temporary = temporary && *temporary ? temporary : "/tmp";
    if (find_cfcc(path, cfcc, message) != 0)
        return NULL;
    catch_signals(&old);
    int length = snprintf(folder, sizeof folder, "%s/cf-run-XXXXXX", temporary);
    if (length < (int)sizeof folder && mkdtemp(folder)) {
        /* Resolves links, which could point elsewhere later. */
        char *real = realpath(folder, NULL);
        if (real)
            snprintf(folder, sizeof folder, "%s", real);
        free(real);
        snprintf(shared, sizeof shared, "%s/module.so", folder);
        if (make_shared(cfcc, path, shared, &old.mask, message) == 0 && !caught)
            module = open_shared(shared, path, message);
        file_remove_folder(folder);
    } else {
        message_set(message, "%s: no folder can be made in %s: %s", path, temporary, strerror(errno));
    }
    release_signals(&old);
    return module;
}

int module_is_source(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".cu") == 0 || strcmp(dot, ".cuh") == 0);
}

const cf_module *module_open(const char *path, struct message *message)
{
    int kind = module_is_source(path) ? ET_REL : kind_of(path, message);
    if (kind < 0)
        return NULL;
    return kind == ET_DYN ? open_shared(path, path, message) : open_object(path, message);
}
