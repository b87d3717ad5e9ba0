/* handle.h - handles that the library made. */
#ifndef CF__HANDLE_H
#define CF__HANDLE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"
#include "context/inflight.h"

struct cf__scope;

/* Kind of a handle: the driver may reuse the address of a destroyed handle for another kind. */
enum cf__handle_kind {
    CF__STREAM,
    CF__EVENT,
    CF__GRAPH,
    CF__GRAPH_EXEC,
    CF__GRAPH_NODE,
    CF__PAGE_LOCKED, /* memory */
};

/* Records a stream or event of the scope's context, so that it is refused after a reset of its device. Returns the
 * handle. If memory is short there is no record, and the driver judges the handle. */
void *cf__handle_add(const struct cf__scope *scope, enum cf__handle_kind kind, void *handle);

/* Returns the serial number of a handle's record, which is read before the handle is destroyed; 0: no record. */
unsigned int cf__handle_serial(enum cf__handle_kind kind, const void *handle);

/* Removes the record of a destroyed handle, unless its serial number has changed: another thread was given the same
 * handle in between. */
void cf__handle_remove(enum cf__handle_kind kind, const void *handle, unsigned int serial);

/* Records page-locked memory of `bytes` bytes. */
void cf__handle_add_memory(const struct cf__scope *scope, const void *memory, size_t bytes);

/* Returns 1 for a pointer into such memory; reads all records. */
int cf__handle_is_memory(const void *pointer);

/* Returns CF_EINVAL for a handle from before a reset of its device, or of the CPU from before cf_shutdown(); else
 * CF_OK. `name` is the argument's. Costs two loads in a process without resets. */
int cf__handle_check(const char *function, const char *name, enum cf__handle_kind kind, const void *handle);

/* Returns the context of a handle, or NULL if there is no record. */
CUcontext cf__handle_context(enum cf__handle_kind kind, const void *handle);

/* Sets the latest mark of an event. Events of other libraries have no record. */
void cf__handle_set_mark(const void *event, const struct cf__event_mark *mark);

/* Returns the latest mark of an event; an empty one without a record. */
struct cf__event_mark cf__handle_get_mark(const void *event);

/* Records a graph, an executable graph or a node, and the capture that it is from: the driver's id, or 0. Returns 0 if
 * there is no memory. */
int cf__handle_add_captured(const struct cf__scope *scope, enum cf__handle_kind kind, const void *handle,
                            uint64_t capture);

/* Returns the capture of such a handle of a GPU. 0: none, or there is no record. */
uint64_t cf__handle_get_capture(enum cf__handle_kind kind, const void *handle);

void cf__handle_forget_nodes(uint64_t capture); /* nodes of a capture or of its graph, which are gone */

void cf__handles_reset(CUcontext context, int device); /* marks the handles of a context as gone */
void cf__handles_forget(void);                         /* frees all records, except in a forked child */
void cf__handles_lock(void);                           /* for fork */
void cf__handles_unlock(void);

#endif
