/* test_loop.c - kernels that the CPU runs as loops over their threads. Each thread must run once, with its own indices:
 * for all forms of index and guard, for whole grids and parts of them, and with the code for each kind of processor. */
#include <math.h>
#include <stdlib.h>

#include "run_group.h"

#include <cuferry/registry.h>

#include "loop_kernels.h"

static const cf_kernel *kernel_of(const char *name)
{
    const cf_kernel *kernel = cf_kernel_find(&loop_registry, name);
    if (!kernel)
        fail_msg("there is no kernel %s", name);
    return kernel;
}

/* ---- The ways to run a grid ---- */

static int has_v3(void)
{
#if defined __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
#else
    return 0;
#endif
}

/* All blocks at once or in parts, with the code for each kind of processor. */
static const struct way {
    uint32_t processor;
    uint64_t part;
} ways[] = {{0, UINT64_MAX},       {0, 1}, {0, 3}, {CF_HOST_X86_64_V3, UINT64_MAX}, {CF_HOST_X86_64_V3, 1},
            {CF_HOST_X86_64_V3, 3}};
enum { WAYS = sizeof ways / sizeof *ways };

static int way_exists(int way)
{
    return !ways[way].processor || has_v3();
}

static void run(const cf_kernel *kernel, cf_dim3 grid, cf_dim3 block, void *const args[], int way)
{
    const cf_host_launch launch = {.grid = grid, .block = block, .args = args, .processor = ways[way].processor};
    uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z, part = ways[way].part;
    for (uint64_t begin = 0; begin < blocks; begin += blocks - begin < part ? blocks - begin : part)
        kernel->cpu_body(&launch, begin, blocks - begin < part ? blocks : begin + part);
}

/* Runs as many blocks of `block` threads as n threads require. */
static void run_line(const cf_kernel *kernel, int64_t n, uint32_t block, void *const args[], int way)
{
    run(kernel, (cf_dim3){(uint32_t)((n + block - 1) / block), 1, 1}, (cf_dim3){block, 1, 1}, args, way);
}

static const int sizes[] = {0,  1,   2,   31,  32,  33,  63,   64,   65,   95,   96,
                            97, 127, 255, 256, 257, 511, 1000, 1023, 1024, 1025, 4099};
enum { SIZES = sizeof sizes / sizeof *sizes, LARGEST = 4099, ROOM = LARGEST + 1024 };

static int x[ROOM];

#define EACH(way, n)                                             \
    for (int way = 0; way < WAYS; way++)                         \
        for (int at = 0, n; way_exists(way) && at < SIZES; at++) \
            if (n = sizes[at], memset(x, 0, sizeof x), 1)

/* ---- Forms ---- */

TEST(loop_of_any_form_runs_each_thread_once)
{
    static const struct {
        const char *name;
        uint32_t block;
    } forms[] = {
        {"forms_plain", 96},        {"forms_return", 256}, {"forms_braces", 256},    {"forms_static_cast", 256},
        {"forms_mixed", 256},       {"forms_macro", 256},  {"forms_function", 256},  {"forms_parts", 256},
        {"forms_lambda", 256},      {"forms_stride", 256}, {"forms_float", 256},     {"forms_auto", 1},
        {"forms_auto", 1024},       {"forms_auto", 37},    {"declared_before", 256}, {"forms_literal", 64},
        {"forms_offset", 256},      {"other_name", 32},    {"forms_end", 256},       {"forms_else", 256},
        {"forms_else_braces", 256}, {"forms_shift", 256},
    };
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        const cf_kernel *kernel = kernel_of(forms[form].name);
        EACH(way, n)
        {
            int *data = x, narrow = n;
            int64_t wide = n;
            run_line(kernel, n, forms[form].block,
                     (void *[]){&data, kernel->params[1].bytes == 8 ? (void *)&wide : &narrow}, way);
            for (int i = 0; i < ROOM; i++)
                if (x[i] != (i < n ? i + 1 : 0))
                    fail_msg("%s, n = %d, way %d: x[%d] is %d", forms[form].name, n, way, i, x[i]);
        }
    }
}

