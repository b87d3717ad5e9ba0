/* test_tuning.c - which variant of a tuned kernel runs: by the user's file or the kernel's bundled lines, for this
 * architecture and size. Also tests the format of the file. */
#include "expect_all.h"
#include "handmade_kernel.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <cuferry/tuning.h>

#include "kernel/tuning_file.h"
#include "tuning_kernels.h"

extern const cf_module tuning_registry;

static char folder[64], path[96];

static const cf_kernel *kernel_of(const char *name)
{
    const cf_kernel *kernel = cf_kernel_find(&tuning_registry, name);
    if (!kernel)
        fail_msg("there is no kernel %s", name);
    return kernel;
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cf_tuning_XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/tuning", folder);
    if (setenv("CF_TUNING", path, 1) != 0 || cf_shutdown() != CF_OK)
        return -1;
    int count; /* passed to a call that loads the driver */
    if (cf_device_count(&count) != CF_OK)
        return -1;
    played_gpu_add(&tuning_registry);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || cf_shutdown() != CF_OK;
}

/* ---- Files ---- */

/* Returns the name that this device has in the file. */
static const char *here(void)
{
    static char name[32];
    int device;
    int64_t capability = 0;
    assert_ok(cf_device_current(&device));
    if (device == CF_HOST)
        return "host";
    assert_ok(cf_device_property(device, CF_PROPERTY_CAPABILITY, &capability));
    snprintf(name, sizeof name, "sm_%d", (int)capability);
    return name;
}

/* Replaces the contents of the file, and makes the library read it again. In the text, @ stands for the kernel's name
 * and version, and ! for the device. */
static void write_text(const char *kernel, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (; *text; text++)
        if (*text == '@')
            fprintf(file, "tuning_%s %08x", kernel, (unsigned)cf__tuning_version(kernel_of(kernel)));
        else if (*text == '!')
            fputs(here(), file);
        else
            fputc(*text, file);
    assert_int_equal(fclose(file), 0);
    assert_ok(cf_shutdown());
}
#define BEGIN "cuferry tuning 1\n"

static char *read_text(void)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

/* Returns the first line that is of no use to any kernel of a module, or NULL. */
static const char *dead_line(const cf_module *module, const char *text)
{
    const char *at = cf__tuning_begin(text);
    if (!at)
        return text;
    while (*at) {
        const cf_kernel *kernel;
        const char *begin = at;
        struct cf__tuning_line line;
        int is_right = cf__tuning_next(&at, &line), is_used = *begin == '#';
        for (size_t i = 0; is_right && (kernel = cf_kernel_at(module, i)) != NULL; i++)
            is_used |= cf__tuning_is_of(&line, kernel) && cf__tuning_variant(&line, kernel) >= 0;
        if (!is_used)
            return begin;
    }
    return NULL;
}

/* ---- Calls ---- */

/* Returns the variant that runs for a size. A synchronous and an asynchronous call must run the same one. */
static int way(int64_t n)
{
    int32_t plain = -1, raw = -1, *memory;
    assert_ok(tuning_which_i32(&plain, n));
    assert_ok(cf_mem_alloc((void **)&memory, sizeof *memory));
    for (int i = 0; i < 2; i++) { /* the first call takes the slow path */
        assert_ok(tuning_which_i32_async(NULL, memory, n));
        assert_ok(cf_mem_copy(&raw, memory, sizeof raw));
        assert_int_equal(raw, plain);
    }
    assert_ok(cf_mem_free(memory));
    return plain;
}

TEST_WITH(first_variant_runs_where_nothing_was_measured, set_up, tear_down)
{
    int out = 0;
    float x[4] = {0};
    int64_t wide = 0;
    assert_int_equal(way(1000), 1);
    assert_ok(tuning_which_i64(&wide, 1));
    assert_int_equal(wide, 1);
    assert_ok(tuning_both(x, &out, 4));
    assert_int_equal(out, 13);
    assert_int_equal(access(path, F_OK), -1); /* the library does not write the file */
}

TEST_WITH(variant_of_the_size_class_runs, set_up, tear_down)
{
    write_text("which_i32", BEGIN "@ ! 2^10 WAY=2 1 2\n@ ! 2^20 WAY=3 1 2\n@ ! 2^21 WAY=1 2 2\n");
    static const struct {
        int64_t n;
        int way;
    } rows[] = {{1024, 2},    {2047, 2},      {1 << 20, 3}, {(1 << 21) - 1, 3},
                {1 << 21, 1}, {INT64_MAX, 1}, {1 << 15, 2}, /* of two equally near classes, the smaller one */
                {1 << 16, 3}, {1, 2},         {0, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (way(rows[i].n) != rows[i].way)
            fail_msg("of size %lld variant %d runs", (long long)rows[i].n, way(rows[i].n));
    int64_t wide = 0; /* another instance counts as another kernel */
    assert_ok(tuning_which_i64(&wide, 1024));
    assert_int_equal(wide, 1);
}

TEST_WITH(update_keeps_the_variant_of_the_capture, set_up, tear_down)
{
    int32_t *memory, ways[2] = {-1, -1};
    cf_stream stream;
    cf_graph graph;
    cf_graph_node node;
    cf_graph_exec exec;
    write_text("which_i32", BEGIN "@ ! 2^10 WAY=2 1 2\n@ ! 2^20 WAY=3 1 2\n");
    assert_ok(cf_mem_alloc((void **)&memory, sizeof ways));
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(tuning_which_i32_async(stream, memory, 1024));
    assert_ok(cf_stream_capture_node(stream, &node));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(tuning_which_i32_update(exec, node, memory + 1, 1 << 20));
    assert_ok(cf_mem_copy(memory, ways, sizeof ways));
    assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_mem_copy(ways, memory, sizeof ways));
    assert_true(ways[0] == -1 && ways[1] == 2);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(memory));
}

