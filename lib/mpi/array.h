/* array.h - checks distributed arrays, and finds the device on which a rank's part lies. */
#ifndef CF__MPI_ARRAY_H
#define CF__MPI_ARRAY_H

#include "mpi/comm.h"
#include "mpi/value.h"

/* Returns CF_OK if the offsets begin with 0 and never decrease. Otherwise returns CF_EINVAL with a detail that begins
 * with `function` and `owner`, which is "" or "x.". */
int cf__mpi_offsets_check(const char *function, int ranks, const char *owner, const int64_t *offsets);

/* Return CF_OK if this rank's fields of the array are valid. The second function also requires a type that has
 * reductions. The third one requires that y has the offsets and the type of x. Otherwise return CF_EINVAL with a detail
 * that begins with `function` and `name`. */
int cf__mpi_array_check(const char *function, const struct cf__mpi_comm *state, const char *name,
                        const cf_mpi_array *array);
int cf__mpi_array_check_number(const char *function, const struct cf__mpi_comm *state, const char *name,
                               const cf_mpi_array *array);
int cf__mpi_array_check_alike(const char *function, const struct cf__mpi_comm *state, const char *x_name,
                              const cf_mpi_array *x, const char *y_name, const cf_mpi_array *y);

/* Returns the short name of a type for a message, even if the type does not exist. */
const char *cf__mpi_type_text(cf_type type);

/* Returns this rank's number of elements of a valid array. */
int64_t cf__mpi_array_count(const struct cf__mpi_comm *state, const cf_mpi_array *array);

/* Writes the sum of this rank's part, which is computed on the thread's device. */
int cf__mpi_array_sum(const struct cf__mpi_comm *state, const cf_mpi_array *array, union cf__mpi_value *sum);

/* Return a checksum for cf__mpi_agree_on(): `value` extended by bytes, or by those fields of an array that all ranks
 * have in common. */
uint64_t cf__mpi_mix(uint64_t value, const void *data, size_t bytes);
uint64_t cf__mpi_array_mix(uint64_t value, const struct cf__mpi_comm *state, const cf_mpi_array *array);

/* Returns the device for a call with both arrays: a GPU if one of them is in its memory, else CF_HOST. `y` may be
 * NULL. */
int cf__mpi_device_of(const cf_mpi_array *x, const cf_mpi_array *y);

/* Makes the device of an array the thread's device, and writes the previous one. For CF_HOST the thread's device does
 * not change, because plain calls accept host memory on any device. */
int cf__mpi_device_enter(int device, int *previous);

/* Restores the previous device, even if the call failed. Returns `status`, or the status of a failure to restore. */
int cf__mpi_device_leave(int status, int device, int previous);

#endif
