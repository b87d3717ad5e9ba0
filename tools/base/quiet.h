/* quiet.h - keeps from standard output what kernels print in runs after the first. */
#ifndef QUIET_H
#define QUIET_H

/* Until quiet_end(), which follows, everything that is written to standard output is lost; where there is no descriptor
 * left for that, nothing is. A process may also end quiet. */
void quiet_begin(void);
void quiet_end(void);

/* The descriptor of standard output, quiet or not, for a signal handler. */
int quiet_output(void);

#endif
