/* program_kernel.c - finds the kernels and data of programs. */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/program.h>
#include <cuferry/registry.h>

#include "base/error.h"
#include "base/log.h"
#include "model/descriptor.h"
#include "model/signature.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "kernel/image.h"
#include "kernel/preload.h"
#include "kernel/symbol.h"
#include "program/program.h"

/* ---- Kernels ---- */

/* The caller holds the lock. */
static const cf_kernel *find_kernel(const cf_program *program, const char *entry, const char *signature)
{
    const struct cf__program_kernel *each = program->kernels;
    while (each && !(strcmp(each->name, entry) == 0 && strcmp(each->signature, signature) == 0))
        each = each->next;
    return each ? &each->kernel : NULL;
}

/* Copies the descriptor of an annotated kernel: the copy still exists after an unload, and tells that the kernel is
 * unloaded. */
static int copy_descriptor(const cf_program *program, struct cf__program_kernel *made)
{
    const cf_kernel *found = cf_kernel_find(program->module, made->name), *first = cf_kernel_at(program->module, 0);
    if (!found)
        return cf__fail(CF_EIMAGE,
                        "cf_program_kernel: the source has no kernel %s; a kernel is called as its instance, and the "
                        "first one is %s",
                        made->name, first ? first->name : "missing");
    made->kernel = *found;
    made->kernel.name = made->kernel.function = made->name;
    made->kernel.state = &made->state;
    return CF_OK;
}

static int describe_kernel(const cf_program *program, struct cf__program_kernel *made)
{
    if (program->module)
        return copy_descriptor(program, made);
    made->kernel = (cf_kernel){.version = CF_REGISTRY_VERSION,
                               .name = made->name,
                               .family = made->name,
                               .function = made->name,
                               .file = "",
                               .image = &program->image,
                               .entry = cf__program_entry(program, made->name),
                               .state = &made->state,
                               .is_of_program = 1};
    return cf__signature_read("cf_program_kernel", made->signature, &made->kernel, &made->tables);
}

/* Loads the kernel, which compares its parameters with those in the image. */
static int load_kernel(const cf_kernel *kernel)
{
    struct cf__scope scope;
    struct cf__loaded *loaded;
    int status = cf__enter(&scope, "cf_program_kernel", NULL);
    if (status != CF_OK)
        return status;
    status = cf__load_all(kernel, &scope, &loaded);
    if (status == CF_OK && kernel->is_of_program && !scope.driver->cuKernelGetParamInfo)
        cf__log(CF_LOG_INFO, "%s: drivers before CUDA 12.4 do not know parameters: the signature was not compared",
                kernel->function);
    cf__leave(&scope);
    return status;
}

static void free_kernel(struct cf__program_kernel *kernel)
{
    cf__image_lock();
    cf__state_retire(&kernel->state);
    cf__image_unlock();
    free(kernel->tables);
    free(kernel->signature);
    free(kernel);
}

/* Makes the record of a kernel; returns NULL if there is no memory. */
static struct cf__program_kernel *make_kernel(const char *entry, const char *signature)
{
    size_t bytes = strlen(entry) + 1;
    struct cf__program_kernel *made = calloc(1, sizeof *made + bytes);
    if (!made)
        return NULL;
    memcpy(made->name, entry, bytes);
    made->signature = strdup(signature);
    if (made->signature)
        return made;
    free(made);
    return NULL;
}

static int add_kernel(cf_program *program, const char *entry, const char *signature, const cf_kernel **kernel)
{
    struct cf__program_kernel *made = make_kernel(entry, signature);
    if (!made)
        return cf__fail(CF_ENOMEM, "cf_program_kernel: no memory for %s", entry);
    int status = describe_kernel(program, made);
    if (status == CF_OK)
        status = load_kernel(&made->kernel);
    if (status != CF_OK) {
        free_kernel(made);
        return status;
    }
    struct cf__program_kernel **link = &program->kernels;
    cf__image_lock();
    while (*link)
        link = &(*link)->next;
    *link = made;
    *kernel = find_kernel(program, entry, signature); /* if another thread was faster, its kernel is used */
    cf__image_unlock();
    return CF_OK;
}

