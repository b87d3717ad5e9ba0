/* descriptor.c - questions about a kernel's descriptor that need no driver. */
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/descriptor.h"

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
