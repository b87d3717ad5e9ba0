/* text.c - texts that are the same whatever the program's locale is. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "status.h"

/* The C libraries keep this locale ready: neither call allocates memory. */
static locale_t take_plain(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static void give_plain(locale_t plain)
{
    if (plain)
        freelocale(plain);
}

int cf__vformat(char *text, size_t size, const char *format, va_list values)
{
    locale_t plain = take_plain(), before = uselocale(plain);
    int length = vsnprintf(text, size, format, values);
    (void)uselocale(before);
    give_plain(plain);
    return length;
}

int cf__format(char *text, size_t size, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = cf__vformat(text, size, format, values);
    va_end(values);
    return length;
}

const char *cf__strerror(int error)
{
    locale_t plain = take_plain();
    const char *text = plain ? strerror_l(error, plain) : strerror(error);
    give_plain(plain);
    return text;
}
