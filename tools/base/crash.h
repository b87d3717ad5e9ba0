/* crash.h - says which kernel ran when a signal ends this process: one that divides by 0 on the CPU, or goes astray. */
#ifndef CRASH_H
#define CRASH_H

/* The process's exit status then. */
#define CRASH_STATUS 2

/* From now on such a signal prints one line, where no other handler of it stands, as a sanitizer's. The process is not
 * forked for it: a GPU does not survive that, and debuggers would look at the wrong one. */
void crash_watch(const char *program);

/* Names the kernel that runs from now on; the line ends with `more`. What waits in stdout is written out; where that leaves
 * a line open, `is_in_line`, the line is ended first. */
void crash_expect(const char *kernel, const char *more, int is_in_line);

#endif
