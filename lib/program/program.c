/* program.c - loads and unloads programs.
 *
 * Each program has its own image, which lib/kernel/image.c loads in contexts like the images of generated kernels. An
 * unloaded program stays in the list until cf_shutdown(), so that its handle is recognized and rejected. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/program.h>
#include <cuferry/registry.h>

#include "program/program.h"

#include "base/crc32.h"
#include "base/error.h"
#include "base/fast.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "model/descriptor.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/context.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "context/lost.h"
#include "stream/sync.h"
#include "kernel/image.h"
#include "program/inspect.h"

enum { LOG_BYTES = 16384 }; /* bytes for the log of the driver's compiler */

static cf_program *programs; /* guarded by the lock of images */

/* ---- Logs of programs that could not be created ---- */

static pthread_key_t failed_log;
static int has_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
    has_key = pthread_key_create(&failed_log, free) == 0;
}

static int is_key_made(void)
{
    (void)pthread_once(&key_once, make_key);
    return has_key;
}

__attribute__((destructor)) static void delete_key(void)
{
    if (has_key)
        (void)pthread_key_delete(failed_log);
    has_key = 0;
}

/* Keeps `log`, which may be NULL, for cf_program_log(NULL) of the calling thread. */
static void keep_log(char *log)
{
    if (is_key_made()) {
        free(pthread_getspecific(failed_log));
        if (pthread_setspecific(failed_log, log) == 0)
            return;
    }
    free(log);
}

const char *cf_program_log(const cf_program *program)
{
    const char *log = program ? program->log : is_key_made() ? pthread_getspecific(failed_log) : NULL;
    return log && (!program || program->is_loaded) ? log : "";
}

/* ---- Creating programs ---- */

static int check_caller(const char *function, const void *program)
{
    if (!program)
        return cf__fail(CF_EINVAL, "%s: program is NULL", function);
    return cf__log_is_inside() ? cf__fail(CF_EINVAL, "%s: called from the callback of cf_set_log()", function) : CF_OK;
}

int cf__program_begin(const char *function, cf_program **program)
{
    if (program)
        *program = NULL;
    return check_caller(function, program);
}

int cf__program_check(const char *function, const cf_program *program)
{
    int status = check_caller(function, program);
    if (status != CF_OK)
        return status;
    return __atomic_load_n(&program->is_loaded, __ATOMIC_ACQUIRE)
               ? CF_OK
               : cf__fail(CF_EINVAL, "%s: the program was unloaded", function);
}

/* Frees unloaded programs and the calling thread's log, at cf_shutdown(). The caller holds the lock. */
static void forget_unloaded(void)
{
    for (cf_program **link = &programs, *program; (program = *link) != NULL;) {
        if (program->is_loaded) {
            link = &program->next;
            continue;
        }
        *link = program->next;
        for (struct cf__program_kernel *kernel; (kernel = program->kernels) != NULL;) {
            program->kernels = kernel->next;
            free(kernel);
        }
        free(program);
    }
    keep_log(NULL);
}

void cf__program_add(cf_program *made, struct cf__compiled *parts)
{
    made->data = parts->image;
    made->log = parts->log;
    made->names = parts->names;
    made->is_loaded = 1;
    cf__image_lock();
    cf__context_observer.images_unloaded = forget_unloaded;
    made->next = programs;
    programs = made;
    cf__image_unlock();
}

int cf__program_drop(struct cf__compiled *parts, int status)
{
    keep_log(parts->log);
    parts->log = NULL;
    cf__compiled_free(parts);
    return status;
}

/* Makes room for the output of the driver's compiler after the text of the log. */
static char *extend_log(struct cf__compiled *parts)
{
    size_t used = parts->log ? strlen(parts->log) : 0;
    char *log = realloc(parts->log, used + LOG_BYTES);
    if (!log)
        return NULL;
    parts->log = log;
    return memset(log + used, 0, LOG_BYTES);
}

/* Loads the image. A program of PTX keeps its log even if it is empty, because the driver may later compile for another
 * device. */
static int load_image(const char *function, cf_program *program, struct cf__compiled *parts)
{
    struct cf__scope scope;
    char *log = NULL;
    if (program->targets.ptx[0] && !(log = extend_log(parts)))
        return cf__fail(CF_ENOMEM, "%s: no memory for the program's log", function);
    int status = cf__enter(&scope, function, NULL);
    if (status != CF_OK)
        return status;
    if (scope.driver->is_cpu)
        status = cf__fail(CF_ENOTSUP,
                          "%s: the image is GPU code and the call is on the CPU: there is no GPU, or CF_DRIVER or "
                          "cf_device_use() chose the CPU",
                          function);
    else
        status = cf__image_load(function, &program->image, &scope, log, LOG_BYTES);
    cf__leave(&scope);
    return status;
}

int cf__program_adopt(const char *function, struct cf__compiled *parts, cf_program **program)
{
    const unsigned char *begin = (unsigned char *)parts->image, *end = begin + parts->bytes;
    *program = NULL;
    cf_program *made = calloc(1, sizeof *made);
    if (!made)
        return cf__program_drop(parts, cf__fail(CF_ENOMEM, "%s: no memory for the program", function));
    made->image = (cf_image){.begin = begin,
                             .end = end,
                             .crc32 = cf__crc32(begin, end),
                             .sm = made->targets.sm,
                             .ptx = made->targets.ptx,
                             .state = &made->state};
    int status = cf__inspect_image(function, begin, parts->bytes, &made->targets);
    if (status == CF_OK)
        status = load_image(function, made, parts);
    if (status != CF_OK) {
        free(made);
        return cf__program_drop(parts, status);
    }
    cf__program_add(made, parts);
    *program = made;
    return CF_OK;
}

