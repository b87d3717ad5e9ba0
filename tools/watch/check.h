/* check.h - table of functions that each kind of check defines. */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>

#include "watch/region.h"
#include "watch/watch_thread.h"

enum check_kind { CHECK_ADDRESS, CHECK_RACE, CHECK_POISON };

/* Bits that describe an access. ACCESS_LOOSE is set together with ACCESS_ATOMIC for a volatile access that races with
 * others of its kind. ACCESS_WHOLE: the access is larger than any number, so that it can only be a copy. */
enum { ACCESS_WRITE = 1, ACCESS_ATOMIC = 2, ACCESS_READ = 4, ACCESS_LOOSE = 8, ACCESS_WHOLE = 16 };

/* Functions of a kind of check, which watch.c and access.c call. NULL: the kind of check has nothing to do. `pc` is the
 * address after the access. `region` is NULL for memory outside all regions. */
struct check_ops {
    enum check_kind kind;

    /* Called at the beginning of the process. */
    void (*begin)(const char *module_path);

    /* Called when a launch begins; when one of its parts begins and ends; when a launch or operation has succeeded; to
     * remove its state. */
    void (*begin_launch)(void);
    void (*begin_part)(void *const args[]);
    void (*end_part)(void *const args[]);
    void (*look_at_outputs)(const cf_kernel *kernel, void *const args[]);
    void (*look_at_scratch)(const cf_kernel *kernel, void *const args[]);
    void (*end_launch)(void);

    void (*begin_block)(struct watch_slot *slot);
    void (*end_block)(struct watch_slot *slot);

    /* Called when the thread ends or waits, while its memory still exists; its last access is complete. */
    void (*settle)(void);

    /* Called when the thread arrives at a barrier; when lanes of its warp have arrived at a __syncwarp(); when all
     * threads have arrived at a barrier object. */
    void (*arrive)(struct watch_thread *thread);
    void (*sync_lanes)(struct watch_slot *slot, uint32_t warp, uint32_t lanes);
    void (*begin_phase)(const void *address);

    void (*access)(struct region *region, const char *address, size_t bytes, int how, const void *pc);
    void (*copy)(char *target, const char *source, size_t bytes, const void *pc);

    /* Returns ACCESS_LOOSE if a volatile access seems to synchronise a warp without __syncwarp(), otherwise 0. */
    int (*looseness)(const void *address, size_t bytes);

    /* Called for an atomic access, which publishes the thread's work before its latest fence and acquires the work that
     * others published; and for a fence. */
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
