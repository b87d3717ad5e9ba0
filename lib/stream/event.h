/* event.h - events. */
#ifndef CF__EVENT_H
#define CF__EVENT_H

#include <cuferry.h>

/* cf_event_sync(), for `function`. */
int cf__event_wait(const char *function, cf_event event);

#endif
