/* test_regions.c - kernels with barriers have the same results in both forms: as loops over the threads of a block, one
 * for each region between barriers, and as threads that take turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry/registry.h>

#include "run_group.h"

#include "regions_kernels.h"

#define COUNT 480
#define LARGE (96 * 210)
#define MOST_KERNELS 450

static int set_up(void **state)
{
    (void)state;
    return cf_device_use(CF_HOST);
}

static int tear_down(void **state)
{
    (void)state;
    return cf_shutdown();
}

/* Kernels that wait for lanes that never come. */
static const struct {
    const char *name;
    unsigned int behind; /* number of lines between the kernel's name and the operation */
    const char *error;
} waits[] = {
    {"warp_waits", 5, "a warp operation without some lanes of its mask"},
    {"warp_meets", 5, "a warp operation without some lanes of its mask"},
    {"warp_syncs", 5, "a warp operation without some lanes of its mask"},
    {"syncs_without_lanes", 6, "a warp operation without some lanes of its mask"},
    {"masks_that_differ", 3, "a warp operation without some lanes of its mask"},
    {"mask_of_others", 3, "a warp operation whose mask leaves its own lane out"},
    {"mask_of_none", 3, "a warp operation whose mask leaves its own lane out"},
};
enum { WAITS = sizeof waits / sizeof *waits };

static int is_waiting(const cf_kernel *kernel)
{
    int w = 0;
    while (w < WAITS && strcmp(waits[w].name, kernel->name) != 0)
        w++;
    return w < WAITS;
}

static float in[COUNT], natural[MOST_KERNELS][COUNT], turned[MOST_KERNELS][COUNT];

/* The parameters of all kernels are (const float *in, int n, float *out). */
static int run(const cf_kernel *kernel, const float *source, int n, float *out)
{
    assert_int_equal(kernel->nparams, 3);
    return cf_call(kernel, (void *[]){&source, &n, &out});
}

static void run_all(float out[MOST_KERNELS][COUNT])
{
    assert_true(regions_registry.count <= MOST_KERNELS);
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(i * 37 % 101) / 8;
    memset(out, 0, sizeof natural);
    const cf_kernel *kernel = NULL;
    for (size_t k = 0; (kernel = cf_kernel_at(&regions_registry, k)) != NULL; k++)
        if (!is_waiting(kernel))
            assert_ok(run(kernel, in, COUNT, out[k]));
}

static void set_order(const char *order)
{
    assert_int_equal(tear_down(NULL), CF_OK);
    assert_int_equal(order ? setenv("CF_HOST_ORDER", order, 1) : unsetenv("CF_HOST_ORDER"), 0);
    assert_int_equal(set_up(NULL), CF_OK);
}

static void regions_give_the_same_as_turns(void **state)
{
    (void)state;
    static const char *const orders[] = {"reverse", "7"};
    run_all(natural);
    for (int order = 0; order < 2; order++) {
        set_order(orders[order]);
        run_all(turned);
        set_order(NULL);
        for (size_t k = 0; k < regions_registry.count; k++)
            for (int i = 0; i < COUNT; i++)
                if (natural[k][i] != turned[k][i])
                    fail_msg("%s, order %s: [%d] is %g, not %g", regions_registry.kernels[k]->name, orders[order], i,
                             (double)natural[k][i], (double)turned[k][i]);
    }
}

/* One third of the blocks leaves the regions, while turns are taken by many blocks. */
static void blocks_of_large_launches_leave_their_regions(void **state)
{
    (void)state;
    static float source[LARGE], regions[LARGE], turns[LARGE];
    const cf_kernel *kernel = cf_kernel_find(&regions_registry, "wraps_around");
    assert_non_null(kernel);
    for (int i = 0; i < LARGE; i++)
        source[i] = (float)(i * 37 % 101) / 8;
    assert_ok(run(kernel, source, LARGE, regions));
    set_order("7");
    assert_ok(run(kernel, source, LARGE, turns));
    set_order(NULL);
    assert_memory_equal(regions, turns, sizeof turns);
}

static const float *result_of(const char *name)
{
    for (size_t k = 0; k < regions_registry.count; k++)
        if (strcmp(regions_registry.kernels[k]->name, name) == 0)
            return natural[k];
    fail_msg("no kernel %s", name);
    return NULL;
}

