/* range.c - checks every element of an integer array against the range that its annotation declares, and whether they
 * ascend where it declares that. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "call/element_check.h"

#include "base/error.h"
#include "threads/pool.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/lost.h"
#include "staging/buffers.h"
#include "staging/rows.h"
#include "kernel/arguments.h"
#include "kernel/expr.h"
#include "kernel/launch.h"
#include "kernel/section.h"

/* ---- Bounds ---- */

static int is_signed(cf_type type)
{
    return type == CF_I8 || type == CF_I16 || type == CF_I32 || type == CF_I64;
}

/* A bound of the annotation as an inclusive one, where there is one. */
static int bound(const struct cf__element_check *range, int is_upper, int64_t *value)
{
    const cf_check *check = range->check;
    const cf_expr *expr = is_upper ? &check->upper : &check->lower;
    int64_t step = is_upper ? -1 : 1;
    if (!expr->ops)
        return CF_OK;
    if (cf__evaluate(range->kernel, expr, range->args, value) != CF_OK ||
        ((is_upper ? check->upper_open : check->lower_open) && __builtin_add_overflow(*value, step, value)))
        return cf__fail(CF_EOVERFLOW, "%s: the bound %s in check(%s) overflows", range->kernel->function, expr->text,
                        check->text);
    return CF_OK;
}

/* Both, cut to what the elements' type can hold. */
static int bounds(struct cf__element_check *range)
{
    cf_type type = range->kernel->params[range->check->array].type;
    unsigned int bits = 8 * (unsigned int)cf_type_size(type);
    int64_t smallest = 0, lower = INT64_MIN, upper = INT64_MAX;
    uint64_t largest = UINT64_MAX >> (64 - bits);
    if (is_signed(type)) {
        largest >>= 1;
        smallest = -(int64_t)largest - 1;
    }
    int status = bound(range, 0, &lower);
    if (status == CF_OK)
        status = bound(range, 1, &upper);
    int is_above = lower > 0 && (uint64_t)lower > largest, is_below = upper < smallest;
    range->lower = (uint64_t)(lower < smallest ? smallest : lower);
    range->upper = !range->check->upper.ops || (upper > 0 && (uint64_t)upper > largest) ? largest : (uint64_t)upper;
    range->is_none = is_above || is_below || lower > upper;
    if (range->is_none) {
        range->lower = 1;
        range->upper = 0;
    }
    return status;
}

/* ---- Messages ---- */

/* Writes "[0, 100)", as the annotation has it; "[0, inf)" where a bound is absent. */
static void describe_range(const struct cf__element_check *range, char *text, size_t size)
{
    const cf_check *check = range->check;
    int64_t value;
    int used = 0;
    if (check->lower.ops && cf__evaluate(range->kernel, &check->lower, range->args, &value) == CF_OK)
        used = snprintf(text, size, "%c%" PRId64 ", ", check->lower_open ? '(' : '[', value);
    else
        used = snprintf(text, size, "(-inf, ");
    if (check->upper.ops && cf__evaluate(range->kernel, &check->upper, range->args, &value) == CF_OK)
        snprintf(text + used, size - (size_t)used, "%" PRId64 "%c", value, check->upper_open ? ')' : ']');
    else
        snprintf(text + used, size - (size_t)used, "inf)");
}

/* Writes "[3][17]", the indices of an element from the array's pointer; returns its distance from the first one. */
static size_t describe_index(const struct cf__section *section, uint64_t number, char *text, size_t size)
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
static int describe_element(const struct cf__element_check *range, const struct cf__scope *scope, uint64_t number,
                            char *text, size_t size)
{
    const cf_param *param = &range->kernel->params[range->check->array];
    cf_type type = param->type;
    char index[24 * CF_ARRAY_DIMS];
    uint64_t element = 0;
    int64_t integer = 0;
    const char *at = range->first + describe_index(range->section, number, index, sizeof index);
    if (range->is_cpu)
        memcpy(&element, at, cf_type_size(type));
    else {
        CUresult result = scope->driver->cuMemcpy((uintptr_t)&element, (uintptr_t)at, cf_type_size(type));
        if (result != CUDA_SUCCESS)
            return cf__fail_driver(scope->driver, result, "cuMemcpy", "%s: reading %s%s", range->kernel->function,
                                   param->name, index);
    }
    if (cf__integer(type, &element, &integer) == CF_OK)
        snprintf(text, size, "%s%s = %" PRId64, param->name, index, integer);
    else
        snprintf(text, size, "%s%s = %" PRIu64, param->name, index, element);
    return CF_OK;
}

#define ELEMENT (128 + 24 * CF_ARRAY_DIMS) /* room for the text of one; longer names are cut */

