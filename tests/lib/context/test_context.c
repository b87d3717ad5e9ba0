/* test_context.c - the records of contexts. Each context has one record, which is found by the context's id and says
 * whether the context is lost. */
#include "played_gpu.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fast.h"
#include "driver/driver.h"
#include "cpu/driver_cpu.h"
#include "context/context.h"
#include "context/enter.h"
#include "context/lost.h"
#include "base/bounds.h"

static struct cf__scope entered(int device)
{
    struct cf__scope place;
    assert_ok(cf__enter_device(&place, "test", device));
    return place;
}

static int default_device(void)
{
    int device;
    assert_ok(cf_device_current(&device));
    return device;
}

static struct cf__context *record(const struct cf__scope *place)
{
    struct cf__context *context = NULL;
    assert_ok(cf__scope_context(place, "test", &context));
    assert_non_null(context);
    return context;
}

static int count_records(void)
{
    int count = 0;
    for (struct cf__context *context = NULL; (context = cf__context_next(context)) != NULL;)
        count++;
    return count;
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    assert_int_equal(count_records(), 0);
    return 0;
}

/* ---- Records ---- */

TEST_WITH(context_of_a_place_has_one_record, NULL, tear_down)
{
    unsigned long long id;
    assert_int_equal(count_records(), 0);
    struct cf__scope place = entered(default_device());
    assert_null(cf__context_by_handle(place.driver, place.context)); /* no record before the first use */
    struct cf__context *context = record(&place);
    assert_ptr_equal(record(&place), context);
    assert_int_equal(place.driver->cuCtxGetId(place.context, &id), CUDA_SUCCESS);
    assert_true(context->id == id);
    assert_ptr_equal(context->handle, place.context);
    assert_ptr_equal(context->driver, place.driver);
    assert_int_equal(context->device, default_device());
    assert_false(context->is_lost);
    assert_null(context->staging);
    assert_ptr_equal(cf__context_by_id(id), context);
    assert_ptr_equal(cf__context_by_handle(place.driver, place.context), context);
    assert_null(cf__context_by_id(id + 1000));
    assert_int_equal(count_records(), 1);
    cf__leave(&place);
}

FAKE_TEST(context_without_memory_for_a_record_is_enomem, "CF_DRIVER=host")
{
    struct rlimit before;
    struct cf__context *context;
    void *blocks = NULL;
    unsigned long pages = 0;
    if (SANITIZED)
        skip_test(NEEDS_NO_SANITIZER);
    struct cf__scope place = entered(default_device());
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    const rlim_t most = (pages + 256) * (rlim_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){most, before.rlim_max}), 0);
    for (size_t bytes = 1 << 20; bytes >= sizeof(void *);) { /* the loop allocates all memory that malloc() can give */
        void **block = malloc(bytes);
        bytes /= block ? 1 : 2;
        if (block)
            *block = blocks;
        blocks = block ? (void *)block : blocks;
    }
    int status = cf__scope_context(&place, "cf_test", &context);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    for (void *next; blocks; blocks = next) {
        next = *(void **)blocks;
        free(blocks);
    }
    assert_int_equal(status, CF_ENOMEM);
    assert_null(context);
    assert_string_equal(cf_last_error(), "cf_test: no memory for what is kept of a context");
    assert_non_null(record(&place));
    cf__leave(&place);
}

TEST_WITH(contexts_of_the_cpu_and_a_gpu_have_their_own, NULL, tear_down)
{
    struct cf__scope here = entered(default_device()), cpu = entered(CF_HOST);
    struct cf__context *first = record(&here), *second = record(&cpu);
    assert_int_equal(second->device, CF_HOST);
    if (on_cuda())
        assert_ptr_not_equal(first, second);
    assert_int_equal(count_records(), on_cuda() ? 2 : 1);
    cf__leave(&cpu);
    cf__leave(&here);
}

