/* test_undefined.c - shifts, divisions and conversions give the values of a GPU in unusual spellings, too. */
#include "expect_all.h"

#include "undefined_kernels.h"

static void shifts_and_divisions_are_found_in_any_spelling(void **state)
{
    (void)state;
    expect_all(4, undefined_shifts_and_divisions, 4, 32, 0, 3e9f);
}

static void conversions_are_found_in_any_spelling(void **state)
{
    (void)state;
    expect_all(4, undefined_conversions, 4, 3e9f);
}

static int set_up(void **state)
{
    (void)state;
    played_gpu_add(&undefined_registry);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifts_and_divisions_are_found_in_any_spelling),
        cmocka_unit_test(conversions_are_found_in_any_spelling),
    };
    return RUN_ON_DRIVER(tests, set_up, NULL);
}
