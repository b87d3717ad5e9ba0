/* scratch_args.h - scratch arrays and zeros of a launch. */
#ifndef CF__SCRATCH_ARGS_H
#define CF__SCRATCH_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "driver/driver.h"
#include "memory/scratch_cache.h"

struct cf__scope;

/* What a launch needs beside its arguments. */
struct cf__scratch {
    struct cf__scratch_array {
        CUdeviceptr memory;
        size_t bytes;
    } * arrays;                     /* of each parameter; zeros where it is none */
    void **args;                    /* the launch's arguments, with them */
    void *block;                    /* that both lie in; NULL: below */
    struct cf__scratch_lease taken; /* that all memory is in; none: each is allocated */
    int is_captured;
    int is_rezeroed;       /* the kernel leaves 0 in all of it */
#define CF__SCRATCH_FEW 16 /* what most kernels have: these need no allocation */
    struct cf__scratch_array few_arrays[CF__SCRATCH_FEW];
    void *few_args[CF__SCRATCH_FEW];
};

/* In front of the launch, which is enqueued next, in the context of that id: supplies the memory, and has it cleared.
 * And behind the launch, of that status, unless that failed: the memory is the next one's. */
int cf__scratch_begin(const cf_kernel *kernel, const struct cf__scope *scope, unsigned long long context,
                      cf_stream stream, void *const args[], struct cf__scratch *scratch);
int cf__scratch_end(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream,
                    const struct cf__scratch *scratch, int status);

/* Where an array is that is to be 0, by its parameter; 0: nowhere, and it is passed over. */
struct cf__zero_target {
    CUdeviceptr array;
    int is_cpu; /* the CPU sets it, at once */
};
typedef struct cf__zero_target cf__zero_target_of(const void *data, uint32_t i, const cf_param *param);

/* Sets to 0 all that is to be so. And of a launch without threads: the results, but those that are NULL. */
int cf__clear(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[],
              cf__zero_target_of *spot_of, const void *data);
int cf__clear_results(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[]);

/* What of an array is to be 0: bytes from the array's pointer on; there may be none. */
int cf__zero_of(const cf_kernel *kernel, const cf_zero *zero, void *const args[], size_t *offset, size_t *bytes);

#endif
