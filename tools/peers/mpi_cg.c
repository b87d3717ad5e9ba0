/* mpi_cg.c - measures a step of conjugate gradients for weak scaling. The matrix is the 7-point Laplacian with N^3 rows
 * on each rank.
 *
 * usage: mpiexec -n RANKS peers-mpi-cg [N [STEPS]]     256 and 30 without arguments
 *
 * The grid is N x N x (N RANKS) with rows in order, so that each rank has a slab. Prints the median time of a step of
 * the slowest rank. At the end, the residual that the method updates is compared with b - A x. */
#include <math.h>

#include "laplacian.h"
#include "mpi_peer.h"

enum { WARMING = 3 };

/* The right-hand side, the solution, the residual, the direction and its product with the matrix. */
struct vectors {
    double *b, *x, *r, *p, *q;
};

/* Makes the vectors: b = A 1, so that the solution is all ones; x = 0; r = p = b. */
static struct vectors make_vectors(const struct matrix *matrix)
{
    struct vectors v = {new_vector(matrix), new_vector(matrix), new_vector(matrix), new_vector(matrix),
                        new_vector(matrix)};
    CHECK(cf_fill(1.0, v.p, matrix->rows));
    multiply(matrix, v.p, v.b);
    CHECK(cf_fill(0.0, v.x, matrix->rows));
    CHECK(cf_copy(v.b, v.r, matrix->rows));
    CHECK(cf_copy(v.b, v.p, matrix->rows));
    return v;
}

static void free_vectors(struct vectors *v)
{
    CHECK(cf_mem_free(v->b));
    CHECK(cf_mem_free(v->x));
    CHECK(cf_mem_free(v->r));
    CHECK(cf_mem_free(v->p));
    CHECK(cf_mem_free(v->q));
}

/* Makes a step. Returns the squared norm of the residual after it; `before` is that before it. */
static double run_step(const struct matrix *matrix, struct vectors *v, double before)
{
    multiply(matrix, v->p, v->q);
    double alpha = before / dot(matrix, v->p, v->q, 0);
    CHECK(cf_axpy_async(NULL, alpha, v->p, v->x, matrix->rows));
    CHECK(cf_axpy_async(NULL, -alpha, v->q, v->r, matrix->rows));
    double after = dot(matrix, v->r, v->r, 0);
    CHECK(cf_waxpy_async(NULL, after / before, v->p, v->r, v->p, matrix->rows));
    return after;
}

/* Makes steps and stores the seconds of each. A step ends at the same time on all ranks. */
static void run_steps(const struct matrix *matrix, struct vectors *v, double *seconds, int steps)
{
    double residual = dot(matrix, v->r, v->r, 0);
    for (int i = -WARMING; i < steps; i++) {
        double begin = MPI_Wtime();
        residual = run_step(matrix, v, residual);
        CHECK(cf_stream_sync(NULL));
        seconds[i < 0 ? 0 : i] = MPI_Wtime() - begin;
    }
}

/* Returns the norm of the difference between the residual and b - A x, relative to that of b. */
static double find_error(const struct matrix *matrix, struct vectors *v)
{
    multiply(matrix, v->x, v->q);
    CHECK(cf_waxpy(-1.0, v->q, v->b, v->q, matrix->rows));
    CHECK(cf_axpy(-1.0, v->r, v->q, matrix->rows));
    return sqrt(dot(matrix, v->q, v->q, 0) / dot(matrix, v->b, v->b, 0));
}

int main(int argc, char **argv)
{
    int64_t N = read_argument(argc, argv, 1, 256);
    int steps = (int)read_argument(argc, argv, 2, 30), rank = 0, ranks = 0;
    double *seconds = new_host_array(sizeof *seconds * (size_t)steps);
    char reason[512];
    CHECK(cf_mpi_init());
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0));
    CHECK(cf_mpi_transport(MPI_COMM_WORLD, NULL, reason, sizeof reason));
    struct matrix matrix = make_matrix(MPI_COMM_WORLD, N, N * ranks);
    struct vectors v = make_vectors(&matrix);
    run_steps(&matrix, &v, seconds, steps);
    double median = median_of_slowest(MPI_COMM_WORLD, seconds, steps), error = find_error(&matrix, &v);
    if (rank == 0)
        printf("%lld^3 rows per rank on %d: a step %.3f ms; %s\n", (long long)N, ranks, 1e3 * median, reason);
    if (rank == 0 && !(error < 1e-12))
        fprintf(stderr, "peers-mpi-cg: the residual is wrong by %g of the right-hand side\n", error);
    free_vectors(&v);
    free_matrix(&matrix);
    free(seconds);
    MPI_Finalize();
    return !(error < 1e-12);
}
