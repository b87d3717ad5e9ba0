/* image.c - loads images when they are first used, and looks up kernels and symbols in them for each context.
 *
 * An image becomes one CUlibrary for the process. The state of a kernel or a symbol is a list with a node per context.
 * Searches take no lock, because nodes are only added until cf_shutdown(). Contexts are identified by their ids,
 * because the driver reuses their addresses.
 *
 * dlclose() may unmap a descriptor and its state. Libraries and nodes stay until cf_shutdown(), which finds them in
 * lists of this file. If another object is loaded at the same address, its states begin as zeros. */
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

#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "model/array_table.h"
#include "model/descriptor.h"
#include "model/expr.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "trace/trace.h"
#include "trace/trace_driver.h"
#include "context/context.h"
#include "context/enter.h"
#include "context/lost.h"
#include "kernel/aligned_args.h"
#include "kernel/image_check.h"
#include "kernel/tuning.h"

/* A kernel or a symbol to be loaded. */
struct item {
    const char *function; /* name of the entry point, for error messages */
    const cf_image *image;
    const char *entry;
    cf_state *state;
    const cf_kernel *kernel; /* kernel; NULL for a symbol */
    const cf_symbol *symbol; /* symbol; NULL for a kernel */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cf__loaded *nodes; /* list of the nodes of all states */
static struct library {
    CUlibrary handle;
    cf_state *state; /* state of the image; NULL: the image was rejected */
    int is_in_object;
    struct library *next;
} * libraries;

/* Returns the address of the program or shared object that contains the state; NULL if it has been closed. */
static const void *find_object(const cf_state *state)
{
    Dl_info info;
    return dladdr(state, &info) ? info.dli_fbase : NULL;
}

static int is_in_object(const cf_state *state)
{
    return find_object(state) != NULL;
}

/* Clears a state, unless dlclose() has unmapped it or another object has been loaded at its address. */
static void clear_state(cf_state *state, int was_in_object, const void *loaded)
{
    if (state && (!was_in_object || is_in_object(state)) && state->loaded == loaded)
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

/* ---- Loading; the caller holds the lock ---- */

/* Loads an image as a library. The driver's compiler writes its messages to `log`, of `size` bytes, unless it is
 * NULL. */
static int load_library(const char *function, const cf_image *image, const struct cf__driver *driver, char *log,
                        size_t size, CUlibrary *library)
{
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)size};
    cf_state *state = image->state;
    *library = state->loaded;
    if (*library)
        return CF_OK;
    int status = cf__image_check_intact(function, image);
    if (status != CF_OK)
        return status;
    struct library *made = malloc(sizeof *made);
    if (!made)
        return cf__fail(CF_ENOMEM, "%s: no memory to load its image", function);
    const char *call = "cuLibraryLoadData";
    CUresult result = driver->cuLibraryLoadData(library, image->begin, options, values, log ? 2 : 0, NULL, NULL, 0);
    if (result == CUDA_SUCCESS && log) { /* newer drivers check PTX only when its module is requested */
        CUmodule module;
        call = "cuLibraryGetModule";
        result = driver->cuLibraryGetModule(&module, *library);
        if (result != CUDA_SUCCESS && driver->cuLibraryUnload(*library) != CUDA_SUCCESS) {
            *made = (struct library){*library, NULL, 0, libraries}; /* cf_shutdown() tries to unload it again */
            libraries = made;
            made = NULL;
        }
    }
    if (result != CUDA_SUCCESS) {
        free(made);
        return cf__fail_driver(driver, result, call, "%s: loading its image", function);
    }
    *made = (struct library){*library, state, is_in_object(state), libraries};
    libraries = made;
    __atomic_store_n(&state->loaded, *library, __ATOMIC_RELEASE);
    cf__log(CF_LOG_INFO, "%s: its image of %td bytes was loaded", function, image->end - image->begin);
    return CF_OK;
}

/* Returns the name of the text that declares a kernel's parameters, for error messages. */
static const char *name_origin(const cf_kernel *kernel)
{
    return kernel->is_of_program ? "signature" : "descriptor";
}

static size_t param_size(const cf_param *param)
{
    return param->direction == CF_VALUE ? param->bytes : sizeof(void *);
}

