/* nvrtc.c - opens NVIDIA's run-time compiler, NVRTC. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cuferry.h>

#include "program/nvrtc.h"

#include "base/files.h"
#include "find/find.h"
#include "program/library.h"

static const struct cf__library_function functions[] = {
#define ENTRY(name, parameters) {"nvrtc" #name, offsetof(struct cf__nvrtc, name)},
    CF__NVRTC_FUNCS(ENTRY)
#undef ENTRY
        {"nvrtcGetErrorString", offsetof(struct cf__nvrtc, GetErrorString)},
};

int cf__nvrtc_open(const char *function, const char *path, struct cf__nvrtc *nvrtc)
{
    int major = 0, minor = 0,
        status = cf__library_open(function, "NVRTC", path, functions, sizeof functions / sizeof *functions,
                                  "nvrtcSetFlowCallback", nvrtc);
    if (status != CF_OK)
        return status;
    (void)nvrtc->Version(&major, &minor);
    nvrtc->version = 1000 * major + 10 * minor;
    return cf__library_check_major(function, path, major, minor);
}

/* In toolkits, the headers are beside the libraries. The wheels of CUDA 12 have them in a separate package, Conda's
 * packages in a folder named after the processor, and distributions in /usr/include, two levels up. */
void cf__nvrtc_headers(const char *path, char folder[CF__PATH])
{
    static const char *const below[] = {"../include", "../../cuda_runtime/include", "../" CF__TARGET_FOLDER "/include",
                                        "../../include"};
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
