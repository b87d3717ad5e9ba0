! openmp.f90 - passes arrays and pointers that OpenMP holds on its device, without copying them.
program openmp
    use, intrinsic :: iso_c_binding
    use cuferry
    use saxpy
    implicit none
    integer, parameter :: n = 1000
    real(c_double), target :: x(n), y(n)
    integer(c_int) :: status
    integer :: i

    !$omp target data map(alloc: x) map(from: y)
    !$omp target teams distribute parallel do
    do i = 1, n
        x(i) = i
        y(i) = 1
    end do
    !$omp target data use_device_addr(x, y)
    status = saxpy_axpy(3.0_c_double, x, y)
    if (status == cf_ok) status = saxpy_axpy(-1.0_c_double, c_loc(x), c_loc(y), int(n, c_int))
    !$omp end target data
    !$omp end target data
    if (status /= cf_ok) print '(a)', cf_last_error()
    print '(i0)', count([(nint(y(i)) == 2 * i + 1, i = 1, n)])
end program
