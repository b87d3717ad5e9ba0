/* reduce.c - sums, inner products, least and greatest elements, compared with loops on one rank. */
#include "mpi_arrays.h"

#include <math.h>

enum { BLOCK = 65536, LANES = 1024, LENGTH = 5 * BLOCK + 1234 };

static const cf_type types[] = {CF_F32, CF_I32, CF_I64, CF_F64};
static const int64_t lengths[] = {0, 3 * BLOCK, LENGTH};
static void *x_all, *y_all;

union value {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
};

/* ---- The reproducible sum by its definition ---- */

#define DEFINE_SUM(T, name, PLUS, TAKE)                                                                    \
    static T add_block_##name(const T *x, const T *y, int64_t count)                                       \
    {                                                                                                      \
        T lanes[LANES] = {0};                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                \
            lanes[i % LANES] = y ? TAKE(lanes[i % LANES], x[i], y[i]) : PLUS(lanes[i % LANES], x[i]);      \
        for (int half = LANES / 2; half; half /= 2)                                                        \
            for (int i = 0; i < half; i++)                                                                 \
                lanes[i] = PLUS(lanes[i], lanes[i + half]);                                                \
        return lanes[0];                                                                                   \
    }                                                                                                      \
    static T add_all_##name(const T *x, const T *y, int64_t count)                                         \
    {                                                                                                      \
        int64_t half = BLOCK;                                                                              \
        if (count <= BLOCK)                                                                                \
            return add_block_##name(x, y, count);                                                          \
        while (2 * half < count)                                                                           \
            half *= 2;                                                                                     \
        return PLUS(add_all_##name(x, y, half), add_all_##name(x + half, y ? y + half : y, count - half)); \
    }
#define PLUS_FLOAT(a, b) ((a) + (b))
#define PLUS_I32(a, b) ((int32_t)((uint32_t)(a) + (uint32_t)(b)))
#define PLUS_I64(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define TAKE_F32(total, x, y) fmaf(x, y, total)
#define TAKE_F64(total, x, y) fma(x, y, total)
#define TAKE_I32(total, x, y) ((int32_t)((uint32_t)(total) + (uint32_t)(x) * (uint32_t)(y)))
#define TAKE_I64(total, x, y) ((int64_t)((uint64_t)(total) + (uint64_t)(x) * (uint64_t)(y)))
DEFINE_SUM(float, f32, PLUS_FLOAT, TAKE_F32)
DEFINE_SUM(double, f64, PLUS_FLOAT, TAKE_F64)
DEFINE_SUM(int32_t, i32, PLUS_I32, TAKE_I32)
DEFINE_SUM(int64_t, i64, PLUS_I64, TAKE_I64)

static union value add_all(cf_type type, const void *x, const void *y, int64_t n)
{
    switch (type) {
    case CF_F32:
        return (union value){.f32 = add_all_f32(x, y, n)};
    case CF_F64:
        return (union value){.f64 = add_all_f64(x, y, n)};
    case CF_I32:
        return (union value){.i32 = add_all_i32(x, y, n)};
    default:
        return (union value){.i64 = add_all_i64(x, y, n)};
    }
}

/* ---- Sums ---- */

/* A bound of the rounding errors: the sum of the absolute values, or of those of the products. */
static double add_sizes(cf_type type, const void *x, const void *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += type == CF_F32 ? fabs((double)((const float *)x)[i] * (y ? (double)((const float *)y)[i] : 1))
                              : fabs(((const double *)x)[i] * (y ? ((const double *)y)[i] : 1));
    return sum;
}

/* Without the flag, integers are exact and floats near. */
static void check_plain(cf_type type, union value found, union value wanted, double sizes)
{
    size_t bytes = cf_type_size(type);
    if (type == CF_F32)
        CHECK(fabs((double)found.f32 - (double)wanted.f32) <= 1e-5 * sizes);
    else if (type == CF_F64)
        CHECK(fabs(found.f64 - wanted.f64) <= 1e-14 * sizes);
    else
        CHECK(!memcmp(&found, &wanted, bytes));
}

/* Results that do not depend on the division. */
struct expected {
    union value sum;
    double sizes;
};

static struct expected expect(cf_type type, const void *y, int64_t n)
{
    int is_float = type == CF_F32 || type == CF_F64;
    return (struct expected){.sum = add_all(type, x_all, y, n), .sizes = is_float ? add_sizes(type, x_all, y, n) : 0};
}

static void add_up(MPI_Comm comm, const cf_mpi_array *x, const cf_mpi_array *y, const struct expected *expected)
{
    union value found;
    memset(&found, 0x5a, sizeof found);
    CHECK_OK(y ? cf_mpi_dot(comm, x, y, &found, CF_MPI_REPRODUCIBLE)
               : cf_mpi_sum(comm, x, &found, CF_MPI_REPRODUCIBLE));
    CHECK(!memcmp(&found, &expected->sum, cf_type_size(x->type)));
    memset(&found, 0x5a, sizeof found);
    CHECK_OK(y ? cf_mpi_dot(comm, x, y, &found, 0) : cf_mpi_sum(comm, x, &found, 0));
    check_plain(x->type, found, expected->sum, expected->sizes);
}

static void sums_of_all_divisions(MPI_Comm comm, int ranks, int64_t n, cf_type type)
{
    int64_t offsets[MOST_RANKS + 1];
    fill_random(x_all, n, type, 1);
    fill_random(y_all, n, type, 2);
    struct expected sum = expect(type, NULL, n), dot = expect(type, y_all, n);
    for (int way = 0; way < (n == LENGTH ? DIVISIONS : 1); way++) {
        divide(way, n, ranks, offsets);
        cf_mpi_array x = take_part(comm, x_all, n, offsets, type), y = take_part(comm, y_all, n, offsets, type);
        add_up(comm, &x, NULL, &sum);
        add_up(comm, &x, &y, &dot);
        free_part(&x);
        free_part(&y);
    }
}

/* ---- Least and greatest elements ---- */

static double element(cf_type type, const void *x, int64_t i)
{
    return type == CF_F32   ? (double)((const float *)x)[i]
           : type == CF_F64 ? ((const double *)x)[i]
           : type == CF_I32 ? ((const int32_t *)x)[i]
                            : (double)((const int64_t *)x)[i];
}

static int64_t find_best(cf_type type, int64_t n, int is_max)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++) {
        double x = element(type, x_all, i), y = element(type, x_all, best);
        if (type == CF_I64 ? (((int64_t *)x_all)[i] > ((int64_t *)x_all)[best]) == is_max : is_max ? x > y : x < y)
            best = i;
    }
    return best;
}

