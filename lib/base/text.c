/* text.c - formats texts independently of the program's locale. */
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* C libraries have the locale "C" built in, so that neither newlocale() nor freelocale() allocates or frees memory. */
struct cf__locale cf__enter_c_locale(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return (struct cf__locale){plain, uselocale(plain)};
}

void cf__leave_c_locale(struct cf__locale locale)
{
    (void)uselocale(locale.before);
    if (locale.plain)
        freelocale(locale.plain);
}

int cf__vformat(char *text, size_t size, const char *format, va_list values)
{
    struct cf__locale locale = cf__enter_c_locale();
    int length = vsnprintf(text, size, format, values);
    cf__leave_c_locale(locale);
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
    struct cf__locale locale = cf__enter_c_locale();
    const char *text = locale.plain ? strerror_l(error, locale.plain) : strerror(error);
    cf__leave_c_locale(locale);
    return text;
}
