/* verify_values.c - chooses values of scalar parameters for a size, so that all checks pass. */
#include "verify/verify_values.h"

#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "data/random.h"
#include "kernel/argument.h"
#include "base/runtime.h"

/* Limits of a call that the CPU runs quickly. */
static const struct verify_limits small = {(size_t)64 << 20, (int64_t)1 << 18, 1e8, 5e7};

/* Largest number of choices that are tried for a size. */
#define MOST_TRIES 50000

/* ---- Numbers ---- */

static void add_number(struct verify_values *values, struct verify_number number)
{
    for (uint32_t i = 0; i < values->count; i++) {
        struct verify_number *known = &values->numbers[i];
        if (known->param == number.param && known->offset == number.offset) {
            known->is_size |= number.is_size;
            known->is_swept |= number.is_swept;
            return;
        }
    }
    if (values->count < VERIFY_NUMBERS)
        values->numbers[values->count++] = number;
}

enum role { ANY, PITCH, EXTENT };

static void add_expr(struct verify_values *values, const cf_expr *expr, enum role role)
{
    for (const cf_op *op = expr->ops; op && op->code != CF_OP_END; op++)
        if (op->code == CF_OP_PARAM) {
            uint32_t param = (uint32_t)op->operand;
            add_number(values, (struct verify_number){.param = param,
                                                      .type = values->kernel->params[param].type,
                                                      .is_size = role != ANY,
                                                      .is_swept = role == EXTENT});
        } else if (op->code == CF_OP_MEMBER) {
            add_number(values, (struct verify_number){.param = CF_MEMBER_PARAM(op->operand),
                                                      .offset = CF_MEMBER_OFFSET(op->operand),
                                                      .type = CF_MEMBER_TYPE(op->operand),
                                                      .is_size = role != ANY,
                                                      .is_swept = role == EXTENT});
        }
}

/* Finds a kernel's numbers. Those that expressions use come first, in the order of the declaration, then the others. */
static void find_numbers(struct verify_values *values)
{
    const cf_kernel *kernel = values->kernel;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        for (uint32_t d = 0; param->direction != CF_VALUE && d < param->ndims; d++) {
            add_expr(values, &param->extents[d], EXTENT);
            if (param->lowers)
                add_expr(values, &param->lowers[d], ANY);
            if (param->pitches)
                add_expr(values, &param->pitches[d], PITCH);
        }
    }
    for (int d = 0; d < CF_GRID_DIMS; d++) {
        add_expr(values, &kernel->launch.grid[d], EXTENT);
        add_expr(values, &kernel->launch.block[d], ANY);
    }
    for (uint32_t c = 0; c < kernel->nchecks; c++) {
        add_expr(values, &kernel->checks[c].condition, ANY);
        add_expr(values, &kernel->checks[c].lower, ANY);
        add_expr(values, &kernel->checks[c].upper, ANY);
    }
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        size_t part = cf_type_size(param->type);
        for (uint32_t lane = 0; param->direction == CF_VALUE && part && param->type != CF_OPAQUE && lane < param->lanes;
             lane++)
            add_number(values, (struct verify_number){.param = i, .offset = lane * part, .type = param->type});
    }
    for (uint32_t i = 0; i < values->count; i++)
        values->size_count += (uint32_t)values->numbers[i].is_size;
}

/* Returns 1 for a class that may contain pointers: its descriptor has only the size and the alignment. */
static int may_hold_pointers(cf_type type, size_t bytes, size_t align)
{
    return type == CF_OPAQUE && bytes >= sizeof(void *) && align % _Alignof(void *) == 0;
}

/* Refuses a parameter that the kernel reads and whose values must be addresses. */
static int refuse_pointers(const cf_param *param, struct message *message)
{
    if (param->direction == CF_POINTER)
        return message_set(message, "%s: nothing is declared of its extent", param->name);
    if (param->type == CF_PTR)
        return message_set(message, "%s: pointers cannot be made up", param->name);
    int is_read = param->direction == CF_VALUE || argument_is_read(param);
    if (is_read && !param->members && may_hold_pointers(param->type, param->bytes, param->align))
        return message_set(message, "%s: its type may hold pointers, which cannot be made up", param->name);
    for (const cf_member *member = param->members; member && member->path; member++) {
        if (member->type == CF_PTR)
            return message_set(message, "%s.%s: pointers cannot be made up", param->name, member->path);
        if (is_read && may_hold_pointers(member->type, member->bytes, param->align | member->offset))
            return message_set(message, "%s.%s: its type may hold pointers, which cannot be made up", param->name,
                               member->path);
    }
    return 0;
}

int verify_values_begin(struct verify_values *values, const cf_kernel *kernel, struct message *message)
{
    *values = (struct verify_values){.kernel = kernel, .limits = small};
    values->args = calloc(kernel->nparams + (size_t)1, sizeof *values->args);
    values->arrays = calloc(kernel->nparams + (size_t)1, sizeof *values->arrays);
    if (!values->args || !values->arrays)
        return message_set(message, "no memory");
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        if (refuse_pointers(param, message) != 0)
            return -1;
        if (verify_array_members(kernel, i) > VERIFY_MEMBERS)
            return message_set(message,
                               "%s: checks bound more than %d members; bound the others in a struct of their own",
                               param->name, VERIFY_MEMBERS);
        if (param->direction == CF_VALUE && !(values->args[i] = calloc(1, param->bytes + 16)))
            return message_set(message, "no memory");
        if (param->direction == CF_VALUE)
            make_members(param->members, i, values->args[i]);
    }
    find_numbers(values);
    return 0;
}

