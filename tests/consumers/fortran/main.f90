! main.f90 - calls a kernel of the project on arrays and on device memory, calls a bundled kernel, and causes an error.
program main
    use, intrinsic :: iso_c_binding
    use cuferry
    use cuferry_kernels
    use saxpy
    implicit none
    real(c_float), target :: x(3) = [1, 2, 3], y(3) = [10, 20, 30]
    real(c_float) :: res(2)
    integer(c_int32_t) :: index(2) = [2, 0]
    type(c_ptr) :: stream, from, to
    integer(c_size_t), parameter :: bytes = 12

    call check(saxpy_axpy(2.0_c_float, x, y))
    print '(3f6.1)', y

    call check(cf_stream_create(stream))
    call check(cf_mem_alloc(from, bytes))
    call check(cf_mem_alloc(to, bytes))
    call check(cf_mem_copy(from, c_loc(x), bytes))
    call check(cf_mem_copy(to, c_loc(y), bytes))
    call check(saxpy_axpy_async(stream, -1.0_c_float, from, to, 3_c_int))
    call check(cf_stream_sync(stream))
    call check(cf_mem_copy(c_loc(y), to, bytes))
    call check(cf_mem_free(from))
    call check(cf_mem_free(to))
    call check(cf_stream_destroy(stream))
    print '(3f6.1)', y

    call check(cf_gather(x, index, res))
    print '(2f6.1)', res
    index(2) = 7
    if (cf_gather(x, index, res) == cf_erange) print '(a)', cf_last_error()

contains

    subroutine check(status)
        integer(c_int), intent(in) :: status
        if (status == cf_ok) return
        print '(a)', cf_last_error()
        error stop 1
    end subroutine

end program
