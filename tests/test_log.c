/* test_log.c - the callback of cf_set_log(): every failure, and what happens rarely. */
#include "on_fake.h"

#include <pthread.h>

#include <cuferry/kernels.h>

struct lines {
    pthread_mutex_t lock;
    char text[1 << 14]; /* "1 detail\n2 information\n" */
    int errors, infos, others;
    int calls_back, called_back; /* statuses of what the callback called */
};
static struct lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void keep(void *data, int level, const char *text)
{
    struct lines *to = data;
    pthread_mutex_lock(&to->lock);
    size_t used = strlen(to->text);
    snprintf(to->text + used, sizeof to->text - used, "%d %s\n", level, text);
    *(level == CF_LOG_ERROR ? &to->errors : level == CF_LOG_INFO ? &to->infos : &to->others) += 1;
    pthread_mutex_unlock(&to->lock);
}

static int set_up(void **state)
{
    (void)state;
    lines.text[0] = 0;
    lines.errors = lines.infos = lines.others = lines.calls_back = lines.called_back = 0;
    assert_ok(cf_shutdown());
    cf_set_log(keep, &lines);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cf_set_log(NULL, NULL);
    return cf_shutdown();
}

static int gather(void)
{
    const float source[] = {1, 2, 3};
    const int32_t index[] = {2, 0, 1, 2};
    float res[4] = {0};
    return cf_gather_f32_i32(source, index, res, 4, 3);
}

#define assert_line(line)                                            \
    do {                                                             \
        if (!strstr(lines.text, line))                               \
            fail_msg("the log lacks \"%s\":\n%s", line, lines.text); \
    } while (0)

/* ---- What is told ---- */

static void failure_of_an_async_call_is_told_with_its_name(void **state)
{
    (void)state;
    assert_fails(cf_gather_f32_i32_async(NULL, NULL, NULL, NULL, 1, 1), CF_EINVAL, "cf_gather_f32_i32_async: ");
    assert_line("1 cf_gather_f32_i32_async: ");
    lines.text[0] = 0;
    assert_fails(cf_gather_f32_i32(NULL, NULL, NULL, 1, 1), CF_EINVAL, "cf_gather_f32_i32: ");
    assert_line("1 cf_gather_f32_i32: ");
    lines.text[0] = 0;
    assert_int_equal(cf_launch(NULL, NULL, NULL), CF_EINVAL);
    assert_null(strstr(lines.text, "_async"));
}

static void failure_is_told_with_its_detail(void **state)
{
    (void)state;
    char expected[800];
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_string_equal(lines.text, "1 cf_event_sync: event is NULL\n");
    const int32_t index[] = {3};
    float one = 0, other;
    assert_int_equal(cf_gather_f32_i32(&one, index, &other, 1, 1), CF_ERANGE);
    snprintf(expected, sizeof expected, "1 %s\n", cf_last_error());
    assert_line(expected);
    void *memory;
    assert_int_equal(cf_mem_alloc(&memory, (size_t)PTRDIFF_MAX), CF_ENOMEM);
    snprintf(expected, sizeof expected, "1 %s\n", cf_last_error());
    assert_line(expected);
    assert_int_equal(lines.errors, 3);
    assert_int_equal(lines.others, 0);
    assert_null(strstr(lines.text, "\n\n"));
}

static void success_after_the_first_is_not_told(void **state)
{
    (void)state;
    assert_ok(gather());
    assert_true(lines.infos > 0);
    assert_int_equal(lines.errors, 0);
    int before = lines.infos;
    for (int i = 0; i < 10; i++)
        assert_ok(gather());
    assert_int_equal(lines.infos, before);
}

static void first_use_tells_the_device(void **state)
{
    (void)state;
    int device;
    assert_ok(cf_device_current(&device));
    assert_line(device == CF_HOST ? "2 calls run on the CPU by default\n" : "2 calls run on GPU 0 by default\n");
    assert_ok(cf_shutdown());
    assert_line("2 everything was given back\n");
}