void verify_values_free(struct verify_values *values)
{
    for (uint32_t i = 0; values->args && i < values->kernel->nparams; i++)
        free(values->args[i]);
    free(values->args);
    free(values->arrays);
}

/* ---- Candidates ---- */

/* Placeholders for the size, its neighbours and its double. */
enum { SIZE = -1000, BELOW, ABOVE, DOUBLE };

static const int64_t whole[] = {SIZE, 1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 64, 128, 256, BELOW, ABOVE, DOUBLE, 0};
static const int64_t beside[] = {5, 3, 7, 2, 1, 4, 8, 16, 32, 64, SIZE, ABOVE, DOUBLE, 0};
static const int64_t others[] = {3, 1, 2, 0, 4, 5, 7, 8, 16, 64, 100, SIZE, BELOW, ABOVE, -1};
static const double reals[] = {0.375, 0.5, 0.25, 1, 1.5, 2, 0.01, 3, 10, 100, 1e-5, 0, -0.5};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

struct search {
    struct verify_values *values;
    int64_t size;
    int only; /* the only number that is `size`, or VERIFY_ALL_SIZES */
    int tries;
};

static const int64_t *list_of(const struct search *search, uint32_t i, uint32_t *count)
{
    const struct verify_number *number = &search->values->numbers[i];
    if (number->wanted) {
        *count = number->wanted_count;
        return number->wanted;
    }
    if (!number->is_size) {
        *count = COUNT(others);
        return others;
    }
    if (search->only >= 0 && search->only != (int)i) {
        *count = COUNT(beside);
        return beside;
    }
    *count = search->only >= 0 ? 1 : COUNT(whole);
    return whole;
}

static uint32_t candidate_count(const struct search *search, uint32_t i)
{
    uint32_t count;
    if (search->values->numbers[i].is_set)
        return 1;
    if (!element_is_integer(search->values->numbers[i].type))
        return COUNT(reals);
    (void)list_of(search, i, &count);
    return count;
}

static int64_t candidate(const struct search *search, uint32_t i, uint32_t c)
{
    uint32_t count;
    int64_t value = list_of(search, i, &count)[c];
    return value == SIZE     ? search->size
           : value == BELOW  ? search->size - 1
           : value == ABOVE  ? search->size + 1
           : value == DOUBLE ? 2 * search->size
                             : value;
}

/* Sets number i to its candidate c. Returns -1 if its type cannot hold the candidate. */
static int set_number(const struct search *search, uint32_t i, uint32_t c)
{
    const struct verify_number *number = &search->values->numbers[i];
    char *at = (char *)search->values->args[number->param] + number->offset;
    if (number->is_set)
        return 0;
    if (number->type == CF_BOOL)
        return element_store(CF_BOOL, c == 0, at);
    if (element_is_integer(number->type))
        return element_store(number->type, candidate(search, i, c), at);
    for (int part = 0; part < element_parts(number->type); part++)
        element_set_part(number->type, at, part, reals[c] / (part + 1));
    return 0;
}

/* ---- Tests of a choice ---- */

/* Returns the product of a launch rule's expressions; -1 if one cannot be evaluated or is negative. */
static int64_t product(const struct verify_values *values, const cf_expr *exprs)
{
    int64_t result = 1, value;
    for (int d = 0; d < CF_GRID_DIMS; d++)
        if (exprs[d].ops &&
            (cf_kernel_evaluate(values->kernel, exprs[d].ops, SIZE_MAX, values->args, &value) != CF_OK || value < 0 ||
             __builtin_mul_overflow(result, value, &result)))
            return -1;
    return result;
}

int64_t verify_values_block(const struct verify_values *values)
{
    const cf_kernel *kernel = values->kernel;
    int is_known = !kernel->launch.is_block_auto && !cf_kernel_is_operation(kernel);
    int64_t block = is_known ? product(values, kernel->launch.block) : 0;
    return block > 0 ? block : 256;
}

static int passes_checks(const struct verify_values *values)
{
    const cf_kernel *kernel = values->kernel;
    for (uint32_t c = 0; c < kernel->nchecks; c++) {
        const cf_check *check = &kernel->checks[c];
        int64_t value = 0;
        double real = 0;
        if (check->array >= 0 || !check->condition.ops)
            continue;
        int status = check->is_real ? cf_kernel_evaluate_real(kernel, check->condition.ops, values->args, &real)
                                    : cf_kernel_evaluate(kernel, check->condition.ops, SIZE_MAX, values->args, &value);
        if (status != CF_OK || (check->is_real ? real == 0 : value == 0))
            return 0;
    }
    return 1;
}

