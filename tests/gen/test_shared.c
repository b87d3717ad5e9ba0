/* test_shared.c - __shared__ memory: each form of its declaration, in kernels, functions and headers. */
#include "expect_all.h"

#include "shared_kernels.h"

TEST(shared_memory_of_every_form_is_the_blocks)
{
    expect_all(3 * 64, shared_forms, 0);
}

TEST(shared_memory_of_a_launch_has_many_names)
{
    static const int sizes[] = {1, 31, 32, 33, 256, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        expect_all(2 * sizes[i], shared_dynamics, sizes[i]);
    expect_all(2 * 64, shared_own_slots, 64);
}

TEST(shared_memory_of_templates_is_of_each_instance)
{
    float x[3 * 32], y[3];
    double wide[2 * 128], sums[2];
    for (int i = 0; i < 3 * 32; i++)
        x[i] = (float)(i % 7);
    for (int i = 0; i < 2 * 128; i++)
        wide[i] = i % 11;
    assert_ok(shared_row_sum_f32_32(x, y, 3));
    assert_ok(shared_row_sum_f64_128(wide, sums, 2));
    for (int row = 0; row < 3; row++) {
        float sum = 0;
        for (int i = 0; i < 32; i++)
            sum += x[row * 32 + i];
        assert_true(y[row] == sum);
    }
    for (int row = 0; row < 2; row++) {
        double sum = 0;
        for (int i = 0; i < 128; i++)
            sum += wide[row * 128 + i];
        assert_true(sums[row] == sum);
    }
}

TEST(shared_memory_of_resident_blocks_is_their_own)
{
    expect_all(8 * 32, shared_resident, 0);
}

int main(void)
{
    return run_played(&shared_registry, NULL);
}
