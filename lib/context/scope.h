/* scope.h - the driver and the context that a call has entered. */
#ifndef CF__SCOPE_H
#define CF__SCOPE_H

#include "driver/driver.h"

/* Driver and context of a call. The context is current in the thread from cf__enter() to cf__leave(). */
struct cf__scope {
    const struct cf__driver *driver;
    CUcontext context;
    int is_pushed; /* 1 if cf__leave() has to pop the context */
};

#endif