TEST(loop_called_by_the_library_is_the_same)
{
    for (int at = 0; at < SIZES; at++) {
        int n = sizes[at];
        memset(x, 0, sizeof x);
        assert_ok(loop_forms_plain(x, n));
        assert_ok(loop_forms_return(x, (unsigned int)n));
        assert_ok(loop_forms_static_cast(x, n));
        assert_ok(loop_forms_auto(x, n));
        assert_ok(loop_forms_stride(x, n));
        for (int i = 0; i < ROOM; i++)
            assert_int_equal(x[i], i < n ? 5 * (i + 1) : 0);
    }
    enum { LARGE = 1 << 20 }; /* enough elements for all worker threads */
    int *large = calloc(LARGE, sizeof *large);
    assert_non_null(large);
    assert_ok(loop_forms_mixed(large, LARGE - 5));
    for (int i = 0; i < LARGE; i++)
        assert_int_equal(large[i], i < LARGE - 5 ? i + 1 : 0);
    free(large);
    assert_ok(loop_without_index(x));
}

/* The block size differs from that in the kernel's text, so threads have other elements. */
TEST(loop_of_another_block_than_its_text_has_is_the_same)
{
    static const uint32_t blocks[] = {1, 32, 128};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        EACH(way, n)
        {
            int *data = x, grid = (n + 63) / 64;
            static int expected[ROOM];
            memset(expected, 0, sizeof expected);
            for (int block = 0; block < grid; block++)
                for (int t = 0; t < (int)blocks[b]; t++)
                    if (block * 64 + t < n)
                        expected[block * 64 + t] += block * 64 + t + 1;
            run(kernel_of("forms_literal"), (cf_dim3){(uint32_t)grid, 1, 1}, (cf_dim3){blocks[b], 1, 1},
                (void *[]){&data, &n}, way);
            assert_memory_equal(x, expected, sizeof x);
        }
}

TEST(loop_of_several_elements_to_a_thread_is_whole)
{
    EACH(way, n)
    {
        int *data = x;
        run_line(kernel_of("forms_items"), (n + 3) / 4, 256, (void *[]){&data, &n}, way);
        for (int i = 0; i < ROOM; i++)
            assert_int_equal(x[i], i < n ? i + 1 : 0);
    }
}

TEST(loop_over_blocks_that_wrap_is_the_same)
{
    enum { BLOCKS = 70000 };
    static const char *const names[] = {"narrow_block", "cast_block_i16", "narrow_function", "cast_block_i32"};
    int *own = malloc(BLOCKS * sizeof *own), n = BLOCKS;
    assert_non_null(own);
    for (int number = 0; number < 4; number++)
        for (int way = 0; way < WAYS; way++) {
            if (!way_exists(way))
                continue;
            memset(own, 0, BLOCKS * sizeof *own);
            run_line(kernel_of(names[number]), n, 1, (void *[]){&own, &n}, way);
            for (int i = 0; i < BLOCKS; i++) {
                /* In 16 bits, 65536 to 69999 wrap to 0 to 4463. */
                int narrow = i >= 32768 ? 0 : i < BLOCKS - 65536 ? 2 * (i + 1) : i + 1;
                if (own[i] != (number < 3 ? narrow : i + 1))
                    fail_msg("%s, way %d: [%d] is %d", names[number], way, i, own[i]);
            }
        }
    free(own);
}

TEST(loop_in_another_order_is_the_same)
{
    assert_int_equal(end_library(state), CF_OK);
    assert_int_equal(setenv("CF_HOST_ORDER", "7", 1), 0);
    assert_int_equal(use_cpu(state), CF_OK);
    int n = 1000;
    memset(x, 0, sizeof x);
    int status = loop_forms_plain(x, n);
    if (status == CF_OK)
        status = loop_forms_function(x, n);
    assert_int_equal(end_library(state), CF_OK);
    assert_int_equal(unsetenv("CF_HOST_ORDER"), 0);
    assert_int_equal(use_cpu(state), CF_OK);
    assert_int_equal(status, CF_OK);
    for (int i = 0; i < ROOM; i++)
        assert_int_equal(x[i], i < n ? 2 * (i + 1) : 0);
}

