/* cg.c - conjugate gradients for the 7-point Laplacian of an N x N x N grid. The sums are reproducible, so that the
 * residuals have the same bits on any number of ranks; they are compared with those of one rank.
 *
 * usage: mpiexec -n RANKS cg [N]       41 without arguments */
#include <math.h>
#include <string.h>

#include "laplacian.h"

enum { STEPS = 500 };

/* Vectors on this rank: the solution, the residual, the direction, and the direction's product with the matrix. */
struct vectors {
    double *x, *r, *p, *q;
};

static struct vectors make_vectors(const struct matrix *matrix)
{
    struct vectors v = {new_vector(matrix), new_vector(matrix), new_vector(matrix), new_vector(matrix)};
    /* The right-hand side is A 1, so that the solution is 1 everywhere: r = A 1, x = 0, p = r. */
    CHECK(cf_fill(1.0, v.p, matrix->rows));
    multiply(matrix, v.p, v.r);
    CHECK(cf_fill(0.0, v.x, matrix->rows));
    CHECK(cf_copy(v.r, v.p, matrix->rows));
    return v;
}

static void free_vectors(struct vectors *v)
{
    CHECK(cf_mem_free(v->x));
    CHECK(cf_mem_free(v->r));
    CHECK(cf_mem_free(v->p));
    CHECK(cf_mem_free(v->q));
}

/* Returns the largest distance of the solution from 1, on this rank. */
static double find_error(const struct matrix *matrix, const double *x)
{
    double *host = new_host_array(sizeof *host * (size_t)matrix->rows), error = 0;
    CHECK(cf_mem_copy(host, x, sizeof *host * (size_t)matrix->rows));
    for (int64_t i = 0; i < matrix->rows; i++)
        error = fmax(error, fabs(host[i] - 1));
    free(host);
    return error;
}

/* Writes the squared residuals, before each step and at the end, and the error of the solution; returns the number of
 * steps. */
static int solve(MPI_Comm comm, int64_t N, double *residuals, double *error)
{
    struct matrix matrix = make_matrix(comm, N, N);
    struct vectors v = make_vectors(&matrix);
    int64_t rows = matrix.rows;
    int steps = 0;
    residuals[0] = dot(&matrix, v.r, v.r, CF_MPI_REPRODUCIBLE);
    while (steps < STEPS && residuals[steps] > 1e-12 * residuals[0]) {
        multiply(&matrix, v.p, v.q);
        double alpha = residuals[steps] / dot(&matrix, v.p, v.q, CF_MPI_REPRODUCIBLE);
        CHECK(cf_axpy(alpha, v.p, v.x, rows));
        CHECK(cf_axpy(-alpha, v.q, v.r, rows));
        residuals[steps + 1] = dot(&matrix, v.r, v.r, CF_MPI_REPRODUCIBLE);
        CHECK(cf_waxpy(residuals[steps + 1] / residuals[steps], v.p, v.r, v.p, rows));
        steps++;
    }
    *error = find_error(&matrix, v.x);
    free_vectors(&v);
    free_matrix(&matrix);
    return steps;
}

int main(int argc, char **argv)
{
    static double residuals[STEPS + 1], alone[STEPS + 1];
    int64_t N = read_argument(argc, argv, 1, 41);
    int rank = 0;
    double error = 0, worst = 0, unused = 0;
    CHECK(cf_mpi_init());
    CHECK(cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int steps = solve(MPI_COMM_WORLD, N, residuals, &error);
    int steps_alone = solve(MPI_COMM_SELF, N, alone, &unused);
    int is_equal = steps == steps_alone && memcmp(residuals, alone, sizeof *alone * (size_t)(steps + 1)) == 0;
    MPI_Reduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int is_good = is_equal && worst < 1e-4 && steps < STEPS;
    if (rank == 0)
        printf("%s after %s steps, residuals of one rank: %s\n", worst < 1e-4 ? "solved" : "not solved",
               steps < STEPS ? "few" : "too many", is_equal ? "the same bits" : "others");
    MPI_Finalize();
    return rank == 0 && !is_good;
}
