/* elements.c - finds and launches kernels for elements of a given size. */
#include "mpi/elements.h"

#include <stdio.h>

#include <cuferry/registry.h>

#include "cuferry_mpi_kernels.h"
#include "mpi/agree.h"
#include "mpi/array.h"

int cf__mpi_elements_check(const char *function, const char *name, cf_type type)
{
    if (type != CF_PTR && type != CF_OPAQUE && cf_type_size(type))
        return CF_OK;
    return cf__mpi_fail(CF_EINVAL, "%s: %s has type %s (%d); elements are numbers of 1, 2, 4, 8 or 16 bytes", function,
                        name, cf__mpi_type_text(type), (int)type);
}

const struct cf_kernel *cf__mpi_elements_kernel(const char *family, size_t bytes)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%s_b%zu", family, bytes * 8);
    return cf_kernel_find(&cfmpi_registry, name);
}

static int launch(const char *family, size_t bytes, void *const args[])
{
    return cf_launch(cf__mpi_elements_kernel(family, bytes), NULL, args);
}

int cf__mpi_elements_pack(size_t bytes, const void *source, const int64_t *from, void *res, int64_t n,
                          int64_t source_length, bool fill)
{
    return launch("pack", bytes, (void *[]){&source, &from, &res, &n, &source_length, &fill});
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
