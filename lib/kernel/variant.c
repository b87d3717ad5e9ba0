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
#include "model/size.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/last_stream.h"
#include "kernel/image.h"

/* ---- Calls ---- */

/* The variant that was chosen for a call. */
struct choice {
    const cf_kernel *variant;
    struct cf__loaded *loaded; /* node of the kernel, with the chosen variants */
    int size_class;            /* size class; -1: not computed, because all classes have the same variant */
};

static int enter_and_load(const cf_kernel *kernel, cf_stream stream, struct cf__loaded **loaded)
{
    struct cf__scope scope;
    int status = cf__enter(&scope, kernel->function, stream);
    if (status != CF_OK)
        return status;
    *loaded = cf__kernel_loaded(kernel, &scope);
    if (!*loaded)
        status = cf__kernel_load(kernel, &scope, loaded);
    cf__leave(&scope);
    return status;
}

/* Chooses the variant. Invalid arguments are reported before the kernel is loaded. */
static int choose_variant(const cf_kernel *kernel, cf_stream stream, void *const args[], struct choice *choice)
{
    unsigned long long id;
    const struct cf__driver *driver = stream ? cf__last_stream_look_up(stream, &id) : cf__default_stream_look_up(&id);
    struct cf__loaded *loaded = driver ? cf__loaded_in(kernel->state, id) : NULL;
    int status = loaded ? CF_OK : cf__model_check(kernel, args);
    if (status == CF_OK && !loaded)
        status = enter_and_load(kernel, stream, &loaded);
    choice->size_class = -1;
    if (status == CF_OK && !__atomic_load_n(&loaded->choice.is_uniform, __ATOMIC_RELAXED))
        status = cf__model_class(kernel, args, &choice->size_class);
    if (status != CF_OK)
        return status;
    choice->loaded = loaded;
    choice->variant =
        kernel->variants[cf__choice_variant(&loaded->choice, choice->size_class < 0 ? 0 : choice->size_class)];
    return CF_OK;
}

/* Returns 1 if a block of the variant needs more registers or shared memory than the device has. */
static int is_too_large(const struct choice *choice, void *const args[], int status)
{
    const struct cf__operands of = {choice->variant, args};
    const cf_expr *expr = &choice->variant->launch.shared;
    const int device = choice->loaded->device;
    int64_t shared, most;
    if (status == CF_ECALL)
        return cf_last_driver_result() == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    return (status == CF_EINVAL || status == CF_EOVERFLOW) && device != CF_HOST && expr->ops &&
           cf__evaluate(&of, expr, &shared) == CF_OK &&
           cf_device_property(device, CF_PROPERTY_SHARED_PER_BLOCK, &most) == CF_OK && shared > most;
}

/* Makes the first variant the chosen one, so that no later call pays for another attempt. */
static void remember_refusal(const cf_kernel *kernel, const struct choice *choice, void *const args[])
{
    char text[CF__VARIANT];
    struct cf__choice *of_all = &choice->loaded->choice;
    int size_class = choice->size_class;
    if (size_class < 0 && cf__model_class(kernel, args, &size_class) != CF_OK)
        return;
    int is_new = __atomic_exchange_n(&of_all->variants[size_class], 0, __ATOMIC_RELAXED) != 0;
    __atomic_store_n(&of_all->is_uniform, 0, __ATOMIC_RELAXED);
    cf__variant_text(choice->variant, text);
    if (is_new)
        cf__log(CF_LOG_INFO, "%s: the first variant runs at sizes of 2^%d bytes, since %s was refused: %s",
                kernel->function, size_class, text, cf_last_error());
}

/* CF_EINVAL and CF_EOVERFLOW may be due to the block, memory or grid of the variant. They mean that nothing was
 * enqueued, so the first variant can run instead. */
int cf__variant_run(const cf_kernel *kernel, cf_stream stream, void *const args[], cf__run_kernel *run)
{
    struct choice choice;
    struct cf__error before;
    cf_launch_size size;
    int status = choose_variant(kernel, stream, args, &choice);
    if (status != CF_OK)
        return status;
    if (choice.variant == kernel->variants[0] ||
        (choice.variant->sizes && !cf__model_quick(choice.variant, args, &size)))
        return run(kernel->variants[0], stream, args);
    cf__error_save(&before);
    status = run(choice.variant, stream, args);
    const int is_large = is_too_large(&choice, args, status);
    const int is_refused = is_large || status == CF_EINVAL || status == CF_EOVERFLOW;
    if (is_large)
        remember_refusal(kernel, &choice, args);
    (is_refused || status == CF_OK ? cf__error_restore : cf__error_keep)(&before);
    return is_refused ? run(kernel->variants[0], stream, args) : status;
}

/* ---- Public functions ---- */

int cf_tuning_class(const cf_kernel *kernel, void *const args[], int *size_class)
{
    int status = cf__check_kernel("cf_tuning_class", kernel);
    if (status == CF_OK && !size_class)
        status = cf__fail(CF_EINVAL, "cf_tuning_class: size_class is NULL");
    return status == CF_OK ? cf__model_class(kernel, args, size_class) : status;
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
