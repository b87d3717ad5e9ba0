/* peer.h - GPUs that reach the memory of others. */
#ifndef CF__PEER_H
#define CF__PEER_H

#include <stdint.h>

struct cf__driver;

/* Whether kernels on GPU `device` reach the memory of GPU `peer`, since cf_peer_enable() was called or they are one. */
int cf__peer_enabled(int device, int peer);

uint64_t cf__peers_of(int peer); /* a bit for each GPU that cf_peer_enable() lets reach it */

int cf__peers_disable(const struct cf__driver *driver); /* all that the library enabled, at cf_shutdown() */
void cf__peers_forget(int device);                      /* what concerns a GPU whose primary context was reset */
void cf__peer_lock(void);                               /* for fork */
void cf__peer_unlock(void);

#endif