/* ---- Threads past the end ---- */

TEST(loop_with_work_past_the_end_does_it)
{
    static const char *const names[] = {"all_threads", "all_else", "all_after", "all_before"};
    for (int number = 0; number < 4; number++)
        EACH(way, n)
        {
            int *data = x, whole = (n + 63) / 64 * 64, is_last = number == 3;
            run_line(kernel_of(names[number]), n, 64, (void *[]){&data, &n}, way);
            for (int i = 0; i < ROOM; i++) {
                int inside = is_last ? 0 : 1, outside = is_last ? 1 : 2;
                if (x[i] != (i < n ? inside : i < whole ? outside : 0))
                    fail_msg("%s, n = %d, way %d: x[%d] is %d", names[number], n, way, i, x[i]);
            }
        }
    static const char *const counting[] = {"all_counted", "all_compared"};
    for (int number = 0; number < 2; number++)
        EACH(way, n)
        {
            int *data = x;
            run_line(kernel_of(counting[number]), n, 256, (void *[]){&data, &n}, way);
            if (x[0] != (n + 255) / 256 * 256)
                fail_msg("%s, n = %d, way %d: %d threads", counting[number], n, way, x[0]);
        }
}

/* ---- Guards that are not a simple bound ---- */

TEST(loop_bound_of_each_thread_holds)
{
    EACH(way, n)
    {
        int *data = x, *limit = NULL;
        run_line(kernel_of("bound_of_thread"), n, 256, (void *[]){&data, &limit, &n}, way);
        for (int i = 0; i < ROOM; i++)
            assert_int_equal(x[i], i < n && i % 3 ? 2 : 0);
    }
}

TEST(loop_index_that_wraps_runs_all_threads)
{
    EACH(way, n)
    {
        int *data = x, m = 100, whole = (n + 255) / 256;
        run_line(kernel_of("narrow_index"), n, 256, (void *[]){&data, &n, &m}, way);
        for (int i = 0; i < ROOM; i++)
            assert_int_equal(x[i], i < m ? whole : 0);
    }
}

TEST(loop_bound_is_compared_as_in_the_kernel)
{
    static const int limits[] = {INT32_MIN, -1, 0, 1, 100, 5000, INT32_MAX};
    static const double reals[] = {-INFINITY, -0.5, 0, 0.5, 99.5, 1e30, INFINITY, NAN};
    EACH(way, n)
    {
        int *data = x, before = 0;
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
            int limit = limits[l];
            run_line(kernel_of("signed_limit"), n, 256, (void *[]){&data, &n, &limit}, way);
            for (int i = 0; i < ROOM; i++) {
                assert_int_equal(x[i], i < n && i < limit);
                x[i] = 0;
            }
            run_line(kernel_of("negative_limit"), n, 256, (void *[]){&data, &n, &limit}, way);
            for (int i = 0; i < ROOM; i++) {
                assert_int_equal(x[i], i < n && (unsigned int)i < (unsigned int)limit);
                x[i] = 0;
            }
            run_line(kernel_of("from_on"), n, 256, (void *[]){&data, &n, &limit}, way);
            for (int i = 0; i < ROOM; i++) {
                assert_int_equal(x[i], i >= 1 && i > limit && i < n && i <= (n + 255) / 256 * 256);
                x[i] = before;
            }
        }
        for (size_t l = 0; l < sizeof reals / sizeof *reals; l++) {
            double limit = reals[l];
            run_line(kernel_of("real_limit"), n, 256, (void *[]){&data, &n, &limit}, way);
            for (int i = 0; i < ROOM; i++) {
                assert_int_equal(x[i], i < n && i < limit);
                x[i] = 0;
            }
        }
    }
}