static int check_parameter_count(const cf_kernel *kernel, const struct cf__driver *driver, CUkernel handle)
{
    size_t offset, size = 0;
    uint32_t count = kernel->nparams - kernel->nadded;
    CUresult result = driver->cuKernelGetParamInfo(handle, count, &offset, &size);
    if (result == CUDA_SUCCESS)
        return cf__fail(CF_EIMAGE,
                        "%s: its image has a parameter of %zu bytes after the %" PRIu32 " parameters of its %s",
                        kernel->function, size, count, name_origin(kernel));
    return result == CUDA_ERROR_INVALID_VALUE ? CF_OK
                                              : cf__fail_driver(driver, result, "cuKernelGetParamInfo",
                                                                "%s: counting its parameters", kernel->function);
}

/* Compares the sizes of the kernel's own parameters in the image, which newer drivers report, with the descriptor. */
static int check_parameters(const cf_kernel *kernel, const struct cf__driver *driver, CUkernel handle)
{
    if (!driver->cuKernelGetParamInfo)
        return CF_OK;
    for (uint32_t i = 0; i < kernel->nparams - kernel->nadded; i++) {
        const cf_param *param = &kernel->params[i];
        size_t offset, size = 0, expected = param_size(param);
        CUresult result = driver->cuKernelGetParamInfo(handle, i, &offset, &size);
        if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE)
            return cf__fail_driver(driver, result, "cuKernelGetParamInfo", "%s: asking for %s", kernel->function,
                                   param->name);
        if (result != CUDA_SUCCESS)
            return cf__fail(CF_EIMAGE, "%s: its image does not know %s, parameter %" PRIu32 " of its %s",
                            kernel->function, param->name, i, name_origin(kernel));
        if (size != expected)
            return cf__fail(CF_EIMAGE, "%s: %s has %zu bytes in its image and %zu in its %s", kernel->function,
                            param->name, size, expected, name_origin(kernel));
    }
    return check_parameter_count(kernel, driver, handle);
}

/* Compares the sizes of parameters in the CPU body with the descriptor. */
static int check_cpu_parameters(const cf_kernel *kernel)
{
    for (uint32_t i = 0; kernel->cpu_bytes && i < kernel->nparams; i++)
        if (kernel->cpu_bytes[i] != param_size(&kernel->params[i]))
            return cf__fail(CF_EIMAGE, "%s: %s has %" PRIu32 " bytes in its form for the CPU and %zu in its descriptor",
                            kernel->function, kernel->params[i].name, kernel->cpu_bytes[i],
                            param_size(&kernel->params[i]));
    return CF_OK;
}

/* For the CPU driver, a kernel's function handle is the kernel's descriptor. */
static int load_cpu_kernel(const cf_kernel *kernel, struct cf__loaded *node)
{
    if (!kernel->cpu_body)
        return cf__fail(CF_ENOTSUP, "%s: it has no form for the CPU: %s", kernel->function,
                        kernel->is_of_program ? "its program is GPU code"
                                              : "its annotation has host(none), or image(...) without host(function)");
    node->function = (CUfunction)(void *)(uintptr_t)kernel;
    return check_cpu_parameters(kernel);
}

static int find_kernel(const struct item *item, const struct cf__driver *driver, CUlibrary library,
                       struct cf__loaded *node)
{
    CUkernel handle;
    const char *call = "cuLibraryGetKernel";
    CUresult result = driver->cuLibraryGetKernel(&handle, library, item->entry);
    if (result == CUDA_ERROR_NOT_FOUND && item->kernel->is_of_program)
        return cf__fail(CF_EIMAGE,
                        "%s: its program has no kernel %s; the name of a kernel in C++ is mangled, unless it is "
                        "extern \"C\" or in options.names",
                        item->function, item->entry);
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
        status = cf__fail(CF_EIMAGE, "%s: %s has %zu bytes in its image and %zu in %s", item->function,
                          item->symbol->name, size, expected, item->symbol->ctype ? "its descriptor" : "the call");
    return status;
}

/* A tuned kernel has no code of its own: its node stores the chosen variants, whose code is loaded separately. */
static int choose_variants(const cf_kernel *kernel, const struct cf__driver *driver, struct cf__loaded *node)
{
    int capability = 0;
    CUdevice device;
    int status = driver->is_cpu ? CF_OK : cf__query_capability(kernel->function, driver, &device, &capability);
    if (status == CF_OK)
        cf__tuning_choose(kernel, capability, &node->choice);
    return status;
}

/* Only some devices support clusters of more blocks. */
#define PORTABLE_CLUSTER 8

