/* mpi_jacobi.c - Jacobi's method with Cuferry's halo exchange beside one that is written by hand over MPI. Both call
 * the same kernel for the inside while faces travel, and for the sides afterwards.
 *
 * usage: mpiexec -n RANKS peers-mpi-jacobi [N [STEPS]]     N^3 cells per rank; 128 and 20 without arguments
 *        mpiexec -n RANKS peers-mpi-jacobi points          measured points for mpi_model.py
 *
 * Each rank has neighbours on all sides. Prints the median times of a step with Cuferry and by hand, and two ratios of
 * Cuferry's time to the other: the median of those of two runs of STEPS steps that follow one another, and that of the
 * fastest runs, which another program on the machine disturbs less. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry/mpi.h>

#include "mpi_jacobi_kernels.h"
#include "mpi_median.h"

enum { DIMS = 3, FACES = 6, RUNS = 15 };

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CF(call) ((call) == CF_OK ? (void)0 : fail(#call, cf_last_error()))
#define MPI(call) ((call) == MPI_SUCCESS ? (void)0 : fail(#call, "failed"))

/* A face: the cells that leave, those that arrive, the neighbour, and a buffer each way. */
struct face {
    struct jacobi_box out, in;
    int peer;
    size_t bytes;
    double *leaving, *arriving;
};

struct grid {
    MPI_Comm comm;
    cf_stream stream;
    cf_mpi_halo *halo;
    int64_t extents[DIMS], sides[DIMS];
    int is_host;
    double *u, *v;
    struct face faces[FACES];
    MPI_Request requests[2 * FACES];
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

/* The layer of cells `at` in dimension d, between ghost cells in the others. */
static struct jacobi_box make_layer(const struct grid *grid, int d, int64_t at)
{
    int64_t first[DIMS] = {1, 1, 1}, last[DIMS];
    for (int e = 0; e < DIMS; e++)
        last[e] = grid->extents[e] + 1;
    first[d] = at;
    last[d] = at + 1;
    return make_box(grid, first, last);
}

/* ---- By hand ---- */

/* Face 2 d is that of the lower neighbour in dimension d; its cells arrive at the other one's face 2 d + 1. */
static void make_face(struct grid *grid, int number)
{
    struct face *face = &grid->faces[number];
    int d = number / 2, is_upper = number % 2, below = 0, above = 0;
    MPI(MPI_Cart_shift(grid->comm, d, 1, &below, &above));
    face->peer = is_upper ? above : below;
    face->out = make_layer(grid, d, is_upper ? grid->extents[d] : 1);
    face->in = make_layer(grid, d, is_upper ? grid->extents[d] + 1 : 0);
    face->bytes = sizeof(double) * (size_t)(face->out.extents[0] * face->out.extents[1] * face->out.extents[2]);
    CF(cf_mem_alloc_pinned((void **)&face->leaving, face->bytes));
    CF(cf_mem_alloc_pinned((void **)&face->arriving, face->bytes));
}

static void copy_plain(double *cells, double *buffer, const struct jacobi_box *box, int is_back)
{
    for (int64_t z = box->first[0]; z < box->first[0] + box->extents[0]; z++)
        for (int64_t y = box->first[1]; y < box->first[1] + box->extents[1]; y++) {
            double *row = cells + (z * box->sides[1] + y) * box->sides[2] + box->first[2];
            for (int64_t x = 0; x < box->extents[2]; x++, buffer++)
                *(is_back ? row + x : buffer) = *(is_back ? buffer : row + x);
        }
}

static void copy_face(const struct grid *grid, double *buffer, const struct jacobi_box *box, int is_back)
{
    if (grid->is_host)
        copy_plain(grid->u, buffer, box, is_back);
    else
        CF(mpi_jacobi_face_async(grid->stream, grid->u, buffer, *box, is_back));
}

/* Earlier work may still read the buffers that are received into, so that receives wait for it as well. */
static void start_by_hand(struct grid *grid)
{
    for (int i = 0; i < FACES; i++)
        copy_face(grid, grid->faces[i].leaving, &grid->faces[i].out, 0);
    if (!grid->is_host)
        CF(cf_stream_sync(grid->stream));
    for (int i = 0; i < FACES; i++)
        MPI(MPI_Irecv(grid->faces[i].arriving, (int)grid->faces[i].bytes, MPI_BYTE, grid->faces[i].peer, i, grid->comm,
                      &grid->requests[i]));
    for (int i = 0; i < FACES; i++)
        MPI(MPI_Isend(grid->faces[i].leaving, (int)grid->faces[i].bytes, MPI_BYTE, grid->faces[i].peer, i ^ 1,
                      grid->comm, &grid->requests[FACES + i]));
}

static void finish_by_hand(struct grid *grid)
{
    for (int i = 0; i < 2 * FACES; i++)
        MPI(MPI_Wait(&grid->requests[i], MPI_STATUS_IGNORE));
    for (int i = 0; i < FACES; i++)
        copy_face(grid, grid->faces[i].arriving, &grid->faces[i].in, 1);
}

/* ---- Steps ---- */

static void step_inside(const struct grid *grid)
{
    int64_t first[DIMS] = {2, 2, 2}, last[DIMS];
    for (int d = 0; d < DIMS; d++)
        last[d] = grid->extents[d];
    CF(mpi_jacobi_step_async(grid->stream, grid->u, grid->v, make_box(grid, first, last)));
}

/* The outer layers of cells; each dimension leaves out those of earlier ones. */
static void step_sides(const struct grid *grid)
{
    int64_t first[DIMS] = {1, 1, 1}, last[DIMS], kept;
    for (int d = 0; d < DIMS; d++)
        last[d] = grid->extents[d] + 1;
    for (int d = 0; d < DIMS; d++) {
        kept = last[d];
        last[d] = 2;
        CF(mpi_jacobi_step_async(grid->stream, grid->u, grid->v, make_box(grid, first, last)));
        last[d] = kept;
        first[d] = kept - 1;
        CF(mpi_jacobi_step_async(grid->stream, grid->u, grid->v, make_box(grid, first, last)));
        first[d] = 2;
        last[d] = kept - 1;
    }
}

static void run_step(struct grid *grid, int is_by_hand)
{
    if (is_by_hand)
        start_by_hand(grid);
    else
        CF(cf_mpi_halo_start(grid->halo, grid->stream, grid->u));
    step_inside(grid);
    if (is_by_hand)
        finish_by_hand(grid);
    else
        CF(cf_mpi_halo_finish(grid->halo));
    step_sides(grid);
    double *u = grid->u;
    grid->u = grid->v;
    grid->v = u;
}

/* Seconds per step, of the slowest rank. */
static double time_steps(struct grid *grid, int steps, int is_by_hand)
{
    double slowest = 0;
    MPI(MPI_Barrier(grid->comm));
    double begin = MPI_Wtime();
    for (int i = 0; i < steps; i++)
        run_step(grid, is_by_hand);
    CF(cf_stream_sync(grid->stream));
    double seconds = (MPI_Wtime() - begin) / steps;
    MPI(MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, grid->comm));
    return slowest;
}

