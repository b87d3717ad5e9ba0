/* scope.h - the driver and the context that a call has entered. */
#ifndef CF__SCOPE_H
#define CF__SCOPE_H

#include "driver/driver.h"

/* Driver and context of a call. The context is current on the thread between enter and leave. */
struct cf__scope {
    const struct cf__driver *driver;
    CUcontext context;
    int is_pushed; /* 1: cf__leave() pops the context */
};

#endif
