/* mpi_median.h - medians of times, for the peers that run over MPI. */
#ifndef PEERS_MPI_MEDIAN_H
#define PEERS_MPI_MEDIAN_H

#include <stdlib.h>

#include <mpi.h>

static inline int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts the values. */
static inline double median_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* The median over repetitions of the slowest rank's seconds, on all ranks. Changes `seconds`. */
static inline double median_of_slowest(MPI_Comm comm, double *seconds, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, seconds, count, MPI_DOUBLE, MPI_MAX, comm);
    return median_of(seconds, count);
}

#endif