TEST(loop_index_from_below_zero_is_compared_as_in_the_kernel)
{
    for (int by = -300; by <= 0; by += 100)
        EACH(way, n)
        {
            int *data = x, whole = (n + 255) / 256 * 256;
            run_line(kernel_of("below_zero"), n, 256, (void *[]){&data, &n, &by}, way);
            for (int i = 0; i < ROOM; i++)
                assert_int_equal(x[i], i < n && i < whole + by);
        }
}

TEST(loop_index_of_real_steps_runs_all_threads)
{
    static const float steps[] = {0.5f, 1, 1.5f};
    for (int step = 0; step < 3; step++)
        EACH(way, n)
        {
            static int expected[ROOM];
            int *data = x, whole = (n + 255) / 256 * 256;
            float by = steps[step];
            memset(expected, 0, sizeof expected);
            for (int thread = 0; thread < whole; thread++)
                if ((int)((float)thread * by) < n)
                    expected[(int)((float)thread * by)]++;
            run_line(kernel_of("real_steps"), n, 256, (void *[]){&data, &n, &by}, way);
            assert_memory_equal(x, expected, sizeof expected);
        }
}

TEST(loop_bound_of_a_class_is_evaluated_in_each_thread)
{
    EACH(way, n)
    {
        int *data = x;
        run_line(kernel_of("compared_by_class"), n, 256, (void *[]){&data, &n}, way);
        for (int i = 0; i < ROOM; i++)
            assert_int_equal(x[i], i < n && i % 2 == 0);
    }
}

TEST(loop_division_after_a_guard_is_not_reached)
{
    for (int step = -1; step < 40; step += 20)
        EACH(way, n)
        {
            int *data = x, own = step < 19 ? 0 : step;
            run_line(kernel_of("divided"), n, 256, (void *[]){&data, &n, &own}, way);
            for (int i = 0; i < ROOM; i++)
                assert_int_equal(x[i], own && i < n && i / own < 3 ? i / own + 1 : 0);
        }
}

/* ---- Indices ---- */

enum { NX = 21, NY = 9, NZ = 5, BX = 8, BY = 4, BZ = 2 };

TEST(loop_thread_sees_its_indices)
{
    static int own[NZ][NY][NX][6], place[NZ][NY][NX], rows[NZ][NY][NX][4];
    const cf_dim3 grid = {(NX + BX - 1) / BX, (NY + BY - 1) / BY, (NZ + BZ - 1) / BZ}, block = {BX, BY, BZ};
    for (int way = 0; way < WAYS; way++) {
        if (!way_exists(way))
            continue;
        int *indices = &own[0][0][0][0], *places = &place[0][0][0], *row = &rows[0][0][0][0], nx = NX, ny = NY, nz = NZ;
        memset(own, 0, sizeof own), memset(place, 0, sizeof place);
        run(kernel_of("indices"), grid, block, (void *[]){&indices, &nx, &ny, &nz}, way);
        memset(rows, 0, sizeof rows);
        run(kernel_of("indices_of_rows"), grid, block, (void *[]){&row, &nx, &ny, &nz}, way);
        run(kernel_of("indices_by_function"), grid, block, (void *[]){&places, &nx, &ny, &nz}, way);
        for (int k = 0; k < NZ; k++)
            for (int j = 0; j < NY; j++)
                for (int i = 0; i < NX; i++) {
                    const int expected[6] = {i % BX, j % BY, k % BZ, i / BX, j / BY, k / BZ};
                    assert_memory_equal(own[k][j][i], expected, sizeof expected);
                    const int of_rows[4] = {j % BY, k % BZ, j / BY, k / BZ};
                    assert_memory_equal(rows[k][j][i], of_rows, sizeof of_rows);
                    assert_int_equal(place[k][j][i],
                                     (i % BX + 10 * (j % BY) + 100 * (k % BZ)) * 1000 + (int)grid.x + BY);
                }
    }
}

/* An argument that is as wide as the kernel's index. */
union extent {
    int32_t narrow;
    int64_t wide;
};

static const char *const kinds[] = {"i32", "u32", "i64", "u64"};

static void *extent(union extent *extent, int kind, int64_t value)
{
    if (kind < 2)
        extent->narrow = (int32_t)value;
    else
        extent->wide = value;
    return extent;
}

