/* test_sums.c - kernels that add to arrays of integers by atomic functions. The CPU collects the sums of each thread,
 * and no addition may be lost, whatever the sizes of the array and the launch are. */
#include <stdlib.h>

#include "run_group.h"

#include <cuferry/registry.h>

#include "sums_kernels.h"

enum { MOST = 100000, MOST_BINS = 6000 };

static int x[MOST];
static union {
    int narrow[MOST_BINS];
    double real[MOST_BINS];
    unsigned long long wide[MOST_BINS];
} counts;

static const struct {
    const char *name;
    enum { NARROW, REAL, WIDE } kind;
} kernels[] = {
    {"element", NARROW},        {"pointer", NARROW},    {"two_terms", NARROW},    {"halves", NARROW},
    {"blocks", NARROW},         {"wide", WIDE},         {"rows", NARROW},         {"value_used", NARROW},
    {"condition_used", NARROW}, {"passed_on", NARROW},  {"read_later", NARROW},   {"hidden", NARROW},
    {"subtracted", NARROW},     {"real", REAL},         {"spelled", REAL},        {"number_in_front", NARROW},
    {"real_behind", REAL},      {"shared_out", NARROW}, {"own_pointers", NARROW}, {"by_macros", NARROW},
};

static long long get_count(int kind, int bin)
{
    return kind == WIDE ? (long long)counts.wide[bin] : kind == REAL ? (long long)counts.real[bin] : counts.narrow[bin];
}

/* The counts begin with 3, to which the launch must add. */
static void check_kernel(const char *name, int kind, int bins, int n)
{
    static long long expected[MOST_BINS];
    const cf_kernel *kernel = cf_kernel_find(&sums_registry, name);
    if (!kernel)
        fail_msg("there is no kernel %s", name);
    for (int b = 0; b < bins; b++) {
        expected[b] = 3;
        if (kind == WIDE)
            counts.wide[b] = 3;
        else if (kind == REAL)
            counts.real[b] = 3;
        else
            counts.narrow[b] = 3;
    }
    for (int i = 0; i < n; i++)
        expected[x[i] % bins] += x[i] / 8;
    int *in = x;
    void *out = &counts;
    assert_ok(cf_launch(kernel, NULL, (void *[]){&in, &out, &bins, &n}));
    assert_ok(cf_stream_sync(NULL));
    for (int b = 0; b < bins; b++)
        if (get_count(kind, b) != expected[b])
            fail_msg("%s, %d bins, n = %d: count %d is %lld, and not %lld", name, bins, n, b, get_count(kind, b),
                     expected[b]);
}

/* Sums are not collected for arrays of more than 4096 numbers, or of more elements than a call has threads. */
TEST(no_addition_is_lost)
{
    static const int sizes[] = {2, 64, 256, 2048, 4096, 4098, MOST_BINS}, lengths[] = {1, 63, 64, 1000, 5000, MOST};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
                for (int i = 0; i < lengths[l]; i++)
                    x[i] = rand() % 40000;
                check_kernel(kernels[k].name, kernels[k].kind, sizes[s], lengths[l]);
            }
}

TEST(sums_beyond_the_range_wrap)
{
    const int n = 1000;
    int bins = 2;
    for (int i = 0; i < n; i++)
        x[i] = 0x7ffffff0;
    counts.narrow[0] = 5, counts.narrow[1] = 6;
    assert_ok(sums_element(x, counts.narrow, bins, n));
    assert_int_equal(counts.narrow[0], (int)(5 + 1000u * (0x7ffffff0u / 8)));
    assert_int_equal(counts.narrow[1], 6);
}

/* After a barrier, the threads of a block see one another's sums, even through another pointer. */
TEST(sums_are_seen_through_another_pointer)
{
    static int counted[128], out[64];
    for (int shift = 0; shift < 64; shift += 21) {
        for (int i = 0; i < 128; i++)
            counted[i] = 7;
        int *seen = counted, *sums = counted + shift, *result = out;
        const cf_kernel *kernel = cf_kernel_find(&sums_registry, "seen_beside");
        assert_ok(cf_launch(kernel, NULL, (void *[]){&seen, &sums, &result}));
        assert_ok(cf_stream_sync(NULL));
        for (int t = 0; t < 64; t++)
            assert_int_equal(out[t], t / 2 >= shift ? 9 : 7);
    }
}

int main(void)
{
    return run_all_tests(use_cpu, end_library);
}
