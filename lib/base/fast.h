/* fast.h - state that every launch reads. */
#ifndef CF__FAST_H
#define CF__FAST_H

#include <stddef.h>
#include <stdint.h>

struct cf__capture;
struct cf__driver;

/* Marks functions that every launch calls, so that the linker places them side by side. */
#define CF__HOT __attribute__((hot))

/* The state that every launch reads fills a cache line of its own. All fields are atomic. */
extern struct cf__fast_path {
    _Alignas(64) const struct cf__driver *cuda; /* driver of the GPUs; NULL until the first use */
    int *gpu_page;                              /* state of the GPUs, in a page that fork() wipes */
    struct cf__capture *captures;               /* open captures, the latest first */
    char *handles;                              /* address range of the CPU driver's handles; NULL until the first
                                                 * handle exists */
    int slow_path;                              /* reasons for the slow path, as bits */
    int is_cuda_default;                        /* nonzero if calls run on a GPU by default */
} cf__fast;

/* Size in bytes of the address range that is reserved for the CPU driver's handles. */
#define CF__HANDLE_RANGE ((size_t)16 << 20)

/* Returns 1 if the stream, event or graph belongs to the CPU driver. */
static inline int cf__cpu_owns(const void *handle)
{
    const char *begin = __atomic_load_n(&cf__fast.handles, __ATOMIC_ACQUIRE);
    return begin && (uintptr_t)handle - (uintptr_t)begin < CF__HANDLE_RANGE;
}

/* ---- GPUs of this process ---- */

/* State of the GPUs in this process, as bits. A call on a GPU takes the slow path unless the state is exactly
 * CF__GPU_OURS. */
enum {
    CF__GPU_OURS = 1,  /* the process may use the GPUs; cleared in a child of a process that used them */
    CF__GPU_LOST = 2,  /* a fault has destroyed a context */
    CF__GPU_RESET = 4, /* a device was reset, so handles from before the reset are refused */
};

static inline int cf__gpu_state(void)
{
    return __atomic_load_n(__atomic_load_n(&cf__fast.gpu_page, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);
}

/* Returns 1 in a child that cannot use GPUs because its parent used them. */
static inline int cf__is_forked(void)
{
    return !(cf__gpu_state() & CF__GPU_OURS);
}

/* Sets whether children forked from now on are barred from GPUs. The caller passes 1 before it loads the driver, and 0
 * if loading fails. */
void cf__fork_watch(int is_used);

/* Sets or clears CF__GPU_LOST or CF__GPU_RESET. */
void cf__gpu_mark(int bits, int is_on);

/* Marks the GPUs as unusable in a forked child, for kernels that do not wipe the page. */
void cf__fork_wipe_page(void);

/* Frees the page when the shared object is unloaded. */
void cf__fork_free_page(void);

/* ---- The slow path ---- */

/* Reasons that send every launch to the slow path, as bits. They are set before a driver is in use. */
enum {
    CF__SLOW_PATH_POINTERS = 1, /* CF_CHECK=1: cf_launch() checks its pointers */
    CF__SLOW_PATH_TRACE = 2,    /* CF_TRACE: launches are recorded */
    CF__SLOW_PATH_RANGES = 4    /* kernel calls are reported as ranges to an attached profiler */
};

/* Returns those of `reasons` that apply. */
static inline int cf__is_slow_path(int reasons)
{
    return __atomic_load_n(&cf__fast.slow_path, __ATOMIC_RELAXED) & reasons;
}

/* Sets or clears `reasons`. */
void cf__slow_path_set(int reasons, int is_on);

#endif
