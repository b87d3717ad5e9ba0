/* fake_kernel.c - images and launches of the played GPU. It looks up an image's kernels by their entry points in three
 * places: the registry that it is linked with, modules that tests add, and open shared objects. It runs their CPU
 * bodies. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <cuferry.h>

#include "model/descriptor.h"
#include "model/section.h"
#include "driver/driver.h"
#include "cpu/cpu_launch.h"
#include "fake_libcuda.h"

/* ---- Modules ---- */

#define MODULES 16

static const cf_module *modules[MODULES] = {&cf_registry}; /* then of tests, then of shared objects */
static int module_count = 1, added_count = 1;

__attribute__((visibility("default"))) fake_cuda_add_function fake_cuda_add;

/* Must be called before an image is loaded. */
void fake_cuda_add(const cf_module *module)
{
    for (int m = 0; m < added_count; m++)
        if (modules[m] == module)
            return;
    if (added_count == MODULES)
        abort();
    modules[added_count++] = module;
    module_count = added_count;
}

/* Adds the kernels of the shared objects that cfcc built and that are open now. */
static void add_loaded(void)
{
    struct link_map *map = NULL;
    module_count = added_count;
    void *program = dlopen(NULL, RTLD_NOW);
    if (!program || dlinfo(program, RTLD_DI_LINKMAP, &map) != 0)
        return;
    for (; map; map = map->l_next) {
        void *object = dlopen(map->l_name, RTLD_NOW | RTLD_NOLOAD);
        cf_module_info_function *info = NULL;
        if (object)
            *(void **)&info = dlsym(object, "cf_module_info");
        int is_known = !info;
        for (int m = 0; info && m < module_count; m++)
            is_known |= modules[m] == info();
        if (!is_known && module_count == MODULES)
            abort();
        if (!is_known)
            modules[module_count++] = info();
        if (object)
            dlclose(object);
    }
    dlclose(program);
}

/* Returns the i-th kernel of all modules, with variants after their kernel; NULL if there are no more. */
static const cf_kernel *kernel_at(size_t i)
{
    for (int m = 0; m < module_count; m++)
        for (size_t k = 0; k < modules[m]->count; k++) {
            const cf_kernel *kernel = modules[m]->kernels[k];
            if (i <= kernel->nvariants)
                return i == 0 ? kernel : kernel->variants[i - 1];
            i -= kernel->nvariants + 1;
        }
    return NULL;
}

/* ---- Images ---- */

/* Returns the size of an image, found from a fatbin's header, a cubin's tables or the end of PTX; 0 if it is no
 * image. */
static size_t image_size(const unsigned char *code)
{
    uint32_t magic;
    uint16_t header;
    uint64_t body;
    Elf64_Ehdr elf;
    memcpy(&magic, code, sizeof magic);
    memcpy(&header, code + 6, sizeof header);
    memcpy(&body, code + 8, sizeof body);
    if (magic == 0xBA55ED50)
        return header + (size_t)body;
    if (memcmp(code, ELFMAG, SELFMAG) == 0) {
        memcpy(&elf, code, sizeof elf);
        uint64_t sections = elf.e_shoff + (uint64_t)elf.e_shnum * elf.e_shentsize;
        uint64_t segments = elf.e_phoff + (uint64_t)elf.e_phnum * elf.e_phentsize;
        return sections > segments ? sections : segments;
    }
    return strstr((const char *)code, ".version") ? strlen((const char *)code) : 0;
}

static const cf_image *find_image(const unsigned char *code, size_t size)
{
    const cf_kernel *kernel;
    add_loaded();
    for (size_t i = 0; (kernel = kernel_at(i)) != NULL; i++)
        if (kernel->image && (size_t)(kernel->image->end - kernel->image->begin) == size &&
            memcmp(kernel->image->begin, code, size) == 0)
            return kernel->image;
    return NULL;
}

/* Plays the PTX compiler: writes a line for PTX that contains one of two known comments. */
static void write_compiler_log(const char *code, char *log)
{
    if (strstr(code, FAKE_WRONG_PTX))
        strcpy(log, "ptxas application ptx input, line 4; fatal   : Parsing error near 'wrong': syntax error\n");
    else if (strstr(code, FAKE_WARNING_PTX))
        strcpy(log, "ptxas application ptx input, line 4; warning : odd\n");
}

