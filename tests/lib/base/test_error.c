/* test_error.c - status names and texts, and each thread's detail of its latest failure. */
#include "run_group.h"

#include <limits.h>
#include <pthread.h>

#include <cuferry/kernels.h>
#include <cuferry/tuning.h>

#include "comma_locale.h"
#include "base/error.h"
#include "driver/driver.h"
#include "cpu/driver_cpu.h"
#include "context/lost.h"

#define TOO_MUCH ((size_t)PTRDIFF_MAX)

/* ---- Names and texts ---- */

TEST(status_name_every_status_is_its_identifier)
{
#define CHECK(name, value, text)   \
    assert_int_equal(name, value); \
    assert_string_equal(cf_status_name(value), #name);
    CF_STATUS_LIST(CHECK)
#undef CHECK
    assert_int_equal(CF_OK, 0);
}

TEST(status_text_every_status_is_its_text)
{
#define CHECK(name, value, text) assert_string_equal(cf_status_text(value), text);
    CF_STATUS_LIST(CHECK)
#undef CHECK
}

TEST(status_list_every_failure_is_negative_and_distinct)
{
    static const struct {
        int value;
        const char *text;
    } all[] = {
#define ROW(name, value, text) {value, text},
        CF_STATUS_LIST(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_true(all[i].value < 0 || i == 0);
        assert_true(all[i].text[0] != 0);
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(all[i].value, all[j].value);
            assert_string_not_equal(all[i].text, all[j].text);
        }
    }
}

TEST(status_name_unknown_number_is_question_mark)
{
    static const int unknown[] = {1, 2, 999, -1001, -1000, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_string_equal(cf_status_name(unknown[i]), "CF_?");
        assert_string_equal(cf_status_text(unknown[i]), "unknown status");
    }
}

/* ---- Detail ---- */

TEST(report_failure_is_the_detail)
{
    char text[] = "wrapper: x has 3 elements, instead of 4; 100%s";
    assert_int_equal(cf_report(CF_ERANGE, text), CF_ERANGE);
    text[0] = 0;
    assert_string_equal(cf_last_error(), "wrapper: x has 3 elements, instead of 4; 100%s");
    assert_int_equal(cf_last_driver_result(), 0);
}

TEST(report_no_failure_is_refused)
{
    assert_int_equal(cf_report(CF_OK, "text"), CF_EINVAL);
    assert_string_equal(cf_last_error(), "cf_report: status = 0 is no failure");
    assert_int_equal(cf_report(CF_EINVAL, NULL), CF_EINVAL);
    assert_string_equal(cf_last_error(), "cf_report: text is NULL");
}

/* The detail that another thread has before its failure, and after it. */
struct seen {
    char before[64], after[64];
    int result_before, result_after, status;
};

static void *fail_on_thread(void *argument)
{
    struct seen *seen = argument;
    snprintf(seen->before, sizeof seen->before, "%s", cf_last_error());
    seen->result_before = cf_last_driver_result();
    seen->status = cf__fail(CF_ERANGE, "the other thread's %d", 7);
    snprintf(seen->after, sizeof seen->after, "%s", cf_last_error());
    seen->result_after = cf_last_driver_result();
    return NULL;
}

TEST(last_error_two_threads_are_separate)
{
    struct seen seen = {.result_before = -1};
    pthread_t thread;
    assert_int_equal(cf__fail_driver(&cf__driver_cpu, CUDA_ERROR_INVALID_HANDLE, "cuCall", "this thread's"), CF_EINVAL);
    assert_int_equal(pthread_create(&thread, NULL, fail_on_thread, &seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(seen.before, "");
    assert_int_equal(seen.result_before, 0);
    assert_int_equal(seen.status, CF_ERANGE);
    assert_string_equal(seen.after, "the other thread's 7");
    assert_int_equal(seen.result_after, 0);
    assert_non_null(strstr(cf_last_error(), "this thread's: invalid resource handle"));
    assert_int_equal(cf_last_driver_result(), CUDA_ERROR_INVALID_HANDLE);
}

TEST(last_error_after_success_is_kept)
{
    char kept[600];
    void *memory = NULL;
    assert_fails(cf_mem_alloc(&memory, TOO_MUCH), CF_ENOMEM, "cf_mem_alloc");
    snprintf(kept, sizeof kept, "%s", cf_last_error());
    assert_ok(cf_mem_alloc(&memory, 64));
    assert_ok(cf_mem_fill(memory, 0, 64));
    assert_ok(cf_mem_free(memory));
    assert_ok(cf_device_sync());
    assert_string_equal(cf_last_error(), kept);
    assert_int_equal(cf_last_driver_result(), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(last_error_next_failure_replaces_it)
{
    assert_fails(cf_mem_copy(NULL, &state, 1), CF_EINVAL, "cf_mem_copy: target is NULL");
    assert_fails(cf_event_sync(NULL), CF_EINVAL, "cf_event_sync: event is NULL");
    assert_null(strstr(cf_last_error(), "cf_mem_copy"));
}

TEST(last_driver_result_driver_failure_is_its_code)
{
    void *memory = NULL;
    assert_fails(
        cf_mem_alloc(&memory, TOO_MUCH), CF_ENOMEM,
        CALL_OR_TEXT("bytes: cuMemAlloc returned 2 (CUDA_ERROR_OUT_OF_MEMORY, out of memory)", "bytes: out of memory"));
    assert_null(CALL_OR_TEXT(NULL, strstr(cf_last_error(), "cuMem")));
    assert_int_equal(cf_last_driver_result(), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(last_driver_result_other_failure_is_0)
{
    void *memory = NULL;
    assert_int_equal(cf_mem_alloc(&memory, TOO_MUCH), CF_ENOMEM);
    assert_int_not_equal(cf_last_driver_result(), 0);
    assert_int_equal(cf_mem_alloc(NULL, 1), CF_EINVAL);
    assert_int_equal(cf_last_driver_result(), 0);
}

/* ---- Storing the detail ---- */

TEST(fail_values_are_formatted)
{
    assert_int_equal(cf__fail(CF_ENOTSUP, "%s: index[%d] = %s", "cf_gather", 17, "x"), CF_ENOTSUP);
    assert_string_equal(cf_last_error(), "cf_gather: index[17] = x");
}

/* Overrides the C library's strerror(), which translates messages into the program's locale. */
char *strerror(int error)
{
    (void)error;
    return (char *)"ein Fehler";
}

TEST(details_are_the_same_in_every_locale)
{
    float x[1] = {0};
    int32_t counts[1];
    use_comma_locale();
    assert_fails(cf_histogram_f32_i32(x, 2.5F, 1.5F, counts, 1, 1), CF_EINVAL, "lower = 2.5, upper = 1.5");
    assert_fails(cf_tuning_save("/dev/null/tuning", NULL, 0), CF_EINVAL, "/dev/null/tuning: Not a directory");
    char number[8];
    snprintf(number, sizeof number, "%g", 1.5);
    assert_string_equal(number, "1,5"); /* the program's locale has not changed */
    assert_non_null(setlocale(LC_NUMERIC, "C"));
}

TEST(fail_long_message_is_cut)
{
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_int_equal(cf__fail(CF_EINVAL, "begin %s end", text), CF_EINVAL);
    size_t length = strlen(cf_last_error());
    assert_in_range(length, 200, sizeof text - 1);
    assert_memory_equal(cf_last_error(), "begin xxx", 9);
    assert_int_equal(strspn(cf_last_error() + 6, "x"), length - 6);
    assert_fails(cf__fail(CF_EINVAL, "short"), CF_EINVAL, "short");
    assert_int_equal(strlen(cf_last_error()), 5);
}

/* A long text still leaves room for the driver's message. */
TEST(fail_driver_long_message_keeps_result)
{
    char text[4096];
    for (size_t length = 0; length < sizeof text; length = 2 * length + 1) {
        memset(text, 'x', length);
        text[length] = 0;
        assert_fails(cf__fail_driver(&cf__driver_cpu, CUDA_ERROR_INVALID_DEVICE, "cuDeviceGet", "%s", text), CF_ENODEV,
                     ": invalid device ordinal");
        size_t kept = strspn(cf_last_error(), "x");
        assert_true(kept == length || (kept > 100 && kept < length));
        assert_int_equal(cf_last_driver_result(), 101);
    }
}

TEST(fail_driver_unknown_result_is_call_failure)
{
    assert_int_equal(cf__fail_driver(&cf__driver_cpu, 12345, "cuCall", "device %d", 3), CF_ECALL);
    assert_string_equal(cf_last_error(), "device 3: cuCall returned 12345 (unknown result, no text)");
    assert_int_equal(cf_last_driver_result(), 12345);
}

TEST(fail_driver_every_result_has_its_status)
{
    static const struct {
        CUresult first, last;
        int status;
    } rows[] = {
        {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, CF_EINVAL},
        {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, CF_ENOMEM},
        {3, 5, CF_ECALL}, /* not initialized, shutting down, profiler */
        {CUDA_ERROR_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY, CF_EDRIVER},
        {CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_DEVICE, CF_ENODEV},
        {CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, CF_EIMAGE},
        {CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT, CF_EINVAL},
        {CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU, CF_ENOCODE},
        {CUDA_ERROR_INVALID_PTX, CUDA_ERROR_INVALID_PTX, CF_EIMAGE},
        {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CF_ENOCODE},
        {CUDA_ERROR_INVALID_SOURCE, CUDA_ERROR_INVALID_SOURCE, CF_EIMAGE},
        {CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE, CF_EINVAL},
        {CUDA_ERROR_NOT_FOUND, CUDA_ERROR_NOT_FOUND, CF_EIMAGE},
        {CUDA_ERROR_NOT_READY, CUDA_ERROR_NOT_READY, CF_ENOTREADY},
        {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, CF_EFAULT},
        {CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, CF_EFAULT},
        {CUDA_ERROR_ASSERT, CUDA_ERROR_ASSERT, CF_EFAULT},
        {CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_LAUNCH_FAILED, CF_EFAULT},
        {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CF_EINVAL},
        {CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED, CF_ENOTSUP},
        {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, CF_EDRIVER},
        {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, CF_ECAPTURE},
        {CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD + 1, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD + 1, CF_ECALL},
        {CUDA_ERROR_UNKNOWN, CUDA_ERROR_UNKNOWN, CF_ECALL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (CUresult result = rows[i].first; result <= rows[i].last; result++) {
            char said[160];
            const char *text;
            int status = cf__fail_driver(&cf__driver_cpu, result, "cuCall", "row %zu", i);
            if (status != rows[i].status)
                fail_msg("result %d gives %s, not %s", (int)result, cf_status_name(status),
                         cf_status_name(rows[i].status));
            /* The CPU driver has texts only for the results that it returns. */
            if (cf__driver_cpu.cuGetErrorString(result, &text) == CUDA_SUCCESS)
                snprintf(said, sizeof said, "row %zu: %s", i, text);
            else
                snprintf(said, sizeof said, "row %zu: cuCall returned %d (unknown result, no text)", i, (int)result);
            assert_string_equal(cf_last_error(), said);
            assert_int_equal(cf_last_driver_result(), (int)result);
        }
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