/* Devices before 9.0 support no clusters, and never start a dependent kernel early, which is always correct. */
static int prepare_attributes(const cf_kernel *kernel, const struct cf__driver *driver, struct cf__loaded *node)
{
    const cf_launch_rule *rule = &kernel->launch;
    int capability = 90;
    CUdevice device = 0;
    int status = rule->passes_cluster || rule->is_dependent
                     ? cf__query_capability(kernel->function, driver, &device, &capability)
                     : CF_OK;
    if (status != CF_OK)
        return status;
    if (rule->passes_cluster && capability < 90)
        return cf__fail(CF_ENOTSUP,
                        "%s: cluster(...) needs a GPU of compute capability 9.0 or newer, and device %d has %d.%d",
                        kernel->function, device, capability / 10, capability % 10);
    node->is_dependent = rule->is_dependent && capability >= 90;
    if (cf__cluster_size(rule, 0) * cf__cluster_size(rule, 1) * cf__cluster_size(rule, 2) <= PORTABLE_CLUSTER)
        return CF_OK;
    CUresult result =
        driver->cuFuncSetAttribute(node->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    return result == CUDA_SUCCESS
               ? CF_OK
               : cf__fail_driver(driver, result, "cuFuncSetAttribute", "%s: allowing clusters of more than %d blocks",
                                 kernel->function, PORTABLE_CLUSTER);
}

static int load_item(const struct item *item, const struct cf__driver *driver, struct cf__loaded *node)
{
    if (item->kernel && cf__is_tuned(item->kernel))
        return choose_variants(item->kernel, driver, node);
    if (cf_kernel_is_operation(item->kernel))
        return CF_OK; /* an operation's kernels are loaded separately */
    if (driver->is_cpu)
        return load_cpu_kernel(item->kernel, node);
    if (!item->image)
        return cf__fail(CF_ENOCODE, "%s: it was built for the CPU alone; build it where nvcc is", item->function);
    int status = cf__image_check_device(item->function, item->image, driver);
    if (status != CF_OK)
        return status;

    CUlibrary library;
    int mode = cf__capture_relax(driver);
    status = load_library(item->function, item->image, driver, NULL, 0, &library);
    if (status == CF_OK)
        status = (item->kernel ? find_kernel : find_symbol)(item, driver, library, node);
    if (status == CF_OK && item->kernel)
        status = prepare_attributes(item->kernel, driver, node);
    cf__capture_restore(driver, mode);
    return status;
}

/* Returns 1 if a launch is a single cuLaunchKernel(): it has no attributes, scratch memory or zero(...) and is not an
 * operation. On the CPU, it also has no host(grid(...)) to check and no arrays that may have to be aligned. */
static int is_simple(const cf_kernel *kernel, const struct cf__driver *driver, const struct cf__loaded *made)
{
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (cf__takes_scratch(&kernel->params[i]))
            return 0;
    return made->function && !cf__launch_has_attributes(kernel, made) && !cf_kernel_is_operation(kernel) &&
           kernel->nzeros == 0 && !(driver->is_cpu && (kernel->cpu_grid.ops || cf__has_aligned_args(kernel)));
}

/* Finds a node whose context is gone. Searches by context skip such nodes, which a new context reuses. */
static struct cf__loaded *find_spare_node(const cf_state *state)
{
    struct cf__loaded *node = state->loaded;
    while (node && node->context != CF__NO_CONTEXT &&
           node->context == __atomic_load_n(&node->owner->id, __ATOMIC_ACQUIRE))
        node = node->next;
    return node;
}

/* Removes a node that belongs to no state from the list, so that it can be reused. Such nodes are not freed before
 * cf_shutdown(), because launches in flight may still refer to their names. */
static struct cf__loaded *take_orphan(const char *name)
{
    for (struct cf__loaded **link = &nodes, *node; (node = *link) != NULL; link = &node->next_of_all)
        if (!node->state && strcmp(node->name, name) == 0) {
            *link = node->next_of_all;
            return node;
        }
    return NULL;
}

/* Makes a node, or reuses one. Returns NULL if there is no memory. */
static struct cf__loaded *make_node(const struct item *item)
{
    size_t bytes = strlen(item->function) + 1;
    struct cf__loaded *node = take_orphan(item->function);
    if (!node)
        node = malloc(sizeof *node + bytes);
    if (!node)
        return NULL;
    *node = (struct cf__loaded){.context = CF__NO_CONTEXT,
                                .next = item->state->loaded,
                                .state = item->state,
                                .is_in_object = is_in_object(item->state)};
    if (item->kernel)
        cf__array_table_fill(item->kernel, &node->table);
    memcpy(node->name, item->function, bytes);
    return node;
}

static int add_node(const struct item *item, const struct cf__driver *driver, unsigned long long context,
                    struct cf__context *owner, struct cf__loaded **loaded)
{
    cf_state *state = item->state;
    struct cf__loaded made = {.shared = -1}, *spare = find_spare_node(state);
    const int is_choice = item->kernel && cf__is_tuned(item->kernel);
    int64_t began = is_choice ? 0 : cf__trace_span_begin();
    int status = load_item(item, driver, &made);
    cf__trace_span_end(began, "load", item->function, NULL);
    if (status != CF_OK)
        return status;
    struct cf__loaded *node = spare ? spare : make_node(item);
    if (!node)
        return cf__fail(CF_ENOMEM, "%s: no memory to load it", item->function);
    if (made.function)
        cf__trace_note_kernel(made.function, item->kernel);
    if (!spare) {
        node->next_of_all = nodes;
        nodes = node;
    }
    node->owner = owner;
    node->device = owner->device;
    node->is_dependent = made.is_dependent;
    node->is_simple = item->kernel && is_simple(item->kernel, driver, &made);
    node->function = made.function;
    node->address = made.address;
    node->block = made.block;
    node->choice = made.choice;
    node->shared = made.shared;
    __atomic_store_n(&node->context, context, __ATOMIC_RELEASE);
    if (!spare)
        __atomic_store_n(&state->loaded, node, __ATOMIC_RELEASE);
    *loaded = node;
    return CF_OK;
}

/* Reports a call from the log's callback. The call must not wait for the lock, since its thread may hold the lock. */
static int fail_in_callback(const char *function)
{
    return cf__fail(CF_EINVAL, "%s: called from the callback of cf_set_log()", function);
}

static int find_or_load(const struct item *item, const struct cf__scope *scope, struct cf__loaded **loaded)
{
    unsigned long long context;
    CUresult result = scope->driver->cuCtxGetId(scope->context, &context);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuCtxGetId", "%s", item->function);
    if ((*loaded = cf__loaded_in(item->state, context)) != NULL)
        return CF_OK;
    struct cf__context *owner;
    int status = cf__scope_context(scope, item->function, &owner);
    if (status != CF_OK)
        return status;
    if (cf__log_is_inside())
        return fail_in_callback(item->function);
    cf__image_lock();
    *loaded = cf__loaded_in(item->state, context);
    if (!*loaded)
        status = add_node(item, scope->driver, context, owner, loaded);
    cf__image_unlock();
    return status;
}

int cf__kernel_load(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded **loaded)
{
    const struct item item = {kernel->function, kernel->image, kernel->entry, kernel->state, kernel, NULL};
    return find_or_load(&item, scope, loaded);
}

int cf__image_load(const char *function, const cf_image *image, const struct cf__scope *scope, char *log, size_t size)
{
    CUlibrary library;
    if (cf__log_is_inside())
        return fail_in_callback(function);
    int status = cf__image_check_device(function, image, scope->driver);
    if (status != CF_OK)
        return status;
    cf__image_lock();
    int mode = cf__capture_relax(scope->driver);
    status = load_library(function, image, scope->driver, log, size, &library);
    cf__capture_restore(scope->driver, mode);
    cf__image_unlock();
    return status;
}

int cf__symbol_load(const cf_symbol *symbol, const struct cf__scope *scope, struct cf__loaded **loaded)
{
    const struct item item = {symbol->function, symbol->image, symbol->entry, symbol->state, NULL, symbol};
    return find_or_load(&item, scope, loaded);
}

/* ---- Attributes of a loaded kernel ---- */

int cf__kernel_auto_block(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, int *block)
{
    int grid;
    *block = __atomic_load_n(&loaded->block, __ATOMIC_RELAXED);
    if (*block)
        return CF_OK;
    int mode = cf__capture_relax(scope->driver);
    CUresult result = scope->driver->cuOccupancyMaxPotentialBlockSize(&grid, block, loaded->function, NULL, 0, 0);
    cf__capture_restore(scope->driver, mode);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuOccupancyMaxPotentialBlockSize", "%s: block(auto)",
                               kernel->function);
    __atomic_store_n(&loaded->block, *block, __ATOMIC_RELAXED); /* concurrent threads compute the same value */
    return CF_OK;
}

