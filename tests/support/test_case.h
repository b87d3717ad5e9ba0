/* test_case.h - TEST() defines a test and adds it to the program's list, so that main() does not have to name it. */
#ifndef TEST_CASE_H
#define TEST_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>

enum { MOST_TESTS = 512 };

/* The program's tests, sorted by line, because C does not state in which order constructors run. */
static struct CMUnitTest all_tests[MOST_TESTS];
static int test_lines[MOST_TESTS];
static size_t test_count;

static inline void enter_test(struct CMUnitTest test, int line)
{
    size_t at = test_count++;
    if (at == MOST_TESTS)
        abort();
    for (; at && test_lines[at - 1] > line; at--) {
        all_tests[at] = all_tests[at - 1];
        test_lines[at] = test_lines[at - 1];
    }
    all_tests[at] = test;
    test_lines[at] = line;
}

/* Adds a test after the others. main() calls it for a function that is run with several states. */
static inline void add_test(struct CMUnitTest test)
{
    enter_test(test, INT_MAX);
}

/* The head of a test's function; the body follows. cmocka calls the two functions before and after the test; both may
 * be NULL. */
#define TEST_WITH(name, setup, teardown)                                               \
    static void name(void **state);                                                    \
    __attribute__((constructor)) static void enter_##name(void)                        \
    {                                                                                  \
        enter_test((struct CMUnitTest){#name, name, setup, teardown, NULL}, __LINE__); \
    }                                                                                  \
    static void name(void **state __attribute__((unused)))
#define TEST(name) TEST_WITH(name, NULL, NULL)

#endif
