/* fake_kernel.c - images and launches of the fake driver: finds the kernels of an image in the registry that it was
 * linked with, by the names of their entry points, and runs their CPU bodies. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#include "fake_libcuda.h"

#define MAX_PARAMS 64

/* ---- Images ---- */

/* The size that a fatbin's header tells; 0 where it is none. */
static size_t fatbin_size(const unsigned char *code)
{
    uint32_t magic;
    uint16_t header;
    uint64_t body;
    memcpy(&magic, code, sizeof magic);
    memcpy(&header, code + 6, sizeof header);
    memcpy(&body, code + 8, sizeof body);
    return magic == 0xBA55ED50 ? header + (size_t)body : 0;
}

static const cf_image *find_image(const unsigned char *code, size_t size)
{
    const cf_kernel *kernel;
    for (size_t i = 0; (kernel = cf_kernel_at(&cf_registry, i)) != NULL; i++)
        if (kernel->image && fatbin_size(kernel->image->begin) == size && memcmp(kernel->image->begin, code, size) == 0)
            return kernel->image;
    return NULL;
}

/* Needs no context. An image of other kernels than the registry's loads, and nothing is found in it. */
CUresult fake_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit_options, void **jit_values,
                                unsigned int jit_count, CUlibraryOption *options, void **values, unsigned int count)
{
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    TRY(fake_begin());
    size_t size = code ? fatbin_size(code) : 0;
    if (size == 0)
        return fake_end(CUDA_ERROR_INVALID_IMAGE);
    TRY(fake.load);
    fake_dawdle();
    *library = fake_add(FAKE_LIBRARY, sizeof **library, NULL);
    (*library)->image = find_image(code, size);
    return fake_end(CUDA_SUCCESS);
}

/* Its kernels and their functions go with it. */
CUresult fake_cuLibraryUnload(CUlibrary library)
{
    TRY(fake_begin());
    if (!fake_is_live(library, FAKE_LIBRARY))
        return fake_end(CUDA_ERROR_INVALID_HANDLE);
    for (struct fake_object *object = fake_objects, *next; object; object = next) {
        next = object->next;
        if (object->kind == FAKE_FUNCTION && ((CUfunction)(void *)object)->kernel->library == library)
            fake_remove(object);
    }
    for (struct fake_object *object = fake_objects, *next; object; object = next) {
        next = object->next;
        if (object->kind == FAKE_KERNEL && ((CUkernel)(void *)object)->library == library)
            fake_remove(object);
    }
    fake_remove(library);
    return fake_end(CUDA_SUCCESS);
}

static const cf_kernel *find_entry(const cf_image *image, const char *entry)
{
    const cf_kernel *kernel;
    for (size_t i = 0; image && (kernel = cf_kernel_at(&cf_registry, i)) != NULL; i++)
        if (kernel->image == image && strcmp(kernel->entry, entry) == 0)
            return kernel;
    return NULL;
}

CUresult fake_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    TRY(fake_begin());
    if (!fake_is_live(library, FAKE_LIBRARY))
        return fake_end(CUDA_ERROR_INVALID_HANDLE);
    const cf_kernel *found = find_entry(library->image, name);
    if (!found)
        return fake_end(CUDA_ERROR_NOT_FOUND);
    for (struct fake_object *object = fake_objects; object; object = object->next) {
        *kernel = (CUkernel)(void *)object;
        if (object->kind == FAKE_KERNEL && (*kernel)->library == library && (*kernel)->kernel == found)
            return fake_end(CUDA_SUCCESS);
    }
    *kernel = fake_add(FAKE_KERNEL, sizeof **kernel, NULL);
    (*kernel)->library = library;
    (*kernel)->kernel = found;
    return fake_end(CUDA_SUCCESS);
}

