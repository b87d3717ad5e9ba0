! fortran.f90 - the module cuferry_mpi: reductions, a scan and a histogram, compared with intrinsics; and errors.
program fortran
    use, intrinsic :: iso_c_binding
    use mpi
    use cuferry
    use cuferry_mpi
    implicit none
    integer, parameter :: length = 70001
    integer(c_int64_t), target :: x(length)
    real(c_double), target :: numbers(length)
    integer(c_int64_t), allocatable, target :: offsets(:), y(:)
    integer :: ranks, rank, i, code
    type(cf_mpi_array) :: of_x, of_y, of_numbers

    call expect(cf_mpi_init(), 'init')
    call mpi_comm_size(MPI_COMM_WORLD, ranks, code)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, code)
    x = [(int(mod(7919_c_int64_t * i, 1000_c_int64_t), c_int64_t), i=1, length)]
    numbers = real(x, c_double) / 4
    allocate (offsets(ranks + 1), y(length))
    offsets = [(int(length, c_int64_t) * i / ranks, i=0, ranks)]
    of_x = cf_mpi_array(length, c_loc(offsets), c_loc(x(first())), cf_i64, cf_host)
    of_y = cf_mpi_array(length, c_loc(offsets), c_loc(y(first())), cf_i64, cf_host)
    of_numbers = cf_mpi_array(length, c_loc(offsets), c_loc(numbers(first())), cf_f64, cf_host)
    call reduce()
    call scan()
    call count_bins()
    call errors()
    call mpi_finalize(code)

contains

    integer function first()
        first = int(offsets(rank + 1)) + 1
    end function

    subroutine check(is_right, what)
        logical, intent(in) :: is_right
        character(*), intent(in) :: what
        if (is_right) return
        print '(a, i0, 4a)', 'rank ', rank, ': ', what, ': ', cf_last_error()
        call mpi_abort(MPI_COMM_WORLD, 1, code)
    end subroutine

    subroutine expect(status, what)
        integer(c_int), intent(in) :: status
        character(*), intent(in) :: what
        call check(status == cf_ok, what)
    end subroutine

    subroutine reduce()
        integer(c_int64_t) :: found
        real(c_double) :: number
        found = -1
        call expect(cf_mpi_sum(MPI_COMM_WORLD, of_x, found, 0), 'sum')
        call check(found == sum(x), 'value of sum')
        call expect(cf_mpi_dot(MPI_COMM_WORLD, of_x, of_x, found, cf_mpi_reproducible), 'dot')
        call check(found == dot_product(x, x), 'value of dot')
        ! Multiples of a quarter have exact sums.
        call expect(cf_mpi_sum(MPI_COMM_WORLD, of_numbers, number, cf_mpi_reproducible), 'sum of floats')
        call check(nint(4 * number, c_int64_t) == sum(x), 'value of the sum of floats')
        call expect(cf_mpi_min(MPI_COMM_WORLD, of_x, found), 'min')
        call check(found == minval(x), 'value of min')
        call expect(cf_mpi_max(MPI_COMM_WORLD, of_x, found), 'max')
        call check(found == maxval(x), 'value of max')
    end subroutine

    subroutine scan()
        integer(c_int64_t) :: total
        y = -1
        call expect(cf_mpi_exclusive_scan(MPI_COMM_WORLD, of_x, of_y), 'scan')
        total = sum(x(:first() - 1))
        do i = first(), int(offsets(rank + 2))
            call check(y(i) == total, 'value of scan')
            total = total + x(i)
        end do
    end subroutine

    subroutine count_bins()
        integer(c_int64_t) :: counts(4)
        counts = -1
        call expect(cf_mpi_histogram(MPI_COMM_WORLD, of_numbers, counts, 4_c_int64_t, 0d0, 200d0), 'histogram')
        call check(all(counts == [(count(x >= 200 * (i - 1) .and. x < 200 * i), i=1, 4)]), 'counts of the histogram')
    end subroutine

    subroutine errors()
        integer(c_int64_t) :: found
        of_x%data = c_null_ptr
        call check(cf_mpi_sum(MPI_COMM_WORLD, of_x, found, 0) == cf_einval, 'status of an error')
        call check(index(cf_last_error(), 'rank 0: cf_mpi_sum: x.data is NULL') == 1, 'text of an error')
        call check(cf_mpi_sum(MPI_COMM_NULL, of_x, found, 0) == cf_einval, 'status of MPI_COMM_NULL')
    end subroutine

end program