TEST_WITH(size_is_that_of_the_arrays, set_up, tear_down)
{
    enum { MANY = 4096 };
    static float x[MANY];
    int out = 0;
    /* The size of the call is 4 (n + 1) bytes. */
    write_text("both", BEGIN "@ ! 2^5 A=2,B=4 1 1\n@ ! 2^6 A=2,B=3 1 1\n@ ! 2^14 A=1,B=4\n");
    static const int rows[][2] = {{7, 24}, {14, 24}, {15, 23}, {30, 23}, {MANY, 14}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_ok(tuning_both(x, &out, rows[i][0]));
        assert_int_equal(out, rows[i][1]);
        int found, n = rows[i][0];
        const float *px = x;
        int *pout = &out;
        void *const args[] = {&px, &pout, &n};
        const cf_kernel *variant;
        assert_ok(cf_tuning_class(kernel_of("both"), args, &found));
        assert_ok(cf_tuning_variant(kernel_of("both"), found, &variant));
        assert_int_equal(variant->constants[0].value * 10 + variant->constants[1].value, rows[i][1]);
    }
}

TEST_WITH(size_class_counts_with_scratch_memory, set_up, tear_down)
{
    enum { MANY = 4096 };
    static float x[MANY];
    int out = 0;
    write_text("with_scratch", BEGIN "@ ! 2^5 WAY=1\n@ ! 2^14 WAY=2\n");
    for (int i = 0; i < 2; i++) { /* the first call makes the table of variants */
        assert_ok(tuning_with_scratch(x, &out, MANY));
        assert_int_equal(out, 2);
        assert_ok(tuning_with_scratch(x, &out, 7));
        assert_int_equal(out, 1);
    }
}

TEST_WITH(null_scalar_is_reported_before_the_size_class, set_up, tear_down)
{
    int32_t out = 0, *pointer = &out;
    int64_t n = 1024;
    void *args[] = {&pointer, &n};
    write_text("which_i32", BEGIN "@ ! 2^10 WAY=2 1 2\n@ ! 2^20 WAY=3 1 2\n");
    for (int i = 0; i < 2; i++) { /* the second call has a table */
        args[1] = NULL;
        assert_fails(cf_call(kernel_of("which_i32"), args), CF_EINVAL, "tuning_which_i32: the argument for n is NULL");
        assert_fails(cf_launch(kernel_of("which_i32"), NULL, args), CF_EINVAL,
                     "tuning_which_i32_async: the argument for n is NULL");
        args[1] = &n;
        assert_ok(cf_call(kernel_of("which_i32"), args));
        assert_int_equal(out, 2);
    }
}

TEST_WITH(variants_run_as_they_are, set_up, tear_down)
{
    write_text("which_i32", BEGIN "@ ! 2^10 WAY=2 1 2\n");
    const cf_kernel *kernel = kernel_of("which_i32"), *found;
    assert_int_equal(kernel->nvariants, 3);
    assert_int_equal(kernel->nconstants, 0);
    for (uint32_t v = 0; v < 3; v++) {
        int32_t out = 0, *pointer = &out;
        int64_t n = 1024;
        void *const args[] = {&pointer, &n};
        assert_ok(cf_call(kernel->variants[v], args));
        assert_int_equal(out, v + 1);
        assert_ok(cf_tuning_variant(kernel->variants[v], 10, &found));
        assert_ptr_equal(found, kernel->variants[v]);
        assert_ok(cf_call(kernel, args)); /* the kernel and its function select the same variant */
        assert_int_equal(out, 2);
    }
}

/* Variants that differ only in their definition have CPU bodies of their own. */
TEST_WITH(variants_of_a_declaration_run_as_they_are, set_up, tear_down)
{
    enum { MANY = 1000 };
    const cf_kernel *kernel = kernel_of("several");
    for (uint32_t v = 0; v < kernel->nvariants; v++) {
        float x[MANY], y[MANY] = {0};
        const float *px = x;
        float *py = y;
        int n = MANY;
        void *const args[] = {&px, &py, &n};
        for (int i = 0; i < MANY; i++)
            x[i] = (float)(i + 1);
        assert_ok(cf_call(kernel->variants[v], args));
        assert_memory_equal(x, y, sizeof x);
    }
}

/* The file's contents are cached until shutdown. */
TEST_WITH(file_is_read_once, set_up, tear_down)
{
    write_text("which_i32", BEGIN "@ ! 2^10 WAY=2 1 2\n");
    assert_int_equal(way(1024), 2);
    FILE *file = fopen(path, "w");
    fputs(BEGIN, file);
    fclose(file);
    int64_t wide = 0;
    assert_ok(tuning_which_i64(&wide, 1024)); /* another kernel does not cause the file to be read again */
    assert_int_equal(way(1024), 2);
    if (on_cuda() && cf_device_reset(0) == CF_OK)
        assert_int_equal(way(1024), 2);
    assert_ok(cf_shutdown());
    assert_int_equal(way(1024), 1);
}

/* ---- Architectures ---- */

/* On an sm_90, lines for sm_90 are preferred, then lines for the same major version, then those for any other GPU;
 * lines for the CPU are never used. */
