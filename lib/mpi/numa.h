/* numa.h - the NUMA nodes of the machine, and those that the calling thread may run on. */
#ifndef CF__MPI_NUMA_H
#define CF__MPI_NUMA_H

#include <stddef.h>

/* The kernel's files about nodes. */
#define CF__MPI_NUMA_FOLDER "/sys/devices/system/node"

/* Processors, one bit each. */
enum { CF__MPI_PROCESSORS = 8192 };
struct cf__mpi_processors {
    unsigned char bits[CF__MPI_PROCESSORS / 8];
};

/* A distance is 10 within a node, and greater between nodes. */
enum { CF__MPI_NUMA_NODES = 64, CF__MPI_NUMA_FAR = 1000 };
struct cf__mpi_numa {
    int count; /* of nodes; 0: unknown */
    struct {
        int node;                         /* its number */
        int is_own;                       /* the thread may run there */
        int distance[CF__MPI_NUMA_NODES]; /* to the other nodes, in their order */
    } nodes[CF__MPI_NUMA_NODES];
};

/* Gets the processors that the calling thread may run on. */
void cf__mpi_numa_processors(struct cf__mpi_processors *processors);

/* Reads the files of `folder`. Nodes whose files are missing are left out. */
void cf__mpi_numa_read(struct cf__mpi_numa *numa, const char *folder, const struct cf__mpi_processors *own);

/* Returns the least distance from one of the thread's nodes to `node`; CF__MPI_NUMA_FAR if it is not known. */
int cf__mpi_numa_distance(const struct cf__mpi_numa *numa, int node);

/* Returns 1 if `node` is one of the thread's. */
int cf__mpi_numa_is_own(const struct cf__mpi_numa *numa, int node);

#endif
