/* comma_locale.h - a locale with a decimal comma, also on machines where none is installed. */
#ifndef COMMA_LOCALE_H
#define COMMA_LOCALE_H

#include "run_group.h"

#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes glibc's LC_NUMERIC file, which localedef would generate: a table of offsets, then the strings. */
static inline size_t write_numeric(const char *name)
{
    enum { NUMERIC = 1, FIELDS = 6 };
    static const struct {
        uint32_t magic, count, at[FIELDS];
        char texts[3][4]; /* decimal point, thousands separator, grouping */
        uint32_t wide[2];
        char codeset[16];
    } file = {0x20031115 ^ NUMERIC, FIELDS, {32, 36, 40, 44, 48, 52}, {",", ".", "\x7f"}, {',', '.'}, "ANSI_X3.4-1968"};
    FILE *to = fopen(name, "w");
    size_t written = to ? fwrite(&file, sizeof file, 1, to) : 0;
    return to && fclose(to) == 0 ? written : 0;
}

/* Sets a locale for numbers that has a decimal comma, or skips the test. */
static inline void use_comma_locale(void)
{
    char folder[] = "/tmp/cf_locale_XXXXXX", inner[64], file[96], number[8];
    assert_non_null(mkdtemp(folder));
    snprintf(inner, sizeof inner, "%s/comma", folder);
    snprintf(file, sizeof file, "%s/LC_NUMERIC", inner);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(write_numeric(file), 1);
    assert_int_equal(setenv("LOCPATH", folder, 1), 0);
    (void)setlocale(LC_NUMERIC, "comma");
    unsetenv("LOCPATH");
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(inner), 0);
    assert_int_equal(rmdir(folder), 0);
    snprintf(number, sizeof number, "%g", 1.5);
    if (strcmp(number, "1,5") != 0) {
        puts("# skip: needs a C library that takes a locale from a file that a test makes");
        skip();
    }
}

#endif
