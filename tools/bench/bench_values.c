/* bench_values.c - chooses the arguments of a kernel for one size of a sweep. */
#include "bench/bench_values.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <cuferry.h>

#include "kernel/argument.h"
#include "base/runtime.h"

/* No limits of cf-run's values apply here: the device's memory and a launch's time limit the sizes. */
static const struct verify_limits unlimited = {(size_t)1 << 61, INT64_MAX, INFINITY, INFINITY};

/* ---- Settings ---- */

static int set(struct verify_values *values, const char *setting, int *is_wrong, struct message *message)
{
    const cf_kernel *kernel = values->kernel;
    const char *equals = strchr(setting, '=');
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        char what[BENCH_TRIES + 160];
        if (param->direction != CF_VALUE || strlen(param->name) != (size_t)(equals - setting) ||
            memcmp(param->name, setting, (size_t)(equals - setting)) != 0)
            continue;
        snprintf(what, sizeof what, "%s: %s", kernel->name, param->name);
        *is_wrong = 1;
        if (param->type == CF_OPAQUE)
            return message_set(message, "%s is a struct, which --set cannot give", what);
        if (element_read_list(param->type, equals + 1, param->lanes, values->args[i], what, message) != 0)
            return -1;
        *is_wrong = 0;
        for (uint32_t n = 0; n < values->count; n++)
            if (values->numbers[n].param == i)
                values->numbers[n].is_set = 1;
    }
    return 0;
}

int bench_values_begin(struct bench_values *values, const cf_kernel *kernel, char *const *settings, size_t count,
                       int *is_wrong, struct message *message)
{
    *is_wrong = 0;
    if (verify_values_begin(&values->chosen, kernel, message) != 0)
        return -1;
    values->chosen.limits = unlimited;
    for (size_t s = 0; s < count; s++)
        if (set(&values->chosen, settings[s], is_wrong, message) != 0)
            return -1;
    return 0;
}

void bench_values_free(struct bench_values *values)
{
    verify_values_free(&values->chosen);
}

/* ---- Sizes ---- */

static int is_swept(const struct verify_number *number)
{
    return number->is_swept && !number->is_set && element_is_integer(number->type) && number->type != CF_BOOL;
}

int bench_values_vary(const struct bench_values *values)
{
    int count = 0;
    for (uint32_t i = 0; i < values->chosen.count; i++)
        count += is_swept(&values->chosen.numbers[i]);
    return count > 0;
}

/* Returns the product of those expressions that are given; INT64_MAX if a value is unknown. */
static int64_t product(const struct verify_values *values, const cf_expr *exprs, uint32_t count)
{
    int64_t result = 1, value;
    for (uint32_t i = 0; i < count; i++) {
        if (!exprs[i].ops)
            continue;
        if (cf_kernel_evaluate(values->kernel, exprs[i].ops, SIZE_MAX, values->args, &value) != CF_OK ||
            __builtin_mul_overflow(result, value < 0 ? 0 : value, &result))
            return INT64_MAX;
    }
    return result;
}

static int is_swept_param(const struct bench_values *values, const cf_op *op)
{
    for (uint32_t i = 0; i < values->chosen.count; i++) {
        const struct verify_number *number = &values->chosen.numbers[i];
        if (!is_swept(number))
            continue;
        if ((op->code == CF_OP_PARAM && op->operand == number->param) ||
            (op->code == CF_OP_MEMBER && CF_MEMBER_PARAM(op->operand) == number->param &&
             CF_MEMBER_OFFSET(op->operand) == number->offset))
            return 1;
    }
    return 0;
}

/* Returns 1 if an expression depends on the size. */
static int depends(const struct bench_values *values, const cf_expr *exprs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (const cf_op *op = exprs[i].ops; op && op->code != CF_OP_END; op++)
            if (is_swept_param(values, op))
                return 1;
    return 0;
}

int64_t bench_values_elements(const struct bench_values *values)
{
    const struct verify_values *chosen = &values->chosen;
    const cf_kernel *kernel = chosen->kernel;
    int varies = bench_values_vary(values);
    int64_t largest = 0;
    if (!kernel->launch.counts_blocks && (!varies || depends(values, kernel->launch.grid, CF_GRID_DIMS)))
        largest = product(chosen, kernel->launch.grid, CF_GRID_DIMS);
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        int64_t count = 0;
        if (param->direction != CF_VALUE && param->direction != CF_SCRATCH &&
            (!varies || depends(values, param->extents, param->ndims)))
            count = product(chosen, param->extents, param->ndims);
        largest = count > largest ? count : largest;
    }
    return largest;
}

