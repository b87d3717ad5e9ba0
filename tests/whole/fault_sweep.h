/* fault_sweep.h - the type of the scenes of test_fault.c, and the sweep that makes each driver call and each allocation
 * of a scene fail. */
#ifndef FAULT_SWEEP_H
#define FAULT_SWEEP_H

#include <cuferry.h>

/* A call of the library, with its preparation. Each scene runs on its own thread, and the library is not in use
 * before. */
struct scene {
    const char *name;             /* the tested function, followed by a blank and the circumstances */
    void (*prepare)(void);        /* runs without faults; may be NULL */
    int (*act)(void);             /* makes the call; returns its status */
    int (*is_right)(int is_done); /* returns 1 if data is unchanged or, after success, correct; may be NULL */
    void (*clean)(void);          /* runs without faults, after success and after failure; may be NULL */
    enum {
        COLD = 1,      /* tested only as the first call of the library */
        FRESH = 2,     /* preparation is repeated for each attempt */
        CUDA_ONLY = 4, /* needs a GPU */
        TWO = 32,      /* needs two GPUs */
        ANY = 8,       /* the detail may name any of several failures: threads fail together, or the call continues */
        CAPTURED = 16, /* runs in a capture, which a failure may break */
        LONG = 128,    /* an attempt takes long: swept quickly unless CHECK_LONG is set */
        NVRTC = 256,   /* needs NVRTC */
        LINK = 512,    /* also needs nvJitLink */
        TRACED = 64,   /* with CF_TRACE, whose own failed calls are not reported */
    } flags;
};

/* A driver call whose failure need not make the library's call fail: the driver function, the library's function (NULL:
 * any), and the reason. */
struct tolerated {
    const char *call, *function, *reason;
};

/* Sweeps a scene; prints each error, and returns the number of errors. */
int fault_sweep(const struct scene *scene, const struct tolerated *tolerated);

/* Asserts that a call in prepare() or clean() succeeded. */
#define NEED(call) fault_need(call, #call, __FILE__, __LINE__)
void fault_need(int status, const char *call, const char *file, int line);

/* The numbers of faults and of leaks so far. */
extern long fault_total, leak_total;

#endif