TEST_WITH(context_that_is_dropped_has_none_until_it_is_used, NULL, tear_down)
{
    struct cf__scope place = entered(default_device());
    struct cf__context *context = record(&place);
    cf__context_drop(context);
    assert_null(cf__context_by_handle(place.driver, place.context));
    assert_int_equal(count_records(), 0);
    assert_ptr_equal(record(&place), context); /* the record is reused */
    assert_int_equal(count_records(), 1);
    cf__leave(&place);
}

static struct cf__context *met[16];

static void *meet(void *number)
{
    struct cf__scope place;
    if (cf__enter_device(&place, "test", 0) != CF_OK ||
        cf__scope_context(&place, "test", &met[(uintptr_t)number]) != CF_OK)
        return (void *)"no record";
    cf__leave(&place);
    return NULL;
}

FAKE_TEST(context_used_by_16_threads_at_once_has_one_record, "CF_DRIVER=cuda")
{
    pthread_t threads[16];
    void *wrong;
    for (int round = 0; round < 20; round++) {
        for (uintptr_t t = 0; t < 16; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, meet, (void *)t), 0);
        for (int t = 0; t < 16; t++) {
            assert_int_equal(pthread_join(threads[t], &wrong), 0);
            assert_null(wrong);
        }
        for (int t = 1; t < 16; t++)
            assert_ptr_equal(met[t], met[0]);
        assert_int_equal(count_records(), 1);
        assert_ok(cf_shutdown());
    }
}

FAKE_TEST(context_made_anew_at_an_address_has_a_record_of_its_own, "CF_DRIVER")
{
    CUcontext before, again;
    unsigned long long id;
    assert_non_null(other_library());
    assert_int_equal(context_create(&before, 0, 0), CUDA_SUCCESS);
    struct cf__scope place;
    assert_ok(cf__enter(&place, "test", NULL));
    struct cf__context *context = record(&place);
    id = context->id;
    context->is_lost = 1;
    cf__leave(&place);
    assert_int_equal(context_destroy(before), CUDA_SUCCESS);
    assert_int_equal(context_create(&again, 0, 0), CUDA_SUCCESS);
    assert_ptr_equal(again, before);
    assert_null(cf__context_by_handle(place.driver, again)); /* the address is the same */
    assert_ok(cf__enter(&place, "test", NULL));
    context = record(&place);
    assert_true(context->id != id);
    assert_false(context->is_lost);
    assert_null(cf__context_by_id(id));
    assert_int_equal(count_records(), 1);
    cf__leave(&place);
    assert_int_equal(context_destroy(again), CUDA_SUCCESS);
}

/* ---- Lost contexts ---- */

static void count_losses(void *count, int level, const char *text)
{
    *(int *)count +=
        level == CF_LOG_INFO && strcmp(text, "the context of device 1 was lost to a fault while cf_a was running") == 0;
}

FAKE_TEST(context_that_is_lost_says_so_until_it_is_dropped, "CF_DRIVER=cuda")
{
    int losses = 0;
    cf_set_log(count_losses, &losses);
    struct cf__scope place = entered(1);
    assert_ok(cf__check_lost(&place, "cf_test"));
    assert_false(cf__gpu_state() & CF__GPU_LOST);
    cf__context_mark_lost(place.driver, place.context, 1, "cf_a was"); /* the context has no record yet */
    assert_true(cf__gpu_state() & CF__GPU_LOST);
    assert_fails(cf__check_lost(&place, "cf_test"), CF_EFAULT,
                 "cf_test: device 1's context was lost to a fault while cf_a was running; cf_device_reset(1) may make "
                 "the device usable again, ending the process does");
    cf__context_mark_lost(place.driver, place.context, 1, "cf_b was"); /* the first cause is kept */
    assert_fails(cf__check_lost(&place, "cf_test"), CF_EFAULT, "while cf_a was running");
    cf_set_log(NULL, NULL);
    assert_int_equal(losses, 1);
    struct cf__scope other = entered(0);
    assert_ok(cf__check_lost(&other, "cf_test"));
    cf__leave(&other);
    cf__context_drop(cf__context_by_handle(place.driver, place.context));
    assert_ok(cf__check_lost(&place, "cf_test"));
    assert_false(cf__gpu_state() & CF__GPU_LOST);
    cf__leave(&place);
}

