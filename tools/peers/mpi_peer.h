/* mpi_peer.h - checked calls, memory and medians of times, for the comparisons that use MPI. */
#ifndef PEERS_MPI_PEER_H
#define PEERS_MPI_PEER_H

#include <stdio.h>
#include <stdlib.h>

#include <cuferry/mpi.h>

/* Prints the text and ends all ranks. */
static inline void fail(const char *text)
{
    fprintf(stderr, "peers-mpi: %s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void check(int status)
{
    if (status != CF_OK)
        fail(cf_last_error());
}

static inline void *alloc_host(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        fail("no memory");
    return memory;
}

static inline void *alloc_device(size_t bytes)
{
    void *memory = NULL;
    check(cf_mem_alloc(&memory, bytes));
    return memory;
}

static inline int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Returns the median, and sorts the values. */
static inline double median_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* Returns, on all ranks, the median over repetitions of the slowest rank's seconds. Changes `seconds`. */
static inline double median_of_slowest(MPI_Comm comm, double *seconds, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, seconds, count, MPI_DOUBLE, MPI_MAX, comm);
    return median_of(seconds, count);
}

#endif
