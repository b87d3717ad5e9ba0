/* peer.h - GPUs that reach the memory of other GPUs. */
#ifndef CF__PEER_H
#define CF__PEER_H

#include <stdint.h>

struct cf__driver;

/* Returns 1 if kernels on device `device` reach memory of `peer`, by cf_peer_enable() or since both are the same. */
int cf__peer_enabled(int device, int peer);

uint64_t cf__peer_mask(int peer); /* a bit for each GPU that cf_peer_enable() lets reach `peer` */

int cf__peers_disable(const struct cf__driver *driver); /* disables all access that the library enabled */
void cf__peers_forget(int device);                      /* for a GPU whose primary context was reset */
void cf__peer_lock(void);                               /* for fork */
void cf__peer_unlock(void);

#endif
