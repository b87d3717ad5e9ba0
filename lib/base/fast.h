/* fast.h - state that every launch reads. */
#ifndef CF__FAST_H
#define CF__FAST_H

#include <stddef.h>
#include <stdint.h>

struct cf__driver;

/* Functions on the way of every launch: the linker lays them side by side. */
#define CF__HOT __attribute__((hot))

struct cf__capture;

/* What every launch looks at, in a line of the cache of its own; all are atomic. */
extern struct cf__fast_path {
    _Alignas(64) const struct cf__driver *cuda; /* the GPUs' driver, NULL until it is in use */
    int *gpu_page;                              /* in a page that a fork wipes */
    struct cf__capture *captures;               /* that are open, the latest first */
    char *handles;                              /* the range of the CPU's; NULL until the first */
    int slow_path;                              /* what sends launches the long way */
    int is_cuda_default;                        /* GPUs are where calls run by default */
} cf__fast;

/* Whether a stream, an event or a graph is the CPU driver's: its handles come from one reserved range. */
#define CF__HANDLE_RANGE ((size_t)16 << 20)

static inline int cf__cpu_owns(const void *handle)
{
    const char *begin = __atomic_load_n(&cf__fast.handles, __ATOMIC_ACQUIRE);
    return begin && (uintptr_t)handle - (uintptr_t)begin < CF__HANDLE_RANGE;
}

/* ---- GPUs of this process ---- */

/* How GPUs stand in this process, as bits: a call on one goes the long way where it is not CF__GPU_OURS alone. */
enum {
    CF__GPU_OURS = 1,  /* absent in a child whose parent used them */
    CF__GPU_LOST = 2,  /* a context was lost to a fault */
    CF__GPU_RESET = 4, /* a device was reset: handles from before are refused */
};

static inline int cf__gpu_state(void)
{
    return __atomic_load_n(__atomic_load_n(&cf__fast.gpu_page, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);
}

static inline int cf__is_forked(void)
{
    return !(cf__gpu_state() & CF__GPU_OURS);
}

/* CF_EFORK with its detail, for `what` is called. */
int cf__fail_fork(const char *what);

void cf__fork_watch(int is_used);       /* from now on a child has no GPU; 0: takes that back */
void cf__gpu_mark(int bits, int is_on); /* sets or clears CF__GPU_LOST, CF__GPU_RESET */
void cf__fork_wipe_page(void);          /* in a forked child */
void cf__fork_free_page(void);          /* at the end of the shared object */

/* ---- The slow path ---- */

/* What sends every launch the long way, as bits; known once a driver is in use. */
enum {
    CF__SLOW_PATH_POINTERS = 1, /* CF_CHECK=1: cf_launch() checks its pointers */
    CF__SLOW_PATH_TRACE = 2     /* CF_TRACE: launches are recorded */
};

static inline int cf__is_slow_path(int what)
{
    return __atomic_load_n(&cf__fast.slow_path, __ATOMIC_RELAXED) & what;
}

void cf__slow_path(int what, int is_on);

#endif