FAKE_TEST(nearest_architecture_counts, NULL)
{
    static const struct {
        const char *text;
        int way;
    } rows[] = {
        {BEGIN "@ sm_100 2^10 WAY=2\n@ sm_90 2^10 WAY=3\n", 3},
        {BEGIN "@ sm_90 2^10 WAY=3\n@ sm_100 2^10 WAY=2\n", 3},
        {BEGIN "@ sm_100 2^10 WAY=2\n@ sm_86 2^10 WAY=3\n", 3},
        {BEGIN "@ sm_80 2^10 WAY=2\n@ sm_100 2^10 WAY=3\n", 2},
        {BEGIN "@ sm_89 2^10 WAY=2\n@ sm_95 2^10 WAY=3\n", 3},
        {BEGIN "@ sm_70 2^10 WAY=3\n", 3},
        {BEGIN "@ host 2^10 WAY=2\n", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_text("which_i32", rows[i].text);
        if (way(1024) != rows[i].way)
            fail_msg("with\n%svariant %d runs", rows[i].text, way(1024));
    }
}

/* Each of two GPUs and the CPU has a line of its own. */
FAKE_TEST(devices_differ, "FAKE_CUDA=cc1=100")
{
    write_text("which_i32", BEGIN "@ sm_90 2^10 WAY=2\n@ sm_100 2^10 WAY=3\n@ host 2^3 WAY=1\n");
    assert_int_equal(way(1024), 2);
    assert_ok(cf_device_use(1));
    assert_int_equal(way(1024), 3);
    assert_ok(cf_device_use(CF_HOST));
    assert_int_equal(way(1024), 1);
    assert_ok(cf_device_use(0));
    assert_int_equal(way(1024), 2);
}

TEST_WITH(lines_of_the_kernel_are_beside_those_of_the_user, set_up, tear_down)
{
    char own[512], text[512];
    cf_state loaded = {NULL};
    const cf_kernel *kernel = kernel_of("which_i32");
    snprintf(own, sizeof own, "tuning_which_i32 %08x %s 2^10 WAY=2\ntuning_which_i32 %08x %s 2^20 WAY=3\n",
             (unsigned)cf__tuning_version(kernel), here(), (unsigned)cf__tuning_version(kernel), here());
    cf_kernel with = *kernel;
    with.tuning = own;
    with.state = &loaded;
    int32_t out = 0, *pointer = &out;
    int64_t n = 1024;
    void *const args[] = {&pointer, &n};
    const char *const texts[] = {BEGIN, BEGIN "@ sm_10 2^10 WAY=1\n", BEGIN "@ ! 2^20 WAY=1\n",
                                 BEGIN "@ ! 2^10 WAY=1\n"};
    static const int expected[][2] = {{2, 3}, {2, 3}, {2, 1}, {1, 3}};
    for (size_t i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "%s", texts[i]);
        write_text("which_i32", text);
        for (int large = 0; large < 2; large++) {
            n = large ? 1 << 20 : 1024;
            assert_ok(cf_call(&with, args));
            if (out != expected[i][large])
                fail_msg("with %s variant %d runs", texts[i], out);
        }
    }
    assert_ok(cf_shutdown()); /* the library refers to a state that is on this function's stack */
}

/* ---- Calls that the chosen variant cannot run ---- */

TEST_WITH(first_runs_where_the_chosen_one_does_not, set_up, tear_down)
{
    int out = 0;
    write_text("even", BEGIN "@ ! 2^3 WAY=2\n");
    assert_ok(tuning_even(&out, 4));
    assert_int_equal(out, 2);
    assert_ok(tuning_even(&out, 5));
    assert_int_equal(out, 1);
    if (!on_cuda())
        return; /* the CPU has no limit of this kind */
    assert_int_equal(tuning_even(NULL, 4), CF_EINVAL);
    char before[512];
    snprintf(before, sizeof before, "%s", cf_last_error());
    write_text("large", BEGIN "@ ! 2^3 WAY=2\n");
    assert_ok(tuning_large(&out, 100));
    assert_int_equal(out, 2);
    assert_ok(tuning_large(&out, 1 << 30));
    assert_int_equal(out, 1);
    int *memory;
    assert_ok(cf_mem_alloc((void **)&memory, sizeof *memory));
    assert_ok(tuning_large_async(NULL, memory, 1 << 30));
    assert_ok(cf_mem_copy(&out, memory, sizeof out));
    assert_int_equal(out, 1);
    assert_ok(cf_mem_free(memory));
    assert_string_equal(cf_last_error(), before); /* a successful call keeps the last error's text */
}

/* Numbers of log lines, by level. */
struct line_counts {
    int errors, refusals;
};

static void count_lines(void *data, int level, const char *text)
{
    struct line_counts *lines = data;
    lines->errors += level == CF_LOG_ERROR;
    lines->refusals += level == CF_LOG_INFO && strstr(text, " was refused: ");
}

/* The call succeeds with another variant. Later calls of the same class do not try the refused one again. */
static void expect_refused_once(int (*call)(int *out, int n), int (*call_async)(cf_stream stream, int *out, int n),
                                int n, int way, int other_n, int other_way)
{
    int out = 0, *memory;
    struct line_counts lines = {0, 0};
    char before[512];
    const struct fake_counts *counts = fake_counts();
    assert_int_equal(cf_tuning_save(NULL, NULL, 1), CF_EINVAL);
    snprintf(before, sizeof before, "%s", cf_last_error());
    assert_ok(cf_mem_alloc((void **)&memory, sizeof *memory));
    cf_set_log(count_lines, &lines);
    for (int i = 0; i < 3; i++) {
        const int launches = counts->launch, requests = counts->set_attribute;
        assert_ok(i == 1 ? call_async(NULL, memory, n) : call(&out, n));
        if (i == 1)
            assert_ok(cf_mem_copy(&out, memory, sizeof out));
        assert_int_equal(out, way);
        assert_true(i == 0 || (counts->launch == launches + 1 && counts->set_attribute == requests));
        assert_string_equal(cf_last_error(), before);
        assert_int_equal(cf_last_driver_result(), 0);
        assert_int_equal(lines.errors, 0);
        assert_int_equal(lines.refusals, 1);
    }
    assert_ok(call(&out, other_n)); /* in another class it is tried again */
    assert_int_equal(out, other_way);
    assert_ok(cf_mem_free(memory));
    assert_int_equal(call(NULL, n), CF_EINVAL);
    assert_int_equal(lines.errors, 1);
    cf_set_log(NULL, NULL);
}

FAKE_TEST(variant_that_has_not_the_registers_is_refused_once, "FAKE_CUDA=threads=256")
{
    write_text("crowded", BEGIN "@ ! 2^3 BLOCK=512\n@ ! 2^6 BLOCK=512\n@ ! 2^20 BLOCK=32\n");
    expect_refused_once(tuning_crowded, tuning_crowded_async, 100, 32, 1 << 20, 32);
    write_text("crowded", BEGIN "@ ! 2^3 BLOCK=512\n"); /* the same variant for all classes */
    expect_refused_once(tuning_crowded, tuning_crowded_async, 100, 32, 300, 32);
    const cf_kernel *variant;
    assert_ok(cf_tuning_variant(kernel_of("crowded"), 6, &variant));
    assert_ptr_equal(variant, kernel_of("crowded")->variants[0]);
    assert_ok(cf_tuning_variant(kernel_of("crowded"), 20, &variant));
    assert_ptr_equal(variant, kernel_of("crowded")->variants[1]);
}

