/* test_spmv.c - y = alpha A x + beta y for sparse matrices of all shapes, compared with plain loops. */
#include "elements.h"

#include <math.h>

#include <cuferry/kernels.h>

#include "../../kernels/spmv.h"

static const struct {
    const char *tag;
    int value, pointer, column;
} kinds[] = {{"f32_i32", F32, I32, I32}, {"f32_i64", F32, I64, I64}, {"f32_i64_i32", F32, I64, I32},
             {"f64_i32", F64, I32, I32}, {"f64_i64", F64, I64, I64}, {"f64_i64_i32", F64, I64, I32}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A row of LONG elements is long in any warp. A row of PART elements forms one part in a warp with twice LONG, and a
 * row twice as long forms two parts. */
enum { LONG = SPMV_LONG, PART = SPMV_PART(float, 0) };

static const cf_kernel *find_spmv(int kind)
{
    char name[32];
    snprintf(name, sizeof name, "spmv_%s", kinds[kind].tag);
    const cf_kernel *kernel = cf_kernel_find(&REGISTRY, name);
    assert_non_null(kernel);
    return kernel;
}

/* ---- Matrices ---- */

struct matrix {
    struct array row_ptr, col, val, x, y;
    int64_t nrows, ncols, nnz;
};

static void set_whole(struct array *array, int64_t i, int64_t value)
{
    set_element(array->type, array->host + array->begin + (size_t)i * types[array->type].bytes, (number){0, value});
}

/* Makes a matrix with rows of the given lengths. Values are small integers, so that sums are exact in any order, or
 * random numbers. */
static void make_matrix(struct matrix *m, int kind, const int64_t *lengths, int64_t nrows, int64_t ncols, int is_small,
                        unsigned short seed[])
{
    m->nrows = nrows;
    m->ncols = ncols;
    m->nnz = 0;
    for (int64_t i = 0; i < nrows; i++) {
        assert_true(lengths[i] >= 0);
        m->nnz += lengths[i];
    }
    make_array(&m->row_ptr, kinds[kind].pointer, nrows + 1, (int)(nrand48(seed) % 3));
    make_array(&m->col, kinds[kind].column, m->nnz, (int)(nrand48(seed) % 5));
    make_array(&m->val, kinds[kind].value, m->nnz, (int)(nrand48(seed) % 5));
    make_array(&m->x, kinds[kind].value, ncols, (int)(nrand48(seed) % 3));
    make_array(&m->y, kinds[kind].value, nrows, (int)(nrand48(seed) % 3));
    int64_t end = 0;
    for (int64_t i = 0; i <= nrows; end += i < nrows ? lengths[i] : 0, i++)
        set_whole(&m->row_ptr, i, end);
    for (int64_t k = 0; k < m->nnz; k++)
        set_whole(&m->col, k, nrand48(seed) % ncols);
    randomize(&m->val, m->nnz, is_small, seed);
    randomize(&m->x, ncols, is_small, seed);
    randomize(&m->y, nrows, is_small, seed);
    memcpy(m->row_ptr.expected, m->row_ptr.host, m->row_ptr.bytes);
    memcpy(m->col.expected, m->col.host, m->col.bytes);
}

/* Returns the product of a row with x in double precision; *size is the sum of absolute values. */
static double product_of_row(const struct matrix *m, int64_t i, double *size)
{
    double sum = 0;
    *size = 0;
    for (int64_t k = at(&m->row_ptr, i).whole; k < at(&m->row_ptr, i + 1).whole; k++) {
        double product = at(&m->val, k).real * at(&m->x, at(&m->col, k).whole).real;
        sum += product;
        *size += fabs(product);
    }
    return sum;
}

static void run_matrix(struct matrix *m, int kind, double alpha, double beta, int way)
{
    const cf_kernel *kernel = find_spmv(kind);
    float alpha32 = (float)alpha, beta32 = (float)beta;
    const int is_single = kinds[kind].value == F32;
    void *pointers[] = {place(&m->row_ptr, way), place(&m->col, way), place(&m->val, way), place(&m->x, way),
                        place(&m->y, way)};
    void *args[] = {is_single ? (void *)&alpha32 : &alpha,
                    &pointers[0],
                    &pointers[1],
                    &pointers[2],
                    &pointers[3],
                    is_single ? (void *)&beta32 : &beta,
                    &pointers[4],
                    NULL,
                    &m->nrows,
                    &m->ncols,
                    &m->nnz};
    assert_int_equal(kernel->nparams, sizeof args / sizeof *args);
    run_kernel(kernel, way, args);
}

static void finish_matrix(struct matrix *m, const char *name)
{
    finish_array(&m->row_ptr, name, m->nrows);
    finish_array(&m->col, name, m->nrows);
    finish_array(&m->val, name, m->nrows);
    finish_array(&m->x, name, m->nrows);
    finish_array(&m->y, name, m->nrows);
}

/* All numbers are exact, so every bit is compared. If beta is 0, y is preset to a value that no sum can have. */
static void run_exact(int kind, const int64_t *lengths, int64_t nrows, int64_t ncols, unsigned short seed[])
{
    struct matrix m;
    make_matrix(&m, kind, lengths, nrows, ncols, 1, seed);
    const double alpha = (double)(nrand48(seed) % 5 - 2), beta = (double)(nrand48(seed) % 3 - 1);
    for (int64_t i = 0; i < nrows; i++) {
        double size, value = alpha * product_of_row(&m, i, &size);
        number wanted = {value + (beta ? beta * at(&m.y, i).real : 0), 0};
        wanted.real += 0.0; /* turns -0 into 0 */
        expect_at(&m.y, i, wanted);
        if (beta == 0)
            set_element(m.y.type, m.y.host + m.y.begin + (size_t)i * types[m.y.type].bytes, (number){NAN, 0});
    }
    run_matrix(&m, kind, alpha, beta, (int)(nrand48(seed) % WAYS));
    if (m.y.there)
        assert_ok(cf_mem_copy(m.y.host, m.y.there, m.y.bytes));
    for (int64_t i = 0; i < nrows; i++)
        if (at(&m.y, i).real == 0) /* -0 is accepted, too */
            set_element(m.y.type, m.y.host + m.y.begin + (size_t)i * types[m.y.type].bytes, (number){0, 0});
    assert_ok(cf_mem_free(m.y.there));
    m.y.there = NULL;
    finish_matrix(&m, kinds[kind].tag);
}

/* ---- Rows of given lengths ---- */

enum { MOST_ROWS = 3000 };

TEST(spmv_rows_of_one_length_are_right)
{
    static const int64_t lengths[] = {0, 1, 7, 8, 9, 12, 16, 17, 20, 30, 60, 130, 300}, rows[] = {0, 1, 127, 257, 600};
    unsigned short seed[3] = {1, 2, 3};
    int64_t all[MOST_ROWS];
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (size_t r = (l + (size_t)kind) % 2; r < sizeof rows / sizeof *rows; r += 2) {
                for (int64_t i = 0; i < rows[r]; i++)
                    all[i] = lengths[l];
                run_exact(kind, all, rows[r], 1000, seed);
            }
}

/* Rows of many lengths in one block: around the work of a lane, a warp and a tile, with empty rows in between. */
TEST(spmv_rows_of_all_lengths_are_right)
{
    static const int64_t lengths[] = {0,  1,  2,   7,   12,  13,   24,   25,   31,   32,   33,
                                      48, 49, 100, 255, 257, 1000, 2047, 2048, 2049, 4096, 5000};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    unsigned short seed[3] = {4, 5, 6};
    int64_t all[MOST_ROWS];
    for (int kind = 0; kind < KINDS; kind++)
        for (int seldom = 1; seldom < 400; seldom *= 6) {
            const int64_t rows = 130 + nrand48(seed) % 200;
            for (int64_t i = 0; i < rows; i++)
                all[i] = nrand48(seed) % seldom ? nrand48(seed) % 6
                                                : lengths[nrand48(seed) % LENGTHS] / (seldom < 6 ? 4 : 1);
            run_exact(kind, all, rows, 777, seed);
        }
}

/* Rows that several blocks share: alone, adjacent, between other rows, and at the boundaries of these blocks. */
TEST(spmv_long_rows_are_right)
{
    static const int64_t cases[][12] = {
        {PART - 1},
        {PART},
        {PART + 1},
        {2 * PART - 1},
        {2 * PART},
        {LONG - 1, LONG, LONG + 1, 3 * PART - 1, 5, 3 * PART},
        {PART - 1, PART, PART + 1, LONG, LONG, 7},
        {PART - 1, PART, PART + 1, 2 * LONG - 3 * PART, 7},
        {PART, PART, 0, 0, PART, 1},
        {1, 3 * PART, 2, LONG, 0, LONG, 7},
        {PART + LONG, LONG, LONG - 1, LONG, 30000, 30000, 3},
        {100, PART + LONG / 2, LONG, 5, 5, 100000, 2 * LONG, LONG - 1},
        {PART - 1, LONG, PART + LONG, 1, LONG},
    };
    unsigned short seed[3] = {7, 8, 9};
    int64_t all[MOST_ROWS];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int kind = (int)c % KINDS, begin = 0; begin < 2; begin++, kind = (kind + 1) % KINDS) {
            int64_t rows = 0;
            for (int i = 0; i < 12 && (i == 0 || cases[c][i] || (i < 11 && cases[c][i + 1])); i++) {
                all[rows++] = cases[c][i];
                for (int few = begin ? (int)(nrand48(seed) % 40) : 0; few > 0; few--)
                    all[rows++] = nrand48(seed) % 9;
            }
            for (int few = begin ? 1500 : 0; few > 0; few--)
                all[rows++] = nrand48(seed) % 9;
            run_exact(kind, all, rows, 5000, seed);
        }
}

