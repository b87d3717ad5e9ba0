/* launch.c - checks a kernel's arguments, works out its grid and enqueues it. */
#include <inttypes.h>
#include <stdio.h>

#include "internal.h"
#include "tuning.h"

/* ---- What is watched ---- */

void cf__watch(int what, int is_on)
{
    if (is_on)
        __atomic_or_fetch(&cf__hot.watching, what, __ATOMIC_RELAXED);
    else
        __atomic_and_fetch(&cf__hot.watching, ~what, __ATOMIC_RELAXED);
}

/* ---- Arguments ---- */

static int check_condition(const cf_kernel *kernel, const cf_check *check, void *const args[])
{
    int64_t holds = 0;
    double real = 0;
    int status = check->is_real ? cf__evaluate_real(kernel, &check->condition, args, &real)
                                : cf__evaluate(kernel, &check->condition, args, &holds);
    if (status == CF_OK && (check->is_real ? real != 0 : holds != 0))
        return CF_OK;
    char values[160];
    const cf_expr *expr = &check->condition;
    cf__describe(kernel, &expr, 1, args, values, sizeof values);
    if (status != CF_OK)
        return cf__fail(status, "%s: the check %s overflows or divides by 0%s%s", kernel->function, check->text,
                        *values ? " with " : "", values);
    return cf__fail(CF_EINVAL, "%s: the check %s fails%s%s", kernel->function, check->text, *values ? " with " : "",
                    values);
}

int cf__check_descriptor(const char *what, uint32_t version)
{
    if (version == CF_REGISTRY_VERSION)
        return CF_OK;
    return cf__fail(CF_EINVAL,
                    "the %s's descriptor has version %" PRIu32 ", this library takes %d; build the kernels again", what,
                    version, CF_REGISTRY_VERSION);
}

int cf__check_kernel(const char *function, const cf_kernel *kernel)
{
    if (!kernel)
        return cf__fail(CF_EINVAL, "%s: kernel is NULL", function);
    return cf__check_descriptor("kernel", kernel->version);
}

int cf__check_arguments(const cf_kernel *kernel, void *const args[])
{
    if (!kernel)
        return cf__fail(CF_EINVAL, "cf_launch: kernel is NULL");
    int known = cf__check_descriptor("kernel", kernel->version);
    if (known != CF_OK)
        return known;
    if (kernel->nparams && !args)
        return cf__fail(CF_EINVAL, "%s: args is NULL", kernel->function);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (!args[i] && kernel->params[i].direction != CF_SCRATCH)
            return cf__fail(CF_EINVAL, "%s: the argument for %s is NULL, and not a pointer to one", kernel->function,
                            kernel->params[i].name);
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        if (!cf__is_array(param))
            continue;
        struct cf__section section;
        int status = cf__section(kernel, i, args, &section);
        if (status != CF_OK)
            return status;
        if (section.count && param->direction != CF_SCRATCH && !*(void *const *)args[i])
            return cf__fail(CF_EINVAL, "%s: %s is NULL and its extent is %" PRId64, kernel->function, param->name,
                            section.count);
    }
    for (uint32_t i = 0; i < kernel->nzeros; i++) {
        size_t offset, bytes;
        int status = cf__zero_of(kernel, &kernel->zeros[i], args, &offset, &bytes);
        if (status != CF_OK)
            return status;
    }
    for (uint32_t i = 0; i < kernel->nchecks; i++)
        if (kernel->checks[i].array < 0) {
            int status = check_condition(kernel, &kernel->checks[i], args);
            if (status != CF_OK)
                return status;
        }
    return CF_OK;
}

/* ---- Grid and block ---- */

/* An expression of the launch rule. */
static int rule_value(const cf_kernel *kernel, const cf_expr *expr, const char *what, void *const args[],
                      int64_t *value)
{
    int status = cf__evaluate(kernel, expr, args, value);
    if (status == CF_OK && *value >= 0)
        return CF_OK;
    char values[160];
    cf__describe(kernel, &expr, 1, args, values, sizeof values);
    return cf__fail(status == CF_OK ? CF_EINVAL : status, "%s: %s(%s)%s %s%s%s", kernel->function, what, expr->text,
                    expr == &kernel->host_grid ? ")" : "",
                    status == CF_OK ? "is negative" : "overflows or divides by 0", *values ? " with " : "", values);
}

/* The limits of every device that the driver API knows. */
static const int64_t max_grid[CF_GRID_DIMS] = {INT32_MAX, UINT16_MAX, UINT16_MAX};
static const int64_t max_block[CF_GRID_DIMS] = {CF__MAX_BLOCK, CF__MAX_BLOCK, 64};