TEST(loop_interiors_of_grids_are_whole)
{
    static const int extents[][3] = {{1, 1, 1},  {2, 2, 2},  {3, 3, 3},   {31, 7, 1}, {32, 8, 2}, {33, 9, 3},
                                     {16, 4, 2}, {17, 5, 3}, {64, 16, 4}, {65, 1, 9}, {1, 65, 9}, {100, 33, 5}};
    enum { MOST = 100 * 33 * 5 };
    static int grid[MOST];
    for (int kind = 0; kind < 4; kind++)
        for (size_t e = 0; e < sizeof extents / sizeof *extents; e++)
            for (int way = 0; way < WAYS; way++) {
                if (!way_exists(way))
                    continue;
                const int nx = extents[e][0], ny = extents[e][1], nz = extents[e][2];
                union extent n[3];
                int *data = grid;
                void *args[] = {&data, extent(&n[0], kind, nx), extent(&n[1], kind, ny), extent(&n[2], kind, nz)};
                char name[32];
                memset(grid, 0, sizeof grid);
                snprintf(name, sizeof name, "interior_2d_%s", kinds[kind]);
                run(kernel_of(name), (cf_dim3){((uint32_t)nx + 31) / 32, ((uint32_t)ny + 7) / 8, 1},
                    (cf_dim3){32, 8, 1}, args, way);
                for (int at = 0; at < MOST; at++) {
                    int i = at % nx, j = at / nx;
                    int is_inside = i > 0 && i < nx - 1 && j > 0 && j < ny - 1;
                    if (grid[at] != (is_inside ? i + 100 * j : 0))
                        fail_msg("%s of %d x %d, way %d: [%d][%d] is %d", name, nx, ny, way, j, i, grid[at]);
                }
                memset(grid, 0, sizeof grid);
                snprintf(name, sizeof name, "interior_3d_%s", kinds[kind]);
                run(kernel_of(name),
                    (cf_dim3){((uint32_t)nx + 15) / 16, ((uint32_t)ny + 3) / 4, ((uint32_t)nz + 1) / 2},
                    (cf_dim3){16, 4, 2}, args, way);
                for (int at = 0; at < MOST; at++) {
                    int i = at % nx, j = at / nx % ny, k = at / nx / ny;
                    if (grid[at] != (i >= 1 && k < nz ? i + 100 * j + 10000 * k : 0))
                        fail_msg("%s of %d x %d x %d, way %d: [%d][%d][%d] is %d", name, nx, ny, nz, way, k, j, i,
                                 grid[at]);
                }
            }
}

/* If a row is longer than an int can count, it does not become a loop. */
TEST(loop_of_more_threads_than_int_counts_is_right)
{
    static int part[1024];
    const uint64_t first = (UINT64_C(1) << 32) / 256 + 5;
    int64_t n = (int64_t)(first * 256 + 700);
    int *shifted = (int *)((uintptr_t)part - first * 256 * sizeof *part);
    void *args[] = {&shifted, &n};
    for (int way = 0; way < WAYS; way++) {
        if (!way_exists(way))
            continue;
        const cf_host_launch launch = {
            .grid = {(uint32_t)first + 4, 1, 1}, .block = {256, 1, 1}, .args = args, .processor = ways[way].processor};
        memset(part, 0, sizeof part);
        kernel_of("forms_static_cast")->cpu_body(&launch, first, first + 4);
        for (int i = 0; i < 1024; i++)
            assert_int_equal(part[i], i < 700 ? (int)(uint32_t)(first * 256 + (uint64_t)i) + 1 : 0);
    }
}

/* ---- Arithmetic ---- */

