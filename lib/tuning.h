/* tuning.h - variants of kernels with tune(...): what was measured of them, and which one a call runs. */
#ifndef CF__TUNING_H
#define CF__TUNING_H

#include <cuferry/tuning.h>

#include "kernel.h"

/* ---- tuning_file.c ---- */

/* The most bytes of a file: a larger one is none. */
#define CF__TUNING_BYTES ((size_t)1 << 20)

/* Room for the constants of a variant. */
#define CF__VARIANT 256

/* Writes "BLOCK=128,ITEMS=2"; nothing for what is no variant. */
void cf__variant_text(const cf_kernel *kernel, char text[CF__VARIANT]);

/* One line of a file, cut into words. */
struct cf__tuning_line {
    const char *function, *variant; /* not closed by a 0 */
    size_t function_length, variant_length;
    uint32_t version;
    int capability; /* times ten; 0: the CPU */
    int size_class;
};

/* Reads the line at *at and moves *at to the next; 0 where it is none. The text is closed by a 0. */
int cf__tuning_next(const char **at, struct cf__tuning_line *line);

/* Behind the first line, which says what the file is; NULL where it is none. */
const char *cf__tuning_begin(const char *text);

/* Reads a file; NULL with a reason where there is none that can be used, and with errno, which is 0 where it was read
 * and is damaged. Freed by the caller. */
char *cf__tuning_read(const char *path, const char **reason);

/* Of the variants: changes with them, and with what else decides how a kernel is called. */
uint32_t cf__tuning_version(const cf_kernel *kernel);

/* Whether a line is of that kernel; and the number of its variant, -1 where it has no such one. */
int cf__tuning_is_of(const struct cf__tuning_line *line, const cf_kernel *kernel);
int cf__tuning_variant(const struct cf__tuning_line *line, const cf_kernel *kernel);

/* ---- tuning.c ---- */

/* Works out what runs on a device of that architecture, 0: the CPU; for image.c, which keeps it. */
void cf__tuning_choose(const cf_kernel *kernel, int capability, struct cf__choice *choice);

/* How the variant of a call is tried, which may be refused though the first would not be: that is no failure then. */
struct cf__attempt {
    const cf_kernel *kernel, *variant, *first;
    struct cf__loaded *loaded; /* the kernel's table */
    int size_class;            /* -1: it made no difference */
    struct cf__error before;   /* where it is not the first */
};
int cf__attempt_begin(struct cf__attempt *attempt, const cf_kernel *kernel, cf_stream stream, void *const args[]);

/* Behind a launch of `variant`, with its status: whether it was refused, so that the first is to run. */
int cf__attempt_refused(const struct cf__attempt *attempt, void *const args[], int status);

int cf__launch_tuned(const cf_kernel *kernel, cf_stream stream, void *const args[]);

void cf__tuning_forget(void); /* at cf_shutdown() */
void cf__tuning_lock(void);   /* for fork */
void cf__tuning_unlock(void);

#endif
