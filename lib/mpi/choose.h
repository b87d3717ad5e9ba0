/* choose.h - chooses which GPU each rank of a machine takes. */
#ifndef CF__MPI_CHOOSE_H
#define CF__MPI_CHOOSE_H

/* A GPU as one rank sees it. GPUs with the same UUID are the same GPU on all ranks. */
struct cf__mpi_gpu {
    char uuid[40];
    int node;     /* number of the nearest NUMA node; -1: unknown */
    int is_own;   /* 1 if the rank runs on that node */
    int distance; /* distance from the rank's NUMA nodes */
};

/* The GPUs that one rank sees. GPUs beyond the maximum are ignored. */
enum { CF__MPI_GPUS = 64 };
struct cf__mpi_view {
    int rank; /* rank in the caller's communicator */
    int count;
    struct cf__mpi_gpu gpus[CF__MPI_GPUS];
};

/* Writes to `choice` the number of each rank's GPU in that rank's own view, or -1. A rank that sees only one GPU takes
 * it. Then the other ranks and GPUs are paired: pairs whose GPU has fewer ranks come first, then pairs at a shorter
 * distance, then lower ranks. */
void cf__mpi_choose(const struct cf__mpi_view *views, int ranks, int *choice);

#endif
