/* orphan.h - memory of pools whose contexts are gone. */
#ifndef CF__ORPHAN_H
#define CF__ORPHAN_H

#include "driver/driver.h"

/* Frees what contexts that are gone have left of pools' memory on the current context's device; how many there were.
 * Relaxed. */
int cf__orphans_free(const struct cf__driver *driver);

/* Notes memory of a pool whose context is gone; with the lock. */
void cf__orphan_add(CUdeviceptr memory, CUdevice device);
int cf__have_orphans(void);

/* Forgets what is of a device, since it is gone. */
void cf__orphans_forget(CUdevice device);

/* At cf_shutdown(): where the library holds no context of a device it stays until the process ends. */
void cf__orphans_free_all(const struct cf__driver *cuda);
void cf__orphans_forget_all(void);

#endif
