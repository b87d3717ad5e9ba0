/* event.h - events. */
#ifndef CF__EVENT_H
#define CF__EVENT_H

#include <cuferry.h>

/* Does what cf_event_sync() does; messages name `function`. */
int cf__event_wait(const char *function, cf_event event);

#endif
