/* reduce.c - computes sums, inner products, minima and maxima of distributed arrays. */
#include <math.h>
#include <string.h>

#include <cuferry/kernels.h>

#include "mpi/agree.h"
#include "mpi/array.h"
#include "mpi/blocks.h"

/* ---- Arguments ---- */

static int check_pair(const char *function, const struct cf__mpi_comm *state, const cf_mpi_array *x,
                      const cf_mpi_array *y)
{
    int status = cf__mpi_array_check_number(function, state, "y", y);
    return status == CF_OK ? cf__mpi_array_check_alike(function, state, "x", x, "y", y) : status;
}

static int check_call(const char *function, const struct cf__mpi_comm *state, const cf_mpi_array *x, const void *result,
                      unsigned int flags)
{
    int status = cf__mpi_array_check_number(function, state, "x", x);
    if (status == CF_OK && !result)
        status = cf__mpi_fail(CF_EINVAL, "%s: result is NULL", function);
    if (status == CF_OK && flags & ~(unsigned int)CF_MPI_REPRODUCIBLE)
        status = cf__mpi_fail(CF_EINVAL, "%s: flags is 0x%x; the only flag is CF_MPI_REPRODUCIBLE", function, flags);
    return status;
}

/* ---- Sums ---- */

static int multiply_part(const struct cf__mpi_comm *state, const cf_mpi_array *x, const cf_mpi_array *y,
                         union cf__mpi_value *sum)
{
    int64_t n = cf__mpi_array_count(state, x);
#define DOT(T) cf_dot((const T *)x->data, (const T *)y->data, (T *)sum, n)
    return CF__MPI_OF_TYPE(x->type, DOT);
#undef DOT
}

static int add_parts(const char *function, struct cf__mpi_comm *state, const cf_mpi_array *x, const cf_mpi_array *y,
                     int status, uint64_t checksum, union cf__mpi_value *sum)
{
    union cf__mpi_value own = {.i64 = 0};
    if (status == CF_OK)
        status = y ? multiply_part(state, x, y, &own) : cf__mpi_array_sum(state, x, &own);
    status = cf__mpi_agree_on(state->comm, function, status, checksum);
    if (status != CF_OK)
        return status;
    return cf__mpi_result(MPI_Allreduce(&own, sum, 1, cf__mpi_value_type(x->type), MPI_SUM, state->comm),
                          "MPI_Allreduce");
}

/* Checks the arguments, including y if `is_dot`, and computes the sum or the inner product. */
static int add_up(const char *function, MPI_Comm comm, const cf_mpi_array *x, const cf_mpi_array *y, int is_dot,
                  void *result, unsigned int flags)
{
    struct cf__mpi_comm *state = NULL;
    union cf__mpi_value sum = {.i64 = 0};
    int previous = CF_HOST, device = CF_HOST, status = cf__mpi_enter(function, comm, &state);
    if (status != CF_OK)
        return status;
    status = check_call(function, state, x, result, flags);
    if (status == CF_OK && is_dot)
        status = check_pair(function, state, x, y);
    uint64_t checksum = status == CF_OK ? cf__mpi_array_mix(flags, state, x) : 0;
    if (status == CF_OK) {
        device = cf__mpi_device_of(x, y);
        status = cf__mpi_device_enter(device, &previous);
    }
    status =
        (flags & CF_MPI_REPRODUCIBLE ? cf__mpi_blocks_add : add_parts)(function, state, x, y, status, checksum, &sum);
    status = cf__mpi_device_leave(status, device, previous);
    if (status == CF_OK)
        memcpy(result, &sum, cf_type_size(x->type));
    return status;
}

int cf_mpi_sum(MPI_Comm comm, const cf_mpi_array *x, void *result, unsigned int flags)
{
    return add_up("cf_mpi_sum", comm, x, NULL, 0, result, flags);
}

int cf_mpi_dot(MPI_Comm comm, const cf_mpi_array *x, const cf_mpi_array *y, void *result, unsigned int flags)
{
    return add_up("cf_mpi_dot", comm, x, y, 1, result, flags);
}

/* ---- Minima and maxima ---- */

