/* memory.c - each allocation fails on one rank in turn: all ranks get the same status, and none waits for it. The
 * linker leads the allocations of the library to the functions here. */
#include "mpi_arrays.h"

enum { LENGTH = 140000, COUNT = 100 };

/* ---- Allocations that fail ---- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
int __real_cf_mem_alloc(void **pointer, size_t bytes);
int __real_cf_mem_alloc_pinned(void **pointer, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
int __wrap_cf_mem_alloc(void **pointer, size_t bytes);
int __wrap_cf_mem_alloc_pinned(void **pointer, size_t bytes);

/* Allocations of this thread before the one that fails; -1: none will fail. */
static _Thread_local int left = -1;

static int is_failing(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return is_failing() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_failing() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return is_failing() ? NULL : __real_realloc(memory, bytes);
}

int __wrap_cf_mem_alloc(void **pointer, size_t bytes)
{
    return is_failing() ? cf_report(CF_ENOMEM, "no memory in this test") : __real_cf_mem_alloc(pointer, bytes);
}

int __wrap_cf_mem_alloc_pinned(void **pointer, size_t bytes)
{
    return is_failing() ? cf_report(CF_ENOMEM, "no memory in this test") : __real_cf_mem_alloc_pinned(pointer, bytes);
}

/* ---- Calls of the library ---- */

static int64_t offsets[MOST_RANKS + 1], list[COUNT];
static cf_mpi_array x, y;
static double *part;

static int plan(MPI_Comm comm)
{
    cf_mpi_plan *made = NULL;
    int status = cf_mpi_plan_create(&made, comm, offsets, list, COUNT / world_size());
    CHECK(!status == !!made);
    if (!status)
        status = cf_mpi_gather(made, &x, part);
    if (!status)
        status = cf_mpi_scatter(made, part, &x);
    CHECK_OK(cf_mpi_plan_destroy(made));
    return status;
}

static int sum(MPI_Comm comm)
{
    double result = 0;
    return cf_mpi_sum(comm, &x, &result, 0);
}

static int dot(MPI_Comm comm)
{
    double result = 0;
    return cf_mpi_dot(comm, &x, &y, &result, CF_MPI_REPRODUCIBLE);
}

static int least(MPI_Comm comm)
{
    double result = 0;
    return cf_mpi_min(comm, &x, &result);
}

static int scan(MPI_Comm comm)
{
    return cf_mpi_exclusive_scan(comm, &x, &y);
}

static int histogram(MPI_Comm comm)
{
    int64_t counts[10];
    double lower = 0, upper = 1;
    return cf_mpi_histogram(comm, &x, counts, 10, &lower, &upper);
}

static int map(MPI_Comm comm)
{
    int64_t n = LENGTH;
    double a = 2;
    return cf_mpi_map(comm, cf_kernel_find(&cf_registry, "axpy_f64"), (void *[]){&a, &x, &y, &n});
}

static int halo(MPI_Comm comm)
{
    int dims[1] = {world_size()}, periods[1] = {1};
    int64_t extents[1] = {COUNT};
    cf_mpi_halo *made = NULL;
    MPI_Comm line;
    MPI_Cart_create(comm, 1, dims, periods, 0, &line);
    int status = cf_mpi_halo_create(&made, line, CF_F64, extents, 1, 0);
    CHECK(!status == !!made);
    if (!status) {
        CHECK_OK(cf_mpi_halo_start(made, NULL, part));
        status = cf_mpi_halo_finish(made);
    }
    CHECK_OK(cf_mpi_halo_destroy(made));
    MPI_Comm_free(&line);
    return status;
}

static int device(MPI_Comm comm)
{
    return cf_mpi_device(comm, NULL, NULL, 0);
}

/* ---- Each allocation in turn ---- */

/* Calls it with a new communicator while allocation number `fails` of the last rank fails. Returns 0 on all ranks if
 * there were fewer. */
static int try_call(int (*call)(MPI_Comm comm), int fails)
{
    int ranges[2], statuses[2], is_last = world_rank() == world_size() - 1;
    char text[32];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    left = is_last ? fails : -1;
    int status = call(comm), is_done = !is_last || left < 0;
    left = -1;
    CHECK(status == CF_OK || status == CF_ENOMEM);
    statuses[0] = status;
    statuses[1] = -status;
    MPI_Allreduce(statuses, ranges, 2, MPI_INT, MPI_MIN, comm);
    CHECK(ranges[0] == -ranges[1]);
    snprintf(text, sizeof text, "rank %d: ", world_size() - 1);
    CHECK(!status || strstr(cf_last_error(), text) == cf_last_error());
    MPI_Allreduce(&is_done, ranges, 1, MPI_INT, MPI_MIN, comm);
    MPI_Comm_free(&comm);
    return ranges[0];
}

static void each_allocation_fails(int (*call)(MPI_Comm comm))
{
    int fails = 0;
    CHECK_OK(call(MPI_COMM_WORLD)); /* loads the kernels */
    while (try_call(call, fails))
        fails++;
    CHECK(fails > 0);
}

int main(void)
{
    CHECK_OK(cf_mpi_init());
    CHECK_OK(cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0));
    CHECK_OK(cf_mpi_split(LENGTH, world_size(), offsets));
    for (int i = 0; i < COUNT; i++)
        list[i] = (7919 * (i + COUNT * world_rank())) % LENGTH;
    size_t bytes = (size_t)(offsets[world_rank() + 1] - offsets[world_rank()]) * sizeof(double);
    x = y = (cf_mpi_array){.length = LENGTH, .offsets = offsets, .type = CF_F64, .device = current_device()};
    x.data = alloc_on(x.device, bytes);
    y.data = alloc_on(x.device, bytes);
    part = alloc_on(x.device, (COUNT + 2) * sizeof *part);
    CHECK_OK(cf_mem_fill(x.data, 0, bytes));
    CHECK_OK(cf_mem_fill(y.data, 0, bytes));
    CHECK_OK(cf_mem_fill(part, 0, (COUNT + 2) * sizeof *part));
    int (*const calls[])(MPI_Comm) = {plan, sum, dot, least, scan, histogram, map, halo, device};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        each_allocation_fails(calls[i]);
    CHECK_OK(cf_mem_free(x.data));
    CHECK_OK(cf_mem_free(y.data));
    CHECK_OK(cf_mem_free(part));
    MPI_Finalize();
    return 0;
}
