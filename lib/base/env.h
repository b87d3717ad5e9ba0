/* env.h - the environment's variables, checked. */
#ifndef CF__ENV_H
#define CF__ENV_H

#include <stdint.h>

/* Settings that calls read again and again; atomic. */
extern struct cf__env_settings {
    int host_data;       /* CF_HOST_DATA_AUTO, CF_HOST_DATA_STAGE or CF_HOST_DATA_HOST */
    uint32_t host_order; /* seed of the order of blocks and threads on the CPU, or one of the two below */
} cf__env;

/* Orders that no seed stands for: ascending and descending. */
#define CF__ORDER_NATURAL 0
#define CF__ORDER_REVERSE UINT32_MAX

enum cf__env_driver { CF__ENV_NO_DRIVER, CF__ENV_CUDA, CF__ENV_HOST };

/* Each cf__env_read function returns CF_OK, or CF_EINVAL if a variable has a wrong value. */

/* Reads CF_DRIVER; CF__ENV_NO_DRIVER if it is unset. */
int cf__env_read_driver(enum cf__env_driver *driver);

/* Reads CF_CHECK, which sets CF__SLOW_PATH_POINTERS, and CF_HOST_DATA. */
int cf__env_read_calls(void);

/* Reads CF_THREADS, at most `most`, 0 if it is unset; and CF_HOST_ORDER. */
int cf__env_read_threads(int most, int *threads);

/* Returns the value of a variable that names a file or folder; NULL if it is unset, or if the process runs with other
 * rights than its user's (secure_getenv). */
const char *cf__env_file(const char *name);

/* Makes an environment for another process: this one's, with a `setting` such as "TMPDIR=/tmp". The caller frees the
 * list, which refers to the texts. Returns NULL if there is no memory. */
char **cf__env_with(char *setting);

#endif