/* Microseconds of an exchange without work meanwhile, of the slowest rank; the median of several runs. */
static double time_exchange(struct grid *grid)
{
    enum { TIMES = 20 };
    double values[RUNS];
    for (int run = 0; run < RUNS; run++) {
        MPI(MPI_Barrier(grid->comm));
        double begin = MPI_Wtime();
        for (int i = 0; i < TIMES; i++) {
            CF(cf_mpi_halo_start(grid->halo, grid->stream, grid->u));
            CF(cf_mpi_halo_finish(grid->halo));
        }
        CF(cf_stream_sync(grid->stream));
        double seconds = (MPI_Wtime() - begin) / TIMES;
        MPI(MPI_Allreduce(&seconds, &values[run], 1, MPI_DOUBLE, MPI_MAX, grid->comm));
    }
    return 1e6 * median_of(values, RUNS);
}

/* ---- Start and end ---- */

static void fill_cells(const struct grid *grid, int rank)
{
    size_t count = (size_t)(grid->sides[0] * grid->sides[1] * grid->sides[2]);
    double *cells = malloc(count * sizeof *cells);
    if (!cells)
        fail("malloc", "no memory");
    for (size_t i = 0; i < count; i++)
        cells[i] = (double)((i * 2654435761u + (size_t)rank) % 1000);
    CF(cf_mem_copy(grid->u, cells, count * sizeof *cells));
    CF(cf_mem_copy(grid->v, cells, count * sizeof *cells));
    free(cells);
}

