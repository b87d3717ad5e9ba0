/* message.h - the one line of an error message, passed from the failing function to main(). */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Size of a message in bytes, enough for two paths of usual length; longer lines are cut. */
#define MESSAGE_SIZE 4096

/* Part of each message about an array that a kernel may not write. */
#define MESSAGE_WRITTEN_INPUT "is written, although it is an in(); declare it inout(...)"

struct message {
    char text[MESSAGE_SIZE];
};

/* Sets the line. Returns -1, so that a failing function can `return message_set(message, ...)`. */
__attribute__((format(printf, 2, 3))) static inline int message_set(struct message *message, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message->text, sizeof message->text, format, args);
    va_end(args);
    return -1;
}

/* Appends to the line. */
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

/* Prints the line on stderr. Control characters, as in file names, are replaced, so that it stays one line. */
static inline void message_print(const char *program, struct message *message)
{
    for (char *at = message->text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    fprintf(stderr, "%s: %s\n", program, message->text);
}

/* Serves the end of main(): prints the message of a failure, which may be that standard output could not be written.
 * Returns the exit status. */
static inline int message_end(const char *program, int status, struct message *message)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0)
        status = message_set(message, "stdout: %s", strerror(errno));
    if (status == 0)
        return EXIT_SUCCESS;
    message_print(program, message);
    return EXIT_FAILURE;
}

#endif
