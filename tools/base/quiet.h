/* quiet.h - discards the standard output of a kernel's runs after the first. */
#ifndef QUIET_H
#define QUIET_H

/* Discards all standard output until quiet_end() or the process's end. Discards nothing if no file descriptor is
 * free. */
void quiet_begin(void);
void quiet_end(void);

/* Descriptor of the real standard output, for a signal handler. */
int quiet_output(void);

#endif
