/* fiber.h - stacks on which CUDA threads wait for one another, and the switch between them. */
#ifndef CF__FIBER_H
#define CF__FIBER_H

#include <stddef.h>
#include <stdint.h>

/* Stacks of one CPU thread. Pages that were touched stay allocated until cf__stacks_free(). */
struct cf__stacks {
    char *memory;
    size_t stride; /* bytes from one stack to the next */
    size_t count;  /* stacks that there is room for */
    size_t ready;  /* stacks that have a guard */
    size_t bare;   /* number of the first stack whose guard is a pattern, for lack of guard pages; `count`: none */
    size_t page;   /* bytes of a page */
};

/* Makes room for `count` stacks, none of which may be in use. Returns 0 and changes nothing if there is no memory. */
int cf__stacks_reserve(struct cf__stacks *stacks, size_t count);
void cf__stacks_free(struct cf__stacks *stacks);

/* Returns the number of the first of `used` stacks that overran a pattern guard, and so overwrote the memory below it;
 * SIZE_MAX: none. */
size_t cf__stacks_overrun(const struct cf__stacks *stacks, size_t used);

/* A suspended fiber, or a suspended CPU thread on its own stack. */
struct cf__fiber {
    void *sp;          /* stack pointer to resume with */
    const void *stack; /* lowest byte of its stack; NULL: the CPU thread's own stack */
    size_t bytes;      /* of its stack */
    void *tool;        /* the sanitizer's object for it */
};

/* Creates a fiber on stack number `number`. The first switch to it calls `entry`, which must not return. `fiber` is all
 * zero, or a fiber that is replaced. */
void cf__fiber_create(struct cf__fiber *fiber, struct cf__stacks *stacks, size_t number, void (*entry)(void *data),
                      void *data);

/* `entry` calls this function first. */
void cf__fiber_begun(void);

/* Looks up the functions of sanitizers that follow fibers; called before the first switch. Thread-safe. */
void cf__fiber_detect_sanitizers(void);
extern int cf__fiber_is_watched; /* 1 if a sanitizer follows fibers */

/* Suspends the caller, stores its stack pointer at `from`, and resumes `to`, on the same CPU thread. Returns when
 * another fiber resumes `from`, with the value at `result` at that time. */
uint64_t cf__fiber_jump(void **from, void *to, const uint64_t *result);
extern const uint64_t cf__fiber_nothing; /* the result of a switch that needs none */

/* Switches and tells the sanitizer. `is_last`: nothing resumes `from`. */
void cf__fiber_watched_switch(struct cf__fiber *from, const struct cf__fiber *to, int is_last);

/* Suspends `from` and resumes `to`. */
static inline void cf__fiber_switch(struct cf__fiber *from, const struct cf__fiber *to)
{
    if (__builtin_expect(cf__fiber_is_watched, 0))
        cf__fiber_watched_switch(from, to, 0);
    else
        cf__fiber_jump(&from->sp, to->sp, &cf__fiber_nothing);
}

/* Resumes `to` from a fiber that nothing resumes. */
static inline void cf__fiber_leave(struct cf__fiber *from, const struct cf__fiber *to)
{
    if (__builtin_expect(cf__fiber_is_watched, 0))
        cf__fiber_watched_switch(from, to, 1);
    else
        cf__fiber_jump(&from->sp, to->sp, &cf__fiber_nothing);
}

/* Tells a sanitizer that nothing resumes a fiber, whose frames are gone. */
void cf__fiber_end(const struct cf__fiber *fiber);

/* Frees the sanitizer's object for a fiber and for the fibers that it replaced. */
void cf__fiber_forget(struct cf__fiber *fiber);

#endif