/* Machine code runs on its major version from its minor version on; PTX from its target on, if the driver knows it. */
static CUresult check_code(const cf_image *image, int capability)
{
    for (const uint16_t *sm = image->sm; *sm; sm++)
        if (*sm / 10 == capability / 10 && *sm <= capability)
            return CUDA_SUCCESS;
    for (const uint16_t *ptx = image->ptx; *ptx; ptx++)
        if (*ptx <= capability)
            return (int)image->toolkit <= fake.version ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult fake_cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    CUcontext context;
    TRY(fake_begin());
    if (!fake_is_live(kernel, FAKE_KERNEL))
        return fake_end(CUDA_ERROR_INVALID_HANDLE);
    TRY(fake_current(&context));
    TRY(check_code(kernel->kernel->image, fake.capability[context->device]));
    for (struct fake_object *object = fake_objects; object; object = object->next) {
        *function = (CUfunction)(void *)object;
        if (object->kind == FAKE_FUNCTION && object->context == context && (*function)->kernel == kernel)
            return fake_end(CUDA_SUCCESS);
    }
    *function = fake_add(FAKE_FUNCTION, sizeof **function, context);
    (*function)->kernel = kernel;
    return fake_end(CUDA_SUCCESS);
}

static size_t param_size(const cf_param *param)
{
    return param->direction == CF_VALUE ? param->bytes : sizeof(void *);
}

CUresult fake_cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
    CUcontext context;
    TRY(fake_begin());
    if (!fake_is_live(kernel, FAKE_KERNEL))
        return fake_end(CUDA_ERROR_INVALID_HANDLE);
    TRY(fake_current(&context));
    if (index >= kernel->kernel->nparams)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    size_t end = 0;
    for (size_t i = 0; i <= index; i++) {
        *size = param_size(&kernel->kernel->params[i]);
        *offset = (end + *size - 1) / *size * *size; /* parameters lie as the members of a struct */
        end = *offset + *size;
    }
    return fake_end(CUDA_SUCCESS);
}

/* ---- Launches ---- */

struct launch {
    struct fake_work work;
    const cf_kernel *kernel;
    cf_dim3 grid, block;
    uint64_t values[MAX_PARAMS]; /* of the arguments, as the call found them */
};

/* The argument as the CPU sees it; 0 where a kernel that reads its first element would fault. Further elements are the
 * kernel's matter: no GPU checks where its arrays end either. */
static int translate(CUcontext context, const cf_kernel *kernel, uint32_t i, void *const args[], uint64_t *value)
{
    struct cf__array array = {1, 1};
    const cf_param *param = &kernel->params[i];
    if (param->direction == CF_VALUE || (param->direction == CF_POINTER && !*value) ||
        (param->direction != CF_POINTER && cf__array(kernel, i, args, &array) == CF_OK && !array.count))
        return 1;
    *value = (uintptr_t)fake_reach_from(context, *value);
    return *value != 0;
}

static void run_launch(CUcontext context, struct fake_work *work)
{
    struct launch *launch = (struct launch *)work;
    const cf_kernel *kernel = launch->kernel;
    void *given[MAX_PARAMS], *translated[MAX_PARAMS];
    uint64_t values[MAX_PARAMS];
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        given[i] = &launch->values[i];
        translated[i] = &values[i];
        values[i] = launch->values[i];
    }
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (!translate(context, kernel, i, given, &values[i])) {
            fake_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
            return;
        }
    const cf_host_launch what = {launch->grid, launch->block, translated};
    kernel->host(&what, 0, (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z);
}

static int is_launchable(cf_dim3 grid, cf_dim3 block)
{
    return grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= INT32_MAX && grid.y <= UINT16_MAX &&
           grid.z <= UINT16_MAX && block.x <= 1024 && block.y <= 1024 && block.z <= 64 &&
           (uint64_t)block.x * block.y * block.z <= 1024;
}

CUresult fake_cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                             unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
                             CUstream handle, void **args, void **extra)
{
    CUstream stream;
    const cf_dim3 grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    if (!fake_is_live(function, FAKE_FUNCTION) || function->object.context != stream->object.context)
        return fake_end(CUDA_ERROR_INVALID_HANDLE);
    if (shared || extra || !args || !is_launchable(grid, block))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    const cf_kernel *kernel = function->kernel->kernel;
    if (!kernel->host || kernel->nparams > MAX_PARAMS)
        return fake_end(CUDA_ERROR_NOT_SUPPORTED);
    struct launch *launch = fake_submit(stream, run_launch, sizeof *launch);
    launch->kernel = kernel;
    launch->grid = grid;
    launch->block = block;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        memcpy(&launch->values[i], args[i], param_size(&kernel->params[i]));
    return fake_end(CUDA_SUCCESS);
}