static int refuse(int status)
{
    return cf__program_drop(&(struct cf__compiled){0}, status);
}

static int adopt_image(const char *function, char *image, size_t size, cf_program **program)
{
    struct cf__compiled parts = {.image = image, .bytes = cf__image_bytes(image, size)};
    if (parts.bytes == 0)
        return cf__program_drop(&parts, cf__fail(CF_EIMAGE, "%s: the image has nothing but zeros", function));
    return cf__program_adopt(function, &parts, program);
}

int cf_program_load(cf_program **program, const void *data, size_t size)
{
    int status = cf__program_begin("cf_program_load", program);
    if (status != CF_OK)
        return refuse(status);
    if (!data || size == 0)
        return refuse(cf__fail(CF_EINVAL, "cf_program_load: %s", data ? "size is 0" : "data is NULL"));
    char *copy = size < SIZE_MAX ? malloc(size + 1) : NULL;
    if (!copy)
        return refuse(cf__fail(CF_ENOMEM, "cf_program_load: no memory for %zu bytes", size));
    memcpy(copy, data, size);
    copy[size] = 0;
    return adopt_image("cf_program_load", copy, size, program);
}

int cf_program_load_file(cf_program **program, const char *path)
{
    size_t size;
    int status = cf__program_begin("cf_program_load_file", program);
    if (status != CF_OK)
        return refuse(status);
    if (!path)
        return refuse(cf__fail(CF_EINVAL, "cf_program_load_file: path is NULL"));
    char *data = cf__file_load(path, &size);
    if (!data)
        return refuse(cf__fail(errno == ENOMEM ? CF_ENOMEM : CF_EINVAL, "cf_program_load_file: %s cannot be read: %s",
                               path, cf__strerror(errno)));
    if (size == 0) {
        free(data);
        return refuse(cf__fail(CF_EIMAGE, "cf_program_load_file: %s is empty", path));
    }
    return adopt_image("cf_program_load_file", data, size, program);
}

const char *cf__program_entry(const cf_program *program, const char *name)
{
    const char *each = program->names, *entry;
    for (; each && *each; each = entry + strlen(entry) + 1) {
        entry = each + strlen(each) + 1;
        if (strcmp(each, name) == 0)
            return entry;
    }
    return name;
}

/* ---- Unloading ---- */

static int is_used_in(const cf_program *program, unsigned long long context)
{
    const struct cf__program_kernel *kernel = program->kernels;
    while (kernel && !cf__loaded_in(&kernel->state, context))
        kernel = kernel->next;
    return kernel != NULL;
}

/* Waits for a context. If the context is gone or lost, nothing is in flight, and no wait is needed. */
static int wait_in(const struct cf__context *context)
{
    struct cf__scope scope;
    CUresult result = CUDA_SUCCESS;
    if (cf__context_is_gone(context))
        return CF_OK;
    int status = cf__enter_context(&scope, "cf_program_unload", context->driver, context->handle);
    if (status != CF_OK)
        return status;
    int mode = cf__capture_relax(scope.driver);
    status = cf__sync_context("cf_program_unload", &scope, &result);
    cf__capture_restore(scope.driver, mode);
    if (status == CF_OK && result != CUDA_SUCCESS)
        status = cf__fail_driver(scope.driver, result, "cuCtxSynchronize", "cf_program_unload");
    cf__leave(&scope);
    return status;
}

/* Frees everything except the program and the descriptors of its kernels. The caller holds the lock. */
static void retire_parts(cf_program *program)
{
    __atomic_store_n(&program->is_loaded, 0, __ATOMIC_RELEASE);
    for (struct cf__program_kernel *each = program->kernels; each; each = each->next) {
        cf__state_retire(&each->state);
        each->kernel = (cf_kernel){
            .version = CF__UNLOADED, .name = each->name, .family = each->name, .function = each->name, .file = ""};
        each->kernel.state = &each->state;
        free(each->tables);
        free(each->signature);
    }
    for (struct cf__program_symbol *symbol; (symbol = program->symbols) != NULL;) {
        program->symbols = symbol->next;
        cf__state_retire(&symbol->state);
        free(symbol);
    }
    if (program->library)
        cf__object_retire(program->image.state);
    free(program->data);
    free(program->names);
    free(program->log);
}

int cf_program_unload(cf_program *program)
{
    if (!program)
        return CF_OK;
    int status = cf__program_check("cf_program_unload", program), is_parents = cf__is_forked();
    const struct cf__context *context = NULL;
    while (status == CF_OK && !is_parents && (context = cf__context_next(context)) != NULL)
        if (is_used_in(program, cf__context_id(context)))
            status = wait_in(context);
    if (status != CF_OK)
        return status;
    const struct cf__driver *cuda = is_parents ? NULL : cf__cuda_in_use();
    cf__image_lock();
    status = cf__image_unload("cf_program_unload", cuda, &program->image);
    if (status == CF_OK)
        retire_parts(program);
    cf__image_unlock();
    if (status == CF_OK && program->library)
        dlclose(program->library);
    return status;
}
