/* test_spelling.c - the unusually written kernels of spelling.cu give correct results. */
#include "expect_all.h"

#include "spelling_kernels.h"

enum { N = 200, OLD = -7 };

typedef int kernel(const int *x, int *y, int n);

/* Returns the results that a thread must have for x, which is not larger than the thread's index. */
static int some_of_first(int i, int x)
{
    return (i < 100) != 1 ? x : OLD;
}

static int large(int i, int x)
{
    (void)i;
    return x > 50 ? x : OLD;
}

static int plus_thread(int i, int x)
{
    return x + i % 64;
}

static int plus_threads(int i, int x)
{
    return x + 3 + 2 * (i % 64);
}

static int scaled(int i, int x)
{
    (void)i;
    return 3 * x;
}

static int of_templates(int i, int x)
{
    (void)i;
    return 2 * x + 2 + 3 + 1;
}

static int of_attributes(int i, int x)
{
    (void)i;
    return x + 3 + 5 + 2 + 1 + 4 + 2;
}

static int of_initializers(int i, int x)
{
    (void)i;
    return x + (2 * x + 1) + 2;
}

static int plus_1002(int i, int x)
{
    (void)i;
    return x + 1002;
}

static int plus_3(int i, int x)
{
    (void)i;
    return x + 3;
}

static int minus_3(int i, int x)
{
    (void)i;
    return x - 3;
}

static const struct {
    const char *name;
    kernel *run;
    int (*expected)(int i, int x);
} kernels[] = {
    {"guard_xor", spelling_guard_xor, some_of_first},
    {"guard_not_equal", spelling_guard_not_equal, some_of_first},
    {"guard_and", spelling_guard_and, large},
    {"global_names", spelling_global_names, plus_thread},
    {"local_classes", spelling_local_classes, plus_threads},
    {"lambda_after_if", spelling_lambda_after_if, plus_thread},
    {"scaled", spelling_scaled, scaled},
    {"template_heads", spelling_template_heads, of_templates},
    {"attributes", spelling_attributes, of_attributes},
    {"initializers", spelling_initializers, of_initializers},
    {"separators", spelling_separators, plus_1002},
    {"macros", spelling_macros, plus_thread},
    {"moved_less", spelling_moved_less, minus_3},
    {"moved_more", spelling_moved_more, plus_3},
    {"body_elsewhere", spelling_body_elsewhere, plus_3},
};

TEST(spelling_does_not_change_what_kernels_give)
{
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        int x[N], y[N];
        for (int i = 0; i < N; i++) {
            x[i] = i * 37 % 101;
            y[i] = OLD;
        }
        if (kernels[k].run(x, y, N) != CF_OK)
            fail_msg("%s: %s", kernels[k].name, cf_last_error());
        for (int i = 0; i < N; i++)
            if (y[i] != kernels[k].expected(i, x[i]))
                fail_msg("%s: element %d is %d, not %d", kernels[k].name, i, y[i], kernels[k].expected(i, x[i]));
    }
}

int main(void)
{
    return run_played(&spelling_registry, NULL);
}
