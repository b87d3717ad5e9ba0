! languages.f90 - calls the kernels of languages.cu and the bundled kernels through their modules, for
! test_languages.py. Prints what is wrong.
program languages
    use, intrinsic :: iso_c_binding
    use cuferry
    use cuferry_kernels
    use lang
    implicit none
    integer :: failures = 0

    call axpys()
    call instances()
    call shapes()
    call expressions()
    call structs()
    call aligned()
    call pointers()
    call runtime()
    call bundled()
    if (failures > 0) error stop 1

contains

    subroutine expect(is_right, text)
        logical, intent(in) :: is_right
        character(*), intent(in) :: text
        if (is_right) return
        failures = failures + 1
        print '(4a)', 'wrong: ', text, '; the last error: ', cf_last_error()
    end subroutine

    subroutine works(status, text)
        integer(c_int), intent(in) :: status
        character(*), intent(in) :: text
        call expect(status == cf_ok, text)
    end subroutine

    subroutine fails(status, wanted, text)
        integer(c_int), intent(in) :: status, wanted
        character(*), intent(in) :: text
        call expect(status == wanted .and. cf_last_error() == text, text)
    end subroutine

    ! Random integers below 1000, whose sums are exact in floating point.
    function random_numbers(n) result(numbers)
        integer, intent(in) :: n
        real(c_double) :: numbers(n)
        call random_number(numbers)
        numbers = aint(1000 * numbers)
    end function

    subroutine instances()
        real(c_float) :: x(3) = [1, 2, 4], y(3), one(1)
        real(c_double) :: sum_of(1)
        call works(lang_apply_plus(x, y), 'plus')
        call expect(all(y == [4, 5, 7]), 'values of plus')
        call works(lang_apply_times(x, y), 'times')
        call expect(all(y == [3, 6, 12]), 'values of times')
        call works(a_lang_reduce_sum_f32(x, one), 'sum')
        call expect(one(1) == 7, 'value of sum')
        call works(lang_reduce_max_f32(x, one), 'max')
        call expect(one(1) == 4, 'value of max')
        call works(lang_reduce([1.5_c_double, 2.0_c_double], sum_of), 'the only instance for doubles')
        call expect(sum_of(1) == 3.5, 'value for doubles')
    end subroutine

    subroutine axpys()
        integer, parameter :: sizes(3) = [0, 1, 1000]
        real(c_double), allocatable, target :: x(:), y(:), wide(:)
        real(c_double), allocatable :: before(:)
        real(c_float), allocatable :: xs(:), ys(:)
        integer(c_int), allocatable :: xi(:), yi(:)
        integer :: k
        do k = 1, size(sizes)
            x = random_numbers(sizes(k))
            y = random_numbers(sizes(k))
            before = y
            call works(lang_axpy(3.0_c_double, x, y), 'axpy of doubles')
            call expect(all(y == 3 * x + before), 'doubles')
            xs = real(x, c_float)
            ys = real(before, c_float)
            call works(lang_axpy(3.0_c_float, xs, ys), 'axpy of floats')
            call expect(all(int(ys) == int(y)), 'floats')
            xi = int(x)
            yi = int(before)
            call works(lang_axpy_i32(3_c_int, xi, yi), 'axpy of integers')
            call expect(all(yi == int(y)), 'integers')
            yi = int(before)
            call works(lang_axpy_u32(3_c_int, xi, yi), 'axpy of unsigned integers')
            call expect(all(yi == int(y)), 'unsigned integers')
            y = before
            call works(lang_axpy_async(c_null_ptr, 3.0_c_double, x, y), 'axpy with a stream')
            call works(cf_stream_sync(c_null_ptr), 'sync')
            call expect(all(y == 3 * x + before), 'doubles with a stream')
        end do
        ! Every second element: the compiler passes a copy, which cannot be used with a stream.
        wide = random_numbers(2000)
        before = wide
        call works(lang_axpy(2.0_c_double, x, wide(1:2000:2)), 'axpy of an array with gaps')
        call expect(all(wide(1:2000:2) == 2 * x + before(1:2000:2)), 'elements')
        call expect(all(wide(2:2000:2) == before(2:2000:2)), 'gaps')
        call fails(lang_axpy_async(c_null_ptr, 2.0_c_double, x, wide(1:2000:2)), cf_einval, &
            'lang_axpy_f64_async: y is not contiguous')
        call fails(lang_axpy(2.0_c_double, x, wide), cf_einval, 'lang_axpy_f64: size(y) is 2000 instead of 1000')
        call expect(all(wide(2:2000:2) == before(2:2000:2)), 'a refused call')
        call works(lang_spread_far(ys, 0.5_c_double), 'spread')
        call expect(ys(1000) == 499.5, 'spread elements')
    end subroutine

    subroutine shapes()
        integer, parameter :: nx = 33, ny = 9, pitch = 40
        real(c_double) :: u(nx, ny), w(pitch, ny), cut(nx - 1, ny)
        real(c_float) :: v(nx)
        integer :: y
        u = reshape(random_numbers(nx * ny), [nx, ny])
        v = real(random_numbers(nx), c_float)
        w = -1
        cut = 0
        call works(lang_rows(u, v, w), 'rows')
        do y = 1, ny
            call expect(all(w(1:nx, y) == u(:, y) + 10 * v), 'a row')
        end do
        call expect(all(w(nx + 1:, :) < 0), 'the gaps of rows')
        call fails(lang_rows(u, v, w(:, 1:8)), cf_einval, 'lang_rows: size(w, 2) is 8 instead of 9')
        call fails(lang_rows(u, v(2:), w), cf_einval, 'lang_rows: size(v) is 32 instead of 33')
        ! A pitch that is shorter than a row, which the call itself refuses.
        call expect(lang_rows(u, v, cut) == cf_einval, 'a short pitch')
    end subroutine

    subroutine expressions()
        integer(c_int64_t), allocatable :: x(:), y(:)
        integer(c_int32_t), parameter :: counts(5) = [0, 1, 2, 7, 8]
        integer :: k, i, n
        integer(c_int64_t) :: rest
        do k = 1, size(counts)
            n = counts(k)
            x = int(random_numbers(3 + n), c_int64_t)
            allocate (y((n + 1) / 2))
            y = -1
            call works(lang_pairs(x, y, counts(k), 3_c_int8_t), 'pairs')
            do i = 1, size(y)
                rest = 0
                if (2 * i <= n) rest = x(3 + 2 * i)
                call expect(y(i) == x(2 + 2 * i) + rest, 'a pair')
            end do
            deallocate (y)
            allocate (y((n + 1) / 2 + 1))
            y = -1
            call expect(lang_pairs(x, y, counts(k), 3_c_int8_t) == cf_einval .and. all(y == -1), 'pairs with a rest')
            call expect(lang_pairs(x(2:), y(2:), counts(k), 3_c_int8_t) == cf_einval, 'too few elements')
            deallocate (y)
        end do
    end subroutine

    subroutine structs()
        type(place) :: places(2), origin
        real(c_float) :: moves(4, 2), narrow(3, 2)
        real(c_double) :: sums(2), y(3), weights(3, 2)
        real(c_double), target :: extra
        integer(c_int) :: y_of_parts(400), y_of_one(202)
        places(1) = place([1.0, 2.0], 4.0_c_double)
        places(2) = place([8.0, 16.0], 32.0_c_double)
        moves = 1
        moves(4, :) = [64, 128]
        narrow = 0
        sums = -1
        extra = 0.5
        call works(lang_move(places, moves, sums, c_null_ptr, lang_size(2), .true._c_bool), 'move')
        call expect(all(nint(sums) == [2 * 67 + 4, 2 * 152 + 32]), 'moved')
        call works(lang_move_async(c_null_ptr, places, moves, sums, c_loc(extra), lang_size(2), .false._c_bool), 'move 2')
        call expect(abs(sums(1) - 71.5) < 1e-9, 'moved with the pointer')
        call fails(lang_move(places, narrow, sums, c_null_ptr, lang_size(2), .true._c_bool), cf_einval, &
            'lang_move: size(moves, 1) is 3 instead of 4')
        call fails(lang_move(places, moves, sums, c_null_ptr, lang_size(3), .true._c_bool), cf_einval, &
            'lang_move: size(places) is 2 instead of 3')
        y_of_parts = 0
        y_of_one = 0
        call works(lang_parts(y_of_parts, part(int(-56, c_int8_t), .true._c_bool, shade_dark)), 'an unsigned member')
        call works(lang_parts(y_of_one, part(int(-56, c_int8_t), .false._c_bool, shade_light)), 'a logical member')
        call expect(y_of_parts(200) == 199 .and. y_of_one(200) == 199, 'elements by members')
        weights = reshape([1, 2, 3, 4, 5, 6], [3, 2])
        origin = place([1.0, 7.0], 20.0_c_double)
        call works(lang_set_slope(0.25_c_float), 'slope')
        call works(lang_set_weights(weights), 'weights')
        call works(lang_set_origin_async(c_null_ptr, origin), 'origin')
        call works(lang_constants(y), 'constants')
        call expect(all(nint(100 * y) == [25, 600, 2700]), 'values of constants')
        call fails(lang_set_weights(weights(1:2, :)), cf_einval, 'lang_set_weights: size(values, 1) is 2 instead of 3')
    end subroutine

    ! Device memory. This is the only form for arrays of halves.
    subroutine aligned()
        type(ball), allocatable :: balls(:)
        type(corner), allocatable :: corners(:)
        type(ball) :: with
        type(corner) :: by
        allocate (balls(3), corners(3))
        balls%radius = [1, 2, 3]
        balls(1)%centre = [0, 0, 0, 5]
        balls(2)%centre = [0, 0, 0, 6]
        balls(3)%centre = [0, 0, 0, 7]
        corners%x = [100, 200, 300]
        by%z = 1000
        with%centre = [0, 20000, 0, 0]
        with%radius = 100000
        call works(lang_swell(balls, corners, 7_c_int8_t, by, with), 'aligned structs')
        call expect(all(corners%z == [121112, 121219, 121328]), 'values of aligned structs')
    end subroutine

    subroutine pointers()
        real(c_double), target :: x(8), y(8), back(8)
        integer(c_int16_t), target :: halves(2)
        type(c_ptr) :: from, to, stream
        integer(c_size_t), parameter :: bytes = 64
        x = random_numbers(8)
        y = random_numbers(8)
        back = -1
        call works(cf_mem_alloc(from, bytes), 'alloc')
        call works(cf_mem_alloc(to, bytes), 'alloc')
        call works(cf_stream_create(stream), 'stream')
        call works(cf_mem_copy(from, c_loc(x), bytes), 'copy')
        call works(cf_mem_copy(to, c_loc(y), bytes), 'copy')
        call works(lang_axpy_async(stream, 2.0_c_double, from, to, 8_c_int), 'axpy of device memory')
        call works(cf_stream_sync(stream), 'sync')
        call works(cf_mem_copy(c_loc(back), to, bytes), 'copy')
        call expect(all(back == 2 * x + y), 'device memory')
        call fails(lang_axpy_f64(2.0_c_double, c_null_ptr, to, 8_c_int), cf_einval, &
            'lang_axpy_f64: x is NULL and its extent is 8')
        call works(cf_mem_free(from), 'free')
        call works(cf_mem_free(to), 'free')
        call works(cf_stream_destroy(stream), 'destroy')
        halves = [int(z'3c00', c_int16_t), int(z'4000', c_int16_t)]
        call works(lang_halves(c_loc(halves), 2_c_int), 'halves')
        call expect(all(halves == [int(z'4000', c_int16_t), int(z'4400', c_int16_t)]), 'doubled halves')
    end subroutine

    subroutine runtime()
        type(c_ptr) :: begin, end
        real(c_float) :: milliseconds
        integer(c_int) :: device
        character(:), allocatable :: name
        milliseconds = -1
        call works(cf_event_create(begin), 'event')
        call works(cf_event_create(end), 'event')
        call works(cf_event_record(begin, c_null_ptr), 'record')
        call works(cf_event_record(end, c_null_ptr), 'record')
        call works(cf_event_sync(end), 'event sync')
        call works(cf_event_elapsed(milliseconds, begin, end), 'elapsed')
        call expect(milliseconds >= 0, 'time')
        call works(cf_event_destroy(begin), 'destroy')
        call works(cf_event_destroy(end), 'destroy')
        call works(cf_device_current(device), 'device')
        call works(cf_device_name(device, name), 'name')
        call expect(len(name) > 0, 'a name')
        call expect(cf_device_use(999_c_int) == cf_enodev, 'no device')
        call expect(cf_status_name(cf_enodev) == 'CF_ENODEV' .and. cf_status_text(cf_enodev) == 'no such device', 'texts')
        call fails(cf_report(cf_erange, 'own text'), cf_erange, 'own text')
    end subroutine

    subroutine bundled()
        real(c_float) :: source(5) = [0, 10, 20, 30, 40], res(3) = -1
        integer(c_int32_t) :: index(3) = [4, 0, 3]
        call works(cf_gather(source, index, res), 'gather')
        call expect(all(nint(res) == [40, 0, 30]), 'gathered')
        index(2) = 7
        call fails(cf_gather(source, index, res), cf_erange, 'cf_gather_f32_i32: index[1] = 7 is outside [0, 5)')
        call fails(cf_gather(source, index, res(1:2)), cf_einval, 'cf_gather_f32_i32: size(res) is 2 instead of 3')
    end subroutine

end program
