/* check.h - ends all ranks if a call fails. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include <cuferry.h>
#include <cuferry/mpi.h>

#define CHECK(call)                                                              \
    do {                                                                         \
        if ((call) != CF_OK) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cf_last_error()); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                        \
        }                                                                        \
    } while (0)

/* Allocates memory of the calling thread's device. */
static inline void *new_array(size_t bytes)
{
    void *array = NULL;
    CHECK(cf_mem_alloc(&array, bytes));
    return array;
}

/* Allocates host memory; ends the program if there is none. */
static inline void *new_host_array(size_t bytes)
{
    void *array = malloc(bytes ? bytes : 1);
    if (!array)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return array;
}

/* Returns argument number `at`, or the default. */
static inline long long read_argument(int argc, char **argv, int at, long long usual)
{
    return argc > at ? atoll(argv[at]) : usual;
}

#endif
