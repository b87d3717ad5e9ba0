/* test_deferred_free.c - objects that could not be freed: the library tries again, in the object's context, until they
 * are freed. */
#include "played_gpu.h"

#include "driver/driver.h"
#include "driver/deferred_free.h"
#include "context/enter.h"

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

static CUresult free_result;
static uintptr_t freed[64];
static CUcontext freed_in[64];
static int freed_count;

static CUresult note_free(const struct cf__driver *driver, uintptr_t what)
{
    if (free_result != CUDA_SUCCESS)
        return free_result;
    assert_int_equal(driver->cuCtxGetCurrent(&freed_in[freed_count]), CUDA_SUCCESS);
    freed[freed_count++] = what;
    return CUDA_SUCCESS;
}

static int set_up(void **state)
{
    (void)state;
    free_result = CUDA_SUCCESS;
    freed_count = 0;
    return 0;
}

TEST_WITH(kept_is_freed_once_in_its_context, set_up, end_library_empty)
{
    struct cf__scope place = entered(default_device());
    for (uintptr_t i = 1; i <= 40; i++)
        cf__defer_free(place.driver, place.context, note_free, i);
    cf__leave(&place);
    free_result = CUDA_ERROR_UNKNOWN;
    assert_fails(cf__deferred_free_retry(), CF_ECALL,
                 "cf_shutdown: what an earlier call could not free: freeing it returned 999");
    free_result = CUDA_SUCCESS;
    assert_ok(cf__deferred_free_retry());
    assert_int_equal(freed_count, 40);
    uintptr_t sum = 0;
    for (int i = 0; i < 40; i++) {
        assert_ptr_equal(freed_in[i], place.context);
        sum += freed[i];
    }
    assert_int_equal(sum, 40 * 41 / 2);
    assert_ok(cf__deferred_free_retry()); /* nothing is left to free */
    assert_int_equal(freed_count, 40);
}

TEST_WITH(kept_of_a_context_that_is_gone_is_forgotten, set_up, end_library_empty)
{
    static const CUresult gone[] = {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_INVALID_HANDLE,
                                    CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_INVALID_CONTEXT};
    struct cf__scope place = entered(default_device());
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        cf__defer_free(place.driver, place.context, note_free, 7);
        free_result = gone[i];
        assert_ok(cf__deferred_free_retry());
        free_result = CUDA_SUCCESS;
        assert_ok(cf__deferred_free_retry());
        assert_int_equal(freed_count, 0);
    }
    cf__leave(&place);
}

FAKE_TEST(kept_forget_takes_those_of_one_context, "CF_DRIVER=cuda")
{
    struct cf__scope first = entered(0), second = entered(1);
    cf__defer_free(first.driver, first.context, note_free, 1);
    cf__defer_free(second.driver, second.context, note_free, 2);
    cf__defer_free(first.driver, first.context, note_free, 3);
    cf__leave(&second);
    cf__leave(&first);
    cf__deferred_free_forget(first.context);
    assert_ok(cf__deferred_free_retry());
    assert_int_equal(freed_count, 1);
    assert_int_equal(freed[0], 2);
    cf__defer_free(first.driver, first.context, note_free, 4);
    cf__deferred_free_forget(NULL);
    assert_ok(cf__deferred_free_retry());
    assert_int_equal(freed_count, 1);
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, set_up, end_library_empty);
}