/* Checks barriers and early ends against results that are computed here. */
static void regions_give_what_the_source_says(void **state)
{
    (void)state;
    run_all(natural);
    for (int i = 0; i < COUNT; i++) {
        const float *block = in + i / 96 * 96;
        float sums[96];
        for (int t = 0; t < 96; t++)
            sums[t] = block[t];
        for (int k = 64; k > 0; k /= 2)
            for (int t = 0; t < k && t + k < 96; t++)
                sums[t] += sums[t + k];
        assert_true(result_of("tree")[i] == sums[0] + in[i]);
        if (i % 96 % 3 == 1)
            assert_true(result_of("early")[i] == -1.0f);
    }
}

/* Checks sums in steps and by trees against results that are computed here. */
static void scans_give_what_the_source_says(void **state)
{
    (void)state;
    run_all(natural);
    for (int i = 0; i < COUNT; i++) {
        const int t = i % 96, first = i - t;
        unsigned int sums[96], sum = 0;
        for (int k = 0; k < 96; k++)
            sums[k] = sum += (unsigned int)in[first + k] << 25;
        assert_true(result_of("steps_read_first")[i] ==
                    (float)((int)sums[t] >> 20) + (float)((int)sums[95 - t] % 1000));
        int most = -50, least = 100;
        for (int k = first; k <= i; k++) {
            const int value = (int)(in[k] * 8) - 50;
            most = value > most ? value : most;
            least = 50 - value < least ? 50 - value : least;
        }
        most = most < 0 ? 0 : most;
        assert_true(result_of("steps_of_extremes")[i] == (float)most * 1000.0f + (float)least);
    }
}

/* The form of a kernel, which cf-run --describe prints, tells whether the kernel has regions. */
static void regions_are_told_from_turns(void **state)
{
    (void)state;
    static const struct {
        const char *name, *form;
        unsigned int behind; /* number of lines between the kernel's name and the reason, if there is one */
        const char *reason;
    } expected[] = {
        {"tree", "blocks of loops between barriers", 0, ""},
        {"functions_of_the_file", "warps of loops between shuffles", 0, ""},
        {"instance_f_2", "blocks of loops between barriers", 0, ""},
        {"serial_rows", "blocks of loops inside serial ones", 0, ""},
        {"warp_per_row", "warps of loops between shuffles", 0, ""},
        {"warp_of_row", "warps of loops between shuffles", 0, ""},
        {"warp_votes", "warps of loops between shuffles", 0, ""},
        {"warp_votes_of_constant", "warps of loops between shuffles", 0, ""},
        {"votes_of_instance_l96", "blocks of loops between barriers", 0, ""},
        {"warp_scans", "warps of loops between shuffles", 0, ""},
        {"moved_by_any", "warps of loops between shuffles", 0, ""},
        {"scanned", "warps of loops between shuffles", 0, ""},
        {"norm_of_tile", "warps of loops between shuffles", 0, ""},
        {"warp_parts", "blocks of loops between barriers", 0, ""},
        {"tile_of_block", "warps of loops between shuffles", 0, ""},
        {"grid_stride", "blocks of loops inside serial ones", 0, ""},
        {"walks", "blocks of loops inside serial ones", 0, ""},
        {"rows_of_32", "blocks of loops between barriers", 0, ""},
        {"rows_of_products", "blocks of loops inside serial ones", 0, ""},
        {"quotients", "blocks of loops inside serial ones", 0, ""},
        {"rows_of_any_size", "blocks of loops between barriers", 0, ""},
        {"tells_size", "blocks of loops inside serial ones", 0, ""},
        {"walking_down", "blocks of loops inside serial ones", 0, ""},
        {"walking_on", "blocks of loops inside serial ones", 0, ""},
        {"numbers_at_ends", "blocks of loops between barriers", 0, ""},
        {"one_column", "blocks of loops inside serial ones", 0, ""},
        {"one_thread", "blocks of loops inside serial ones", 0, ""},
        {"small_blocks", "blocks of loops inside serial ones", 0, ""},
        {"moving_range", "blocks of loops inside serial ones", 0, ""},
        {"chosen_indices", "blocks of loops inside serial ones", 0, ""},
        {"rows_of_blocks", "blocks of loops inside serial ones", 0, ""},
        {"guarded_turns", "blocks of fibers: __syncthreads() in line ", 6, " depends on own_index()"},
        {"leaves_turns", "blocks of fibers: if in line ", 7,
         " 'break' from a loop with a barrier depends on threadIdx.x"},
    };
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        const cf_kernel *kernel = cf_kernel_find(&regions_registry, expected[k].name);
        assert_non_null(kernel);
        char form[160], line[12] = "";
        if (*expected[k].reason)
            (void)snprintf(line, sizeof line, "%u", kernel->line + expected[k].behind);
        (void)snprintf(form, sizeof form, "%s%s%s", expected[k].form, line, expected[k].reason);
        assert_string_equal(kernel->cpu_form, form);
    }
    const cf_kernel *kernel = NULL;
    for (size_t k = 0; (kernel = cf_kernel_at(&regions_registry, k)) != NULL; k++)
        if (!!strstr(kernel->cpu_form, "fibers") != !!strstr(kernel->name, "_turns"))
            fail_msg("%s is %s", kernel->name, kernel->cpu_form);
}

