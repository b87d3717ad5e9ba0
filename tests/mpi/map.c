/* map.c - kernels with split(...) on distributed arrays, compared with calls for the whole arrays. */
#include "mpi_arrays.h"

enum { LENGTH = 5003, WIDTH = 3, ROWS = 50 };

static float x_all[LENGTH], y_all[LENGTH], source[ROWS * WIDTH];
static int32_t index_all[LENGTH];

static const cf_kernel *find(const char *name)
{
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, name);
    CHECK(kernel);
    return kernel;
}

/* Compares this rank's rows of `width` floats. */
static void check_part(MPI_Comm comm, const cf_mpi_array *y, const float *wanted, int width)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    size_t begin = (size_t)y->offsets[rank] * (size_t)width, end = (size_t)y->offsets[rank + 1] * (size_t)width;
    float *found = malloc((end - begin + 1) * sizeof *found);
    CHECK(found);
    if (end > begin)
        CHECK_OK(cf_mem_copy(found, y->data, (end - begin) * sizeof *found));
    CHECK(!memcmp(found, wanted + begin, (end - begin) * sizeof *found));
    free(found);
}

static void axpy(MPI_Comm comm, int ranks, int64_t n, int way)
{
    static float wanted[LENGTH];
    int64_t offsets[MOST_RANKS + 1];
    float a = 3;
    const void *of_x = x_all;
    void *of_y = wanted;
    memcpy(wanted, y_all, sizeof wanted);
    CHECK_OK(cf_call(find("axpy_f32"), (void *[]){&a, &of_x, &of_y, &n}));
    divide(way, n, ranks, offsets);
    cf_mpi_array x = take_part(comm, x_all, n, offsets, CF_F32), y = take_part(comm, y_all, n, offsets, CF_F32);
    CHECK_OK(cf_mpi_map(comm, find("axpy_f32"), (void *[]){&a, &x, &y, &n}));
    check_part(comm, &y, wanted, 1);
    check_part(comm, &x, x_all, 1);
    free_part(&x);
    free_part(&y);
}

/* Rows of a result, and a source that all ranks have. */
static void gather_rows(MPI_Comm comm, int ranks, int64_t n, int way)
{
    static float wanted[LENGTH * WIDTH];
    int64_t offsets[MOST_RANKS + 1], rows = ROWS, width = WIDTH;
    void *of_source = source, *of_index = index_all, *of_res = wanted;
    const cf_kernel *kernel = find("gather_rows_f32_i32");
    CHECK_OK(cf_call(kernel, (void *[]){&of_source, &of_index, &of_res, &n, &width, &rows}));
    divide(way, n, ranks, offsets);
    cf_mpi_array index = take_part(comm, index_all, n, offsets, CF_I32), res = index;
    res.type = CF_F32;
    if (index.data)
        res.data = alloc_on(index.device == CF_HOST ? current_device() : index.device, LENGTH * WIDTH * sizeof(float));
    CHECK_OK(cf_mpi_map(comm, kernel, (void *[]){&of_source, &index, &res, &n, &width, &rows}));
    check_part(comm, &res, wanted, WIDTH);
    CHECK_OK(cf_mem_free(res.data));
    free_part(&index);
}

