/* driver_cpu.h - the CPU driver: an implementation of the driver table on the CPU. */
#ifndef CF__DRIVER_CPU_H
#define CF__DRIVER_CPU_H

#include <stddef.h>
#include <stdio.h>

#include "driver/driver.h"

extern const struct cf__driver cf__driver_cpu;

/* The lock of memory, handles, captures and graphs, for the files of the CPU driver and for fork. */
void cf__cpu_lock(void);
void cf__cpu_unlock(void);

/* ---- For the other files of the driver ---- */

/* Declares a function for each entry of CF__DRIVER_FUNCS. */
#define CF__CPU_DECLARE(name, version, parameters, names) CUresult cf__cpu_##name parameters;
CF__DRIVER_FUNCS(CF__CPU_DECLARE)
#undef CF__CPU_DECLARE

/* The only context, whose address is its handle. */
struct CUctx_st {
    int unused;
};
extern struct CUctx_st cf__cpu_context;

/* Writes the processor's name, read from `info` in the format of /proc/cpuinfo; "CPU" if it has none. */
void cf__cpu_processor_name(FILE *info, char *name, size_t size);

#endif
