/* watch_begin.h - a process that cf-run has started to check kernels. */
#ifndef WATCH_BEGIN_H
#define WATCH_BEGIN_H

/* Environment variable for that process: "race:7:/tmp/x/module.so" - the check, the file descriptor for findings, the
 * module. */
#define WATCH_VARIABLE "CF__CHECKED"

/* Reads the variable; returns the module's path, or NULL if this process checks nothing. */
const char *watch_begin(void);

#endif