static void errors(void)
{
    int64_t offsets[MOST_RANKS + 1], others[MOST_RANKS + 1], n = 100;
    int ranks = world_size(), last = ranks - 1, is_last = world_rank() == last;
    float a = 3;
    char text[128];
    const cf_kernel *kernel = find("axpy_f32");
    divide(0, n, ranks, offsets);
    divide(ranks == 1 ? 0 : 1, n, ranks, others);
    cf_mpi_array x = take_part(MPI_COMM_WORLD, x_all, n, offsets, CF_F32), y = x;
    void *args[] = {&a, &x, &y, &n};
    CHECK_FAILS(cf_mpi_map(MPI_COMM_WORLD, find("transpose_f32"), args), CF_ENOTSUP,
                "rank 0: cf_mpi_map: cf_transpose_f32 has no split(...) clause");
    CHECK_FAILS(cf_mpi_map(MPI_COMM_WORLD, NULL, args), CF_EINVAL, "cf_mpi_map: kernel is NULL");
    CHECK_FAILS(cf_mpi_map(MPI_COMM_WORLD, kernel, NULL), CF_EINVAL, "cf_mpi_map: args is NULL");
    CHECK_FAILS(cf_mpi_map(MPI_COMM_WORLD, kernel, (void *[]){&a, &x, &y, NULL}), CF_EINVAL, "args[3] is NULL");
    CHECK_FAILS(cf_mpi_map(MPI_COMM_WORLD, kernel, (void *[]){&a, &x, NULL, &n}), CF_EINVAL, "cf_mpi_map: y is NULL");
    n = is_last ? -1 : 100;
    snprintf(text, sizeof text, "rank %d: cf_mpi_map: n is -1, and x.length is 100", last);
    CHECK_FAILS(cf_mpi_map(MPI_COMM_WORLD, kernel, args), CF_EINVAL, text);
    n = 100;
    y.type = is_last ? CF_F64 : CF_F32;
    snprintf(text, sizeof text, "rank %d: cf_mpi_map: y has type f64, and cf_axpy_f32 takes f32", last);
    CHECK_FAILS(cf_mpi_map(MPI_COMM_WORLD, kernel, args), CF_EINVAL, text);
    y = x;
    if (ranks > 1 && (y.offsets = others))
        CHECK_FAILS(cf_mpi_map(MPI_COMM_WORLD, kernel, args), CF_EINVAL, "y has other offsets than the arrays before");
    if (ranks > 1 && world_rank() == 0)
        others[1] = 0, x.offsets = others;
    y = x;
    if (ranks > 1)
        CHECK_FAILS(cf_mpi_map(MPI_COMM_WORLD, kernel, args), CF_EINVAL, "cf_mpi_map: ranks 0 and ");
    free_part(&x);
}

/* The kernel's own check of the elements fails on one rank. */
static void errors_of_kernels(void)
{
    int64_t offsets[MOST_RANKS + 1], n = 100, rows = ROWS, width = WIDTH;
    float res_all[100 * WIDTH];
    char text[64];
    divide(0, n, world_size(), offsets);
    void *of_source = source;
    cf_mpi_array index = take_part(MPI_COMM_WORLD, index_all, n, offsets, CF_I32), res = index;
    int32_t wrong = ROWS;
    res.data = res_all;
    res.type = CF_F32;
    if (world_rank() == world_size() - 1)
        CHECK_OK(cf_mem_copy(index.data, &wrong, sizeof wrong));
    snprintf(text, sizeof text, "rank %d: cf_gather_rows", world_size() - 1);
    CHECK_FAILS(cf_mpi_map(MPI_COMM_WORLD, find("gather_rows_f32_i32"),
                           (void *[]){&of_source, &index, &res, &n, &width, &rows}),
                CF_ERANGE, text);
    free_part(&index);
}

static void test_values(MPI_Comm comm, int ranks)
{
    axpy(comm, ranks, 0, 0);
    gather_rows(comm, ranks, 0, 0);
    axpy(comm, ranks, 1, 0);
    gather_rows(comm, ranks, 1, 0);
    for (int way = 0; way < DIVISIONS; way++) {
        axpy(comm, ranks, LENGTH, way);
        gather_rows(comm, ranks, LENGTH, way);
    }
}

int main(void)
{
    uint64_t seed = 1;
    CHECK_OK(cf_mpi_init());
    for (int i = 0; i < LENGTH; i++) {
        x_all[i] = (float)(random_bits(&seed) % 1000);
        y_all[i] = (float)(random_bits(&seed) % 1000);
        index_all[i] = (int32_t)(random_bits(&seed) % ROWS);
    }
    for (int i = 0; i < ROWS * WIDTH; i++)
        source[i] = (float)i;
    on_communicators(test_values);
    errors();
    errors_of_kernels();
    MPI_Finalize();
    return 0;
}