static int64_t number_value(const struct verify_values *values, uint32_t i)
{
    const struct verify_number *number = &values->numbers[i];
    int64_t value = -1;
    (void)element_integer(number->type, (const char *)values->args[number->param] + number->offset, &value);
    return value;
}

static double largest_size(const struct verify_values *values)
{
    int64_t largest = 1;
    for (uint32_t i = 0; i < values->count; i++)
        if (values->numbers[i].is_size && number_value(values, i) > largest)
            largest = number_value(values, i);
    return (double)largest;
}

static int is_affordable(const struct verify_values *values, const struct verify_limits *limits)
{
    const cf_kernel *kernel = values->kernel;
    double flops = 0;
    int64_t grid = product(values, kernel->launch.grid), threads = grid;
    if (grid < 0 ||
        (kernel->launch.counts_blocks && __builtin_mul_overflow(grid, verify_values_block(values), &threads)) ||
        threads > limits->threads)
        return 0;
    if (!kernel->flops.ops && !kernel->is_bounded && (double)threads * largest_size(values) > limits->steps)
        return 0;
    return !kernel->flops.ops || cf_kernel_evaluate_real(kernel, kernel->flops.ops, values->args, &flops) != CF_OK ||
           !(flops > limits->flops);
}

int verify_values_are_small(const struct verify_values *values)
{
    size_t total = 0;
    for (uint32_t i = 0; i < values->kernel->nparams; i++)
        total += values->arrays[i].bytes;
    return total <= small.bytes && is_affordable(values, &small);
}

static int is_of_size(const struct search *search)
{
    const struct verify_values *values = search->values;
    if (values->size_count == 0 || search->size == VERIFY_WANTED)
        return 1;
    for (uint32_t i = 0; i < values->count; i++)
        if (values->numbers[i].is_size && number_value(values, i) == search->size)
            return 1;
    return 0;
}

static int is_good(const struct search *search)
{
    struct verify_values *values = search->values;
    return is_of_size(search) && passes_checks(values) && is_affordable(values, &values->limits) &&
           verify_arrays_measure(values->kernel, values->args, (uint64_t)search->size * 1000, values->limits.bytes,
                                 values->arrays) == 0;
}

/* ---- The search ---- */

/* Tries all choices for numbers i and later in which the positions of the chosen candidates add up to `distance`. */
static int try_from(struct search *search, uint32_t i, uint32_t distance)
{
    if (i == search->values->count)
        return distance == 0 && search->tries++ < MOST_TRIES && is_good(search);
    uint32_t count = candidate_count(search, i), is_last = i + 1 == search->values->count;
    for (uint32_t c = is_last ? distance : 0; c < count && c <= distance; c++)
        if (set_number(search, i, c) == 0 && try_from(search, i + 1, distance - c))
            return 1;
    return 0;
}

int verify_values_choose(struct verify_values *values, int64_t size, int only)
{
    struct search search = {values, size, VERIFY_ALL_SIZES, 0};
    uint32_t farthest = 0;
    for (uint32_t i = 0, number = 0; only >= 0 && i < values->count; i++)
        if (values->numbers[i].is_size && (int)number++ == only)
            search.only = (int)i;
    for (uint32_t i = 0; i < values->count; i++)
        farthest += candidate_count(&search, i) - 1;
    for (uint32_t distance = 0; distance <= farthest && search.tries < MOST_TRIES; distance++)
        if (try_from(&search, 0, distance))
            return 0;
    return -1;
}

void verify_values_randomise(struct verify_values *values, uint64_t seed)
{
    enum { CHOICES = 8 };
    static int64_t lists[VERIFY_NUMBERS][CHOICES];
    for (uint32_t i = 0; i < values->count; i++) {
        struct verify_number *number = &values->numbers[i];
        const int64_t small_one = random_integer(seed, (uint64_t)CHOICES * i, 0, 10);
        const int64_t any = random_integer(seed, (uint64_t)CHOICES * i + 1, 1, 300);
        const int64_t odd = 2 * random_integer(seed, (uint64_t)CHOICES * i + 2, 0, 60) + 1;
        const int64_t warps = random_integer(seed, (uint64_t)CHOICES * i + 3, 1, 9);
        const int64_t sizes[CHOICES] = {seed % 2 ? odd : any, odd, small_one, 32 * warps, 256 * warps, 4 * any, 1, 2};
        const int64_t rest[CHOICES] = {small_one, warps, odd, 1, 0, any, 32 * warps, -small_one};
        memcpy(lists[i], number->is_size ? sizes : rest, sizeof sizes);
        number->wanted = lists[i];
        number->wanted_count = CHOICES;
    }
}

void verify_values_add(const struct verify_values *values, struct message *message)
{
    const char *separator = "";
    for (uint32_t i = 0; i < values->kernel->nparams; i++) {
        const cf_param *param = &values->kernel->params[i];
        const struct element_type type = argument_type(param);
        char text[ELEMENT_TEXT];
        if (param->direction != CF_VALUE || type.type == CF_OPAQUE)
            continue;
        element_format(&type, values->args[i], text);
        message_add(message, "%s%s = %s", separator, param->name, text);
        separator = ", ";
    }
}
