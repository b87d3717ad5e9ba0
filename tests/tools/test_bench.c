/* test_bench.c - the parts of cf-bench that need no clock: statistics, sizes, choice of arguments, caches, JSON, and
 * the marks that show that the machine was busy. */
#include "run_group.h"

#include <math.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cuferry/registry.h>

#include "bench/bench_json.h"
#include "bench_kernels.h"
#include "bench/bench_machine.h"
#include "bench/bench_report.h"
#include "bench/bench_sizes.h"
#include "bench/bench_statistics.h"
#include "bench/bench_timing.h"
#include "bench/bench_values.h"
#include "base/json.h"

/* ---- Statistics ---- */

TEST(statistics_of_known_samples_are_numpys)
{
    double samples[] = {7, 1, 3, 2, 10, 4};
    const struct bench_statistics found = bench_statistics_of(samples, 6);
    /* numpy.percentile([7, 1, 3, 2, 10, 4], [0, 25, 50, 75, 100]) */
    assert_true(found.least == 1 && found.lower == 2.25 && found.median == 3.5 && found.upper == 6.25);
    assert_true(found.most == 10 && found.count == 6);
    assert_true(fabs(bench_statistics_spread(&found) - 4 / 3.5) < 1e-15);
}

TEST(statistics_of_odd_counts_have_the_middle_one)
{
    double one[] = {3}, five[] = {5, 4, 3, 2, 1};
    struct bench_statistics found = bench_statistics_of(one, 1);
    assert_true(found.least == 3 && found.lower == 3 && found.median == 3 && found.upper == 3 && found.most == 3);
    assert_true(bench_statistics_spread(&found) == 0 && bench_statistics_error(&found) == 0);
    found = bench_statistics_of(five, 5);
    assert_true(found.lower == 2 && found.median == 3 && found.upper == 4);
    /* (4 - 2) / 3 * 1.2533 / 1.349 / sqrt(5) */
    assert_true(fabs(bench_statistics_error(&found) - 0.277) < 1e-3);
}

TEST(statistics_of_zeros_have_no_spread)
{
    double zeros[] = {0, 0, 0};
    const struct bench_statistics found = bench_statistics_of(zeros, 3);
    assert_true(found.median == 0 && bench_statistics_spread(&found) == 0 && bench_statistics_error(&found) == 0);
}

/* ---- Sizes ---- */

