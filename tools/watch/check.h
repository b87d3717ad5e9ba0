/* check.h - a kind of check: what it does while a kernel runs. */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>

#include "watch/region.h"
#include "watch/watch_thread.h"

enum check_kind { CHECK_ADDRESS, CHECK_RACE, CHECK_POISON };

/* ACCESS_LOOSE is of volatile accesses, beside ACCESS_ATOMIC: two of them are a race. ACCESS_WHOLE is of what is larger
 * than any number, which is only copied. */
enum { ACCESS_WRITE = 1, ACCESS_ATOMIC = 2, ACCESS_READ = 4, ACCESS_LOOSE = 8, ACCESS_WHOLE = 16 };

/* Functions are NULL where a kind has nothing to do; watch.c and access.c call the others. `pc` is behind the access in
 * the code. `region` is NULL for memory that is in none. */
struct check_ops {
    enum check_kind kind;

    /* The process begins. */
    void (*begin)(const char *module_path);

    /* A launch begins; a part of it begins and ends; it has ended without an error, or an operation has; its state goes. */
    void (*begin_launch)(void);
    void (*begin_part)(void *const args[]);
    void (*end_part)(void *const args[]);
    void (*look_at_outputs)(const cf_kernel *kernel, void *const args[]);
    void (*look_at_scratch)(const cf_kernel *kernel, void *const args[]);
    void (*end_launch)(void);

    void (*begin_block)(struct watch_slot *slot);
    void (*end_block)(struct watch_slot *slot);

    /* The thread ends, or waits: the last access is done, and its memory is there. */
    void (*settle)(void);

    /* The thread comes to a barrier; these lanes of its warp have come to a __syncwarp(); all threads have come to the
     * barrier in memory at an address. */
    void (*arrive)(struct watch_thread *thread);
    void (*sync_lanes)(struct watch_slot *slot, uint32_t warp, uint32_t lanes);
    void (*begin_phase)(const void *address);

    void (*access)(struct region *region, const char *address, size_t bytes, int how, const void *pc);
    void (*copy)(char *target, const char *source, size_t bytes, const void *pc);

    /* ACCESS_LOOSE where a volatile access is one of those of a warp that goes without __syncwarp(), else 0. */
    int (*looseness)(const void *address, size_t bytes);

    /* An atomic access gives what the thread did before a fence, and takes what others gave. */
    void (*atomic)(const void *address, int is_read, int is_write, int is_release);
    void (*fence)(void);
};

/* The check of this process, which the cf-run that started this one has chosen; NULL: none. */
extern const struct check_ops *check_current;

static inline int check_is(enum check_kind kind)
{
    return check_current && check_current->kind == kind;
}

#endif
