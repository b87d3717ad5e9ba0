/* orphan.h - memory of pools whose contexts are gone. */
#ifndef CF__ORPHAN_H
#define CF__ORPHAN_H

#include "driver/driver.h"

/* Frees such memory of the current context's device; returns the number of freed allocations. The caller has relaxed
 * the capture mode. */
int cf__orphans_free(const struct cf__driver *driver);

/* Adds memory of a pool whose context is gone. The caller holds the lock of the scratch cache. */
void cf__orphan_add(CUdeviceptr memory, CUdevice device);
int cf__orphans_exist(void);

/* Forgets memory of a device that was lost. */
void cf__orphans_forget(CUdevice device);

/* At cf_shutdown(): frees memory of devices whose primary context the library holds, and forgets the rest. */
void cf__orphans_free_all(const struct cf__driver *cuda);
void cf__orphans_forget_all(void); /* without the driver */

#endif