static void expect_sizes(const char *text, size_t count, const int64_t *wanted)
{
    struct bench_sizes sizes;
    struct message message = {""};
    if (bench_sizes_read(&sizes, text, &message) != 0)
        fail_msg("%s", message.text);
    assert_int_equal(sizes.count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(sizes.list[i] == wanted[i]);
    bench_sizes_free(&sizes);
}

#define EXPECT_SIZES(text, ...) \
    expect_sizes(text, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

TEST(sizes_read_what_the_manual_says)
{
    EXPECT_SIZES("1000", 1000);
    EXPECT_SIZES("2^10:2^13", 1024, 2048, 4096, 8192);
    EXPECT_SIZES("2^10:2^14:4", 1024, 4096, 16384);
    EXPECT_SIZES("1000:10^6:10", 1000, 10000, 100000, 1000000);
    EXPECT_SIZES("10:15", 10);
    EXPECT_SIZES("7:7", 7);
    EXPECT_SIZES("1:6:1.5", 1, 2, 3, 4, 6);
    EXPECT_SIZES("2^20,5,2^10,5", 5, 1024, 1 << 20);
    EXPECT_SIZES("3,2^4:2^6,40", 3, 16, 32, 40, 64);
    EXPECT_SIZES("2^31:2^33", (int64_t)1 << 31, (int64_t)1 << 32, (int64_t)1 << 33);
    EXPECT_SIZES("2^61:2^62", (int64_t)1 << 61, (int64_t)1 << 62);
    EXPECT_SIZES("4611686018427387904", (int64_t)1 << 62);
    EXPECT_SIZES("1^99999999999:2", 1, 2);
}

TEST(sizes_that_are_none_are_named)
{
    static const char *const wrong[] = {"",
                                        "0",
                                        "-1",
                                        "x",
                                        "2^63",
                                        "2^",
                                        "2:1",
                                        "1:",
                                        ":1",
                                        "1:2:1",
                                        "1:2:0",
                                        "1:2:x",
                                        "1,",
                                        ",1",
                                        "1 2",
                                        "1:2:3:4",
                                        "1:9:1.",
                                        "0:5",
                                        "1e3",
                                        "0x10",
                                        "99999999999999999999",
                                        "10^99",
                                        "1:2^62:1.0001",
                                        "2^10;5",
                                        "0^0:1x",
                                        "4611686018427387905"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bench_sizes sizes;
        struct message message = {""};
        char begin[64];
        snprintf(begin, sizeof begin, "--sizes %s: ", wrong[i]);
        if (bench_sizes_read(&sizes, wrong[i], &message) == 0)
            fail_msg("'%s' was taken", wrong[i]);
        assert_memory_equal(message.text, begin, strlen(begin));
        bench_sizes_free(&sizes);
    }
}

TEST(size_format_gives_powers_of_two)
{
    char text[BENCH_SIZE_TEXT];
    bench_size_format(512, text);
    assert_string_equal(text, "512");
    bench_size_format((int64_t)1 << 40, text);
    assert_string_equal(text, "2^40");
    bench_size_format(1000000, text);
    assert_string_equal(text, "1000000");
}

/* ---- The choice of arguments ---- */

static void expect_values(const char *kernel, int64_t size, const char *setting, const char *wanted)
{
    struct bench_values values;
    struct message message = {""}, text = {""};
    char *settings[] = {(char *)(uintptr_t)setting};
    int is_wrong;
    if (bench_values_begin(&values, cf_kernel_find(&bench_registry, kernel), settings, setting != NULL, &is_wrong,
                           &message) != 0 ||
        bench_values_choose(&values, size, &message) != 0)
        verify_values_add(&values.chosen, &message);
    else
        verify_values_add(&values.chosen, &text);
    if (strncmp(text.text, wanted, strlen(wanted)) != 0)
        fail_msg("%s at %lld: '%s', not '%s'; %s", kernel, (long long)size, text.text, wanted, message.text);
    bench_values_free(&values);
}

TEST(one_extent_is_the_size)
{
    expect_values("twice_f32", 1, NULL, "n = 1");
    expect_values("twice_f32", 1000, NULL, "n = 1000");
    expect_values("twice_f32", (int64_t)1 << 33, NULL, "n = 8589934592");
    expect_values("once", (int64_t)1 << 30, NULL, "n = 1073741824");
    expect_values("small", 64, NULL, "n = 64");
}

TEST(extents_side_by_side_are_all_the_size)
{
    expect_values("count", 1024, NULL, "n = 1024, k = 1024");
    expect_values("count", 8, NULL, "n = 8, k = 8"); /* n is smaller than the array whose size is fixed */
    expect_values("count", 1024, "k=3", "n = 1024, k = 3");
}

TEST(extents_that_are_multiplied_share_the_size)
{
    expect_values("field", 1024, NULL, "nx = 32, ny = 32, ld = 33");
    expect_values("field", 2048, NULL, "nx = 64, ny = 32, ld = 65");
    expect_values("field", 1000000, NULL, "nx = 1024, ny = 976, ld = 1025");
    expect_values("field", 4096, "nx=1000", "nx = 1000, ny = 4, ld = 1001");
    expect_values("field", 4096, "ld=2000", "nx = 64, ny = 64, ld = 2000");
    expect_values("product", (int64_t)1 << 20, NULL, "rows = 1024, inner = 1024, cols = 1024");
    expect_values("product", (int64_t)1 << 20, "inner=16", "rows = 1024, inner = 16, cols = 1024");
}

TEST(sizes_that_checks_forbid_are_as_large_as_they_allow)
{
    expect_values("small", 101, NULL, "n = 100");
    expect_values("small", 128, NULL, "n = 100");
    expect_values("small", 201, NULL, "n = 100");
    expect_values("field", 1 << 16, "ny=1", "nx = 65536, ny = 1, ld = 65537");
    expect_values("strip", 1 << 16, NULL, "n = 3276, k = 20");
    expect_values("put", 300, NULL, "n = 256, m = 300");
    expect_values("put", 1 << 20, "n=100", "n = 100, m = 1048576");
    expect_values("widen", 200, NULL, "n = 200"); /* 56 elements are below 0 */
    expect_values("widen", 512, NULL, "n = 256");
}

static void expect_no_values(const char *kernel, int64_t size, const char *reason)
{
    struct bench_values values;
    struct message message = {""};
    int is_wrong;
    assert_int_equal(bench_values_begin(&values, cf_kernel_find(&bench_registry, kernel), NULL, 0, &is_wrong, &message),
                     0);
    assert_int_equal(bench_values_choose(&values, size, &message), -1);
    assert_non_null(strstr(message.text, reason));
    bench_values_free(&values);
}

TEST(sizes_that_cannot_be_had_say_why)
{
    expect_no_values("small", 202, "allow 100 elements");
    expect_no_values("small", 1024, "allow 100 elements");
    expect_no_values("widen", 1024, "allow 256 elements");
    expect_no_values("put", 1024, "allow 256 elements that differ");
    expect_no_values("put", 1 << 20, "allow 256 elements that differ");
    expect_no_values("once", (int64_t)1 << 40, "allow 2147483647 elements");
    expect_no_values("never", 64, "pass its checks");
}

TEST(settings_that_are_none_are_reported)
{
    struct bench_values values;
    struct message message = {""};
    char *settings[] = {(char *)(uintptr_t) "n=4000000000"};
    int is_wrong;
    assert_int_equal(
        bench_values_begin(&values, cf_kernel_find(&bench_registry, "once"), settings, 1, &is_wrong, &message), -1);
    assert_int_equal(is_wrong, 1);
    assert_non_null(strstr(message.text, "once: n"));
    bench_values_free(&values);
}

TEST(kernels_of_a_constant_size_do_not_vary)
{
    struct bench_values values;
    struct message message = {""};
    int is_wrong;
    assert_int_equal(
        bench_values_begin(&values, cf_kernel_find(&bench_registry, "constant"), NULL, 0, &is_wrong, &message), 0);
    assert_int_equal(bench_values_vary(&values), 0);
    assert_int_equal(bench_values_choose(&values, 1 << 20, &message), 0);
    assert_int_equal(bench_values_elements(&values), 64);
    bench_values_free(&values);
}

/* ---- Timing ---- */

struct counted {
    size_t next, pieces, restored, wrong;
};

static int count_piece(void *data, cf_stream stream, size_t piece, struct message *message)
{
    struct counted *counted = data;
    (void)stream, (void)message;
    counted->wrong += piece != counted->next;
    counted->next = (piece + 1) % counted->pieces;
    return 0;
}

/* Fails the test if a piece is repeated before it is restored. */
static int count_restore(void *data, cf_stream stream, struct message *message)
{
    struct counted *counted = data;
    (void)stream, (void)message;
    counted->restored++;
    counted->next = 0;
    return 0;
}

static int refuse_piece(void *data, cf_stream stream, size_t piece, struct message *message)
{
    (void)data, (void)stream;
    return piece == 0 ? message_set(message, "refused") : 0;
}

TEST(timing_takes_the_pieces_by_turns)
{
    struct counted counted = {.pieces = 1 << 14};
    struct bench_work work = {count_piece, NULL, counted.pieces, &counted};
    struct bench_times times;
    struct message message = {""};
    assert_int_equal(bench_timing_take(&work, 0, 0.01, &times, &message), 0);
    assert_int_equal(counted.wrong, 0);
    assert_true(times.batch >= 1 && times.seconds.count >= 5);
    assert_true(times.seconds.least <= times.seconds.lower && times.seconds.lower <= times.seconds.median);
    assert_true(times.seconds.median <= times.seconds.upper && times.seconds.upper <= times.seconds.most);
    work.restore = count_restore;
    counted.next = 0;
    assert_int_equal(bench_timing_take(&work, 0, 0.01, &times, &message), 0);
    assert_int_equal(counted.wrong, 0);
}

TEST(timing_of_what_fails_fails)
{
    const struct bench_work work = {refuse_piece, NULL, 5, NULL};
    struct bench_times times;
    struct message message = {""};
    assert_int_equal(bench_timing_take(&work, 0, 0.01, &times, &message), -1);
    assert_string_equal(message.text, "refused");
}

/* The work has only one piece. It takes no time and must not be repeated, so no clock can measure it. */
TEST(timing_of_too_little_is_refused)
{
    struct counted counted = {.pieces = 1};
    const struct bench_work work = {refuse_piece, count_restore, 1, &counted};
    const struct bench_work fast = {count_piece, count_restore, 1, &counted};
    struct bench_times times;
    struct message message = {""};
    assert_int_equal(bench_timing_take(&work, 0, 0, &times, &message), -1);
    if (bench_timing_take(&fast, 0, 0, &times, &message) != 0)
        assert_non_null(strstr(message.text, "the clock tells"));
    assert_int_equal(counted.wrong, 0);
}

/* ---- Caches ---- */

static void put(const char *folder, int cpu, int index, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/cpu%d", folder, cpu);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/cpu%d/cache", folder, cpu);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/cpu%d/cache/index%d", folder, cpu, index);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/cpu%d/cache/index%d/%s", folder, cpu, index, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

TEST(caches_are_counted_once_each)
{
    char folder[] = "/tmp/cf-test-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(bench_machine_caches(folder), 0);
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &set))
            continue;
        put(folder, cpu, 0, "level", "1");
        put(folder, cpu, 0, "type", "Data");
        put(folder, cpu, 0, "size", "32K");
        put(folder, cpu, 0, "shared_cpu_list", "x");
        put(folder, cpu, 1, "level", "3");
        put(folder, cpu, 1, "type", "Unified");
        put(folder, cpu, 1, "size", "32768K");
        put(folder, cpu, 1, "shared_cpu_list", "0-1023");
    }
    assert_int_equal(bench_machine_caches(folder), 32 << 20);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set)) {
            char own[16];
            snprintf(own, sizeof own, "%d", cpu);
            put(folder, cpu, 1, "shared_cpu_list", own);
        }
    assert_int_equal(bench_machine_caches(folder), CPU_COUNT(&set) * (int64_t)(32 << 20));
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- Results ---- */

