/* scratch_args.h - scratch arrays of a launch, and arrays to clear. */
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
    } * arrays;                     /* an entry for each parameter; zeros unless it is scratch */
    void **args;                    /* arguments of the launch, with scratch arrays */
    void *heap;                     /* memory of `arrays` and `args`; NULL: few_arrays and few_args */
    struct cf__scratch_lease lease; /* block with all arrays; none: each array has an allocation */
    int is_captured;
    int is_rezeroed;       /* the kernel leaves 0 in all scratch memory */
#define CF__SCRATCH_FEW 16 /* parameters of most kernels; they need no allocation */
    struct cf__scratch_array few_arrays[CF__SCRATCH_FEW];
    void *few_args[CF__SCRATCH_FEW];
};

/* Supplies and clears scratch memory for a launch that the caller enqueues next; `context` is the scope's id. Returns a
 * status. */
int cf__scratch_args_begin(const cf_kernel *kernel, const struct cf__scope *scope, unsigned long long context,
                           cf_stream stream, void *const args[], struct cf__scratch_args *scratch);

/* Frees the memory after the launch, in the order of the stream. Takes the status of the launch and returns it, or the
 * status of a failure to free. Not called if cf__scratch_args_begin() failed. */
int cf__scratch_args_end(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream,
                         const struct cf__scratch_args *scratch, int status);

/* An array to clear. */
struct cf__zero_target {
    CUdeviceptr array; /* 0: skip it */
    int is_cpu;        /* the CPU clears it at once, without the stream */
};

/* Finds the array for parameter `i`. */
typedef struct cf__zero_target cf__find_zero_target(const void *data, uint32_t i, const cf_param *param);

/* Clears all arrays of zero(...) in the order of the stream; returns a status. */
int cf__clear_arrays(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[],
                     cf__find_zero_target *find_target, const void *data);

/* Clears the results of a launch without threads, except NULL. */
int cf__clear_results(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[]);

#endif