/* Enough rows that each warp has some parts of them and each row is spread over several warps. */
TEST(spmv_many_long_rows_are_right)
{
    enum { ROWS = 30000 };
    unsigned short seed[3] = {16, 17, 18};
    int64_t *lengths = malloc(ROWS * sizeof *lengths);
    assert_non_null(lengths);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int64_t i = 0; i < ROWS; i++)
            lengths[i] = i % (PART / 5) ? nrand48(seed) % 9 : LONG + nrand48(seed) % (2 * PART);
        lengths[ROWS / 2] = 70 * PART;
        run_exact(kind, lengths, ROWS, 3000, seed);
    }
    free(lengths);
}

/* Launches the kernels with visible scratch memory: they must leave it 0 for the next product. */
TEST(spmv_kernels_leave_their_memory_zero)
{
    enum { ROWS = 3000 };
    const cf_kernel *spmv = find_spmv(0);
    unsigned short seed[3] = {19, 20, 21};
    int64_t lengths[ROWS];
    for (int descends = 0; descends < 2; descends++) {
        struct matrix m;
        for (int64_t i = 0; i < ROWS; i++)
            lengths[i] = i % (PART / 5) ? nrand48(seed) % 9 : LONG + nrand48(seed) % (2 * PART);
        make_matrix(&m, 0, lengths, ROWS, 500, 1, seed);
        for (int64_t i = 0; descends && i <= ROWS; i++)
            set_whole(&m.row_ptr, i, nrand48(seed) % (m.nnz + 1));
        int32_t part = PART, room = (int32_t)(m.nnz / PART);
        const size_t bytes = 8 * SPMV_WORDS(float, (size_t)room);
        float one = 1;
        int64_t length = LONG;
        unsigned char *zeros = calloc(1, bytes), *left = malloc(bytes);
        assert_true(zeros && left);
        void *work, *pointers[5];
        struct array *const arrays[] = {&m.row_ptr, &m.col, &m.val, &m.x, &m.y};
        for (int a = 0; a < 5; a++)
            pointers[a] = place(arrays[a], LAUNCH);
        assert_ok(cf_mem_alloc(&work, bytes));
        assert_ok(cf_mem_copy(work, zeros, bytes));
        void *args[] = {&one,  &pointers[0], &pointers[1], &pointers[2], &pointers[3], &one,  &pointers[4],
                        &work, &m.nrows,     &m.ncols,     &m.nnz,       &part,        &room, &length};
        const cf_kernel *long_rows = NULL;
        for (uint32_t k = 0; k < spmv->nuses; k++)
            if (strstr(spmv->uses[k]->name, "long"))
                long_rows = spmv->uses[k];
        assert_non_null(long_rows);
        for (uint32_t k = 0; k < spmv->nuses; k++) {
            if (spmv->uses[k] == long_rows || strstr(spmv->uses[k]->name, "alone"))
                continue;
            assert_ok(cf_launch(spmv->uses[k], NULL, args));
            if (!strstr(spmv->uses[k]->name, "spmv_rows")) /* clears the memory of the others */
                assert_ok(cf_launch(long_rows, NULL, args));
            assert_ok(cf_mem_copy(left, work, bytes));
            assert_memory_equal(left, zeros, bytes);
        }
        assert_ok(cf_mem_free(work));
        memcpy(m.row_ptr.expected, m.row_ptr.host, m.row_ptr.bytes);
        assert_ok(cf_mem_copy(m.y.host, m.y.there, m.y.bytes));
        for (int64_t i = 0; i < ROWS; i++)
            expect_at(&m.y, i, at(&m.y, i));
        finish_matrix(&m, kinds[0].tag);
        free(zeros);
        free(left);
    }
}

