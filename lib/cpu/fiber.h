/* fiber.h - stacks on which CUDA threads wait for one another, and the switch between them. */
#ifndef CF__FIBER_H
#define CF__FIBER_H

#include <stddef.h>
#include <stdint.h>

/* Stacks of one CPU thread. Pages that a thread has used stay allocated until cf__stacks_free(). */
struct cf__stacks {
    char *memory;
    size_t stride; /* bytes from one stack to the next */
    size_t count;  /* number of stacks for which addresses are reserved */
    size_t ready;  /* number of stacks that have a guard */
    size_t bare;   /* number of the first stack whose guard is a byte pattern, or `count` if guard pages suffice */
    size_t page;   /* bytes of a page */
};

/* Reserves addresses for `count` stacks; no stack may be in use. Returns 0 and changes nothing if there is no
 * memory. */
int cf__stacks_reserve(struct cf__stacks *stacks, size_t count);
void cf__stacks_free(struct cf__stacks *stacks);

/* Returns the number of the first of `used` stacks that overran its byte-pattern guard and so overwrote the memory
 * below, or SIZE_MAX. */
size_t cf__stacks_overrun(const struct cf__stacks *stacks, size_t used);

/* A suspended fiber, or a CPU thread that is suspended on its own stack. */
struct cf__fiber {
    void *sp;          /* stack pointer to resume with */
    const void *stack; /* lowest byte of the fiber's stack; NULL: the CPU thread's own stack */
    size_t bytes;      /* bytes of the stack */
    void *tool;        /* ThreadSanitizer's object for the fiber */
};

/* Creates a fiber on stack number `number`. The first switch to it calls `entry`, which must not return. `fiber` is all
 * zero, or an ended fiber to replace. */
void cf__fiber_create(struct cf__fiber *fiber, struct cf__stacks *stacks, size_t number, void (*entry)(void *data),
                      void *data);

/* Completes the first switch to a fiber; `entry` calls it first. */
void cf__fiber_begun(void);

/* Looks up the functions of sanitizers that track fibers; called before the first switch. Thread-safe. */
void cf__fiber_detect_sanitizers(void);
extern int cf__fiber_is_watched; /* 1 if a sanitizer tracks fibers */

/* Suspends the caller, stores its stack pointer at `from`, and resumes `to`, on the same CPU thread. Returns when
 * another fiber resumes `from`, with the value that `result` then points to. */
uint64_t cf__fiber_jump(void **from, void *to, const uint64_t *result);
extern const uint64_t cf__fiber_nothing; /* `result` for a switch that returns no value */

/* Switches and informs the sanitizer. `is_last` means that `from` will never be resumed. */
void cf__fiber_watched_switch(struct cf__fiber *from, const struct cf__fiber *to, int is_last);

/* Suspends `from` and resumes `to`. */
static inline void cf__fiber_switch(struct cf__fiber *from, const struct cf__fiber *to)
{
    if (__builtin_expect(cf__fiber_is_watched, 0))
        cf__fiber_watched_switch(from, to, 0);
    else
        cf__fiber_jump(&from->sp, to->sp, &cf__fiber_nothing);
}

/* Resumes `to` from a fiber that will never be resumed. */
static inline void cf__fiber_leave(struct cf__fiber *from, const struct cf__fiber *to)
{
    if (__builtin_expect(cf__fiber_is_watched, 0))
        cf__fiber_watched_switch(from, to, 1);
    else
        cf__fiber_jump(&from->sp, to->sp, &cf__fiber_nothing);
}

/* Informs a sanitizer that a fiber will never be resumed and that its frames are gone. */
void cf__fiber_end(const struct cf__fiber *fiber);

/* Frees the sanitizer's object for a fiber and for the fibers that it replaced. */
void cf__fiber_forget(struct cf__fiber *fiber);

#endif
