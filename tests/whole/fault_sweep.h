/* fault_sweep.h - what a scene of test_fault.c is, and the sweep that fails each driver call and each allocation in
 * it. */
#ifndef FAULT_SWEEP_H
#define FAULT_SWEEP_H

#include <cuferry.h>

/* One call of the library's, with what it needs. Each runs on a thread of its own, with the library not in use yet. */
struct scene {
    const char *name;      /* the function that is swept, and after a blank in what circumstances */
    void (*prepare)(void); /* without faults; may be NULL */
    int (*act)(void);      /* the call; its status */
    int (*is_right)(
        int is_done);    /* whether the data are as they were or, after success, as they have to be; may be NULL */
    void (*clean)(void); /* without faults, whatever became of the call; may be NULL */
    enum {
        COLD = 1,      /* only as the first use of the library */
        FRESH = 2,     /* what was prepared serves one attempt */
        CUDA_ONLY = 4, /* a GPU is needed, */
        TWO = 32,      /* or two */
        ANY = 8,       /* of several failures any has the detail: threads meet them, or the rest goes on after each */
        CAPTURED = 16, /* in a capture, which a failure may break */
        LONG = 128,    /* each attempt takes long: swept quickly, but where CHECK_LONG is set */
        TRACED = 64,   /* with CF_TRACE: what fails may be a call of the trace's, which nobody is told of */
    } flags;
};

/* A failure that a call may survive, with CF_OK: the driver function, the scene's function or NULL for all, and why. */
struct tolerated {
    const char *call, *function, *reason;
};

/* Sweeps a scene; the number of things that were wrong, each of which is printed. */
int fault_sweep(const struct scene *scene, const struct tolerated *tolerated);

/* What prepare() and clean() call must succeed. */
#define NEED(call) fault_need(call, #call, __FILE__, __LINE__)
void fault_need(int status, const char *call, const char *file, int line);

/* All faults and leaks so far. */
extern long fault_total, leak_total;

#endif