/* ---- Random numbers ---- */

TEST(spmv_random_numbers_are_near_and_the_same_again)
{
    unsigned short seed[3] = {10, 11, 12};
    int64_t all[MOST_ROWS];
    for (int kind = 0; kind < KINDS; kind++) {
        struct matrix m;
        for (int64_t i = 0; i < 900; i++)
            all[i] = i == 500 ? 90000 : (int64_t)(2.5 * pow(erand48(seed) + 1e-3, -0.8));
        make_matrix(&m, kind, all, 900, 2000, 0, seed);
        char *first = malloc(m.y.bytes), *before = malloc(m.y.bytes);
        assert_true(first && before);
        memcpy(before, m.y.host, m.y.bytes);
        for (int run = 0; run < 3; run++) {
            memcpy(m.y.host, before, m.y.bytes);
            run_matrix(&m, kind, 0.75, -1.5, run == 2 ? LAUNCH : CALL_HOST);
            if (run == 2)
                assert_ok(cf_mem_copy(m.y.host, m.y.there, m.y.bytes));
            for (int64_t i = 0; i < m.nrows; i++) {
                double size, sum = product_of_row(&m, i, &size);
                double old = element(m.y.type, before + m.y.begin + (size_t)i * types[m.y.type].bytes).real;
                double wanted = 0.75 * sum - 1.5 * old, eps = m.y.type == F32 ? 6e-8 : 1.2e-16;
                if (!(fabs(at(&m.y, i).real - wanted) <= 400 * eps * (size + fabs(old))))
                    fail_msg("%s: row %lld is %g and not %g", kinds[kind].tag, (long long)i, at(&m.y, i).real, wanted);
            }
            if (run == 0)
                memcpy(first, m.y.host, m.y.bytes);
            assert_memory_equal(first, m.y.host, m.y.bytes);
        }
        memcpy(m.y.expected, first, m.y.bytes);
        finish_matrix(&m, kinds[kind].tag);
        free(first);
        free(before);
    }
}

