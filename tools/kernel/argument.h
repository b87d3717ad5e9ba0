/* argument.h - what the command line says of a kernel's parameters: values, and arrays that are read or made. */
#ifndef ARGUMENT_H
#define ARGUMENT_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "data/element.h"
#include "data/make.h"
#include "base/message.h"
#include "data/npy.h"

enum argument_origin { ABSENT, GIVEN, INFERRED };

/* Where an array's elements come from. */
enum argument_source { NOWHERE, FROM_FILE, MADE };

/* One parameter's argument. Zeros are an absent one. */
struct argument {
    enum argument_origin origin;
    const char *text; /* behind "name=" on the command line */

    /* Values. */
    void *value;            /* zeros until it is known; NULL until the instance is */
    uint32_t inferred_from; /* number of the array that told the value */

    /* Arrays. */
    struct npy_array array; /* of inputs as given; of outputs once their extents are known */
    enum argument_source source;
    char *input;          /* the text without the output's path, ours to free */
    const char *output;   /* path; NULL where the result is not saved */
    struct npy_file file; /* open, while source is FROM_FILE and the elements are not loaded */
    struct make make;
    void *data;   /* elements before the run; NULL for outputs and where there are none */
    void *result; /* elements after the run; NULL for inputs and where there are none */
};

/* Whether a parameter is a value or an array, whether the kernel reads what is in an array, and whether it may write to
 * it. A pointer of undeclared extent counts as read and written; scratch memory is not the caller's, and neither. */
static inline int argument_is_value(const cf_param *param)
{
    return param->direction == CF_VALUE;
}

static inline int argument_is_array(const cf_param *param)
{
    return param->direction != CF_VALUE && param->direction != CF_SCRATCH;
}

static inline int argument_is_read(const cf_param *param)
{
    return argument_is_array(param) && param->direction != CF_OUT;
}

static inline int argument_is_written(const cf_param *param)
{
    return argument_is_array(param) && param->direction != CF_IN;
}

/* What a value is, or an array's elements. */
static inline struct element_type argument_type(const cf_param *param)
{
    return (struct element_type){param->type, param->lanes, param->bytes};
}

/* How well an array's type and shape suit a parameter: 0 is not at all. 1 is that they can be taken for it: 16 bits
 * for a bfloat16, bools for bytes, a structure for a vector, or other dimensions than the declared ones. */
int argument_suits(const cf_param *param, const struct npy_array *array);

/* Takes an array that suits a parameter for one of its type. */
void argument_adapt(const cf_param *param, struct npy_array *array);

/* Assigns `words`, each "name=value", to the parameters of a kernel, and describes the arrays: headers are read,
 * elements are not. Of several instances of one family any will do, since names and directions are the same in all.
 * `called` is how the user called the kernel. Whatever it returns, the arguments are then the caller's to free. */
int arguments_assign(const cf_kernel *kernel, const char *called, char *const *words, int count,
                     struct argument *arguments, struct message *message);

/* Reads the values, and adapts the arrays, now that the instance is known. */
int arguments_read_values(const cf_kernel *kernel, struct argument *arguments, struct message *message);

/* One pointer a parameter, to its value; NULL for arrays. The caller frees it; NULL where there is no memory. */
void **arguments_values(const cf_kernel *kernel, const struct argument *arguments);

/* Reads or makes an array's elements. */
int argument_load(struct argument *argument, struct message *message);

void arguments_free(const cf_kernel *kernel, struct argument *arguments);

#endif
