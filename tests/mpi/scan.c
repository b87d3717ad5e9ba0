/* scan.c - exclusive scans, compared with a loop on one rank. */
#include "mpi_arrays.h"

#include <math.h>

enum { LENGTH = 10007 };

static int64_t integers[LENGTH];
static double numbers[LENGTH], sums[LENGTH];

/* The part after the scan, compared with `wanted`. */
static void check_part(MPI_Comm comm, const cf_mpi_array *y, const void *wanted, int is_exact)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    int64_t begin = y->offsets[rank], count = y->offsets[rank + 1] - begin;
    size_t size = cf_type_size(y->type), bytes = (size_t)count * size;
    char *found = malloc(bytes + 1);
    CHECK(found);
    if (count)
        CHECK_OK(cf_mem_copy(found, y->data, bytes));
    const char *part = (const char *)wanted + (size_t)begin * size;
    for (int64_t i = 0; i < count && !is_exact; i++)
        CHECK(fabs(((double *)found)[i] - ((const double *)part)[i]) <= 1e-10);
    CHECK(!is_exact || !memcmp(found, part, bytes));
    free(found);
}

static void scan(MPI_Comm comm, int ranks, int64_t n, int way, cf_type type, const void *all, const void *wanted,
                 int is_exact)
{
    int64_t offsets[MOST_RANKS + 1];
    divide(way, n, ranks, offsets);
    cf_mpi_array x = take_part(comm, all, n, offsets, type), y = take_part(comm, all, n, offsets, type);
    CHECK_OK(cf_mpi_exclusive_scan(comm, &x, &y));
    check_part(comm, &y, wanted, is_exact);
    check_part(comm, &x, all, 1);
    CHECK_OK(cf_mpi_exclusive_scan(comm, &x, &x)); /* in place */
    check_part(comm, &x, wanted, is_exact);
    free_part(&x);
    free_part(&y);
}

static void scan_integers(MPI_Comm comm, int ranks, int64_t n, int way)
{
    static int64_t wanted[LENGTH];
    static int32_t narrow[LENGTH], of_narrow[LENGTH];
    uint64_t sum = 0;
    fill_random(integers, n, CF_I64, 1);
    for (int64_t i = 0; i < n; i++) {
        wanted[i] = (int64_t)sum;
        narrow[i] = (int32_t)(uint32_t)(uint64_t)integers[i];
        of_narrow[i] = (int32_t)(uint32_t)sum;
        sum += (uint64_t)integers[i];
    }
    scan(comm, ranks, n, way, CF_I64, integers, wanted, 1);
    scan(comm, ranks, n, way, CF_I32, narrow, of_narrow, 1);
}

/* Small integers as floats have exact sums. */
static void scan_floats(MPI_Comm comm, int ranks, int64_t n, int way)
{
    static float narrow[LENGTH], of_narrow[LENGTH];
    uint64_t seed = 7;
    double sum = 0;
    int total = 0;
    for (int64_t i = 0; i < n; i++) {
        sums[i] = sum;
        of_narrow[i] = (float)total;
        numbers[i] = (double)(random_bits(&seed) % 2001) / 1000 - 1;
        narrow[i] = (float)(i % 7) - 3;
        sum += numbers[i];
        total += (int)(i % 7) - 3;
    }
    scan(comm, ranks, n, way, CF_F64, numbers, sums, 0);
    scan(comm, ranks, n, way, CF_F32, narrow, of_narrow, 1);
}

/* Of elements that are not negative, the sum before a part is, bit for bit, the sum up to the last element of the parts
 * before it, and no sum is less than an earlier one. */
static void scan_never_falls(MPI_Comm comm, int ranks, int64_t n, int way)
{
    static float all[LENGTH], sums_before[LENGTH];
    int64_t offsets[MOST_RANKS + 1];
    uint64_t seed = 11;
    float before = 0, up_to_last = 0;
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int64_t i = 0; i < n; i++)
        all[i] = i % 8 ? 0 : (float)(random_bits(&seed) % 1000003) / 977;
    divide(way, n, ranks, offsets);
    cf_mpi_array x = take_part(comm, all, n, offsets, CF_F32);
    CHECK_OK(cf_mpi_exclusive_scan(comm, &x, &x));
    int64_t begin = x.offsets[rank], count = x.offsets[rank + 1] - begin;
    if (count) {
        CHECK_OK(cf_mem_copy(sums_before, x.data, (size_t)count * sizeof *sums_before));
        up_to_last = sums_before[count - 1] + all[begin + count - 1];
    }
    for (int64_t i = 1; i < count; i++)
        CHECK(sums_before[i] >= sums_before[i - 1] && (all[begin + i - 1] > 0 || sums_before[i] == sums_before[i - 1]));
    MPI_Exscan(&up_to_last, &before, 1, MPI_FLOAT, MPI_MAX, comm);
    CHECK(!count || sums_before[0] == before);
    free_part(&x);
}

/* Another rank's error leaves x as it was, also in place. */
static void errors(void)
{
    int64_t offsets[MOST_RANKS + 1];
    int ranks = world_size(), last = ranks - 1;
    char text[128];
    divide(0, 100, ranks, offsets);
    cf_mpi_array x = take_part(MPI_COMM_WORLD, integers, 100, offsets, CF_I64), y = x;
    y.type = world_rank() == last ? CF_I32 : CF_I64;
    snprintf(text, sizeof text, "rank %d: cf_mpi_exclusive_scan: y has type i32, and x has type i64", last);
    CHECK_FAILS(cf_mpi_exclusive_scan(MPI_COMM_WORLD, &x, &y), CF_EINVAL, text);
    CHECK_FAILS(cf_mpi_exclusive_scan(MPI_COMM_WORLD, &x, NULL), CF_EINVAL, "cf_mpi_exclusive_scan: y is NULL");
    y = x;
    y.data = (char *)x.data + 1;
    if (world_rank() == last)
        CHECK(cf_mpi_exclusive_scan(MPI_COMM_WORLD, &x, &y) == CF_EINVAL);
    else
        CHECK(cf_mpi_exclusive_scan(MPI_COMM_WORLD, &x, &x) == CF_EINVAL);
    snprintf(text, sizeof text, "rank %d: cf_mpi_exclusive_scan: y.data = 0x", last);
    CHECK(strstr(cf_last_error(), text) == cf_last_error());
    y = x;
    y.offsets = NULL;
    CHECK(cf_mpi_exclusive_scan(MPI_COMM_WORLD, &x, world_rank() == last ? &y : &x) == CF_EINVAL);
    check_part(MPI_COMM_WORLD, &x, integers, 1);
    free_part(&x);
}

static void test_values(MPI_Comm comm, int ranks)
{
    scan_integers(comm, ranks, 0, 0);
    scan_floats(comm, ranks, 0, 0);
    scan_integers(comm, ranks, 5, 0);
    scan_floats(comm, ranks, 5, 0);
    for (int way = 0; way < DIVISIONS; way++) {
        scan_integers(comm, ranks, LENGTH, way);
        scan_floats(comm, ranks, LENGTH, way);
        scan_never_falls(comm, ranks, LENGTH, way);
    }
}

int main(void)
{
    CHECK_OK(cf_mpi_init());
    on_communicators(test_values);
    errors();
    MPI_Finalize();
    return 0;
}
