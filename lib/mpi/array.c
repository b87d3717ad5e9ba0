/* array.c - checks distributed arrays, and finds the device on which a part lies. */
#include "mpi/array.h"

#include <stdio.h>
#include <string.h>

#include <cuferry/kernels.h>

#include "mpi/agree.h"

/* ---- Checks ---- */

int cf__mpi_offsets_check(const char *function, int ranks, const char *owner, const int64_t *offsets)
{
    if (!offsets)
        return cf__mpi_fail(CF_EINVAL, "%s: %soffsets is NULL", function, owner);
    if (offsets[0] != 0)
        return cf__mpi_fail(CF_EINVAL, "%s: %soffsets[0] is %jd instead of 0", function, owner, (intmax_t)offsets[0]);
    for (int i = 0; i < ranks; i++)
        if (offsets[i + 1] < offsets[i])
            return cf__mpi_fail(CF_EINVAL, "%s: %soffsets[%d] = %jd is less than %soffsets[%d] = %jd", function, owner,
                                i + 1, (intmax_t)offsets[i + 1], owner, i, (intmax_t)offsets[i]);
    return CF_OK;
}

static int check_offsets(const char *function, int ranks, const char *name, const cf_mpi_array *array)
{
    char owner[256];
    (void)snprintf(owner, sizeof owner, "%s.", name);
    int status = cf__mpi_offsets_check(function, ranks, owner, array->offsets);
    if (status == CF_OK && array->offsets[ranks] != array->length)
        status = cf__mpi_fail(CF_EINVAL, "%s: %s.offsets[%d] is %jd, and %s.length is %jd", function, name, ranks,
                              (intmax_t)array->offsets[ranks], name, (intmax_t)array->length);
    return status;
}

static int check_place(const char *function, const struct cf__mpi_comm *state, const char *name,
                       const cf_mpi_array *array)
{
    int count = 0, status = cf_device_count(&count);
    if (status != CF_OK)
        return status;
    if (array->device != CF_HOST && (array->device < 0 || array->device >= count))
        return cf__mpi_fail(CF_EINVAL, "%s: %s.device is %d; it is CF_HOST or one of %d GPUs", function, name,
                            array->device, count);
    if (!array->data && cf__mpi_array_count(state, array))
        return cf__mpi_fail(CF_EINVAL, "%s: %s.data is NULL on a rank with %jd elements", function, name,
                            (intmax_t)cf__mpi_array_count(state, array));
    return CF_OK;
}

int cf__mpi_array_check(const char *function, const struct cf__mpi_comm *state, const char *name,
                        const cf_mpi_array *array)
{
    if (!array)
        return cf__mpi_fail(CF_EINVAL, "%s: %s is NULL", function, name);
    int status = check_offsets(function, state->size, name, array);
    return status == CF_OK ? check_place(function, state, name, array) : status;
}

int cf__mpi_array_check_number(const char *function, const struct cf__mpi_comm *state, const char *name,
                               const cf_mpi_array *array)
{
    int status = cf__mpi_array_check(function, state, name, array);
    if (status != CF_OK)
        return status;
    if (array->type != CF_F32 && array->type != CF_F64 && array->type != CF_I32 && array->type != CF_I64)
        return cf__mpi_fail(CF_EINVAL, "%s: %s has type %s; it is f32, f64, i32 or i64", function, name,
                            cf__mpi_type_text(array->type));
    if ((uintptr_t)array->data % cf_type_size(array->type) == 0)
        return CF_OK;
    return cf__mpi_fail(CF_EINVAL, "%s: %s.data = %p is not aligned to its elements of %zu bytes", function, name,
                        array->data, cf_type_size(array->type));
}

int cf__mpi_array_check_alike(const char *function, const struct cf__mpi_comm *state, const char *x_name,
                              const cf_mpi_array *x, const char *y_name, const cf_mpi_array *y)
{
    if (y->type != x->type)
        return cf__mpi_fail(CF_EINVAL, "%s: %s has type %s, and %s has type %s", function, y_name,
                            cf__mpi_type_text(y->type), x_name, cf__mpi_type_text(x->type));
    for (int i = 0; i <= state->size; i++)
        if (y->offsets[i] != x->offsets[i])
            return cf__mpi_fail(CF_EINVAL, "%s: %s.offsets[%d] is %jd, and %s.offsets[%d] is %jd", function, y_name, i,
                                (intmax_t)y->offsets[i], x_name, i, (intmax_t)x->offsets[i]);
    return CF_OK;
}

const char *cf__mpi_type_text(cf_type type)
{
    const char *name = cf_type_name(type);
    return name ? name : "unknown";
}

int64_t cf__mpi_array_count(const struct cf__mpi_comm *state, const cf_mpi_array *array)
{
    return array->offsets[state->rank + 1] - array->offsets[state->rank];
}

int cf__mpi_array_sum(const struct cf__mpi_comm *state, const cf_mpi_array *array, union cf__mpi_value *sum)
{
    int64_t n = cf__mpi_array_count(state, array);
#define SUM(T) cf_sum((const T *)array->data, (T *)sum, n)
    return CF__MPI_OF_TYPE(array->type, SUM);
#undef SUM
}

/* ---- Checksums ---- */

/* Computes FNV-1a over words instead of bytes, which is faster: each reduction hashes one offset per rank. The shift
 * lets the upper bits of a word affect the lower bits of the hash. */
uint64_t cf__mpi_mix(uint64_t value, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, at + i, bytes - i < sizeof word ? bytes - i : sizeof word);
        value = (value ^ word) * 0x100000001b3;
        value ^= value >> 32;
    }
    return value;
}

uint64_t cf__mpi_array_mix(uint64_t value, const struct cf__mpi_comm *state, const cf_mpi_array *array)
{
    value = cf__mpi_mix(value, &array->type, sizeof array->type);
    return cf__mpi_mix(value, array->offsets, (size_t)(state->size + 1) * sizeof *array->offsets);
}

/* ---- Devices ---- */

int cf__mpi_device_of(const cf_mpi_array *x, const cf_mpi_array *y)
{
    return x->device == CF_HOST && y ? y->device : x->device;
}

int cf__mpi_device_enter(int device, int *previous)
{
    *previous = device;
    int status = device == CF_HOST ? CF_OK : cf_device_current(previous);
    return status != CF_OK || *previous == device ? status : cf_device_use(device);
}

int cf__mpi_device_leave(int status, int device, int previous)
{
    if (previous == device)
        return status;
    int failed = cf_device_use(previous);
    return status == CF_OK ? failed : status;
}