static void make_grid(struct grid *grid, int64_t N)
{
    *grid = (struct grid){.comm = MPI_COMM_NULL};
    int count = 0, rank = 0, device = 0, ranks[DIMS] = {0}, periodic[DIMS] = {1, 1, 1};
    size_t bytes = sizeof(double) * (size_t)((N + 2) * (N + 2) * (N + 2));
    MPI(MPI_Comm_size(MPI_COMM_WORLD, &count));
    MPI(MPI_Dims_create(count, DIMS, ranks));
    MPI(MPI_Cart_create(MPI_COMM_WORLD, DIMS, ranks, periodic, 0, &grid->comm));
    MPI(MPI_Comm_rank(grid->comm, &rank));
    for (int d = 0; d < DIMS; d++) {
        grid->extents[d] = N;
        grid->sides[d] = N + 2;
    }
    CF(cf_device_current(&device));
    grid->is_host = device == CF_HOST;
    CF(cf_stream_create(&grid->stream));
    CF(cf_mpi_halo_create(&grid->halo, grid->comm, CF_F64, grid->extents, 1, 0));
    CF(cf_mem_alloc((void **)&grid->u, bytes));
    CF(cf_mem_alloc((void **)&grid->v, bytes));
    fill_cells(grid, rank);
    for (int i = 0; i < FACES; i++)
        make_face(grid, i);
}

static void free_grid(struct grid *grid)
{
    CF(cf_mpi_halo_destroy(grid->halo));
    CF(cf_stream_destroy(grid->stream));
    CF(cf_mem_free(grid->u));
    CF(cf_mem_free(grid->v));
    for (int i = 0; i < FACES; i++) {
        CF(cf_mem_free(grid->faces[i].leaving));
        CF(cf_mem_free(grid->faces[i].arriving));
    }
    MPI(MPI_Comm_free(&grid->comm));
}

/* Lines with the messages and bytes that a rank sends, and microseconds. */
static void print_points(int rank)
{
    struct grid grid;
    for (int64_t N = 8; N <= 256; N *= 2) {
        make_grid(&grid, N);
        double time = time_exchange(&grid);
        if (rank == 0)
            printf("%d %zu %.3f\n", FACES, FACES * grid.faces[0].bytes, time);
        free_grid(&grid);
    }
}

/* Both ways give the same cells. */
static void compare_ways(struct grid *grid, int rank)
{
    size_t bytes = sizeof(double) * (size_t)(grid->sides[0] * grid->sides[1] * grid->sides[2]);
    double *results[2] = {malloc(bytes), malloc(bytes)};
    if (!results[0] || !results[1])
        fail("malloc", "no memory");
    for (int way = 0; way < 2; way++) {
        fill_cells(grid, rank);
        for (int i = 0; i < 4; i++)
            run_step(grid, way);
        CF(cf_stream_sync(grid->stream));
        CF(cf_mem_copy(results[way], grid->u, bytes));
    }
    if (memcmp(results[0], results[1], bytes))
        fail("compare", "the two ways differ");
    free(results[0]);
    free(results[1]);
}

static double least_of(double *values)
{
    (void)median_of(values, RUNS);
    return values[0];
}

static void compare_times(struct grid *grid, int rank, int steps)
{
    double hand[RUNS], cuferry[RUNS], ratios[RUNS];
    compare_ways(grid, rank);
    /* The order changes, so that neither way always comes first. */
    for (int run = 0; run < RUNS; run++) {
        for (int turn = 0; turn < 2; turn++) {
            int is_by_hand = (run + turn) % 2;
            (is_by_hand ? hand : cuferry)[run] = time_steps(grid, steps, is_by_hand);
        }
        ratios[run] = cuferry[run] / hand[run];
    }
    if (rank == 0)
        printf("%lld^3 cells per rank: a step %.3f ms, by hand %.3f ms; ratio %.3f (fastest: %.3f)\n",
               (long long)grid->extents[0], 1e3 * median_of(cuferry, RUNS), 1e3 * median_of(hand, RUNS),
               median_of(ratios, RUNS), least_of(cuferry) / least_of(hand));
}

int main(int argc, char **argv)
{
    struct grid grid;
    int rank = 0;
    CF(cf_mpi_init());
    CF(cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0));
    MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (argc > 1 && !strcmp(argv[1], "points")) {
        print_points(rank);
    } else {
        make_grid(&grid, argc > 1 ? atoll(argv[1]) : 128);
        compare_times(&grid, rank, argc > 2 ? atoi(argv[2]) : 20);
        free_grid(&grid);
    }
    MPI_Finalize();
    return 0;
}
