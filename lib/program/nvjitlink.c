/* nvjitlink.c - opens NVIDIA's run-time linker, nvJitLink. */
#include <stddef.h>

#include <cuferry.h>

#include "program/nvjitlink.h"

#include "program/library.h"

static const struct cf__library_function functions[] = {
#define ENTRY(name, parameters) {"nvJitLink" #name, offsetof(struct cf__nvjitlink, name)},
    CF__NVJITLINK_FUNCS(ENTRY)
#undef ENTRY
};

int cf__nvjitlink_open(const char *function, const char *path, struct cf__nvjitlink *nvjitlink)
{
    unsigned int major = 12, minor = 0;
    int status = cf__library_open(function, "nvJitLink", path, functions, sizeof functions / sizeof *functions,
                                  "nvJitLinkVersion", nvjitlink);
    if (status != CF_OK)
        return status;
    if (nvjitlink->Version)
        (void)nvjitlink->Version(&major, &minor);
    nvjitlink->major = (int)major;
    nvjitlink->minor = (int)minor;
    return cf__library_check_major(function, path, nvjitlink->major, nvjitlink->minor);
}
