! languages.f90 - the calls of languages.c from Fortran.
integer(c_int) function call_from_fortran(stream, x, y, n, calls) bind(c) result(status)
    use, intrinsic :: iso_c_binding
    use cuferry
    use cuferry_kernels
    implicit none
    type(c_ptr), value :: stream, x, y
    integer(c_int64_t), value :: n
    integer(c_int), value :: calls
    real(c_float), pointer, contiguous :: from(:), to(:)
    integer :: i
    call c_f_pointer(x, from, [n])
    call c_f_pointer(y, to, [n])
    status = cf_ok
    do i = 1, calls
        if (c_associated(stream)) then
            status = cf_axpy_async(stream, 0.5, from, to)
        else
            status = cf_axpy(0.5, from, to)
        end if
        if (status /= cf_ok) return
    end do
end function
