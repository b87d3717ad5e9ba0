/* range.c - checks every element of an integer array against the range that its annotation declares. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* A check of one call. */
struct range {
    const cf_kernel *kernel;
    const cf_check *check;
    const cf_param *param; /* the array */
    void *const *args;
    const struct cf__place *place;
    const struct cf__section *section;
    char *first; /* the first element, on the device */
    /* The bounds as the elements' type has them, both included. Narrow types read the low bytes, which stand first on
     * every machine that CUDA runs on. */
    uint64_t lower, upper;
};

/* ---- Bounds ---- */

static int is_signed(cf_type type)
{
    return type == CF_I8 || type == CF_I16 || type == CF_I32 || type == CF_I64;
}

/* A bound of the annotation as an inclusive one, where there is one. */
static int bound(const struct range *range, int is_upper, int64_t *value)
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
static int bounds(struct range *range)
{
    unsigned int bits = 8 * (unsigned int)cf_type_size(range->param->type);
    int64_t smallest = 0, lower = INT64_MIN, upper = INT64_MAX;
    uint64_t largest = UINT64_MAX >> (64 - bits);
    if (is_signed(range->param->type)) {
        largest >>= 1;
        smallest = -(int64_t)largest - 1;
    }
    int status = bound(range, 0, &lower);
    if (status == CF_OK)
        status = bound(range, 1, &upper);
    int is_above = lower > 0 && (uint64_t)lower > largest, is_below = upper < smallest;
    range->lower = (uint64_t)(lower < smallest ? smallest : lower);
    range->upper = !range->check->upper.ops || (upper > 0 && (uint64_t)upper > largest) ? largest : (uint64_t)upper;
    if (is_above || is_below) { /* no value is inside */
        range->lower = 1;
        range->upper = 0;
    }
    return status;
}

/* ---- Messages ---- */

/* Writes "[0, 100)", as the annotation has it; "[0, inf)" where a bound is absent. */
static void describe_range(const struct range *range, char *text, size_t size)
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

/* `number` counts the section's elements row by row. */
static int report(const struct range *range, uint64_t number)
{
    const char *function = range->kernel->function, *name = range->param->name;
    cf_type type = range->param->type;
    char index[24 * CF_ARRAY_DIMS], limits[64], value[24];
    uint64_t element = 0;
    int64_t integer = 0;
    const char *at = range->first + describe_index(range->section, number, index, sizeof index);
    CUresult result = range->place->driver->cuMemcpy((uintptr_t)&element, (uintptr_t)at, cf_type_size(type));
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(range->place->driver, result, "cuMemcpy", "%s: reading %s%s", function, name, index);
    if (cf__integer(type, &element, &integer) == CF_OK)
        snprintf(value, sizeof value, "%" PRId64, integer);
    else
        snprintf(value, sizeof value, "%" PRIu64, element);
    describe_range(range, limits, sizeof limits);
    return cf__fail(CF_ERANGE, "%s: %s%s = %s is outside %s", function, name, index, value, limits);
}

/* ---- The search ---- */

/* What the cells hold where no element is outside: each byte of it is the same, and no array has as many elements. */
#define NONE_BYTE 0x7f
#define NONE ((uint64_t)0x7f7f7f7f7f7f7f7f)

/* Launches the search of every slice, each with a cell of its own. */
static int search(const struct range *range, const struct cf__rows *rows, size_t element, CUdeviceptr cells)
{
    const cf_kernel *scan = range->check->scan;
    int64_t length = (int64_t)(rows->length / element), count = (int64_t)rows->rows;
    int64_t pitch = (int64_t)(rows->pitch / element);
    void *slice = range->first, *cell = (void *)(uintptr_t)cells;
    uint64_t lower = range->lower, upper = range->upper;
    void *const args[] = {&slice, &lower, &upper, &cell, &length, &count, &pitch};
    struct cf__size size;
    int status = cf__size(scan, range->place, args, &size);
    for (size_t i = 0; status == CF_OK && i < rows->slices; i++) {
        slice = range->first + cf__slice(rows, i);
        cell = (void *)(uintptr_t)(cells + i * sizeof(int64_t));
        status = cf__launch(scan, &size, range->place, NULL, args);
    }
    return status;
}

/* The first cell that holds an element, as the number of the element; NONE. */
static uint64_t first_of(const uint64_t cells[], size_t slices, uint64_t per_slice)
{
    for (size_t i = 0; i < slices; i++)
        if (cells[i] != NONE)
            return i * per_slice + cells[i];
    return NONE;
}

/* kernels/outside.cu has two searches: of one row, and of rows that a pitch is between. */
enum { PARAMS_OF_ROW = 5, PARAMS_OF_ROWS = 7 };

static void slices_of(const struct range *range, struct cf__rows *rows)
{
    cf__rows(range->section, range->param->bytes, rows);
    if (range->check->scan->nparams >= PARAMS_OF_ROWS || rows->rows == 1)
        return;
    rows->extents[rows->nouter] = rows->rows;
    rows->strides[rows->nouter++] = rows->pitch;
    rows->slices *= rows->rows;
    rows->rows = 1;
}

int cf__check_range(const cf_kernel *kernel, const cf_check *check, void *const args[], const struct cf__place *place,
                    const struct cf__section *section, void *first)
{
    struct range range = {kernel, check, &kernel->params[check->array], args, place, section, first, 0, 0};
    int status = bounds(&range);
    if (status != CF_OK || section->count == 0)
        return status;

    const struct cf__driver *driver = place->driver;
    struct cf__rows rows;
    slices_of(&range, &rows);
    uint64_t one, *found = &one, number = NONE;
    size_t bytes = rows.slices * sizeof *found;
    if (rows.slices > 1 && !(found = malloc(bytes)))
        return cf__fail(CF_ENOMEM, "%s: no memory to check %s", kernel->function, range.param->name);
    CUdeviceptr cells = 0;
    const char *function = "cuMemAlloc";
    CUresult result = driver->cuMemAlloc(&cells, bytes);
    if (result == CUDA_SUCCESS) {
        function = "cuMemsetD8Async";
        result = driver->cuMemsetD8Async(cells, NONE_BYTE, bytes, NULL);
    }
    if (result == CUDA_SUCCESS)
        status = search(&range, &rows, range.param->bytes, cells);
    if (result == CUDA_SUCCESS && status == CF_OK) {
        function = "cuMemcpy";
        result = driver->cuMemcpy((uintptr_t)found, cells, bytes);
    }
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(driver, result, function, "%s: checking %s", kernel->function, check->text);
    else if (status == CF_OK)
        number = first_of(found, rows.slices, rows.length / range.param->bytes * rows.rows);
    if (cells)
        (void)driver->cuMemFree(cells);
    if (found != &one)
        free(found);
    return status == CF_OK && number != NONE ? report(&range, number) : status;
}
