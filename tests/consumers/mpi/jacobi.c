/* jacobi.c - Jacobi's method on a grid of three dimensions. Ghost cells are exchanged while the inside is computed; the
 * result has the same bits as that of one rank.
 *
 * usage: mpiexec -n RANKS jacobi [N [STEPS]]       N x (N - 3) x (N + 2) cells; 30 and 20 without arguments */
#include <string.h>

#include "check.h"
#include "stencil.h"

enum { DIMS = 3 };

/* A block of the grid, surrounded by ghost cells, one cell deep. Ghost cells at the edge of the grid stay 0. */
struct block {
    int64_t first[DIMS], extents[DIMS], sides[DIMS];
    size_t bytes;
    double *u, *v;
};

static void make_arrays(struct block *block)
{
    block->bytes = sizeof(double);
    for (int d = 0; d < DIMS; d++) {
        block->sides[d] = block->extents[d] + 2;
        block->bytes *= (size_t)block->sides[d];
    }
    block->u = new_array(block->bytes);
    block->v = new_array(block->bytes);
    CHECK(cf_mem_fill(block->u, 0, block->bytes));
    CHECK(cf_mem_fill(block->v, 0, block->bytes));
}

static void free_arrays(struct block *block)
{
    CHECK(cf_mem_free(block->u));
    CHECK(cf_mem_free(block->v));
}

/* Makes one step in the cells [first, last), counted without the ghost cells. */
static void step_box(const struct block *block, cf_stream stream, const int64_t *first, const int64_t *last)
{
    struct stencil_box box;
    for (int d = 0; d < DIMS; d++) {
        box.first[d] = first[d] + 1;
        box.extents[d] = last[d] > first[d] ? last[d] - first[d] : 0;
        box.sides[d] = block->sides[d];
        if (box.extents[d] == 0)
            return;
    }
    CHECK(stencil_jacobi_async(stream, block->u, block->v, box, 1));
}

/* Makes one step in the cells that touch no ghost cell. */
static void step_inside(const struct block *block, cf_stream stream)
{
    int64_t first[DIMS], last[DIMS];
    for (int d = 0; d < DIMS; d++) {
        first[d] = 1;
        last[d] = block->extents[d] - 1;
    }
    step_box(block, stream, first, last);
}

/* Makes one step in all other cells: two layers of cells per dimension, each without the layers of the dimensions
 * before. */
static void step_sides(const struct block *block, cf_stream stream)
{
    int64_t first[DIMS] = {0}, last[DIMS], layer[DIMS];
    memcpy(last, block->extents, sizeof last);
    for (int d = 0; d < DIMS; d++) {
        int64_t extent = block->extents[d];
        memcpy(layer, last, sizeof layer);
        layer[d] = extent < 1 ? extent : 1;
        step_box(block, stream, first, layer);
        memcpy(layer, first, sizeof layer);
        layer[d] = extent > 1 ? extent - 1 : 1;
        step_box(block, stream, layer, last);
        first[d] = 1;
        last[d] = extent - 1;
    }
}

static void swap_arrays(struct block *block)
{
    double *u = block->u;
    block->u = block->v;
    block->v = u;
}

/* Makes all steps on this rank's block. */
static void run_block(struct block *block, MPI_Comm comm, int steps)
{
    cf_mpi_halo *halo = NULL;
    cf_stream stream = NULL;
    CHECK(cf_stream_create(&stream));
    CHECK(cf_mpi_halo_create(&halo, comm, CF_F64, block->extents, 1, 0));
    for (int step = 0; step < steps; step++) {
        CHECK(cf_mpi_halo_start(halo, stream, block->u));
        step_inside(block, stream);
        CHECK(cf_mpi_halo_finish(halo));
        step_sides(block, stream);
        swap_arrays(block);
    }
    CHECK(cf_stream_sync(stream));
    CHECK(cf_mpi_halo_destroy(halo));
    CHECK(cf_stream_destroy(stream));
}

/* Makes all steps on the whole grid. */
static void run_whole(struct block *whole, int steps)
{
    const int64_t first[DIMS] = {0};
    for (int step = 0; step < steps; step++) {
        step_box(whole, NULL, first, whole->extents);
        swap_arrays(whole);
    }
    CHECK(cf_stream_sync(NULL));
}

/* Returns this rank's block of the grid. */
static struct block find_block(MPI_Comm comm, const int *ranks, const struct block *whole)
{
    struct block block = {.u = NULL};
    int periodic[DIMS], coords[DIMS], dims[DIMS];
    MPI_Cart_get(comm, DIMS, dims, periodic, coords);
    for (int d = 0; d < DIMS; d++) {
        int64_t *offsets = new_host_array(sizeof *offsets * ((size_t)ranks[d] + 1));
        CHECK(cf_mpi_split(whole->extents[d], ranks[d], offsets));
        block.first[d] = offsets[coords[d]];
        block.extents[d] = offsets[coords[d] + 1] - offsets[coords[d]];
        free(offsets);
    }
    return block;
}

static double *copy_to_host(const struct block *block)
{
    double *cells = new_host_array(block->bytes);
    CHECK(cf_mem_copy(cells, block->u, block->bytes));
    return cells;
}

/* Returns how many cells of the block have the same bits as in the whole grid. */
static long long count_equal(const struct block *block, const struct block *whole)
{
    double *part = copy_to_host(block), *all = copy_to_host(whole);
    long long equal = 0;
    for (int64_t z = 1; z <= block->extents[0]; z++)
        for (int64_t y = 1; y <= block->extents[1]; y++)
            for (int64_t x = 1; x <= block->extents[2]; x++)
                equal += memcmp(&part[(z * block->sides[1] + y) * block->sides[2] + x],
                                &all[((z + block->first[0]) * whole->sides[1] + y + block->first[1]) * whole->sides[2] +
                                     x + block->first[2]],
                                sizeof(double)) == 0;
    free(part);
    free(all);
    return equal;
}

int main(int argc, char **argv)
{
    int64_t N = read_argument(argc, argv, 1, 30);
    int steps = (int)read_argument(argc, argv, 2, 20), count = 0, rank = 0;
    int ranks[DIMS] = {0}, periodic[DIMS] = {0};
    struct block whole = {.extents = {N, N - 3, N + 2}};
    MPI_Comm comm;
    CHECK(cf_mpi_init());
    CHECK(cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0));
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Dims_create(count, DIMS, ranks);
    MPI_Cart_create(MPI_COMM_WORLD, DIMS, ranks, periodic, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    struct block block = find_block(comm, ranks, &whole);
    make_arrays(&block);
    make_arrays(&whole);
    run_block(&block, comm, steps);
    run_whole(&whole, steps);
    long long equal = count_equal(&block, &whole), all = 0, cells = N * (N - 3) * (N + 2);
    MPI_Reduce(&equal, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, comm);
    if (rank == 0)
        printf("%lld of %lld cells have the same bits\n", all, cells);
    free_arrays(&block);
    free_arrays(&whole);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return rank == 0 && all != cells;
}
