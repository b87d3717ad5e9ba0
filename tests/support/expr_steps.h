/* expr_steps.h - macros for the steps of an expression, for descriptors that tests write by hand. */
#ifndef EXPR_STEPS_H
#define EXPR_STEPS_H

#include <cuferry/registry.h>

#define OPS(...) ((const cf_op[]){__VA_ARGS__, {CF_OP_END, 0}})
#define CONST(value)       \
    {                      \
        CF_OP_CONST, value \
    }
#define PARAM(number)       \
    {                       \
        CF_OP_PARAM, number \
    }
#define OP(code)        \
    {                   \
        CF_OP_##code, 0 \
    }

#endif
