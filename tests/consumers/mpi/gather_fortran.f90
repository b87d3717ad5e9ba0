! gather_fortran.f90 - gathers elements of an array that is distributed over all ranks; compares with one rank's array.
program gather_fortran
    use, intrinsic :: iso_c_binding
    use mpi
    use cuferry
    use cuferry_mpi
    implicit none
    integer(c_int64_t), parameter :: m = 1048576, n = 262144
    integer(c_int64_t), allocatable, target :: elements(:), indices(:), index(:)
    real(c_double), allocatable, target :: whole(:), got(:)
    type(cf_mpi_array) :: source
    type(c_ptr) :: plan, res
    integer(c_int64_t) :: i, first, count, matches, all
    integer(c_int) :: device
    integer :: rank, ranks, code

    call check(cf_mpi_init())
    call check(cf_mpi_device(MPI_COMM_WORLD, device))
    call mpi_comm_rank(MPI_COMM_WORLD, rank, code)
    call mpi_comm_size(MPI_COMM_WORLD, ranks, code)
    allocate (elements(ranks + 1), indices(ranks + 1))
    call check(cf_mpi_split(m, int(ranks, c_int), elements))
    call check(cf_mpi_split(n, int(ranks, c_int), indices))
    whole = [(sqrt(real(i, c_double)), i=0, m - 1)]
    first = indices(rank + 1)
    count = indices(rank + 2) - first
    index = [(mod(i * 7368787_c_int64_t, m), i=first, first + count - 1)]
    allocate (got(count))

    source = cf_mpi_array(m, c_loc(elements), c_null_ptr, cf_f64, device)
    source%data = to_device(whole(elements(rank + 1) + 1:elements(rank + 2)))
    call check(cf_mem_alloc(res, int(8 * count, c_size_t)))
    call check(cf_mpi_plan_create(plan, MPI_COMM_WORLD, elements, c_loc(index), count))
    call check(cf_mpi_gather(plan, source, res))
    call check(cf_mem_copy(c_loc(got), res, int(8 * count, c_size_t)))
    matches = sum(merge(1_c_int64_t, 0_c_int64_t, abs(got - whole(index + 1)) <= 0))
    call mpi_reduce(matches, all, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, code)
    if (rank == 0) print '(i0, a, i0, a)', all, ' of ', n, ' match'

    call check(cf_mpi_plan_destroy(plan))
    call check(cf_mem_free(source%data))
    call check(cf_mem_free(res))
    call mpi_finalize(code)

contains

    function to_device(values) result(array)
        real(c_double), intent(in), contiguous, target :: values(:)
        type(c_ptr) :: array
        call check(cf_mem_alloc(array, int(8 * size(values), c_size_t)))
        call check(cf_mem_copy(array, c_loc(values), int(8 * size(values), c_size_t)))
    end function

    subroutine check(status)
        integer(c_int), intent(in) :: status
        if (status == cf_ok) return
        print '(a)', cf_last_error()
        call mpi_abort(MPI_COMM_WORLD, 1, code)
    end subroutine

end program
