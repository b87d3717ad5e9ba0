! cuferry_mpi.f90 - kernels over the ranks of an MPI communicator, for Fortran 2018.
!
! It is installed as source: compile it after cuferry.f90 and with the program, and link libcuferry_mpi.a. The functions
! are those of <cuferry/mpi.h>, which describes them. A communicator is an integer, as in the module mpi; with
! the module mpi_f08 it is the component mpi_val of a type(MPI_Comm). Global indices and offsets begin at 0. Pointers to
! arrays are those of c_loc(); device memory is a type(c_ptr). The arguments `result`, `lower` and `upper` are
! real(c_float), real(c_double), integer(c_int32_t) or integer(c_int64_t), as x%type says. CF_EINVAL: they have
! another type, on this rank or on another one.
module cuferry_mpi
    use, intrinsic :: iso_c_binding
    implicit none
    private

    ! The types of elements, cf_type in C.
    integer(c_int), parameter, public :: cf_i8 = 0
    integer(c_int), parameter, public :: cf_i16 = 1
    integer(c_int), parameter, public :: cf_i32 = 2
    integer(c_int), parameter, public :: cf_i64 = 3
    integer(c_int), parameter, public :: cf_u8 = 4
    integer(c_int), parameter, public :: cf_u16 = 5
    integer(c_int), parameter, public :: cf_u32 = 6
    integer(c_int), parameter, public :: cf_u64 = 7
    integer(c_int), parameter, public :: cf_f32 = 8
    integer(c_int), parameter, public :: cf_f64 = 9
    integer(c_int), parameter, public :: cf_bool = 10
    integer(c_int), parameter, public :: cf_f16 = 11
    integer(c_int), parameter, public :: cf_bf16 = 12
    integer(c_int), parameter, public :: cf_c64 = 13
    integer(c_int), parameter, public :: cf_c128 = 14
    integer(c_int), parameter, public :: cf_e4m3 = 15
    integer(c_int), parameter, public :: cf_e5m2 = 16

    integer(c_int), parameter, public :: cf_mpi_transport_mpi = 1
    integer(c_int), parameter, public :: cf_mpi_transport_nccl = 2
    integer(c_int), parameter, public :: cf_mpi_reproducible = 1
    integer(c_int), parameter, public :: cf_mpi_halo_corners = 1

    ! A distributed array. `offsets` and `data` are addresses of arrays that are targets and outlive it.
    type, bind(c), public :: cf_mpi_array
        integer(c_int64_t) :: length
        type(c_ptr) :: offsets
        type(c_ptr) :: data
        integer(c_int) :: type
        integer(c_int) :: device
    end type

    public :: cf_mpi_init, cf_mpi_device, cf_mpi_aware, cf_mpi_transport, cf_mpi_split
    public :: cf_mpi_plan_create, cf_mpi_plan_destroy, cf_mpi_gather, cf_mpi_scatter
    public :: cf_mpi_sum, cf_mpi_dot, cf_mpi_min, cf_mpi_max, cf_mpi_exclusive_scan, cf_mpi_histogram
    public :: cf_mpi_halo_create, cf_mpi_halo_destroy, cf_mpi_halo_start, cf_mpi_halo_finish, cf_mpi_map

    interface
        integer(c_int) function cf_mpi_init() bind(c)
            import
        end function
        integer(c_int) function cf_mpi_aware(comm, aware) bind(c, name='cf_mpi_aware_f')
            import
            integer(c_int), value :: comm
            integer(c_int), intent(out) :: aware
        end function
        integer(c_int) function cf_mpi_split(length, ranks, offsets) bind(c)
            import
            integer(c_int64_t), value :: length
            integer(c_int), value :: ranks
            integer(c_int64_t), intent(out) :: offsets(*)
        end function

        integer(c_int) function cf_mpi_plan_create(plan, comm, offsets, index, count) &
            bind(c, name='cf_mpi_plan_create_f')
            import
            type(c_ptr), intent(out) :: plan
            integer(c_int), value :: comm
            integer(c_int64_t), intent(in) :: offsets(*)
            type(c_ptr), value :: index
            integer(c_int64_t), value :: count
        end function
        integer(c_int) function cf_mpi_plan_destroy(plan) bind(c)
            import
            type(c_ptr), value :: plan
        end function
        integer(c_int) function cf_mpi_gather(plan, source, res) bind(c)
            import
            type(c_ptr), value :: plan
            type(cf_mpi_array), intent(in) :: source
            type(c_ptr), value :: res
        end function
        integer(c_int) function cf_mpi_scatter(plan, source, res) bind(c)
            import
            type(c_ptr), value :: plan, source
            type(cf_mpi_array), intent(in) :: res
        end function

        integer(c_int) function cf_mpi_exclusive_scan(comm, x, y) bind(c, name='cf_mpi_exclusive_scan_f')
            import
            integer(c_int), value :: comm
            type(cf_mpi_array), intent(in) :: x, y
        end function

        integer(c_int) function cf_mpi_halo_create(halo, comm, type, extents, width, flags) &
            bind(c, name='cf_mpi_halo_create_f')
            import
            type(c_ptr), intent(out) :: halo
            integer(c_int), value :: comm, type
            integer(c_int64_t), intent(in) :: extents(*)
            integer(c_int64_t), value :: width
            integer(c_int), value :: flags
        end function
        integer(c_int) function cf_mpi_halo_destroy(halo) bind(c)
            import
            type(c_ptr), value :: halo
        end function
        integer(c_int) function cf_mpi_halo_start(halo, stream, array) bind(c)
            import
            type(c_ptr), value :: halo, stream, array
        end function
        integer(c_int) function cf_mpi_halo_finish(halo) bind(c)
            import
            type(c_ptr), value :: halo
        end function

        ! `kernel` is a descriptor, as a function of the program's C code returns it.
        integer(c_int) function cf_mpi_map(comm, kernel, args) bind(c, name='cf_mpi_map_f')
            import
            integer(c_int), value :: comm
            type(c_ptr), value :: kernel
            type(c_ptr), intent(in) :: args(*)
        end function

        ! The C forms of functions below that have texts as arguments or results.
        integer(c_int) function c_device(comm, device, reason, size) bind(c, name='cf_mpi_device_f')
            import
            integer(c_int), value :: comm
            integer(c_int), intent(out) :: device
            character(kind=c_char), intent(out) :: reason(*)
            integer(c_size_t), value :: size
        end function
        integer(c_int) function c_transport(comm, transport, text, size) bind(c, name='cf_mpi_transport_f')
            import
            integer(c_int), value :: comm
            integer(c_int), intent(out) :: transport
            character(kind=c_char), intent(out) :: text(*)
            integer(c_size_t), value :: size
        end function

        ! The C forms of the generic functions below; `type` is the type of the result, or of both bounds.
        integer(c_int) function c_sum(comm, x, result, type, flags) bind(c, name='cf_mpi_sum_f')
            import
            integer(c_int), value :: comm
            type(cf_mpi_array), intent(in) :: x
            type(*) :: result
            integer(c_int), value :: type, flags
        end function
        integer(c_int) function c_dot(comm, x, y, result, type, flags) bind(c, name='cf_mpi_dot_f')
            import
            integer(c_int), value :: comm
            type(cf_mpi_array), intent(in) :: x, y
            type(*) :: result
            integer(c_int), value :: type, flags
        end function
        integer(c_int) function c_min(comm, x, result, type) bind(c, name='cf_mpi_min_f')
            import
            integer(c_int), value :: comm
            type(cf_mpi_array), intent(in) :: x
            type(*) :: result
            integer(c_int), value :: type
        end function
        integer(c_int) function c_max(comm, x, result, type) bind(c, name='cf_mpi_max_f')
            import
            integer(c_int), value :: comm
            type(cf_mpi_array), intent(in) :: x
            type(*) :: result
            integer(c_int), value :: type
        end function
        integer(c_int) function c_histogram(comm, x, counts, bins, lower, upper, type) &
            bind(c, name='cf_mpi_histogram_f')
            import
            integer(c_int), value :: comm
            type(cf_mpi_array), intent(in) :: x
            integer(c_int64_t), intent(out) :: counts(*)
            integer(c_int64_t), value :: bins
            type(*), intent(in) :: lower, upper
            integer(c_int), value :: type
        end function
    end interface

    interface cf_mpi_sum
        procedure :: sum_f32, sum_f64, sum_i32, sum_i64
    end interface
    interface cf_mpi_dot
        procedure :: dot_f32, dot_f64, dot_i32, dot_i64
    end interface
    interface cf_mpi_min
        procedure :: min_f32, min_f64, min_i32, min_i64
    end interface
    interface cf_mpi_max
        procedure :: max_f32, max_f64, max_i32, max_i64
    end interface
    interface cf_mpi_histogram
        procedure :: histogram_f32, histogram_f64, histogram_i32, histogram_i64
    end interface

