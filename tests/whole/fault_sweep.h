/* fault_sweep.h - the type of a scene of test_fault.c, and the sweep that fails each driver call and each allocation in
 * a scene. */
#ifndef FAULT_SWEEP_H
#define FAULT_SWEEP_H

#include <cuferry.h>

/* One call of the library with its preparation. Each scene runs on its own thread, with the library not in use yet. */
struct scene {
    const char *name;             /* the function under test, then a blank and the circumstances */
    void (*prepare)(void);        /* without faults; may be NULL */
    int (*act)(void);             /* the call; its status */
    int (*is_right)(int is_done); /* checks that data are unchanged or, after success, correct; may be NULL */
    void (*clean)(void);          /* without faults, after success and failure; may be NULL */
    enum {
        COLD = 1,      /* only as the first call of the library */
        FRESH = 2,     /* the prepared state serves one attempt */
        CUDA_ONLY = 4, /* needs a GPU */
        TWO = 32,      /* needs two GPUs */
        ANY = 8,       /* the detail may name any of several failures: threads fail together, or the call goes on */
        CAPTURED = 16, /* in a capture, which a failure may break */
        LONG = 128,    /* each attempt takes long: swept quickly unless CHECK_LONG is set */
        NVRTC = 256,   /* needs NVRTC */
        LINK = 512,    /* needs nvJitLink, too */
        TRACED = 64,   /* with CF_TRACE: a failed call may be the trace's, which is not reported */
    } flags;
};

/* A failure that a call may survive with CF_OK: the driver function, the function of the scene (NULL: all) and the
 * reason. */
struct tolerated {
    const char *call, *function, *reason;
};

/* Sweeps a scene; prints each error and returns their number. */
int fault_sweep(const struct scene *scene, const struct tolerated *tolerated);

/* Calls in prepare() and clean() have to succeed. */
#define NEED(call) fault_need(call, #call, __FILE__, __LINE__)
void fault_need(int status, const char *call, const char *file, int line);

/* All faults and leaks so far. */
extern long fault_total, leak_total;

#endif