/* NaN in A and x, and in launches columns and rows outside of the matrix, do not matter if alpha is 0. */
TEST(spmv_with_alpha_0_reads_neither_matrix_nor_x)
{
    unsigned short seed[3] = {16, 17, 18};
    int64_t all[MOST_ROWS];
    for (int kind = 0; kind < KINDS; kind++)
        for (int case_ = 0; case_ < 2 * 3 * WAYS; case_++) {
            const int way = case_ % WAYS, width = case_ / WAYS % 3;
            const double beta = case_ < 3 * WAYS ? 0 : -2;
            struct matrix m;
            for (int64_t i = 0; i < 300; i++)
                all[i] = width == 0 ? 5 : width == 1 ? 10 : 200;
            all[7] = 3 * PART;
            make_matrix(&m, kind, all, 300, 200, 1, seed);
            for (int64_t k = 0; k < m.nnz; k++)
                set_element(m.val.type, m.val.host + m.val.begin + (size_t)k * types[m.val.type].bytes,
                            (number){k % 2 ? NAN : INFINITY, 0});
            for (int64_t i = 0; i < m.ncols; i++)
                set_element(m.x.type, m.x.host + m.x.begin + (size_t)i * types[m.x.type].bytes, (number){NAN, 0});
            if (way == LAUNCH) {
                set_whole(&m.col, 3, INT32_MAX);
                set_whole(&m.row_ptr, 1, INT32_MIN);
            }
            memcpy(m.val.expected, m.val.host, m.val.bytes);
            memcpy(m.x.expected, m.x.host, m.x.bytes);
            memcpy(m.col.expected, m.col.host, m.col.bytes);
            memcpy(m.row_ptr.expected, m.row_ptr.host, m.row_ptr.bytes);
            for (int64_t i = 0; i < m.nrows; i++) {
                expect_at(&m.y, i, (number){beta == 0 ? 0 : beta * at(&m.y, i).real, 0});
                if (beta == 0)
                    set_element(m.y.type, m.y.host + m.y.begin + (size_t)i * types[m.y.type].bytes, (number){NAN, 0});
            }
            run_matrix(&m, kind, 0, beta, way);
            finish_matrix(&m, kinds[kind].tag);
        }
}