contains

    function to_text(letters) result(text)
        character(kind=c_char), intent(in) :: letters(:)
        character(:), allocatable :: text
        integer :: i, length
        length = findloc(letters, c_null_char, dim=1) - 1
        allocate (character(length) :: text)
        do i = 1, length
            text(i:i) = letters(i)
        end do
    end function

    integer(c_int) function cf_mpi_device(comm, device, reason)
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out) :: device
        character(:), allocatable, intent(out), optional :: reason
        character(kind=c_char) :: letters(512)
        letters(1) = c_null_char
        cf_mpi_device = c_device(comm, device, letters, size(letters, kind=c_size_t))
        if (present(reason)) reason = to_text(letters)
    end function

    integer(c_int) function cf_mpi_transport(comm, transport, text)
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out) :: transport
        character(:), allocatable, intent(out), optional :: text
        character(kind=c_char) :: letters(512)
        letters(1) = c_null_char
        cf_mpi_transport = c_transport(comm, transport, letters, size(letters, kind=c_size_t))
        if (present(text)) text = to_text(letters)
    end function

    integer(c_int) function sum_f32(comm, x, result, flags)
        integer(c_int), intent(in) :: comm, flags
        type(cf_mpi_array), intent(in) :: x
        real(c_float), intent(inout) :: result
        sum_f32 = c_sum(comm, x, result, cf_f32, flags)
    end function

    integer(c_int) function sum_f64(comm, x, result, flags)
        integer(c_int), intent(in) :: comm, flags
        type(cf_mpi_array), intent(in) :: x
        real(c_double), intent(inout) :: result
        sum_f64 = c_sum(comm, x, result, cf_f64, flags)
    end function

    integer(c_int) function sum_i32(comm, x, result, flags)
        integer(c_int), intent(in) :: comm, flags
        type(cf_mpi_array), intent(in) :: x
        integer(c_int32_t), intent(inout) :: result
        sum_i32 = c_sum(comm, x, result, cf_i32, flags)
    end function

    integer(c_int) function sum_i64(comm, x, result, flags)
        integer(c_int), intent(in) :: comm, flags
        type(cf_mpi_array), intent(in) :: x
        integer(c_int64_t), intent(inout) :: result
        sum_i64 = c_sum(comm, x, result, cf_i64, flags)
    end function

    integer(c_int) function dot_f32(comm, x, y, result, flags)
        integer(c_int), intent(in) :: comm, flags
        type(cf_mpi_array), intent(in) :: x, y
        real(c_float), intent(inout) :: result
        dot_f32 = c_dot(comm, x, y, result, cf_f32, flags)
    end function

    integer(c_int) function dot_f64(comm, x, y, result, flags)
        integer(c_int), intent(in) :: comm, flags
        type(cf_mpi_array), intent(in) :: x, y
        real(c_double), intent(inout) :: result
        dot_f64 = c_dot(comm, x, y, result, cf_f64, flags)
    end function

    integer(c_int) function dot_i32(comm, x, y, result, flags)
        integer(c_int), intent(in) :: comm, flags
        type(cf_mpi_array), intent(in) :: x, y
        integer(c_int32_t), intent(inout) :: result
        dot_i32 = c_dot(comm, x, y, result, cf_i32, flags)
    end function

    integer(c_int) function dot_i64(comm, x, y, result, flags)
        integer(c_int), intent(in) :: comm, flags
        type(cf_mpi_array), intent(in) :: x, y
        integer(c_int64_t), intent(inout) :: result
        dot_i64 = c_dot(comm, x, y, result, cf_i64, flags)
    end function

    integer(c_int) function min_f32(comm, x, result)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        real(c_float), intent(inout) :: result
        min_f32 = c_min(comm, x, result, cf_f32)
    end function

    integer(c_int) function min_f64(comm, x, result)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        real(c_double), intent(inout) :: result
        min_f64 = c_min(comm, x, result, cf_f64)
    end function

    integer(c_int) function min_i32(comm, x, result)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        integer(c_int32_t), intent(inout) :: result
        min_i32 = c_min(comm, x, result, cf_i32)
    end function

    integer(c_int) function min_i64(comm, x, result)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        integer(c_int64_t), intent(inout) :: result
        min_i64 = c_min(comm, x, result, cf_i64)
    end function

    integer(c_int) function max_f32(comm, x, result)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        real(c_float), intent(inout) :: result
        max_f32 = c_max(comm, x, result, cf_f32)
    end function

    integer(c_int) function max_f64(comm, x, result)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        real(c_double), intent(inout) :: result
        max_f64 = c_max(comm, x, result, cf_f64)
    end function

    integer(c_int) function max_i32(comm, x, result)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        integer(c_int32_t), intent(inout) :: result
        max_i32 = c_max(comm, x, result, cf_i32)
    end function

    integer(c_int) function max_i64(comm, x, result)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        integer(c_int64_t), intent(inout) :: result
        max_i64 = c_max(comm, x, result, cf_i64)
    end function

    integer(c_int) function histogram_f32(comm, x, counts, bins, lower, upper)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        integer(c_int64_t), intent(out) :: counts(*)
        integer(c_int64_t), intent(in) :: bins
        real(c_float), intent(in) :: lower, upper
        histogram_f32 = c_histogram(comm, x, counts, bins, lower, upper, cf_f32)
    end function

    integer(c_int) function histogram_f64(comm, x, counts, bins, lower, upper)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        integer(c_int64_t), intent(out) :: counts(*)
        integer(c_int64_t), intent(in) :: bins
        real(c_double), intent(in) :: lower, upper
        histogram_f64 = c_histogram(comm, x, counts, bins, lower, upper, cf_f64)
    end function

    integer(c_int) function histogram_i32(comm, x, counts, bins, lower, upper)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        integer(c_int64_t), intent(out) :: counts(*)
        integer(c_int64_t), intent(in) :: bins
        integer(c_int32_t), intent(in) :: lower, upper
        histogram_i32 = c_histogram(comm, x, counts, bins, lower, upper, cf_i32)
    end function

    integer(c_int) function histogram_i64(comm, x, counts, bins, lower, upper)
        integer(c_int), intent(in) :: comm
        type(cf_mpi_array), intent(in) :: x
        integer(c_int64_t), intent(out) :: counts(*)
        integer(c_int64_t), intent(in) :: bins
        integer(c_int64_t), intent(in) :: lower, upper
        histogram_i64 = c_histogram(comm, x, counts, bins, lower, upper, cf_i64)
    end function

end module
