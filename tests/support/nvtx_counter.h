/* nvtx_counter.h - what the profiler of nvtx_counter.c has seen. */
#ifndef NVTX_COUNTER_H
#define NVTX_COUNTER_H

struct nvtx_counts {
    int domains, depth;
    char domain[32], names[1024]; /* names of all ranges, each with a semicolon */
};
typedef struct nvtx_counts *nvtx_counts_function(void);

#endif
