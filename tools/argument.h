/* argument.h - what the command line says of a kernel's parameters: scalars, and arrays that are read or made. */
#ifndef ARGUMENT_H
#define ARGUMENT_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "element.h"
#include "message.h"
#include "npy.h"

enum argument_origin { ABSENT, GIVEN, INFERRED };

/* Where an array's elements come from. */
enum argument_maker { NOWHERE, FROM_FILE, RANDOM, RANDINT, FILL };

/* One parameter's argument. Zeros are an absent one. */
struct argument {
    enum argument_origin origin;
    const char *text; /* behind "name=" on the command line */

    /* Scalars. */
    union element value;
    uint32_t inferred_from; /* number of the array that told the value */

    /* Arrays. */
    struct npy_array array; /* of inputs as given; of outputs once their extents are known */
    enum argument_maker maker;
    char *input;          /* the text without the output's path, ours to free */
    const char *output;   /* path; NULL where the result is not saved */
    struct npy_file file; /* open, while maker is FROM_FILE and the elements are not loaded */
    uint64_t seed;
    union element low, high; /* RANDINT: inclusive; FILL: low is the value */
    void *data;              /* elements before the run; NULL for outputs and where there are none */
    void *result;            /* elements after the run; NULL for inputs and where there are none */
};

/* Whether a parameter is an array, whether the kernel reads what is in it, and whether it may write to it. A pointer of
 * undeclared extent counts as read and written. */
static inline int argument_is_array(const cf_param *param)
{
    return param->direction != CF_VALUE;
}

static inline int argument_is_read(const cf_param *param)
{
    return argument_is_array(param) && param->direction != CF_OUT;
}

static inline int argument_is_written(const cf_param *param)
{
    return argument_is_array(param) && param->direction != CF_IN;
}

/* Assigns `words`, each "name=value", to the parameters of a kernel, and describes the arrays: headers are read,
 * elements are not. Of several instances of one family any will do, since names and directions are the same in all.
 * `called` is how the user called the kernel. Whatever it returns, the arguments are then the caller's to free. */
int arguments_assign(const cf_kernel *kernel, const char *called, char *const *words, int count,
                     struct argument *arguments, struct message *message);

/* Reads the scalars, now that the instance is known. */
int arguments_read_scalars(const cf_kernel *kernel, struct argument *arguments, struct message *message);

/* Reads or makes an array's elements. */
int argument_load(struct argument *argument, struct message *message);

void arguments_free(const cf_kernel *kernel, struct argument *arguments);

#endif
