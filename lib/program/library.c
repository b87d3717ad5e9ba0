/* library.c - opens a library of the CUDA toolkit at run time, and looks up a table of its functions. */
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

#include <cuferry.h>

#include "program/library.h"

#include "base/error.h"
#include "base/linker.h"

int cf__library_open(const char *function, const char *what, const char *path,
                     const struct cf__library_function *functions, size_t count, const char *optional, void *table)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) /* opening a pipe would wait for its writer */
        return cf__fail(CF_ENOTSUP, "%s: %s cannot be opened: %s is no regular file", function, what, path);
    if (cf__linker_is_cut_off(path))
        return cf__fail(CF_ENOTSUP, "%s: %s cannot be opened: %s is cut off; install the toolkit again", function, what,
                        path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *why = dlerror();
        return cf__fail(CF_ENOTSUP, "%s: %s cannot be opened: %s", function, what, why ? why : path);
    }
    int status = CF_OK;
    for (size_t i = 0; i < count && status == CF_OK; i++) {
        void *address = dlsym(library, functions[i].name);
        memcpy((char *)table + functions[i].offset, &address, sizeof address);
        if (!address && strcmp(functions[i].name, optional) != 0)
            status = cf__fail(CF_ENOTSUP, "%s: %s lacks %s", function, path, functions[i].name);
    }
    dlclose(library);
    return status;
}

int cf__library_check_major(const char *function, const char *path, int major, int minor)
{
    return major == 12 || major == 13 ? CF_OK
                                      : cf__fail(CF_ENOTSUP, "%s: %s is of CUDA %d.%d; Cuferry uses CUDA 12 and 13",
                                                 function, path, major, minor);
}