FAKE_TEST(variant_that_has_not_the_shared_memory_is_refused_once, NULL)
{
    write_text("large", BEGIN "@ ! 2^3 WAY=2\n");
    expect_refused_once(tuning_large, tuning_large_async, 1 << 30, 1, 100, 1);
}

/* An error of another kind does not affect the next call. */
TEST_WITH(variant_that_refuses_arguments_is_tried_again, set_up, tear_down)
{
    int out = 0;
    struct line_counts lines = {0, 0};
    write_text("even", BEGIN "@ ! 2^3 WAY=2\n");
    cf_set_log(count_lines, &lines);
    for (int n = 4; n < 8; n++) {
        assert_ok(tuning_even(&out, n));
        assert_int_equal(out, n % 2 ? 1 : 2);
    }
    assert_int_equal(lines.errors + lines.refusals, 0);
    write_text("large", BEGIN "@ ! 2^3 WAY=2\n");
    assert_int_equal(tuning_large(NULL, 100), CF_EINVAL);
    assert_int_equal(lines.errors, 1);
    assert_ok(tuning_large(&out, 100));
    assert_int_equal(out, 2);
    cf_set_log(NULL, NULL);
}

TEST_WITH(wrong_arguments_are_reported_with_and_without_tuning, set_up, tear_down)
{
    int32_t out = 7, *pointer = &out;
    int64_t n = 1024;
    void *const none[] = {NULL, &n}, *const right[] = {&pointer, &n};
    for (int is_measured = 0; is_measured < 2; is_measured++) {
        write_text("which_i32", is_measured ? BEGIN "@ ! 2^10 WAY=2\n@ ! 2^20 WAY=3\n" : BEGIN);
        for (int is_loaded = 0; is_loaded < 2; is_loaded++) {
            assert_int_equal(tuning_which_i32(NULL, 5), CF_EINVAL);
            assert_string_equal(cf_last_error(), "tuning_which_i32: way is NULL and its extent is 1");
            assert_int_equal(tuning_which_i32_async(NULL, NULL, 5), CF_EINVAL);
            assert_string_equal(cf_last_error(), "tuning_which_i32_async: way is NULL and its extent is 1");
            assert_int_equal(cf_call(kernel_of("which_i32"), NULL), CF_EINVAL);
            assert_int_equal(cf_launch(kernel_of("which_i32"), NULL, NULL), CF_EINVAL);
            assert_int_equal(cf_call(kernel_of("which_i32"), none), CF_EINVAL);
            assert_int_equal(cf_launch(kernel_of("which_i32"), NULL, none), CF_EINVAL);
            assert_int_equal(out, 7);
            assert_int_equal(way(1024), is_measured ? 2 : 1);
        }
    }
    int found = -1;
    const cf_kernel *variant;
    assert_int_equal(cf_tuning_class(NULL, right, &found), CF_EINVAL);
    assert_int_equal(cf_tuning_class(kernel_of("which_i32"), right, NULL), CF_EINVAL);
    assert_int_equal(cf_tuning_class(kernel_of("which_i32"), NULL, &found), CF_EINVAL);
    void *const without[] = {&pointer, NULL};
    assert_int_equal(cf_tuning_class(kernel_of("which_i32"), without, &found), CF_EINVAL);
    assert_string_equal(cf_last_error(), "tuning_which_i32: the argument for n is NULL, and not a pointer to one");
    assert_ok(cf_tuning_class(kernel_of("which_i32"), none, &found)); /* the contents of arrays are not read */
    assert_int_equal(found, 10);
    assert_int_equal(cf_tuning_variant(NULL, 1, &variant), CF_EINVAL);
    assert_int_equal(cf_tuning_variant(kernel_of("which_i32"), 1, NULL), CF_EINVAL);
    assert_int_equal(cf_tuning_variant(kernel_of("which_i32"), -1, &variant), CF_EINVAL);
    assert_int_equal(cf_tuning_variant(kernel_of("which_i32"), 64, &variant), CF_EINVAL);
    assert_string_equal(cf_last_error(), "cf_tuning_variant: size_class is 64; it is 0 to 63");
}

/* The first argument, which determines the size of the call, is NULL. */
TEST_WITH(first_argument_that_is_null_is_reported, set_up, tear_down)
{
    static const cf_op ops[] = {{CF_OP_PARAM, 0}, {CF_OP_END, 0}};
    int32_t out = 7, *pointer = &out;
    int64_t n = 1024;
    void *const right[] = {&pointer, &n}, *const without[] = {NULL, &pointer};
    cf_kernel turned = *kernel_of("which_i32");
    const cf_param params[] = {turned.params[1], turned.params[0]};
    turned.params = params;
    turned.bytes = (cf_expr){"n", ops};
    write_text("which_i32", BEGIN "@ ! 2^10 WAY=2\n@ ! 2^20 WAY=3\n");
    assert_ok(cf_call(kernel_of("which_i32"), right)); /* makes the table of variants */
    assert_int_equal(out, 2);
    assert_int_equal(cf_call(&turned, without), CF_EINVAL);
    assert_int_equal(cf_launch(&turned, NULL, without), CF_EINVAL);
}

