/* verify_arrays.c - makes the arrays of a verified call: finds the positions of sections, generates elements, and
 * detects writes. */
#include "verify/verify_arrays.h"

#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "data/random.h"
#include "kernel/argument.h"
#include "base/runtime.h"

/* ---- Sections ---- */

static int measure_section(const cf_kernel *kernel, uint32_t i, void *const args[], struct verify_array *array)
{
    struct npy_array *section = &array->section;
    if (cf_kernel_section(kernel, i, args, &array->place) != CF_OK)
        return -1;
    section->type = argument_type(&kernel->params[i]);
    if (section->type.bytes == 0) /* elements of type void count as bytes */
        section->type.bytes = 1;
    section->ndims = array->place.ndims;
    for (uint32_t d = 0; d < section->ndims; d++)
        section->shape[d] = array->place.extents[d];
    array->bytes = array->place.offset + array->place.span;
    return npy_measure(section);
}

/* ---- Elements ---- */

/* Narrows [low, high] to the range that one check allows. */
static int narrow(const cf_kernel *kernel, const cf_check *check, void *const args[], element_wide *low,
                  element_wide *high)
{
    int64_t value;
    if (check->lower.ops) {
        if (cf_kernel_evaluate(kernel, check->lower.ops, SIZE_MAX, args, &value) != CF_OK)
            return -1;
        element_wide bound = (element_wide)value + (check->lower_open ? 1 : 0);
        *low = bound > *low ? bound : *low;
    }
    if (check->upper.ops) {
        if (cf_kernel_evaluate(kernel, check->upper.ops, SIZE_MAX, args, &value) != CF_OK)
            return -1;
        element_wide bound = (element_wide)value - (check->upper_open ? 1 : 0);
        *high = bound < *high ? bound : *high;
    }
    return 0;
}

int verify_array_is_distinct(const cf_kernel *kernel, uint32_t i)
{
    return kernel->distinct && kernel->distinct[i];
}

/* Returns 1 if a check demands ascending elements. */
static int is_ascending(const cf_kernel *kernel, uint32_t i)
{
    for (uint32_t c = 0; c < kernel->nchecks; c++)
        if (kernel->checks[c].array == (int32_t)i && kernel->checks[c].is_ascending)
            return 1;
    return 0;
}

/* Returns 1 if a check bounds the same member as `member`, or if that is NULL, the elements themselves. */
static int is_of_member(const cf_check *check, const cf_check *member)
{
    return !check->member == !member && (!member || check->offset == member->offset);
}

/* Finds a range of integers that passes all checks of the elements or of a member; if there is only one bound, the
 * range is next to it. Returns -1 if the range has too few integers. */
static int choose_integers(const cf_kernel *kernel, uint32_t i, void *const args[], const struct verify_array *array,
                           const cf_check *member, struct make *make)
{
    cf_type type = make->type;
    const int differ = !member && verify_array_is_distinct(kernel, i);
    const element_wide count = (element_wide)array->section.count,
                       any = differ && count > MAKE_ANY_HIGH ? count : MAKE_ANY_HIGH;
    element_wide low = element_min(type), high = element_max(type);
    int is_below = 0, is_above = 0;
    for (uint32_t c = 0; c < kernel->nchecks; c++) {
        const cf_check *check = &kernel->checks[c];
        if (check->array != (int32_t)i || !is_of_member(check, member))
            continue;
        if (narrow(kernel, check, args, &low, &high) != 0)
            return -1;
        is_below |= check->lower.ops != NULL;
        is_above |= check->upper.ops != NULL;
    }
    if (!is_below)
        low = is_above ? (high - any > low ? high - any : low) : 0;
    if (!is_above)
        high = low + any < high ? low + any : high;
    if (!is_below && differ && count && high - low < count - 1) /* extends below 0 for enough integers */
        low = high - (count - 1) > element_min(type) ? high - (count - 1) : element_min(type);
    if (type == CF_BOOL && high > 1)
        high = 1;
    if (count && high - low < (differ ? count - 1 : 0))
        return -1;
    make->rule = !member && is_ascending(kernel, i) ? MAKE_ASCENDING : differ ? MAKE_DISTINCT : MAKE_RANDINT;
    make->is_strict = differ;
    return low > high || (element_store(type, low, &make->low) == 0 && element_store(type, high, &make->high) == 0)
               ? 0
               : -1;
}

/* Returns 1 if check `c` is the first of a member of parameter i's elements. choose_integers() reads all checks of the
 * member. */