static int bad_block(const cf_kernel *kernel, int d, int64_t size, void *const args[])
{
    const cf_expr *expr = &kernel->launch.block[d];
    char values[160];
    cf__describe(kernel, &expr, 1, args, values, sizeof values);
    return cf__fail(CF_EINVAL,
                    "%s: %s in block(...) is %" PRId64 "%s%s; a block has 1 to %d threads, and at most %" PRId64
                    " along z",
                    kernel->function, expr->text, size, *values ? " with " : "", values, CF__MAX_BLOCK, max_block[2]);
}

/* A value of the rule that is outside its limits. */
static int bad_rule(const cf_kernel *kernel, const cf_expr *expr, const char *what, int64_t value, const char *limit,
                    void *const args[])
{
    char values[160];
    cf__describe(kernel, &expr, 1, args, values, sizeof values);
    return cf__fail(CF_EINVAL, "%s: %s(%s)%s is %" PRId64 "%s%s; %s", kernel->function, what, expr->text,
                    expr == &kernel->host_grid ? ")" : "", value, *values ? " with " : "", values, limit);
}

/* How many threads, or blocks, there are in each dimension. */
static int counts(const cf_kernel *kernel, void *const args[], int64_t count[CF_GRID_DIMS])
{
    const cf_launch_rule *rule = &kernel->launch;
    int64_t items;
    int status = CF_OK;
    for (int d = 0; status == CF_OK && d < CF_GRID_DIMS; d++) {
        count[d] = 1;
        if (rule->grid[d].ops)
            status = rule_value(kernel, &rule->grid[d], rule->counts_blocks ? "blocks" : "grid", args, &count[d]);
    }
    if (status != CF_OK || rule->counts_blocks || !rule->items.ops)
        return status;
    status = rule_value(kernel, &rule->items, "items", args, &items);
    if (status == CF_OK && items == 0)
        status = bad_rule(kernel, &rule->items, "items", items, "a thread takes at least one", args);
    if (status == CF_OK)
        count[0] = count[0] / items + (count[0] % items != 0);
    return status;
}

/* The block as declared, or as the driver has it for block(auto). */
static int blocks(const cf_kernel *kernel, const struct cf__place *place, void *const args[], struct cf__size *size)
{
    const cf_launch_rule *rule = &kernel->launch;
    int64_t threads = 1;
    for (int d = 0; d < CF_GRID_DIMS; d++) {
        int64_t block = 1;
        int status = rule->block[d].ops ? rule_value(kernel, &rule->block[d], "block", args, &block) : CF_OK;
        if (status != CF_OK)
            return status;
        if (block < 1 || block > max_block[d] || (threads *= block) > CF__MAX_BLOCK)
            return bad_block(kernel, d, block, args);
        size->block[d] = (uint32_t)block;
    }
    if (!rule->is_block_auto || size->is_empty)
        return CF_OK;
    int best = 0, status = cf__kernel_load(kernel, place, &size->loaded);
    if (status == CF_OK)
        status = cf__kernel_block(kernel, place, size->loaded, &best);
    size->block[0] = (uint32_t)best;
    return status;
}

static int shared(const cf_kernel *kernel, void *const args[], struct cf__size *size)
{
    const cf_expr *expr = &kernel->launch.shared;
    int64_t bytes = 0;
    int status = expr->ops ? rule_value(kernel, expr, "shared", args, &bytes) : CF_OK;
    if (status == CF_OK && bytes > INT32_MAX)
        return bad_rule(kernel, expr, "shared", bytes, "no device has as much shared memory", args);
    size->shared = (int)bytes;
    return status;
}

int cf__size(const cf_kernel *kernel, const struct cf__place *place, void *const args[], struct cf__size *size)
{
    const cf_launch_rule *rule = &kernel->launch;
    int64_t count[CF_GRID_DIMS];
    int status = counts(kernel, args, count);
    if (status != CF_OK)
        return status;
    size->loaded = NULL;
    size->is_empty = !(count[0] && count[1] && count[2]);
    status = blocks(kernel, place, args, size);
    if (status == CF_OK)
        status = shared(kernel, args, size);
    for (int d = 0; status == CF_OK && d < CF_GRID_DIMS; d++) {
        int64_t block = size->block[d];
        int64_t of_grid = rule->counts_blocks ? count[d] : count[d] / block + (count[d] % block != 0);
        if (of_grid > max_grid[d])
            status = cf__fail(CF_EOVERFLOW, "%s: %s(%s) asks for %" PRId64 " blocks and a grid has at most %" PRId64,
                              kernel->function, rule->counts_blocks ? "blocks" : "grid", rule->grid[d].text, of_grid,
                              max_grid[d]);
        size->grid[d] = (uint32_t)of_grid;
    }
    return status;
}

/* ---- Launching ---- */

