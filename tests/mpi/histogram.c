/* histogram.c - histograms, compared with those of the whole array on one rank. */
#include "mpi_arrays.h"

#include <cuferry/kernels.h>

enum { LENGTH = 20011, BINS = 13 };

static double numbers[LENGTH];
static int32_t integers[LENGTH];

static void count(MPI_Comm comm, int ranks, int64_t n, int way)
{
    int64_t offsets[MOST_RANKS + 1], wanted[BINS], found[BINS];
    double lower = -0.75, upper = 0.5;
    int32_t low = -100, high = 77;
    divide(way, n, ranks, offsets);
    cf_mpi_array x = take_part(comm, numbers, n, offsets, CF_F64), y = take_part(comm, integers, n, offsets, CF_I32);
    memset(found, 0x5a, sizeof found);
    CHECK_OK(cf_mpi_histogram(comm, &x, found, BINS, &lower, &upper));
    CHECK_OK(cf_histogram_f64_i64(numbers, lower, upper, wanted, n, BINS));
    CHECK(!memcmp(found, wanted, sizeof wanted));
    memset(found, 0x5a, sizeof found);
    CHECK_OK(cf_mpi_histogram(comm, &y, found, BINS, &low, &high));
    CHECK_OK(cf_histogram_i32_i64(integers, low, high, wanted, n, BINS));
    CHECK(!memcmp(found, wanted, sizeof wanted));
    free_part(&x);
    free_part(&y);
}

static void errors(void)
{
    int64_t offsets[MOST_RANKS + 1], counts[BINS] = {42};
    int ranks = world_size(), last = ranks - 1, is_last = world_rank() == last;
    double lower = 0, upper = 1, other = 2;
    char text[128];
    divide(0, 100, ranks, offsets);
    cf_mpi_array x = take_part(MPI_COMM_WORLD, numbers, 100, offsets, CF_F64);
    CHECK_FAILS(cf_mpi_histogram(MPI_COMM_WORLD, &x, counts, 0, &lower, &upper), CF_EINVAL,
                "rank 0: cf_mpi_histogram: bins is 0");
    CHECK_FAILS(cf_mpi_histogram(MPI_COMM_WORLD, &x, NULL, BINS, &lower, &upper), CF_EINVAL, "counts is NULL");
    CHECK_FAILS(cf_mpi_histogram(MPI_COMM_WORLD, &x, counts, BINS, &upper, &lower), CF_EINVAL, "lower < upper");
    CHECK_FAILS(cf_mpi_histogram(MPI_COMM_WORLD, &x, counts, INT64_MAX, &lower, &upper), CF_ENOMEM, "no memory");
    snprintf(text, sizeof text, "rank %d: cf_mpi_histogram: upper is NULL", last);
    CHECK_FAILS(cf_mpi_histogram(MPI_COMM_WORLD, &x, counts, BINS, &lower, is_last ? NULL : &upper), CF_EINVAL, text);
    if (ranks > 1)
        CHECK_FAILS(cf_mpi_histogram(MPI_COMM_WORLD, &x, counts, BINS, &lower, is_last ? &other : &upper), CF_EINVAL,
                    "cf_mpi_histogram: ranks 0 and ");
    CHECK(counts[0] == 42);
    free_part(&x);
}

static void test_values(MPI_Comm comm, int ranks)
{
    count(comm, ranks, 0, 0);
    count(comm, ranks, 1, 0);
    for (int way = 0; way < DIVISIONS; way++)
        count(comm, ranks, LENGTH, way);
}

int main(void)
{
    uint64_t seed = 1;
    CHECK_OK(cf_mpi_init());
    for (int i = 0; i < LENGTH; i++) {
        numbers[i] = (double)(random_bits(&seed) % 4001) / 2000 - 1;
        integers[i] = (int32_t)(random_bits(&seed) % 301) - 150;
    }
    on_communicators(test_values);
    errors();
    MPI_Finalize();
    return 0;
}