static int is_first_of_member(const cf_kernel *kernel, uint32_t i, uint32_t c)
{
    if (kernel->checks[c].array != (int32_t)i || !kernel->checks[c].member)
        return 0;
    for (uint32_t before = 0; before < c; before++)
        if (kernel->checks[before].array == (int32_t)i && is_of_member(&kernel->checks[before], &kernel->checks[c]))
            return 0;
    return 1;
}

uint32_t verify_array_members(const cf_kernel *kernel, uint32_t i)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < kernel->nchecks; c++)
        count += (uint32_t)is_first_of_member(kernel, i, c);
    return count;
}

static int choose_elements(const cf_kernel *kernel, uint32_t i, void *const args[], struct verify_array *array)
{
    cf_type type = array->section.type.type;
    array->make.type = type;
    array->make.rule = MAKE_RANDOM;
    if (element_is_integer(type) && choose_integers(kernel, i, args, array, NULL, &array->make) != 0)
        return -1;
    for (uint32_t c = 0; c < kernel->nchecks; c++) {
        const cf_check *check = &kernel->checks[c];
        struct verify_member *member = &array->members[array->member_count];
        if (!is_first_of_member(kernel, i, c))
            continue;
        *member = (struct verify_member){check->offset, {.seed = array->make.seed + c + 1, .type = check->type}};
        if (choose_integers(kernel, i, args, array, check, &member->make) != 0)
            return -1;
        array->member_count++;
    }
    return 0;
}

int verify_arrays_measure(const cf_kernel *kernel, void *const args[], uint64_t seed, size_t limit,
                          struct verify_array *arrays)
{
    size_t total = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        if (kernel->params[i].direction == CF_VALUE)
            continue;
        arrays[i] = (struct verify_array){.make = {.seed = seed + i}};
        if (measure_section(kernel, i, args, &arrays[i]) != 0 || arrays[i].bytes > limit ||
            (total += arrays[i].bytes) > limit || choose_elements(kernel, i, args, &arrays[i]) != 0)
            return -1;
    }
    return 0;
}

/* ---- Memory ---- */

/* Returns the offset in bytes of row number `row` of the section; a row is the innermost dimension. */
static size_t row_offset(const struct verify_array *array, size_t row)
{
    const cf_section *place = &array->place;
    size_t offset = place->offset;
    for (uint32_t d = place->ndims; d > 1; d--) {
        size_t extent = (size_t)place->extents[d - 2];
        offset += row % extent * place->strides[d - 2];
        row /= extent;
    }
    return offset;
}

static size_t row_bytes(const struct verify_array *array)
{
    const struct npy_array *section = &array->section;
    return (section->ndims ? (size_t)section->shape[section->ndims - 1] : 1) * section->type.bytes;
}

/* Generates a member of every element. Returns -1 without memory. */
static int make_member(const struct verify_array *array, const struct verify_member *member, char *packed)
{
    const size_t bytes = cf_type_size(member->make.type), element = array->section.type.bytes;
    char *values = malloc(array->section.count * bytes + 1);
    if (!values)
        return -1;
    make_elements(&member->make, values, array->section.count * bytes);
    for (size_t i = 0; i < array->section.count; i++)
        memcpy(packed + i * element + member->offset, values + i * bytes, bytes);
    free(values);
    return 0;
}

static void make_structs(const struct verify_array *array, char *packed)
{
    memset(packed, 0, array->section.bytes);
    for (size_t i = 0; i < array->section.count; i++)
        make_members(array->section.type.members, random_bits(array->make.seed, i),
                     packed + i * array->section.type.bytes);
}

/* Generates the elements; bytes of a struct that belong to no number are 0. Returns -1 without memory. */
static int make_packed(const struct verify_array *array, void *packed)
{
    int status = 0;
    if (element_parts(array->make.type) || element_is_integer(array->make.type))
        make_elements(&array->make, packed, array->section.bytes);
    else
        make_structs(array, packed);
    for (uint32_t m = 0; status == 0 && m < array->member_count; m++)
        status = make_member(array, &array->members[m], packed);
    return status;
}

size_t verify_array_room(const struct verify_array *array, size_t guard)
{
    return array->bytes + 2 * guard;
}

void *verify_array_make(const struct verify_array *array, int is_read, int poison, size_t guard)
{
    const size_t length = row_bytes(array), room = verify_array_room(array, guard);
    char *memory = malloc(room), *packed = malloc(array->section.bytes + 1);
    if (memory && packed && (!is_read || make_packed(array, packed) == 0)) {
        memset(memory, poison, room);
        if (is_read) {
            for (size_t at = 0; at < array->section.bytes; at += length)
                memcpy(memory + guard + row_offset(array, at / length), packed + at, length);
        }
    } else {
        free(memory);
        memory = NULL;
    }
    free(packed);
    return memory;
}