TEST_WITH(invalid_sizes_are_reported_once, set_up, tear_down)
{
    static const float x[4];
    const float *px = x;
    int out = 7, n = -1, found = 33, *pout = &out;
    struct line_counts lines = {0, 0};
    void *const args[] = {&px, &pout, &n};
    const cf_kernel *kernel = kernel_of("both");
    write_text("both", BEGIN "@ ! 2^5 A=2,B=4\n@ ! 2^9 A=2,B=3\n");
    assert_ok(tuning_both(x, &out, 4));
    cf_set_log(count_lines, &lines);
    assert_int_equal(cf_tuning_class(kernel, args, &found), CF_EINVAL);
    assert_string_equal(cf_last_error(), "tuning_both: the extent x[n] is negative with n = -1");
    assert_int_equal(lines.errors, 1);
    assert_int_equal(found, 33);
    assert_int_equal(tuning_both(x, &out, -1), CF_EINVAL);
    assert_string_equal(cf_last_error(), "tuning_both: the extent x[n] is negative with n = -1");
    assert_int_equal(lines.errors, 2);
    assert_int_equal(tuning_both_async(NULL, x, &out, -1), CF_EINVAL);
    assert_string_equal(cf_last_error(), "tuning_both_async: the extent x[n] is negative with n = -1");
    assert_int_equal(lines.errors, 3);
    cf_set_log(NULL, NULL);

    static const cf_op ops[] = {{CF_OP_PARAM, 2}, {CF_OP_END, 0}};
    cf_param opaque[3];
    cf_kernel wrong = *kernel;
    memcpy(opaque, kernel->params, sizeof opaque);
    opaque[2].type = CF_OPAQUE;
    wrong.params = opaque;
    wrong.bytes = (cf_expr){"n", ops};
    assert_int_equal(cf_tuning_class(&wrong, args, &found), CF_EINVAL);
    assert_string_equal(cf_last_error(), "tuning_both: bytes(n) reads what is no number");
    assert_int_equal(found, 33);
}

TEST_WITH(plan_tells_the_variant, set_up, tear_down)
{
    int out = 0;
    float x[4] = {0};
    write_text("both", BEGIN "@ ! 2^4 A=2,B=4\n");
    assert_ok(tuning_both(x, &out, 4));
    const char *variant = strstr(cf_last_plan(), "; variant A=2,B=4");
    if (!variant || variant[17])
        fail_msg("%s", cf_last_plan());
    assert_ok(cf_kernel_preload(kernel_of("both")));
    assert_ok(cf_preload(&tuning_registry));
}

TEST_WITH(trace_tells_the_variant, set_up, tear_down)
{
    static char text[1 << 16];
    int out = 0;
    float x[4] = {0};
    write_text("both", BEGIN "@ ! 2^4 A=2,B=4\n");
    char trace[128];
    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    setenv("CF_TRACE", trace, 1);
    assert_ok(cf_shutdown());
    assert_ok(tuning_both(x, &out, 4));
    assert_int_equal(out, 24);
    assert_ok(cf_shutdown());
    unsetenv("CF_TRACE");
    FILE *file = fopen(trace, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    if (!strstr(text, "\"variant\": \"A=2,B=4\"") || !strstr(text, "; variant A=2,B=4\""))
        fail_msg("%s", text);
}

/* ---- Format of the file ---- */

TEST_WITH(lines_that_are_none_are_passed_over, set_up, tear_down)
{
    static const char *const lines[] = {
        "",
        "\n\n \t\n",
        "# @ ! 2^10 WAY=2\n",
        "@ ! 2^10 WAY=4\n",
        "@ ! 2^10 WAY=02\n",
        "@ ! 2^10 WAY=2,WAY=2\n",
        "@ ! 2^64 WAY=2\n",
        "@ ! 2^-1 WAY=2\n",
        "@ ! 1024 WAY=2\n",
        "@ ! 2^ WAY=2\n",
        "@ ! 2^99999999999999999999 WAY=2\n",
        "@ sm_ 2^10 WAY=2\n",
        "@ sm_9x 2^10 WAY=2\n",
        "@ sm_99999999999999999999 2^10 WAY=2\n",
        "@ gpu 2^10 WAY=2\n",
        "@ !\n",
        "@\n",
        "tuning_which_i32 00000000 ! 2^10 WAY=2\n",
        "tuning_which_i32 0000000 ! 2^10 WAY=2\n",
        "tuning_which_i32 zzzzzzzz ! 2^10 WAY=2\n",
        "tuning_which_i3 00000000 ! 2^10 WAY=2\n",
        "x@ ! 2^10 WAY=2\n",
        "\xff\xfe\x01 \x02\n",
        "@ ! 2^10 WAY=2", /* truncated */
    };
    char text[256];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(text, sizeof text, BEGIN "%s", lines[i]);
        write_text("which_i32", text);
        if (way(1024) != 1)
            fail_msg("a line was taken: %s", lines[i]);
        snprintf(text, sizeof text, BEGIN "%s%s@ ! 2^10 WAY=3 and more\r\n", lines[i],
                 i + 1 == sizeof lines / sizeof *lines ? "\n" : "");
        write_text("which_i32", text);
        if (way(1024) != 3)
            fail_msg("a line was not taken after %s", lines[i]);
    }
}

/* The contents of kernels/tuning when this program was built. */
__asm__(".pushsection .rodata\n"
        "tuning_begin: .incbin \"" BUNDLED_TUNING "\"\n"
        ".byte 0\n"
        ".popsection");
extern const char tuning_begin[] __attribute__((visibility("hidden")));

/* When a kernel's annotation changes, so does its version. Its lines must then be measured again or removed. */
TEST_WITH(bundled_lines_are_of_the_kernels_as_they_are, set_up, tear_down)
{
    static const char *const dead[] = {"@ host 2^1 WAY=4\n", "@ host 2^1 WAY=2", "x@ host 2^1 WAY=2\n",
                                       "tuning_which_i32 00000000 host 2^1 WAY=2\n"};
    write_text("which_i32", BEGIN "# a comment\n@ sm_90 2^10 WAY=2 1 1\n@ host 2^63 WAY=1\n");
    assert_null(dead_line(&tuning_registry, read_text()));
    for (size_t i = 0; i < sizeof dead / sizeof *dead; i++) {
        char text[256];
        snprintf(text, sizeof text, BEGIN "@ host 2^1 WAY=2\n%s", dead[i]);
        write_text("which_i32", text);
        const char *whole = read_text(), *found = dead_line(&tuning_registry, whole);
        if (!found || found == whole + strlen(BEGIN))
            fail_msg("it was taken: %s", dead[i]);
    }
    const char *found = dead_line(&cf_registry, tuning_begin);
    if (found)
        fail_msg("kernels/tuning has a line of no kernel as it is: %.*s", (int)strcspn(found, "\n"), found);
}

