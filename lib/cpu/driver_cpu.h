/* driver_cpu.h - the CPU as a driver. */
#ifndef CF__DRIVER_CPU_H
#define CF__DRIVER_CPU_H

#include <stddef.h>
#include <stdio.h>

#include "driver/driver.h"

/* The CPU as a driver. */
extern const struct cf__driver cf__driver_cpu;

/* The lock of its memory and handles, for fork. */
void cf__cpu_lock(void);
void cf__cpu_unlock(void);

/* ---- For the other files of the driver ---- */

/* Every function of the driver's list. */
#define CF__CPU_DECLARE(name, version, parameters, names) CUresult cf__cpu_##name parameters;
CF__DRIVER_FUNCS(CF__CPU_DECLARE)
#undef CF__CPU_DECLARE

/* The only context; its address is what counts. */
struct CUctx_st {
    int unused;
};
extern struct CUctx_st cf__cpu_context;

/* The processor's name, by what the system says in the form of /proc/cpuinfo. */
void cf__cpu_processor(FILE *info, char *name, size_t size);

#endif