static void first_use_of_a_gpu_tells_driver_and_images(void **state)
{
    (void)state;
    assert_ok(gather());
    assert_line("2 the NVIDIA driver, for CUDA 13.0, with 2 GPUs\n");
    assert_line("2 cf_gather_f32_i32: its image of ");
}

static void fault_and_reset_are_told(void **state)
{
    (void)state;
    float host[3] = {0};
    const int32_t index[] = {2, 1, 0};
    assert_ok(cf_gather_f32_i32_async(NULL, host, index, host, 3, 3)); /* memory that a GPU does not reach */
    assert_int_equal(cf_device_sync(), CF_EFAULT);
    assert_line("2 the context of device 0 was lost to a fault while cf_gather_f32_i32 was running\n");
    assert_line("1 cf_device_sync: cuCtxSynchronize returned 700 ");
    assert_ok(cf_device_reset(0));
    assert_line("2 device 0 was reset\n");
}

/* ---- The callback itself ---- */

static void callback_of_null_ends_it(void **state)
{
    (void)state;
    cf_set_log(NULL, &lines);
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_string_equal(lines.text, "");
    cf_set_log(keep, &lines);
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_int_equal(lines.errors, 1);
}

static void keep_other(void *data, int level, const char *text)
{
    (void)level, (void)text;
    ++*(int *)data;
}

static void callback_replaced_gets_no_more(void **state)
{
    int other = 0;
    (void)state;
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    cf_set_log(keep_other, &other);
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_int_equal(lines.errors, 1);
    assert_int_equal(other, 2);
    cf_set_log(NULL, NULL);
}

/* It must not, but what it calls ends all the same. */
static void call_back(void *data, int level, const char *text)
{
    struct lines *to = data;
    int count;
    (void)level, (void)text;
    to->calls_back++;
    to->called_back = cf_device_count(&count);
    if (gather() != CF_OK)
        to->called_back = CF_EINVAL;
    if (cf_shutdown() == CF_OK)
        to->others++;
}

static void callback_that_calls_the_library_does_not_hang(void **state)
{
    (void)state;
    cf_set_log(call_back, &lines);
    alarm(600);
    (void)gather();
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_true(lines.calls_back > 0);
    assert_int_equal(lines.others, 0); /* no shutdown in there */
    cf_set_log(NULL, NULL);
    assert_ok(gather());
    alarm(0);
}

enum { THREADS = 8, ROUNDS = 500 };

static void *fail_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        if (cf_event_sync(NULL) != CF_EINVAL)
            return (void *)"no failure";
    return NULL;
}

static void count_line(void *data, int level, const char *text)
{
    if (level == CF_LOG_ERROR && strcmp(text, "cf_event_sync: event is NULL") == 0)
        __atomic_fetch_add((int *)data, 1, __ATOMIC_RELAXED);
}

static void callback_of_many_threads_gets_every_line(void **state)
{
    pthread_t threads[THREADS];
    void *wrong;
    int counts[2] = {0, 0};
    (void)state;
    cf_set_log(count_line, &counts[0]);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, fail_often, NULL), 0);
    for (int i = 0; i < 200; i++)
        cf_set_log(count_line, &counts[i % 2]);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], &wrong), 0);
        assert_null(wrong);
    }
    cf_set_log(NULL, NULL);
    assert_int_equal(counts[0] + counts[1], THREADS * ROUNDS);
}

int main(int argc, char *argv[])
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(failure_is_told_with_its_detail),
        TEST(failure_of_an_async_call_is_told_with_its_name),
        TEST(success_after_the_first_is_not_told),
        TEST(first_use_tells_the_device),
        fake_test(first_use_of_a_gpu_tells_driver_and_images, "CF_DRIVER=cuda"),
        fake_test(fault_and_reset_are_told, "CF_DRIVER=cuda", "FAKE_CUDA=reset=1"),
        TEST(callback_of_null_ends_it),
        TEST(callback_replaced_gets_no_more),
        TEST(callback_that_calls_the_library_does_not_hang),
        TEST(callback_of_many_threads_gets_every_line),
    };
#undef TEST
    return RUN_WITH_FAKE(argc, argv, tests, set_up, tear_down);
}
