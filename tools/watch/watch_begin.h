/* watch_begin.h - prepares a process that cf-run has started to check kernels. */
#ifndef WATCH_BEGIN_H
#define WATCH_BEGIN_H

/* Environment variable for that process, such as "race:7:/tmp/x/module.so": the check, the file descriptor for
 * findings, and the module's path. */
#define WATCH_VARIABLE "CF__CHECKED"

/* Reads the variable and begins the check. Returns the module's path, or NULL if this process checks nothing. */
const char *watch_begin(void);

#endif
