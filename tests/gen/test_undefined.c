/* test_undefined.c - shifts, divisions and conversions have the same results as on a GPU, in unusual spellings, too. */
#include "expect_all.h"

#include "undefined_kernels.h"

TEST(shifts_and_divisions_are_found_in_any_spelling)
{
    expect_all(4, undefined_shifts_and_divisions, 4, 32, 0, 3e9f);
}

TEST(conversions_are_found_in_any_spelling)
{
    expect_all(4, undefined_conversions, 4, 3e9f);
}

int main(void)
{
    return run_played(&undefined_registry, NULL);
}
