/* watch_begin.h - a process that cf-run has started to check kernels. */
#ifndef WATCH_BEGIN_H
#define WATCH_BEGIN_H

/* The environment variable that tells it: "race:7:/tmp/x/module.so" - the check, the descriptor where findings go, the
 * module. */
#define WATCH_VARIABLE "CF__CHECKED"

/* Reads that variable. The module's path; NULL where nothing is checked here. */
const char *watch_begin(void);

#endif
