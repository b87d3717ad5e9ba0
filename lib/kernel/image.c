/* image.c - loads images, lazily and once, and finds the kernels and the constants of a context in them.
 *
 * An image becomes one CUlibrary for the process. The state of a kernel or a symbol lists what it is in each context:
 * it is searched without the lock, and nodes are only ever added until cf_shutdown(). Contexts are told apart by their
 * id, since addresses are reused.
 *
 * A descriptor may go with the shared object that it is in, and its state with it; what is loaded stays until
 * cf_shutdown(), and is found from here. The state of an object that takes its place begins with zeros. */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "kernel/image.h"

#include "base/descriptor.h"
#include "base/error.h"
#include "base/log.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "trace/trace.h"
#include "trace/trace_driver.h"
#include "context/context.h"
#include "context/enter.h"
#include "context/lost.h"
#include "kernel/array_table.h"
#include "kernel/expr.h"
#include "kernel/tuning.h"

/* What is loaded: a kernel or a symbol, by what both have. */
struct item {
    const char *function; /* for messages */
    const cf_image *image;
    const char *entry;
    cf_state *state;
    const cf_kernel *kernel; /* one of these two */
    const cf_symbol *symbol;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cf__loaded *items;
static struct library {
    CUlibrary handle;
    cf_state *state; /* of its image */
    int is_in_object;
    struct library *next;
} * libraries;

/* Whether a state lies in the program or in a shared object that is open. */
static int is_in_object(const cf_state *state)
{
    Dl_info info;
    return dladdr(state, &info) != 0;
}

/* Of the library's, as it was when that was loaded. */
static void clear(cf_state *state, int was_in_object, const void *loaded)
{
    if ((!was_in_object || is_in_object(state)) && state->loaded == loaded)
        *state = (cf_state){NULL};
}

void cf__image_lock(void)
{
    cf__lock(&lock);
}

void cf__image_unlock(void)
{
    cf__unlock(&lock);
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

static int check_intact(const char *function, const cf_image *image)
{
    uint32_t crc = crc32(image->begin, image->end);
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

static int check_device(const char *function, const cf_image *image, const struct cf__driver *driver)
{
    int version = 0, major = 0, minor = 0;
    CUdevice device;
    const char *call = "cuDriverGetVersion";
    CUresult result = driver->cuDriverGetVersion(&version);
    if (result == CUDA_SUCCESS) {
        call = "cuCtxGetDevice";
        result = driver->cuCtxGetDevice(&device);
    }
    if (result == CUDA_SUCCESS) {
        call = "cuDeviceGetAttribute";
        result = driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    }
    if (result == CUDA_SUCCESS)
        result = driver->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(driver, result, call, "%s: asking for the device", function);
    if ((uint32_t)version / 1000 < image->toolkit / 1000)
        return cf__fail(CF_EDRIVER,
                        "%s: its image is of CUDA %u.%u and the driver is for CUDA %d.%d; update the driver, or build "
                        "with an older toolkit",
                        function, image->toolkit / 1000, image->toolkit % 1000 / 10, version / 1000,
                        version % 1000 / 10);
    if (!has_code(image, 10 * major + minor)) {
        char targets[128];
        list_targets(image, targets, sizeof targets);
        return cf__fail(CF_ENOCODE, "%s: its image has code for %s and device %d is sm_%d%d; build with --targets=%d%d",
                        function, *targets ? targets : "no target", device, major, minor, major, minor);
    }
    return CF_OK;
}

/* ---- Loading, with the lock ---- */

static int load_library(const char *function, const cf_image *image, const struct cf__driver *driver,
                        CUlibrary *library)
{
    cf_state *state = image->state;
    *library = state->loaded;
    if (*library)
        return CF_OK;
    int status = check_intact(function, image);
    if (status != CF_OK)
        return status;
    struct library *made = malloc(sizeof *made);
    if (!made)
        return cf__fail(CF_ENOMEM, "%s: no memory to load its image", function);
    CUresult result = driver->cuLibraryLoadData(library, image->begin, NULL, NULL, 0, NULL, NULL, 0);
    if (result != CUDA_SUCCESS) {
        free(made);
        return cf__fail_driver(driver, result, "cuLibraryLoadData", "%s: loading its image", function);
    }
    *made = (struct library){*library, state, is_in_object(state), libraries};
    libraries = made;
    __atomic_store_n(&state->loaded, *library, __ATOMIC_RELEASE);
    cf__log(CF_LOG_INFO, "%s: its image of %td bytes was loaded", function, image->end - image->begin);
    return CF_OK;
}

static size_t param_size(const cf_param *param)
{
    return param->direction == CF_VALUE ? param->bytes : sizeof(void *);
}

/* Newer drivers tell the parameters' sizes: the descriptor's must agree. */
static int check_parameters(const cf_kernel *kernel, const struct cf__driver *driver, CUkernel handle)
{
    if (!driver->cuKernelGetParamInfo)
        return CF_OK;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        size_t offset, size = 0, expected = param_size(param);
        CUresult result = driver->cuKernelGetParamInfo(handle, i, &offset, &size);
        if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE)
            return cf__fail_driver(driver, result, "cuKernelGetParamInfo", "%s: asking for %s", kernel->function,
                                   param->name);
        if (result != CUDA_SUCCESS)
            return cf__fail(CF_EIMAGE, "%s: its image does not know %s, parameter %" PRIu32 " of its descriptor",
                            kernel->function, param->name, i);
        if (size != expected)
            return cf__fail(CF_EIMAGE, "%s: %s has %zu bytes in its image and %zu in its descriptor", kernel->function,
                            param->name, size, expected);
    }
    return CF_OK;
}

/* The CPU body tells them too. */
static int check_host_parameters(const cf_kernel *kernel)
{
    for (uint32_t i = 0; kernel->host_bytes && i < kernel->nparams; i++)
        if (kernel->host_bytes[i] != param_size(&kernel->params[i]))
            return cf__fail(CF_EIMAGE, "%s: %s has %" PRIu32 " bytes in its form for the CPU and %zu in its descriptor",
                            kernel->function, kernel->params[i].name, kernel->host_bytes[i],
                            param_size(&kernel->params[i]));
    return CF_OK;
}

/* A function of the CPU's driver is the kernel's descriptor. */
static int load_host_kernel(const cf_kernel *kernel, struct cf__loaded *node)
{
    if (!kernel->host)
        return cf__fail(CF_ENOTSUP, "%s: it has no form for the CPU: its annotation says host(none)", kernel->function);
    node->function = (CUfunction)(void *)(uintptr_t)kernel;
    return check_host_parameters(kernel);
}

static int find_kernel(const struct item *item, const struct cf__driver *driver, CUlibrary library,
                       struct cf__loaded *node)
{
    CUkernel handle;
    const char *call = "cuLibraryGetKernel";
    CUresult result = driver->cuLibraryGetKernel(&handle, library, item->entry);
    if (result == CUDA_SUCCESS) {
        call = "cuKernelGetFunction";
        result = driver->cuKernelGetFunction(&node->function, handle);
    }
    return result == CUDA_SUCCESS
               ? check_parameters(item->kernel, driver, handle)
               : cf__fail_driver(driver, result, call, "%s: finding %s", item->function, item->entry);
}

static int find_symbol(const struct item *item, const struct cf__driver *driver, CUlibrary library,
                       struct cf__loaded *node)
{
    size_t size = 0, expected = 0;
    CUresult result = driver->cuLibraryGetGlobal(&node->address, &size, library, item->entry);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(driver, result, "cuLibraryGetGlobal", "%s: finding %s", item->function, item->entry);
    int status = cf__symbol_size(item->symbol, &expected);
    if (status == CF_OK && size != expected)
        status = cf__fail(CF_EIMAGE, "%s: %s has %zu bytes in its image and %zu in its descriptor", item->function,
                          item->symbol->name, size, expected);
    return status;
}

/* A kernel that stands for its variants has nothing to load: they do. */
static int choose_variants(const cf_kernel *kernel, const struct cf__driver *driver, struct cf__loaded *node)
{
    int major = 0, minor = 0;
    CUdevice device;
    const char *call = "cuCtxGetDevice";
    CUresult result = driver->is_cpu ? CUDA_SUCCESS : driver->cuCtxGetDevice(&device);
    if (result == CUDA_SUCCESS && !driver->is_cpu) {
        call = "cuDeviceGetAttribute";
        result = driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
        if (result == CUDA_SUCCESS)
            result = driver->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    }
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(driver, result, call, "%s: asking for the device", kernel->function);
    cf__tuning_choose(kernel, 10 * major + minor, &node->choice);
    return CF_OK;
}

static int load(const struct item *item, const struct cf__driver *driver, struct cf__loaded *node)
{
    if (item->kernel && cf__is_tuned(item->kernel))
        return choose_variants(item->kernel, driver, node);
    if (cf_kernel_is_operation(item->kernel))
        return CF_OK; /* what it is made of is loaded by itself */
    if (driver->is_cpu)
        return load_host_kernel(item->kernel, node);
    if (!item->image)
        return cf__fail(CF_ENOCODE, "%s: it was built for the CPU alone; build it where nvcc is", item->function);
    int status = check_device(item->function, item->image, driver);
    if (status != CF_OK)
        return status;

    CUlibrary library;
    int mode = cf__relax(driver);
    status = load_library(item->function, item->image, driver, &library);
    if (status == CF_OK)
        status = (item->kernel ? find_kernel : find_symbol)(item, driver, library, node);
    cf__unrelax(driver, mode);
    return status;
}

/* Whether a launch is a call of the driver and nothing else: no operation, neither cooperative nor with memory that is scratch or set
 * to 0, and on the CPU without a grid of its own, which is checked. */
static int is_simple(const cf_kernel *kernel, const struct cf__driver *driver)
{
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (kernel->params[i].direction == CF_SCRATCH)
            return 0;
    return !cf_kernel_is_operation(kernel) && !kernel->launch.is_cooperative && kernel->nzeros == 0 &&
           !(driver->is_cpu && kernel->host_grid.ops);
}

/* A node of a context that is gone: it is passed by until it has another one's id. */
static struct cf__loaded *spare(const cf_state *state)
{
    struct cf__loaded *node = state->loaded;
    while (node && node->context != CF__NO_CONTEXT &&
           node->context == __atomic_load_n(&node->owner->id, __ATOMIC_ACQUIRE))
        node = node->next;
    return node;
}

/* With the lock: one more node of its state. NULL where there is no memory. */
static struct cf__loaded *new_node(const struct item *item)
{
    size_t bytes = strlen(item->function) + 1;
    struct cf__loaded *node = malloc(sizeof *node + bytes);
    if (!node)
        return NULL;
    *node = (struct cf__loaded){.context = CF__NO_CONTEXT,
                                .next = item->state->loaded,
                                .state = item->state,
                                .is_in_object = is_in_object(item->state)};
    if (item->kernel)
        cf__array_table(item->kernel, &node->arrays);
    memcpy(node->name, item->function, bytes);
    return node;
}

static int add(const struct item *item, const struct cf__driver *driver, unsigned long long context,
               struct cf__context *owner, struct cf__loaded **loaded)
{
    cf_state *state = item->state;
    struct cf__loaded made = {.shared = -1}, *again = spare(state), *node = again ? again : new_node(item);
    if (!node)
        return cf__fail(CF_ENOMEM, "%s: no memory to load it", item->function);
    const int is_choice = item->kernel && cf__is_tuned(item->kernel);
    int64_t began = is_choice ? 0 : cf__trace_begin();
    int status = load(item, driver, &made);
    cf__trace_end(began, "load", item->function, NULL);
    if (status == CF_OK && made.function)
        cf__trace_kernel(made.function, item->kernel);
    if (status != CF_OK) {
        if (!again)
            free(node);
        return status;
    }
    node->owner = owner;
    node->device = owner->device;
    node->is_simple = made.function && is_simple(item->kernel, driver);
    node->function = made.function;
    node->address = made.address;
    node->block = made.block;
    node->choice = made.choice;
    node->shared = made.shared;
    __atomic_store_n(&node->context, context, __ATOMIC_RELEASE);
    if (!again) {
        node->after = items;
        items = node;
        __atomic_store_n(&state->loaded, node, __ATOMIC_RELEASE);
    }
    *loaded = node;
    return CF_OK;
}

/* The callback may have been called with the lock. */
static int fail_inside(const char *function)
{
    return cf__fail(CF_EINVAL, "%s: called from the callback of cf_set_log()", function);
}

static int find_or_add(const struct item *item, const struct cf__scope *scope, struct cf__loaded **loaded)
{
    unsigned long long context;
    CUresult result = scope->driver->cuCtxGetId(scope->context, &context);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuCtxGetId", "%s", item->function);
    if ((*loaded = cf__loaded_in(item->state, context)) != NULL)
        return CF_OK;
    struct cf__context *owner;
    int status = cf__context_get(scope, item->function, &owner);
    if (status != CF_OK)
        return status;
    if (cf__log_is_inside())
        return fail_inside(item->function);
    cf__image_lock();
    *loaded = cf__loaded_in(item->state, context);
    if (!*loaded)
        status = add(item, scope->driver, context, owner, loaded);
    cf__image_unlock();
    return status;
}

int cf__kernel_load(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded **loaded)
{
    const struct item item = {kernel->function, kernel->image, kernel->entry, kernel->state, kernel, NULL};
    return find_or_add(&item, scope, loaded);
}

int cf__symbol_load(const cf_symbol *symbol, const struct cf__scope *scope, struct cf__loaded **loaded)
{
    const struct item item = {symbol->function, symbol->image, symbol->entry, symbol->state, NULL, symbol};
    return find_or_add(&item, scope, loaded);
}

/* ---- What a loaded kernel is asked once ---- */

int cf__kernel_block(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, int *block)
{
    int grid;
    *block = __atomic_load_n(&loaded->block, __ATOMIC_RELAXED);
    if (*block)
        return CF_OK;
    int mode = cf__relax(scope->driver);
    CUresult result = scope->driver->cuOccupancyMaxPotentialBlockSize(&grid, block, loaded->function, NULL, 0, 0);
    cf__unrelax(scope->driver, mode);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuOccupancyMaxPotentialBlockSize", "%s: block(auto)",
                               kernel->function);
    __atomic_store_n(&loaded->block, *block, __ATOMIC_RELAXED); /* the same for every thread that asks */
    return CF_OK;
}