/* Works without a context. An image that is not in the registry can be loaded, but has no kernels. */
CUresult fake_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit_options, void **jit_values,
                                unsigned int jit_count, CUlibraryOption *options, void **values, unsigned int count)
{
    (void)options, (void)values, (void)count;
    TRY(fake_begin());
    TRY(fake_unsafe());
    size_t size = code ? image_size(code) : 0;
    if (size == 0)
        return fake_end(CUDA_ERROR_INVALID_IMAGE);
    /* The option with a log's size comes directly after the option with the log. */
    for (unsigned int i = 0; i + 1 < jit_count; i++)
        if (jit_options[i] == CU_JIT_ERROR_LOG_BUFFER && jit_options[i + 1] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            write_compiler_log(code, jit_values[i]);
    TRY(fake.load);
    fake_counts.load++;
    fake_dawdle();
    *library = fake_add(FAKE_LIBRARY, sizeof **library, NULL);
    (*library)->image = find_image(code, size);
    (*library)->is_wrong = strstr((const char *)code, FAKE_WRONG_PTX) != NULL;
    return fake_end(CUDA_SUCCESS);
}

/* As in the driver, wrong PTX can be loaded, and the error comes only when its module is requested. */
CUresult fake_cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    CUcontext context;
    TRY(fake_begin());
    if (!fake_is_live(library, FAKE_LIBRARY))
        return fake_end(CUDA_ERROR_INVALID_HANDLE);
    TRY(fake_current(&context));
    if (library->is_wrong)
        return fake_end(CUDA_ERROR_INVALID_PTX);
    *module = (CUmodule)(void *)library;
    return fake_end(CUDA_SUCCESS);
}

/* Also destroys the kernels and functions of the library. */
CUresult fake_cuLibraryUnload(CUlibrary library)
{
    TRY(fake_begin());
    TRY(fake_unsafe());
    if (!fake_is_live(library, FAKE_LIBRARY))
        return fake_end(CUDA_ERROR_INVALID_HANDLE);
    fake_drain_all();
    for (struct fake_object *object = fake_objects, *next; object; object = next) {
        next = object->next;
        if (object->kind == FAKE_FUNCTION && ((CUfunction)(void *)object)->kernel->library == library)
            fake_remove(object);
    }
    for (struct fake_object *object = fake_objects, *next; object; object = next) {
        next = object->next;
        if ((object->kind == FAKE_KERNEL && ((CUkernel)(void *)object)->library == library) ||
            (object->kind == FAKE_ALLOCATION && ((struct fake_allocation *)(void *)object)->library == library))
            fake_remove(object);
    }
    fake_remove(library);
    return fake_end(CUDA_SUCCESS);
}

static const cf_kernel *find_entry(const cf_image *image, const char *entry)
{
    const cf_kernel *kernel;
    add_loaded();
    for (size_t i = 0; image && (kernel = kernel_at(i)) != NULL; i++)
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

CUresult fake_cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUlibrary library, const char *name)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_unsafe());
    if (!fake_is_live(library, FAKE_LIBRARY))
        return fake_end(CUDA_ERROR_INVALID_HANDLE);
    TRY(fake_current(&context));
    add_loaded();
    for (int m = 0; library->image && m < module_count; m++)
        for (size_t i = 0; i < modules[m]->nsymbols; i++) {
            const cf_symbol *symbol = modules[m]->symbols[i];
            if (symbol->image != library->image || strcmp(symbol->entry, name) != 0)
                continue;
            TRY(fake_global(context, library, symbol, pointer));
            *bytes = *symbol->cpu_bytes;
            return fake_end(CUDA_SUCCESS);
        }
    return fake_end(CUDA_ERROR_NOT_FOUND);
}

/* Machine code runs on GPUs of the same major version whose minor version is equal or higher; PTX runs on its target
 * and newer GPUs. Code for 90a runs on 9.0 only, PTX for 100f on GPUs of the same major version. */
static int is_family(uint16_t target, int capability)
{
    const int of_target = CF_TARGET_CAPABILITY(target);
    return target & CF_TARGET_EXACT ? of_target == capability
                                    : of_target / 10 == capability / 10 && of_target % 10 <= capability % 10;
}

static CUresult check_code(const cf_image *image, int capability)
{
    for (const uint16_t *sm = image->sm; *sm; sm++)
        if (is_family(*sm, capability))
            return CUDA_SUCCESS;
    for (const uint16_t *ptx = image->ptx; *ptx; ptx++)
        if (is_family(*ptx, capability) || *ptx <= capability)
            return (int)image->toolkit <= fake.version ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult fake_cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_unsafe());
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
    (*function)->shared = 48 << 10;
    return fake_end(CUDA_SUCCESS);
}

/* Returns the number of threads that __launch_bounds__ allows. */
static unsigned int bound_of(const cf_kernel *kernel)
{
    return kernel->launch.max_block ? kernel->launch.max_block : 1024;
}

static CUresult check_function(CUfunction function)
{
    CUcontext context;
    CUresult result = fake_current(&context);
    if (result == CUDA_SUCCESS && (!fake_is_live(function, FAKE_FUNCTION) || function->object.context != context))
        result = CUDA_ERROR_INVALID_HANDLE;
    return result;
}