static int enqueue_cooperative(const cf_kernel *kernel, const struct cf__size *size, const struct cf__place *place,
                               CUfunction function, cf_stream stream, void *const args[])
{
    const uint32_t *grid = size->grid, *block = size->block;
    CUresult result =
        place->driver->cuLaunchCooperativeKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                                 (unsigned int)size->shared, stream, (void **)(uintptr_t)args);
    if (result == CUDA_SUCCESS)
        return CF_OK;
    const char *call = "cuLaunchCooperativeKernel";
    if (result != CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
        return cf__fail_driver(place->driver, result, call, "%s", kernel->function);
    return cf__fail_driver(place->driver, result, call,
                           "%s: its grid of %" PRIu64 " blocks does not fit the device at once, as cooperative asks",
                           kernel->function, (uint64_t)grid[0] * grid[1] * grid[2]);
}

/* How many threads the CPU runs is worked out by each of its threads anew, where nothing could be said. */
static int check_host_grid(const cf_kernel *kernel, void *const args[])
{
    int64_t threads;
    if (!kernel->host_grid.ops)
        return CF_OK;
    int status = rule_value(kernel, &kernel->host_grid, "host(grid", args, &threads);
    if (status == CF_OK && threads == 0)
        status = bad_rule(kernel, &kernel->host_grid, "host(grid", threads, "a GPU's grid is not empty", args);
    return status;
}

/* The kernel as it is loaded in the place's context, for a launch of that size. */
static int make_ready(const cf_kernel *kernel, const struct cf__size *size, const struct cf__place *place,
                      void *const args[], struct cf__loaded **loaded)
{
    if (cf_kernel_is_operation(kernel))
        return cf__operation_ready(kernel, place, loaded);
    *loaded = size->loaded ? size->loaded : cf__kernel_loaded(kernel, place);
    int status = place->driver->is_host ? check_host_grid(kernel, args) : CF_OK;
    if (status == CF_OK && !*loaded)
        status = cf__kernel_load(kernel, place, loaded);
    if (status == CF_OK && size->shared)
        status = cf__kernel_share(kernel, place, *loaded, size->shared, args);
    return status;
}

static int enqueue_loaded(const cf_kernel *kernel, const struct cf__size *size, const struct cf__place *place,
                          struct cf__loaded *loaded, cf_stream stream, void *const args[])
{
    if (cf_kernel_is_operation(kernel))
        return cf__operate(kernel, place, loaded, stream, args);
    if (kernel->launch.is_cooperative) {
        struct cf__running *running = cf__note_kernel(loaded, stream);
        int status = enqueue_cooperative(kernel, size, place, loaded->function, stream, args);
        cf__note_launched(running);
        return status;
    }
    CUresult result =
        cf__launch_once(place->driver, loaded, size->grid, size->block, (unsigned int)size->shared, stream, args);
    return result == CUDA_SUCCESS ? CF_OK
                                  : cf__fail_driver(place->driver, result, "cuLaunchKernel", "%s", kernel->function);
}

static int enqueue(const cf_kernel *kernel, const struct cf__size *size, const struct cf__place *place,
                   cf_stream stream, void *const args[])
{
    struct cf__loaded *loaded;
    int status = make_ready(kernel, size, place, args, &loaded);
    return status == CF_OK ? enqueue_loaded(kernel, size, place, loaded, stream, args) : status;
}

static int enqueue_with_scratch(const cf_kernel *kernel, const struct cf__size *size, const struct cf__place *place,
                                cf_stream stream, void *const args[])
{
    struct cf__loaded *loaded;
    struct cf__scratch scratch;
    int status = make_ready(kernel, size, place, args, &loaded);
    if (status == CF_OK)
        status = cf__scratch_begin(kernel, place, loaded->context, stream, args, &scratch);
    if (status != CF_OK)
        return status;
    status = enqueue_loaded(kernel, size, place, loaded, stream, scratch.args);
    return cf__scratch_end(kernel, place, stream, &scratch, status);
}

int cf__launch(const cf_kernel *kernel, const struct cf__size *size, const struct cf__place *place, cf_stream stream,
               void *const args[])
{
    int has_scratch = kernel->nzeros > 0;
    if (size->is_empty) /* what threads add to is 0 where there are none */
        return cf__clear_results(kernel, place, stream, args);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        has_scratch |= kernel->params[i].direction == CF_SCRATCH;
    return (has_scratch ? enqueue_with_scratch : enqueue)(kernel, size, place, stream, args);
}

/* A parameter without an extent may be given an array of the operation around it that has no elements. */
static int needs_check(const cf_param *param, const void *arg)
{
    return param->direction != CF_VALUE && param->direction != CF_SCRATCH &&
           (cf__is_array(param) || !cf__operation_has_empty(*(void *const *)arg));
}

