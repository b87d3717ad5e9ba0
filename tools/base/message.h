/* message.h - the one line that says what went wrong, on its way from where it happened to main(). */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdarg.h>
#include <stdio.h>

/* Longer lines are cut. Two paths of PATH_MAX are past what anyone reads. */
#define MESSAGE_SIZE 4096

struct message {
    char text[MESSAGE_SIZE];
};

/* Writes the line and returns -1, so that a failure reads `return message_set(message, ...)`. */
__attribute__((format(printf, 2, 3))) static inline int message_set(struct message *message, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message->text, sizeof message->text, format, args);
    va_end(args);
    return -1;
}

/* Adds to the line. */
__attribute__((format(printf, 2, 3))) static inline void message_add(struct message *message, const char *format, ...)
{
    size_t used = 0;
    while (message->text[used])
        used++;
    va_list args;
    va_start(args, format);
    vsnprintf(message->text + used, sizeof message->text - used, format, args);
    va_end(args);
}

/* Prints the line on stderr, as one line whatever the names of files in it hold. */
static inline void message_print(const char *program, struct message *message)
{
    for (char *at = message->text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    fprintf(stderr, "%s: %s\n", program, message->text);
}

#endif
