/* machine_measure.h - measures the constants of the machine that plain calls on host arrays go by, and keeps them in a file. */
#ifndef MACHINE_MEASURE_H
#define MACHINE_MEASURE_H

#include <stddef.h>

#include "base/message.h"

/* The lines of one machine in the file. */
struct machine_lines {
    char identity[1024];
    struct message numbers;
};

/* Sets `needed` to 1 where calls on the calling thread's device have something to decide; else to 0, and prints why. */
int machine_is_needed(int *needed, struct message *message);

/* Measures the constants of the calling thread's GPU and of this process's CPU. Ends with cf_shutdown(). */
int machine_measure(struct machine_lines *lines, struct message *message);

/* Writes the path of the file; an error where there is none, or a file of another kind. */
int machine_find(char *path, size_t size, struct message *message);

/* Adds lines to the file, in place of those of the same machine; it is made, and its folders where the path is the default
 * one. A file of another kind is left alone, which is an error. Holds a lock on PATH.lock meanwhile. */
int machine_write(const char *path, const struct machine_lines *lines, struct message *message);

#endif
