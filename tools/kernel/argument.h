/* argument.h - the command line's values and arrays for a kernel's parameters. */
#ifndef ARGUMENT_H
#define ARGUMENT_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "data/element.h"
#include "data/make.h"
#include "base/message.h"
#include "data/npy.h"

enum argument_origin { ABSENT, GIVEN, INFERRED };

/* Source of an array's elements. */
enum argument_source { NOWHERE, FROM_FILE, MADE };

/* Argument of one parameter. All zeros: no argument. */
struct argument {
    enum argument_origin origin;
    const char *text; /* text after "name=" on the command line */

    /* Values. */
    void *value;            /* zeros until it is known; NULL until the instance is known */
    uint32_t inferred_from; /* number of the array that determined the value */

    /* Arrays. */
    struct npy_array array; /* inputs: as given; outputs: once their extents are known */
    enum argument_source source;
    char *input;          /* text without the output's path; owned */
    const char *output;   /* path; NULL: the result is not saved */
    struct npy_file file; /* open while source is FROM_FILE and the elements are not loaded */
    struct make make;
    void *data;   /* elements before the run; NULL for outputs and empty arrays */
    void *result; /* elements after the run; NULL for inputs and empty arrays */
};

/* Kinds of parameters: a value or an array, which the kernel reads or writes. A pointer without an extent is read and
 * written; scratch memory is neither, since it is not the caller's. */
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

/* Type of a value or of an array's elements. */
static inline struct element_type argument_type(const cf_param *param)
{
    return (struct element_type){param->type, param->lanes, param->bytes, param->members};
}

/* How well an array's type and shape suit a parameter; 0: not at all. 1: only by conversion, such as 16 bits for a
 * bfloat16, bools for bytes, a structure for a vector, or other dimensions than declared. */
int argument_suits(const cf_param *param, const struct npy_array *array);

/* Converts a suitable array to the parameter's type. */
void argument_adapt(const cf_param *param, struct npy_array *array);

/* Appends how to give an array, or a struct. */
void argument_add_file(const cf_param *param, struct message *message);

/* Appends a struct's type and size, and how to give it. */
void argument_add_struct(const cf_param *param, struct message *message);

/* Assigns `words`, each "name=value", to a kernel's parameters, and describes the arrays from their headers. Any
 * instance of a family will do: names and directions are the same. `called` is the user's name of the kernel. The
 * caller frees the arguments in every case. */
int arguments_assign(const cf_kernel *kernel, const char *called, char *const *words, int count,
                     struct argument *arguments, struct message *message);

/* Reads the values and converts the arrays, once the instance is known. */
int arguments_read_values(const cf_kernel *kernel, struct argument *arguments, struct message *message);

/* One pointer per parameter, to its value, NULL for arrays. The caller frees it; NULL without memory. */
void **arguments_values(const cf_kernel *kernel, const struct argument *arguments);

/* Reads or makes an array's elements. */
int argument_load(struct argument *argument, struct message *message);

void arguments_free(const cf_kernel *kernel, struct argument *arguments);

#endif
