/* nvjitlink.h - NVIDIA's run-time linker as a table of functions, opened at run time. */
#ifndef CF__NVJITLINK_H
#define CF__NVJITLINK_H

#include <stddef.h>
#include <stdint.h>

typedef struct nvJitLink *cf__nvjitlink_handle;

enum cf__nvjitlink_result {
    CF__NVJITLINK_SUCCESS = 0,
    CF__NVJITLINK_OPTION = 1,
    CF__NVJITLINK_INPUT = 3,
    CF__NVJITLINK_UNRECOGNIZED_INPUT = 8,
    CF__NVJITLINK_OPTIONS = 11,
    CF__NVJITLINK_INPUT_KIND = 12,
    CF__NVJITLINK_TARGET_MISMATCH = 13,
    CF__NVJITLINK_OUTDATED = 14,
    CF__NVJITLINK_TARGET = 16,
    CF__NVJITLINK_OLD_TARGET = 17
};

/* Each entry has a name without "nvJitLink" and the parameters. CUDA 12.0 has all functions except Version, which may
 * be NULL. */
#define CF__NVJITLINK_FUNCS(X)                                                                           \
    X(Version, (unsigned int *major, unsigned int *minor))                                               \
    X(Create, (cf__nvjitlink_handle * handle, uint32_t count, const char *const *options))               \
    X(Destroy, (cf__nvjitlink_handle * handle))                                                          \
    X(AddData, (cf__nvjitlink_handle handle, int kind, const void *data, size_t size, const char *name)) \
    X(Complete, (cf__nvjitlink_handle handle))                                                           \
    X(GetLinkedCubinSize, (cf__nvjitlink_handle handle, size_t * bytes))                                 \
    X(GetLinkedCubin, (cf__nvjitlink_handle handle, void *cubin))                                        \
    X(GetLinkedPtxSize, (cf__nvjitlink_handle handle, size_t * bytes))                                   \
    X(GetLinkedPtx, (cf__nvjitlink_handle handle, char *ptx))                                            \
    X(GetErrorLogSize, (cf__nvjitlink_handle handle, size_t * bytes))                                    \
    X(GetErrorLog, (cf__nvjitlink_handle handle, char *log))                                             \
    X(GetInfoLogSize, (cf__nvjitlink_handle handle, size_t * bytes))                                     \
    X(GetInfoLog, (cf__nvjitlink_handle handle, char *log))

struct cf__nvjitlink {
#define CF__NVJITLINK_FIELD(name, parameters) int(*name) parameters;
    CF__NVJITLINK_FUNCS(CF__NVJITLINK_FIELD)
#undef CF__NVJITLINK_FIELD
    int major, minor; /* CUDA version; 12.0 stands for all versions before 12.4 */
};

/* Fills the table. The library stays open until the process ends. Returns a status, whose message names `function`. */
int cf__nvjitlink_open(const char *function, const char *path, struct cf__nvjitlink *nvjitlink);

#endif