/* ---- Arguments ---- */

TEST(spmv_bad_arguments_are_named)
{
    int32_t row_ptr[] = {0, 2, 3, 4}, col[] = {0, 1, 2, 0}, far[] = {0, 2, 3, 5}, outside[] = {0, 3, 2, -1};
    int32_t negative[] = {-1, 2, 3, 4}, descending[] = {0, 3, 2, 4};
    float val[] = {1, 2, 3, 4}, x[] = {1, 10, 100}, y[] = {5, 6, 7};
    assert_fails(cf_spmv(1, far, col, val, x, 0, y, 3, 3, 4), CF_ERANGE,
                 "cf_spmv_f32_i32: row_ptr[3] = 5 is outside [0, 4]");
    assert_fails(cf_spmv(1, negative, col, val, x, 0, y, 3, 3, 4), CF_ERANGE,
                 "cf_spmv_f32_i32: row_ptr[0] = -1 is outside [0, 4]");
    assert_fails(cf_spmv(1, descending, col, val, x, 0, y, 3, 3, 4), CF_EINVAL,
                 "cf_spmv_f32_i32: row_ptr[2] = 2 is less than row_ptr[1] = 3");
    assert_fails(cf_spmv(1, row_ptr, outside, val, x, 0, y, 3, 3, 4), CF_ERANGE,
                 "cf_spmv_f32_i32: col[1] = 3 is outside [0, 3)");
    assert_fails(cf_spmv(1, row_ptr, col, val, x, 0, y, 3, 2, 4), CF_ERANGE,
                 "cf_spmv_f32_i32: col[2] = 2 is outside [0, 2)");
    assert_fails(cf_spmv(1, row_ptr, col, val, x, 0, y, -2, 3, 4), CF_EINVAL,
                 "cf_spmv_f32_i32: the extent row_ptr[nrows + 1] is negative with nrows = -2");
    assert_fails(cf_spmv(1, row_ptr, col, val, x, 0, y, 3, -3, 4), CF_EINVAL,
                 "cf_spmv_f32_i32: the extent x[ncols] is negative with ncols = -3");
    assert_fails(cf_spmv(1, row_ptr, col, val, x, 0, y, 3, 3, -4), CF_EINVAL,
                 "cf_spmv_f32_i32: the extent col[nnz] is negative with nnz = -4");
    assert_fails(cf_spmv(1, row_ptr, col, val, x, 0, y, INT64_MAX, 3, 4), CF_EOVERFLOW, "cf_spmv_f32_i32: ");
    assert_fails(cf_spmv(1, row_ptr, col, (float *)NULL, x, 0, y, 3, 3, 4), CF_EINVAL,
                 "cf_spmv_f32_i32: val is NULL and its extent is 4");
    assert_fails(cf_spmv(1, row_ptr, col, val, x, 0, x, 3, 3, 4), CF_EINVAL,
                 "cf_spmv_f32_i32: x and y overlap by 12 bytes");
    for (int i = 0; i < 3; i++)
        assert_true(y[i] == (float)(5 + i));
    assert_ok(cf_spmv(2, row_ptr, col, val, x, 1, y, 3, 3, 4));
    assert_true(y[0] == 47 && y[1] == 606 && y[2] == 15);
    assert_ok(cf_spmv(1, row_ptr, (int32_t *)NULL, (float *)NULL, (float *)NULL, 0, (float *)NULL, 0, 0, 0));
}

