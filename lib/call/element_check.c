/* element_check.c - checks that the elements of integer arrays, or integer members of elements, are in the range that
 * the annotation declares, or that the elements ascend. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "call/element_check.h"

#include "base/error.h"
#include "model/expr.h"
#include "model/rows.h"
#include "model/section.h"
#include "model/size.h"
#include "threads/pool.h"
#include "driver/driver.h"
#include "context/lost.h"
#include "context/scope.h"
#include "staging/buffers.h"
#include "kernel/launch.h"

static int check_level = CF_CHECK_ELEMENTS; /* argument of cf_set_check(); atomic */

int cf_set_check(int level)
{
    if (level != CF_CHECK_NONE && level != CF_CHECK_ELEMENTS)
        return cf__fail(CF_EINVAL, "cf_set_check: %d is no level; CF_CHECK_NONE and CF_CHECK_ELEMENTS are", level);
    __atomic_store_n(&check_level, level, __ATOMIC_RELAXED);
    return CF_OK;
}

int cf__element_check_is_on(void)
{
    return __atomic_load_n(&check_level, __ATOMIC_RELAXED) == CF_CHECK_ELEMENTS;
}

/* ---- Bounds ---- */

static int is_signed(cf_type type)
{
    return type == CF_I8 || type == CF_I16 || type == CF_I32 || type == CF_I64;
}

/* Evaluates a bound and makes it inclusive; leaves `value` unchanged if there is no bound. */
static int evaluate_bound(const struct cf__element_check *check, int is_upper, int64_t *value)
{
    const cf_check *declared = check->declared;
    const cf_expr *expr = is_upper ? &declared->upper : &declared->lower;
    int64_t step = is_upper ? -1 : 1;
    if (!expr->ops)
        return CF_OK;
    if (cf__evaluate(&check->of, expr, value) != CF_OK ||
        ((is_upper ? declared->upper_open : declared->lower_open) && __builtin_add_overflow(*value, step, value)))
        return cf__fail(CF_EOVERFLOW, "%s: the bound %s in check(%s) overflows", check->of.kernel->function, expr->text,
                        declared->text);
    return CF_OK;
}

/* Evaluates both bounds and clips them to the range of the elements' type. */
static int evaluate_bounds(struct cf__element_check *check)
{
    unsigned int bits = 8 * (unsigned int)cf_type_size(check->type);
    int64_t smallest = 0, lower = INT64_MIN, upper = INT64_MAX;
    uint64_t largest = UINT64_MAX >> (64 - bits);
    if (is_signed(check->type)) {
        largest >>= 1;
        smallest = -(int64_t)largest - 1;
    }
    int status = evaluate_bound(check, 0, &lower);
    if (status == CF_OK)
        status = evaluate_bound(check, 1, &upper);
    int is_above = lower > 0 && (uint64_t)lower > largest, is_below = upper < smallest;
    check->lower = (uint64_t)(lower < smallest ? smallest : lower);
    check->upper = !check->declared->upper.ops || (upper > 0 && (uint64_t)upper > largest) ? largest : (uint64_t)upper;
    check->is_none = is_above || is_below || lower > upper;
    if (check->is_none) {
        check->lower = 1;
        check->upper = 0;
    }
    return status;
}

/* ---- Messages ---- */

/* Writes the range as in the annotation, "[0, 100)"; a missing bound is written as infinite, "[0, inf)". */
static void describe_range(const struct cf__element_check *check, char *text, size_t size)
{
    const cf_check *declared = check->declared;
    int64_t value;
    int used = 0;
    if (declared->lower.ops && cf__evaluate(&check->of, &declared->lower, &value) == CF_OK)
        used = snprintf(text, size, "%c%" PRId64 ", ", declared->lower_open ? '(' : '[', value);
    else
        used = snprintf(text, size, "(-inf, ");
    if (declared->upper.ops && cf__evaluate(&check->of, &declared->upper, &value) == CF_OK)
        snprintf(text + used, size - (size_t)used, "%" PRId64 "%c", value, declared->upper_open ? ')' : ']');
    else
        snprintf(text + used, size - (size_t)used, "inf)");
}

/* Writes the indices of an element, "[3][17]"; returns the distance in bytes from the first element. */
static size_t describe_index(const cf_section *section, uint64_t number, char *text, size_t size)
{
    uint64_t indices[CF_ARRAY_DIMS];
    size_t offset = 0, used = 0;
    for (uint32_t d = section->ndims; d-- > 0;) {
        indices[d] = number % (uint64_t)section->extents[d];
        number /= (uint64_t)section->extents[d];
        offset += indices[d] * section->strides[d];
    }
    for (uint32_t d = 0; d < section->ndims && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "[%" PRIu64 "]", indices[d] + (uint64_t)section->lowers[d]);
    return offset;
}