static void best_of_all_divisions(MPI_Comm comm, int ranks, int64_t n, cf_type type)
{
    int64_t offsets[MOST_RANKS + 1];
    size_t bytes = cf_type_size(type);
    fill_random(x_all, n, type, 3);
    for (int way = 0; way < DIVISIONS; way++) {
        divide(way, n, ranks, offsets);
        cf_mpi_array x = take_part(comm, x_all, n, offsets, type);
        union value least, greatest;
        CHECK_OK(cf_mpi_min(comm, &x, &least));
        CHECK_OK(cf_mpi_max(comm, &x, &greatest));
        CHECK(!memcmp(&least, (char *)x_all + (size_t)find_best(type, n, 0) * bytes, bytes));
        CHECK(!memcmp(&greatest, (char *)x_all + (size_t)find_best(type, n, 1) * bytes, bytes));
        free_part(&x);
    }
}

static void best_of_limits(MPI_Comm comm, int ranks)
{
    int64_t offsets[MOST_RANKS + 1], wide[4] = {INT64_MAX, INT64_MIN, -1, 0}, found = 0;
    double numbers[4] = {-INFINITY, 3, INFINITY, -5}, result = 0;
    float floats[4] = {1, 2, 3, NAN}, of_floats = 0;
    divide(0, 4, ranks, offsets);
    cf_mpi_array x = take_part(comm, wide, 4, offsets, CF_I64), y = take_part(comm, numbers, 4, offsets, CF_F64),
                 z = take_part(comm, floats, 4, offsets, CF_F32);
    CHECK_OK(cf_mpi_min(comm, &x, &found));
    CHECK(found == INT64_MIN);
    CHECK_OK(cf_mpi_max(comm, &x, &found));
    CHECK(found == INT64_MAX);
    CHECK_OK(cf_mpi_min(comm, &y, &result));
    CHECK(result < 0 && isinf(result));
    CHECK_OK(cf_mpi_max(comm, &y, &result));
    CHECK(result > 0 && isinf(result));
    CHECK_OK(cf_mpi_min(comm, &z, &of_floats));
    CHECK(isnan(of_floats));
    of_floats = 0;
    CHECK_OK(cf_mpi_max(comm, &z, &of_floats));
    CHECK(isnan(of_floats));
    free_part(&x);
    free_part(&y);
    free_part(&z);
}