CUresult fake_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    TRY(fake_begin());
    TRY(check_function(function));
    fake_counts.get_attribute++;
    const unsigned int bound = bound_of(function->kernel->kernel);
    const struct {
        CUfunction_attribute attribute;
        int value;
    } known[] = {
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function->shared},
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, (int)(fake.threads < bound ? fake.threads : bound)},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1024},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 16},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, 32},
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION, fake.capability[function->object.context->device]},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return fake_end(CUDA_SUCCESS);
        }
    return fake_end(CUDA_ERROR_INVALID_VALUE);
}

CUresult fake_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    TRY(fake_begin());
    TRY(check_function(function));
    fake_counts.set_attribute++;
    if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
        return fake_end(CUDA_SUCCESS);
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 || value > fake.shared)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    function->shared = value;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                               size_t (*shared_of)(int block), size_t shared, int limit)
{
    TRY(fake_begin());
    TRY(check_function(function));
    fake_counts.best_block++;
    if (shared_of || shared || limit)
        return fake_end(CUDA_ERROR_NOT_SUPPORTED); /* the library uses none of these */
    *grid = fake.resident;
    *block = FAKE_BEST_BLOCK;
    return fake_end(CUDA_SUCCESS);
}

/* Returns as many blocks as a multiprocessor's threads and shared memory allow. */
CUresult fake_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared)
{
    TRY(fake_begin());
    TRY(check_function(function));
    if (threads <= 0 || threads > 1024)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    size_t by_shared = shared ? ((size_t)fake.shared + 1024) / shared : 32;
    int by_threads = 2048 / ((threads + 31) / 32 * 32);
    *blocks = by_threads < 32 ? by_threads : 32;
    if ((size_t)*blocks > by_shared)
        *blocks = (int)by_shared;
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
    if (index >= kernel->kernel->nparams - kernel->kernel->nadded)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    size_t end = 0;
    for (size_t i = 0; i <= index; i++) {
        *size = param_size(&kernel->kernel->params[i]);
        *offset = (end + *size - 1) / *size * *size; /* parameters are laid out like the members of a struct */
        end = *offset + *size;
    }
    return fake_end(CUDA_SUCCESS);
}

/* ---- Launches ---- */

struct launch {
    struct fake_work work;
    const cf_kernel *kernel;
    CUfunction function;
    CUlibrary library;
    cf_dim3 grid, block;
    unsigned int shared;
    _Alignas(16) char values[]; /* copies of the arguments, each padded to 16 bytes */
};

static size_t room(const cf_param *param)
{
    return (param_size(param) + 15) / 16 * 16;
}

static size_t room_for_all(const cf_kernel *kernel)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        bytes += room(&kernel->params[i]);
    return bytes;
}

/* Translates an argument for the CPU; returns 0 if reading its first element would fault. Later elements are not
 * checked, because a GPU does not check where an array ends either. */
static int translate(CUcontext context, const cf_kernel *kernel, uint32_t i, void *const args[], uint64_t *value)
{
    cf_section section = {.count = 1};
    const cf_param *param = &kernel->params[i];
    if (param->direction == CF_VALUE || (param->direction == CF_POINTER && !*value) ||
        (cf__is_array(param) && cf__section_measure(kernel, i, args, &section) == CF_OK && !section.count))
        return 1;
    char *first = fake_reach_from(context, *value + section.offset);
    *value = (uintptr_t)first - section.offset;
    return first != NULL;
}