/* Raises the limit to `bytes` if it is lower. The caller holds the lock. */
static CUresult raise_shared_limit(const struct cf__driver *driver, struct cf__loaded *loaded, int bytes,
                                   const char **call)
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

int cf__kernel_try_shared(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, int bytes,
                          CUresult *result, const char **call)
{
    *result = CUDA_SUCCESS;
    if (bytes <= __atomic_load_n(&loaded->shared, __ATOMIC_ACQUIRE))
        return CF_OK;
    if (cf__log_is_inside())
        return fail_in_callback(kernel->function);
    cf__image_lock();
    int mode = cf__capture_relax(scope->driver);
    *result = raise_shared_limit(scope->driver, loaded, bytes, call);
    cf__capture_restore(scope->driver, mode);
    cf__image_unlock();
    return CF_OK;
}

int cf__kernel_set_shared(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, int bytes,
                          void *const args[])
{
    const char *call;
    CUresult result;
    int status = cf__kernel_try_shared(kernel, scope, loaded, bytes, &result, &call);
    if (status != CF_OK || result == CUDA_SUCCESS)
        return status;
    const cf_expr *expr = &kernel->launch.shared;
    if (result != CUDA_ERROR_INVALID_VALUE)
        return cf__fail_driver(scope->driver, result, call, "%s: shared(%s)", kernel->function, expr->text);
    char values[CF__VALUES];
    int most = 0;
    CUdevice device;
    if (scope->driver->cuCtxGetDevice(&device) == CUDA_SUCCESS)
        (void)scope->driver->cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
    cf__describe_values(&(struct cf__operands){kernel, args}, &expr, 1, values, sizeof values);
    return cf__fail(CF_EINVAL, "%s: shared(%s) is %d bytes%s, and the device has at most %d for a block",
                    kernel->function, expr->text, bytes, values, most);
}

