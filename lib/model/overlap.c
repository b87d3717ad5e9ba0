/* overlap.c - checks that an array shares no memory with a written array if the kernel forbids it: by __restrict__, by
 * clearing one of the two, or by inplace(...), which allows only one and the same array. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "model/overlap.h"

#include "base/error.h"
#include "model/descriptor.h"
#include "model/rows.h"
#include "model/section.h"

__extension__ typedef __int128 wide; /* for sums and differences of addresses */

/* ---- Bytes that two sections share ---- */

/* One stride of either section or of both. Along it, the first section has rows i with 0 <= i < `first`, and the second
 * section has rows j with 0 <= j < `second`. The distance of two rows grows by i - j strides. */
struct step {
    size_t stride;
    int64_t first, second;
    wide low_rest, high_rest; /* least and greatest distance in bytes that all later steps together can add */
};

struct steps {
    size_t count, lengths[2]; /* length of a row of each section in bytes */
    struct step at[2 * CF_ARRAY_DIMS];
};

/* Adds a stride; the strides are kept in descending order. A stride that both sections have is a single step. */
static void add_step(struct steps *steps, size_t stride, size_t extent, int is_second)
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

static void add_rows(struct steps *steps, const cf_section *section, size_t element, int is_second)
{
    struct cf__rows rows;
    cf__section_rows(section, element, &rows);
    steps->lengths[is_second] = rows.length;
    add_step(steps, rows.pitch, rows.rows, is_second);
    for (uint32_t d = 0; d < rows.nouter; d++)
        add_step(steps, rows.strides[d], rows.extents[d], is_second);
}

/* Divides and rounds down; `divisor` is positive. */
static wide divide_down(wide number, wide divisor)
{
    return number / divisor - (number % divisor < 0);
}

/* Counts the bytes that two rows share. The row of the first section begins `apart` bytes after the row of the
 * second. */
static uint64_t count_in_row(const struct steps *steps, wide apart)
{
    wide begin = apart > 0 ? apart : 0, end = apart + (wide)steps->lengths[0];
    end = end < (wide)steps->lengths[1] ? end : (wide)steps->lengths[1];
    return end > begin ? (uint64_t)(end - begin) : 0;
}

/* Counts the bytes that rows share, for all pairs of rows that steps[at] and the later steps reach. The loop visits
 * only distances from which rows can still touch. These are few if short rows are nested in longer ones. */
static uint64_t count_in_steps(const struct steps *steps, size_t at, wide apart)
{
    if (at == steps->count)
        return count_in_row(steps, apart);
    const struct step *step = &steps->at[at];
    const wide stride = (wide)step->stride, first = step->first, second = step->second;
    wide low = divide_down(-(wide)steps->lengths[0] - apart - step->high_rest, stride) + 1;
    wide high = -divide_down(-((wide)steps->lengths[1] - apart - step->low_rest), stride) - 1;
    low = low < 1 - second ? 1 - second : low;
    high = high > first - 1 ? first - 1 : high;
    uint64_t bytes = 0;
    for (wide k = low; k <= high; k++) {
        wide last = k + second < first ? k + second : first;
        uint64_t pairs = (uint64_t)(last - (k > 0 ? k : 0));
        bytes += pairs * count_in_steps(steps, at + 1, apart + k * stride);
    }
    return bytes;
}

/* Counts the bytes that two sections share. Both have elements; `first_at` and `second_at` are the addresses of the
 * first ones. */
static uint64_t count_shared_bytes(const cf_section *first, uintptr_t first_at, size_t first_element,
                                   const cf_section *second, uintptr_t second_at, size_t second_element)
{
    if (first_at < second_at ? second_at - first_at >= first->span : first_at - second_at >= second->span)
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
    return count_in_steps(&steps, 0, (wide)first_at - (wide)second_at);
}

/* ---- The check ---- */

static int is_restrict(const cf_kernel *kernel, uint32_t i)
{
    return kernel->restricts && kernel->restricts[i];
}

