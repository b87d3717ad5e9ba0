/* variant.c - runs the chosen variant of a kernel with tune(...), or the first variant if the device refuses the chosen
 * one. */
#include <cuferry.h>
#include <cuferry/registry.h>
#include <cuferry/tuning.h>

#include "kernel/variant.h"

#include "base/error.h"
#include "base/log.h"
#include "model/descriptor.h"
#include "model/expr.h"
#include "model/section.h"
#include "model/size.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/last_stream.h"
#include "kernel/image.h"

/* ---- The size of a call ---- */

/* Sums up the bytes of all arrays, where inout arrays count twice. */
static int sum_bytes(const cf_kernel *kernel, void *const args[], double *bytes)
{
    *bytes = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        cf_section section;
        if (!cf__is_callers_array(param))
            continue;
        int status = cf__section_measure(kernel, i, args, &section, 1);
        if (status != CF_OK)
            return status;
        *bytes += (double)section.count * param->bytes * (param->direction == CF_INOUT ? 2 : 1);
    }
    return CF_OK;
}

static int compute_class(const cf_kernel *kernel, void *const args[], int *size_class)
{
    double bytes;
    int status =
        kernel->bytes.ops ? cf__evaluate_real(kernel, &kernel->bytes, args, &bytes) : sum_bytes(kernel, args, &bytes);
    if (status != CF_OK)
        return kernel->bytes.ops
                   ? cf__fail(status, "%s: bytes(%s) reads what is no number", kernel->function, kernel->bytes.text)
                   : status;
    *size_class = !(bytes >= 1) ? 0 : bytes < 0x1p63 ? 63 - __builtin_clzll((unsigned long long)bytes) : 63;
    return CF_OK;
}

/* Returns 1 if every parameter has a value. */
static int have_values(const cf_kernel *kernel, void *const args[])
{
    if (kernel->nparams && !args)
        return 0;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (!args[i] && kernel->params[i].direction != CF_SCRATCH)
            return 0;
    return 1;
}

/* ---- Calls ---- */

/* Reports invalid arguments, then loads the table of variants. */
static int load_table(const cf_kernel *kernel, const struct cf__scope *scope, void *const args[],
                      struct cf__loaded **loaded)
{
    *loaded = cf__kernel_loaded(kernel, scope);
    if (*loaded)
        return CF_OK;
    int status = cf__model_check(kernel, args, 1);
    return status == CF_OK ? cf__kernel_load(kernel, scope, loaded) : status;
}

static int enter_and_load(const cf_kernel *kernel, cf_stream stream, void *const args[], struct cf__loaded **loaded)
{
    struct cf__scope scope;
    int status = cf__enter(&scope, kernel->function, stream);
    if (status != CF_OK) {
        int checked = cf__model_check(kernel, args, 1);
        return checked == CF_OK ? status : checked;
    }
    status = load_table(kernel, &scope, args, loaded);
    cf__leave(&scope);
    return status;
}

static int choose_variant(const cf_kernel *kernel, cf_stream stream, void *const args[],
                          struct cf__variant_try *attempt)
{
    unsigned long long id;
    const struct cf__driver *driver = stream ? cf__last_stream_look_up(stream, &id) : cf__default_stream_look_up(&id);
    struct cf__loaded *loaded = driver ? cf__loaded_in(kernel->state, id) : NULL;
    int status = loaded ? CF_OK : enter_and_load(kernel, stream, args, &loaded);
    attempt->size_class = -1;
    if (status == CF_OK && !__atomic_load_n(&loaded->choice.is_uniform, __ATOMIC_RELAXED) && have_values(kernel, args))
        status = compute_class(kernel, args, &attempt->size_class);
    if (status != CF_OK)
        return status;
    attempt->loaded = loaded;
    attempt->variant =
        kernel->variants[cf__choice_variant(&loaded->choice, attempt->size_class < 0 ? 0 : attempt->size_class)];
    return CF_OK;
}

int cf__variant_try_begin(struct cf__variant_try *attempt, const cf_kernel *kernel, cf_stream stream,
                          void *const args[])
{
    cf_launch_size size;
    attempt->kernel = kernel;
    attempt->first = kernel->variants[0];
    int status = choose_variant(kernel, stream, args, attempt);
    if (status != CF_OK || attempt->variant == attempt->first)
        return status;
    if (attempt->variant->sizes && !cf__model_quick(attempt->variant, args, &size))
        attempt->variant = attempt->first;
    else
        cf__error_save(&attempt->before);
    return CF_OK;
}