FAKE_TEST(context_that_is_lost_and_destroyed_counts_no_more, "CF_DRIVER=cuda")
{
    CUcontext own;
    struct cf__scope place;
    assert_ok(cf_require(CF_CUDA));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(context_create(&own, 0, 0), CUDA_SUCCESS);
        assert_ok(cf__enter(&place, "test", NULL));
        cf__context_mark_lost(place.driver, place.context, 0, "cf_a was");
        cf__leave(&place);
        assert_fails(cf_device_sync(), CF_EFAULT, "device 0's context was lost to a fault while cf_a was running");
        assert_int_equal(context_destroy(own), CUDA_SUCCESS);
        if (i == 1) /* this call creates a new context at the same address */
            assert_int_equal(context_create(&own, 0, 0), CUDA_SUCCESS);
        assert_ok(cf_device_sync());
        assert_int_equal(cf__gpu_state(), CF__GPU_OURS);
        if (i == 1)
            assert_int_equal(context_destroy(own), CUDA_SUCCESS);
    }
}

static CUresult refuse_id(CUcontext context, unsigned long long *id)
{
    (void)context, (void)id;
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* A context's record stays the same when the context's id becomes known later. */
FAKE_TEST(context_without_id_at_its_loss_stays_lost, "CF_DRIVER=cuda")
{
    static struct cf__driver silent;
    struct cf__scope place = entered(0);
    silent = *place.driver;
    silent.cuCtxGetId = refuse_id;
    cf__context_mark_lost(&silent, place.context, 0, "cf_a was");
    cf__contexts_review();
    silent.cuCtxGetId = place.driver->cuCtxGetId;
    cf__contexts_review();
    assert_true(cf__gpu_state() & CF__GPU_LOST);
    cf__context_drop(cf__context_next(NULL));
    assert_false(cf__gpu_state() & CF__GPU_LOST);
    cf__leave(&place);
}

FAKE_TEST(note_lost_tells_of_the_current_context_alone, "CF_DRIVER=cuda")
{
    char text[CF__DETAIL] = "it failed";
    struct cf__scope first = entered(0);
    const struct cf__driver *driver = first.driver;
    assert_int_equal(cf__note_lost(driver, CF_ECALL, text, sizeof text), CF_ECALL);
    assert_string_equal(text, "it failed");
    cf__context_mark_lost(driver, first.context, 0, "cf_a was");
    assert_int_equal(cf__note_lost(driver, CF_ECALL, text, sizeof text), CF_EFAULT);
    assert_memory_equal(text, "it failed; device 0's context was lost to a fault while cf_a was running; ", 74);
    struct cf__scope second = entered(1);
    strcpy(text, "it failed");
    assert_int_equal(cf__note_lost(driver, CF_ECALL, text, sizeof text), CF_ECALL);
    assert_string_equal(text, "it failed");
    assert_int_equal(cf__note_lost(driver, CF_EFAULT, text, sizeof text), CF_EFAULT); /* the only lost context */
    assert_non_null(strstr(text, "; device 0's context was lost"));
    cf__leave(&second);
    cf__leave(&first);
    assert_int_equal(cf__note_lost(&cf__driver_cpu, CF_ECALL, text, sizeof text), CF_ECALL);
}

FAKE_TEST(note_lost_without_room_cuts_its_text, "CF_DRIVER=cuda")
{
    struct cf__scope place = entered(0);
    cf__context_mark_lost(place.driver, place.context, 0, "cf_a was");
    for (size_t size = 10; size < 100; size++) {
        char text[128];
        memset(text, '#', sizeof text);
        strcpy(text, "it failed");
        (void)cf__note_lost(place.driver, CF_EFAULT, text, size);
        assert_true(strlen(text) < size);
        assert_int_equal(text[size], '#');
        assert_memory_equal(text, "it failed", 9);
    }
    cf__leave(&place);
}

int main(int argc, char *argv[])
{
    RUN_ALSO(context_without_memory_for_a_record_is_enomem, "CF_DRIVER");
    return run_with_fake(argc, argv, NULL, tear_down);
}