/* With the lock. */
static CUresult share(const struct cf__driver *driver, struct cf__loaded *loaded, int bytes, const char **call)
{
    int allowed = loaded->shared;
    CUresult result = CUDA_SUCCESS;
    *call = "cuFuncGetAttribute";
    if (allowed < 0)
        result =
            driver->cuFuncGetAttribute(&allowed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, loaded->function);
    if (result == CUDA_SUCCESS && allowed < bytes) {
        *call = "cuFuncSetAttribute";
        allowed = bytes;
        result = driver->cuFuncSetAttribute(loaded->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
    }
    if (result == CUDA_SUCCESS)
        __atomic_store_n(&loaded->shared, allowed, __ATOMIC_RELEASE);
    return result;
}

int cf__kernel_allow(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, int bytes,
                     CUresult *result, const char **call)
{
    *result = CUDA_SUCCESS;
    if (bytes <= __atomic_load_n(&loaded->shared, __ATOMIC_ACQUIRE))
        return CF_OK;
    if (cf__log_is_inside())
        return fail_inside(kernel->function);
    cf__image_lock();
    int mode = cf__relax(scope->driver);
    *result = share(scope->driver, loaded, bytes, call);
    cf__unrelax(scope->driver, mode);
    cf__image_unlock();
    return CF_OK;
}

int cf__kernel_share(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, int bytes,
                     void *const args[])
{
    const char *call;
    CUresult result;
    int status = cf__kernel_allow(kernel, scope, loaded, bytes, &result, &call);
    if (status != CF_OK || result == CUDA_SUCCESS)
        return status;
    const cf_expr *expr = &kernel->launch.shared;
    if (result != CUDA_ERROR_INVALID_VALUE)
        return cf__fail_driver(scope->driver, result, call, "%s: shared(%s)", kernel->function, expr->text);
    char values[160];
    int most = 0;
    CUdevice device;
    if (scope->driver->cuCtxGetDevice(&device) == CUDA_SUCCESS)
        (void)scope->driver->cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
    cf__describe(kernel, &expr, 1, args, values, sizeof values);
    return cf__fail(CF_EINVAL, "%s: shared(%s) is %d bytes%s%s, and the device has at most %d for a block",
                    kernel->function, expr->text, bytes, *values ? " with " : "", values, most);
}

/* ---- The end ---- */

/* With the lock. What fails stays, to be used, or tried again. */
static int unload_libraries(const struct cf__driver *cuda)
{
    int status = CF_OK;
    for (struct library **link = &libraries, *library; (library = *link) != NULL;) {
        CUresult result = cuda ? cuda->cuLibraryUnload(library->handle) : CUDA_SUCCESS;
        if (result != CUDA_SUCCESS && !cf__is_gone(result)) {
            status = cf__fail_driver(cuda, result, "cuLibraryUnload", "cf_shutdown: unloading an image");
            link = &library->next;
            continue;
        }
        *link = library->next;
        clear(library->state, library->is_in_object, library->handle);
        free(library);
    }
    return status;
}

int cf__images_unload(const struct cf__driver *cuda)
{
    cf__image_lock();
    int status = unload_libraries(cuda);
    for (struct cf__loaded *node; (node = items) != NULL;) {
        items = node->after;
        clear(node->state, node->is_in_object, node);
        free(node);
    }
    cf__image_unlock();
    return status;
}

void cf__images_drop(unsigned long long context)
{
    cf__image_lock();
    for (struct cf__loaded *node = items; node; node = node->after)
        if (node->context == context)
            __atomic_store_n(&node->context, CF__NO_CONTEXT, __ATOMIC_RELEASE);
    cf__image_unlock();
}