static size_t count_changed(const unsigned char *bytes, size_t begin, size_t end, const unsigned char *before,
                            int poison)
{
    size_t count = 0;
    for (size_t at = begin; at < end; at++)
        count += bytes[at] != (before ? before[at] : poison);
    return count;
}

size_t verify_array_take(const struct verify_array *array, const void *memory, const void *before, int poison,
                         size_t guard, void *packed)
{
    const size_t length = row_bytes(array);
    const unsigned char *bytes = memory;
    size_t changed = 0, done = 0;
    for (size_t at = 0; at < array->section.bytes; at += length) {
        const size_t row = guard + row_offset(array, at / length);
        memcpy((char *)packed + at, bytes + row, length);
        changed += count_changed(bytes, done, row, before, poison);
        done = row + length;
    }
    return changed + count_changed(bytes, done, verify_array_room(array, guard), before, poison);
}

/* ---- Shared arrays ---- */

/* Returns 1 if elements with the same index have the same position in both arrays, as far as both reach. */
static int fits(const struct verify_array *array, const struct verify_array *other)
{
    const struct npy_array *one = &array->section, *two = &other->section;
    if (!array->bytes || !other->bytes || one->type.bytes != two->type.bytes || one->ndims != two->ndims)
        return 0;
    for (uint32_t d = 0; d < one->ndims; d++)
        if (array->place.lowers[d] != other->place.lowers[d] || array->place.strides[d] != other->place.strides[d] ||
            (d > 0 && one->shape[d] != two->shape[d]))
            return 0;
    return 1;
}

/* Narrows the range of `make` to its intersection with that of `other`. */
static int narrow_make(struct make *make, const struct make *other)
{
    int64_t low, high, other_low, other_high;
    if (make->rule != other->rule || (make->rule == MAKE_RANDOM && make->type != other->type))
        return -1;
    if (make->rule == MAKE_RANDOM)
        return 0;
    if (element_integer(make->type, &make->low, &low) != 0 || element_integer(make->type, &make->high, &high) != 0 ||
        element_integer(other->type, &other->low, &other_low) != 0 ||
        element_integer(other->type, &other->high, &other_high) != 0)
        return -1;
    low = other_low > low ? other_low : low;
    high = other_high < high ? other_high : high;
    if (make->rule == MAKE_DISTINCT || low > high)
        return low == other_low && high == other_high ? 0 : -1;
    return element_store(make->type, low, &make->low) == 0 ? element_store(make->type, high, &make->high) : -1;
}

int verify_arrays_join(const cf_kernel *kernel, const struct inplace *which, struct verify_array *arrays,
                       uint32_t *home)
{
    const struct make *first = NULL;
    struct make make = {.rule = MAKE_RANDOM};
    *home = which->written;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        if (!inplace_has(kernel, which, i))
            continue;
        if (!fits(&arrays[i], &arrays[which->written]))
            return -1;
        if (arrays[i].bytes > arrays[*home].bytes)
            *home = i;
        if (!argument_is_read(&kernel->params[i]))
            continue;
        if (first && narrow_make(&make, &arrays[i].make) != 0)
            return -1;
        if (!first)
            make = *(first = &arrays[i].make);
    }
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (inplace_has(kernel, which, i))
            arrays[i].make = make;
    return 0;
}

/* ---- Results ---- */

static int is_poison(const char *element, size_t bytes, int poison)
{
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)element[i] != poison)
            return 0;
    return 1;
}

size_t verify_array_unwritten(const struct verify_array *array, const void *one, int poison, const void *other,
                              int other_poison, size_t *first)
{
    size_t count = 0, bytes = array->section.type.bytes;
    for (size_t i = 0; i < array->section.count; i++)
        if (is_poison((const char *)one + i * bytes, bytes, poison) &&
            is_poison((const char *)other + i * bytes, bytes, other_poison) && count++ == 0)
            *first = i;
    return count;
}

void verify_array_index(const struct verify_array *array, size_t number, struct message *message)
{
    size_t below = array->section.count;
    for (uint32_t d = 0; d < array->section.ndims; d++) {
        below /= (size_t)array->section.shape[d];
        message_add(message, "[%zu]", number / below + (size_t)array->place.lowers[d]);
        number %= below;
    }
}
