/* text.h - texts in the locale "C". */
#ifndef CF__TEXT_H
#define CF__TEXT_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

struct cf__locale {
    locale_t plain; /* 0: there was no memory for it, and the thread's own one stands */
    locale_t before;
};

/* Has the calling thread run in the locale "C" until the second is given the first one's value. */
struct cf__locale cf__enter_c_locale(void);
void cf__leave_c_locale(struct cf__locale locale);

/* snprintf(), vsnprintf() and strerror() in the locale "C": all texts of the library that may hold numbers with a fraction
 * or the system's words are made with them. */
__attribute__((format(printf, 3, 4))) int cf__format(char *text, size_t size, const char *format, ...);
__attribute__((format(printf, 3, 0))) int cf__vformat(char *text, size_t size, const char *format, va_list values);
const char *cf__strerror(int error);

#endif
