/* cuferry/program_options.h - options of cf_program_compile(), and the cache of compiled programs. */
#ifndef CUFERRY_PROGRAM_OPTIONS_H
#define CUFERRY_PROGRAM_OPTIONS_H

#include <cuferry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A header that the source may include by this name, in place of a file. */
typedef struct cf_program_header {
    const char *name, *text;
} cf_program_header;

/* Options of cf_program_compile(). A zero-initialised struct has the defaults. Each list ends with NULL, the list of
 * headers with the name NULL; a list that is NULL is empty. The library reads the options during the call only. */
typedef struct cf_program_options {
    const char *const *include_folders; /* searched before the toolkit's */
    const char *const *definitions;     /* macros: "N=1024", "FAST" */
    const cf_program_header *headers;   /* headers from memory */
    const char *const *names;           /* name expressions of kernels and data: "scale<float>", "ns::step" */
    const char *const *flags;           /* further options of NVRTC: "--fmad=false" */
    const char *precompiled;            /* folder for precompiled headers (NVRTC 12.8); NULL: none are used */
    const char *cache;                  /* folder of the cache; NULL: of the environment variable CF_CACHE, or none */
    int is_exact;                       /* 1: code for this capability only, as sm_90a for 9.0 */
    int time_limit;                     /* milliseconds for a compilation; 0: five minutes */
    uint64_t reserved[8];               /* 0 */
} cf_program_options;

/* Compiles CUDA C++ with NVRTC for the calling thread's GPU and loads it. `source` is the text; `name` is its name in
 * messages, and its folder is searched for headers in quotes; NULL: "program.cu". `options` may be NULL. The program is
 * machine code of the GPU's capability, or PTX of the newest target that NVRTC knows if it does not know the GPU. NVRTC
 * is found as by cf_find(); it is of the driver's CUDA version or an older one, and keeps nothing by itself.
 *
 * cf_program_kernel() takes the name expressions of options.names as entries. After success cf_program_log() has the
 * warnings; after CF_ECOMPILE, cf_program_log(NULL) has the whole log, and the detail the first error.
 *
 * CF_ECOMPILE: the source does not compile, or not within the time limit. CF_EINVAL: an option is wrong, or the cache's
 * folder. CF_ENOCODE: NVRTC does not compile for the GPU. CF_ENOTSUP: there is no NVRTC, and the detail lists the paths
 * that were tried; or the calling thread's device is CF_HOST. */
struct cf_program;
CF_CHECKED int cf_program_compile(struct cf_program **program, const char *source, const char *name,
                                  const cf_program_options *options);

/* ---- The cache ------------------------------------------------------------------------------------------------- */

/* A folder that keeps compiled programs for later processes. It belongs to the user alone, and the library creates it
 * if it is missing. An entry counts as long as the source, its name, the options, the device's capability, the toolkit
 * and the headers are the same; headers of the toolkit count as the toolkit does. Processes that compile the same
 * program at the same time wait for the first one. A program is compiled anew each time if its headers cannot be told
 * by reading: after `#include MACRO`, __has_include, __DATE__ and the like, or flags that add headers.
 *
 * For each function below `folder` is the cache; NULL: of CF_CACHE. CF_EINVAL: there is no such folder, it belongs to
 * another user, or others can write to it. CF_ENOMEM: there is no memory for the list of its entries. Any thread or
 * process may call them at any time. */
typedef struct cf_cache_state {
    uint64_t bytes, entries; /* of compiled programs */
    uint64_t hits, misses;   /* since the cache was cleared */
    uint64_t cap;            /* bytes that it may hold */
} cf_cache_state;

/* Writes the state of the cache. */
CF_CHECKED int cf_cache_query(const char *folder, cf_cache_state *state);

/* Removes all entries, and sets hits and misses to 0. */
CF_CHECKED int cf_cache_clear(const char *folder);

/* Sets the bytes that the cache may hold, at first CF_CACHE_CAP. When it has more, the entries that were not used for
 * the longest time are removed, now and whenever one is added. */
#define CF_CACHE_CAP ((uint64_t)1 << 30)
CF_CHECKED int cf_cache_cap(const char *folder, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