/* If row_ptr is not checked, any values in its range cause no access outside the arrays, and the next product is
 * right. */
TEST(spmv_row_ptr_that_descends_stays_inside)
{
    unsigned short seed[3] = {13, 14, 15};
    int64_t all[MOST_ROWS];
    for (int kind = 0; kind < KINDS; kind++)
        for (int way = 0; way < 3; way++) {
            struct matrix m;
            for (int64_t i = 0; i < 400; i++)
                all[i] = way == 0 ? 5 : way == 1 ? 9 : 500;
            make_matrix(&m, kind, all, 400, 300, 1, seed);
            for (int64_t i = 0; i <= 400; i++)
                set_whole(&m.row_ptr, i, nrand48(seed) % (m.nnz + 1));
            run_matrix(&m, kind, 1, 1, LAUNCH);
            assert_ok(cf_mem_copy(m.y.host, m.y.there, m.y.bytes));
            for (int64_t i = 0; i < 400; i++)
                expect_at(&m.y, i, at(&m.y, i));
            memcpy(m.row_ptr.expected, m.row_ptr.host, m.row_ptr.bytes);
            finish_matrix(&m, kinds[kind].tag);
            all[7] = 5 * PART;
            run_exact(kind, all, 400, 300, seed);
        }
}

TEST(spmv_descriptor_says_what_it_costs)
{
    const cf_kernel *kernel = find_spmv(4);
    int64_t nrows = 1000, ncols = 100, nnz = 5000;
    double scalar = 1, value;
    void *pointer = NULL,
         *args[] = {&scalar, &pointer, &pointer, &pointer, &pointer, &scalar, &pointer, NULL, &nrows, &ncols, &nnz};
    assert_ok(cf_kernel_evaluate_real(kernel, kernel->flops.ops, args, &value));
    assert_true(value == 2 * 5000 + 3 * 1000);
    assert_ok(cf_kernel_evaluate_real(kernel, kernel->bytes.ops, args, &value));
    assert_true(value == 16 * 5000 + 24 * 1000 + 8 * 100);
}

/* ---- Past 2^31 ---- */

static void *make_memory(size_t bytes)
{
    void *memory;
    assert_ok(cf_mem_alloc(&memory, bytes));
    return memory;
}

/* All sums are exact integers: x[j] = j % 5 and every element of the matrix is 1. */
enum { COLUMNS = 1000 };

static float *make_x(void)
{
    float x[COLUMNS], *there = make_memory(sizeof x);
    for (int j = 0; j < COLUMNS; j++)
        x[j] = (float)(j % 5);
    assert_ok(cf_mem_copy(there, x, sizeof x));
    return there;
}

