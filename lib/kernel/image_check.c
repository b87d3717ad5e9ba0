/* image_check.c - checks that images are intact before the driver sees them, and that they have code for the device. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "kernel/image_check.h"

#include "base/crc32.h"
#include "base/error.h"
#include "context/lost.h"

/* The library checks an image itself, because the driver may crash on a damaged one. */
int cf__image_check_intact(const char *function, const cf_image *image)
{
    uint32_t crc = cf__crc32(image->begin, image->end);
    if (image->begin < image->end && crc == image->crc32)
        return CF_OK;
    return cf__fail(CF_EIMAGE,
                    "%s: its image of %td bytes is damaged: its checksum is %08" PRIx32 " and not %08" PRIx32, function,
                    image->end - image->begin, crc, image->crc32);
}

static void list_targets(const cf_image *image, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (const uint16_t *sm = image->sm; *sm && used < size; sm++)
        used += (size_t)snprintf(text + used, size - used, "%ssm_%u%s", used ? " " : "",
                                 CF_TARGET_CAPABILITY((unsigned)*sm), CF_TARGET_SUFFIX(*sm));
    for (const uint16_t *ptx = image->ptx; *ptx && used < size; ptx++)
        used += (size_t)snprintf(text + used, size - used, "%scompute_%u%s", used ? " " : "",
                                 CF_TARGET_CAPABILITY((unsigned)*ptx), CF_TARGET_SUFFIX(*ptx));
}

/* Machine code runs on devices of its major version with the same or a higher minor version. PTX runs on its target and
 * all later devices. There are exceptions: code for 90a runs only on 9.0, and PTX for 100f runs only on the devices
 * that machine code for 100f runs on. */
static int runs_on(uint16_t target, int is_ptx, int capability)
{
    const int of_target = CF_TARGET_CAPABILITY(target);
    if (target & CF_TARGET_EXACT)
        return of_target == capability;
    const int is_any_later = is_ptx && !(target & CF_TARGET_FAMILY);
    return of_target <= capability && (is_any_later || of_target / 10 == capability / 10);
}

static int has_code(const cf_image *image, int capability)
{
    for (const uint16_t *sm = image->sm; *sm; sm++)
        if (runs_on(*sm, 0, capability))
            return 1;
    for (const uint16_t *ptx = image->ptx; *ptx; ptx++)
        if (runs_on(*ptx, 1, capability))
            return 1;
    return 0;
}

int cf__query_capability(const char *function, const struct cf__driver *driver, CUdevice *device, int *capability)
{
    int major = 0, minor = 0;
    const char *call = "cuCtxGetDevice";
    CUresult result = driver->cuCtxGetDevice(device);
    if (result == CUDA_SUCCESS) {
        call = "cuDeviceGetAttribute";
        result = driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, *device);
    }
    if (result == CUDA_SUCCESS)
        result = driver->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, *device);
    *capability = 10 * major + minor;
    return result == CUDA_SUCCESS ? CF_OK
                                  : cf__fail_driver(driver, result, call, "%s: asking for the device", function);
}

int cf__image_check_device(const char *function, const cf_image *image, const struct cf__driver *driver)
{
    int version = 0, capability;
    CUdevice device;
    CUresult result = driver->cuDriverGetVersion(&version);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(driver, result, "cuDriverGetVersion", "%s: asking for the device", function);
    int status = cf__query_capability(function, driver, &device, &capability);
    if (status != CF_OK)
        return status;
    if ((uint32_t)version / 1000 < image->toolkit / 1000)
        return cf__fail(CF_EDRIVER,
                        "%s: its image is of CUDA %u.%u and the driver is for CUDA %d.%d; update the driver, or build "
                        "with an older toolkit",
                        function, image->toolkit / 1000, image->toolkit % 1000 / 10, version / 1000,
                        version % 1000 / 10);
    if (!has_code(image, capability)) {
        char targets[128];
        list_targets(image, targets, sizeof targets);
        return cf__fail(CF_ENOCODE, "%s: its image has code for %s and device %d is sm_%d; %s%d", function,
                        *targets ? targets : "no target", device, capability,
                        image->toolkit ? "build with --targets=" : "compile it for sm_", capability);
    }
    return CF_OK;
}
