/* module.c - opens the kernels of a kernel file, or of a shared object or object made by cfcc. */
#include "kernel/module.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/program.h"
#include "base/runtime.h"

#if defined __x86_64__
#define MACHINE EM_X86_64
#elif defined __aarch64__
#define MACHINE EM_AARCH64
#else
#error "module.c does not know this machine's objects"
#endif

/* ---- Files ---- */

/* Returns 1 if the file contains all segments that its header lists. Reading a missing segment would end the
 * process. */
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

/* Returns ET_DYN for a shared object and ET_REL for an object, if it is for this machine; -1 for anything else. */
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

/* Opens the shared object `file`; `path` appears in messages. The object is never closed, because threads of the
 * library may still run its code. */
static const cf_module *open_shared(const char *file, const char *path, struct message *message)
{
    cf_module_info_function *info = NULL;
    char *real = realpath(file, NULL); /* absolute, because dlopen() searches for a name without a slash */
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

/* ---- Objects ---- */

/* Cuts the output of cfcc to its first line, or to two lines if a linker's message continues in the second. */
static const char *first_line(char *text)
{
    for (char *end = text; (end = strchr(end, '\n')) != NULL; *end = ' ')
        if (end == text || end[-1] != ':') {
            *end = 0;
            break;
        }
    return text;
}

/* Runs cfcc to make a shared object from an object or a kernel file. cfcc prints messages about a kernel file
 * itself. */
static int make_shared(const char *cfcc, const char *object, const char *target, struct message *message)
{
    const int is_source = module_is_source(object);
    char *said = NULL, *path = realpath(object, NULL); /* absolute: a path may begin with a dash */
    const char *const command[] = {cfcc, "--shared", "--private", "-o", target, path, NULL};
    if (!path)
        return message_set(message, "%s: %s", object, strerror(errno));
    int status = program_run(command, is_source ? PROGRAM_KEPT : PROGRAM_ALL_KEPT, &said);
    free(path);
    if (status == -1)
        message_set(message, "%s: cfcc cannot be run: %s", object, strerror(errno));
    else if (status != 0)
        message_set(message, "%s: no shared object can be made of it: %s", object,
                    said && *said                    ? first_line(said)
                    : is_source && WIFEXITED(status) ? "cfcc has told the reason"
                                                     : "cfcc was ended");
    free(said);
    return status == 0 ? 0 : -1;
}

static const cf_module *open_object(const char *path, struct message *message)
{
    char cfcc[PATH_MAX], folder[PATH_MAX], shared[PATH_MAX + 16];
    struct sigaction old[PROGRAM_SIGNALS];
    const cf_module *module = NULL;
    if (program_beside("cfcc", path, cfcc, message) != 0)
        return NULL;
    program_catch_signals(old); /* delayed, so that the folder is removed after a signal, too */
    if (program_make_folder(path, folder, message) == 0) {
        snprintf(shared, sizeof shared, "%s/module.so", folder);
        if (make_shared(cfcc, path, shared, message) == 0 && !program_signal())
            module = open_shared(shared, path, message);
        file_remove_folder(folder);
    }
    program_release_signals(old, NULL);
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
