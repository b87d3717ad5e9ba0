/* section.c - computes the section of an array argument from its extents, lower bounds and pitches. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "model/section.h"

#include "base/error.h"
#include "model/descriptor.h"
#include "model/expr.h"
#include "model/rows.h"

/* ---- Messages ---- */

/* The three expressions of a dimension. An expression that the annotation does not have has no steps. */
struct dimension {
    const cf_expr *extent, *lower, *pitch;
};

static const cf_expr absent = {NULL, NULL};

static struct dimension get_dimension(const cf_param *param, uint32_t d)
{
    const cf_expr *lower = param->lowers ? &param->lowers[d] : &absent;
    const cf_expr *pitch = param->pitches ? &param->pitches[d] : &absent;
    return (struct dimension){&param->extents[d], lower, pitch};
}

/* Writes the section as the annotation spells it, "u[1:ny][nx]", with the values that the section and its pitches
 * depend on. */
static void describe_section(const struct cf__operands *of, const cf_param *param, char *section, size_t size,
                             char values[CF__VALUES])
{
    const cf_expr *exprs[3 * CF_ARRAY_DIMS];
    size_t count = 0, used = (size_t)snprintf(section, size, "%s", param->name);
    for (uint32_t d = 0; d < param->ndims; d++) {
        struct dimension dimension = get_dimension(param, d);
        const cf_expr *lower = dimension.lower;
        if (used < size)
            used += (size_t)snprintf(section + used, size - used, "[%s%s%s]", lower->ops ? lower->text : "",
                                     lower->ops ? ":" : "", dimension.extent->text);
        exprs[count++] = dimension.extent;
        exprs[count++] = lower;
        exprs[count++] = dimension.pitch;
    }
    cf__describe_values(of, exprs, count, values, CF__VALUES);
}

#define SECTION 160 /* bytes for the text of a section */

static int fail_too_large(const struct cf__operands *of, const cf_param *param)
{
    char section[SECTION], values[CF__VALUES];
    describe_section(of, param, section, sizeof section, values);
    return cf__fail(CF_EOVERFLOW, "%s: %s has more than 2^63 - 1 bytes%s", of->kernel->function, section, values);
}

/* Reports rows that are longer than the distance between them in memory, which is the pitch, or the extent if there is
 * no pitch. */
static int fail_short_pitch(const struct cf__operands *of, const cf_param *param, uint32_t d, int64_t pitch,
                            int64_t row)
{
    char values[CF__VALUES];
    struct dimension dimension = get_dimension(param, d);
    const cf_expr *exprs[] = {dimension.pitch, dimension.lower, dimension.extent};
    cf__describe_values(of, exprs, 3, values, sizeof values);
    if (dimension.pitch->ops)
        return cf__fail(CF_EINVAL, "%s: pitch(%s: %s) is %" PRId64 ", shorter than its row of %" PRId64 "%s",
                        of->kernel->function, param->name, dimension.pitch->text, pitch, row, values);
    return cf__fail(CF_EINVAL, "%s: %s[%s:%s] reaches to %" PRId64 " in rows of %" PRId64 ", since it has no pitch%s",
                    of->kernel->function, param->name, dimension.lower->text, dimension.extent->text, row, pitch,
                    values);
}

/* ---- Evaluation ---- */

/* Evaluates extent, lower bound and pitch of one dimension; `end` is the first index after the section. */
static int evaluate_dimension(const struct cf__operands *of, const cf_param *param, uint32_t d, cf_section *section,
                              int64_t *pitch, int64_t *end)
{
    const struct dimension dimension = get_dimension(param, d);
    int64_t *extent = &section->extents[d], *lower = &section->lowers[d];
    int status = cf__evaluate_size(of, dimension.extent, "the extent ", param->name, "[", "]", extent);
    *lower = 0;
    if (status == CF_OK && dimension.lower->ops)
        status = cf__evaluate_size(of, dimension.lower, "the lower bound ", param->name, "[", ":]", lower);
    *pitch = *extent;
    if (status == CF_OK && d > 0 && dimension.pitch->ops)
        status = cf__evaluate_size(of, dimension.pitch, "pitch(", param->name, ": ", ")", pitch);
    if (status != CF_OK)
        return status;
    if (__builtin_add_overflow(*lower, *extent, end))
        return fail_too_large(of, param);
    return d > 0 && *extent > 0 && *end > *pitch ? fail_short_pitch(of, param, d, *pitch, *end) : CF_OK;
}

