/* handle.h - records the handles that the library created. */
#ifndef CF__HANDLE_H
#define CF__HANDLE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"
#include "context/inflight.h"

struct cf__scope;

/* Kind of a handle; the driver may reuse the address of a destroyed handle for a handle of another kind. */
enum cf__handle_kind {
    CF__STREAM,
    CF__EVENT,
    CF__GRAPH,
    CF__GRAPH_EXEC,
    CF__GRAPH_NODE,
    CF__PAGE_LOCKED, /* page-locked memory */
};

/* Records a stream or event of the scope's context, so that it is refused after a reset of its device. Returns the
 * handle. If there is no memory for a record, the driver validates the handle. */
void *cf__handle_add(const struct cf__scope *scope, enum cf__handle_kind kind, void *handle);

/* Returns the serial number of a handle's record, or 0 without one. A caller reads it before it destroys the handle. */
unsigned int cf__handle_serial(enum cf__handle_kind kind, const void *handle);

/* Removes the record of a destroyed handle. A changed serial number means that another thread has created the same
 * handle meanwhile; the record then stays. */
void cf__handle_remove(enum cf__handle_kind kind, const void *handle, unsigned int serial);

/* Records page-locked memory of `bytes` bytes. */
void cf__handle_add_memory(const struct cf__scope *scope, const void *memory, size_t bytes);

/* Returns 1 for a pointer into recorded page-locked memory. The time is linear in the number of records. */
int cf__handle_is_memory(const void *pointer);

/* Returns CF_EINVAL for a GPU handle from before a reset of its device, or a CPU handle from before cf_shutdown(), else
 * CF_OK. `name` is the argument's name. Costs two loads in a process without resets. */
int cf__handle_check(const char *function, const char *name, enum cf__handle_kind kind, const void *handle);

/* Returns the context of a handle, or NULL if there is no record. */
CUcontext cf__handle_context(enum cf__handle_kind kind, const void *handle);

/* Sets the latest mark of an event. Events of other libraries have no record. */
void cf__handle_set_mark(const void *event, const struct cf__event_mark *mark);

/* Returns the latest mark of an event, or an empty mark if there is no record. */
struct cf__event_mark cf__handle_get_mark(const void *event);

/* Records a graph, an executable graph or a node, with the driver's id of its capture, or 0. Returns 0 if there is no
 * memory. */
int cf__handle_add_captured(const struct cf__scope *scope, enum cf__handle_kind kind, const void *handle,
                            uint64_t capture);

/* Returns the id of the capture of a GPU's graph or node, or 0 if it has none or is not recorded. */
uint64_t cf__handle_get_capture(enum cf__handle_kind kind, const void *handle);

void cf__handle_forget_nodes(uint64_t capture); /* drops the nodes of a capture that ended or whose graph is gone */

void cf__handles_reset(CUcontext context, int device); /* marks the handles of a context as stale */
void cf__handles_forget(void);                         /* frees all records, except in a forked child */
void cf__handles_lock(void);                           /* for fork handlers */
void cf__handles_unlock(void);

#endif
