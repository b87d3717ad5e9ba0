/* attribute.c - reads attributes of a loaded kernel. */
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/program.h>
#include <cuferry/registry.h>

#include "base/error.h"
#include "model/descriptor.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/lost.h"
#include "kernel/image.h"

static int query_attribute(const cf_kernel *kernel, const struct cf__scope *scope, CUfunction_attribute attribute,
                           int64_t *value)
{
    struct cf__loaded *loaded;
    int number = 0;
    if (scope->driver->is_cpu)
        return cf__fail(CF_ENOTSUP, "cf_kernel_attribute: %s: attributes are of GPU code, and the call is on the CPU",
                        kernel->function);
    int status = cf__kernel_load(kernel, scope, &loaded);
    if (status != CF_OK)
        return status;
    int mode = cf__capture_relax(scope->driver);
    CUresult result = scope->driver->cuFuncGetAttribute(&number, attribute, loaded->function);
    cf__capture_restore(scope->driver, mode);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuFuncGetAttribute", "cf_kernel_attribute: %s",
                               kernel->function);
    *value = number;
    return CF_OK;
}

int cf_kernel_attribute(const cf_kernel *kernel, int attribute, int64_t *value)
{
    static const CUfunction_attribute of_driver[] = {
        [CF_ATTRIBUTE_REGISTERS] = CU_FUNC_ATTRIBUTE_NUM_REGS,
        [CF_ATTRIBUTE_SHARED] = CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        [CF_ATTRIBUTE_LOCAL] = CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
        [CF_ATTRIBUTE_THREADS] = CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        [CF_ATTRIBUTE_BINARY] = CU_FUNC_ATTRIBUTE_BINARY_VERSION,
    };
    int status = cf__check_kernel("cf_kernel_attribute", kernel);
    if (status != CF_OK)
        return status;
    if (!value)
        return cf__fail(CF_EINVAL, "cf_kernel_attribute: value is NULL");
    if (attribute < CF_ATTRIBUTE_REGISTERS || attribute > CF_ATTRIBUTE_BINARY)
        return cf__fail(CF_EINVAL, "cf_kernel_attribute: %d is no attribute", attribute);
    if (cf_kernel_is_operation(kernel) || cf__is_tuned(kernel))
        return cf__fail(CF_EINVAL, "cf_kernel_attribute: %s is made of several kernels; ask for one of them",
                        kernel->function);
    struct cf__scope scope;
    status = cf__enter(&scope, "cf_kernel_attribute", NULL);
    if (status != CF_OK)
        return status;
    status = query_attribute(kernel, &scope, of_driver[attribute], value);
    cf__leave(&scope);
    return status;
}
