/* descriptor.h - reads and checks a kernel's or symbol's descriptor. */
#ifndef CF__DESCRIPTOR_H
#define CF__DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Version in the descriptor of a kernel whose program was unloaded. */
#define CF__UNLOADED UINT32_MAX

/* Checks a descriptor's version. Returns a status; the message names `what`: kernel, symbol or module. */
int cf__check_descriptor(const char *what, uint32_t version);

/* Checks that a kernel is not NULL and has this library's version; messages name the public `function`. */
int cf__check_kernel(const char *function, const cf_kernel *kernel);

/* Returns 1 if cf__check_kernel() would succeed; sets no error. */
static inline int cf__descriptor_ok(const cf_kernel *kernel)
{
    return kernel && kernel->version == CF_REGISTRY_VERSION;
}

/* Returns 1 if the kernel has variants and is not itself a variant, so that a launch has to choose one. */
static inline int cf__is_tuned(const cf_kernel *kernel)
{
    return cf__descriptor_ok(kernel) && kernel->nvariants && !kernel->nconstants;
}

/* Returns 1 if a parameter is an array of declared extent. */
static inline int cf__is_array(const cf_param *param)
{
    return param->ndims > 0 && param->direction != CF_VALUE && param->direction != CF_POINTER;
}

/* Returns 1 if a parameter is an array that the caller passes, and not scratch memory. */
static inline int cf__is_callers_array(const cf_param *param)
{
    return cf__is_array(param) && param->direction != CF_SCRATCH;
}

/* Returns 1 if a parameter is an array that the caller passes and the kernel writes. */
static inline int cf__is_written(const cf_param *param)
{
    return param->direction == CF_OUT || param->direction == CF_INOUT;
}

/* Returns 1 if the library supplies memory for a parameter. A scratch array of constant extent 0 gets none: the kernel
 * gets NULL. */
static inline int cf__takes_scratch(const cf_param *param)
{
    const cf_op *ops = param->direction == CF_SCRATCH ? param->extents[0].ops : NULL;
    return ops && !(ops[0].code == CF_OP_CONST && ops[0].operand == 0 && ops[1].code == CF_OP_END);
}

/* Returns the maximum number of threads in a block. */
static inline uint32_t cf__most_threads(const cf_launch_rule *rule)
{
    return rule->max_block ? rule->max_block : CF_BLOCK_SIZE;
}

/* Returns the number of blocks in a cluster along a dimension, which is 1 without clusters. */
static inline uint32_t cf__cluster_size(const cf_launch_rule *rule, int d)
{
    return rule->cluster[d] ? rule->cluster[d] : 1;
}

/* Bytes of a variant's text, with the closing zero. */
#define CF__VARIANT 256

/* Writes a variant's constants, as "BLOCK=128,ITEMS=2", or an empty text if the kernel is not a variant. */
void cf__variant_text(const cf_kernel *kernel, char text[CF__VARIANT]);

/* Writes the size of a symbol in bytes. Returns CF_OK, or CF_EOVERFLOW if it does not fit 63 bits. */
int cf__symbol_size(const cf_symbol *symbol, size_t *bytes);

#endif