/* ---- Errors ---- */

static void errors_of_arguments(void)
{
    int64_t offsets[MOST_RANKS + 1];
    int ranks = world_size(), last = ranks - 1;
    double result = 5;
    char text[128];
    divide(0, 100, ranks, offsets);
    fill_random(x_all, 100, CF_F64, 4);
    cf_mpi_array x = take_part(MPI_COMM_WORLD, x_all, 100, offsets, CF_F64), y = x;
    CHECK_FAILS(cf_mpi_sum(MPI_COMM_NULL, &x, &result, 0), CF_EINVAL, "cf_mpi_sum: comm is MPI_COMM_NULL");
    CHECK_FAILS(cf_mpi_sum(MPI_COMM_WORLD, NULL, &result, 0), CF_EINVAL, "rank 0: cf_mpi_sum: x is NULL");
    CHECK_FAILS(cf_mpi_dot(MPI_COMM_WORLD, &x, NULL, &result, 1), CF_EINVAL, "rank 0: cf_mpi_dot: y is NULL");
    CHECK_FAILS(cf_mpi_sum(MPI_COMM_WORLD, &x, &result, 6), CF_EINVAL, "cf_mpi_sum: flags is 0x6");
    CHECK_FAILS(cf_mpi_max(MPI_COMM_WORLD, &x, NULL), CF_EINVAL, "cf_mpi_max: result is NULL");

    /* One rank is wrong, and all of them get its text. */
    for (unsigned int flags = 0; flags < 2; flags++) {
        y.data = world_rank() == last ? NULL : x.data;
        snprintf(text, sizeof text, "rank %d: cf_mpi_sum: x.data is NULL on a rank with %d elements", last,
                 (int)(offsets[ranks] - offsets[last]));
        CHECK_FAILS(cf_mpi_sum(MPI_COMM_WORLD, &y, &result, flags), CF_EINVAL, text);
        y = x;
        y.type = world_rank() == last ? CF_PTR : CF_F64;
        snprintf(text, sizeof text, "rank %d: cf_mpi_dot: y has type ptr", last);
        CHECK_FAILS(cf_mpi_dot(MPI_COMM_WORLD, &x, &y, &result, flags), CF_EINVAL, text);
        y = x;
        y.device = world_rank() == last ? 99 : x.device;
        snprintf(text, sizeof text, "rank %d: cf_mpi_sum: x.device is 99", last);
        CHECK_FAILS(cf_mpi_sum(MPI_COMM_WORLD, &y, &result, flags), CF_EINVAL, text);
        y = x;
    }
    y.length = 0;
    CHECK_FAILS(cf_mpi_min(MPI_COMM_WORLD, &y, &result), CF_EINVAL, "and x.length is 0");
    y.offsets = (int64_t[MOST_RANKS + 1]){0};
    CHECK_FAILS(cf_mpi_min(MPI_COMM_WORLD, &y, &result), CF_EINVAL, "cf_mpi_min: x.length is 0");
    CHECK(fabs(result - 5) <= 0);
    free_part(&x);
}