/* Writes the name and the value of element `number`: "index[17] = 100". */
static int describe_element(const struct cf__element_check *check, const struct cf__scope *scope, uint64_t number,
                            char *text, size_t size)
{
    const char *name = check->of.kernel->params[check->declared->array].name;
    const char *member = check->declared->member ? check->declared->member : "";
    cf_type type = check->type;
    char index[24 * CF_ARRAY_DIMS];
    uint64_t element = 0;
    int64_t integer = 0;
    const char *at = check->first + describe_index(check->section, number, index, sizeof index) + check->offset;
    if (check->is_cpu)
        memcpy(&element, at, cf_type_size(type));
    else {
        CUresult result = scope->driver->cuMemcpy((uintptr_t)&element, (uintptr_t)at, cf_type_size(type));
        if (result != CUDA_SUCCESS)
            return cf__fail_driver(scope->driver, result, "cuMemcpy", "%s: reading %s%s%s", check->of.kernel->function,
                                   name, index, member);
    }
    if (cf__read_integer(type, &element, &integer) == CF_OK)
        snprintf(text, size, "%s%s%s = %" PRId64, name, index, member, integer);
    else
        snprintf(text, size, "%s%s%s = %" PRIu64, name, index, member, element);
    return CF_OK;
}

#define ELEMENT (128 + 24 * CF_ARRAY_DIMS) /* bytes for the text of an element; longer names are truncated */

int cf__element_check_report(const struct cf__element_check *check, const struct cf__scope *scope)
{
    const char *function = check->of.kernel->function;
    char element[ELEMENT], before[ELEMENT], limits[64];
    int status = describe_element(check, scope, check->found, element, sizeof element);
    if (status == CF_OK && check->declared->is_ascending)
        status = describe_element(check, scope, check->found - 1, before, sizeof before);
    if (status != CF_OK)
        return status;
    if (check->declared->is_ascending)
        return cf__fail(CF_EINVAL, "%s: %s is less than %s", function, element, before);
    describe_range(check, limits, sizeof limits);
    return cf__fail(CF_ERANGE, "%s: %s is outside %s", function, element, limits);
}

/* ---- The search in host memory ---- */

/* Number of elements that are compared without a branch, so that the compiler vectorizes the loop. */
#define BLOCK 64

/* Returns the number of the first element out of range, or CF__NO_ELEMENT. Comparing unsigned distances from the lower
 * bound works for signed and unsigned types. */
#define DEFINE_FIND(type)                                                                             \
    static uint64_t find_##type(const void *elements, uint64_t count, uint64_t lower, uint64_t upper) \
    {                                                                                                 \
        const type *x = elements;                                                                     \
        type low = (type)lower, width = (type)((type)upper - low);                                    \
        uint64_t i = 0;                                                                               \
        for (; count - i >= BLOCK; i += BLOCK) {                                                      \
            type outside = 0;                                                                         \
            for (int j = 0; j < BLOCK; j++)                                                           \
                outside |= (type) - ((type)(x[i + (uint64_t)j] - low) > width);                       \
            if (outside)                                                                              \
                break;                                                                                \
        }                                                                                             \
        for (; i < count; i++)                                                                        \
            if ((type)(x[i] - low) > width)                                                           \
                return i;                                                                             \
        return CF__NO_ELEMENT;                                                                        \
    }
DEFINE_FIND(uint8_t)
DEFINE_FIND(uint16_t)
DEFINE_FIND(uint32_t)
DEFINE_FIND(uint64_t)

/* Returns the number of the first element that is less than its predecessor, or CF__NO_ELEMENT. `before` points to the
 * predecessor of the first element. */
#define DEFINE_DESCENT(type)                                                                 \
    static uint64_t descent_##type(const void *elements, uint64_t count, const void *before) \
    {                                                                                        \
        const type *x = elements;                                                            \
        type previous;                                                                       \
        uint64_t i = 1;                                                                      \
        memcpy(&previous, before, sizeof previous);                                          \
        if (x[0] < previous)                                                                 \
            return 0;                                                                        \
        for (; count - i >= BLOCK; i += BLOCK) {                                             \
            int descends = 0;                                                                \
            for (uint64_t j = i; j < i + BLOCK; j++)                                         \
                descends |= x[j] < x[j - 1];                                                 \
            if (descends)                                                                    \
                break;                                                                       \
        }                                                                                    \
        for (; i < count; i++)                                                               \
            if (x[i] < x[i - 1])                                                             \
                return i;                                                                    \
        return CF__NO_ELEMENT;                                                               \
    }
