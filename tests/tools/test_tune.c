/* test_tune.c - the part of cf-tune that needs no clock: it selects the variant that is the fastest in both of two
 * runs. */
#include "run_group.h"

#include "tune/tune.h"
#include "tuning_kernels.h"

extern const cf_module tuning_registry;

enum { MOST = 16 };
static struct bench_result results[TUNE_RUNS][MOST];
static struct bench_run runs[TUNE_RUNS];
static struct tune_findings findings;
static const cf_kernel *kernel, *present;

static int set_up(void **state)
{
    (void)state;
    for (int r = 0; r < TUNE_RUNS; r++)
        runs[r] = (struct bench_run){.results = results[r]};
    kernel = cf_kernel_find(&tuning_registry, "which_i32");
    present = kernel ? kernel->variants[0] : NULL;
    return !kernel;
}

static int tear_down(void **state)
{
    (void)state;
    free(findings.list);
    findings = (struct tune_findings){NULL, 0};
    return 0;
}

/* Adds a result of the variant WAY=way, in microseconds. `spread` is the relative distance between the quartiles. A
 * negative time means that the variant did not run. */
static void add(int run, int way, int64_t size, double microseconds, double spread)
{
    struct bench_result *result = &results[run][runs[run].count++];
    *result = (struct bench_result){.size = size, .size_class = size == 1024 ? 10 : 12};
    snprintf(result->kernel, sizeof result->kernel, "which_i32");
    snprintf(result->variant, sizeof result->variant, "WAY=%d", way);
    if (microseconds < 0) {
        result->outcome = BENCH_LEFT_OUT;
        snprintf(result->reason, sizeof result->reason, "too large");
        return;
    }
    double seconds = microseconds * 1e-6;
    result->seconds =
        (struct bench_statistics){seconds, seconds * (1 - spread / 2), seconds, seconds * (1 + spread / 2), seconds, 9};
}

static int say_present(void *data, const cf_kernel *tuned, int size_class, const cf_kernel **variant,
                       struct message *message)
{
    (void)data, (void)message;
    assert_ptr_equal(tuned, kernel);
    assert_in_range(size_class, 0, 63);
    *variant = present;
    return 0;
}

static const struct tune_finding *judge(void)
{
    struct message message = {""};
    findings.count = 0;
    assert_int_equal(tune_judge(kernel, runs, say_present, NULL, &findings, &message), 0);
    assert_true(findings.count > 0);
    return findings.list;
}

/* Judges the times of three variants in two runs; returns the variant that cf-tune selects. */
static int best(const double first[3], const double second[3], double spread)
{
    runs[0].count = runs[1].count = 0;
    for (int v = 0; v < 3; v++) {
        add(0, v + 1, 1024, first[v], spread);
        add(1, v + 1, 1024, second[v], spread);
    }
    const struct tune_finding *found = judge();
    return found->variant ? (int)found->variant->constants[0].value : 0;
}

TEST_WITH(what_is_faster_twice_is_taken, set_up, tear_down)
{
    static const struct {
        double first[3], second[3], spread;
        int expected;
    } rows[] = {
        {{10, 9, 8}, {10, 9, 8}, 0.002, 3},         {{10, 8, 9}, {10, 8, 9}, 0.002, 2},
        {{10, 9, 11}, {10, 11, 9}, 0.002, 1},                                                /* each is faster once */
        {{10, 9.95, 9.91}, {10, 9.95, 9.91}, 0, 1},                                          /* within the margin */
        {{10, 9.8, 10}, {10, 9.8, 10}, 0.002, 2},   {{10, 9.8, 10}, {10, 9.8, 10}, 0.03, 1}, /* quartiles overlap */
        {{10, 7, 9}, {10, 10.5, 9}, 0.002, 3}, /* faster on average, but slower once */
        {{10, -1, 9}, {10, 8, 9}, 0.002, 3},   /* did not run twice, so it does not count */
        {{-1, 9, 8}, {-1, 9, 8}, 0.002, 3},    /* the present variant did not run, so the fastest one is taken */
        {{-1, -1, -1}, {-1, -1, -1}, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        present = kernel->variants[0];
        int found = best(rows[i].first, rows[i].second, rows[i].spread);
        if (found != rows[i].expected)
            fail_msg("row %zu: WAY=%d", i, found);
        assert_int_equal(findings.list[0].is_new, found > 1);
    }
    assert_string_equal(findings.list[0].reason, "too large");
}

TEST_WITH(present_one_stays, set_up, tear_down)
{
    present = kernel->variants[1];
    assert_int_equal(best((double[]){10, 10.05, 12}, (double[]){10, 10.05, 12}, 0.002), 2);
    assert_false(findings.list[0].is_new);
    assert_true(findings.list[0].first_seconds > 0.99e-5 && findings.list[0].first_seconds < 1.01e-5);
    assert_int_equal(best((double[]){10, 11, 12}, (double[]){10, 11, 12}, 0.002), 1);
    assert_true(findings.list[0].is_new);
}

/* Occasional delays on a busy machine do not hide that a variant is twice as fast. */
TEST_WITH(rare_long_samples_do_not_count, set_up, tear_down)
{
    for (int times = 4; times <= 6; times++) {
        runs[0].count = runs[1].count = 0;
        for (int r = 0; r < TUNE_RUNS; r++) {
            add(r, 1, 1024, 10, 0.002);
            add(r, 2, 1024, times, 0.002);
            results[r][1].seconds.upper = 1;
        }
        assert_ptr_equal(judge()->variant, kernel->variants[times < 5]);
    }
}

/* A variant that fails in one run is not taken, even if it is the present one and has times at other sizes. */
TEST_WITH(what_fails_in_one_run_is_taken_at_no_size, set_up, tear_down)
{
    for (int run = 0; run < TUNE_RUNS; run++)
        for (int way = 1; way <= 2; way++) {
            runs[0].count = runs[1].count = 0;
            for (int r = 0; r < TUNE_RUNS; r++)
                for (int v = 1; v <= 3; v++) {
                    add(r, v, 1024, v == way ? 5 : 10 + v, 0.002);
                    add(r, v, 4096, v == way ? 5 : 10 + v, 0.002);
                    if (r == run && v == way)
                        results[r][runs[r].count - 1].outcome = BENCH_FAILED;
                }
            findings.count = 0;
            present = kernel->variants[0];
            judge();
            assert_int_equal(findings.count, 2);
            for (size_t s = 0; s < findings.count; s++)
                assert_ptr_equal(findings.list[s].variant, kernel->variants[way == 1]);
        }
}

TEST_WITH(sizes_have_classes_of_which_the_last_is_kept, set_up, tear_down)
{
    static const int64_t sizes[] = {1, 700, 800, 1 << 20};
    static const int classes[] = {0, 10, 10, 20}, kept[] = {1, 0, 1, 1};
    for (int r = 0; r < TUNE_RUNS; r++)
        for (int v = 1; v <= 3; v++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                add(r, v, sizes[s], v == 2 ? 5 : 10, 0.002);
                results[r][runs[r].count - 1].size_class = classes[s];
            }
    judge();
    assert_int_equal(findings.count, 4);
    for (size_t s = 0; s < 4; s++) {
        assert_int_equal(findings.list[s].size, sizes[s]);
        assert_int_equal(findings.list[s].size_class, classes[s]);
        assert_int_equal(tune_is_last(&findings, s), kept[s]);
        assert_ptr_equal(findings.list[s].variant, kernel->variants[1]);
    }
}

int main(void)
{
    return run_group("tests", all_tests, test_count, NULL, NULL);
}
