/* verify_run.h - makes one call of a verified kernel on the CPU or a GPU, and checks what it wrote. */
#ifndef VERIFY_RUN_H
#define VERIFY_RUN_H

#include <cuferry/registry.h>

#include "kernel/constant.h"
#include "kernel/inplace.h"
#include "base/message.h"
#include "verify/verify_arrays.h"

/* A call and its arguments. */
struct verify_call {
    const cf_kernel *kernel;
    const struct constants *constants; /* set before the call */
    void *const *args;                 /* one value per parameter */
    const struct verify_array *arrays; /* one per parameter */
    const struct inplace *inplace;     /* arrays that share memory; NULL: none */
    uint32_t home;                     /* number of the shared array */
    int64_t first_part;                /* elements of the first of two calls; 0: one call */
};

/* Results of one run. */
struct verify_result {
    void **packed;  /* one per parameter: the elements of a written section, or NULL */
    int is_refused; /* the call was refused, for instance because a block is too large */
};

/* Runs the kernel once. Its arrays hold `poison`, except in elements that it reads. Returns the library's status, or -1
 * with the message for other failures, such as writes outside a section. */
int verify_run(const struct verify_call *call, int device, int poison, struct verify_result *result,
               struct message *message);

#endif