/* Evaluates an extent, with a fast path for the most common kind, a single int64_t parameter. */
static int evaluate_extent(const struct cf__operands *of, const cf_expr *expr, int64_t *value)
{
    const cf_op *ops = expr->ops;
    if (!ops || ops[0].code != CF_OP_PARAM || ops[1].code != CF_OP_END ||
        of->kernel->params[ops[0].operand].type != CF_I64)
        return cf__evaluate(of, expr, value);
    memcpy(value, of->args[ops[0].operand], sizeof *value);
    return CF_OK;
}

/* Measures an array with one dimension and no lower bound, which is the most common kind. Returns 0 for all other
 * arrays and for errors; the caller then calls measure_any(). */
static inline int measure_plain(const struct cf__operands *of, const cf_param *param, cf_section *section)
{
    int64_t count, span;
    if (param->ndims != 1 || (param->lowers && param->lowers[0].ops) ||
        evaluate_extent(of, &param->extents[0], &count) != CF_OK || count < 0 ||
        __builtin_mul_overflow(count, (int64_t)param->bytes, &span))
        return 0;
    section->count = section->extents[0] = count;
    section->offset = 0;
    section->span = (size_t)span;
    section->ndims = 1;
    section->lowers[0] = 0;
    section->strides[0] = param->bytes;
    return 1;
}

/* Measures any array. Not inlined, so that plain arrays do not pay for its registers and stack. */
__attribute__((noinline)) static int measure_any(const struct cf__operands *of, const cf_param *param,
                                                 cf_section *section)
{
    int64_t stride = param->bytes, count = 1, first = 0, last = 0;
    int overflow = 0, empty = 0;
    if (param->ndims > CF_ARRAY_DIMS)
        return cf__fail(CF_EINVAL, "%s: %s has %" PRIu32 " dimensions, and an array has at most %d",
                        of->kernel->function, param->name, param->ndims, CF_ARRAY_DIMS);
    section->ndims = param->ndims;
    for (uint32_t d = param->ndims; d-- > 0;) {
        int64_t pitch, end, step;
        int status = evaluate_dimension(of, param, d, section, &pitch, &end);
        if (status != CF_OK)
            return status;
        section->strides[d] = (size_t)stride;
        empty |= section->extents[d] == 0;
        overflow |= __builtin_mul_overflow(count, section->extents[d], &count);
        if (section->lowers[d]) {
            overflow |= __builtin_mul_overflow(section->lowers[d], stride, &step);
            overflow |= __builtin_add_overflow(first, step, &first);
        }
        overflow |= __builtin_mul_overflow(end - 1, stride, &step);
        overflow |= __builtin_add_overflow(last, step, &last);
        if (d > 0)
            overflow |= __builtin_mul_overflow(stride, pitch, &stride);
    }
    overflow |= __builtin_add_overflow(last, (int64_t)param->bytes, &last);
    if (empty) {
        section->count = 0;
        section->offset = section->span = 0;
        return CF_OK;
    }
    if (overflow)
        return fail_too_large(of, param);
    section->count = count;
    section->offset = (size_t)first;
    section->span = (size_t)(last - first);
    return CF_OK;
}

int cf__section_measure(const cf_kernel *kernel, uint32_t i, void *const args[], cf_section *section)
{
    const struct cf__operands of = {kernel, args};
    const cf_param *param = &kernel->params[i];
    return measure_plain(&of, param, section) ? CF_OK : measure_any(&of, param, section);
}

