/* mpi_jacobi.c - measures Jacobi's method with halo exchanges. The inside is computed during the exchange of the faces,
 * the outer layers after it.
 *
 * usage: mpiexec -n RANKS peers-mpi-jacobi [N [STEPS]]     N^3 cells per rank; 128 and 20 without arguments
 *        mpiexec -n RANKS peers-mpi-jacobi points          measured points for mpi_model.py
 *
 * The grid is periodic, so that each rank has neighbours on all sides. Prints the median time of a step of the slowest
 * rank, after the cells of one step have been compared with a loop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry/mpi.h>

#include "mpi_jacobi_kernels.h"
#include "mpi_peer.h"

enum { DIMS = 3, FACES = 6, RUNS = 15 };

struct grid {
    MPI_Comm comm;
    cf_stream stream;
    cf_mpi_halo *halo;
    int64_t extents[DIMS], sides[DIMS];
    int ranks[DIMS], place[DIMS]; /* number of ranks along each axis, and this rank's position */
    double *u, *v;
};

static struct jacobi_box make_box(const struct grid *grid, const int64_t *first, const int64_t *last)
{
    struct jacobi_box box;
    for (int d = 0; d < DIMS; d++) {
        box.first[d] = first[d];
        box.extents[d] = last[d] - first[d];
        box.sides[d] = grid->sides[d];
    }
    return box;
}

/* ---- Steps ---- */

static void step_inside(const struct grid *grid)
{
    int64_t first[DIMS] = {2, 2, 2}, last[DIMS];
    for (int d = 0; d < DIMS; d++)
        last[d] = grid->extents[d];
    check(mpi_jacobi_step_async(grid->stream, grid->u, grid->v, make_box(grid, first, last)));
}

/* Computes the outer layers of cells. Each dimension leaves out the cells that an earlier dimension has computed. */
static void step_sides(const struct grid *grid)
{
    int64_t first[DIMS] = {1, 1, 1}, last[DIMS], kept;
    for (int d = 0; d < DIMS; d++)
        last[d] = grid->extents[d] + 1;
    for (int d = 0; d < DIMS; d++) {
        kept = last[d];
        last[d] = 2;
        check(mpi_jacobi_step_async(grid->stream, grid->u, grid->v, make_box(grid, first, last)));
        last[d] = kept;
        first[d] = kept - 1;
        check(mpi_jacobi_step_async(grid->stream, grid->u, grid->v, make_box(grid, first, last)));
        first[d] = 2;
        last[d] = kept - 1;
    }
}

static void run_step(struct grid *grid)
{
    check(cf_mpi_halo_start(grid->halo, grid->stream, grid->u));
    step_inside(grid);
    check(cf_mpi_halo_finish(grid->halo));
    step_sides(grid);
    double *u = grid->u;
    grid->u = grid->v;
    grid->v = u;
}

/* Returns the seconds per step on this rank. */
static double time_steps(struct grid *grid, int steps)
{
    MPI_Barrier(grid->comm);
    double begin = MPI_Wtime();
    for (int i = 0; i < steps; i++)
        run_step(grid);
    check(cf_stream_sync(grid->stream));
    return (MPI_Wtime() - begin) / steps;
}

/* Returns the microseconds of an exchange during which nothing else is computed: the median of the slowest rank's
 * times. */
static double time_exchange(struct grid *grid)
{
    enum { TIMES = 20 };
    double values[RUNS];
    for (int run = 0; run < RUNS; run++) {
        MPI_Barrier(grid->comm);
        double begin = MPI_Wtime();
        for (int i = 0; i < TIMES; i++) {
            check(cf_mpi_halo_start(grid->halo, grid->stream, grid->u));
            check(cf_mpi_halo_finish(grid->halo));
        }
        check(cf_stream_sync(grid->stream));
        values[run] = (MPI_Wtime() - begin) / TIMES;
    }
    return 1e6 * median_of_slowest(grid->comm, values, RUNS);
}

/* ---- Cells ---- */

/* Returns the value of a cell before the first step. Indices count from this rank's first cell and may refer to a
 * neighbour's cell. */
static double cell_at(const struct grid *grid, int64_t z, int64_t y, int64_t x)
{
    const int64_t at[DIMS] = {z, y, x};
    int64_t number = 0;
    for (int d = 0; d < DIMS; d++) {
        const int64_t whole = grid->extents[d] * grid->ranks[d];
        number = 1009 * number + (grid->place[d] * grid->extents[d] + at[d] + whole) % whole;
    }
    return (double)(number % 1000);
}

static size_t bytes_of(const struct grid *grid)
{
    return sizeof(double) * (size_t)(grid->sides[0] * grid->sides[1] * grid->sides[2]);
}