TEST_WITH(files_that_are_none_are_not_used, set_up, tear_down)
{
    static const char *const texts[] = {
        "",
        "cuferry tuning 1",
        "cuferry tuning 2\n@ ! 2^10 WAY=2\n",
        "Cuferry tuning 1\n@ ! 2^10 WAY=2\n",
        "\n" BEGIN "@ ! 2^10 WAY=2\n",
        "@ ! 2^10 WAY=2\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text("which_i32", texts[i]);
        assert_int_equal(way(1024), 1);
    }
    write_text("which_i32", BEGIN "@ ! 2^10 WAY=2\n");
    FILE *file = fopen(path, "a");
    fputc(0, file);
    fclose(file);
    assert_ok(cf_shutdown());
    assert_int_equal(way(1024), 1);

    write_text("which_i32", BEGIN "@ ! 2^10 WAY=2\n");
    assert_int_equal(truncate(path, (off_t)CF__TUNING_BYTES + 1), 0);
    assert_ok(cf_shutdown());
    assert_int_equal(way(1024), 1);

    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* a pipe: the library must not wait for a writer */
    assert_ok(cf_shutdown());
    assert_int_equal(way(1024), 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_ok(cf_shutdown());
    assert_int_equal(way(1024), 1);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink(path, path), 0);
    assert_ok(cf_shutdown());
    assert_int_equal(way(1024), 1);
}

FAKE_TEST(place_of_the_file_is_what_the_environment_says, NULL)
{
    char found[256], expected[256], small[4];
    assert_ok(cf_tuning_path(found, sizeof found));
    assert_string_equal(found, path);
    assert_int_equal(cf_tuning_path(small, sizeof small), CF_EINVAL);
    assert_int_equal(cf_tuning_path(NULL, 1), CF_EINVAL);
    write_text("which_i32", BEGIN "@ ! 2^10 WAY=2\n");
    setenv("CF_TUNING", "", 1);
    assert_int_equal(cf_tuning_path(found, sizeof found), CF_ENOTSUP);
    assert_int_equal(way(1024), 1);
    unsetenv("CF_TUNING");
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(expected, sizeof expected, "%s/cuferry/tuning", folder);
    assert_ok(cf_tuning_path(found, sizeof found));
    assert_string_equal(found, expected);
    const cf_tuning result = {kernel_of("which_i32")->variants[2], strcmp(here(), "host") ? atoi(here() + 3) : 0, 10, 1,
                              2};
    assert_ok(cf_tuning_save(NULL, &result, 1)); /* also creates the folder */
    assert_ok(cf_shutdown());
    assert_int_equal(way(1024), 3);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", folder, 1);
    snprintf(expected, sizeof expected, "%s/.cache/cuferry/tuning", folder);
    assert_ok(cf_tuning_path(found, sizeof found));
    assert_string_equal(found, expected);
    unsetenv("HOME");
    assert_int_equal(cf_tuning_path(found, sizeof found), CF_ENOTSUP);
    assert_int_equal(cf_tuning_save(NULL, &result, 1), CF_ENOTSUP);
    assert_ok(cf_shutdown());
    assert_int_equal(way(1024), 1);
}

/* ---- Versions ---- */

/* If the launch rule changes, the kernel counts as another one, and earlier measurements do not apply to it. */
TEST_WITH(version_changes_with_each_part_of_the_launch_rule, set_up, tear_down)
{
    enum { FLAGS = 5, PARTS = FLAGS + 2 * CF_GRID_DIMS + 2 + CF_GRID_DIMS + 2 };
    const cf_kernel *kernel = kernel_of("both");
    uint32_t versions[PARTS + 1] = {cf__tuning_version(kernel)};
    for (int part = 0; part < PARTS; part++) {
        cf_kernel changed = *kernel;
        cf_param params[3];
        cf_launch_rule *rule = &changed.launch;
        cf_expr *exprs[2 * CF_GRID_DIMS + 2] = {&rule->items, &rule->shared};
        uint8_t *const flags[] = {&rule->counts_blocks, &rule->is_cooperative, &rule->is_block_auto,
                                  &rule->passes_cluster, &rule->is_dependent};
        for (int d = 0; d < CF_GRID_DIMS; d++) {
            exprs[2 + 2 * d] = &rule->grid[d];
            exprs[3 + 2 * d] = &rule->block[d];
        }
        memcpy(params, kernel->params, sizeof params);
        params[0].ctype = "const double *";
        if (part < FLAGS)
            *flags[part] ^= 1;
        else if (part < PARTS - 2 - CF_GRID_DIMS)
            exprs[part - FLAGS]->text = "n + 7";
        else if (part < PARTS - 2)
            memcpy(rule->cluster, (uint32_t[]){2, part == PARTS - 4, part == PARTS - 3}, sizeof rule->cluster);
        else if (part == PARTS - 2)
            changed.params = params;
        else
            changed.nvariants--;
        versions[part + 1] = cf__tuning_version(&changed);
        for (int before = 0; before <= part; before++)
            if (versions[before] == versions[part + 1])
                fail_msg("changes %d and %d have one version", before - 1, part);
    }
}

/* ---- Saving ---- */