/* What CF_CHECK=1 asks of cf_launch(). */
static int check_pointers(const cf_kernel *kernel, void *const args[], const struct cf__place *place)
{
    int device, status = cf__place_device(place, kernel->function, &device);
    struct cf__found found = {.size = 0};
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        struct cf__pointer pointer;
        if (!needs_check(&kernel->params[i], args[i]))
            continue;
        status = cf__check_pointer(kernel, i, args, place, device, &found, &pointer);
        if (status == CF_OK && pointer.is_staged)
            status = cf__fail(CF_EINVAL,
                              "%s: %s is host memory, which the device cannot reach; only the plain call takes it",
                              kernel->function, kernel->params[i].name);
    }
    return status == CF_OK && cf__keeps_apart(kernel) ? cf__check_apart(kernel, args, args) : status;
}

/* ---- The two ways of cf_launch() ---- */

/* The long way: looks at everything anew and says what is wrong. */
static int launch_checked(const cf_kernel *kernel, cf_stream stream, void *const args[])
{
    int status = cf__check_arguments(kernel, args);
    if (status != CF_OK)
        return status;
    struct cf__place place;
    status = cf__enter(&place, kernel->function, stream);
    if (status != CF_OK)
        return status;
    struct cf__size size;
    status = cf__size(kernel, &place, args, &size);
    if (status == CF_OK && cf__watches(CF__WATCH_POINTERS))
        status = check_pointers(kernel, args, &place);
    if (status == CF_OK)
        status = cf__launch(kernel, &size, &place, stream, args);
    cf__leave(&place);
    return status;
}

_Thread_local struct cf__known cf__known;

int cf__is_unknown(CUresult result)
{
    int is_unknown = result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_INVALID_CONTEXT ||
                     cf__status_of(result) == CF_EFAULT;
    if (is_unknown)
        cf__known.stream = NULL;
    return is_unknown;
}

/* The shortest way, on a stream that is known or the default one: whether it was gone. */
static inline int launch_known(const cf_kernel *kernel, const cf_size *size, cf_stream stream, void *const args[],
                               int *status)
{
    unsigned long long id;
    const struct cf__driver *driver = stream ? cf__known_stream(stream, &id) : cf__own_stream(&id);
    const struct cf__loaded *loaded = driver ? cf__loaded_in(kernel->state, id) : NULL;
    if (!cf__is_one_call(loaded, size))
        return 0;
    CUresult result = cf__launch_once(driver, loaded, size->grid, size->block, size->shared, stream, args);
    *status = CF_OK;
    if (__builtin_expect(result == CUDA_SUCCESS, 1))
        return 1;
    if (cf__is_unknown(result))
        return 0;
    cf__name_async(kernel->function);
    *status = cf__fail_driver(driver, result, "cuLaunchKernel", "%s", kernel->function);
    cf__name_async(NULL);
    return 1;
}

/* For arguments that are known to be in order. */
static inline int launch_sized(const cf_kernel *kernel, const cf_size *size, const struct cf__place *place,
                               cf_stream stream, void *const args[])
{
    const struct cf__loaded *loaded = cf__kernel_loaded(kernel, place);
    if (!cf__is_one_call(loaded, size) || cf__watches(-1)) {
        const struct cf__size known = {.grid = {size->grid[0], size->grid[1], size->grid[2]},
                                       .block = {size->block[0], size->block[1], size->block[2]},
                                       .shared = (int)size->shared};
        int status = cf__watches(CF__WATCH_POINTERS) ? check_pointers(kernel, args, place) : CF_OK;
        return status == CF_OK ? cf__launch(kernel, &known, place, stream, args) : status;
    }
    CUresult result = cf__launch_once(place->driver, loaded, size->grid, size->block, size->shared, stream, args);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuLaunchKernel", "%s", kernel->function);
    cf__know_stream(stream, place, loaded->context);
    return CF_OK;
}

static inline int launch_in_order(const cf_kernel *kernel, const cf_size *size, cf_stream stream, void *const args[])
{
    struct cf__place place;
    int status = cf__enter(&place, kernel->function, stream);
    if (status != CF_OK)
        return status;
    status = launch_sized(kernel, size, &place, stream, args);
    if (place.pushed)
        cf__leave(&place);
    return status;
}

/* Each of these nanoseconds is paid at every launch: what is in order is not looked at twice. */
CF__HOT int cf_launch(const cf_kernel *kernel, cf_stream stream, void *const args[])
{
    cf_size size;
    int status, is_in_order = __builtin_expect(cf__in_order(kernel, args, &size), 1);
    if (is_in_order && launch_known(kernel, &size, stream, args, &status))
        return status;
    if (!is_in_order && cf__is_tuned(kernel))
        return cf__launch_tuned(kernel, stream, args);
    cf__name_async(cf__is_known(kernel) ? kernel->function : NULL);
    status = is_in_order ? launch_in_order(kernel, &size, stream, args) : launch_checked(kernel, stream, args);
    cf__name_async(NULL);
    return status;
}