/* Stores a value. Returns -1 if the number's type cannot hold it. */
static int store(struct bench_values *values, uint32_t i, int64_t value)
{
    const struct verify_number *number = &values->chosen.numbers[i];
    return element_store(number->type, value, (char *)values->chosen.args[number->param] + number->offset);
}

static int64_t stored(const struct bench_values *values, uint32_t i)
{
    const struct verify_number *number = &values->chosen.numbers[i];
    int64_t value = 0;
    (void)element_integer(number->type, (const char *)values->chosen.args[number->param] + number->offset, &value);
    return value;
}

/* Stores a value if no array or grid then exceeds `size`. */
static int try_store(struct bench_values *values, uint32_t i, int64_t value, int64_t size)
{
    int64_t before = stored(values, i);
    if (store(values, i, value) == 0 && bench_values_elements(values) <= size)
        return 1;
    (void)store(values, i, before);
    return 0;
}

static int try_equal(struct bench_values *values, int64_t size)
{
    for (uint32_t i = 0; i < values->chosen.count; i++)
        if (is_swept(&values->chosen.numbers[i]) && store(values, i, size) != 0)
            return 0;
    return bench_values_elements(values) <= size;
}

static void double_by_turns(struct bench_values *values, int64_t size)
{
    int changes = 1;
    while (changes) {
        changes = 0;
        for (uint32_t i = values->chosen.count; i-- > 0;)
            if (is_swept(&values->chosen.numbers[i]) && stored(values, i) <= size / 2)
                changes += try_store(values, i, 2 * stored(values, i), size);
    }
}

/* Raises a number to the largest value, at most `size`, with which no array or grid exceeds the size. */
static void raise(struct bench_values *values, uint32_t i, int64_t size)
{
    for (int64_t step = (int64_t)1 << 62; step; step /= 2)
        if (step <= size - stored(values, i))
            (void)try_store(values, i, stored(values, i) + step, size);
}

static void spread(struct bench_values *values, int64_t size)
{
    for (uint32_t i = 0; i < values->chosen.count; i++)
        if (is_swept(&values->chosen.numbers[i]))
            (void)store(values, i, 1);
    double_by_turns(values, size);
    for (uint32_t i = 0; i < values->chosen.count; i++)
        if (is_swept(&values->chosen.numbers[i]))
            raise(values, i, size);
}

/* ---- Other candidates ---- */

static void add(struct bench_values *values, uint32_t i, int64_t value)
{
    struct verify_number *number = &values->chosen.numbers[i];
    int64_t *list = values->lists[i];
    number->wanted = list;
    for (uint32_t k = 0; k < number->wanted_count; k++)
        if (list[k] == value)
            return;
    if (value >= 1 && number->wanted_count < BENCH_TRIES)
        list[number->wanted_count++] = value;
}

/* Adds candidates for checks: the value, multiples of powers of two below it, its neighbours, its halves. */
static void want_near(struct bench_values *values, uint32_t i)
{
    int64_t value = stored(values, i);
    values->chosen.numbers[i].wanted_count = 0;
    add(values, i, value);
    for (int bit = 1; bit <= 12; bit++)
        add(values, i, value >> bit << bit);
    for (int64_t beside = 1; beside <= 4; beside++) {
        add(values, i, value - beside);
        add(values, i, value + beside);
    }
    for (int64_t half = value / 2; half; half /= 2)
        add(values, i, half);
}

/* Adds candidates for pitches: extents in ascending order, and their neighbours. */
static void want_pitch(struct bench_values *values, uint32_t i)
{
    static const int64_t more[] = {0, 1, 2, 3, 4, 8, 16, 32};
    int64_t last = 0;
    values->chosen.numbers[i].wanted_count = 0;
    for (;;) {
        int64_t least = INT64_MAX;
        for (uint32_t k = 0; k < values->chosen.count; k++)
            if (values->chosen.numbers[k].is_swept && stored(values, k) > last && stored(values, k) < least)
                least = stored(values, k);
        if (least == INT64_MAX)
            break;
        for (uint32_t m = 0; m < sizeof more / sizeof *more; m++)
            if (least < INT64_MAX - more[m])
                add(values, i, least + more[m]);
        last = least;
    }
    add(values, i, last <= INT64_MAX / 2 ? 2 * last : last);
}

static int is_pitch(const struct verify_number *number)
{
    return number->is_size && !number->is_swept && !number->is_set && element_is_integer(number->type);
}

