/* property.c - reads properties of devices. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuferry.h>

#include "context/property.h"

#include "base/files.h"
#include "base/error.h"
#include "driver/driver.h"
#include "context/context.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "context/lost.h"

/* Returns the driver's attribute for a property, or 0 if the driver has another function for it. */
static CUdevice_attribute driver_attribute(int property)
{
    switch ((enum cf_property)property) {
    case CF_PROPERTY_MULTIPROCESSORS:
        return CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    case CF_PROPERTY_THREADS_PER_BLOCK:
        return CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    case CF_PROPERTY_THREADS_PER_MULTIPROCESSOR:
        return CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR;
    case CF_PROPERTY_SHARED_PER_BLOCK:
        return CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    case CF_PROPERTY_REGISTERS_PER_BLOCK:
        return CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK;
    case CF_PROPERTY_WARP_SIZE:
        return CU_DEVICE_ATTRIBUTE_WARP_SIZE;
    case CF_PROPERTY_L2_CACHE:
        return CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE;
    case CF_PROPERTY_CLOCK_KHZ:
        return CU_DEVICE_ATTRIBUTE_CLOCK_RATE;
    case CF_PROPERTY_MEMORY_CLOCK_KHZ:
        return CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE;
    case CF_PROPERTY_MEMORY_BUS_BITS:
        return CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH;
    case CF_PROPERTY_COPY_ENGINES:
        return CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT;
    case CF_PROPERTY_PAGEABLE_ACCESS:
        return CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS;
    case CF_PROPERTY_MANAGED_MEMORY:
        return CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY;
    case CF_PROPERTY_COOPERATIVE_LAUNCH:
        return CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH;
    case CF_PROPERTY_MEMORY_POOLS:
        return CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    case CF_PROPERTY_INTEGRATED:
        return CU_DEVICE_ATTRIBUTE_INTEGRATED;
    case CF_PROPERTY_MEMORY:
    case CF_PROPERTY_MEMORY_FREE:
    case CF_PROPERTY_CAPABILITY:
    case CF_PROPERTY_NUMA_NODE:
    case CF_PROPERTY_DRIVER:
        break;
    }
    return 0;
}

static const char *property_name(int property)
{
    switch (property) {
#define NAME(name, value, text) \
    case name:                  \
        return #name;
        CF_PROPERTY_LIST(NAME)
#undef NAME
    default:
        return NULL;
    }
}

/* Stores 0 for an attribute that the driver does not support. */
static CUresult get_attribute(const struct cf__driver *driver, CUdevice device, CUdevice_attribute attribute,
                              int64_t *value)
{
    int number = 0;
    CUresult result = driver->cuDeviceGetAttribute(&number, attribute, device);
    *value = result == CUDA_SUCCESS ? number : 0;
    return result == CUDA_ERROR_INVALID_VALUE ? CUDA_SUCCESS : result;
}

static CUresult get_capability(const struct cf__driver *driver, CUdevice device, int64_t *value)
{
    int64_t major, minor = 0;
    CUresult result = get_attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major);
    if (result == CUDA_SUCCESS)
        result = get_attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor);
    *value = 10 * major + minor;
    return result;
}

/* Bytes of a PCI address as text, with the closing zero. */
enum { ADDRESS = 40 };
static CUresult get_address(const struct cf__driver *driver, CUdevice device, char address[ADDRESS])
{
    static const CUdevice_attribute attributes[] = {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
                                                    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID};
    int64_t numbers[3] = {0};
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < 3 && result == CUDA_SUCCESS; i++)
        result = get_attribute(driver, device, attributes[i], &numbers[i]);
    snprintf(address, ADDRESS, "%04x:%02x:%02x.0", (unsigned)numbers[0], (unsigned)numbers[1], (unsigned)numbers[2]);
    return result;
}

/* Reads the node from the system, because drivers before CUDA 12.2 do not report it. */
static CUresult get_numa_node(const struct cf__driver *driver, CUdevice device, int64_t *value)
{
    char address[ADDRESS], path[ADDRESS + 40], text[16] = "";
    CUresult result = get_address(driver, device, address);
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", address);
    *value = cf__file_read(path, text, sizeof text - 1) > 0 ? strtol(text, NULL, 10) : -1;
    return result;
}

