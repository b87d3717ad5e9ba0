/* null.c - a NULL for each pointer of a function: the message names the function and the argument. */
#include "mpi_check.h"

enum { LENGTH = 8 };

static int64_t offsets[16];
static double elements[LENGTH], result[LENGTH];

#define CHECK_NULL(call, text) CHECK_FAILS(call, CF_EINVAL, text " is NULL")

static void of_plans(const cf_mpi_array *x)
{
    cf_mpi_plan *plan = NULL;
    cf_mpi_array array = *x, bare = *x;
    int64_t index[] = {0, LENGTH - 1};
    bare.offsets = NULL;
    CHECK_NULL(cf_mpi_plan_create(NULL, MPI_COMM_WORLD, offsets, index, 2), "cf_mpi_plan_create: plan");
    CHECK_NULL(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, NULL, index, 2), "cf_mpi_plan_create: offsets");
    CHECK_NULL(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, NULL, 2), "cf_mpi_plan_create: index");
    CHECK(!plan);
    CHECK_OK(cf_mpi_plan_destroy(NULL));
    CHECK_NULL(cf_mpi_gather(NULL, x, result), "cf_mpi_gather: plan");
    CHECK_NULL(cf_mpi_scatter(NULL, result, &array), "cf_mpi_scatter: plan");
    CHECK_OK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, index, 2));
    CHECK_NULL(cf_mpi_gather(plan, NULL, result), "cf_mpi_gather: source");
    CHECK_NULL(cf_mpi_gather(plan, &bare, result), "cf_mpi_gather: source.offsets");
    CHECK_NULL(cf_mpi_gather(plan, x, NULL), "cf_mpi_gather: res");
    CHECK_NULL(cf_mpi_scatter(plan, NULL, &array), "cf_mpi_scatter: source");
    CHECK_NULL(cf_mpi_scatter(plan, result, NULL), "cf_mpi_scatter: res");
    array.data = NULL;
    if (offsets[1])
        CHECK_NULL(cf_mpi_gather(plan, &array, result), "cf_mpi_gather: source.data");
    CHECK_OK(cf_mpi_plan_destroy(plan));
}

static void of_arrays(const cf_mpi_array *x)
{
    cf_mpi_array y = *x;
    int64_t counts[2];
    const double bound = 1;
    CHECK_NULL(cf_mpi_sum(MPI_COMM_WORLD, NULL, result, 0), "cf_mpi_sum: x");
    CHECK_NULL(cf_mpi_sum(MPI_COMM_WORLD, x, NULL, 0), "cf_mpi_sum: result");
    CHECK_NULL(cf_mpi_sum(MPI_COMM_WORLD, x, NULL, CF_MPI_REPRODUCIBLE), "cf_mpi_sum: result");
    CHECK_NULL(cf_mpi_dot(MPI_COMM_WORLD, NULL, x, result, 0), "cf_mpi_dot: x");
    CHECK_NULL(cf_mpi_dot(MPI_COMM_WORLD, x, NULL, result, 0), "cf_mpi_dot: y");
    CHECK_NULL(cf_mpi_dot(MPI_COMM_WORLD, x, x, NULL, 0), "cf_mpi_dot: result");
    CHECK_NULL(cf_mpi_min(MPI_COMM_WORLD, NULL, result), "cf_mpi_min: x");
    CHECK_NULL(cf_mpi_min(MPI_COMM_WORLD, x, NULL), "cf_mpi_min: result");
    CHECK_NULL(cf_mpi_max(MPI_COMM_WORLD, NULL, result), "cf_mpi_max: x");
    CHECK_NULL(cf_mpi_max(MPI_COMM_WORLD, x, NULL), "cf_mpi_max: result");
    CHECK_NULL(cf_mpi_exclusive_scan(MPI_COMM_WORLD, NULL, &y), "cf_mpi_exclusive_scan: x");
    CHECK_NULL(cf_mpi_exclusive_scan(MPI_COMM_WORLD, x, NULL), "cf_mpi_exclusive_scan: y");
    CHECK_NULL(cf_mpi_histogram(MPI_COMM_WORLD, NULL, counts, 2, &bound, &bound), "cf_mpi_histogram: x");
    CHECK_NULL(cf_mpi_histogram(MPI_COMM_WORLD, x, NULL, 2, &bound, &bound), "cf_mpi_histogram: counts");
    CHECK_NULL(cf_mpi_histogram(MPI_COMM_WORLD, x, counts, 2, NULL, &bound), "cf_mpi_histogram: lower");
    CHECK_NULL(cf_mpi_histogram(MPI_COMM_WORLD, x, counts, 2, &bound, NULL), "cf_mpi_histogram: upper");
    y.offsets = NULL;
    CHECK_NULL(cf_mpi_sum(MPI_COMM_WORLD, &y, result, 0), "cf_mpi_sum: x.offsets");
}

static void of_halos(void)
{
    int ranks[1] = {world_size()}, periodic[1] = {1};
    int64_t extents[1] = {2};
    cf_mpi_halo *halo = NULL;
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, ranks, periodic, 0, &line);
    CHECK_NULL(cf_mpi_halo_create(NULL, line, CF_F64, extents, 1, 0), "cf_mpi_halo_create: halo");
    CHECK_NULL(cf_mpi_halo_create(&halo, line, CF_F64, NULL, 1, 0), "cf_mpi_halo_create: extents");
    CHECK(!halo);
    CHECK_OK(cf_mpi_halo_destroy(NULL));
    CHECK_NULL(cf_mpi_halo_start(NULL, NULL, elements), "cf_mpi_halo_start: halo");
    CHECK_NULL(cf_mpi_halo_finish(NULL), "cf_mpi_halo_finish: halo");
    CHECK_OK(cf_mpi_halo_create(&halo, line, CF_F64, extents, 1, 0));
    CHECK_OK(cf_mpi_halo_start(halo, NULL, NULL));
    CHECK_NULL(cf_mpi_halo_finish(halo), "cf_mpi_halo_start: array");
    CHECK_OK(cf_mpi_halo_destroy(halo));
    MPI_Comm_free(&line);
}

static void of_kernels(void)
{
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, "axpy_f64");
    void *args[4] = {NULL};
    CHECK_NULL(cf_mpi_map(MPI_COMM_WORLD, NULL, args), "cf_mpi_map: kernel");
    CHECK_NULL(cf_mpi_map(MPI_COMM_WORLD, kernel, NULL), "cf_mpi_map: args");
    CHECK_NULL(cf_mpi_map(MPI_COMM_WORLD, kernel, args), "cf_mpi_map: args[3]");
}

int main(void)
{
    CHECK_OK(cf_mpi_init());
    CHECK_NULL(cf_mpi_aware(MPI_COMM_WORLD, NULL), "cf_mpi_aware: aware");
    CHECK_NULL(cf_mpi_split(LENGTH, 1, NULL), "cf_mpi_split: offsets");
    CHECK_OK(cf_device_use(CF_HOST));
    CHECK_OK(cf_mpi_split(LENGTH, world_size(), offsets));
    const cf_mpi_array x = {LENGTH, offsets, elements, CF_F64, CF_HOST};
    of_plans(&x);
    of_arrays(&x);
    of_halos();
    of_kernels();
    MPI_Finalize();
    return 0;
}