int cf__element_check_report(const struct cf__element_check *range, const struct cf__scope *scope)
{
    const char *function = range->kernel->function;
    char element[ELEMENT], before[ELEMENT], limits[64];
    int status = describe_element(range, scope, range->found, element, sizeof element);
    if (status == CF_OK && range->check->is_ascending)
        status = describe_element(range, scope, range->found - 1, before, sizeof before);
    if (status != CF_OK)
        return status;
    if (range->check->is_ascending)
        return cf__fail(CF_EINVAL, "%s: %s is less than %s", function, element, before);
    describe_range(range, limits, sizeof limits);
    return cf__fail(CF_ERANGE, "%s: %s is outside %s", function, element, limits);
}

/* ---- The search in host memory ---- */

/* Elements that are looked at before a branch: the compiler makes vectors of them. */
#define BLOCK 64

/* The number of the first element outside, or CF__NONE. Both signs are one: distances from the lower bound are
 * compared. */
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
        return CF__NONE;                                                                              \
    }
DEFINE_FIND(uint8_t)
DEFINE_FIND(uint16_t)
DEFINE_FIND(uint32_t)
DEFINE_FIND(uint64_t)

/* The number of the first element that is less than the one in front of it, or CF__NONE; in front of the first one is
 * `before`. */
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
        return CF__NONE;                                                                     \
    }
DEFINE_DESCENT(int8_t)
DEFINE_DESCENT(int16_t)
DEFINE_DESCENT(int32_t)
DEFINE_DESCENT(int64_t)
DEFINE_DESCENT(uint8_t)
DEFINE_DESCENT(uint16_t)
DEFINE_DESCENT(uint32_t)
DEFINE_DESCENT(uint64_t)

/* Of elements from number `number` of the array on. */
static uint64_t find_descent(const struct cf__element_check *range, const void *elements, uint64_t number,
                             uint64_t count)
{
    static uint64_t (*const descents[2][4])(const void *, uint64_t, const void *) = {
        {descent_uint8_t, descent_uint16_t, descent_uint32_t, descent_uint64_t},
        {descent_int8_t, descent_int16_t, descent_int32_t, descent_int64_t},
    };
    const int width = range->element == 1 ? 0 : range->element == 2 ? 1 : range->element == 4 ? 2 : 3;
    const void *before = number ? range->first + (number - 1) * range->element : elements;
    if (count == 0)
        return CF__NONE;
    return descents[is_signed(range->kernel->params[range->check->array].type)][width](elements, count, before);
}

static uint64_t find(const struct cf__element_check *range, const void *elements, uint64_t number, uint64_t count)
{
    if (range->check->is_ascending)
        return find_descent(range, elements, number, count);
    if (range->is_none)
        return count ? 0 : CF__NONE;
    switch (range->element) {
    case 1:
        return find_uint8_t(elements, count, range->lower, range->upper);
    case 2:
        return find_uint16_t(elements, count, range->lower, range->upper);
    case 4:
        return find_uint32_t(elements, count, range->lower, range->upper);
    default:
        return find_uint64_t(elements, count, range->lower, range->upper);
    }
}

