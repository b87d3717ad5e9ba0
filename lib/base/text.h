/* text.h - formats texts in the locale "C". */
#ifndef CF__TEXT_H
#define CF__TEXT_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

struct cf__locale {
    locale_t plain;  /* the locale "C"; 0 if there was no memory, which leaves the thread's locale in effect */
    locale_t before; /* the thread's locale */
};

/* Switches the calling thread to the locale "C"; pass the result to cf__leave_c_locale(). */
struct cf__locale cf__enter_c_locale(void);
void cf__leave_c_locale(struct cf__locale locale);

/* snprintf(), vsnprintf() and strerror() in the locale "C", for decimal fractions and for the system's error
 * messages. */
__attribute__((format(printf, 3, 4))) int cf__format(char *text, size_t size, const char *format, ...);
__attribute__((format(printf, 3, 0))) int cf__vformat(char *text, size_t size, const char *format, va_list values);
const char *cf__strerror(int error);

#endif