static struct bench_statistics around(double median)
{
    return (struct bench_statistics){0.8 * median, 0.9 * median, median, 1.1 * median, 1.3 * median, 21};
}

static struct bench_run make_run(struct bench_result results[3])
{
    struct bench_run run = {.results = results, .count = 3};
    run.machine = (struct bench_machine){.version = "0.1.0",
                                         .date = "2026-05-01",
                                         .system = "Linux",
                                         .processor = "P \"1\"\n\\",
                                         .threads = 2,
                                         .on_cuda = 1,
                                         .driver = "13.0",
                                         .device_name = "G",
                                         .capability = 90,
                                         .memory = (int64_t)1 << 40,
                                         .cache = 1 << 26,
                                         .limit = {BENCH_UPDATE, 2e9, around(1e-3)}};
    results[0] = (struct bench_result){.kernel = "k",
                                       .variant = "B=2",
                                       .size = (int64_t)1 << 33,
                                       .values = "n = 5",
                                       .elements = 5,
                                       .bytes = 20,
                                       .flops = -1,
                                       .copies = 3,
                                       .batch = 7,
                                       .is_verified = 1,
                                       .seconds = around(0.1)};
    results[1] = results[0];
    results[1].size = 77;
    results[1].flops = 1e9;
    results[1].is_verified = 0;
    results[1].seconds = around(1.0 / 3);
    results[2] = (struct bench_result){
        .kernel = "j", .size = 5, .outcome = BENCH_LEFT_OUT, .reason = "\x01 \xc3\xa9", .flops = -1};
    return run;
}

