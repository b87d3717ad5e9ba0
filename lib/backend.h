/* backend.h - what backend.c and device.c share: a driver in use, with its devices. */
#ifndef CF__BACKEND_H
#define CF__BACKEND_H

#include "internal.h"

/* A driver in use, with the primary contexts that were retained. */
struct cf__backend {
    const struct cf__driver *driver; /* NULL until it is in use; read without the lock */
    int count;
    CUcontext primary[CF__MAX_DEVICES]; /* likewise */
    int owed[CF__MAX_DEVICES];          /* more references to them that have to be given back */
};
extern struct cf__backend cf__cuda, cf__host;

static inline const struct cf__driver *cf__in_use(const struct cf__backend *backend)
{
    return __atomic_load_n(&backend->driver, __ATOMIC_ACQUIRE);
}

/* The process's default, decided at its first use, for `function`. A failure is not kept: the next call tries again. */
int cf__default_backend(const char *function, struct cf__backend **backend);

/* One of the two, for calls that cannot run without it; for CUDA `why` begins the message. */
int cf__ensure_host(const char *function);
int cf__ensure_cuda(const char *why);

/* The primary context of a device, which is started where it is not, for `function`. */
int cf__primary_context(const char *function, struct cf__backend *backend, int ordinal, CUcontext *context);

#endif
