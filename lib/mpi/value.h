/* value.h - a single element of a distributed array, of any type that has reductions. */
#ifndef CF__MPI_VALUE_H
#define CF__MPI_VALUE_H

#include <cuferry/mpi.h>

union cf__mpi_value {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
};

/* Evaluates CALL(float), CALL(double), CALL(int32_t) or CALL(int64_t), depending on the cf_type. */
#define CF__MPI_OF_TYPE(type, CALL)     \
    ((type) == CF_F32   ? CALL(float)   \
     : (type) == CF_F64 ? CALL(double)  \
     : (type) == CF_I32 ? CALL(int32_t) \
                        : CALL(int64_t))

/* Return the sum of two values, in which integers wrap around, and MPI's type for sums. */
union cf__mpi_value cf__mpi_value_add(cf_type type, union cf__mpi_value a, union cf__mpi_value b);
MPI_Datatype cf__mpi_value_type(cf_type type);

#endif
