/* descriptor.h - questions about a kernel's descriptor. */
#ifndef CF__DESCRIPTOR_H
#define CF__DESCRIPTOR_H

#include <stdint.h>

#include <cuferry/registry.h>

/* Checks a descriptor's version; messages call it `what`: kernel, symbol or module. */
int cf__check_descriptor(const char *what, uint32_t version);

/* The same of a kernel, for `function`; NULL is none. */
int cf__check_kernel(const char *function, const cf_kernel *kernel);

/* The kernel's descriptor has this library's version. */
static inline int cf__descriptor_ok(const cf_kernel *kernel)
{
    return kernel && kernel->version == CF_REGISTRY_VERSION;
}

/* The kernel stands for the variant that tuning.c chooses. */
static inline int cf__is_tuned(const cf_kernel *kernel)
{
    return cf__descriptor_ok(kernel) && kernel->nvariants && !kernel->nconstants;
}

/* Whether a parameter is an array of declared extent. */
static inline int cf__is_array(const cf_param *param)
{
    return param->ndims > 0 && param->direction != CF_VALUE && param->direction != CF_POINTER;
}

/* Room for the constants of a variant. */
#define CF__VARIANT 256

/* Writes "BLOCK=128,ITEMS=2"; nothing for what is no variant. */
void cf__variant_text(const cf_kernel *kernel, char text[CF__VARIANT]);

/* A symbol's bytes; CF_EOVERFLOW where they are too many. */
int cf__symbol_size(const cf_symbol *symbol, size_t *bytes);

#endif
