/* check.h - the functions of one kind of check. */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>

#include "watch/region.h"
#include "watch/watch_thread.h"

enum check_kind { CHECK_ADDRESS, CHECK_RACE, CHECK_POISON };

/* ACCESS_LOOSE, beside ACCESS_ATOMIC: a volatile access; two of them race. ACCESS_WHOLE: larger than any number, so it
 * can only be a copy. */
enum { ACCESS_WRITE = 1, ACCESS_ATOMIC = 2, ACCESS_READ = 4, ACCESS_LOOSE = 8, ACCESS_WHOLE = 16 };

/* watch.c and access.c call these functions; NULL: the kind has nothing to do. `pc` is the address after the access.
 * `region` is NULL for memory outside all regions. */
struct check_ops {
    enum check_kind kind;

    /* The process begins. */
    void (*begin)(const char *module_path);

    /* Begin of a launch; begin and end of one of its parts; success of a launch or operation; removal of its state. */
    void (*begin_launch)(void);
    void (*begin_part)(void *const args[]);
    void (*end_part)(void *const args[]);
    void (*look_at_outputs)(const cf_kernel *kernel, void *const args[]);
    void (*look_at_scratch)(const cf_kernel *kernel, void *const args[]);
    void (*end_launch)(void);

    void (*begin_block)(struct watch_slot *slot);
    void (*end_block)(struct watch_slot *slot);

    /* The thread ends or waits: its last access is complete and its memory exists. */
    void (*settle)(void);

    /* The thread arrives at a barrier; these lanes of its warp have arrived at a __syncwarp(); all threads have arrived
     * at the barrier object at an address. */
    void (*arrive)(struct watch_thread *thread);
    void (*sync_lanes)(struct watch_slot *slot, uint32_t warp, uint32_t lanes);
    void (*begin_phase)(const void *address);

    void (*access)(struct region *region, const char *address, size_t bytes, int how, const void *pc);
    void (*copy)(char *target, const char *source, size_t bytes, const void *pc);

    /* ACCESS_LOOSE if a volatile access belongs to code of a warp without __syncwarp(), otherwise 0. */
    int (*looseness)(const void *address, size_t bytes);

    /* An atomic access publishes the thread's work before a fence, and acquires the work that others published. */
    void (*atomic)(const void *address, int is_read, int is_write, int is_release);
    void (*fence)(void);
};

/* This process's check, chosen by the cf-run that started it; NULL: none. */
extern const struct check_ops *check_current;

static inline int check_is(enum check_kind kind)
{
    return check_current && check_current->kind == kind;
}

#endif