DEFINE_DESCENT(int8_t)
DEFINE_DESCENT(int16_t)
DEFINE_DESCENT(int32_t)
DEFINE_DESCENT(int64_t)
DEFINE_DESCENT(uint8_t)
DEFINE_DESCENT(uint16_t)
DEFINE_DESCENT(uint32_t)
DEFINE_DESCENT(uint64_t)

/* Finds the first descent in `elements`, which begin with element `number` of the array. */
static uint64_t find_descent(const struct cf__element_check *check, const void *elements, uint64_t number,
                             uint64_t count)
{
    static uint64_t (*const descents[2][4])(const void *, uint64_t, const void *) = {
        {descent_uint8_t, descent_uint16_t, descent_uint32_t, descent_uint64_t},
        {descent_int8_t, descent_int16_t, descent_int32_t, descent_int64_t},
    };
    const int width = check->element == 1 ? 0 : check->element == 2 ? 1 : check->element == 4 ? 2 : 3;
    const void *before = number ? check->first + (number - 1) * check->element : elements;
    if (count == 0)
        return CF__NO_ELEMENT;
    return descents[is_signed(check->type)][width](elements, count, before);
}

/* Finds the first element whose member is out of range. */
static uint64_t find_member(const struct cf__element_check *check, const void *elements, uint64_t count)
{
    const size_t bytes = cf_type_size(check->type);
    const uint64_t mask = UINT64_MAX >> (64 - 8 * bytes), width = (check->upper - check->lower) & mask;
    const char *at = (const char *)elements + check->offset;
    for (uint64_t i = 0; i < count; i++, at += check->element) {
        uint64_t value = 0;
        memcpy(&value, at, bytes);
        if (((value - check->lower) & mask) > width)
            return i;
    }
    return CF__NO_ELEMENT;
}

static uint64_t find_element(const struct cf__element_check *check, const void *elements, uint64_t number,
                             uint64_t count)
{
    if (check->declared->is_ascending)
        return find_descent(check, elements, number, count);
    if (check->is_none)
        return count ? 0 : CF__NO_ELEMENT;
    if (check->declared->member)
        return find_member(check, elements, count);
    switch (check->element) {
    case 1:
        return find_uint8_t(elements, count, check->lower, check->upper);
    case 2:
        return find_uint16_t(elements, count, check->lower, check->upper);
    case 4:
        return find_uint32_t(elements, count, check->lower, check->upper);
    default:
        return find_uint64_t(elements, count, check->lower, check->upper);
    }
}

