/* handle.h - handles that the library made. */
#ifndef CF__HANDLE_H
#define CF__HANDLE_H

#include <stddef.h>

#include <cuferry.h>

#include "driver/driver.h"
#include "context/inflight.h"

struct cf__scope;

/* What a handle is of: the driver may give the address of one that is gone to one of another kind. */
enum cf__handle_kind {
    CF__STREAM,
    CF__EVENT,
    CF__GRAPH,
    CF__GRAPH_EXEC,
    CF__PAGE_LOCKED, /* memory */
};

/* Keeps a stream, event or graph that was made in the scope's context, so that it is refused after a reset of its
 * device, and returns it. Where there is no memory for that, the driver judges it. */
void *cf__handle_add(const struct cf__scope *scope, enum cf__handle_kind kind, void *handle);

/* The record is dropped when the handle is destroyed, unless another thread was given the same handle in between, which
 * the serial number from before tells. */
unsigned int cf__handle_serial(enum cf__handle_kind kind, const void *handle);
void cf__handle_remove(enum cf__handle_kind kind, const void *handle, unsigned int serial);

/* The same of page-locked memory; whether a pointer lies in such memory, which takes a look at all records. */
void cf__handle_add_memory(const struct cf__scope *scope, const void *memory, size_t bytes);
int cf__handle_is_memory(const void *pointer);

/* CF_EINVAL for one that went with a reset, or of the CPU with cf_shutdown(); costs two loads before the first. `name`
 * is the argument's. */
int cf__handle_check(const char *function, const char *name, enum cf__handle_kind kind, const void *handle);

/* Fails for a driver call that took a handle and a stream, and names the one that it did not know; both where it failed
 * otherwise. */
int cf__fail_handle(const struct cf__driver *driver, CUresult result, const char *call, const char *function,
                    const char *name, const void *handle, cf_stream stream);

/* The context where one was made; NULL where that is not known. */
CUcontext cf__handle_context(enum cf__handle_kind kind, const void *handle);

/* What one of the library's events has recorded last; of others nothing is kept, and an empty mark returned. */
void cf__handle_set_mark(const void *event, const struct cf__event_mark *mark);
struct cf__event_mark cf__handle_get_mark(const void *event);

/* Enters the context where a GPU's handle was made, for cf__enter_handle(); where that is not known, since it is
 * another library's, one that works, if there is one: what becomes of the handle is for the driver to say. */
int cf__handle_enter(struct cf__scope *scope, const char *function, const struct cf__driver *driver,
                     enum cf__handle_kind kind, const void *handle);

void cf__handles_reset(CUcontext context, int device);
void cf__handles_forget(void);
void cf__handles_lock(void); /* for fork */
void cf__handles_unlock(void);

#endif