/* Returns a key that orders numbers as the results are ordered. A NaN gets the smallest key. Keys are signed, because
 * MPICH 4.0 compares MPI_UINT64_T like MPI_INT64_T. */
static int64_t key_of_number(double number, int is_max)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    int64_t key = bits < 0 ? bits ^ INT64_MAX : bits;
    return isnan(number) ? INT64_MIN : is_max ? ~key : key;
}

static double number_of_key(int64_t key, int is_max)
{
    double number;
    if (key == INT64_MIN)
        return (double)NAN;
    key = is_max ? ~key : key;
    key = key < 0 ? key ^ INT64_MAX : key;
    memcpy(&number, &key, sizeof number);
    return number;
}

static int64_t find_key(cf_type type, const union cf__mpi_value *value, int is_max)
{
    if (type == CF_F32 || type == CF_F64)
        return key_of_number(type == CF_F32 ? (double)value->f32 : value->f64, is_max);
    int64_t key = type == CF_I32 ? value->i32 : value->i64;
    return is_max ? ~key : key;
}

static union cf__mpi_value find_value(cf_type type, int64_t key, int is_max)
{
    if (type == CF_F32)
        return (union cf__mpi_value){.f32 = (float)number_of_key(key, is_max)};
    if (type == CF_F64)
        return (union cf__mpi_value){.f64 = number_of_key(key, is_max)};
    int64_t number = is_max ? ~key : key;
    return type == CF_I32 ? (union cf__mpi_value){.i32 = (int32_t)number} : (union cf__mpi_value){.i64 = number};
}

/* Finds the key of the elements on this rank; the largest key stands for a rank without elements. */
static int find_part(const struct cf__mpi_comm *state, const cf_mpi_array *x, int is_max, int64_t *key)
{
    int64_t n = cf__mpi_array_count(state, x);
    union cf__mpi_value best = {.i64 = 0};
    int previous, status = n ? cf__mpi_device_enter(x->device, &previous) : CF_OK;
    *key = INT64_MAX;
    if (status != CF_OK || !n)
        return status;
#define MIN(T) cf_min((const T *)x->data, (T *)&best, n)
#define MAX(T) cf_max((const T *)x->data, (T *)&best, n)
    status = is_max ? CF__MPI_OF_TYPE(x->type, MAX) : CF__MPI_OF_TYPE(x->type, MIN);
#undef MIN
#undef MAX
    *key = find_key(x->type, &best, is_max);
    return cf__mpi_device_leave(status, x->device, previous);
}

static int check_best(const char *function, const struct cf__mpi_comm *state, const cf_mpi_array *x, const void *result)
{
    int status = check_call(function, state, x, result, 0);
    if (status == CF_OK && !x->length)
        status = cf__mpi_fail(CF_EINVAL, "%s: x.length is 0", function);
    return status;
}

static int find_best(const char *function, MPI_Comm comm, const cf_mpi_array *x, void *result, int is_max)
{
    struct cf__mpi_comm *state = NULL;
    int64_t key = 0, best = 0;
    int status = cf__mpi_enter(function, comm, &state);
    if (status != CF_OK)
        return status;
    status = check_best(function, state, x, result);
    uint64_t checksum = status == CF_OK ? cf__mpi_array_mix(0, state, x) : 0;
    if (status == CF_OK)
        status = find_part(state, x, is_max, &key);
    status = cf__mpi_agree_on(state->comm, function, status, checksum);
    if (status == CF_OK)
        status = cf__mpi_result(MPI_Allreduce(&key, &best, 1, MPI_INT64_T, MPI_MIN, state->comm), "MPI_Allreduce");
    if (status != CF_OK)
        return status;
    union cf__mpi_value value = find_value(x->type, best, is_max);
    memcpy(result, &value, cf_type_size(x->type));
    return CF_OK;
}

int cf_mpi_min(MPI_Comm comm, const cf_mpi_array *x, void *result)
{
    return find_best("cf_mpi_min", comm, x, result, 0);
}

int cf_mpi_max(MPI_Comm comm, const cf_mpi_array *x, void *result)
{
    return find_best("cf_mpi_max", comm, x, result, 1);
}
