/* argument.h - reads values and arrays for a kernel's parameters from the command line. */
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
    void *value;            /* NULL until the instance is known, then zeros until the value is known */
    uint32_t inferred_from; /* number of the array that determined the value */

    /* Arrays. */
    struct npy_array array; /* type and shape; for outputs, set when their extents are known */
    enum argument_source source;
    char *input;          /* the text without the output's path; freed with the argument */
    const char *output;   /* path for the result; NULL: it is not saved */
    struct npy_file file; /* open if source is FROM_FILE, until the elements are loaded */
    struct make make;
    void *data;   /* elements before the run; NULL for outputs and empty arrays */
    void *result; /* elements after the run; NULL for inputs and empty arrays */
};

/* Functions that tell whether a parameter is a value or an array, and whether the kernel reads or writes the array. A
 * pointer without an extent counts as read and written; scratch memory counts as neither, since it is not the
 * caller's. */
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

/* Returns the type of a value or of an array's elements. */
static inline struct element_type argument_type(const cf_param *param)
{
    return (struct element_type){param->type, param->lanes, param->bytes, param->members};
}

/* Returns how well an array's type and shape suit a parameter. 0: not at all. 1: by conversion, for instance of the
 * bits of bfloat16, bools to bytes, structures to vectors, or from other dimensions than declared. 2: exactly. */
int argument_suits(const cf_param *param, const struct npy_array *array);

/* Converts a suitable array to the parameter's type. */
void argument_adapt(const cf_param *param, struct npy_array *array);

/* Appends a text on how to pass an array or a struct on the command line. */
void argument_add_file(const cf_param *param, struct message *message);

/* Appends a struct's type and size, and how to pass it on the command line. */
void argument_add_struct(const cf_param *param, struct message *message);

/* Assigns `words`, each "name=value", to a kernel's parameters, and describes the arrays from their headers. `kernel`
 * may be any instance of a family, since names and directions are the same in all. `called` is the name that the user
 * gave. The caller frees the arguments in every case. */
int arguments_assign(const cf_kernel *kernel, const char *called, char *const *words, int count,
                     struct argument *arguments, struct message *message);

/* Reads the values and converts the arrays to the types of the instance, which must be known. */
int arguments_read_values(const cf_kernel *kernel, struct argument *arguments, struct message *message);

/* Returns an array with a pointer per parameter: to its value, or NULL for an array. The caller frees it. Returns NULL
 * without memory. */
void **arguments_values(const cf_kernel *kernel, const struct argument *arguments);

/* Reads or makes an array's elements. */
int argument_load(struct argument *argument, struct message *message);

void arguments_free(const cf_kernel *kernel, struct argument *arguments);

#endif
