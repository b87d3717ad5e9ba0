! fortran.f90 - the functions of the module cuferry_mpi, compared with intrinsics; and errors.
program fortran
    use, intrinsic :: iso_c_binding
    use mpi
    use cuferry
    use cuferry_mpi
    implicit none
    integer, parameter :: length = 70001
    integer(c_int64_t), target :: x(length), few(length)
    real(c_double), target :: numbers(length), res(length)
    integer(c_int64_t), allocatable, target :: offsets(:), y(:)
    integer :: ranks, rank, i, code
    type(cf_mpi_array), target :: of_x, of_y, of_numbers

    interface
        ! A kernel's descriptor in the library, declared as a procedure because only its address is needed.
        subroutine axpy() bind(c, name='cf__k_axpy_f64')
        end subroutine
    end interface

    call expect(cf_mpi_init(), 'init')
    call mpi_comm_size(MPI_COMM_WORLD, ranks, code)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, code)
    x = [(int(mod(7919_c_int64_t * i, 1000_c_int64_t), c_int64_t), i=1, length)]
    numbers = real(x, c_double) / 4
    few = 1 + mod(x, 8_c_int64_t) ! with sums and products that are exact in all types
    allocate (offsets(ranks + 1), y(length))
    offsets = [(int(length, c_int64_t) * i / ranks, i=0, ranks)]
    of_x = cf_mpi_array(length, c_loc(offsets), c_loc(x(first())), cf_i64, cf_host)
    of_y = cf_mpi_array(length, c_loc(offsets), c_loc(y(first())), cf_i64, cf_host)
    of_numbers = cf_mpi_array(length, c_loc(offsets), c_loc(numbers(first())), cf_f64, cf_host)
    call refuse()
    call reduce_f32()
    call reduce_f64()
    call reduce_i32()
    call reduce_i64()
    call scan()
    call describe()
    call move()
    call map()
    call exchange()
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

    ! The middle one of three values is of another type than the array, on all ranks (`who` is -1) or on one of them.
    ! Every rank gets the error, and no value is written.
    subroutine refuse()
        real(c_float) :: f32(3)
        integer(c_int32_t) :: i32(3)
        real(c_double) :: f64(3)
        integer(c_int64_t) :: i64(3), counts(4)
        integer(c_int) :: status(6)
        integer :: who
        do who = -1, ranks - 1
            f32 = -1
            i32 = -1
            f64 = -1
            i64 = -1
            counts = -1
            if (who < 0 .or. who == rank) then
                status(1) = cf_mpi_sum(MPI_COMM_WORLD, of_numbers, f32(2), 0)
                call check_refusal(who, 'cf_mpi_sum: result is real(c_float), and x has type f64')
                status(2) = cf_mpi_sum(MPI_COMM_WORLD, of_x, i32(2), cf_mpi_reproducible)
                call check_refusal(who, 'cf_mpi_sum: result is integer(c_int32_t), and x has type i64')
                status(3) = cf_mpi_dot(MPI_COMM_WORLD, of_numbers, of_numbers, i64(2), 0)
                call check_refusal(who, 'cf_mpi_dot: result is integer(c_int64_t), and x has type f64')
                status(4) = cf_mpi_min(MPI_COMM_WORLD, of_x, f64(2))
                call check_refusal(who, 'cf_mpi_min: result is real(c_double), and x has type i64')
                status(5) = cf_mpi_max(MPI_COMM_WORLD, of_numbers, f32(2))
                call check_refusal(who, 'cf_mpi_max: result is real(c_float), and x has type f64')
                status(6) = cf_mpi_histogram(MPI_COMM_WORLD, of_x, counts, 4_c_int64_t, 0d0, 200d0)
            else
                status(1) = cf_mpi_sum(MPI_COMM_WORLD, of_numbers, f64(2), 0)
                status(2) = cf_mpi_sum(MPI_COMM_WORLD, of_x, i64(2), cf_mpi_reproducible)
                status(3) = cf_mpi_dot(MPI_COMM_WORLD, of_numbers, of_numbers, f64(2), 0)
                status(4) = cf_mpi_min(MPI_COMM_WORLD, of_x, i64(2))
                status(5) = cf_mpi_max(MPI_COMM_WORLD, of_numbers, f64(2))
                status(6) = cf_mpi_histogram(MPI_COMM_WORLD, of_x, counts, 4_c_int64_t, 0_c_int64_t, 200_c_int64_t)
            end if
            call check_refusal(who, 'cf_mpi_histogram: lower and upper are real(c_double), and x has type i64')
            call check(all(status == cf_einval), 'statuses of values of another type')
            call check(all(nint(f32) == -1 .and. i32 == -1 .and. nint(f64) == -1 .and. i64 == -1), 'values of no type')
            call check(all(counts == -1), 'counts without bounds')
        end do
    end subroutine

    subroutine check_refusal(who, text)
        integer, intent(in) :: who
        character(*), intent(in) :: text
        character(12) :: place
        write (place, '(i0)') max(who, 0)
        call check(cf_last_error() == 'rank ' // trim(place) // ': ' // text, text)
    end subroutine

    subroutine reduce_f32()
        real(c_float), allocatable, target :: values(:)
        real(c_float) :: found(5)
        integer(c_int64_t) :: counts(2)
        type(cf_mpi_array) :: array
        allocate (values, source=real(few, c_float))
        array = cf_mpi_array(length, c_loc(offsets), c_loc(values(first())), cf_f32, cf_host)
        call expect(cf_mpi_sum(MPI_COMM_WORLD, array, found(1), 0), 'sum of f32')
        call expect(cf_mpi_sum(MPI_COMM_WORLD, array, found(2), cf_mpi_reproducible), 'reproducible sum of f32')
        call expect(cf_mpi_dot(MPI_COMM_WORLD, array, array, found(3), 0), 'dot of f32')
        call expect(cf_mpi_min(MPI_COMM_WORLD, array, found(4)), 'min of f32')
        call expect(cf_mpi_max(MPI_COMM_WORLD, array, found(5)), 'max of f32')
        call expect(cf_mpi_histogram(MPI_COMM_WORLD, array, counts, 2_c_int64_t, 2.0_c_float, 8.0_c_float), &
                    'histogram of f32')
        call check_values(nint(found, c_int64_t), counts, 'f32')
    end subroutine

    subroutine reduce_f64()
        real(c_double), allocatable, target :: values(:)
        real(c_double) :: found(5)
        integer(c_int64_t) :: counts(2)
        type(cf_mpi_array) :: array
        allocate (values, source=real(few, c_double))
        array = cf_mpi_array(length, c_loc(offsets), c_loc(values(first())), cf_f64, cf_host)
        call expect(cf_mpi_sum(MPI_COMM_WORLD, array, found(1), 0), 'sum of f64')
        call expect(cf_mpi_sum(MPI_COMM_WORLD, array, found(2), cf_mpi_reproducible), 'reproducible sum of f64')
        call expect(cf_mpi_dot(MPI_COMM_WORLD, array, array, found(3), 0), 'dot of f64')
        call expect(cf_mpi_min(MPI_COMM_WORLD, array, found(4)), 'min of f64')
        call expect(cf_mpi_max(MPI_COMM_WORLD, array, found(5)), 'max of f64')
        call expect(cf_mpi_histogram(MPI_COMM_WORLD, array, counts, 2_c_int64_t, 2.0_c_double, 8.0_c_double), &
                    'histogram of f64')
        call check_values(nint(found, c_int64_t), counts, 'f64')
    end subroutine

    subroutine reduce_i32()
        integer(c_int32_t), allocatable, target :: values(:)
        integer(c_int32_t) :: found(5)
        integer(c_int64_t) :: counts(2)
        type(cf_mpi_array) :: array
        allocate (values, source=int(few, c_int32_t))
        array = cf_mpi_array(length, c_loc(offsets), c_loc(values(first())), cf_i32, cf_host)
        call expect(cf_mpi_sum(MPI_COMM_WORLD, array, found(1), 0), 'sum of i32')
        call expect(cf_mpi_sum(MPI_COMM_WORLD, array, found(2), cf_mpi_reproducible), 'reproducible sum of i32')
        call expect(cf_mpi_dot(MPI_COMM_WORLD, array, array, found(3), 0), 'dot of i32')
        call expect(cf_mpi_min(MPI_COMM_WORLD, array, found(4)), 'min of i32')
        call expect(cf_mpi_max(MPI_COMM_WORLD, array, found(5)), 'max of i32')
        call expect(cf_mpi_histogram(MPI_COMM_WORLD, array, counts, 2_c_int64_t, 2_c_int32_t, 8_c_int32_t), &
                    'histogram of i32')
        call check_values(int(found, c_int64_t), counts, 'i32')
    end subroutine

    subroutine reduce_i64()
        integer(c_int64_t), allocatable, target :: values(:)
        integer(c_int64_t) :: found(5)
        integer(c_int64_t) :: counts(2)
        type(cf_mpi_array) :: array
        allocate (values, source=int(few, c_int64_t))
        array = cf_mpi_array(length, c_loc(offsets), c_loc(values(first())), cf_i64, cf_host)
        call expect(cf_mpi_sum(MPI_COMM_WORLD, array, found(1), 0), 'sum of i64')
        call expect(cf_mpi_sum(MPI_COMM_WORLD, array, found(2), cf_mpi_reproducible), 'reproducible sum of i64')
        call expect(cf_mpi_dot(MPI_COMM_WORLD, array, array, found(3), 0), 'dot of i64')
        call expect(cf_mpi_min(MPI_COMM_WORLD, array, found(4)), 'min of i64')
        call expect(cf_mpi_max(MPI_COMM_WORLD, array, found(5)), 'max of i64')
        call expect(cf_mpi_histogram(MPI_COMM_WORLD, array, counts, 2_c_int64_t, 2_c_int64_t, 8_c_int64_t), &
                    'histogram of i64')
        call check_values(int(found, c_int64_t), counts, 'i64')
    end subroutine

    subroutine check_values(found, counts, type)
        integer(c_int64_t), intent(in) :: found(5), counts(2)
        character(*), intent(in) :: type
        call check(all(found(:2) == sum(few)), 'value of sum of ' // type)
        call check(found(3) == dot_product(few, few), 'value of dot of ' // type)
        call check(found(4) == minval(few), 'value of min of ' // type)
        call check(found(5) == maxval(few), 'value of max of ' // type)
        call check(all(counts == [count(few >= 2 .and. few < 5), count(few >= 5 .and. few < 8)]), &
                   'counts of histogram of ' // type)
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

    subroutine describe()
        integer(c_int) :: aware, transport
        character(:), allocatable :: text
        aware = -1
        call expect(cf_mpi_aware(MPI_COMM_WORLD, aware), 'aware')
        call check(aware == 0 .or. aware == 1, 'value of aware')
        call expect(cf_mpi_transport(MPI_COMM_WORLD, transport, text), 'transport')
        call check(transport == cf_mpi_transport_mpi, 'value of transport')
        call check(text == 'MPI: the device of rank 0 is the CPU', 'text of transport')
    end subroutine

    ! Gathers elements of x, and scatters indices to y. The length is a prime, so that the indices differ.
    subroutine move()
        integer, parameter :: count = 100
        integer(c_int64_t), target :: places(count), got(count)
        integer(c_int64_t) :: written, total
        type(c_ptr) :: plan
        places = [(mod(7919_c_int64_t * (rank * count + i), int(length, c_int64_t)), i=1, count)]
        got = -1
        call expect(cf_mpi_plan_create(plan, MPI_COMM_WORLD, offsets, c_loc(places), int(count, c_int64_t)), 'plan')
        call expect(cf_mpi_gather(plan, of_x, c_loc(got)), 'gather')
        call check(all(got == x(places + 1)), 'values of gather')
        y = -1
        call expect(cf_mpi_scatter(plan, c_loc(places), of_y), 'scatter')
        do i = 1, length
            call check(y(i) == -1 .or. y(i) == i - 1, 'values of scatter')
        end do
        written = sum(merge(1, 0, y /= -1))
        call mpi_allreduce(written, total, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, code)
        call check(total == count * ranks, 'number of values of scatter')
        call expect(cf_mpi_plan_destroy(plan), 'destroy plan')
    end subroutine

    ! Adds twice the numbers to their copy, by a kernel that has the length.
    subroutine map()
        real(c_double), target :: twice
        integer(c_int64_t), target :: n
        type(cf_mpi_array), target :: of_res
        type(c_funptr) :: kernel
        res = numbers
        n = length
        twice = 2
        kernel = c_funloc(axpy)
        of_res = of_numbers
        of_res%data = c_loc(res(first()))
        call expect(cf_mpi_map(MPI_COMM_WORLD, transfer(kernel, c_null_ptr), &
                               [c_loc(twice), c_loc(of_numbers), c_loc(of_res), c_loc(n)]), 'map')
        do i = 1, length
            n = merge(3, 1, i >= first() .and. i <= offsets(rank + 2))
            call check(nint(4 * res(i), c_int64_t) == n * x(i), 'values of map')
        end do
    end subroutine

    ! Cells of a ring of ranks have their numbers, and so have ghost cells at both ends.
    subroutine exchange()
        integer, parameter :: extent = 10, width = 2
        integer(c_int64_t), target :: cells(extent + 2 * width)
        integer(c_int64_t) :: wanted(extent + 2 * width)
        type(c_ptr) :: halo
        integer :: ring
        call mpi_cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, code)
        wanted = [(modulo(rank * extent + i - width, ranks * extent), i=0, size(wanted) - 1)]
        cells = -1
        cells(width + 1:width + extent) = wanted(width + 1:width + extent)
        call expect(cf_mpi_halo_create(halo, ring, cf_i64, [int(extent, c_int64_t)], int(width, c_int64_t), &
                                       cf_mpi_halo_corners), 'halo')
        call expect(cf_mpi_halo_start(halo, c_null_ptr, c_loc(cells)), 'start')
        call expect(cf_mpi_halo_finish(halo), 'finish')
        call expect(cf_stream_sync(c_null_ptr), 'stream')
        call check(all(cells == wanted), 'ghost cells')
        call expect(cf_mpi_halo_destroy(halo), 'destroy halo')
        call mpi_comm_free(ring, code)
    end subroutine

    subroutine errors()
        integer(c_int64_t) :: found
        real(c_float) :: another
        of_x%type = cf_u64
        call check(cf_mpi_sum(MPI_COMM_WORLD, of_x, found, 0) == cf_einval, 'status of an unsigned type')
        call check(cf_last_error() == 'rank 0: cf_mpi_sum: x has type u64; it is f32, f64, i32 or i64', &
                   'text of a type')
        of_x%type = cf_i64
        of_x%data = c_null_ptr
        call check(cf_mpi_sum(MPI_COMM_WORLD, of_x, found, 0) == cf_einval, 'status of an error')
        call check(index(cf_last_error(), 'rank 0: cf_mpi_sum: x.data is NULL') == 1, 'text of an error')
        call check(cf_mpi_sum(MPI_COMM_NULL, of_x, found, 0) == cf_einval, 'status of MPI_COMM_NULL')
        call check(cf_mpi_min(MPI_COMM_NULL, of_x, another) == cf_einval, 'status of MPI_COMM_NULL and another type')
    end subroutine

end program
