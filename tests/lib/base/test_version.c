/* test_version.c - the linked library has the same version as the header. */
#include "run_group.h"

TEST(version_of_library_is_headers)
{
    assert_int_equal(cf_version(), CF_VERSION);
    assert_int_equal(CF_VERSION, CF_VERSION_MAJOR * 10000 + CF_VERSION_MINOR * 100 + CF_VERSION_PATCH);
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
