/* image.c - loads kernel images, lazily and once, and finds the function to launch in a context.
 *
 * An image becomes one CUlibrary for the process. A kernel's state is a list of the functions it has in contexts,
 * searched without the lock; nodes are only ever added until cf_shutdown(). Contexts are told apart by their id, since
 * addresses are reused. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct function {
    unsigned long long context;
    CUfunction function;
    struct function *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cf_state *kernels, *images; /* states that are loaded, linked by `next` */

static int find(const cf_kernel *kernel, unsigned long long context, CUfunction *function)
{
    const struct function *node = __atomic_load_n(&kernel->state->loaded, __ATOMIC_ACQUIRE);
    for (; node; node = node->next)
        if (node->context == context) {
            *function = node->function;
            return 1;
        }
    return 0;
}

/* ---- What can be said of an image before the driver sees it ---- */

/* CRC-32 as in ISO 3309 and zlib, four bits at a time. The driver trusts images and may crash on a damaged one, so it
 * gets to see none. */
static uint32_t crc32(const unsigned char *begin, const unsigned char *end)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    uint32_t crc = UINT32_MAX;
    for (const unsigned char *byte = begin; byte < end; byte++) {
        crc ^= *byte;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static int check_intact(const cf_kernel *kernel)
{
    const cf_image *image = kernel->image;
    uint32_t crc = crc32(image->begin, image->end);
    if (image->begin < image->end && crc == image->crc32)
        return CF_OK;
    return cf__fail(CF_EIMAGE,
                    "%s: its image of %td bytes is damaged: its checksum is %08" PRIx32 " and not %08" PRIx32,
                    kernel->function, image->end - image->begin, crc, image->crc32);
}

static void list_targets(const cf_image *image, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (const uint16_t *sm = image->sm; *sm && used < size; sm++)
        used += (size_t)snprintf(text + used, size - used, "%ssm_%u", used ? " " : "", *sm);
    for (const uint16_t *ptx = image->ptx; *ptx && used < size; ptx++)
        used += (size_t)snprintf(text + used, size - used, "%scompute_%u", used ? " " : "", *ptx);
}

/* Machine code runs on its major version from its minor version on; PTX on everything from its target on. */
static int has_code(const cf_image *image, int capability)
{
    for (const uint16_t *sm = image->sm; *sm; sm++)
        if (*sm / 10 == capability / 10 && *sm <= capability)
            return 1;
    for (const uint16_t *ptx = image->ptx; *ptx; ptx++)
        if (*ptx <= capability)
            return 1;
    return 0;
}

static int check_device(const cf_kernel *kernel, const struct cf__driver *driver)
{
    const cf_image *image = kernel->image;
    int version = 0, major = 0, minor = 0;
    CUdevice device;
    CUresult result = driver->cuDriverGetVersion(&version);
    if (result == CUDA_SUCCESS)
        result = driver->cuCtxGetDevice(&device);
    if (result == CUDA_SUCCESS)
        result = driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    if (result == CUDA_SUCCESS)
        result = driver->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(driver, result, "cuDeviceGetAttribute", "%s: asking for the device", kernel->function);
    if ((uint32_t)version / 1000 < image->toolkit / 1000)
        return cf__fail(CF_EDRIVER,
                        "%s: its image is of CUDA %u.%u and the driver is for CUDA %d.%d; update the driver, or build "
                        "with an older toolkit",
                        kernel->function, image->toolkit / 1000, image->toolkit % 1000 / 10, version / 1000,
                        version % 1000 / 10);
    if (!has_code(image, 10 * major + minor)) {
        char targets[128];
        list_targets(image, targets, sizeof targets);
        return cf__fail(CF_ENOCODE, "%s: its image has code for %s and device %d is sm_%d%d; build with --targets=%d%d",
                        kernel->function, *targets ? targets : "no target", device, major, minor, major, minor);
    }
    return CF_OK;
}

/* ---- Loading, with the lock ---- */

static void keep(cf_state **list, cf_state *state, void *loaded)
{
    state->next = *list;
    *list = state;
    __atomic_store_n(&state->loaded, loaded, __ATOMIC_RELEASE);
}

static int load_library(const cf_kernel *kernel, const struct cf__driver *driver, CUlibrary *library)
{
    cf_state *state = kernel->image->state;
    *library = state->loaded;
    if (*library)
        return CF_OK;
    int status = check_intact(kernel);
    if (status != CF_OK)
        return status;
    CUresult result = driver->cuLibraryLoadData(library, kernel->image->begin, NULL, NULL, 0, NULL, NULL, 0);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(driver, result, "cuLibraryLoadData", "%s: loading its image", kernel->function);
    keep(&images, state, *library);
    return CF_OK;
}

/* Newer drivers tell the parameters' sizes: the descriptor's must agree. */
static int check_parameters(const cf_kernel *kernel, const struct cf__driver *driver, CUkernel handle)
{
    if (!driver->cuKernelGetParamInfo)
        return CF_OK;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        size_t offset, size = 0, expected = param->direction == CF_VALUE ? param->bytes : sizeof(void *);
        CUresult result = driver->cuKernelGetParamInfo(handle, i, &offset, &size);
        if (result != CUDA_SUCCESS)
            return cf__fail(CF_EIMAGE, "%s: its image does not know %s, parameter %" PRIu32 " of its descriptor",
                            kernel->function, param->name, i);
        if (size != expected)
            return cf__fail(CF_EIMAGE, "%s: %s has %zu bytes in its image and %zu in its descriptor", kernel->function,
                            param->name, size, expected);
    }
    return CF_OK;
}