TEST_WITH(results_are_merged, set_up, tear_down)
{
    const cf_kernel *kernel = kernel_of("which_i32"), *other = kernel_of("both");
    const cf_tuning first[] = {{kernel->variants[1], 90, 10, 1.25e-6, 2e-3}, {kernel->variants[2], 0, 10, 3, 4}};
    const cf_tuning second[] = {{kernel->variants[0], 90, 10, 2e-6, 2e-6}, {other->variants[3], 90, 63, 1e-9, 1e-9}};
    char expected[1024];
    unsigned version = cf__tuning_version(kernel), of_other = cf__tuning_version(other);
    assert_int_not_equal(version, of_other);
    assert_int_equal(version, cf__tuning_version(kernel->variants[2]));
    write_text("which_i32", BEGIN "# kept\nnoise\n@ sm_80 2^10 WAY=2 1 1\n@ sm_90 2^10 WAY=3 1 1\n"
                                  "tuning_which_i32 00000000 sm_90 2^10 WAY=3 1 1\ncut off");
    assert_ok(cf_tuning_save(path, first, 2));
    snprintf(expected, sizeof expected,
             BEGIN "# kept\ntuning_which_i32 %08x sm_80 2^10 WAY=2 1 1\n"
                   "tuning_which_i32 00000000 sm_90 2^10 WAY=3 1 1\n"
                   "tuning_which_i32 %08x sm_90 2^10 WAY=2 1250.0 2000000.0\n"
                   "tuning_which_i32 %08x host 2^10 WAY=3 3000000000.0 4000000000.0\n",
             version, version, version);
    assert_string_equal(read_text(), expected);
    assert_ok(cf_tuning_save(NULL, second, 2)); /* writes the file of CF_TUNING */
    snprintf(expected, sizeof expected,
             BEGIN "# kept\ntuning_which_i32 %08x sm_80 2^10 WAY=2 1 1\n"
                   "tuning_which_i32 00000000 sm_90 2^10 WAY=3 1 1\n"
                   "tuning_which_i32 %08x host 2^10 WAY=3 3000000000.0 4000000000.0\n"
                   "tuning_which_i32 %08x sm_90 2^10 WAY=1 2000.0 2000.0\n"
                   "tuning_both %08x sm_90 2^63 A=2,B=4 1.0 1.0\n",
             version, version, version, of_other);
    assert_string_equal(read_text(), expected);
    assert_ok(cf_tuning_save(path, NULL, 0));
    assert_string_equal(read_text(), expected);
    write_text("both", ""); /* an empty file counts as a new one */
    assert_ok(cf_tuning_save(path, second + 1, 1));
    snprintf(expected, sizeof expected, BEGIN "tuning_both %08x sm_90 2^63 A=2,B=4 1.0 1.0\n", of_other);
    assert_string_equal(read_text(), expected);
    FILE *file = fopen(path, "a"); /* a line that contains a NUL is removed, but the lines after it are kept */
    fwrite("cut\0off\n# kept\n", 1, 15, file);
    fclose(file);
    assert_ok(cf_tuning_save(path, second + 1, 1));
    assert_int_equal(strlen(read_text()), strlen(expected) + strlen("# kept\n"));
}

/* The file was named by mistake and is of another kind, or a later version wrote it. */
TEST_WITH(files_of_others_are_left_alone, set_up, tear_down)
{
    static const char *const texts[] = {"n,time\n1,2.5\n", ("\n" BEGIN), "cuferry tuning 2\nnew\n", "cuferry tuning 1",
                                        "x"};
    const cf_tuning result = {kernel_of("which_i32")->variants[1], 0, 10, 1, 2};
    char detail[256];
    snprintf(detail, sizeof detail, "cf_tuning_save: %s does not begin with 'cuferry tuning 1': it is left as it is",
             path);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text("which_i32", texts[i]);
        assert_int_equal(cf_tuning_save(path, &result, 1), CF_EINVAL);
        assert_string_equal(cf_last_error(), detail);
        assert_int_equal(cf_tuning_save(path, NULL, 0), CF_EINVAL);
        assert_string_equal(cf_last_error(), detail);
        assert_string_equal(read_text(), texts[i]);
    }
    write_text("which_i32", BEGIN);
    assert_int_equal(truncate(path, (off_t)CF__TUNING_BYTES + 1), 0);
    assert_int_equal(cf_tuning_save(path, &result, 1), CF_EINVAL);
    assert_non_null(strstr(cf_last_error(), " is too large: it is left as it is"));
}

TEST_WITH(file_keeps_its_rights_and_links, set_up, tear_down)
{
    char target[128];
    struct stat status;
    const cf_tuning result = {kernel_of("which_i32")->variants[1], 0, 10, 1, 2};
    snprintf(target, sizeof target, "%s/target", folder);
    assert_int_equal(symlink(target, path), 0);
    FILE *file = fopen(target, "w");
    fclose(file);
    assert_int_equal(chmod(target, 0640), 0);
    assert_ok(cf_tuning_save(path, &result, 1));
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_non_null(strstr(read_text(), "WAY=2"));
}