int cf_kernel_section(const cf_kernel *kernel, uint32_t param, void *const args[], cf_section *section)
{
    int status = cf__check_kernel("cf_kernel_section", kernel);
    if (status != CF_OK)
        return status;
    if (!args || !section)
        return cf__fail(CF_EINVAL, "cf_kernel_section: %s is NULL", args ? "section" : "args");
    if (param >= kernel->nparams || kernel->params[param].direction == CF_VALUE)
        return cf__fail(CF_EINVAL, "cf_kernel_section: parameter number %" PRIu32 " of %s is no array", param,
                        kernel->function);
    return cf__section_measure(kernel, param, args, section);
}

/* ---- zero(...) ---- */

/* Reports a zero(...) that reaches beyond the array's section. */
static int fail_outside(const struct cf__operands *of, const cf_zero *zero, int64_t lower, int64_t extent)
{
    const cf_param *param = &of->kernel->params[zero->array];
    char section[SECTION], values[CF__VALUES];
    const struct dimension first = get_dimension(param, 0);
    const cf_expr *exprs[] = {&zero->lower, &zero->extent, first.lower, first.extent};
    const int has_lower = zero->lower.ops != NULL;
    describe_section(of, param, section, sizeof section, values);
    cf__describe_values(of, exprs, 4, values, sizeof values);
    return cf__fail(CF_EINVAL, "%s: zero(%s[%s%s%s]) is [%" PRId64 ":%" PRId64 "], which is not all in %s%s",
                    of->kernel->function, param->name, has_lower ? zero->lower.text : "", has_lower ? ":" : "",
                    zero->extent.text, lower, extent, section, values);
}

int cf__section_zero(const struct cf__operands *of, const cf_zero *zero, size_t *offset, size_t *bytes)
{
    const cf_param *param = &of->kernel->params[zero->array];
    cf_section section;
    int64_t extent, lower = 0;
    int status = cf__section_measure(of->kernel, zero->array, of->args, &section);
    if (status != CF_OK)
        return status;
    *offset = section.offset;
    *bytes = section.count ? section.span : 0;
    if (!zero->extent.ops)
        return CF_OK;
    status = cf__evaluate_size(of, &zero->extent, "the extent zero(", param->name, "[", "])", &extent);
    if (status == CF_OK && zero->lower.ops)
        status = cf__evaluate_size(of, &zero->lower, "the lower bound zero(", param->name, "[", ":])", &lower);
    if (status != CF_OK)
        return status;
    *bytes = 0;
    if (extent == 0)
        return CF_OK;
    if (!section.count || extent > section.extents[0] || lower < section.lowers[0] ||
        lower - section.lowers[0] > section.extents[0] - extent)
        return fail_outside(of, zero, lower, extent);
    *offset = (size_t)lower * param->bytes;
    *bytes = (size_t)extent * param->bytes;
    return CF_OK;
}

/* ---- Rows ---- */

void cf__section_rows(const cf_section *section, size_t element, struct cf__rows *rows)
{
    *rows = (struct cf__rows){.length = element, .rows = 1, .slices = 1};
    uint32_t d = section->ndims;
    for (; d > 0; d--) { /* the row contains these dimensions */
        size_t extent = (size_t)section->extents[d - 1];
        if (extent > 1 && section->strides[d - 1] != rows->length)
            break;
        rows->length *= extent;
    }
    for (; d > 0; d--) { /* the slice contains these dimensions */
        size_t extent = (size_t)section->extents[d - 1];
        if (rows->rows == 1)
            rows->pitch = section->strides[d - 1];
        else if (extent > 1 && section->strides[d - 1] != rows->rows * rows->pitch)
            break;
        rows->rows *= extent;
    }
    rows->nouter = d;
    for (; d > 0; d--) {
        rows->extents[d - 1] = (size_t)section->extents[d - 1];
        rows->strides[d - 1] = section->strides[d - 1];
        rows->slices *= rows->extents[d - 1];
    }
}
