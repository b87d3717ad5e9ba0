/* laplacian.h - the 7-point Laplacian of a grid, as a sparse matrix whose rows are distributed over the ranks. */
#ifndef LAPLACIAN_H
#define LAPLACIAN_H

#include <cuferry/kernels.h>

#include "check.h"

enum { POINTS = 7 };

/* The rows of the matrix that lie on this rank. The columns are those of a vector that has the rank's own elements
 * first, followed by copies of the other elements that its rows need. */
struct matrix {
    MPI_Comm comm;
    int64_t N, layers;        /* the grid has N x N x layers points; each has a row, in order */
    int64_t length, *offsets; /* first row of each rank */
    int64_t first, rows, others, entries;
    int32_t *row_ptr, *col;
    double *val;
    cf_mpi_plan *plan; /* gathers the other elements */
};

/* Writes the columns of a row in ascending order, and returns their number. */
static inline int list_columns(const struct matrix *matrix, int64_t row, int64_t *columns)
{
    const int64_t N = matrix->N;
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
    if (z < matrix->layers - 1)
        columns[count++] = row + N * N;
    return count;
}

static inline int compare_columns(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Lists the columns that lie on other ranks, each once, in ascending order. */
static inline int64_t *list_others(struct matrix *matrix)
{
    int64_t *others = new_host_array(sizeof *others * POINTS * (size_t)matrix->rows), columns[POINTS], found = 0;
    for (int64_t row = matrix->first; row < matrix->first + matrix->rows; row++)
        for (int k = 0, count = list_columns(matrix, row, columns); k < count; k++)
            if (columns[k] < matrix->first || columns[k] >= matrix->first + matrix->rows)
                others[found++] = columns[k];
    qsort(others, (size_t)found, sizeof *others, compare_columns);
    for (int64_t i = 0; i < found; i++)
        if (i == 0 || others[i] != others[i - 1])
            others[matrix->others++] = others[i];
    return others;
}

/* Returns the place of a column in this rank's vector. */
static inline int32_t place_column(const struct matrix *matrix, const int64_t *others, int64_t column)
{
    if (column >= matrix->first && column < matrix->first + matrix->rows)
        return (int32_t)(column - matrix->first);
    const int64_t *found = bsearch(&column, others, (size_t)matrix->others, sizeof column, compare_columns);
    return (int32_t)(matrix->rows + (found - others));
}

static inline void *to_device(void *host, size_t bytes)
{
    void *array = new_array(bytes);
    CHECK(cf_mem_copy(array, host, bytes));
    free(host);
    return array;
}

static inline void fill_matrix(struct matrix *matrix, const int64_t *others)
{
    size_t rows = (size_t)matrix->rows;
    int32_t *row_ptr = new_host_array(sizeof *row_ptr * (rows + 1)), *col = new_host_array(sizeof *col * POINTS * rows);
    double *val = new_host_array(sizeof *val * POINTS * rows);
    int64_t columns[POINTS];
    row_ptr[0] = 0;
    for (int64_t i = 0; i < matrix->rows; i++) {
        int count = list_columns(matrix, matrix->first + i, columns);
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

static inline struct matrix make_matrix(MPI_Comm comm, int64_t N, int64_t layers)
{
    struct matrix matrix = {.comm = comm, .N = N, .layers = layers, .length = N * N * layers};
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    matrix.offsets = new_host_array(sizeof *matrix.offsets * ((size_t)ranks + 1));
    CHECK(cf_mpi_split(matrix.length, ranks, matrix.offsets));
    matrix.first = matrix.offsets[rank];
    matrix.rows = matrix.offsets[rank + 1] - matrix.first;
    int64_t *others = list_others(&matrix);
    fill_matrix(&matrix, others);
    CHECK(cf_mpi_plan_create(&matrix.plan, comm, matrix.offsets, others, matrix.others));
    free(others);
    return matrix;
}

static inline void free_matrix(struct matrix *matrix)
{
    CHECK(cf_mpi_plan_destroy(matrix->plan));
    CHECK(cf_mem_free(matrix->row_ptr));
    CHECK(cf_mem_free(matrix->col));
    CHECK(cf_mem_free(matrix->val));
    free(matrix->offsets);
}

/* ---- Vectors ---- */

/* Describes a vector for the reductions and the gather. */
static inline cf_mpi_array array_of(const struct matrix *matrix, double *data)
{
    cf_mpi_array array = {.length = matrix->length, .offsets = matrix->offsets, .data = data, .type = CF_F64};
    CHECK(cf_device_current(&array.device));
    return array;
}

/* Returns a vector for this rank's rows, with space for the elements of other ranks. */
static inline double *new_vector(const struct matrix *matrix)
{
    return new_array(sizeof(double) * (size_t)(matrix->rows + matrix->others));
}

/* y = A x */
static inline void multiply(const struct matrix *matrix, double *x, double *y)
{
    const cf_mpi_array source = array_of(matrix, x);
    CHECK(cf_mpi_gather(matrix->plan, &source, x + matrix->rows));
    CHECK(cf_spmv(1.0, matrix->row_ptr, matrix->col, matrix->val, x, 0.0, y, matrix->rows,
                  matrix->rows + matrix->others, matrix->entries));
}

static inline double dot(const struct matrix *matrix, double *x, double *y, unsigned int flags)
{
    const cf_mpi_array left = array_of(matrix, x), right = array_of(matrix, y);
    double result = 0;
    CHECK(cf_mpi_dot(matrix->comm, &left, &right, &result, flags));
    return result;
}

#endif
