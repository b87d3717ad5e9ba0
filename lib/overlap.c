/* overlap.c - arrays that a kernel declares __restrict__ and that share memory with one that it writes. */
#include <inttypes.h>

#include "internal.h"

__extension__ typedef __int128 wide; /* differences of addresses, and sums of them */

/* ---- How far two sections are the same memory ---- */

/* A row of the first section may lie i strides behind another one of it, 0 <= i < `first`, and a row of the second j,
 * 0 <= j < `second`: two of them are i - j strides further apart than the others. */
struct step {
    size_t stride;
    int64_t first, second;
    wide low_rest, high_rest; /* of all steps behind this one: the least and the most bytes */
};

struct steps {
    size_t count, lengths[2]; /* bytes of a row of each section */
    struct step at[2 * CF_ARRAY_DIMS];
};

/* Strides that both sections have are one step: that of two arrays with one pitch is a number of rows. */
static void add(struct steps *steps, size_t stride, size_t extent, int is_second)
{
    size_t at = 0;
    if (extent < 2)
        return;
    while (at < steps->count && steps->at[at].stride > stride)
        at++;
    if (at == steps->count || steps->at[at].stride != stride) {
        for (size_t i = steps->count++; i > at; i--)
            steps->at[i] = steps->at[i - 1];
        steps->at[at] = (struct step){.stride = stride, .first = 1, .second = 1};
    }
    *(is_second ? &steps->at[at].second : &steps->at[at].first) = (int64_t)extent;
}

static void add_rows(struct steps *steps, const struct cf__section *section, size_t element, int is_second)
{
    struct cf__rows rows;
    cf__rows(section, element, &rows);
    steps->lengths[is_second] = rows.length;
    add(steps, rows.pitch, rows.rows, is_second);
    for (uint32_t d = 0; d < rows.nouter; d++)
        add(steps, rows.strides[d], rows.extents[d], is_second);
}

/* Rounded down; `divisor` is positive. */
static wide quotient(wide number, wide divisor)
{
    return number / divisor - (number % divisor < 0);
}

/* Bytes that a row of the first section that lies `apart` bytes behind one of the second has in common with it. */
static uint64_t common(const struct steps *steps, wide apart)
{
    wide begin = apart > 0 ? apart : 0, end = apart + (wide)steps->lengths[0];
    end = end < (wide)steps->lengths[1] ? end : (wide)steps->lengths[1];
    return end > begin ? (uint64_t)(end - begin) : 0;
}

/* The same of all rows that are reached by steps from number `at` on. Only so many of each step are tried as can lead
 * to rows that touch: few where rows are nested in longer ones, and where the pitches of two arrays differ fewer than
 * one of them has rows. */
static uint64_t count(const struct steps *steps, size_t at, wide apart)
{
    if (at == steps->count)
        return common(steps, apart);
    const struct step *step = &steps->at[at];
    const wide stride = (wide)step->stride, first = step->first, second = step->second;
    wide low = quotient(-(wide)steps->lengths[0] - apart - step->high_rest, stride) + 1;
    wide high = -quotient(-((wide)steps->lengths[1] - apart - step->low_rest), stride) - 1;
    low = low < 1 - second ? 1 - second : low;
    high = high > first - 1 ? first - 1 : high;
    uint64_t bytes = 0;
    for (wide k = low; k <= high; k++) {
        wide last = k + second < first ? k + second : first;
        uint64_t pairs = (uint64_t)(last - (k > 0 ? k : 0));
        bytes += pairs * count(steps, at + 1, apart + k * stride);
    }
    return bytes;
}

/* Bytes that two sections have in common, whose first elements are there. */
static uint64_t overlap(const struct cf__section *first, uintptr_t first_at, size_t first_element,
                        const struct cf__section *second, uintptr_t second_at, size_t second_element)
{
    if (first->count == 0 || second->count == 0 ||
        (first_at < second_at ? second_at - first_at >= first->span : first_at - second_at >= second->span))
        return 0;
    struct steps steps = {.count = 0};
    add_rows(&steps, first, first_element, 0);
    add_rows(&steps, second, second_element, 1);
    for (size_t i = steps.count; i-- > 0;) {
        struct step *step = &steps.at[i], *after = step + 1;
        if (i + 1 == steps.count)
            continue;
        step->low_rest = after->low_rest - (wide)after->stride * (after->second - 1);
        step->high_rest = after->high_rest + (wide)after->stride * (after->first - 1);
    }
    return count(&steps, 0, (wide)first_at - (wide)second_at);
}

/* ---- The check ---- */

static int is_array(const cf_param *param)
{
    return cf__is_array(param) && param->direction != CF_SCRATCH;
}

static int is_written(const cf_param *param)
{
    return param->direction == CF_OUT || param->direction == CF_INOUT;
}

int cf__are_apart(const cf_kernel *kernel, uint32_t i, uint32_t j)
{
    const cf_param *first = &kernel->params[i], *second = &kernel->params[j];
    return cf__keeps_apart(kernel) && (kernel->restricts[i] || kernel->restricts[j]) && is_array(first) &&
           is_array(second) && (is_written(first) || is_written(second));
}

static uintptr_t begin_of(void *const args[], uint32_t i, const struct cf__section *section)
{
    return *(const uintptr_t *)args[i] + section->offset;
}

static int check_pair(const cf_kernel *kernel, uint32_t i, uint32_t j, void *const args[])
{
    const cf_param *first = &kernel->params[i], *second = &kernel->params[j];
    struct cf__section sections[2];
    int status = cf__section(kernel, i, args, &sections[0]);
    if (status == CF_OK)
        status = cf__section(kernel, j, args, &sections[1]);
    if (status != CF_OK)
        return status;
    uint64_t bytes = overlap(&sections[0], begin_of(args, i, &sections[0]), first->bytes, &sections[1],
                             begin_of(args, j, &sections[1]), second->bytes);
    if (bytes == 0)
        return CF_OK;
    return cf__fail(CF_EINVAL, "%s: %s and %s overlap by %" PRIu64 " bytes; the kernel declares %s __restrict__",
                    kernel->function, first->name, second->name, bytes,
                    kernel->restricts[i] && kernel->restricts[j] ? "both"
                    : kernel->restricts[i]                       ? first->name
                                                                 : second->name);
}

static int check_pairs(const cf_kernel *kernel, void *const args[])
{
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++)
        for (uint32_t j = i + 1; status == CF_OK && j < kernel->nparams; j++)
            if (cf__are_apart(kernel, i, j))
                status = check_pair(kernel, i, j, args);
    return status;
}

int cf__check_apart(const cf_kernel *kernel, void *const given[], void *const used[])
{
    int status = check_pairs(kernel, given);
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++)
        if (is_array(&kernel->params[i]) && *(void *const *)used[i] != *(void *const *)given[i])
            return check_pairs(kernel, used);
    return status;
}