/* Returns the value of another lane in a warp with `lanes` lanes. */
static float lane_of(const float *values, int lane, int lanes)
{
    return lane < lanes ? values[lane] : 0;
}

/* Checks divisions of indices that do not give a warp's number, and loops that threads share, against results that are
 * computed here. */
static void warps_give_what_the_source_says(void **state)
{
    (void)state;
    run_all(natural);
    for (int i = 0; i < COUNT; i++) {
        const int row = i / 32, lane = i % 32;
        float sum = 0, most = 0;
        for (int k = (int)in[row]; k < (int)in[row + 1] + 50; k++)
            sum += in[k] * 2;
        for (int k = 0; k < 32; k++)
            most = in[row * 32 + k] > most ? in[row * 32 + k] : most;
        for (int k = 0; k < 40 && row % 2 == 0; k++)
            most = in[k * 3 + row] > most ? in[k * 3 + row] : most;
        if (row % 2)
            most = in[i];
        const int ends = row >= 13 || (int)in[row] % 5 == 4;
        assert_true(result_of("warp_per_row")[i] == (ends ? -1 : lane == 0 ? sum : most + (float)lane));
    }
}

/* Checks shuffles and votes against results that are computed here. */
static void shuffles_give_what_the_source_says(void **state)
{
    (void)state;
    run_all(natural);
    for (int first = 0; first < COUNT; first += 32) {
        float sum = 0, most = 0;
        for (int lane = 0; lane < 32; lane++) {
            sum += in[first + lane];
            most = in[first + lane] > most ? in[first + lane] : most;
        }
        for (int lane = 0; lane < 32; lane++)
            assert_true(result_of("warp_sums")[first + lane] == sum + most * 1000);
    }
    for (int first = 0; first < COUNT; first += first % 80 == 64 ? 16 : 32) {
        const int lanes = first % 80 == 64 ? 16 : 32;
        const float *own = in + first;
        float sums[32];
        int votes = 0, all = 1;
        for (int i = 0; i < lanes; i++) {
            const int t = first % 80 + i, other = (31 - t) & 31;
            sums[i] = own[i] + lane_of(own, i ^ 16, lanes) + 2 * (i + 17 < 32 ? lane_of(own, i + 17, lanes) : own[i]) +
                      4 * lane_of(own, other, lanes);
            votes |= ((int)sums[i] % 2 != 0) << i;
            all &= (int)sums[i] != 0;
        }
        for (int i = 0; i < lanes; i++)
            assert_true(result_of("warp_parts")[first + i] == sums[i] + (float)((votes & 0xffff) + all));
    }
}

static void warps_that_lack_lanes_fail(void **state)
{
    (void)state;
    for (int w = 0; w < WAITS; w++) {
        const cf_kernel *kernel = cf_kernel_find(&regions_registry, waits[w].name);
        assert_non_null(kernel);
        static float out[COUNT];
        char line[16];
        (void)snprintf(line, sizeof line, ":%u: ", kernel->line + waits[w].behind);
        assert_int_not_equal(run(kernel, in, COUNT, out), CF_OK);
        assert_non_null(strstr(cf_last_error(), waits[w].error));
        assert_non_null(strstr(cf_last_error(), line));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_told_from_turns),
        cmocka_unit_test(regions_give_the_same_as_turns),
        cmocka_unit_test(regions_give_what_the_source_says),
        cmocka_unit_test(shuffles_give_what_the_source_says),
        cmocka_unit_test(warps_give_what_the_source_says),
        cmocka_unit_test(warps_that_lack_lanes_fail),
        cmocka_unit_test(scans_give_what_the_source_says),
        cmocka_unit_test(blocks_of_large_launches_leave_their_regions),
    };
    return RUN_ON_DRIVER(tests, set_up, tear_down);
}
