/* nvrtc.c - opens NVIDIA's run-time compiler, which is never linked. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cuferry.h>

#include "program/nvrtc.h"

#include "base/cachefile.h"
#include "base/error.h"
#include "base/linker.h"

static int fill_table(const char *function, const char *path, void *library, struct cf__nvrtc *nvrtc)
{
    const char *missing = NULL;
    int major = 0, minor = 0;
    *nvrtc = (struct cf__nvrtc){0};
#define LOAD(name, parameters)                                 \
    *(void **)&nvrtc->name = dlsym(library, "nvrtc" #name);    \
    if (!nvrtc->name && strcmp(#name, "SetFlowCallback") != 0) \
        missing = "nvrtc" #name;
    CF__NVRTC_FUNCS(LOAD)
#undef LOAD
    *(void **)&nvrtc->GetErrorString = dlsym(library, "nvrtcGetErrorString");
    if (missing || !nvrtc->GetErrorString)
        return cf__fail(CF_ENOTSUP, "%s: %s lacks %s", function, path, missing ? missing : "nvrtcGetErrorString");
    int result = nvrtc->Version(&major, &minor);
    nvrtc->version = 1000 * major + 10 * minor;
    if (result != CF__NVRTC_SUCCESS || major < 12 || major > 13)
        return cf__fail(CF_ENOTSUP, "%s: %s is of CUDA %d.%d; Cuferry uses CUDA 12 and 13", function, path, major,
                        minor);
    return CF_OK;
}

int cf__nvrtc_open(const char *function, const char *path, struct cf__nvrtc *nvrtc)
{
    if (cf__linker_is_cut_off(path))
        return cf__fail(CF_ENOTSUP, "%s: NVRTC cannot be opened: %s is cut off; install the toolkit again", function,
                        path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *why = dlerror();
        return cf__fail(CF_ENOTSUP, "%s: NVRTC cannot be opened: %s", function, why ? why : path);
    }
    int status = fill_table(function, path, library, nvrtc);
    dlclose(library);
    return status;
}

/* Toolkits have the headers beside the libraries, the wheels of CUDA 12 in a package of their own. */
void cf__nvrtc_headers(const char *path, char folder[CF__PATH])
{
    static const char *const below[] = {"../include", "../../cuda_runtime/include"};
    const char *slash = strrchr(path, '/');
    char header[CF__PATH + 32];
    for (size_t i = 0; slash && i < sizeof below / sizeof *below; i++) {
        int used = snprintf(folder, CF__PATH, "%.*s/%s", (int)(slash - path), path, below[i]);
        snprintf(header, sizeof header, "%s/cuda_fp16.h", folder);
        if (used < CF__PATH && access(header, R_OK) == 0)
            return;
    }
    *folder = 0;
}