/* Writes the results as JSON and reads them back; the caller frees the tree. */
static struct json *write_and_read(const struct bench_run *run)
{
    struct message message = {""};
    char path[] = "/tmp/cf-test-XXXXXX", text[8192];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(bench_json_write(path, run, &message), 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    assert_true(feof(file));
    fclose(file);
    assert_int_equal(unlink(path), 0);
    text[length] = 0;
    struct json *root = json_read(text, length, path, &message);
    if (!root)
        fail_msg("%s", message.text);
    return root;
}

static void assert_number(const struct json *object, const char *key, double value)
{
    const struct json *found = json_get(object, key);
    assert_non_null(found);
    assert_int_equal(found->kind, JSON_NUMBER);
    assert_memory_equal(&found->number, &value, sizeof value); /* compares bit by bit */
}

static void assert_text(const struct json *object, const char *key, const char *text)
{
    const struct json *found = json_get(object, key);
    assert_non_null(found);
    assert_int_equal(found->kind, text ? JSON_STRING : JSON_NULL);
    if (text)
        assert_string_equal(found->text, text);
}

static void assert_statistics(const struct json *object, const struct bench_statistics *seconds)
{
    const struct json *found = json_get(object, "seconds");
    assert_number(found, "least", seconds->least);
    assert_number(found, "lower", seconds->lower);
    assert_number(found, "median", seconds->median);
    assert_number(found, "upper", seconds->upper);
    assert_number(found, "most", seconds->most);
    assert_number(found, "samples", (double)seconds->count);
}

TEST(json_keeps_results_exactly)
{
    struct bench_result results[3];
    const struct bench_run run = make_run(results);
    struct json *root = write_and_read(&run);
    const struct json *limit = json_get(root, "limit"), *first = json_get(root, "results")->first;
    const struct json *machine = json_get(root, "machine"), *device = json_get(root, "device");
    assert_text(machine, "cuferry", "0.1.0");
    assert_text(machine, "date", "2026-05-01");
    assert_text(machine, "system", "Linux");
    assert_text(machine, "processor", run.machine.processor);
    assert_number(machine, "threads", 2);
    assert_text(device, "cuda", "13.0");
    assert_text(device, "name", "G");
    assert_number(device, "capability", 90);
    assert_number(device, "memory", 0x1p40);
    assert_number(device, "cache", 0x1p26);
    assert_text(limit, "access", "update");
    assert_number(limit, "bytes", 2e9);
    assert_statistics(limit, &run.machine.limit.seconds);
    assert_text(first, "variant", "B=2");
    assert_number(first, "size", 0x1p33);
    assert_text(first, "values", "n = 5");
    assert_number(first, "elements", 5);
    assert_number(first, "bytes", 20);
    assert_number(first, "copies", 3);
    assert_number(first, "batch", 7);
    assert_number(first, "bandwidth", 20 / 0.1);
    assert_int_equal(json_get(first, "flops")->kind, JSON_NULL);
    assert_int_equal(json_get(first, "verified")->kind, JSON_TRUE);
    assert_statistics(first, &results[0].seconds);
    assert_int_equal(json_get(first->next, "verified")->kind, JSON_FALSE);
    assert_number(first->next, "flops_per_second", 1e9 / (1.0 / 3));
    assert_statistics(first->next, &results[1].seconds);
    assert_text(first->next->next, "outcome", "not run");
    assert_text(first->next->next, "variant", NULL);
    assert_null(json_get(first->next->next, "seconds"));
    assert_null(first->next->next->next);
    json_free(root);
}

/* Texts may be truncated and paths may hold any bytes; the output is still valid UTF-8. */
TEST(results_are_utf8)
{
    static const char *const texts[][2] = {{"a\xc3", "a\xef\xbf\xbd"},
                                           {"\xff\x41", "\xef\xbf\xbd\x41"},
                                           {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
                                           {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
                                           {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
                                           {"\xe2\x82\xac", "\xe2\x82\xac"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct bench_result results[3];
        const struct bench_run run = make_run(results);
        strcpy(results[2].reason, texts[i][0]);
        struct json *root = write_and_read(&run);
        assert_text(json_get(root, "results")->first->next->next, "reason", texts[i][1]);
        json_free(root);
    }
}

/* ---- Table ---- */

/* Prints the table of a run, and checks its last line and the number of marks in it. */
static void expect_table(const struct bench_run *run, int marks, const char *last)
{
    struct bench_report report = {.name_width = 6};
    char text[8192];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    assert_true(kept >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    bench_report_machine(&report, &run->machine);
    for (size_t i = 0; i < run->count; i++)
        bench_report_result(&report, &run->results[i]);
    bench_report_busy(run);
    fflush(stdout);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0 && close(kept) == 0);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    for (const char *at = text; (at = strstr(at, "%!")) != NULL; at++)
        marks--;
    assert_int_equal(marks, 0);
    assert_non_null(strstr(text, last));
    assert_string_equal(strchr(strstr(text, last), '\n'), "\n");
}

TEST(busy_machine_is_reported)
{
    static const char begin[] = "warning: the machine is busy; a spread above 20 % (!) means that the figure means "
                                "nothing: ";
    const struct bench_statistics busy = {5, 5, 10, 15, 15, 9};
    struct bench_result results[3];
    struct bench_run run = make_run(results);
    char last[256];
    run.machine.limit.seconds.upper = run.machine.limit.seconds.median;
    results[0].seconds.upper = results[0].seconds.median;
    results[1].seconds.upper = results[1].seconds.median;
    expect_table(&run, 0, "not run: \x01 \xc3\xa9");
    results[1].seconds = busy;
    snprintf(last, sizeof last, "%s1 of 2 results; run again", begin);
    expect_table(&run, 1, last);
    run.machine.limit.seconds = busy;
    snprintf(last, sizeof last, "%s1 of 2 results, the limit; run again", begin);
    expect_table(&run, 2, last);
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