TEST(loop_sums_are_the_same_bit_for_bit)
{
    static float from[ROOM], to[ROOM], plain[ROOM], fused[ROOM];
    const float a = 1.1f;
    for (int kind = 0; kind < 4; kind++)
        EACH(way, n)
        {
            union extent count;
            const float *in = from;
            float *out = to;
            for (int i = 0; i < ROOM; i++) {
                from[i] = 1.0f / (float)(i + 3);
                plain[i] = fused[i] = to[i] = (float)i * 0.37f;
            }
            for (int i = 0; i < n; i++) {
                volatile float product = a * from[i];
                plain[i] = product + plain[i];
                fused[i] = fmaf(a, from[i], fused[i]);
            }
            char name[32];
            snprintf(name, sizeof name, "multiply_add_%s", kinds[kind]);
            run_line(kernel_of(name), n, 256, (void *[]){(void *)(uintptr_t)&a, &in, &out, extent(&count, kind, n)},
                     way);
            /* Either all results are fused, or none is; see kernels/CPU.md. */
            if (memcmp(to, plain, sizeof to) != 0 && memcmp(to, fused, sizeof to) != 0)
                fail_msg("%s, n = %d, way %d", name, n, way);
            for (int i = 0; i < ROOM; i++)
                to[i] = (float)i * 0.37f;
            run_line(kernel_of("multiply_then_add"), n, 256, (void *[]){(void *)(uintptr_t)&a, &in, &out, &n}, way);
            assert_memory_equal(to, plain, sizeof to);
        }
    EACH(way, n)
    {
        int *data = x, half = n / 2;
        run_line(kernel_of("twice"), half, 256, (void *[]){&data, &half}, way);
        for (int i = 0; i < half; i++) {
            assert_int_equal(x[2 * i], i + 2);
            assert_int_equal(x[2 * i + 1], i + 1);
        }
    }
}

/* ---- Thread-private memory ---- */

static int own_filled(const int *from, int i, int n)
{
    (void)n;
    return from[i] * (from[i] & 7) + i;
}

static int own_pair(const int *from, int i, int n)
{
    (void)n;
    return from[i] & 1 ? i - from[i] : from[i] - i;
}

static int own_pointers(const int *from, int i, int n)
{
    return from[i] & 1 ? from[n - 1 - i] : from[i];
}

static int own_addressed(const int *from, int i, int n)
{
    (void)n;
    return from[i] & 1 ? -i : from[i];
}

static int own_object(const int *from, int i, int n)
{
    int a = from[i], b = from[n - 1 - i], larger = a > b ? a : b, least = a > b ? b : a;
    return i < least ? least : i > larger ? larger : i;
}

TEST(loop_threads_do_not_share_their_own_memory)
{
    static const struct {
        const char *name;
        int (*expected)(const int *from, int i, int n);
    } kernels[] = {{"own_filled", own_filled},
                   {"own_pair", own_pair},
                   {"own_pointers", own_pointers},
                   {"own_addressed", own_addressed},
                   {"own_object", own_object}};
    static int from[LARGEST];
    for (int i = 0; i < LARGEST; i++)
        from[i] = (int)((unsigned int)i * 2654435761u >> 12) % 5000;
    for (size_t number = 0; number < sizeof kernels / sizeof *kernels; number++)
        EACH(way, n)
        {
            int *in = from, *out = x;
            run_line(kernel_of(kernels[number].name), n, 256, (void *[]){&in, &out, &n}, way);
            for (int i = 0; i < ROOM; i++)
                if (x[i] != (i < n ? kernels[number].expected(from, i, n) : 0))
                    fail_msg("%s, n = %d, way %d: y[%d] is %d", kernels[number].name, n, way, i, x[i]);
        }
}

TEST(loop_left_as_it_is_gives_the_same)
{
    static float from[ROOM], to[ROOM], expected[ROOM];
    for (int at = 0; at < SIZES; at++) {
        int n = sizes[at];
        for (int i = 0; i < ROOM; i++) {
            from[i] = (float)(i % 50);
            to[i] = expected[i] = (float)(i % 11);
        }
        for (int i = 0; i < n; i++)
            expected[i] += 4 * from[i];
        assert_ok(loop_multiply_add_plain(2, from, to, n));
        assert_ok(loop_multiply_add_i32(2, from, to, n));
        assert_memory_equal(to, expected, sizeof to);
    }
}

int main(void)
{
    return run_all_tests(use_cpu, end_library);
}
