/* numa.h - finds the NUMA nodes of the machine, and those that the calling thread may run on. */
#ifndef CF__MPI_NUMA_H
#define CF__MPI_NUMA_H

#include <stddef.h>

/* The folder in which the kernel describes the nodes. */
#define CF__MPI_NUMA_FOLDER "/sys/devices/system/node"

/* A set of processors, with one bit each. */
enum { CF__MPI_PROCESSORS = 8192 };
struct cf__mpi_processors {
    unsigned char bits[CF__MPI_PROCESSORS / 8];
};

/* Distances are 10 within a node, and larger between nodes. */
enum { CF__MPI_NUMA_NODES = 64, CF__MPI_NUMA_FAR = 1000 };
struct cf__mpi_numa {
    int count; /* number of nodes; 0: unknown */
    struct {
        int node;                         /* number of the node */
        int is_own;                       /* 1 if the thread may run on this node */
        int distance[CF__MPI_NUMA_NODES]; /* distance to each node, in the order of the nodes */
    } nodes[CF__MPI_NUMA_NODES];
};

/* Writes the processors that the calling thread may run on. */
void cf__mpi_numa_processors(struct cf__mpi_processors *processors);

/* Reads the files in `folder`. Nodes whose files are missing are skipped. */
void cf__mpi_numa_read(struct cf__mpi_numa *numa, const char *folder, const struct cf__mpi_processors *own);

/* Returns the smallest distance from one of the thread's nodes to `node`, or CF__MPI_NUMA_FAR if it is unknown. */
int cf__mpi_numa_distance(const struct cf__mpi_numa *numa, int node);

/* Returns 1 if the thread may run on `node`. */
int cf__mpi_numa_is_own(const struct cf__mpi_numa *numa, int node);

#endif
