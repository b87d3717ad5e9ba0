/* cg.c - conjugate gradients for the 7-point Laplacian of an N x N x N grid. The sums are reproducible, so that the
 * residuals have the same bits on any number of ranks; they are compared with those of one rank.
 *
 * usage: mpiexec -n RANKS cg [N]       41 without arguments */
#include <math.h>
#include <string.h>

#include <cuferry/kernels.h>

#include "check.h"

enum { STEPS = 500, POINTS = 7 };

/* Rows of the matrix that lie on this rank. Columns are those of a vector that has the rank's own elements first, then
 * copies of the others that its rows need. */
struct matrix {
    MPI_Comm comm;
    int64_t *offsets; /* of the rows on all ranks */
    int64_t first, rows, others, entries;
    int32_t *row_ptr, *col;
    double *val;
    cf_mpi_plan *plan; /* that gathers the others */
};

/* ---- The matrix ---- */

/* Writes the columns of a row in ascending order, and returns their number. */
static int list_columns(int64_t row, int64_t N, int64_t *columns)
{
    const int64_t x = row % N, y = row / N % N, z = row / N / N;
    int count = 0;
    if (z > 0)
        columns[count++] = row - N * N;
    if (y > 0)
        columns[count++] = row - N;
    if (x > 0)
        columns[count++] = row - 1;
    columns[count++] = row;
    if (x < N - 1)
        columns[count++] = row + 1;
    if (y < N - 1)
        columns[count++] = row + N;
    if (z < N - 1)
        columns[count++] = row + N * N;
    return count;
}

