/* test_arithmetic.c - operations that C++ leaves undefined give the values of a GPU on every device: conversions,
 * shifts, divisions, zeros, memory read as another type. */
#include "played_gpu.h"

#include "arithmetic_kernels.h"

/* ---- Memory read as another type ---- */

/* 16-bit floats: 1, 2, ... in turn. */
static void packed_loads_see_other_types(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    static const uint16_t numbers[] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500};
    static cf_half x[8 * COUNT];
    float sums[COUNT];
    for (int i = 0; i < 8 * COUNT; i++)
        x[i].bits = numbers[i % 5];
    if (arithmetic_packed(x, sums, COUNT) != CF_OK)
        fail_msg("%s", cf_last_error());
    for (int i = 0; i < COUNT; i++) {
        float sum = 0;
        for (int k = 0; k < 8; k++)
            sum += (float)((8 * i + k) % 5 + 1);
        assert_true(sums[i] == sum);
    }
}

static int set_up(void **state)
{
    (void)state;
    played_gpu_add(&arithmetic_registry);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_loads_see_other_types),
    };
    return RUN_ON_DRIVER(tests, set_up, NULL);
}
