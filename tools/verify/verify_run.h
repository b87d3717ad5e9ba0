/* verify_run.h - one call of a kernel that is verified: its arrays on the CPU or a GPU, and what it wrote. */
#ifndef VERIFY_RUN_H
#define VERIFY_RUN_H

#include <cuferry/registry.h>

#include "kernel/constant.h"
#include "kernel/inplace.h"
#include "base/message.h"
#include "verify/verify_arrays.h"

/* What is called, and with what. */
struct verify_call {
    const cf_kernel *kernel;
    const struct constants *constants; /* that are set first */
    void *const *args;                 /* one a parameter: its value */
    const struct verify_array *arrays; /* one a parameter */
    const struct inplace *inplace;     /* arrays that are one; NULL: none are */
    uint32_t home;                     /* the number of that one */
    int64_t first_part;                /* elements of the first of two calls; 0: it is one call */
};

/* What one run has left. */
struct verify_result {
    void **packed;  /* one a parameter: the section of what is written, else NULL */
    int is_refused; /* by the call, as a block is that is too large */
};

/* Runs the kernel once, over arrays that hold `poison` where nothing is read, and takes its results: a status of the
 * library's; -1 with the message for what else fails, such as what is written beside a section. */
int verify_run(const struct verify_call *call, int device, int poison, struct verify_result *result,
               struct message *message);

#endif