/* Ranks disagree, and each is right for itself. */
static void errors_of_agreement(void)
{
    int64_t own[MOST_RANKS + 1], others[MOST_RANKS + 1];
    int ranks = world_size();
    double result = 5;
    if (ranks == 1)
        return;
    divide(0, 100, ranks, own);
    memcpy(others, own, sizeof own);
    others[1]--;
    fill_random(x_all, 100, CF_F64, 4);
    cf_mpi_array x = take_part(MPI_COMM_WORLD, x_all, 100, own, CF_F64);
    x.offsets = world_rank() ? own : others;
    for (unsigned int flags = 0; flags < 2; flags++)
        CHECK_FAILS(cf_mpi_sum(MPI_COMM_WORLD, &x, &result, flags), CF_EINVAL, "cf_mpi_sum: ranks 0 and 1 differ in a");
    CHECK_FAILS(cf_mpi_max(MPI_COMM_WORLD, &x, &result), CF_EINVAL, "cf_mpi_max: ranks 0 and ");
    x.offsets = own;
    CHECK_FAILS(cf_mpi_sum(MPI_COMM_WORLD, &x, &result, world_rank() == 0), CF_EINVAL, "cf_mpi_sum: ranks 0 and ");
    int status = world_rank() ? cf_mpi_max(MPI_COMM_WORLD, &x, &result) : cf_mpi_min(MPI_COMM_WORLD, &x, &result);
    CHECK(status == CF_EINVAL && strcmp(cf_last_error(), "rank 0 calls cf_mpi_min, and rank 1 calls cf_mpi_max") == 0);
    CHECK(fabs(result - 5) <= 0);
    free_part(&x);
}

static void errors_of_pairs(void)
{
    int64_t own[MOST_RANKS + 1], others[MOST_RANKS + 1];
    int ranks = world_size();
    double result = 5;
    divide(0, 100, ranks, own);
    divide(ranks == 1 ? 0 : 2, 100, ranks, others);
    fill_random(x_all, 100, CF_F64, 4);
    cf_mpi_array x = take_part(MPI_COMM_WORLD, x_all, 100, own, CF_F64),
                 y = take_part(MPI_COMM_WORLD, x_all, 100, others, CF_F64);
    if (ranks > 1)
        CHECK_FAILS(cf_mpi_dot(MPI_COMM_WORLD, &x, &y, &result, 0), CF_EINVAL, "cf_mpi_dot: y.offsets[1] is 0, and x.");
    others[ranks] = 99;
    CHECK_FAILS(cf_mpi_dot(MPI_COMM_WORLD, &x, &y, &result, 1), CF_EINVAL, "y.length is 100");
    others[0] = 1;
    CHECK_FAILS(cf_mpi_dot(MPI_COMM_WORLD, &x, &y, &result, 1), CF_EINVAL, "y.offsets[0] is 1 instead of 0");
    y.offsets = NULL;
    CHECK_FAILS(cf_mpi_dot(MPI_COMM_WORLD, &x, &y, &result, 1), CF_EINVAL, "y.offsets is NULL");
    free_part(&x);
    free_part(&y);
}

static void test_values(MPI_Comm comm, int ranks)
{
    for (size_t t = ranks < world_size() ? 3 : 0; t < sizeof types / sizeof *types; t++) {
        for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++)
            sums_of_all_divisions(comm, ranks, lengths[n], types[t]);
        best_of_all_divisions(comm, ranks, 1000, types[t]);
    }
    best_of_limits(comm, ranks);
}

/* The library's reductions come here: an agreement is on three numbers, and a result is one. More would be written
 * beside the library's variables. */
int MPI_Allreduce(const void *part, void *whole, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm)
{
    CHECK(count == 1 || count == 3);
    return PMPI_Allreduce(part, whole, count, type, operation, comm);
}

int main(void)
{
    CHECK_OK(cf_mpi_init());
    x_all = malloc(LENGTH * sizeof(double));
    y_all = malloc(LENGTH * sizeof(double));
    CHECK(x_all && y_all && world_size() <= MOST_RANKS);
    on_communicators(test_values);
    errors_of_arguments();
    errors_of_agreement();
    errors_of_pairs();
    free(x_all);
    free(y_all);
    MPI_Finalize();
    return 0;
}
