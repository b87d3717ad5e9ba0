/* compiled.h - a request to compile or link a program, and the result. */
#ifndef CF__COMPILED_H
#define CF__COMPILED_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct cf_program_options;

/* Input of a link: GPU code, followed by a zero byte. */
struct cf__input {
    const char *name;
    char *data;
    size_t size; /* bytes without the zero byte */
};

/* Kinds of results of a compilation: a program, or an input of a link. */
enum cf__output { CF__PROGRAM, CF__RELOCATABLE, CF__LTO };

struct cf__request {
    const char *function; /* name of the function, for error messages */
    const char *source;   /* source; NULL for a link */
    const char *compiler; /* path of NVRTC; NULL: the path from cf_find() */
    const char *name;     /* the source's name in the compiler's messages; its folder is searched for headers */
    const struct cf_program_options *options;
    int capability; /* compute capability of the device, times ten */
    int driver;     /* CUDA version of the driver: 13000 is 13.0 */
    enum cf__output output;
    const char *tools;              /* further text for the cache's key, or NULL */
    const struct cf__input *inputs; /* inputs of a link */
    size_t input_count;
};

/* The result. A zero-initialised struct is empty; cf__compiled_free() releases its members. */
struct cf__compiled {
    char *image;        /* machine code (a cubin) or PTX, then a zero byte; or NULL */
    size_t bytes;       /* bytes of the image, without the zero */
    char *log;          /* warnings and errors, or NULL */
    char *names;        /* each of options.names, followed by its name in the image; "" at the end; or NULL */
    size_t names_bytes; /* bytes of all names, without the final "" */
    char *inputs;       /* files that cfcc has read, as its option --inputs lists them; NULL: unknown */
    size_t inputs_bytes;
};

static inline void cf__compiled_free(struct cf__compiled *compiled)
{
    free(compiled->image);
    free(compiled->log);
    free(compiled->names);
    free(compiled->inputs);
    *compiled = (struct cf__compiled){0};
}

/* Returns 1 if a line of a log is an error of a compiler or linker with this word: "x.cu(2): error: ...", "ptxas fatal
 * : ...". Lines of the source are indented, and the texts of warnings may contain the word. */
static inline int cf__log_line_has(const char *line, int length, const char *word)
{
    const char *begin = memmem(line, (size_t)length, word, strlen(word));
    const char *warning = memmem(line, (size_t)length, "warning", strlen("warning"));
    if (!begin || *line == ' ' || (warning && warning < begin) || (begin > line && begin[-1] != ' '))
        return 0;
    begin += strlen(word);
    begin += strspn(begin, " ");
    return *begin == ':' || *begin == '#'; /* '#' precedes the error's number */
}

/* Finds the first line with an error in a log; returns NULL if there is none. */
static inline const char *cf__log_find_error(const char *log, int *length)
{
    for (const char *line = log; *line; line += *length + (line[*length] == '\n')) {
        *length = (int)strcspn(line, "\n");
        if (cf__log_line_has(line, *length, "error") || cf__log_line_has(line, *length, "fatal"))
            return line;
    }
    return NULL;
}

/* Finds the first line with an error in a log, or the first line if there is none. */
static inline const char *cf__log_error(const char *log, int *length)
{
    const char *line = cf__log_find_error(log, length);
    if (!line)
        *length = (int)strcspn(log, "\n");
    return line ? line : log;
}

#endif
