/* env.h - reads and checks environment variables. */
#ifndef CF__ENV_H
#define CF__ENV_H

#include <stdint.h>

/* Settings that calls read repeatedly; atomic. */
extern struct cf__env_settings {
    int host_data;       /* CF_HOST_DATA_AUTO, CF_HOST_DATA_STAGE or CF_HOST_DATA_HOST */
    uint32_t host_order; /* seed of the order of blocks and threads on the CPU, or one of the CF__ORDER values */
} cf__env;

/* Values of host_order that are not seeds: blocks and threads run in ascending or in descending order. */
#define CF__ORDER_NATURAL 0
#define CF__ORDER_REVERSE UINT32_MAX

enum cf__env_driver { CF__ENV_NO_DRIVER, CF__ENV_CUDA, CF__ENV_HOST };

/* Each cf__env_read function returns CF_OK, or CF_EINVAL if a variable has an invalid value. */

/* Reads CF_DRIVER; writes CF__ENV_NO_DRIVER if it is unset. */
int cf__env_read_driver(enum cf__env_driver *driver);

/* Reads CF_CHECK, which turns on CF__SLOW_PATH_POINTERS, and CF_HOST_DATA. */
int cf__env_read_calls(void);

/* Reads CF_THREADS, a number from 1 to `most`, and CF_HOST_ORDER. `threads` is 0 if CF_THREADS is unset. */
int cf__env_read_threads(int most, int *threads);

/* Returns the value of a variable that names a file or folder. Returns NULL if it is unset, or if the process runs with
 * other privileges than its user's (secure_getenv). */
const char *cf__env_file(const char *name);

/* Copies this process's environment with a `setting` such as "TMPDIR=/tmp" added, for another process. The caller frees
 * the list but not its strings. Returns NULL if there is no memory. */
char **cf__env_with(char *setting);

#endif
