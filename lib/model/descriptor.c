/* descriptor.c - reads and checks a kernel's or symbol's descriptor, without a driver. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "model/descriptor.h"

#include "base/error.h"

int cf__check_descriptor(const char *what, uint32_t version)
{
    if (version == CF_REGISTRY_VERSION)
        return CF_OK;
    return cf__fail(CF_EINVAL,
                    "the %s's descriptor has version %" PRIu32 ", this library takes %d; build the kernels again", what,
                    version, CF_REGISTRY_VERSION);
}

int cf__check_kernel(const char *function, const cf_kernel *kernel)
{
    if (!kernel)
        return cf__fail(CF_EINVAL, "%s: kernel is NULL", function);
    if (kernel->version == CF__UNLOADED)
        return cf__fail(CF_EINVAL, "the kernel %s belongs to a program that was unloaded", kernel->name);
    return cf__check_descriptor("kernel", kernel->version);
}

void cf__variant_text(const cf_kernel *kernel, char text[CF__VARIANT])
{
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < kernel->nconstants && used < CF__VARIANT; i++)
        used += (size_t)snprintf(text + used, CF__VARIANT - used, "%s%s=%" PRId64, i ? "," : "",
                                 kernel->constants[i].name, kernel->constants[i].value);
}

int cf__symbol_size(const cf_symbol *symbol, size_t *bytes)
{
    int64_t size = symbol->bytes;
    for (uint32_t d = 0; d < symbol->ndims; d++)
        if (symbol->extents[d] < 0 || __builtin_mul_overflow(size, symbol->extents[d], &size))
            return cf__fail(CF_EOVERFLOW, "%s: %s has more than 2^63 - 1 bytes", symbol->function, symbol->name);
    *bytes = (size_t)size;
    return CF_OK;
}
