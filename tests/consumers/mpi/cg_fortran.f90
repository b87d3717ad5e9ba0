! cg_fortran.f90 - conjugate gradients for the 7-point Laplacian of an n x n x n grid. The sums are reproducible, so
! that the residuals have the same bits on any number of ranks; they are compared with those of one rank.
!
! usage: mpiexec -n RANKS cg_fortran [n]       41 without arguments
module laplacian
    use, intrinsic :: iso_c_binding
    use mpi
    use cuferry
    use cuferry_kernels
    use cuferry_mpi
    implicit none
    private

    integer, parameter, public :: most_steps = 500
    integer, parameter :: points = 7, bytes_of_float = 8, bytes_of_index = 4
    public :: solve, check

    ! The rows of the matrix that lie on this rank. The columns are those of a vector that has the rank's own elements
    ! first, followed by copies of the other elements that its rows need.
    type matrix
        integer :: comm
        integer(c_int) :: device
        integer(c_int64_t) :: n, length, first, rows, others, entries
        integer(c_int64_t), pointer :: offsets(:) ! first row of each rank
        type(c_ptr) :: row_ptr, col, val          ! device memory
        type(c_ptr) :: plan                       ! gathers the other elements
    end type

contains

    ! ---- The matrix ----

    ! Returns the columns of a row in ascending order. Rows and columns begin with 0.
    function list_columns(row, n) result(columns)
        integer(c_int64_t), intent(in) :: row, n
        integer(c_int64_t), allocatable :: columns(:)
        integer(c_int64_t) :: x, y, z
        x = mod(row, n)
        y = mod(row / n, n)
        z = row / n / n
        columns = pack([row - n * n, row - n, row - 1, row, row + 1, row + n, row + n * n], &
                       [z > 0, y > 0, x > 0, .true., x < n - 1, y < n - 1, z < n - 1])
    end function

    ! Lists the columns of other ranks in ascending order, and places each column at its index in the rank's vector. The
    ! columns of this rank's rows lie at most one plane away. c_loc() accepts no empty array, so there is a spare
    ! element.
    subroutine place_columns(a, places, others)
        type(matrix), intent(inout) :: a
        integer(c_int32_t), allocatable, intent(out) :: places(:)
        integer(c_int64_t), allocatable, intent(out) :: others(:)
        integer(c_int64_t) :: i, last
        last = a%first + a%rows - 1
        allocate (places(a%first - a%n**2:last + a%n**2), source=-1_c_int32_t)
        do i = a%first, last
            places(list_columns(i, a%n)) = 0
        end do
        a%others = 0
        do i = lbound(places, 1), ubound(places, 1)
            if (i >= a%first .and. i <= last) then
                places(i) = int(i - a%first, c_int32_t)
            else if (places(i) == 0) then
                places(i) = int(a%rows + a%others, c_int32_t)
                a%others = a%others + 1
            end if
        end do
        others = [pack([(i, i=lbound(places, 1), ubound(places, 1))], places >= a%rows), 0_c_int64_t]
    end subroutine

    subroutine fill_matrix(a, places)
        type(matrix), intent(inout) :: a
        integer(c_int32_t), allocatable, intent(in) :: places(:)
        integer(c_int32_t), allocatable, target :: row_ptr(:), col(:)
        real(c_double), allocatable, target :: val(:)
        integer(c_int64_t), allocatable :: columns(:)
        integer(c_int64_t) :: i, next
        allocate (row_ptr(0:a%rows), col(points * a%rows + 1), val(points * a%rows + 1))
        a%entries = 0
        row_ptr(0) = 0
        do i = 0, a%rows - 1
            columns = list_columns(a%first + i, a%n)
            next = a%entries + size(columns)
            col(a%entries + 1:next) = places(columns)
            val(a%entries + 1:next) = merge(6d0, -1d0, columns == a%first + i)
            a%entries = next
            row_ptr(i + 1) = int(next, c_int32_t)
        end do
        a%row_ptr = to_device(c_loc(row_ptr), bytes_of_index * (a%rows + 1))
        a%col = to_device(c_loc(col), bytes_of_index * a%entries)
        a%val = to_device(c_loc(val), bytes_of_float * a%entries)
    end subroutine

    function to_device(host, bytes) result(array)
        type(c_ptr), intent(in) :: host
        integer(c_int64_t), intent(in) :: bytes
        type(c_ptr) :: array
        call check(cf_mem_alloc(array, int(bytes, c_size_t)))
        call check(cf_mem_copy(array, host, int(bytes, c_size_t)))
    end function

    function make_matrix(comm, n) result(a)
        integer, intent(in) :: comm
        integer(c_int64_t), intent(in) :: n
        type(matrix) :: a
        integer(c_int32_t), allocatable :: places(:)
        integer(c_int64_t), allocatable, target :: others(:)
        integer :: rank, ranks, code
        call mpi_comm_rank(comm, rank, code)
        call mpi_comm_size(comm, ranks, code)
        call check(cf_device_current(a%device))
        a%comm = comm
        a%n = n
        a%length = n**3
        allocate (a%offsets(ranks + 1))
        call check(cf_mpi_split(a%length, int(ranks, c_int), a%offsets))
        a%first = a%offsets(rank + 1)
        a%rows = a%offsets(rank + 2) - a%first
        call place_columns(a, places, others)
        call fill_matrix(a, places)
        call check(cf_mpi_plan_create(a%plan, comm, a%offsets, c_loc(others), a%others))
    end function

    subroutine free_matrix(a)
        type(matrix), intent(inout) :: a
        call check(cf_mpi_plan_destroy(a%plan))
        call check(cf_mem_free(a%row_ptr))
        call check(cf_mem_free(a%col))
        call check(cf_mem_free(a%val))
        deallocate (a%offsets)
    end subroutine

    ! ---- Vectors ----

    ! Returns a vector with space for the elements of other ranks.
    function new_vector(a) result(vector)
        type(matrix), intent(in) :: a
        type(c_ptr) :: vector
        call check(cf_mem_alloc(vector, int(bytes_of_float * (a%rows + a%others), c_size_t)))
    end function

    ! Describes a vector for the reductions and the gather.
    type(cf_mpi_array) function array_of(a, vector)
        type(matrix), intent(in) :: a
        type(c_ptr), intent(in) :: vector
        array_of = cf_mpi_array(a%length, c_loc(a%offsets), vector, cf_f64, a%device)
    end function

    ! Returns the address of the elements of other ranks.
    type(c_ptr) function others_of(a, vector)
        type(matrix), intent(in) :: a
        type(c_ptr), intent(in) :: vector
        integer(c_intptr_t) :: address
        address = transfer(vector, address) + bytes_of_float * a%rows
        others_of = transfer(address, vector)
    end function

    ! y = A x
    subroutine multiply(a, x, y)
        type(matrix), intent(in) :: a
        type(c_ptr), intent(in) :: x, y
        call check(cf_mpi_gather(a%plan, array_of(a, x), others_of(a, x)))
        call check(cf_spmv_f64_i32(1d0, a%row_ptr, a%col, a%val, x, 0d0, y, a%rows, a%rows + a%others, a%entries))
    end subroutine

    real(c_double) function dot(a, x, y)
        type(matrix), intent(in) :: a
        type(c_ptr), intent(in) :: x, y
        call check(cf_mpi_dot(a%comm, array_of(a, x), array_of(a, y), dot, cf_mpi_reproducible))
    end function

    ! Returns the largest distance of the solution from 1, on this rank.
    real(c_double) function find_error(a, x)
        type(matrix), intent(in) :: a
        type(c_ptr), intent(in) :: x
        real(c_double), allocatable, target :: host(:)
        allocate (host(a%rows + 1))
        call check(cf_mem_copy(c_loc(host), x, int(bytes_of_float * a%rows, c_size_t)))
        find_error = maxval(abs(host(:a%rows) - 1))
    end function

    ! ---- The method ----

    ! Writes the squared residuals, before each step and at the end, and the error of the solution.
    subroutine solve(comm, n, residuals, steps, error)
        integer, intent(in) :: comm
        integer(c_int64_t), intent(in) :: n
        real(c_double), intent(out) :: residuals(0:most_steps), error
        integer, intent(out) :: steps
        type(matrix) :: a
        type(c_ptr) :: x, r, p, q
        real(c_double) :: alpha
        a = make_matrix(comm, n)
        x = new_vector(a)
        r = new_vector(a)
        p = new_vector(a)
        q = new_vector(a)
        ! The right-hand side is A 1, so that the solution is 1 everywhere: r = A 1, x = 0, p = r.
        call check(cf_fill(1d0, p, a%rows))
        call multiply(a, p, r)
        call check(cf_fill(0d0, x, a%rows))
        call check(cf_copy_f64(r, p, a%rows))
        residuals(0) = dot(a, r, r)
        do steps = 0, most_steps - 1
            if (residuals(steps) <= 1d-12 * residuals(0)) exit
            call multiply(a, p, q)
            alpha = residuals(steps) / dot(a, p, q)
            call check(cf_axpy(alpha, p, x, a%rows))
            call check(cf_axpy(-alpha, q, r, a%rows))
            residuals(steps + 1) = dot(a, r, r)
            call check(cf_waxpy(residuals(steps + 1) / residuals(steps), p, r, p, a%rows))
        end do
        error = find_error(a, x)
        call check(cf_mem_free(x))
        call check(cf_mem_free(r))
        call check(cf_mem_free(p))
        call check(cf_mem_free(q))
        call free_matrix(a)
    end subroutine

    subroutine check(status)
        integer(c_int), intent(in) :: status
        integer :: code
        if (status == cf_ok) return
        print '(a)', cf_last_error()
        call mpi_abort(MPI_COMM_WORLD, 1, code)
    end subroutine