int cf_program_kernel(cf_program *program, const char *entry, const char *signature, const cf_kernel **kernel)
{
    int status = cf__program_check("cf_program_kernel", program);
    if (status != CF_OK)
        return status;
    if (!entry || !kernel || (!signature && !program->module))
        return cf__fail(CF_EINVAL, "cf_program_kernel: %s is NULL",
                        !entry    ? "entry"
                        : !kernel ? "kernel"
                                  : "signature");
    if (signature && program->module)
        return cf__fail(CF_EINVAL, "cf_program_kernel: %s has an annotation: its signature is NULL", entry);
    signature = program->module ? "" : signature;
    cf__image_lock();
    *kernel = find_kernel(program, entry, signature);
    cf__image_unlock();
    return *kernel ? CF_OK : add_kernel(program, entry, signature, kernel);
}

/* ---- Data ---- */

static struct cf__program_symbol *find_symbol(const cf_program *program, const char *name, size_t size)
{
    cf__image_lock();
    struct cf__program_symbol *symbol = program->symbols;
    while (symbol && !(strcmp(symbol->name, name) == 0 && symbol->size == (int64_t)size))
        symbol = symbol->next;
    cf__image_unlock();
    return symbol;
}

/* Finds the data of an annotated source. */
static int copy_symbol(const cf_program *program, struct cf__program_symbol *made)
{
    size_t i = 0, bytes = 0;
    while (i < program->module->nsymbols && strcmp(program->module->symbols[i]->name, made->name) != 0)
        i++;
    if (i == program->module->nsymbols)
        return cf__fail(CF_EIMAGE, "cf_program_symbol: the source has no __constant__ data %s with a setter",
                        made->name);
    int status = cf__symbol_size(program->module->symbols[i], &bytes);
    if (status == CF_OK && (int64_t)bytes != made->size)
        return cf__fail(CF_EIMAGE, "cf_program_symbol: %s has %zu bytes, and %" PRId64 " in the call", made->name,
                        bytes, made->size);
    made->symbol = *program->module->symbols[i];
    made->symbol.name = made->name;
    made->symbol.function = "cf_program_symbol";
    made->symbol.state = &made->state;
    return status;
}

/* Makes the record of a symbol; returns NULL if there is no memory. */
static struct cf__program_symbol *make_symbol(const cf_program *program, const char *name, size_t size)
{
    size_t bytes = strlen(name) + 1;
    struct cf__program_symbol *made = calloc(1, sizeof *made + bytes);
    if (!made)
        return NULL;
    memcpy(made->name, name, bytes);
    made->size = (int64_t)size;
    made->symbol = (cf_symbol){.version = CF_REGISTRY_VERSION,
                               .name = made->name,
                               .function = "cf_program_symbol",
                               .type = CF_OPAQUE,
                               .lanes = 1,
                               .bytes = 1,
                               .ndims = 1,
                               .extents = &made->size,
                               .image = &program->image,
                               .entry = cf__program_entry(program, made->name),
                               .state = &made->state};
    return made;
}

static int locate_symbol(const struct cf__program_symbol *symbol, void **pointer)
{
    struct cf__scope scope;
    int status = cf__enter(&scope, "cf_program_symbol", NULL);
    if (status != CF_OK)
        return status;
    status = cf__symbol_locate(&symbol->symbol, &scope, (size_t)symbol->size, pointer);
    cf__leave(&scope);
    return status;
}

/* Adds a symbol that exists. It is harmless if another thread has added the same one. */
static int add_symbol(cf_program *program, const char *name, size_t size, void **pointer)
{
    struct cf__program_symbol *made = make_symbol(program, name, size);
    if (!made)
        return cf__fail(CF_ENOMEM, "cf_program_symbol: no memory for %s", name);
    int status = program->module ? copy_symbol(program, made) : CF_OK;
    if (status == CF_OK)
        status = locate_symbol(made, pointer);
    cf__image_lock();
    if (status == CF_OK) {
        made->next = program->symbols;
        program->symbols = made;
    } else {
        cf__state_retire(&made->state);
    }
    cf__image_unlock();
    if (status != CF_OK)
        free(made);
    return status;
}

int cf_program_symbol(cf_program *program, const char *name, size_t size, void **pointer)
{
    int status = cf__program_check("cf_program_symbol", program);
    if (status != CF_OK)
        return status;
    if (!name || !pointer)
        return cf__fail(CF_EINVAL, "cf_program_symbol: %s is NULL", name ? "pointer" : "name");
    const struct cf__program_symbol *symbol = find_symbol(program, name, size);
    return symbol ? locate_symbol(symbol, pointer) : add_symbol(program, name, size, pointer);
}