/* Returns 1 if a block of the variant needs more registers or shared memory than the device has. */
static int is_too_large(const struct cf__variant_try *attempt, void *const args[], int status)
{
    const cf_kernel *variant = attempt->variant;
    int64_t shared, most;
    if (status == CF_ECALL)
        return cf_last_driver_result() == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    return (status == CF_EINVAL || status == CF_EOVERFLOW) && attempt->loaded->device != CF_HOST &&
           variant->launch.shared.ops && cf__evaluate(variant, &variant->launch.shared, args, &shared) == CF_OK &&
           cf_device_property(attempt->loaded->device, CF_PROPERTY_SHARED_PER_BLOCK, &most) == CF_OK && shared > most;
}

/* Makes the first variant the chosen one, so that no later call pays for another attempt. */
static void remember_refusal(const struct cf__variant_try *attempt, void *const args[])
{
    char text[CF__VARIANT];
    struct cf__choice *choice = &attempt->loaded->choice;
    int size_class = attempt->size_class;
    if (size_class < 0 && compute_class(attempt->kernel, args, &size_class) != CF_OK)
        return;
    int is_new = __atomic_exchange_n(&choice->variants[size_class], 0, __ATOMIC_RELAXED) != 0;
    __atomic_store_n(&choice->is_uniform, 0, __ATOMIC_RELAXED);
    cf__variant_text(attempt->variant, text);
    if (is_new)
        cf__log(CF_LOG_INFO, "%s: the first variant runs at sizes of 2^%d bytes, since %s was refused: %s",
                attempt->kernel->function, size_class, text, cf_last_error());
}

/* CF_EINVAL and CF_EOVERFLOW may be due to the block, memory or grid of the variant. They mean that nothing was
 * enqueued, so the first variant can run instead. */
int cf__variant_try_refused(const struct cf__variant_try *attempt, void *const args[], int status)
{
    if (attempt->variant == attempt->first)
        return 0;
    const int is_large = is_too_large(attempt, args, status);
    const int is_refused = is_large || status == CF_EINVAL || status == CF_EOVERFLOW;
    if (is_large)
        remember_refusal(attempt, args);
    (is_refused || status == CF_OK ? cf__error_restore : cf__error_keep)(&attempt->before);
    return is_refused;
}

int cf__launch_tuned(const cf_kernel *kernel, cf_stream stream, void *const args[])
{
    struct cf__variant_try attempt;
    cf__error_name_async(kernel->function);
    int status = cf__variant_try_begin(&attempt, kernel, stream, args);
    cf__error_name_async(NULL);
    if (status != CF_OK)
        return status;
    status = cf_launch(attempt.variant, stream, args);
    return cf__variant_try_refused(&attempt, args, status) ? cf_launch(attempt.first, stream, args) : status;
}

/* ---- Public functions ---- */

int cf_tuning_class(const cf_kernel *kernel, void *const args[], int *size_class)
{
    int status = cf__check_kernel("cf_tuning_class", kernel);
    if (status == CF_OK && !size_class)
        status = cf__fail(CF_EINVAL, "cf_tuning_class: size_class is NULL");
    if (status == CF_OK && kernel->nparams && !args)
        status = cf__fail(CF_EINVAL, "cf_tuning_class: args is NULL");
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++)
        if (kernel->params[i].direction == CF_VALUE && !args[i])
            status = cf__fail(CF_EINVAL, "cf_tuning_class: the argument for %s is NULL, and not a pointer to one",
                              kernel->params[i].name);
    return status == CF_OK ? compute_class(kernel, args, size_class) : status;
}

int cf_tuning_variant(const cf_kernel *kernel, int size_class, const cf_kernel **variant)
{
    struct cf__loaded *loaded;
    struct cf__scope scope;
    int status = cf__check_kernel("cf_tuning_variant", kernel);
    if (status == CF_OK && !variant)
        status = cf__fail(CF_EINVAL, "cf_tuning_variant: variant is NULL");
    if (status == CF_OK && (size_class < 0 || size_class >= CF_TUNING_CLASSES))
        status = cf__fail(CF_EINVAL, "cf_tuning_variant: size_class is %d; it is 0 to %d", size_class,
                          CF_TUNING_CLASSES - 1);
    if (status != CF_OK)
        return status;
    *variant = kernel;
    if (!cf__is_tuned(kernel))
        return CF_OK;
    status = cf__enter(&scope, "cf_tuning_variant", NULL);
    if (status != CF_OK)
        return status;
    status = cf__kernel_load(kernel, &scope, &loaded);
    if (status == CF_OK)
        *variant = kernel->variants[cf__choice_variant(&loaded->choice, size_class)];
    cf__leave(&scope);
    return status;
}
