/* device.c - the calling thread's device, and devices by number. */
#include <stdint.h>
#include <stdio.h>

#include <cuferry.h>

#include "base/error.h"
#include "driver/driver.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "context/lost.h"

int cf_device_count(int *count)
{
    if (!count)
        return cf__fail(CF_EINVAL, "cf_device_count: count is NULL");
    struct cf__backend *backend;
    int status = cf__default_backend("cf_device_count", &backend);
    if (status == CF_OK)
        *count = backend == &cf__cuda ? cf__cuda.count : 0;
    return status;
}

int cf_device_use(int device)
{
    struct cf__backend *backend;
    int ordinal, status = cf__device_backend("cf_device_use", device, &backend, &ordinal);
    if (status == CF_OK)
        (void)cf__thread_device_set((struct cf__thread_device){1, device});
    return status;
}

int cf_device_current(int *device)
{
    if (!device)
        return cf__fail(CF_EINVAL, "cf_device_current: device is NULL");
    struct cf__scope scope;
    int status = cf__enter_even_lost(&scope, "cf_device_current", NULL);
    if (status != CF_OK)
        return status;
    status = cf__scope_device(&scope, "cf_device_current", device);
    cf__leave(&scope);
    return status;
}

int cf_device_name(int device, char *name, size_t size)
{
    if (!name || size == 0)
        return cf__fail(CF_EINVAL, "cf_device_name: %s", name ? "size is 0" : "name is NULL");
    const struct cf__driver *driver;
    CUdevice handle;
    int status = cf__device_get("cf_device_name", device, &driver, &handle);
    if (status != CF_OK)
        return status;
    CUresult result = driver->cuDeviceGetName(name, size > INT32_MAX ? INT32_MAX : (int)size, handle);
    return result == CUDA_SUCCESS
               ? CF_OK
               : cf__fail_driver(driver, result, "cuDeviceGetName", "cf_device_name: device %d", device);
}

int cf_device_uuid(int device, char *text, size_t size)
{
    if (!text || size == 0)
        return cf__fail(CF_EINVAL, "cf_device_uuid: %s", text ? "size is 0" : "text is NULL");
    const struct cf__driver *driver;
    CUdevice handle;
    CUuuid uuid = {""};
    int status = cf__device_get("cf_device_uuid", device, &driver, &handle);
    if (status != CF_OK)
        return status;
    CUresult result = device == CF_HOST ? CUDA_SUCCESS : driver->cuDeviceGetUuid(&uuid, handle);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(driver, result, "cuDeviceGetUuid", "cf_device_uuid: device %d", device);
    char whole[40] = "";
    for (size_t i = 0, used = 0; device != CF_HOST && i < sizeof uuid.bytes; i++)
        used += (size_t)sprintf(whole + used, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                                (unsigned char)uuid.bytes[i]);
    snprintf(text, size, "%s", whole);
    return CF_OK;
}

int cf_require(int requirement)
{
    if (requirement != CF_CUDA)
        return cf__fail(CF_EINVAL, "cf_require: %d is no requirement; CF_CUDA is", requirement);
    return cf__ensure_cuda("cf_require(CF_CUDA)");
}
