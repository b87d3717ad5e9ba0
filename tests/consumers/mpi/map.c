/* map.c - calls a kernel on points that are distributed over all ranks; compares with a call for all on one rank.
 *
 * usage: mpiexec -n RANKS map [N]       100003 points without an argument */
#include <string.h>

#include "check.h"
#include "sphere.h"

enum { COORDINATES = 3 };

/* Makes the points [first, first + count), in host memory. */
static float *make_points(int64_t first, int64_t count)
{
    float *points = new_host_array(sizeof *points * COORDINATES * (size_t)count);
    for (int64_t i = 0; i < COORDINATES * count; i++)
        points[i] = (float)((COORDINATES * first + i) * 7919 % 1009 + 1);
    return points;
}

int main(int argc, char **argv)
{
    int n = (int)read_argument(argc, argv, 1, 100003), rank = 0, ranks = 0;
    float part = 0.25F;
    CHECK(cf_mpi_init());
    CHECK(cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int64_t *offsets = new_host_array(sizeof *offsets * ((size_t)ranks + 1));
    CHECK(cf_mpi_split(n, ranks, offsets));
    int64_t first = offsets[rank], count = offsets[rank + 1] - first;
    float *own = make_points(first, count), *all = make_points(0, n);

    cf_mpi_array points = {.length = n, .offsets = offsets, .data = own, .type = CF_F32, .device = CF_HOST};
    CHECK(cf_mpi_map(MPI_COMM_WORLD, cf_kernel_find(&sphere_registry, "approach"), (void *[]){&points, &part, &n}));
    CHECK(sphere_approach(all, part, n));

    long long matches = 0, sum = 0;
    for (int64_t i = 0; i < count; i++)
        matches += !memcmp(own + COORDINATES * i, all + COORDINATES * (first + i), COORDINATES * sizeof *own);
    MPI_Reduce(&matches, &sum, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%lld of %d points match\n", sum, n);
    free(own);
    free(all);
    free(offsets);
    MPI_Finalize();
    return rank == 0 && sum != n;
}
