/* peer.h - lets GPUs access each other's memory. */
#ifndef CF__PEER_H
#define CF__PEER_H

#include <stdint.h>

struct cf__driver;

/* Returns 1 if kernels on GPU `device` can access memory of `peer`, because cf_peer_enable() allowed it or both are the
 * same. */
int cf__peer_enabled(int device, int peer);

uint64_t cf__peer_mask(int peer); /* bit mask of the GPUs that cf_peer_enable() lets access `peer` */

int cf__peers_disable(const struct cf__driver *driver); /* disables all access that this library enabled */
void cf__peers_forget(int device);                      /* forgets a GPU's access after its reset */
void cf__peer_lock(void);                               /* for fork handlers */
void cf__peer_unlock(void);

#endif
