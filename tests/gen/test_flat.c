/* test_flat.c - kernels that write their global index in many forms: each thread must get its own element, and code
 * that only looks like a global index must keep its meaning. */
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <stdlib.h>

#include "run_group.h"

#include <cuferry/registry.h>

#include "flat_kernels.h"

static const int sizes[] = {1, 31, 32, 33, 95, 96, 97, 127, 128, 255, 256, 257, 1000, 4099};
enum { SIZES = sizeof sizes / sizeof *sizes, ROOM = 3 * 4099 };

static int x[ROOM], expected[ROOM];

/* Launches a kernel with the arguments x and n; n has 32 or 64 bits. */
static void launch(const char *name, int n)
{
    const cf_kernel *kernel = cf_kernel_find(&flat_registry, name);
    if (!kernel)
        fail_msg("there is no kernel %s", name);
    int *data = x;
    int64_t wide = n;
    memset(x, 0, sizeof x);
    assert_ok(cf_launch(kernel, NULL, (void *[]){&data, kernel->params[1].bytes == 8 ? (void *)&wide : &n}));
    assert_ok(cf_stream_sync(NULL));
}

static void compare(const char *name, int n)
{
    for (int i = 0; i < ROOM; i++)
        if (x[i] != expected[i])
            fail_msg("%s, n = %d: x[%d] is %d, and not %d", name, n, i, x[i], expected[i]);
}

TEST(flat_index_of_any_form_names_each_element_once)
{
    static const char *const names[] = {
        "size_first",
        "thread_first",
        "parentheses",
        "variables",
        "variables_of_size",
        "constant",
        "constant_by_default",
        "constant_of_template_s32",
        "constant_of_template_s64",
        "casts",
        "static_casts",
        "cast_of_all",
        "wide",
        "wide_variable",
        "macro",
        "sign",
    };
    for (size_t form = 0; form < sizeof names / sizeof *names; form++)
        for (int at = 0; at < SIZES; at++) {
            for (int i = 0; i < ROOM; i++)
                expected[i] = i < sizes[at] ? i + 1 : 0;
            launch(names[form], sizes[at]);
            compare(names[form], sizes[at]);
        }
}

TEST(flat_index_of_each_axis_names_each_element_once)
{
    static const int extents[][3] = {{1, 1, 1}, {16, 4, 2}, {17, 5, 3}, {40, 9, 5}};
    for (size_t at = 0; at < sizeof extents / sizeof *extents; at++) {
        const int *e = extents[at], n = e[0] * e[1] * e[2];
        memset(x, 0, sizeof x);
        assert_ok(flat_axes(x, e[0], e[1], e[2]));
        for (int i = 0; i < ROOM; i++)
            expected[i] = i < n ? i + 1 : 0;
        compare("axes", n);
    }
}

TEST(flat_index_that_only_looks_like_one_keeps_its_meaning)
{
    static const char *const names[] = {"other_constant", "other_name", "changed", "declared_again", "both",
                                        /* these kernels number the threads of a block in descending order */
                                        "changed_by_call", "changed_by_reference", "changed_in_parentheses",
                                        "changed_through_a_lambda", "named_as_a_parameter"};
    for (int form = 0; form < (int)(sizeof names / sizeof *names); form++)
        for (int at = 0; at < SIZES; at++) {
            const int n = sizes[at], blocks = (n + 31) / 32;
            memset(expected, 0, sizeof expected);
            for (int b = 0; b < blocks; b++)
                for (int t = 0; t < 32; t++) {
                    const int wide = b * 64 + t, turned = b * 32 + 31 - t, swapped = b * 32 + (t ^ 1), i = b * 32 + t;
                    if (form < 2 && wide < 2 * n)
                        expected[wide] += wide + 1;
                    if (form == 2 && swapped < n)
                        expected[swapped] += 100 * swapped + (t ^ 1);
                    if (form > 4 && turned < n)
                        expected[turned] += 100 * turned + t;
                    if (form == 3 && i < n)
                        expected[i] += t < 2 ? 8 + t : 1;
                    if (form == 4 && i < n)
                        expected[i] += 1000 * b + t;
                }
            launch(names[form], n);
            compare(names[form], n);
        }
}

TEST(flat_elements_that_a_thread_wrote_are_read_again)
{
    int (*const calls[])(int *, int, int) = {flat_reread, flat_reread_beside};
    for (int call = 0; call < 2; call++) {
        for (int i = 0; i < ROOM / 2; i++) {
            x[2 * i] = 7 * i % 5;
            x[2 * i + 1] = -1;
            expected[2 * i + 1] = x[2 * i] * 2 + i;
            expected[2 * i] = expected[2 * i + 1] + 3;
        }
        assert_ok(calls[call](x, 0, ROOM / 2));
        compare(call ? "reread_beside" : "reread", ROOM / 2);
    }
}

/* Code built for the baseline x86-64 (SSE), for example the C library's, is several times slower while the upper halves
 * of the vector registers are in use. */
TEST(kernels_leave_no_upper_halves_in_use)
{
#ifdef __x86_64__
    static float in[3][1000], out[2][1000];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 1000; i++)
            in[k][i] = 1 + (float)((i * 37 + k) % 101) / 50;
    unsigned int a, b, c, d, in_use;
    if (!__builtin_cpu_supports("avx2") || !__get_cpuid_count(13, 1, &a, &b, &c, &d) || !(a & 4))
        skip_test("needs AVX2 and a processor that tells which registers are in use");
    for (int n = 1; n <= 1000; n += 37) {
        __asm__ volatile("vzeroupper");
        assert_ok(flat_priced(in[0], in[1], in[2], out[0], out[1], 0.05f, 0.3f, n));
        __asm__ volatile("xgetbv" : "=a"(in_use), "=d"(d) : "c"(1));
        assert_int_equal(in_use & 4, 0);
    }
#else
    skip_test("needs an x86-64 processor");
#endif
}

int main(void)
{
    return run_all_tests(use_cpu, end_library);
}
