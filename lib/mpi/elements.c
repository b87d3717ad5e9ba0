/* elements.c - launches the kernels of move.cu for elements of one size. */
#include "mpi/elements.h"

#include <stdio.h>

#include <cuferry/registry.h>

#include "cuferry_mpi_kernels.h"

/* Launches the instance of a kernel for elements of this size. */
static int launch(const char *family, size_t bytes, void *const args[])
{
    char name[16];
    (void)snprintf(name, sizeof name, "%s_b%zu", family, bytes * 8);
    return cf_launch(cf_kernel_find(&cfmpi_registry, name), NULL, args);
}

int cf__mpi_elements_pack(size_t bytes, const void *source, const int64_t *from, void *res, int64_t n,
                          int64_t source_length)
{
    return launch("pack", bytes, (void *[]){&source, &from, &res, &n, &source_length});
}

int cf__mpi_elements_unpack(size_t bytes, const void *source, const int64_t *to, void *res, int64_t n,
                            int64_t res_length)
{
    return launch("unpack", bytes, (void *[]){&source, &to, &res, &n, &res_length});
}

int cf__mpi_elements_move(size_t bytes, const void *source, const int64_t *from, const int64_t *to, void *res,
                          int64_t n, int64_t source_length, int64_t res_length)
{
    return launch("move", bytes, (void *[]){&source, &from, &to, &res, &n, &source_length, &res_length});
}
