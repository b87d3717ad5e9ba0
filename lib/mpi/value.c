/* value.c - adds single elements of distributed arrays, and maps their types to MPI's. */
#include "mpi/value.h"

union cf__mpi_value cf__mpi_value_add(cf_type type, union cf__mpi_value a, union cf__mpi_value b)
{
    switch (type) {
    case CF_F32:
        return (union cf__mpi_value){.f32 = a.f32 + b.f32};
    case CF_F64:
        return (union cf__mpi_value){.f64 = a.f64 + b.f64};
    case CF_I32:
        return (union cf__mpi_value){.i32 = (int32_t)((uint32_t)a.i32 + (uint32_t)b.i32)};
    default:
        return (union cf__mpi_value){.i64 = (int64_t)((uint64_t)a.i64 + (uint64_t)b.i64)};
    }
}

MPI_Datatype cf__mpi_value_type(cf_type type)
{
    switch (type) {
    case CF_F32:
        return MPI_FLOAT;
    case CF_F64:
        return MPI_DOUBLE;
    case CF_I32:
        return MPI_UINT32_T;
    default:
        return MPI_UINT64_T;
    }
}
