/* test_env.c - the environment of a process that the library starts. */
#include "run_group.h"

#include <malloc.h>
#include <unistd.h>

#include "base/env.h"

extern char **environ;

/* Fills memory first, because new memory may be zeros, which would hide that the list lacks its end. */
TEST(environment_with_a_setting_has_the_others_and_an_end)
{
    char *const before[] = {"TMPDIRS=kept", "TMPDIR=old", "TMP=kept", "TMPDI=kept", NULL};
    char setting[] = "TMPDIR=/new";
    char **own = environ;
    for (size_t first = 0; first < sizeof before / sizeof *before; first++) { /* with and without an old value */
        (void)mallopt(M_PERTURB, 0x5a);
        environ = (char **)(uintptr_t)&before[first];
        char **all = cf__env_with(setting);
        environ = own;
        (void)mallopt(M_PERTURB, 0);
        assert_non_null(all);
        size_t used = 0;
        for (size_t i = first; before[i]; i++)
            if (i != 1)
                assert_ptr_equal(all[used++], before[i]);
        assert_ptr_equal(all[used], setting);
        assert_null(all[used + 1]);
        assert_true(malloc_usable_size(all) >= (used + 2) * sizeof *all);
        free(all);
    }
}

TEST(environment_of_nothing_has_the_setting)
{
    char setting[] = "A=";
    char **own = environ;
    environ = NULL;
    char **all = cf__env_with(setting);
    environ = own;
    assert_non_null(all);
    assert_ptr_equal(all[0], setting);
    assert_null(all[1]);
    free(all);
}

int main(void)
{
    return run_group("tests", all_tests, test_count, NULL, NULL);
}