/* Returns 1 if the library sets the array to 0 before the kernel, which would erase arrays that overlap it. */
static int is_cleared(const cf_kernel *kernel, uint32_t i)
{
    for (uint32_t k = 0; k < kernel->nzeros; k++)
        if (kernel->zeros[k].array == i)
            return 1;
    return 0;
}

/* Returns the number of the inplace(...) list that names a parameter, or 0 if none does. */
static uint8_t in_place_list(const cf_kernel *kernel, uint32_t i)
{
    return kernel->in_place ? kernel->in_place[i] : 0;
}

/* Returns 1 if the kernel only writes both arrays: outputs in one array would overwrite each other. */
static int are_outputs(const cf_param *first, const cf_param *second)
{
    return first->direction == CF_OUT && second->direction == CF_OUT;
}

enum cf__sharing cf__sharing_of(const cf_kernel *kernel, uint32_t i, uint32_t j)
{
    const cf_param *first = &kernel->params[i], *second = &kernel->params[j];
    if (!cf__is_callers_array(first) || !cf__is_callers_array(second) ||
        (!cf__is_written(first) && !cf__is_written(second)))
        return CF__SHARE_ANY;
    if (is_restrict(kernel, i) || is_restrict(kernel, j) || is_cleared(kernel, i) || is_cleared(kernel, j))
        return CF__SHARE_NONE;
    uint8_t of_first = in_place_list(kernel, i), of_second = in_place_list(kernel, j);
    if (!of_first || !of_second)
        return CF__SHARE_ANY;
    return of_first == of_second && !are_outputs(first, second) ? CF__SHARE_ALL : CF__SHARE_NONE;
}

/* Returns the first dimension in which the strides of two arrays with equally many dimensions differ, or -1. A
 * dimension in which both arrays have only one index, and the same one, is ignored. */
static int find_stride_difference(const cf_section *first, const cf_section *second)
{
    for (uint32_t d = 0; d < first->ndims; d++)
        if ((first->extents[d] > 1 || second->extents[d] > 1 || first->lowers[d] != second->lowers[d]) &&
            first->strides[d] != second->strides[d])
            return (int)d;
    return -1;
}

/* Returns the distance in bytes from an element of the second array to the element of the first array with the same
 * index. Both arrays have the same strides. */
static wide index_distance(const cf_section *of_first, uintptr_t first, const cf_section *of_second, uintptr_t second)
{
    wide bytes = (wide)first - (wide)second;
    for (uint32_t d = 0; d < of_first->ndims; d++)
        bytes -= (wide)(of_first->lowers[d] - of_second->lowers[d]) * (wide)of_first->strides[d];
    return bytes;
}

int cf__are_same_array(const cf_kernel *kernel, uint32_t i, const cf_section *of_first, uintptr_t first, uint32_t j,
                       const cf_section *of_second, uintptr_t second)
{
    return kernel->params[i].bytes == kernel->params[j].bytes && of_first->ndims == of_second->ndims &&
           find_stride_difference(of_first, of_second) < 0 && index_distance(of_first, first, of_second, second) == 0;
}

struct array {
    const cf_param *param;
    cf_section section;
    uintptr_t begin; /* address of the first element */
};

static int measure_array(const cf_kernel *kernel, uint32_t i, void *const args[], struct array *array)
{
    array->param = &kernel->params[i];
    int status = cf__section_measure(kernel, i, args, &array->section);
    if (status == CF_OK)
        array->begin = *(const uintptr_t *)args[i] + array->section.offset;
    return status;
}

