/* machine_measure.h - measures the machine's constants for plain calls on host arrays, and keeps them in a file. */
#ifndef MACHINE_MEASURE_H
#define MACHINE_MEASURE_H

#include <stddef.h>

#include "base/message.h"

/* Lines of one machine in the file. */
struct machine_lines {
    char identity[1024];
    struct message numbers;
};

/* Sets *needed to 1 if calls on the calling thread's device have a choice that the constants decide; otherwise sets it
 * to 0 and prints the reason. */
int machine_is_needed(int *needed, struct message *message);

/* Measures the constants of the calling thread's GPU and of this process's CPU. Calls cf_shutdown() at the end. */
int machine_measure(struct machine_lines *lines, struct message *message);

/* Writes the path of the file to `path`. Fails if no path can be determined, or if there is a file of another kind. */
int machine_find(char *path, size_t size, struct message *message);

/* Replaces the machine's lines in the file. Creates the file, and folders of the default path. A file of another kind
 * is an error and stays unchanged. Holds a lock on PATH.lock meanwhile. */
int machine_write(const char *path, const struct machine_lines *lines, struct message *message);

#endif
