/* nvrtc.h - NVIDIA's run-time compiler as a table of functions, opened at run time. */
#ifndef CF__NVRTC_H
#define CF__NVRTC_H

#include <stddef.h>

#include "base/bounds.h"

typedef struct _nvrtcProgram *cf__nvrtc_program;

enum cf__nvrtc_result {
    CF__NVRTC_SUCCESS = 0,
    CF__NVRTC_OUT_OF_MEMORY = 1,
    CF__NVRTC_INVALID_INPUT = 3,
    CF__NVRTC_INVALID_OPTION = 5,
    CF__NVRTC_COMPILATION = 6,
    CF__NVRTC_CANCELLED = 16
};

/* Each entry has a name without "nvrtc" and the parameters. CUDA 12.0 has all functions except SetFlowCallback, which
 * may be NULL. */
#define CF__NVRTC_FUNCS(X)                                                                                 \
    X(Version, (int *major, int *minor))                                                                   \
    X(GetNumSupportedArchs, (int *count))                                                                  \
    X(GetSupportedArchs, (int *capabilities))                                                              \
    X(CreateProgram, (cf__nvrtc_program * program, const char *source, const char *name, int header_count, \
                      const char *const *headers, const char *const *header_names))                        \
    X(DestroyProgram, (cf__nvrtc_program * program))                                                       \
    X(CompileProgram, (cf__nvrtc_program program, int count, const char *const *options))                  \
    X(GetPTXSize, (cf__nvrtc_program program, size_t * bytes))                                             \
    X(GetPTX, (cf__nvrtc_program program, char *ptx))                                                      \
    X(GetCUBINSize, (cf__nvrtc_program program, size_t * bytes))                                           \
    X(GetCUBIN, (cf__nvrtc_program program, char *cubin))                                                  \
    X(GetLTOIRSize, (cf__nvrtc_program program, size_t * bytes))                                           \
    X(GetLTOIR, (cf__nvrtc_program program, char *lto))                                                    \
    X(GetProgramLogSize, (cf__nvrtc_program program, size_t * bytes))                                      \
    X(GetProgramLog, (cf__nvrtc_program program, char *log))                                               \
    X(AddNameExpression, (cf__nvrtc_program program, const char *name))                                    \
    X(GetLoweredName, (cf__nvrtc_program program, const char *name, const char **lowered))                 \
    X(SetFlowCallback, (cf__nvrtc_program program, int (*callback)(void *data, void *reserved), void *data))

struct cf__nvrtc {
#define CF__NVRTC_FIELD(name, parameters) int(*name) parameters;
    CF__NVRTC_FUNCS(CF__NVRTC_FIELD)
#undef CF__NVRTC_FIELD
    const char *(*GetErrorString)(int result);
    int version; /* CUDA version: 13000 is 13.0 */
};

/* Fills the table. The library stays open until the process ends. Returns a status, whose message names `function`. */
int cf__nvrtc_open(const char *function, const char *path, struct cf__nvrtc *nvrtc);

/* Writes the folder of the headers that belong to the library at `path`, or "" if there is none. */
void cf__nvrtc_headers(const char *path, char folder[CF__PATH]);

#endif