/* Explains why two overlapping arrays are not the same array. */
static void describe_difference(const struct array *first, const struct array *second, char *text, size_t size)
{
    const cf_section *one = &first->section, *other = &second->section;
    int d = one->ndims == other->ndims ? find_stride_difference(one, other) : -1;
    if (first->param->bytes != second->param->bytes)
        snprintf(text, size, "their elements have %" PRIu32 " and %" PRIu32 " bytes", first->param->bytes,
                 second->param->bytes);
    else if (one->ndims != other->ndims)
        snprintf(text, size, "they have %" PRIu32 " and %" PRIu32 " dimensions", one->ndims, other->ndims);
    else if (d < 0) {
        wide bytes = index_distance(one, first->begin, other, second->begin);
        const char *later = bytes < 0 ? second->param->name : first->param->name;
        const char *before = bytes < 0 ? first->param->name : second->param->name;
        const int has_lowers = memcmp(one->lowers, other->lowers, one->ndims * sizeof *one->lowers) != 0;
        snprintf(text, size, has_lowers ? "%s[i] lies %zu bytes after %s[i]" : "%s begins %zu bytes after %s", later,
                 (size_t)(bytes < 0 ? -bytes : bytes), before);
    } else
        snprintf(text, size, "elements that follow one another in dimension %d are %zu and %zu bytes apart", d,
                 one->strides[d], other->strides[d]);
}

static int fail_overlap(const cf_kernel *kernel, uint32_t i, uint32_t j, const struct array *first,
                        const struct array *second, uint64_t bytes)
{
    const char *name = first->param->name, *other = second->param->name;
    char difference[160];
    if (is_restrict(kernel, i) || is_restrict(kernel, j))
        return cf__fail(CF_EINVAL, "%s: %s and %s overlap by %" PRIu64 " bytes; the kernel declares %s __restrict__",
                        kernel->function, name, other, bytes,
                        is_restrict(kernel, i) && is_restrict(kernel, j) ? "both"
                        : is_restrict(kernel, i)                         ? name
                                                                         : other);
    if (is_cleared(kernel, i) || is_cleared(kernel, j))
        return cf__fail(CF_EINVAL, "%s: %s and %s overlap by %" PRIu64 " bytes; %s is set to 0 before the kernel",
                        kernel->function, name, other, bytes, is_cleared(kernel, i) ? name : other);
    if (in_place_list(kernel, i) != in_place_list(kernel, j) || are_outputs(first->param, second->param))
        return cf__fail(
            CF_EINVAL, "%s: %s and %s overlap by %" PRIu64 " bytes; %s", kernel->function, name, other, bytes,
            in_place_list(kernel, i) == in_place_list(kernel, j) ? "both are results, and neither may be the other"
                                                                 : "the kernel works in place with others alone");
    describe_difference(first, second, difference, sizeof difference);
    return cf__fail(CF_EINVAL, "%s: %s and %s overlap by %" PRIu64 " bytes; in place they have to be one array, and %s",
                    kernel->function, name, other, bytes, difference);
}

static int check_pair(const cf_kernel *kernel, uint32_t i, uint32_t j, enum cf__sharing sharing, void *const args[])
{
    struct array first, second;
    int status = measure_array(kernel, i, args, &first);
    if (status == CF_OK)
        status = measure_array(kernel, j, args, &second);
    if (status != CF_OK || first.section.count == 0 || second.section.count == 0 ||
        (sharing == CF__SHARE_ALL &&
         cf__are_same_array(kernel, i, &first.section, first.begin, j, &second.section, second.begin)))
        return status;
    uint64_t bytes = count_shared_bytes(&first.section, first.begin, first.param->bytes, &second.section, second.begin,
                                        second.param->bytes);
    return bytes == 0 ? CF_OK : fail_overlap(kernel, i, j, &first, &second, bytes);
}

static int check_pairs(const cf_kernel *kernel, void *const args[])
{
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++)
        for (uint32_t j = i + 1; status == CF_OK && j < kernel->nparams; j++) {
            enum cf__sharing sharing = cf__sharing_of(kernel, i, j);
            if (sharing != CF__SHARE_ANY)
                status = check_pair(kernel, i, j, sharing, args);
        }
    return status;
}

int cf__check_overlap(const cf_kernel *kernel, void *const given[], void *const used[])
{
    int status = check_pairs(kernel, given);
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++)
        if (cf__is_callers_array(&kernel->params[i]) && *(void *const *)used[i] != *(void *const *)given[i])
            return check_pairs(kernel, used);
    return status;
}
