/* quiet.h - discards standard output of a kernel's later runs. */
#ifndef QUIET_H
#define QUIET_H

/* Discards all standard output until quiet_end(). Without a free file descriptor, nothing is discarded. A process may
 * end quiet. */
void quiet_begin(void);
void quiet_end(void);

/* Descriptor of the real standard output, for a signal handler. */
int quiet_output(void);

#endif