/* Fills the rank's own cells. Ghost cells are set to -1 until an exchange writes them. */
static void fill_cells(const struct grid *grid)
{
    double *cells = alloc_host(bytes_of(grid)), *cell = cells;
    for (int64_t z = -1; z <= grid->extents[0]; z++)
        for (int64_t y = -1; y <= grid->extents[1]; y++)
            for (int64_t x = -1; x <= grid->extents[2]; x++) {
                int is_own =
                    z >= 0 && z < grid->extents[0] && y >= 0 && y < grid->extents[1] && x >= 0 && x < grid->extents[2];
                *cell++ = is_own ? cell_at(grid, z, y, x) : -1;
            }
    check(cf_mem_copy(grid->u, cells, bytes_of(grid)));
    check(cf_mem_copy(grid->v, cells, bytes_of(grid)));
    free(cells);
}

/* Makes one step, and compares the outer layers of cells, which need the neighbours' cells. */
static void check_step(struct grid *grid)
{
    run_step(grid);
    check(cf_stream_sync(grid->stream));
    double *cells = alloc_host(bytes_of(grid));
    check(cf_mem_copy(cells, grid->u, bytes_of(grid)));
    const int64_t *last = grid->extents;
    for (int64_t z = 0; z < last[0]; z++)
        for (int64_t y = 0; y < last[1]; y++)
            for (int64_t x = 0; x < last[2]; x++) {
                if (z && y && x && z < last[0] - 1 && y < last[1] - 1 && x < last[2] - 1)
                    continue;
                double mean = (cell_at(grid, z, y, x - 1) + cell_at(grid, z, y, x + 1) + cell_at(grid, z, y - 1, x) +
                               cell_at(grid, z, y + 1, x) + cell_at(grid, z - 1, y, x) + cell_at(grid, z + 1, y, x)) /
                              6;
                const double *cell = &cells[((z + 1) * grid->sides[1] + y + 1) * grid->sides[2] + x + 1];
                if (fabs(*cell - mean) > 1e-9)
                    fail("a step computes a wrong cell");
            }
    free(cells);
}

/* ---- Start and end ---- */

static void make_grid(struct grid *grid, int64_t N)
{
    *grid = (struct grid){.comm = MPI_COMM_NULL};
    int count = 0, rank = 0, periodic[DIMS] = {1, 1, 1};
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Dims_create(count, DIMS, grid->ranks);
    MPI_Cart_create(MPI_COMM_WORLD, DIMS, grid->ranks, periodic, 0, &grid->comm);
    MPI_Comm_rank(grid->comm, &rank);
    MPI_Cart_coords(grid->comm, rank, DIMS, grid->place);
    for (int d = 0; d < DIMS; d++) {
        grid->extents[d] = N;
        grid->sides[d] = N + 2;
    }
    check(cf_stream_create(&grid->stream));
    check(cf_mpi_halo_create(&grid->halo, grid->comm, CF_F64, grid->extents, 1, 0));
    grid->u = alloc_device(bytes_of(grid));
    grid->v = alloc_device(bytes_of(grid));
    fill_cells(grid);
}

static void free_grid(struct grid *grid)
{
    check(cf_mpi_halo_destroy(grid->halo));
    check(cf_stream_destroy(grid->stream));
    check(cf_mem_free(grid->u));
    check(cf_mem_free(grid->v));
    MPI_Comm_free(&grid->comm);
}

/* Prints lines with the number of messages and bytes that a rank sends, and the microseconds that this takes. */
static void print_points(int rank)
{
    struct grid grid;
    for (int64_t N = 8; N <= 256; N *= 2) {
        make_grid(&grid, N);
        double time = time_exchange(&grid);
        if (rank == 0)
            printf("%d %zu %.3f\n", FACES, FACES * sizeof(double) * (size_t)(N * N), time);
        free_grid(&grid);
    }
}

static void print_step(int rank, int64_t N, int steps)
{
    struct grid grid;
    double values[RUNS];
    make_grid(&grid, N);
    check_step(&grid);
    for (int run = 0; run < RUNS; run++)
        values[run] = time_steps(&grid, steps);
    double median = median_of_slowest(grid.comm, values, RUNS);
    if (rank == 0)
        printf("%lld^3 cells per rank: a step %.3f ms\n", (long long)N, 1e3 * median);
    free_grid(&grid);
}

int main(int argc, char **argv)
{
    int rank = 0;
    check(cf_mpi_init());
    check(cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && !strcmp(argv[1], "points"))
        print_points(rank);
    else
        print_step(rank, argc > 1 ? atoll(argv[1]) : 128, argc > 2 ? atoi(argv[2]) : 20);
    MPI_Finalize();
    return 0;
}
