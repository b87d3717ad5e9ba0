! cuferry.f90 - the runtime for Fortran 2018: memory, streams, events, errors, devices.
!
! Compiled modules differ between compilers, so this file is installed as source: compile it with the program. The
! functions are those of <cuferry.h>, which describes them. Each returns a status, which is 0 or one of the negative
! constants below; cf_last_error() returns the text. Pointers to arrays are those of c_loc(); device memory is a
! type(c_ptr). A stream of c_null_ptr is the default stream.
module cuferry
    use, intrinsic :: iso_c_binding
    implicit none
    private

    integer(c_int), parameter, public :: cf_ok = 0
    integer(c_int), parameter, public :: cf_einval = -1
    integer(c_int), parameter, public :: cf_eoverflow = -2
    integer(c_int), parameter, public :: cf_erange = -3
    integer(c_int), parameter, public :: cf_enomem = -4
    integer(c_int), parameter, public :: cf_enodev = -5
    integer(c_int), parameter, public :: cf_edriver = -6
    integer(c_int), parameter, public :: cf_eimage = -7
    integer(c_int), parameter, public :: cf_enocode = -8
    integer(c_int), parameter, public :: cf_enotsup = -9
    integer(c_int), parameter, public :: cf_enotready = -10
    integer(c_int), parameter, public :: cf_ecapture = -11
    integer(c_int), parameter, public :: cf_efault = -12
    integer(c_int), parameter, public :: cf_ecall = -13
    integer(c_int), parameter, public :: cf_efork = -14
    integer(c_int), parameter, public :: cf_ecompile = -15
    integer(c_int), parameter, public :: cf_host = -1

    public :: cf_last_error, cf_last_plan, cf_last_driver_result, cf_status_name, cf_status_text, cf_report, cf_version
    public :: cf_device_count, cf_device_use, cf_device_current, cf_device_name, cf_device_property, cf_device_sync
    public :: cf_require, cf_shutdown, cf_set_check, cf_set_host_data
    public :: cf_mem_alloc, cf_mem_alloc_pinned, cf_mem_alloc_async, cf_mem_free, cf_mem_free_async, cf_mem_trim
    public :: cf_mem_copy, cf_mem_copy_async, cf_mem_fill, cf_mem_fill_async
    public :: cf_stream_create, cf_stream_destroy, cf_stream_sync, cf_stream_query, cf_stream_wait, cf_stream_device
    public :: cf_event_create, cf_event_destroy, cf_event_record, cf_event_sync, cf_event_query, cf_event_elapsed
    ! For the wrappers that cfcc writes.
    public :: cf_expect_length, cf_expect_contiguous, cf_take_length, cf_quotient, cf_remainder

    interface
        integer(c_int) function cf_last_driver_result() bind(c)
            import
        end function
        integer(c_int) function cf_version() bind(c)
            import
        end function
        integer(c_int) function cf_device_count(count) bind(c)
            import
            integer(c_int), intent(out) :: count
        end function
        integer(c_int) function cf_device_use(device) bind(c)
            import
            integer(c_int), value :: device
        end function
        integer(c_int) function cf_device_current(device) bind(c)
            import
            integer(c_int), intent(out) :: device
        end function
        integer(c_int) function cf_device_property(device, property, value) bind(c)
            import
            integer(c_int), value :: device, property
            integer(c_int64_t), intent(out) :: value
        end function
        integer(c_int) function cf_device_sync() bind(c)
            import
        end function
        integer(c_int) function cf_require(requirement) bind(c)
            import
            integer(c_int), value :: requirement
        end function
        integer(c_int) function cf_shutdown() bind(c)
            import
        end function
        integer(c_int) function cf_set_check(level) bind(c)
            import
            integer(c_int), value :: level
        end function
        integer(c_int) function cf_set_host_data(where) bind(c)
            import
            integer(c_int), value :: where
        end function

        integer(c_int) function cf_mem_alloc(pointer, bytes) bind(c)
            import
            type(c_ptr), intent(out) :: pointer
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function cf_mem_alloc_pinned(pointer, bytes) bind(c)
            import
            type(c_ptr), intent(out) :: pointer
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function cf_mem_alloc_async(stream, pointer, bytes) bind(c)
            import
            type(c_ptr), value :: stream
            type(c_ptr), intent(out) :: pointer
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function cf_mem_free(pointer) bind(c)
            import
            type(c_ptr), value :: pointer
        end function
        integer(c_int) function cf_mem_free_async(stream, pointer) bind(c)
            import
            type(c_ptr), value :: stream, pointer
        end function
        integer(c_int) function cf_mem_trim(keep) bind(c)
            import
            integer(c_size_t), value :: keep
        end function
        integer(c_int) function cf_mem_copy(target, source, bytes) bind(c)
            import
            type(c_ptr), value :: target, source
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function cf_mem_copy_async(stream, target, source, bytes) bind(c)
            import
            type(c_ptr), value :: stream, target, source
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function cf_mem_fill(target, value, bytes) bind(c)
            import
            type(c_ptr), value :: target
            integer(c_signed_char), value :: value
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function cf_mem_fill_async(stream, target, value, bytes) bind(c)
            import
            type(c_ptr), value :: stream, target
            integer(c_signed_char), value :: value
            integer(c_size_t), value :: bytes
        end function

        integer(c_int) function cf_stream_create(stream) bind(c)
            import
            type(c_ptr), intent(out) :: stream
        end function
        integer(c_int) function cf_stream_destroy(stream) bind(c)
            import
            type(c_ptr), value :: stream
        end function
        integer(c_int) function cf_stream_device(stream, device) bind(c)
            import
            type(c_ptr), value :: stream
            integer(c_int), intent(out) :: device
        end function
        integer(c_int) function cf_stream_sync(stream) bind(c)
            import
            type(c_ptr), value :: stream
        end function
        integer(c_int) function cf_stream_query(stream) bind(c)
            import
            type(c_ptr), value :: stream
        end function
        integer(c_int) function cf_stream_wait(stream, event) bind(c)
            import
            type(c_ptr), value :: stream, event
        end function

        integer(c_int) function cf_event_create(event) bind(c)
            import
            type(c_ptr), intent(out) :: event
        end function
        integer(c_int) function cf_event_destroy(event) bind(c)
            import
            type(c_ptr), value :: event
        end function
        integer(c_int) function cf_event_record(event, stream) bind(c)
            import
            type(c_ptr), value :: event, stream
        end function
        integer(c_int) function cf_event_sync(event) bind(c)
            import
            type(c_ptr), value :: event
        end function
        integer(c_int) function cf_event_query(event) bind(c)
            import
            type(c_ptr), value :: event
        end function
        integer(c_int) function cf_event_elapsed(milliseconds, start, stop) bind(c)
            import
            real(c_float), intent(out) :: milliseconds
            type(c_ptr), value :: start, stop
        end function

        ! The C forms of functions below that have texts as arguments or results.
        type(c_ptr) function c_last_error() bind(c, name='cf_last_error')
            import
        end function
        type(c_ptr) function c_last_plan() bind(c, name='cf_last_plan')
            import
        end function
        type(c_ptr) function c_status_name(status) bind(c, name='cf_status_name')
            import
            integer(c_int), value :: status
        end function
        type(c_ptr) function c_status_text(status) bind(c, name='cf_status_text')
            import
            integer(c_int), value :: status
        end function
        integer(c_int) function c_report(status, text) bind(c, name='cf_report')
            import
            integer(c_int), value :: status
            character(kind=c_char), intent(in) :: text(*)
        end function
        integer(c_int) function c_device_name(device, name, size) bind(c, name='cf_device_name')
            import
            integer(c_int), value :: device
            character(kind=c_char), intent(out) :: name(*)
            integer(c_size_t), value :: size
        end function
        integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
            import
            type(c_ptr), value :: text
        end function
    end interface