/* A link in another folder leads, through a second link, to a file that does not exist yet. */
TEST_WITH(link_to_a_file_that_is_missing_stays_one, set_up, tear_down)
{
    char inner[96], second[128], target[128], detail[256];
    struct stat status;
    const cf_tuning result = {kernel_of("which_i32")->variants[1], 0, 10, 1, 2};
    snprintf(inner, sizeof inner, "%s/inner", folder);
    snprintf(second, sizeof second, "%s/second", inner);
    snprintf(target, sizeof target, "%s/target", inner);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(symlink("inner/second", path), 0);
    assert_int_equal(symlink("target", second), 0);
    assert_ok(cf_tuning_save(path, NULL, 0));
    assert_int_equal(lstat(target, &status), -1);
    assert_ok(cf_tuning_save(path, &result, 1));
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(lstat(second, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(lstat(target, &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_non_null(strstr(read_text(), "WAY=2"));

    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("tuning", path), 0);
    assert_int_equal(cf_tuning_save(path, &result, 1), CF_EINVAL);
    snprintf(detail, sizeof detail, "cf_tuning_save: following %s: Too many levels of symbolic links", path);
    assert_string_equal(cf_last_error(), detail);
}

TEST_WITH(saving_that_cannot_be_is_an_error, set_up, tear_down)
{
    const cf_kernel *kernel = kernel_of("which_i32");
    const cf_tuning right = {kernel->variants[1], 0, 10, 1, 2};
    cf_tuning wrong[] = {right, right, right, right, right};
    wrong[0].variant = NULL;
    wrong[1].variant = kernel; /* the kernel itself is no variant */
    wrong[2].size_class = 64;
    wrong[3].size_class = -1;
    wrong[4].capability = -1;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const cf_tuning both[] = {right, wrong[i]};
        assert_int_equal(cf_tuning_save(path, both, 2), CF_EINVAL);
        assert_non_null(strstr(cf_last_error(), "results[1]"));
        assert_int_equal(access(path, F_OK), -1);
    }
    assert_int_equal(cf_tuning_save(path, NULL, 1), CF_EINVAL);
    char missing[128];
    snprintf(missing, sizeof missing, "%s/missing/tuning", folder);
    assert_int_equal(cf_tuning_save(missing, &right, 1), CF_EINVAL);
    assert_non_null(strstr(cf_last_error(), "missing/tuning.lock: No such file or directory"));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(cf_tuning_save(path, &right, 1), CF_EINVAL);
    assert_int_equal(rmdir(path), 0);
    FILE *file = fopen(path, "w");
    fputs(BEGIN, file);
    while (ftell(file) + 90 < (long)CF__TUNING_BYTES)
        fputs("tuning_which 00000000 sm_90 2^1 X, a line that is longer than the others are\n", file);
    fclose(file);
    assert_int_equal(cf_tuning_save(path, &right, 1), CF_EINVAL); /* the library reads no file of this size */
    assert_non_null(strstr(cf_last_error(), "1048576 bytes"));
}

static int count_files(void)
{
    int count = 0;
    DIR *files = opendir(folder);
    assert_non_null(files);
    for (struct dirent *file; (file = readdir(files)) != NULL;)
        count += strcmp(file->d_name, ".") != 0 && strcmp(file->d_name, "..") != 0;
    closedir(files);
    return count;
}

static void is_ended(int number)
{
    (void)number;
    _exit(7);
}

/* Runs in a child; returns 0 if the results were saved, 3 if the file would exceed the limit. */
static int save_within(rlim_t bytes, const cf_tuning *result)
{
    int status;
    pid_t child = fork_flushed();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGXFSZ, is_ended);
        if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes}) != 0)
            _exit(4);
        if (cf_tuning_save(path, result, 1) == CF_OK)
            _exit(0);
        _exit(strstr(cf_last_error(), ": File too large") ? 3 : 5);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The limit does not kill the process. The file is unchanged, and no other file is left beside it. */
TEST_WITH(limit_of_the_size_of_files_is_an_error, set_up, tear_down)
{
    const cf_tuning result = {kernel_of("which_i32")->variants[1], 90, 10, 1, 2};
    assert_int_equal(save_within(0, &result), 3);
    assert_int_equal(count_files(), 0);
    assert_int_equal(save_within(4096, &result), 0);
    assert_int_equal(count_files(), 1);
    char *before = strdup(read_text());
    assert_non_null(before);
    for (rlim_t bytes = 0; bytes < strlen(before); bytes += 7) {
        assert_int_equal(save_within(bytes, &result), 3);
        assert_string_equal(read_text(), before);
        assert_int_equal(count_files(), 1);
    }
    assert_int_equal(save_within(strlen(before), &result), 0);
    assert_string_equal(read_text(), before);
    free(before);
}

TEST_WITH(files_beside_are_left_alone, set_up, tear_down)
{
    char beside[160];
    const cf_tuning result = {kernel_of("which_i32")->variants[1], 90, 10, 1, 2};
    snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(beside, "wx");
        assert_non_null(file);
        fclose(file);
        strcat(beside, ".0");
    }
    assert_ok(cf_tuning_save(path, &result, 1));
    assert_int_equal(count_files(), 3);
}

enum { WRITERS = 8, ROUNDS = 6 };

static void *write_some(void *data)
{
    const int number = *(const int *)data;
    for (int i = 0; i < ROUNDS; i++) {
        const cf_tuning result = {kernel_of("which_i32")->variants[1], 10 + number, i, 1, 2};
        if (cf_tuning_save(path, &result, 1) != CF_OK)
            return "failed";
    }
    return NULL;
}

/* Processes and threads that write at the same time keep one another's results. */
TEST_WITH(writers_lose_nothing, set_up, tear_down)
{
    pid_t children[WRITERS];
    pthread_t threads[WRITERS];
    int numbers[2 * WRITERS];
    for (int i = 0; i < 2 * WRITERS; i++)
        numbers[i] = i;
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork_flushed();
        if (children[i] == 0)
            _exit(write_some(&numbers[i]) != NULL);
    }
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_some, &numbers[WRITERS + i]), 0);
    int wrong = 0; /* asserted at the end, because an assertion must not fail while threads run */
    for (int i = 0; i < WRITERS; i++) {
        void *failed = NULL;
        int status = 0;
        wrong |= pthread_join(threads[i], &failed) != 0 || failed;
        wrong |= waitpid(children[i], &status, 0) != children[i] || status != 0;
    }
    assert_false(wrong);
    size_t lines = 0;
    for (const char *at = read_text(); (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, 1 + 2 * WRITERS * ROUNDS);
    assert_int_equal(count_files(), 1);
}

/* ---- Threads and forks ---- */

static void *call_some(void *data)
{
    (void)data;
    for (int i = 0; i < 50; i++) {
        int32_t out = 0;
        int64_t n = i % 2 ? 1024 : 1 << 20;
        if (tuning_which_i32(&out, n) != CF_OK || out != (i % 2 ? 2 : 3))
            return "another variant ran";
    }
    return NULL;
}

TEST_WITH(threads_agree, set_up, tear_down)
{
    pthread_t threads[WRITERS];
    write_text("which_i32", BEGIN "@ ! 2^10 WAY=2\n@ ! 2^20 WAY=3\n");
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_some, NULL), 0);
    for (int i = 0; i < WRITERS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        if (failed)
            fail_msg("%s", (const char *)failed);
    }
}

TEST_WITH(child_goes_on_with_what_was_read, set_up, tear_down)
{
    write_text("which_i32", BEGIN "@ host 2^10 WAY=2\n@ ! 2^10 WAY=2\n");
    assert_int_equal(way(1024), 2);
    assert_int_equal(unlink(path), 0);
    pid_t child = fork_flushed();
    if (child == 0) {
        int32_t out = 0;
        alarm(600);
        _exit(cf_device_use(CF_HOST) != CF_OK || tuning_which_i32(&out, 1024) != CF_OK || out != 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, set_up, tear_down);
}
