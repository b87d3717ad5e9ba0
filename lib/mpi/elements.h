/* elements.h - copies elements of 1, 2, 4, 8 or 16 bytes by index, with the kernels of move.cu. */
#ifndef CF__MPI_ELEMENTS_H
#define CF__MPI_ELEMENTS_H

#include <cuferry.h>
#include <cuferry/registry.h>

/* Returns CF_OK if elements of this type can be copied. Otherwise returns CF_EINVAL with a detail that begins with
 * `function` and `name`. */
int cf__mpi_elements_check(const char *function, const char *name, cf_type type);

/* Returns the kernel of a family, such as "pack", for elements of `bytes` bytes. */
const struct cf_kernel *cf__mpi_elements_kernel(const char *family, size_t bytes);

/* Enqueue copies of `n` elements of `bytes` bytes on the default stream: res[i] = source[from[i]], res[to[i]] =
 * source[i], or res[to[i]] = source[from[i]]. `source_length` and `res_length` are the lengths of indexed arrays. The
 * first two functions skip elements whose from[i] or to[i] is -1; with `fill`, the first writes zeros instead. */
int cf__mpi_elements_pack(size_t bytes, const void *source, const int64_t *from, void *res, int64_t n,
                          int64_t source_length, bool fill);
int cf__mpi_elements_unpack(size_t bytes, const void *source, const int64_t *to, void *res, int64_t n,
                            int64_t res_length);
int cf__mpi_elements_move(size_t bytes, const void *source, const int64_t *from, const int64_t *to, void *res,
                          int64_t n, int64_t source_length, int64_t res_length);

#endif