void cf__element_check_look(struct cf__element_check *check, const void *elements, uint64_t number, uint64_t count)
{
    uint64_t first = find_element(check, elements, number, count),
             lowest = __atomic_load_n(&check->found, __ATOMIC_RELAXED);
    if (first == CF__NO_ELEMENT)
        return;
    first += number;
    while (first < lowest &&
           !__atomic_compare_exchange_n(&check->found, &lowest, first, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Checks elements `begin` to `end` - 1, counted row by row. */
static void check_elements(void *data, uint64_t begin, uint64_t end)
{
    struct cf__element_check *check = data;
    const struct cf__rows *rows = &check->rows;
    uint64_t length = rows->length / check->element;
    while (begin < end && begin < __atomic_load_n(&check->found, __ATOMIC_RELAXED)) {
        uint64_t row = begin / length, in_row = begin % length;
        uint64_t count = length - in_row < end - begin ? length - in_row : end - begin;
        const char *at = check->first + cf__rows_slice_offset(rows, row / rows->rows) + row % rows->rows * rows->pitch;
        cf__element_check_look(check, at + in_row * check->element, begin, count);
        begin += count;
    }
}

/* Minimum number of elements for a thread, because checking fewer is faster than waking a thread. */
#define LEAST_UNIT 65536

void cf__element_check_search(struct cf__element_check *check)
{
    uint64_t count = (uint64_t)check->section->count;
    uint64_t unit = count / 4 / (uint64_t)cf__pool_size();
    cf__pool_for(check_elements, check, count, unit > LEAST_UNIT ? unit : LEAST_UNIT);
}

/* ---- The search on a device ---- */

/* kernels/outside.cu has two kernels that search for elements out of range: in one row, and in rows with a pitch. */
enum { PARAMS_OF_ROW = 5, PARAMS_OF_ROWS = 7 };

/* Makes each row a separate slice, for kernels that search one row. Checks of members need this too: launch_slice()
 * passes the members of a slice to the kernel as rows of one element. */
static void split_slices(struct cf__element_check *check)
{
    struct cf__rows *rows = &check->rows;
    if ((check->declared->scan->nparams >= PARAMS_OF_ROWS && !check->declared->member) || rows->rows == 1)
        return;
    rows->extents[rows->nouter] = rows->rows;
    rows->strides[rows->nouter++] = rows->pitch;
    rows->slices *= rows->rows;
    rows->rows = 1;
}

/* Searches in flight. Each search of a slice writes its result to a separate cell. */
struct search {
    const struct cf__scope *scope;
    uint64_t *cells;
    size_t used; /* number of cells of launched searches */
    struct {
        struct cf__element_check *check;
        size_t cell, slice; /* cell of the run's first search, and the slice that it searches */
    } runs[CF__CELLS];
    size_t run_count;
};

/* Launches the search of one slice. */
static int launch_slice(const struct cf__element_check *check, const struct cf__scope *scope, size_t number,
                        uint64_t *cell)
{
    const struct cf__rows *rows = &check->rows;
    int64_t length = (int64_t)(rows->length / check->element), count = (int64_t)rows->rows;
    int64_t pitch = count > 1 ? (int64_t)(rows->pitch / check->element) : length; /* a single row has no pitch */
    const void *slice = check->first + cf__rows_slice_offset(rows, number) + check->offset;
    if (check->declared->member) {
        count = length;
        length = 1;
        pitch = (int64_t)(check->element / cf_type_size(check->type));
    }
    uint64_t lower = check->lower, upper = check->upper;
    void *const of_range[] = {&slice, &lower, &upper, &cell, &length, &count, &pitch};
    void *const of_order[] = {&slice, &cell, &length}, *const *args =
                                                           check->declared->is_ascending ? of_order : of_range;
    cf_launch_size size;
    const cf_kernel *scan = check->declared->scan;
    int status = cf__model_quick(scan, args, &size) ? CF_OK : cf__model_size(scan, args, 0, &size);
    return status == CF_OK ? cf__launch(scan, &size, scope, NULL, args) : status;
}

/* Waits for the searches, stores their results in the checks, and frees the cells. */
static int collect_results(struct search *search)
{
    CUresult result = search->scope->driver->cuStreamSynchronize(NULL);
    if (result != CUDA_SUCCESS) {
        const struct cf__element_check *check = search->runs[0].check;
        return cf__fail_driver(search->scope->driver, result, "cuStreamSynchronize", "%s: checking %s",
                               check->of.kernel->function, check->declared->text);
    }
    for (size_t r = 0; r < search->run_count; r++) {
        struct cf__element_check *check = search->runs[r].check;
        uint64_t per_slice = check->rows.length / check->element * check->rows.rows;
        size_t end = r + 1 < search->run_count ? search->runs[r + 1].cell : search->used;
        for (size_t c = search->runs[r].cell; c < end && check->found == CF__NO_ELEMENT; c++)
            if (search->cells[c] != CF__NO_ELEMENT)
                check->found = (search->runs[r].slice + c - search->runs[r].cell) * per_slice + search->cells[c];
    }
    search->used = search->run_count = 0;
    return CF_OK;
}

/* Launches a search for each slice of the check, with a separate cell for each. */
static int launch_slices(struct search *search, struct cf__element_check *check)
{
    int status = CF_OK;
    split_slices(check);
    for (size_t i = 0; status == CF_OK && i < check->rows.slices && check->found == CF__NO_ELEMENT; i++) {
        if (search->used == CF__CELLS && (status = collect_results(search)) != CF_OK)
            break;
        if (i == 0 || search->run_count == 0) {
            search->runs[search->run_count].check = check;
            search->runs[search->run_count].cell = search->used;
            search->runs[search->run_count++].slice = i;
        }
        uint64_t *cell = &search->cells[search->used++];
        *cell = CF__NO_ELEMENT;
        status = launch_slice(check, search->scope, i, cell);
    }
    return status;
}

int cf__element_check_search_device(struct cf__element_check checks[], size_t count, const struct cf__scope *scope)
{
    struct search search = {.scope = scope};
    int status = cf__cells_acquire(scope, checks[0].of.kernel->function, &search.cells);
    if (status != CF_OK)
        return status;
    for (size_t i = 0; i < count && status == CF_OK; i++)
        if (!checks[i].is_cpu)
            status = launch_slices(&search, &checks[i]);
    if (status == CF_OK)
        status = collect_results(&search);
    else if (search.used) /* no search may write to the cells after this wait */
        (void)scope->driver->cuStreamSynchronize(NULL);
    cf__cells_release(search.cells);
    return status;
}

int cf__element_check_begin(struct cf__element_check *check, const cf_kernel *kernel, const cf_check *declared,
                            void *const args[], const cf_section *section)
{
    *check = (struct cf__element_check){
        .of = {kernel, args}, .declared = declared, .section = section, .found = CF__NO_ELEMENT};
    check->element = kernel->params[declared->array].bytes;
    check->type = declared->member ? declared->type : kernel->params[declared->array].type;
    check->offset = declared->member ? declared->offset : 0;
    if (section->count)
        cf__section_rows(section, check->element, &check->rows);
    return evaluate_bounds(check);
}
