/* gather.c - gathers elements of an array that is distributed over all ranks; compares with a gather on one rank.
 *
 * usage: mpiexec -n RANKS gather [M [N]]       N indices into M elements; 2^20 and 2^18 without arguments */
#include <stdint.h>

#include <cuferry/kernels.h>

#include "check.h"

/* The values of element i of the array, and of index i. */
static float element_at(int64_t i)
{
    return (float)(i % 16777213);
}

static int64_t index_at(int64_t i, int64_t M)
{
    return (int64_t)(((uint64_t)i * 0x9E3779B97F4A7C15u ^ (uint64_t)i << 21) >> 1) % M;
}

/* Makes the elements [first, last) of the array, in memory of the device. */
static float *make_elements(int64_t first, int64_t last)
{
    size_t bytes = (size_t)(last - first) * sizeof(float);
    float *host = new_host_array(bytes), *elements = new_array(bytes);
    for (int64_t i = first; i < last; i++)
        host[i - first] = element_at(i);
    CHECK(cf_mem_copy(elements, host, bytes));
    free(host);
    return elements;
}

static int64_t *make_index(int64_t first, int64_t last, int64_t M)
{
    int64_t *index = new_host_array((size_t)(last - first) * sizeof *index);
    for (int64_t i = first; i < last; i++)
        index[i - first] = index_at(i, M);
    return index;
}

/* Returns this rank's results, in host memory. `elements` and `indices` are the offsets of all ranks. */
static float *gather(int rank, int ranks, const int64_t *elements, const int64_t *indices)
{
    int64_t M = elements[ranks], count = indices[rank + 1] - indices[rank];
    int64_t *index = make_index(indices[rank], indices[rank + 1], M);
    float *host = new_host_array((size_t)count * sizeof *host), *res = new_array((size_t)count * sizeof *res);
    cf_mpi_array source = {.length = M, .offsets = elements, .type = CF_F32};
    cf_mpi_plan *plan = NULL;
    CHECK(cf_device_current(&source.device));
    source.data = make_elements(elements[rank], elements[rank + 1]);
    CHECK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, elements, index, count));
    CHECK(cf_mpi_gather(plan, &source, res));
    CHECK(cf_mem_copy(host, res, (size_t)count * sizeof *res));
    CHECK(cf_mpi_plan_destroy(plan));
    CHECK(cf_mem_free(source.data));
    CHECK(cf_mem_free(res));
    free(index);
    return host;
}

/* Returns how many of this rank's results are equal to those of a gather from the whole array. */
static int64_t count_matches(int64_t M, int64_t first, int64_t last, const float *got)
{
    int64_t count = last - first, matches = 0, *index = make_index(first, last, M);
    float *source = make_elements(0, M), *res = new_host_array((size_t)count * sizeof *res);
    CHECK(cf_gather(source, index, res, count, M));
    for (int64_t i = 0; i < count; i++)
        matches += res[i] == got[i];
    CHECK(cf_mem_free(source));
    free(index);
    free(res);
    return matches;
}

int main(int argc, char **argv)
{
    int rank = 0, ranks = 0;
    int64_t M = read_argument(argc, argv, 1, 1 << 20), N = read_argument(argc, argv, 2, 1 << 18);
    int64_t matches = 0, all = 0;
    CHECK(cf_mpi_init());
    CHECK(cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int64_t *elements = new_host_array(2 * sizeof *elements * ((size_t)ranks + 1)), *indices = elements + ranks + 1;
    CHECK(cf_mpi_split(M, ranks, elements));
    CHECK(cf_mpi_split(N, ranks, indices));
    float *res = gather(rank, ranks, elements, indices);
    /* One rank after the other, because each of them makes the whole array. */
    for (int turn = 0; turn < ranks; turn++) {
        if (turn == rank)
            matches = count_matches(M, indices[rank], indices[rank + 1], res);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Reduce(&matches, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%lld of %lld match\n", (long long)all, (long long)N);
    free(res);
    free(elements);
    MPI_Finalize();
    return rank == 0 && all != N;
}