end module

program cg_fortran
    use, intrinsic :: iso_c_binding
    use mpi
    use cuferry_mpi
    use laplacian
    implicit none
    real(c_double) :: residuals(0:most_steps), alone(0:most_steps), error, worst, unused
    integer(c_int64_t) :: n = 41
    integer(c_int) :: device
    integer :: rank, code, steps, steps_alone
    logical :: is_equal, is_solved
    character(20) :: argument

    if (command_argument_count() > 0) then
        call get_command_argument(1, argument)
        read (argument, *) n
    end if
    call check(cf_mpi_init())
    call check(cf_mpi_device(MPI_COMM_WORLD, device))
    call mpi_comm_rank(MPI_COMM_WORLD, rank, code)
    call solve(MPI_COMM_WORLD, n, residuals, steps, error)
    call solve(MPI_COMM_SELF, n, alone, steps_alone, unused)
    is_equal = steps == steps_alone
    if (is_equal) is_equal = all(transfer(residuals(:steps), [n]) == transfer(alone(:steps), [n]))
    call mpi_allreduce(error, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, code)
    is_solved = worst < 1d-4
    if (rank == 0) print '(5a)', trim(merge('solved    ', 'not solved', is_solved)), ' after ', &
        trim(merge('few     ', 'too many', steps < most_steps)), ' steps, residuals of one rank: ', &
        trim(merge('the same bits', 'others       ', is_equal))
    call mpi_finalize(code)
    if (rank == 0 .and. .not. (is_equal .and. is_solved .and. steps < most_steps)) error stop 1
end program
