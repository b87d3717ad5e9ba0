/* fiber.h - stacks on which CUDA threads wait for one another, and the switch between them. */
#ifndef CF__FIBER_H
#define CF__FIBER_H

#include <stddef.h>
#include <stdint.h>

/* Stacks of one thread of the CPU. Those that were used once stay in place until cf__stacks_free(). */
struct cf__stacks {
    char *memory;
    size_t stride; /* bytes from one to the next */
    size_t count;  /* that there is room for */
    size_t ready;  /* of them, with a guard */
    size_t bare;   /* from this number on the guard is a pattern, since the system had none; `count` where it has */
    size_t page;
};

/* Makes room for `count` stacks; 0 where there is no memory, and what there was stays. None may be in use. */
int cf__stacks_reserve(struct cf__stacks *stacks, size_t count);
void cf__stacks_free(struct cf__stacks *stacks);

/* The first of `used` stacks that had to be larger, of those where nothing stops what runs out of it; SIZE_MAX: none. What lay
 * beside it is overwritten. */
size_t cf__stacks_overrun(const struct cf__stacks *stacks, size_t used);

/* Where a fiber, or the thread's own stack, goes on. */
struct cf__fiber {
    void *sp;
    const void *stack; /* its lowest byte; NULL: that of the thread of the CPU */
    size_t bytes;
    void *tool; /* what a sanitizer knows it by */
};

/* Makes a fiber on stack number `number`: the first switch to it calls `entry`, which must not return. `fiber` is all zero,
 * or was made before. */
void cf__fiber_create(struct cf__fiber *fiber, struct cf__stacks *stacks, size_t number, void (*entry)(void *data),
                      void *data);

/* The first thing that `entry` calls. */
void cf__fiber_begun(void);

/* Looks for the sanitizers that want to know of fibers; before the first switch. */
void cf__fiber_look(void);
extern int cf__fiber_is_watched; /* whether there is one */

/* Leaves `from` for `to`, both on the same thread of the CPU. Returns when something switches to `from`, and gives what then
 * stands at `result`: so who waits for a result needs not keep where it comes from. */
uint64_t cf__fiber_jump(void **from, void *to, const uint64_t *result);
extern const uint64_t cf__fiber_nothing; /* a result for those that want none */
void cf__fiber_watched_switch(struct cf__fiber *from, const struct cf__fiber *to, int is_last);
static inline void cf__fiber_switch(struct cf__fiber *from, const struct cf__fiber *to)
{
    if (__builtin_expect(cf__fiber_is_watched, 0))
        cf__fiber_watched_switch(from, to, 0);
    else
        cf__fiber_jump(&from->sp, to->sp, &cf__fiber_nothing);
}

/* The same from a fiber that nothing goes back to. */
static inline void cf__fiber_leave(struct cf__fiber *from, const struct cf__fiber *to)
{
    if (__builtin_expect(cf__fiber_is_watched, 0))
        cf__fiber_watched_switch(from, to, 1);
    else
        cf__fiber_jump(&from->sp, to->sp, &cf__fiber_nothing);
}

/* Tells a sanitizer of a fiber that nothing goes back to. */
void cf__fiber_end(const struct cf__fiber *fiber);

/* Frees what a sanitizer keeps of a fiber, and of those that were made in its place before. */
void cf__fiber_forget(struct cf__fiber *fiber);

#endif
