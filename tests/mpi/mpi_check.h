/* mpi_check.h - assertions of a test that runs on several ranks. A failure ends all of them, so that none waits. */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry/mpi.h>

#include "cuferry_mpi_kernels.h"
#include "fake_ask.h"

static inline void fail_check(const char *file, int line, const char *text, const char *detail)
{
    int rank = -1, is_running = 0, is_over = 0;
    MPI_Initialized(&is_running);
    MPI_Finalized(&is_over);
    if (is_running && !is_over)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s:%d: rank %d: %s (%s)\n", file, line, rank, text, detail);
    fflush(stderr);
    if (is_running && !is_over)
        MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

#define CHECK(condition) ((condition) ? (void)0 : fail_check(__FILE__, __LINE__, #condition, cf_last_error()))
#define CHECK_OK(call) CHECK((call) == CF_OK)

/* The call fails with this status, and the detail contains this text. */
#define CHECK_FAILS(call, status, text)       \
    do {                                      \
        CHECK((call) == (status));            \
        CHECK(strstr(cf_last_error(), text)); \
    } while (0)

/* Rank and number of ranks of MPI_COMM_WORLD. */
static inline int world_rank(void)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static inline int world_size(void)
{
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/* The played GPU, if it is the driver, gets the kernels before anything is loaded. */
__attribute__((constructor)) static void add_kernels(void)
{
    const char *driver = getenv("CF_DRIVER");
    void *library = driver && strcmp(driver, "cuda") == 0 ? dlopen("libcuda.so.1", RTLD_NOW) : NULL;
    fake_cuda_add_function *add = NULL;
    if (library)
        *(void **)&add = dlsym(library, "fake_cuda_add");
    if (add)
        add(&cfmpi_registry);
}

#endif
