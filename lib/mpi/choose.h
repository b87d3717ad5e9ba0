/* choose.h - which GPU each rank of a machine takes. */
#ifndef CF__MPI_CHOOSE_H
#define CF__MPI_CHOOSE_H

/* A GPU as one rank sees it. GPUs with the same UUID are the same for all ranks. */
struct cf__mpi_gpu {
    char uuid[40];
    int node;     /* the NUMA node next to it; -1: unknown */
    int is_own;   /* the rank runs on that node */
    int distance; /* from the rank's NUMA nodes */
};

/* The GPUs that one rank sees; further ones are ignored. */
enum { CF__MPI_GPUS = 64 };
struct cf__mpi_view {
    int rank; /* in the caller's communicator */
    int count;
    struct cf__mpi_gpu gpus[CF__MPI_GPUS];
};

/* Writes the number of a GPU in its own view for each rank to `choice`; -1 without one. A rank that sees one GPU takes
 * it. Then pairs of a rank and a GPU are made: those with the GPU that has the fewest ranks first, of these the
 * nearest, of these the first in order. */
void cf__mpi_choose(const struct cf__mpi_view *views, int ranks, int *choice);

#endif
