/* fortran.h - functions of <cuferry/mpi.h> that accept Fortran communicators, for the module cuferry_mpi. */
#ifndef CF__MPI_FORTRAN_H
#define CF__MPI_FORTRAN_H

#include <cuferry/mpi.h>

int cf_mpi_device_f(MPI_Fint comm, int *device, char *reason, size_t size);
int cf_mpi_aware_f(MPI_Fint comm, int *aware);
int cf_mpi_transport_f(MPI_Fint comm, int *transport, char *text, size_t size);
int cf_mpi_plan_create_f(cf_mpi_plan **plan, MPI_Fint comm, const int64_t *offsets, const int64_t *index,
                         int64_t count);

/* `type` is the type of the value, or of both bounds. The functions return CF_EINVAL if x has another type. */
int cf_mpi_sum_f(MPI_Fint comm, const cf_mpi_array *x, void *result, cf_type type, unsigned int flags);
int cf_mpi_dot_f(MPI_Fint comm, const cf_mpi_array *x, const cf_mpi_array *y, void *result, cf_type type,
                 unsigned int flags);
int cf_mpi_min_f(MPI_Fint comm, const cf_mpi_array *x, void *result, cf_type type);
int cf_mpi_max_f(MPI_Fint comm, const cf_mpi_array *x, void *result, cf_type type);
int cf_mpi_histogram_f(MPI_Fint comm, const cf_mpi_array *x, int64_t *counts, int64_t bins, const void *lower,
                       const void *upper, cf_type type);

int cf_mpi_exclusive_scan_f(MPI_Fint comm, const cf_mpi_array *x, cf_mpi_array *y);
int cf_mpi_halo_create_f(cf_mpi_halo **halo, MPI_Fint comm, cf_type type, const int64_t *extents, int64_t width,
                         unsigned int flags);
int cf_mpi_map_f(MPI_Fint comm, const struct cf_kernel *kernel, void *const args[]);

#endif