static int load_function(const cf_kernel *kernel, const struct cf__driver *driver, CUfunction *function)
{
    if (driver->is_host) {
        if (!kernel->host)
            return cf__fail(CF_ENOTSUP, "%s: it cannot run on the CPU", kernel->function);
        *function = (CUfunction)(void *)(uintptr_t)kernel;
        return CF_OK;
    }
    if (!kernel->image)
        return cf__fail(CF_ENOCODE, "%s: it was built for the CPU alone; build it where nvcc is", kernel->function);
    int status = check_device(kernel, driver);
    if (status != CF_OK)
        return status;

    /* Loading allocates memory, which must not break a capture that another stream is in. */
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    (void)driver->cuThreadExchangeStreamCaptureMode(&mode);
    CUlibrary library;
    CUkernel handle;
    status = load_library(kernel, driver, &library);
    if (status == CF_OK) {
        const char *call = "cuLibraryGetKernel";
        CUresult result = driver->cuLibraryGetKernel(&handle, library, kernel->entry);
        if (result == CUDA_SUCCESS) {
            call = "cuKernelGetFunction";
            result = driver->cuKernelGetFunction(function, handle);
        }
        status = result == CUDA_SUCCESS
                     ? check_parameters(kernel, driver, handle)
                     : cf__fail_driver(driver, result, call, "%s: finding %s", kernel->function, kernel->entry);
    }
    (void)driver->cuThreadExchangeStreamCaptureMode(&mode);
    return status;
}

static int add_function(const cf_kernel *kernel, const struct cf__driver *driver, unsigned long long context,
                        CUfunction *function)
{
    int status = load_function(kernel, driver, function);
    if (status != CF_OK)
        return status;
    struct function *node = malloc(sizeof *node);
    if (!node)
        return cf__fail(CF_ENOMEM, "%s: no memory to load it", kernel->function);
    cf_state *state = kernel->state;
    *node = (struct function){context, *function, state->loaded};
    if (state->loaded)
        __atomic_store_n(&state->loaded, node, __ATOMIC_RELEASE);
    else
        keep(&kernels, state, node);
    return CF_OK;
}

int cf__function(const cf_kernel *kernel, const struct cf__place *place, CUfunction *function)
{
    unsigned long long context;
    CUresult result = place->driver->cuCtxGetId(place->context, &context);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuCtxGetId", "%s", kernel->function);
    if (find(kernel, context, function))
        return CF_OK;
    pthread_mutex_lock(&lock);
    int status = find(kernel, context, function) ? CF_OK : add_function(kernel, place->driver, context, function);
    pthread_mutex_unlock(&lock);
    return status;
}

void cf__image_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cf__image_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void cf__images_unload(const struct cf__driver *cuda)
{
    pthread_mutex_lock(&lock);
    for (cf_state *state; (state = kernels) != NULL;) {
        for (struct function *node = state->loaded, *next; node; node = next) {
            next = node->next;
            free(node);
        }
        kernels = state->next;
        *state = (cf_state){NULL, NULL};
    }
    for (cf_state *state; (state = images) != NULL;) {
        if (cuda)
            (void)cuda->cuLibraryUnload(state->loaded);
        images = state->next;
        *state = (cf_state){NULL, NULL};
    }
    pthread_mutex_unlock(&lock);
}