/* Rows of 2000 elements; the last rows are beyond element 2^31. Most elements are in column 0, where x is 0. */
TEST(spmv_of_many_elements_is_right)
{
    enum { WIDTH = 2000, LOOK = 20 };
    const int64_t nrows = ((int64_t)1 << 31) / WIDTH + 3 * LOOK, nnz = nrows * WIDTH;
    const int64_t begins[] = {0, ((int64_t)1 << 30) / WIDTH, ((int64_t)1 << 31) / WIDTH - LOOK / 2, nrows - LOOK};
    static int32_t columns[LOOK * WIDTH];
    skip_without_memory(9 * nnz);
    int64_t *row_ptr = make_memory((size_t)(nrows + 1) * sizeof *row_ptr);
    int32_t *col = make_memory((size_t)nnz * sizeof *col);
    float *val = make_memory((size_t)nnz * sizeof *val), *x = make_x(), *y = make_memory((size_t)nrows * sizeof *y);
    float *found = malloc((size_t)nrows * sizeof *found);
    assert_non_null(found);
    assert_ok(cf_fill((int64_t)WIDTH, row_ptr, nrows + 1));
    assert_ok(cf_exclusive_scan(row_ptr, row_ptr, nrows + 1));
    assert_ok(cf_fill(0, col, nnz));
    assert_ok(cf_fill(1.f, val, nnz));
    assert_ok(cf_fill(NAN, y, nrows));
    for (int b = 0; b < 4; b++) {
        for (int64_t i = 0; i < LOOK * WIDTH; i++)
            columns[i] = (int32_t)((begins[b] + i / WIDTH) * 7 + i) % COLUMNS;
        assert_ok(cf_mem_copy(col + begins[b] * WIDTH, columns, sizeof columns));
    }
    assert_ok(cf_spmv(2.f, row_ptr, col, val, x, 0.f, y, nrows, (int64_t)COLUMNS, nnz));
    assert_ok(cf_mem_copy(found, y, (size_t)nrows * sizeof *y));
    for (int64_t row = 0; row < nrows; row++) {
        float expected = 0;
        for (int b = 0; b < 4; b++)
            for (int64_t k = 0; row >= begins[b] && row < begins[b] + LOOK && k < WIDTH; k++)
                expected += 2 * (float)(((row * 7 + (row - begins[b]) * WIDTH + k) % COLUMNS) % 5);
        if (found[row] != expected)
            fail_msg("row %lld is %g and not %g", (long long)row, found[row], expected);
    }
    free(found);
    void *all[] = {row_ptr, col, val, x, y};
    for (int i = 0; i < 5; i++)
        assert_ok(cf_mem_free(all[i]));
}

/* More than 2^31 rows, of which few have elements: 1, 2 or 5000. */
TEST(spmv_of_many_rows_is_right)
{
    enum { ROWS = 6, LONGEST = 5000 };
    const int64_t nrows = ((int64_t)1 << 31) + 12345;
    const int64_t rows[ROWS] = {0, 77, ((int64_t)1 << 31) - 1, (int64_t)1 << 31, ((int64_t)1 << 31) + 300, nrows - 1};
    const int64_t lengths[ROWS] = {1, LONGEST, 2, 1, LONGEST, 1};
    static int32_t columns[2 * LONGEST + 5];
    static float ones[2 * LONGEST + 5];
    const int64_t nnz = 2 * LONGEST + 5;
    skip_without_memory(14 * nrows);
    int64_t *row_ptr = make_memory((size_t)(nrows + 1) * sizeof *row_ptr);
    int32_t *col = make_memory(sizeof columns);
    float *val = make_memory(sizeof ones), *x = make_x(), *y = make_memory((size_t)nrows * sizeof *y);
    for (int i = 0; i < nnz; i++) {
        columns[i] = i % COLUMNS;
        ones[i] = 1;
    }
    assert_ok(cf_mem_copy(col, columns, sizeof columns));
    assert_ok(cf_mem_copy(val, ones, sizeof ones));
    assert_ok(cf_fill((int64_t)0, row_ptr, nrows + 1));
    for (int r = 0; r < ROWS; r++)
        assert_ok(cf_mem_copy(row_ptr + rows[r] + 1, &lengths[r], sizeof lengths[r]));
    assert_ok(cf_inclusive_scan(row_ptr, row_ptr, nrows + 1));
    assert_ok(cf_fill(8.f, y, nrows));
    assert_ok(cf_spmv(1.f, row_ptr, col, val, x, 0.5f, y, nrows, (int64_t)COLUMNS, nnz));
    float found, least, most;
    for (int64_t r = 0, k = 0; r < ROWS; r++) {
        float expected = 4;
        for (int64_t end = k + lengths[r]; k < end; k++)
            expected += (float)(k % COLUMNS % 5);
        assert_ok(cf_mem_copy(&found, y + rows[r], sizeof found));
        assert_true(found == expected);
        found = 4;
        assert_ok(cf_mem_copy(y + rows[r], &found, sizeof found));
    }
    assert_ok(cf_min(y, &least, nrows)); /* all other rows */
    assert_ok(cf_max(y, &most, nrows));
    assert_true(least == 4 && most == 4);
    void *all[] = {row_ptr, col, val, x, y};
    for (int i = 0; i < 5; i++)
        assert_ok(cf_mem_free(all[i]));
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