contains

    ! ---- Texts ----

    function to_text(pointer) result(text)
        type(c_ptr), intent(in) :: pointer
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer(c_size_t) :: i
        call c_f_pointer(pointer, letters, [c_strlen(pointer)])
        allocate (character(size(letters)) :: text)
        do i = 1, size(letters, kind=c_size_t)
            text(i:i) = letters(i)
        end do
    end function

    function cf_last_error() result(text)
        character(:), allocatable :: text
        text = to_text(c_last_error())
    end function

    function cf_last_plan() result(text)
        character(:), allocatable :: text
        text = to_text(c_last_plan())
    end function

    function cf_status_name(status) result(text)
        integer(c_int), intent(in) :: status
        character(:), allocatable :: text
        text = to_text(c_status_name(status))
    end function

    function cf_status_text(status) result(text)
        integer(c_int), intent(in) :: status
        character(:), allocatable :: text
        text = to_text(c_status_text(status))
    end function

    integer(c_int) function cf_report(status, text)
        integer(c_int), intent(in) :: status
        character(*), intent(in) :: text
        cf_report = c_report(status, text // c_null_char)
    end function

    integer(c_int) function cf_device_name(device, name)
        integer(c_int), intent(in) :: device
        character(:), allocatable, intent(out) :: name
        character(kind=c_char), target :: letters(256)
        letters(1) = c_null_char
        cf_device_name = c_device_name(device, letters, size(letters, kind=c_size_t))
        name = to_text(c_loc(letters))
    end function

    ! ---- For the wrappers that cfcc writes ----

    function to_digits(number) result(text)
        integer(c_int64_t), intent(in) :: number
        character(:), allocatable :: text
        character(20) :: digits
        write (digits, '(i0)') number
        text = trim(digits)
    end function

    ! Reports a dimension that is not as long as the call's expressions say; the first failure counts.
    subroutine cf_expect_length(status, function, array, length, wanted, is_least)
        integer(c_int), intent(inout) :: status
        character(*), intent(in) :: function, array
        integer(c_int64_t), intent(in) :: length, wanted
        logical, intent(in) :: is_least
        if (status /= cf_ok .or. length == wanted .or. (is_least .and. length > wanted)) return
        status = cf_report(cf_einval, function // ': ' // array // ' is ' // to_digits(length) // &
            trim(merge(' instead of at least', ' instead of         ', is_least)) // ' ' // to_digits(wanted))
    end subroutine

    ! Reports an array with gaps: the compiler passes a copy of it, which would be gone before the work is done.
    subroutine cf_expect_contiguous(status, function, array, is_so)
        integer(c_int), intent(inout) :: status
        character(*), intent(in) :: function, array
        logical, intent(in) :: is_so
        if (status /= cf_ok .or. is_so) return
        status = cf_report(cf_einval, function // ': ' // array // ' is not contiguous')
    end subroutine

    ! Returns the length of a dimension as a scalar of the C function, whose type holds at most `limit`.
    integer(c_int64_t) function cf_take_length(status, function, array, length, limit)
        integer(c_int), intent(inout) :: status
        character(*), intent(in) :: function, array
        integer(c_int64_t), intent(in) :: length, limit
        cf_take_length = length
        if (length <= limit) return
        cf_take_length = limit
        if (status /= cf_ok) return
        status = cf_report(cf_eoverflow, function // ': ' // array // ' is ' // to_digits(length) // &
            ', and its count holds at most ' // to_digits(limit))
    end function

    ! Divides. A division by 0 is not an error here, because the call reports it.
    pure integer(c_int64_t) function cf_quotient(a, b)
        integer(c_int64_t), intent(in) :: a, b
        cf_quotient = 0
        if (b == -1) then
            cf_quotient = -a
        else if (b /= 0) then
            cf_quotient = a / b
        end if
    end function

    pure integer(c_int64_t) function cf_remainder(a, b)
        integer(c_int64_t), intent(in) :: a, b
        cf_remainder = 0
        if (b /= 0 .and. b /= -1) cf_remainder = mod(a, b)
    end function

end module
