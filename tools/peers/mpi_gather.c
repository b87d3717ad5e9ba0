/* mpi_gather.c - compares a gather over several GPUs with one on a single GPU that has the whole array.
 *
 * usage: mpiexec -n RANKS peers-mpi-gather [LOG2_LENGTH [LOG2_INDICES [LOCAL]]]
 *
 * The array has 2^LOG2_LENGTH floats (default 28), and each rank has 2^LOG2_INDICES random indices (26). LOCAL percent
 * of these (90) refer to the rank's own elements, the others to other ranks' elements; if LOCAL is 100 / RANKS, they
 * are uniformly random. Prints medians of the slowest rank, and a ratio: the elements per second of all ranks divided
 * by those of rank 0 alone with the same indices. */
#include <stdio.h>
#include <stdlib.h>

#include <cuferry/mpi.h>

#include "mpi_peer.h"

enum { REPETITIONS = 11 };

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15;
    uint64_t z = (*state ^ *state >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Returns random indices. `local` percent of them are in [begin, end), the others outside, if there are elements
 * outside. */
static int64_t *make_index(int64_t count, int64_t begin, int64_t end, int64_t length, double local, uint64_t seed)
{
    int64_t *index = alloc_host((size_t)count * sizeof *index), own = end - begin;
    for (int64_t i = 0; i < count; i++) {
        int is_local = (double)(next_random(&seed) % 100000) < 1000 * local;
        uint64_t random = next_random(&seed) >> 1;
        index[i] = begin + (int64_t)(random % (uint64_t)own);
        if (!is_local && own < length)
            index[i] = (end + (int64_t)(random % (uint64_t)(length - own))) % length;
    }
    return index;
}

static float element_at(int64_t i)
{
    return (float)(i % 16777213);
}

static float *make_source(int64_t begin, int64_t end)
{
    size_t bytes = (size_t)(end - begin) * sizeof(float);
    float *host = alloc_host(bytes), *source = alloc_device(bytes);
    for (int64_t i = begin; i < end; i++)
        host[i - begin] = element_at(i);
    check(cf_mem_copy(source, host, bytes));
    free(host);
    return source;
}

static void check_result(const float *res, const int64_t *index, int64_t count)
{
    float *host = alloc_host((size_t)count * sizeof *host);
    check(cf_mem_copy(host, res, (size_t)count * sizeof *host));
    for (int64_t i = 0; i < count; i++)
        if (host[i] != element_at(index[i]))
            fail("a wrong element");
    free(host);
}

/* Makes a plan and gathers. Stores the seconds of planning in *planning and returns those of a gather. */
static double measure(MPI_Comm comm, const int64_t *offsets, int64_t length, const int64_t *index, int64_t count,
                      double *planning)
{
    int rank = 0, device = 0;
    double times[REPETITIONS];
    cf_mpi_plan *plan = NULL;
    MPI_Comm_rank(comm, &rank);
    check(cf_device_current(&device));
    cf_mpi_array source = {length, offsets, make_source(offsets[rank], offsets[rank + 1]), CF_F32, device};
    float *res = alloc_device((size_t)count * sizeof *res);
    check(cf_mem_fill(res, 0xff, (size_t)count * sizeof *res));
    MPI_Barrier(comm);
    double begin = MPI_Wtime();
    check(cf_mpi_plan_create(&plan, comm, offsets, index, count));
    *planning = MPI_Wtime() - begin;
    check(cf_mpi_gather(plan, &source, res)); /* allocates the buffers */
    for (int i = 0; i < REPETITIONS; i++) {
        MPI_Barrier(comm);
        begin = MPI_Wtime();
        check(cf_mpi_gather(plan, &source, res));
        times[i] = MPI_Wtime() - begin;
    }
    check_result(res, index, count);
    check(cf_mpi_plan_destroy(plan));
    check(cf_mem_free(source.data));
    check(cf_mem_free(res));
    return median_of_slowest(comm, times, REPETITIONS);
}

int main(int argc, char **argv)
{
    int64_t length = (int64_t)1 << (argc > 1 ? atoi(argv[1]) : 28),
            count = (int64_t)1 << (argc > 2 ? atoi(argv[2]) : 26);
    int rank = 0, ranks = 0;
    double local = argc > 3 ? atof(argv[3]) : 90, one = 0, all = 0, planning_one = 0, planning = 0;
    char reason[512];
    check(cf_mpi_init());
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check(cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0));
    check(cf_mpi_transport(MPI_COMM_WORLD, NULL, reason, sizeof reason));
    int64_t *offsets = alloc_host(((size_t)ranks + 1) * sizeof *offsets);
    const int64_t whole[2] = {0, length};
    check(cf_mpi_split(length, ranks, offsets));
    int64_t *index = make_index(count, offsets[rank], offsets[rank + 1], length, local, (uint64_t)rank + 1);
    if (rank == 0)
        one = measure(MPI_COMM_SELF, whole, length, index, count, &planning_one);
    MPI_Barrier(MPI_COMM_WORLD);
    all = measure(MPI_COMM_WORLD, offsets, length, index, count, &planning);
    if (rank == 0)
        printf("%s\none rank: %.3f ms, plan %.1f ms; %d ranks: %.3f ms, plan %.1f ms; throughput %.2f of one rank\n",
               reason, one * 1e3, planning_one * 1e3, ranks, all * 1e3, planning * 1e3, ranks * one / all);
    free(index);
    free(offsets);
    MPI_Finalize();
    return 0;
}
