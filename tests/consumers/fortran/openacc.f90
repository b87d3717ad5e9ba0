! openacc.f90 - passes arrays that OpenACC holds on its device, without copying them.
program openacc
    use, intrinsic :: iso_c_binding
    use cuferry
    use saxpy
    implicit none
    integer, parameter :: n = 1000
    real(c_double) :: x(n), y(n)
    integer(c_int) :: status
    integer :: i

    !$acc data create(x) copyout(y)
    !$acc parallel loop
    do i = 1, n
        x(i) = i
        y(i) = 1
    end do
    !$acc host_data use_device(x, y)
    status = saxpy_axpy(3.0_c_double, x, y)
    !$acc end host_data
    !$acc end data
    if (status /= cf_ok) print '(a)', cf_last_error()
    print '(i0)', count([(nint(y(i)) == 3 * i + 1, i = 1, n)])
end program