int cf_device_pci(int device, char *text, size_t size)
{
    if (!text || size == 0)
        return cf__fail(CF_EINVAL, "cf_device_pci: %s", text ? "size is 0" : "text is NULL");
    const struct cf__driver *driver;
    CUdevice handle;
    char address[ADDRESS] = "";
    int status = cf__device_get("cf_device_pci", device, &driver, &handle);
    if (status != CF_OK)
        return status;
    CUresult result = device == CF_HOST ? CUDA_SUCCESS : get_address(driver, handle, address);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(driver, result, "cuDeviceGetAttribute", "cf_device_pci: device %d", device);
    snprintf(text, size, "%s", address);
    return CF_OK;
}

static CUresult get_driver_version(const struct cf__driver *driver, int64_t *value)
{
    int version = 0;
    CUresult result = driver->cuDriverGetVersion(&version);
    *value = version;
    return result;
}

/* The driver reports free memory only for the device of the current context. */
static int get_free_memory(int device, int64_t *value)
{
    struct cf__scope scope;
    int status = cf__enter_device(&scope, "cf_device_property", device);
    if (status != CF_OK)
        return status;
    size_t free, total;
    CUresult result = scope.driver->cuMemGetInfo(&free, &total);
    if (result == CUDA_SUCCESS)
        *value = (int64_t)free;
    else
        status = cf__fail_driver(scope.driver, result, "cuMemGetInfo", "cf_device_property: device %d", device);
    cf__leave(&scope);
    return status;
}

int cf_device_property(int device, int property, int64_t *value)
{
    const char *name = property_name(property), *call = "cuDeviceGetAttribute";
    if (!value)
        return cf__fail(CF_EINVAL, "cf_device_property: value is NULL");
    if (!name)
        return cf__fail(CF_EINVAL, "cf_device_property: %d is no property", property);
    const struct cf__driver *driver;
    CUdevice handle;
    int status = cf__device_get("cf_device_property", device, &driver, &handle);
    if (status != CF_OK)
        return status;
    if (property == CF_PROPERTY_MEMORY_FREE)
        return get_free_memory(device, value);
    CUresult result;
    int64_t found = 0;
    if (property == CF_PROPERTY_MEMORY) {
        size_t bytes = 0;
        call = "cuDeviceTotalMem";
        result = driver->cuDeviceTotalMem(&bytes, handle);
        found = (int64_t)bytes;
    } else if (property == CF_PROPERTY_NUMA_NODE && device == CF_HOST) {
        found = -1;
        result = CUDA_SUCCESS;
    } else if (property == CF_PROPERTY_NUMA_NODE) {
        result = get_numa_node(driver, handle, &found);
    } else if (property == CF_PROPERTY_DRIVER) {
        call = "cuDriverGetVersion";
        result = device == CF_HOST ? CUDA_SUCCESS : get_driver_version(driver, &found);
    } else {
        result = property == CF_PROPERTY_CAPABILITY ? get_capability(driver, handle, &found)
                                                    : get_attribute(driver, handle, driver_attribute(property), &found);
    }
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(driver, result, call, "cf_device_property: device %d, %s", device, name);
    *value = found;
    return CF_OK;
}

int cf__property_pageable_access(const struct cf__scope *scope, const char *function, int device, int *has_access)
{
    struct cf__context *context;
    int status = cf__scope_context(scope, function, &context);
    if (status != CF_OK)
        return status;
    *has_access = __atomic_load_n(&context->pageable_access, __ATOMIC_RELAXED);
    if (*has_access >= 0)
        return CF_OK;
    CUdevice handle;
    CUresult result = scope->driver->cuDeviceGet(&handle, device);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuDeviceGet", "%s: device %d", function, device);
    /* If the driver does not know the attribute, no device has the property. */
    result = scope->driver->cuDeviceGetAttribute(has_access, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, handle);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE)
        return cf__fail_driver(scope->driver, result, "cuDeviceGetAttribute", "%s: device %d", function, device);
    *has_access = result == CUDA_SUCCESS && *has_access == 1;
    __atomic_store_n(&context->pageable_access, *has_access, __ATOMIC_RELAXED);
    return CF_OK;
}