static void run_launch(CUcontext context, struct fake_work *work)
{
    struct launch *launch = (struct launch *)work;
    const cf_kernel *kernel = launch->kernel;
    if (!fake_is_live(launch->library, FAKE_LIBRARY)) { /* a graph may outlive the library that it launches from */
        fake_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
        return;
    }
    size_t count = kernel->nparams, bytes = room_for_all(kernel);
    void **given = calloc(2 * count + 1, sizeof *given), **translated = given + count;
    char *copy = aligned_alloc(16, bytes + 16), *at = launch->values;
    if (!given || !copy)
        abort();
    memcpy(copy, launch->values, bytes);
    for (size_t i = 0; i < count; at += room(&kernel->params[i++])) {
        given[i] = at;
        translated[i] = copy + (at - launch->values);
    }
    int is_reached = 1;
    for (uint32_t i = 0; i < count; i++)
        is_reached &= kernel->params[i].direction == CF_VALUE || translate(context, kernel, i, given, translated[i]);
    if (is_reached) {
        const cf_host_launch what = {
            .grid = launch->grid, .block = launch->block, .args = translated, .shared = launch->shared};
        fake_exchange_globals(context, launch->library);
        CUresult result = cf__cpu_run(kernel, &what, 1);
        fake_exchange_globals(context, launch->library);
        if (result != CUDA_SUCCESS)
            fake_fail(context, result);
    } else {
        fake_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    free(copy);
    free(given);
}

static int is_launchable(cf_dim3 grid, cf_dim3 block)
{
    return grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= INT32_MAX && grid.y <= UINT16_MAX &&
           grid.z <= UINT16_MAX && block.x <= 1024 && block.y <= 1024 && block.z <= 64 &&
           (uint64_t)block.x * block.y * block.z <= 1024;
}

/* The caller must hold the lock. */
static CUresult submit(CUfunction function, cf_dim3 grid, cf_dim3 block, unsigned int shared, CUstream handle,
                       void **args)
{
    CUstream stream;
    CUresult result = fake_stream(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!fake_is_live(function, FAKE_FUNCTION) || function->object.context != stream->object.context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!args || !is_launchable(grid, block) || shared > (unsigned int)function->shared)
        return CUDA_ERROR_INVALID_VALUE;
    if (block.x * block.y * block.z > fake.threads)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    const cf_kernel *kernel = function->kernel->kernel;
    if (block.x * block.y * block.z > bound_of(kernel))
        return CUDA_ERROR_INVALID_VALUE;
    if (!kernel->cpu_body)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct launch *launch = fake_submit(stream, run_launch, sizeof *launch + room_for_all(kernel));
    launch->kernel = kernel;
    launch->function = function;
    launch->library = function->kernel->library;
    launch->grid = fake_counts.grid = grid;
    launch->block = fake_counts.block = block;
    launch->shared = fake_counts.shared = shared;
    char *at = launch->values;
    for (uint32_t i = 0; i < kernel->nparams; at += room(&kernel->params[i++]))
        memcpy(at, args[i], param_size(&kernel->params[i]));
    return CUDA_SUCCESS;
}

CUresult fake_cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                             unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
                             CUstream stream, void **args, void **extra)
{
    const cf_dim3 grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
    TRY(fake_begin());
    fake_counts.launch++;
    return fake_end(extra ? CUDA_ERROR_INVALID_VALUE : submit(function, grid, block, shared, stream, args));
}

/* Reads the launch attributes; refuses those that the grid or the device does not allow. */
static CUresult read_attributes(const CUlaunchConfig *config, CUfunction function)
{
    for (unsigned int i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        uint64_t blocks = (uint64_t)config->gridDimX * config->gridDimY * config->gridDimZ;
        int is_new = fake_is_live(function, FAKE_FUNCTION) && fake.capability[function->object.context->device] >= 90;
        switch (attribute->id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            fake_counts.cooperative++;
            if (blocks > (uint64_t)fake.resident)
                return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
            break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            fake_counts.cluster =
                (cf_dim3){attribute->value.clusterDim.x, attribute->value.clusterDim.y, attribute->value.clusterDim.z};
            if (!is_new || config->gridDimX % fake_counts.cluster.x || config->gridDimY % fake_counts.cluster.y ||
                config->gridDimZ % fake_counts.cluster.z)
                return CUDA_ERROR_INVALID_VALUE;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            fake_counts.dependent++;
            if (!is_new)
                return CUDA_ERROR_NOT_SUPPORTED;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

CUresult fake_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **args, void **extra)
{
    const cf_dim3 grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    const cf_dim3 block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    TRY(fake_begin());
    TRY(read_attributes(config, function));
    return fake_end(extra ? CUDA_ERROR_INVALID_VALUE
                          : submit(function, grid, block, config->sharedMemBytes, config->hStream, args));
}

/* ---- Nodes of graphs ---- */

CUresult fake_cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    const struct launch *launch = (const struct launch *)(const void *)node;
    TRY(fake_begin());
    if (!fake_is_node(&launch->work) || launch->work.run != run_launch)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    *params = (CUDA_KERNEL_NODE_PARAMS_v2){.kern = launch->function->kernel, .sharedMemBytes = launch->shared};
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                             const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    const struct launch *old = (const struct launch *)(const void *)node;
    const cf_dim3 grid = {params->gridDimX, params->gridDimY, params->gridDimZ};
    const cf_dim3 block = {params->blockDimX, params->blockDimY, params->blockDimZ};
    TRY(fake_begin());
    if (!fake_is_node(&old->work) || old->work.run != run_launch || params->func != old->function ||
        !is_launchable(grid, block) || params->sharedMemBytes > (unsigned int)params->func->shared)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    size_t size = sizeof *old + room_for_all(old->kernel);
    struct launch *now = malloc(size);
    if (!now)
        abort();
    memcpy(now, old, size);
    now->grid = fake_counts.grid = grid;
    now->block = fake_counts.block = block;
    now->shared = params->sharedMemBytes;
    char *at = now->values;
    for (uint32_t i = 0; i < now->kernel->nparams; at += room(&now->kernel->params[i++]))
        memcpy(at, params->kernelParams[i], param_size(&now->kernel->params[i]));
    return fake_end(fake_update_node(exec, &old->work, &now->work));
}
