/* scratch_args.h - supplies scratch arrays for a launch, and clears arrays. */
#ifndef CF__SCRATCH_ARGS_H
#define CF__SCRATCH_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "driver/driver.h"
#include "memory/scratch_cache.h"

struct cf__scope;

/* Scratch memory of one launch. */
struct cf__scratch_args {
    struct cf__scratch_array {
        CUdeviceptr memory;
        size_t bytes;
    } * arrays;                     /* an entry for each parameter, all zero unless the parameter is scratch */
    void **args;                    /* arguments of the launch, including scratch arrays */
    void *heap;                     /* memory of `arrays` and `args`; NULL: few_arrays and few_args are used */
    struct cf__scratch_lease lease; /* lease of a block for all arrays; without a block, each array has an allocation */
    int is_captured;
    int is_rezeroed;       /* 1 if the kernel leaves 0 in all scratch memory */
#define CF__SCRATCH_FEW 16 /* maximum number of parameters that need no allocation; most kernels have fewer */
    struct cf__scratch_array few_arrays[CF__SCRATCH_FEW];
    void *few_args[CF__SCRATCH_FEW];
};

/* Returns 1 if a kernel has a scratch parameter. */
int cf__has_scratch(const cf_kernel *kernel);

/* Supplies and clears scratch memory for a launch that the caller enqueues next; `context` is the scope's id. Returns a
 * status. */
int cf__scratch_args_begin(const cf_kernel *kernel, const struct cf__scope *scope, unsigned long long context,
                           cf_stream stream, void *const args[], struct cf__scratch_args *scratch);

/* Frees the memory after the launch, in the order of the stream. Takes the status of the launch and returns it, or the
 * status of a failed free. The caller omits it if cf__scratch_args_begin() failed. */
int cf__scratch_args_end(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream,
                         const struct cf__scratch_args *scratch, int status);

/* An array to clear. */
struct cf__zero_target {
    CUdeviceptr array; /* array to clear; 0: none */
    int is_cpu;        /* 1 if the CPU clears the array immediately, without the stream */
};

/* Finds the array to clear for parameter `i`. */
typedef struct cf__zero_target cf__find_zero_target(const void *data, uint32_t i, const cf_param *param);

/* Clears all arrays of zero(...) in the order of the stream; returns a status. */
int cf__clear_arrays(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[],
                     cf__find_zero_target *find_target, const void *data);

/* Clears the results of a launch without threads, except NULL arguments. */
int cf__clear_results(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[]);

#endif
