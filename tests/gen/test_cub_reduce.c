/* test_cub_reduce.c - the reductions and scans of cub_reduce.cu have the same results as loops. */
#include "expect_all.h"

#include "data/random.h"

#include "cub_reduce_kernels.h"

enum { ITEMS = 3, MOST = 2 * 128 * ITEMS, SCANS = 20, WARP_ROWS = 14 };

static int x[MOST];

typedef int operation(int a, int b);

static int add(int a, int b)
{
    return a + b;
}

static int last(int a, int b)
{
    return b ? b : a;
}

static int reduce(operation *op, const int *from, int count, int step)
{
    int value = from[0];
    for (int i = 1; i < count; i++)
        value = op(value, from[i * step]);
    return value;
}

static void expect(const char *name, int row, int place, int got, int wanted)
{
    if (got != wanted)
        fail_msg("%s: row %d, element %d is %d, not %d", name, row, place, got, wanted);
}

/* ---- Blocks ---- */

static const struct {
    const char *name;
    int (*run)(const int *x, int valid, int *results);
    int threads, is_commutative;
} block_reductions[] = {
    {"i32_1", cub_reduce_block_reduce_i32_1, 1, 0},
    {"f32_48", cub_reduce_block_reduce_f32_48, 48, 0},
    {"f64_16_8", cub_reduce_block_reduce_f64_16_8, 128, 0},
    {"wide_8_4_3", cub_reduce_block_reduce_wide_8_4_3, 96, 0},
    {"i32_raking", cub_reduce_block_reduce_i32_raking, 120, 0},
    {"i32_commutative", cub_reduce_block_reduce_i32_commutative, 128, 1},
};

TEST(reductions_of_blocks_equal_loops)
{
    for (size_t k = 0; k < sizeof block_reductions / sizeof *block_reductions; k++) {
        const int threads = block_reductions[k].threads;
        const int valids[] = {1, threads / 3 + 1, threads - (threads > 1), threads};
        for (int v = 0; v < 4; v++) {
            int results[6];
            if (block_reductions[k].run(x, valids[v], results) != CF_OK)
                fail_msg("%s: %s", block_reductions[k].name, cf_last_error());
            const int wanted[] = {
                reduce(add, x, threads, ITEMS),        reduce(add, x, threads * ITEMS, 1),
                reduce(add, x, valids[v], ITEMS),      reduce(last, x, threads, ITEMS),
                reduce(last, x + 1, valids[v], ITEMS), reduce(last, x, threads * ITEMS, 1),
            };
            for (int i = 0; i < (block_reductions[k].is_commutative ? 3 : 6); i++)
                expect(block_reductions[k].name, valids[v], i, results[i], wanted[i]);
        }
    }
}

enum { NOTHING = -1, RUNNING = -2, CARRIED = 7 };

/* The rows of the kernel's results. */
static const struct {
    operation *op;
    int is_exclusive, initial, items;
} scans[SCANS] = {
    {add, 0, NOTHING, 1},      {add, 1, 0, 1},       {add, 0, NOTHING, 1},      {add, 1, 0, 1},
    {last, 0, NOTHING, 1},     {last, 1, 5, 1},      {last, 1, NOTHING, 1},     {last, 1, 5, 1},
    {add, 0, RUNNING, 1},      {add, 1, RUNNING, 1}, {add, 0, NOTHING, ITEMS},  {add, 1, 0, ITEMS},
    {add, 0, NOTHING, ITEMS},  {add, 1, 0, ITEMS},   {last, 0, NOTHING, ITEMS}, {last, 1, 5, ITEMS},
    {last, 1, NOTHING, ITEMS}, {last, 0, 5, ITEMS},  {add, 0, RUNNING, ITEMS},  {add, 1, RUNNING, ITEMS},
};

static const struct {
    const char *name;
    int (*run)(const int *x, int *results, int *sums);
    int threads;
} block_scans[] = {
    {"i32_1", cub_reduce_block_scan_i32_1, 1},
    {"i32_48", cub_reduce_block_scan_i32_48, 48},
    {"f32_96", cub_reduce_block_scan_f32_96, 96},
    {"i64_8_4_3", cub_reduce_block_scan_i64_8_4_3, 96},
    {"wide_memoize", cub_reduce_block_scan_wide_memoize, 120},
};

static void check_scan(const char *name, int row, int threads, const int *results)
{
    const int count = threads * scans[row].items;
    int carried = CARRIED;
    for (int tile = 0; tile < 2; tile++) {
        const int *from = x + tile * count, *got = results + tile * count;
        int is_empty = scans[row].initial == NOTHING;
        int value = scans[row].initial == RUNNING ? carried : scans[row].initial;
        for (int i = 0; i < count; i++) {
            const int before = value, is_unknown = is_empty && scans[row].is_exclusive;
            value = is_empty ? from[i] : scans[row].op(value, from[i]);
            is_empty = 0;
            if (!is_unknown)
                expect(name, row, tile * count + i, got[i], scans[row].is_exclusive ? before : value);
        }
        carried = value;
    }
}