static void want_pitches(struct bench_values *values)
{
    for (uint32_t i = 0; i < values->chosen.count; i++)
        if (is_pitch(&values->chosen.numbers[i]))
            want_pitch(values, i);
}

/* ---- Values within checks ---- */

static void store_all(struct bench_values *values, const int64_t numbers[VERIFY_NUMBERS])
{
    for (uint32_t i = 0; i < values->chosen.count; i++)
        if (element_is_integer(values->chosen.numbers[i].type))
            (void)store(values, i, numbers[i]);
}

static void read_all(const struct bench_values *values, int64_t numbers[VERIFY_NUMBERS])
{
    for (uint32_t i = 0; i < values->chosen.count; i++)
        numbers[i] = element_is_integer(values->chosen.numbers[i].type) ? stored(values, i) : 0;
}

/* Chooses pitches for the numbers as they are. Returns 1 if the kernel's checks pass. */
static int is_allowed(struct bench_values *values)
{
    struct verify_number *numbers = values->chosen.numbers;
    int was_set[VERIFY_NUMBERS];
    want_pitches(values);
    for (uint32_t i = 0; i < values->chosen.count; i++) {
        was_set[i] = numbers[i].is_set;
        numbers[i].is_set |= !is_pitch(&numbers[i]);
    }
    int status = verify_values_choose(&values->chosen, VERIFY_WANTED, VERIFY_ALL_SIZES);
    for (uint32_t i = 0; i < values->chosen.count; i++)
        numbers[i].is_set = was_set[i];
    return status == 0;
}

/* Raises a number towards `most` as far as checks allow, since candidates below it were only halves. */
static void raise_allowed(struct bench_values *values, uint32_t i, int64_t most, int64_t size)
{
    int64_t before[VERIFY_NUMBERS];
    for (int64_t step = (int64_t)1 << 62; step; step /= 2) {
        read_all(values, before);
        if (step <= most - stored(values, i) && try_store(values, i, stored(values, i) + step, size) &&
            !is_allowed(values))
            store_all(values, before);
    }
}

/* Raises first the numbers that are below their wanted values, then the others. */
static void raise_all(struct bench_values *values, const int64_t wanted[VERIFY_NUMBERS], int64_t size)
{
    int is_less = 0;
    for (int others = 0; others <= is_less; others++)
        for (uint32_t i = 0; i < values->chosen.count; i++)
            if (is_swept(&values->chosen.numbers[i]) && (others || stored(values, i) < wanted[i])) {
                is_less = 1;
                raise_allowed(values, i, others ? size : wanted[i], size);
            }
    if (is_less)
        (void)is_allowed(values); /* recomputes the arrays' sizes with the new value */
}

/* ---- Public functions ---- */

/* Number of threads of the grid, and of elements that should differ: they may be too few for most of the grid. */
struct extent {
    int64_t grid, distinct;
};

static struct extent measure_extent(const struct bench_values *values)
{
    const cf_kernel *kernel = values->chosen.kernel;
    struct extent extent = {product(&values->chosen, kernel->launch.grid, CF_GRID_DIMS), INT64_MAX};
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (verify_array_is_distinct(kernel, i)) {
            int64_t count = product(&values->chosen, kernel->params[i].extents, kernel->params[i].ndims);
            extent.distinct = count < extent.distinct ? count : extent.distinct;
        }
    return extent;
}

int bench_values_choose(struct bench_values *values, int64_t size, struct message *message)
{
    struct verify_values *chosen = &values->chosen;
    int64_t wanted[VERIFY_NUMBERS];
    if (bench_values_vary(values) && !try_equal(values, size))
        spread(values, size);
    const struct extent whole = measure_extent(values);
    read_all(values, wanted);
    for (uint32_t i = 0; i < chosen->count; i++)
        if (is_swept(&chosen->numbers[i]))
            want_near(values, i);
    want_pitches(values);
    if (verify_values_choose(chosen, VERIFY_WANTED, VERIFY_ALL_SIZES) != 0)
        return message_set(message, "no values of this size pass its checks");
    raise_all(values, wanted, size);
    if (!bench_values_vary(values))
        return 0;
    const int64_t elements = bench_values_elements(values);
    const struct extent allowed = measure_extent(values);
    if (elements < size / 2)
        return message_set(message, "its checks and the types of its parameters allow %" PRId64 " elements", elements);
    if (allowed.distinct < whole.distinct / 2 && allowed.grid < whole.grid / 2)
        return message_set(message, "its checks and the types of its parameters allow %" PRId64 " elements that differ",
                           allowed.distinct);
    return 0;
}