/* ---- The end ---- */

/* Returns 1 if the state is `one`, or is data of the shared object at `object`. */
static int is_part(const cf_state *state, int is_in_object, const cf_state *one, const void *object)
{
    return state == one || (object && is_in_object && find_object(state) == object);
}

/* Unloads the libraries of the shared object that contains a state, or all libraries if `state` is NULL. If unloading
 * fails, the library stays usable and can be unloaded later. The caller holds the lock. */
static int unload_libraries(const char *function, const struct cf__driver *cuda, const cf_state *state)
{
    const void *object = state ? find_object(state) : NULL;
    int status = CF_OK;
    for (struct library **link = &libraries, *library; (library = *link) != NULL;) {
        int is_meant = !state || is_part(library->state, library->is_in_object, state, object);
        CUresult result = is_meant && cuda ? cuda->cuLibraryUnload(library->handle) : CUDA_SUCCESS;
        int has_failed = result != CUDA_SUCCESS && !cf__result_is_gone(result);
        if (has_failed)
            status = cf__fail_driver(cuda, result, "cuLibraryUnload", "%s: unloading an image", function);
        if (!is_meant || has_failed) {
            link = &library->next;
            continue;
        }
        *link = library->next;
        clear_state(library->state, library->is_in_object, library->handle);
        free(library);
    }
    return status;
}

int cf__image_unload(const char *function, const struct cf__driver *cuda, const cf_image *image)
{
    int mode = cuda ? cf__capture_relax(cuda) : -1;
    int status = unload_libraries(function, cuda, image->state);
    cf__capture_restore(cuda, mode);
    return status;
}

static void retire_node(struct cf__loaded *node)
{
    __atomic_store_n(&node->context, CF__NO_CONTEXT, __ATOMIC_RELEASE);
    node->state = NULL;
}

void cf__state_retire(cf_state *state)
{
    for (struct cf__loaded *node = state->loaded; node; node = node->next)
        retire_node(node);
    __atomic_store_n(&state->loaded, NULL, __ATOMIC_RELEASE);
}

void cf__object_retire(const cf_state *state)
{
    const void *object = find_object(state);
    for (struct cf__loaded *node = nodes; node; node = node->next_of_all)
        if (node->state && is_part(node->state, node->is_in_object, state, object))
            retire_node(node);
}

int cf__images_unload(const struct cf__driver *cuda)
{
    cf__image_lock();
    int status = unload_libraries("cf_shutdown", cuda, NULL);
    for (struct cf__loaded *node; (node = nodes) != NULL;) {
        nodes = node->next_of_all;
        clear_state(node->state, node->is_in_object, node);
        free(node);
    }
    if (cf__context_observer.images_unloaded)
        cf__context_observer.images_unloaded();
    cf__image_unlock();
    return status;
}

void cf__images_drop(unsigned long long context)
{
    cf__image_lock();
    for (struct cf__loaded *node = nodes; node; node = node->next_of_all)
        if (node->context == context)
            __atomic_store_n(&node->context, CF__NO_CONTEXT, __ATOMIC_RELEASE);
    cf__image_unlock();
}