TEST(scans_of_blocks_equal_loops)
{
    for (size_t k = 0; k < sizeof block_scans / sizeof *block_scans; k++) {
        const int threads = block_scans[k].threads, row = 2 * threads * ITEMS;
        static int results[SCANS * MOST], sums[6 * 128];
        if (block_scans[k].run(x, results, sums) != CF_OK)
            fail_msg("%s: %s", block_scans[k].name, cf_last_error());
        for (int i = 0; i < SCANS; i++)
            check_scan(block_scans[k].name, i, threads, results + i * row);
        /* Checks the sums of the second tile. */
        for (int i = 0; i < 6 * threads; i++) {
            const int sum = i / threads, count = sum < 4 ? threads : threads * ITEMS;
            operation *op = sum == 2 || sum == 3 ? last : add;
            expect(block_scans[k].name, SCANS + sum, i % threads, sums[i], reduce(op, x + count, count, 1));
        }
    }
}

TEST(a_sum_needs_no_memory_from_its_kernel)
{
    int sum;
    assert_ok(cub_reduce_sum_without_memory(x, &sum));
    assert_int_equal(sum, reduce(add, x, 64, 1));
}

/* ---- Warps ---- */

static const struct {
    const char *name;
    int (*run)(const int *x, int valid, int *results);
    int width;
} warps[] = {
    {"i32_32", cub_reduce_warps_i32_32, 32},   {"f32_8", cub_reduce_warps_f32_8, 8},
    {"wide_16", cub_reduce_warps_wide_16, 16}, {"i32_12", cub_reduce_warps_i32_12, 12},
    {"i64_1", cub_reduce_warps_i64_1, 1},
};

/* Checks the results of the `width` lanes that begin with lane `from`. */
static void check_part(const char *name, int from, int width, int valid, int results[WARP_ROWS][64])
{
    const int *own = x + from;
    expect(name, 0, from, results[0][from], reduce(add, own, width, 1));
    expect(name, 1, from, results[1][from], reduce(add, own, valid, 1));
    expect(name, 2, from, results[2][from], reduce(last, own, width, 1));
    for (int head = 0, tail = 0, i = 0; i < width; i++) {
        if (i == width - 1 || own[i + 1] % 3 == 0) {
            expect(name, 3, from + head, results[3][from + head], reduce(add, own + head, i + 1 - head, 1));
            head = i + 1;
        }
        if (i == width - 1 || own[i] % 3 == 0) {
            expect(name, 4, from + tail, results[4][from + tail], reduce(last, own + tail, i + 1 - tail, 1));
            tail = i + 1;
        }
    }
    for (int i = 0; i < width; i++) {
        const int sum = reduce(add, own, i + 1, 1), end = reduce(last, own, i + 1, 1);
        const int before = i ? reduce(last, own, i, 1) : 0;
        const int wanted[] = {sum,
                              sum - own[i],
                              reduce(add, own, width, 1),
                              end,
                              reduce(last, own, width, 1),
                              i ? last(5, before) : 5,
                              end,
                              before,
                              own[width - 1]};
        for (int row = 0; row < 9; row++)
            if (row != 7 || i > 0)
                expect(name, 5 + row, from + i, results[5 + row][from + i], wanted[row]);
    }
}

TEST(warps_and_their_parts_equal_loops)
{
    for (size_t k = 0; k < sizeof warps / sizeof *warps; k++)
        for (int valid = 1; valid <= warps[k].width; valid += 5) {
            static int results[WARP_ROWS][64];
            const int width = warps[k].width, is_power = (width & (width - 1)) == 0;
            if (warps[k].run(x, valid, results[0]) != CF_OK)
                fail_msg("%s: %s", warps[k].name, cf_last_error());
            for (int from = 0; from < 64; from += is_power ? width : 32)
                check_part(warps[k].name, from, width, valid, results);
        }
}

/* ---- The order of sums ---- */

/* The order is stated in kernels/CPU.md. */
TEST(sums_have_the_stated_order)
{
    float numbers[128], sum, sums[128], pairs[128], scanned[128];
    for (int i = 0; i < 128; i++)
        numbers[i] = random_f32(2, (uint64_t)i);
    assert_ok(cub_reduce_order(numbers, &sum, sums));
    memcpy(pairs, numbers, sizeof pairs);
    memcpy(scanned, numbers, sizeof scanned);
    for (int distance = 1; distance < 32; distance *= 2) {
        for (int i = 0; i < 128; i += 2 * distance)
            pairs[i] += pairs[i + distance];
        for (int i = 127; i >= 0; i--)
            if (i % 32 >= distance)
                scanned[i] = scanned[i - distance] + scanned[i];
    }
    float wanted = pairs[0], before = 0;
    for (int warp = 1; warp < 4; warp++)
        wanted += pairs[32 * warp];
    assert_true(sum == wanted);
    for (int i = 0; i < 128; i++) {
        if (i % 32 == 0 && i > 0)
            before = i == 32 ? scanned[31] : before + scanned[i - 1];
        const float expected = i < 32 ? scanned[i] : before + scanned[i];
        if (sums[i] != expected)
            fail_msg("element %d is %a, not %a", i, (double)sums[i], (double)expected);
    }
}

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < MOST; i++)
        x[i] = i % 4 == 3 ? 0 : (int)random_integer(1, (uint64_t)i, -10, 11);
    played_gpu_add(&cub_reduce_registry);
    return 0;
}

int main(void)
{
    return run_all_tests(set_up, NULL);
}