void cf__element_check_look(struct cf__element_check *range, const void *elements, uint64_t number, uint64_t count)
{
    uint64_t first = find(range, elements, number, count), lowest = __atomic_load_n(&range->found, __ATOMIC_RELAXED);
    if (first == CF__NONE)
        return;
    first += number;
    while (first < lowest &&
           !__atomic_compare_exchange_n(&range->found, &lowest, first, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Elements `begin` to `end` - 1, counted row by row. */
static void look_at(void *data, uint64_t begin, uint64_t end)
{
    struct cf__element_check *range = data;
    const struct cf__rows *rows = &range->rows;
    uint64_t length = rows->length / range->element;
    while (begin < end && begin < __atomic_load_n(&range->found, __ATOMIC_RELAXED)) {
        uint64_t row = begin / length, in_row = begin % length;
        uint64_t count = length - in_row < end - begin ? length - in_row : end - begin;
        const char *at = range->first + cf__rows_slice_offset(rows, row / rows->rows) + row % rows->rows * rows->pitch;
        cf__element_check_look(range, at + in_row * range->element, begin, count);
        begin += count;
    }
}

/* Elements to a piece, at least: looking at them takes longer than waking a thread. */
#define PIECE 65536

void cf__element_check_search(struct cf__element_check *range)
{
    uint64_t count = (uint64_t)range->section->count;
    uint64_t piece = count / 4 / (uint64_t)cf__pool_size();
    cf__pool_for(look_at, range, count, piece > PIECE ? piece : PIECE);
}

/* ---- The search on a device ---- */

/* kernels/outside.cu has two searches of a range: of one row, and of rows that a pitch is between. */
enum { PARAMS_OF_ROW = 5, PARAMS_OF_ROWS = 7 };

static void slices_of(struct cf__element_check *range)
{
    struct cf__rows *rows = &range->rows;
    if (range->check->scan->nparams >= PARAMS_OF_ROWS || rows->rows == 1)
        return;
    rows->extents[rows->nouter] = rows->rows;
    rows->strides[rows->nouter++] = rows->pitch;
    rows->slices *= rows->rows;
    rows->rows = 1;
}

/* Cells that the searches of a call fill, and those of them whose search has been launched. */
struct search {
    const struct cf__scope *scope;
    uint64_t *cells;
    size_t used;
    struct { /* the first cell of a run, whose search it is, and from which slice */
        struct cf__element_check *range;
        size_t cell, slice;
    } runs[CF__CELLS];
    size_t run_count;
};

/* Launches the search of one slice. */
static int launch(const struct cf__element_check *range, const struct cf__scope *scope, size_t number, uint64_t *cell)
{
    const struct cf__rows *rows = &range->rows;
    int64_t length = (int64_t)(rows->length / range->element), count = (int64_t)rows->rows;
    int64_t pitch = (int64_t)(rows->pitch / range->element);
    const void *slice = range->first + cf__rows_slice_offset(rows, number);
    uint64_t lower = range->lower, upper = range->upper;
    void *const of_range[] = {&slice, &lower, &upper, &cell, &length, &count, &pitch};
    void *const of_order[] = {&slice, &cell, &length}, *const *args = range->check->is_ascending ? of_order : of_range;
    struct cf__grid size;
    int status = cf__compute_grid(range->check->scan, scope, args, &size);
    return status == CF_OK ? cf__launch(range->check->scan, &size, scope, NULL, args) : status;
}

/* Waits for what was launched, and notes what was found; the cells are free again. */
static int collect(struct search *search)
{
    CUresult result = search->scope->driver->cuStreamSynchronize(NULL);
    if (result != CUDA_SUCCESS) {
        const struct cf__element_check *range = search->runs[0].range;
        return cf__fail_driver(search->scope->driver, result, "cuStreamSynchronize", "%s: checking %s",
                               range->kernel->function, range->check->text);
    }
    for (size_t r = 0; r < search->run_count; r++) {
        struct cf__element_check *range = search->runs[r].range;
        uint64_t per_slice = range->rows.length / range->element * range->rows.rows;
        size_t end = r + 1 < search->run_count ? search->runs[r + 1].cell : search->used;
        for (size_t c = search->runs[r].cell; c < end && range->found == CF__NONE; c++)
            if (search->cells[c] != CF__NONE)
                range->found = (search->runs[r].slice + c - search->runs[r].cell) * per_slice + search->cells[c];
    }
    search->used = search->run_count = 0;
    return CF_OK;
}

/* Launches the search of every slice, each with a cell of its own. */
static int launch_all(struct search *search, struct cf__element_check *range)
{
    int status = CF_OK;
    slices_of(range);
    for (size_t i = 0; status == CF_OK && i < range->rows.slices && range->found == CF__NONE; i++) {
        if (search->used == CF__CELLS && (status = collect(search)) != CF_OK)
            break;
        if (i == 0 || search->run_count == 0) {
            search->runs[search->run_count].range = range;
            search->runs[search->run_count].cell = search->used;
            search->runs[search->run_count++].slice = i;
        }
        uint64_t *cell = &search->cells[search->used++];
        *cell = CF__NONE;
        status = launch(range, search->scope, i, cell);
    }
    return status;
}

int cf__element_check_search_device(struct cf__element_check ranges[], size_t count, const struct cf__scope *scope)
{
    struct search search = {.scope = scope};
    int status = cf__cells_acquire(scope, ranges[0].kernel->function, &search.cells);
    if (status != CF_OK)
        return status;
    for (size_t i = 0; i < count && status == CF_OK; i++)
        if (!ranges[i].is_cpu)
            status = launch_all(&search, &ranges[i]);
    if (status == CF_OK)
        status = collect(&search);
    else if (search.used) /* nothing may write to the cells any more */
        (void)scope->driver->cuStreamSynchronize(NULL);
    cf__cells_release(search.cells);
    return status;
}

/* ---- */

int cf__element_check_begin(struct cf__element_check *range, const cf_kernel *kernel, const cf_check *check,
                            void *const args[], const struct cf__section *section)
{
    *range = (struct cf__element_check){
        .kernel = kernel, .check = check, .args = args, .section = section, .found = CF__NONE};
    range->element = kernel->params[check->array].bytes;
    if (section->count)
        cf__section_rows(section, range->element, &range->rows);
    return bounds(range);
}
