! jacobi_fortran.f90 - Jacobi's method on a grid of three dimensions, compared with loops over the whole grid.
!
! Dimensions of arrays are given in C's order, where the last one is contiguous: u(x, y, z) has the extents [z, y, x].
program jacobi_fortran
    use, intrinsic :: iso_c_binding
    use mpi
    use cuferry
    use cuferry_mpi
    use stencil
    implicit none
    integer, parameter :: dims = 3, steps = 20
    integer(c_int64_t), parameter :: whole(dims) = [17, 14, 19]
    real(c_double), allocatable, target :: u(:, :, :), v(:, :, :), block(:, :, :)
    type(c_ptr) :: halo, of_u, of_v, held
    type(stencil_box) :: box
    integer(c_int64_t) :: first(dims), matches, all
    integer(c_size_t) :: bytes
    integer(c_int) :: device
    integer :: rank, ranks, grid(dims), coords(dims), comm, step, code

    call check(cf_mpi_init())
    call check(cf_mpi_device(MPI_COMM_WORLD, device))
    call mpi_comm_size(MPI_COMM_WORLD, ranks, code)
    grid = 0
    call mpi_dims_create(ranks, dims, grid, code)
    call mpi_cart_create(MPI_COMM_WORLD, dims, grid, [.false., .false., .false.], .false., comm, code)
    call mpi_comm_rank(comm, rank, code)
    call mpi_cart_coords(comm, rank, dims, coords, code)
    call find_block()

    ! Ghost cells at the edge of the grid stay 0.
    call check(cf_mem_alloc(of_u, bytes))
    call check(cf_mem_alloc(of_v, bytes))
    call check(cf_mem_fill(of_u, 0_c_int8_t, bytes))
    call check(cf_mem_fill(of_v, 0_c_int8_t, bytes))
    call check(cf_mpi_halo_create(halo, comm, cf_f64, box%extents, 1_c_int64_t, 0))
    do step = 1, steps
        call check(cf_mpi_halo_start(halo, c_null_ptr, of_u))
        call check(cf_mpi_halo_finish(halo))
        call check(stencil_jacobi_async(c_null_ptr, of_u, of_v, box, 1d0))
        held = of_u
        of_u = of_v
        of_v = held
    end do
    call check(cf_mem_copy(c_loc(block), of_u, bytes))

    call run_whole()
    associate (b => box%extents)
        matches = count(abs(block(2:b(3) + 1, 2:b(2) + 1, 2:b(1) + 1) - &
                            u(first(3) + 1:first(3) + b(3), first(2) + 1:first(2) + b(2), &
                              first(1) + 1:first(1) + b(1))) <= 0, kind=c_int64_t)
    end associate
    call mpi_reduce(matches, all, 1, MPI_INTEGER8, MPI_SUM, 0, comm, code)
    if (rank == 0) print '(i0, a, i0, a)', all, ' of ', product(whole), ' cells match'

    call check(cf_mpi_halo_destroy(halo))
    call check(cf_mem_free(of_u))
    call check(cf_mem_free(of_v))
    call mpi_finalize(code)

contains

    ! Finds this rank's block of the grid, and describes its array.
    subroutine find_block()
        integer(c_int64_t) :: offsets(ranks + 1)
        integer :: d
        do d = 1, dims
            call check(cf_mpi_split(whole(d), int(grid(d), c_int), offsets))
            first(d) = offsets(coords(d) + 1)
            box%extents(d) = offsets(coords(d) + 2) - first(d)
        end do
        box%first = 1
        box%sides = box%extents + 2
        allocate (block(box%sides(3), box%sides(2), box%sides(1)))
        bytes = int(8 * product(box%sides), c_size_t)
    end subroutine

    subroutine run_whole()
        integer(c_int64_t) :: x, y, z
        allocate (u(0:whole(3) + 1, 0:whole(2) + 1, 0:whole(1) + 1), source=0d0)
        allocate (v, source=u)
        do step = 1, steps
            do concurrent (z=1:whole(1), y=1:whole(2), x=1:whole(3))
                v(x, y, z) = (u(x - 1, y, z) + u(x + 1, y, z) + u(x, y - 1, z) + u(x, y + 1, z) + &
                              u(x, y, z - 1) + u(x, y, z + 1) + 1) / 6
            end do
            u = v
        end do
    end subroutine

    subroutine check(status)
        integer(c_int), intent(in) :: status
        if (status == cf_ok) return
        print '(a)', cf_last_error()
        call mpi_abort(MPI_COMM_WORLD, 1, code)
    end subroutine

end program
