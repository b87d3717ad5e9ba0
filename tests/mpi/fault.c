/* fault.c - a GPU of one rank that has failed: all ranks get the error, and none waits. */
#include "mpi_check.h"

#include <cuferry/kernels.h>

enum { COUNT = 100 };

/* A kernel of the last rank writes to an address that no GPU has. */
static void make_fault(void *memory)
{
    int64_t *nowhere = (int64_t *)(uintptr_t)4096;
    if (world_rank() == world_size() - 1)
        CHECK(cf_copy_i64_async(NULL, memory, nowhere, 1) || cf_stream_sync(NULL));
}

/* Each call returns the error; it does not depend on the calls before. */
static void all_ranks_get_the_error(cf_mpi_plan *plan, cf_mpi_array *array, void *res)
{
    char text[32];
    int last = world_size() - 1, status[2] = {0};
    snprintf(text, sizeof text, "rank %d: ", last);
    for (int i = 0; i < 3; i++) {
        status[0] = cf_mpi_gather(plan, array, res);
        CHECK(status[0] < 0 && strstr(cf_last_error(), text) == cf_last_error());
        MPI_Allreduce(&status[0], &status[1], 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        CHECK(status[0] == status[1]);
        CHECK(cf_mpi_scatter(plan, res, array) == status[0]);
    }
}

int main(void)
{
    int64_t index[COUNT], *offsets = NULL;
    void *res = NULL;
    cf_mpi_plan *plan = NULL;
    cf_mpi_array array = {.type = CF_F64};
    CHECK_OK(cf_mpi_init());
    array.length = (int64_t)COUNT * world_size();
    array.offsets = offsets = calloc((size_t)world_size() + 1, sizeof *offsets);
    CHECK(offsets);
    CHECK_OK(cf_mpi_split(array.length, world_size(), offsets));
    for (int i = 0; i < COUNT; i++)
        index[i] = (world_rank() + 1) % world_size() * COUNT + i;
    CHECK_OK(cf_device_current(&array.device));
    CHECK_OK(cf_mem_alloc(&array.data, COUNT * sizeof(double)));
    CHECK_OK(cf_mem_alloc(&res, COUNT * sizeof(double)));
    CHECK_OK(cf_mem_fill(array.data, 0, COUNT * sizeof(double)));
    CHECK_OK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, index, COUNT));
    CHECK_OK(cf_mpi_gather(plan, &array, res));
    if (array.device != CF_HOST) {
        make_fault(array.data);
        all_ranks_get_the_error(plan, &array, res);
    }
    MPI_Finalize();
    free(offsets);
    return 0;
}