static int compare_columns(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Lists the columns of other ranks, each of them once, in ascending order. */
static int64_t *list_others(struct matrix *matrix, int64_t N)
{
    int64_t *others = new_host_array(sizeof *others * POINTS * (size_t)matrix->rows), columns[POINTS], found = 0;
    for (int64_t row = matrix->first; row < matrix->first + matrix->rows; row++)
        for (int k = 0, count = list_columns(row, N, columns); k < count; k++)
            if (columns[k] < matrix->first || columns[k] >= matrix->first + matrix->rows)
                others[found++] = columns[k];
    qsort(others, (size_t)found, sizeof *others, compare_columns);
    for (int64_t i = 0; i < found; i++)
        if (i == 0 || others[i] != others[i - 1])
            others[matrix->others++] = others[i];
    return others;
}

/* The place of a column in the rank's vector. */
static int32_t place_column(const struct matrix *matrix, const int64_t *others, int64_t column)
{
    if (column >= matrix->first && column < matrix->first + matrix->rows)
        return (int32_t)(column - matrix->first);
    const int64_t *found = bsearch(&column, others, (size_t)matrix->others, sizeof column, compare_columns);
    return (int32_t)(matrix->rows + (found - others));
}

static void *to_device(void *host, size_t bytes)
{
    void *array = new_array(bytes);
    CHECK(cf_mem_copy(array, host, bytes));
    free(host);
    return array;
}

static void fill_matrix(struct matrix *matrix, const int64_t *others, int64_t N)
{
    size_t rows = (size_t)matrix->rows;
    int32_t *row_ptr = new_host_array(sizeof *row_ptr * (rows + 1)), *col = new_host_array(sizeof *col * POINTS * rows);
    double *val = new_host_array(sizeof *val * POINTS * rows);
    int64_t columns[POINTS];
    row_ptr[0] = 0;
    for (int64_t i = 0; i < matrix->rows; i++) {
        int count = list_columns(matrix->first + i, N, columns);
        for (int k = 0; k < count; k++) {
            val[matrix->entries] = columns[k] == matrix->first + i ? 6 : -1;
            col[matrix->entries++] = place_column(matrix, others, columns[k]);
        }
        row_ptr[i + 1] = (int32_t)matrix->entries;
    }
    matrix->row_ptr = to_device(row_ptr, sizeof *row_ptr * (rows + 1));
    matrix->col = to_device(col, sizeof *col * (size_t)matrix->entries);
    matrix->val = to_device(val, sizeof *val * (size_t)matrix->entries);
}

static struct matrix make_matrix(MPI_Comm comm, int64_t N)
{
    struct matrix matrix = {.comm = comm};
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    matrix.offsets = new_host_array(sizeof *matrix.offsets * ((size_t)ranks + 1));
    CHECK(cf_mpi_split(N * N * N, ranks, matrix.offsets));
    matrix.first = matrix.offsets[rank];
    matrix.rows = matrix.offsets[rank + 1] - matrix.first;
    int64_t *others = list_others(&matrix, N);
    fill_matrix(&matrix, others, N);
    CHECK(cf_mpi_plan_create(&matrix.plan, comm, matrix.offsets, others, matrix.others));
    free(others);
    return matrix;
}

static void free_matrix(struct matrix *matrix)
{
    CHECK(cf_mpi_plan_destroy(matrix->plan));
    CHECK(cf_mem_free(matrix->row_ptr));
    CHECK(cf_mem_free(matrix->col));
    CHECK(cf_mem_free(matrix->val));
    free(matrix->offsets);
}

/* ---- The method ---- */

/* A vector as the reductions and the gather take it. */
static cf_mpi_array array_of(const struct matrix *matrix, double *data, int64_t length)
{
    cf_mpi_array array = {.length = length, .offsets = matrix->offsets, .data = data, .type = CF_F64};
    CHECK(cf_device_current(&array.device));
    return array;
}

/* y = A x; x has space for the elements of other ranks. */
static void multiply(const struct matrix *matrix, double *x, double *y, int64_t length)
{
    const cf_mpi_array source = array_of(matrix, x, length);
    CHECK(cf_mpi_gather(matrix->plan, &source, x + matrix->rows));
    CHECK(cf_spmv(1.0, matrix->row_ptr, matrix->col, matrix->val, x, 0.0, y, matrix->rows,
                  matrix->rows + matrix->others, matrix->entries));
}

static double dot(const struct matrix *matrix, double *x, double *y, int64_t length)
{
    const cf_mpi_array left = array_of(matrix, x, length), right = array_of(matrix, y, length);
    double result = 0;
    CHECK(cf_mpi_dot(matrix->comm, &left, &right, &result, CF_MPI_REPRODUCIBLE));
    return result;
}

/* Vectors of the rank: the solution, the residual, the direction and its product with the matrix. */
struct vectors {
    double *x, *r, *p, *q;
};

static struct vectors make_vectors(const struct matrix *matrix, int64_t length)
{
    size_t bytes = sizeof(double) * (size_t)(matrix->rows + matrix->others);
    struct vectors v = {new_array(bytes), new_array(bytes), new_array(bytes), new_array(bytes)};
    /* The right-hand side belongs to the solution of ones: r = A 1, x = 0, p = r. */
    CHECK(cf_fill(1.0, v.p, matrix->rows));
    multiply(matrix, v.p, v.r, length);
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

/* The solution's largest distance from 1 on this rank. */
static double find_error(const struct matrix *matrix, const double *x)
{
    double *host = new_host_array(sizeof *host * (size_t)matrix->rows), error = 0;
    CHECK(cf_mem_copy(host, x, sizeof *host * (size_t)matrix->rows));
    for (int64_t i = 0; i < matrix->rows; i++)
        error = fmax(error, fabs(host[i] - 1));
    free(host);
    return error;
}

/* Writes the squared residuals before each step and at the end, and the solution's error; returns the steps. */
static int solve(MPI_Comm comm, int64_t N, double *residuals, double *error)
{
    struct matrix matrix = make_matrix(comm, N);
    int64_t length = N * N * N, rows = matrix.rows;
    struct vectors v = make_vectors(&matrix, length);
    int steps = 0;
    residuals[0] = dot(&matrix, v.r, v.r, length);
    while (steps < STEPS && residuals[steps] > 1e-12 * residuals[0]) {
        multiply(&matrix, v.p, v.q, length);
        double alpha = residuals[steps] / dot(&matrix, v.p, v.q, length);
        CHECK(cf_axpy(alpha, v.p, v.x, rows));
        CHECK(cf_axpy(-alpha, v.q, v.r, rows));
        residuals[steps + 1] = dot(&matrix, v.r, v.r, length);
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
