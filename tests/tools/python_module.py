"""python_module.py - calls the module that cfcc --emit python made from python.cu, as a program would. test_python.py
runs it in a folder with the module; it writes one line per test.

usage: python_module.py buffers|numpy|played
"""

import array
import ctypes
import math
import operator
import pickle
import pydoc
import random
import struct
import sys
import threading

import shapes
from report_lines import expect, refused, report
from value_cases import run_masked_arrays, run_numpy_values, run_values


# ---- The standard library only


def run_buffers():
    draw = random.Random(1)
    x, y = (array.array('f', [draw.uniform(-1, 1) for _ in range(257)]) for _ in range(2))
    wanted = array.array('f', [b + 2 * a for a, b in zip(x, y)])
    shapes.axpy(2, x, y)
    report('buffers_are_arrays', '' if all(abs(a - b) < 1e-6 for a, b in zip(y, wanted)) else list(y))
    source = array.array('d', [draw.random() for _ in range(100)])
    index = array.array('i', [draw.randrange(100) for _ in range(1000)])
    res = array.array('d', [77] * 1000)
    report('result_that_is_given_is_returned', '' if shapes.gather(source, index, res) is res else 'another')
    expect('instance_is_that_of_the_dtypes', list(res), [source[i] for i in index])
    expect('memory_that_is_only_read_may_be_constant', list(shapes.gather(
        memoryview(source.tobytes()).cast('d'), index, array.array('d', [77] * 1000))), list(res))
    refused('buffer_that_is_written_must_be_writable', shapes.EINVAL, ['axpy: y is read-only'], shapes.axpy, 1.0, x,
            memoryview(y.tobytes()).cast('f'))
    refused('no_array_is_refused', TypeError, ['axpy: x is no array but list'], shapes.axpy, 1.0, [1.0], y)
    refused('none_is_no_array', TypeError, ['axpy: x is missing'], shapes.axpy, 1.0, None, y)
    if 'numpy' in sys.modules or not is_missing('numpy'):
        report('result_without_numpy_must_be_given', '')
    else:
        refused('result_without_numpy_must_be_given', TypeError, ['gather: res is missing', 'NumPy'], shapes.gather,
                source, index)
    run_instances(lambda kind, values: array.array(kind, values))
    run_help()
    run_statuses(x, y, source)
    run_scalars(x, y)
    run_structs()


def is_missing(name):
    try:
        __import__(name)
        return False
    except ImportError:
        return True


def run_instances(make):
    """Each instance has its own name. A name of several instances is refused if more than one of them fits the
    arguments."""
    x, wide = make('f', [1, 2, 4]), make('d', [1.5, 2])
    for call, wanted in ((shapes.apply_plus, [4, 5, 7]), (shapes.apply_times, [3, 6, 12])):
        for turn in ('', '_again'):
            expect(f'{call.__name__}_of_{type(x).__name__}{turn}', list(call(x, make('f', [0] * 3))), wanted)
    for call, given, wanted in ((shapes.reduce_sum_f32, x, 7), (shapes.reduce_max_f32, x, 4),
                                (shapes.reduce, wide, 3.5),
                                (shapes.reduce_sum_f64, wide, 3.5)):
        kind = 'f' if given is x else 'd'
        for turn in ('', '_again'):
            expect(f'{call.__name__}_of_{type(x).__name__}{turn}', list(call(given, make(kind, [0]))), [wanted])
    refused(f'several_instances_of_{type(x).__name__}_are_refused', TypeError,
            ['reduce: several instances take these arrays; call one of reduce_max_f32, reduce_sum_f32'], shapes.reduce,
            x)
    refused('instances_without_a_family_are_listed', AttributeError, ['several instances', 'apply_plus, apply_times'],
            lambda: shapes.apply)
    refused(f'several_instances_for_a_missing_{type(x).__name__}_are_refused', TypeError, [
        'turn: y is missing: the other arrays do not tell its dtype; pass it, or call one of turn_f32, turn_i32'],
            shapes.turn, x)
    expect(f'result_tells_the_instance_of_{type(x).__name__}', [list(shapes.turn(x, make(kind, [0] * 3)))
           for kind in 'fi'], [[1.5, 3, 6], [1, 3, 6]])


def run_help():
    """The text of help() does not list classes of exceptions, and begins with the kernels."""
    text = pydoc.plain(pydoc.render_doc(shapes))
    lines = text.split('\n')
    at = lines.index('FUNCTIONS') if 'FUNCTIONS' in lines else 99
    first = lines[at + 1:at + 2]
    report('help_begins_with_the_kernels',
           '' if 'CLASSES' not in lines and at < 25 and first[0].startswith('    apply_plus(') else
           f'{first}: {text[:3000]}')
    expect('names_found_on_demand', ('max' in dir(shapes), shapes.max.__name__, hasattr(shapes, 'nothing')),
           (True, 'max', False))
    lost = [name for name in ('apply_plus(x: ', 'gather(source: ', 'max(lambda_: ', 'set_shift(value: ')
            if f'    {name}' not in text]
    report('help_has_every_kernel', f'{lost}: {text}' if lost or len(lines) > 300 else '')


def run_statuses(x, y, source):
    index, res = array.array('i', [0, 100]), array.array('d', [77, 77])
    refused('status_is_an_exception', shapes.ERANGE, ['shapes_gather_f64_i32: index[1] = 100 is outside [0, 100)'],
            shapes.gather, source, index, res)
    expect('failed_call_leaves_the_result', list(res), [77, 77])
    try:
        shapes.gather(source, index, res)
    except shapes.Error as error:
        expect('exception_has_the_status', (error.status, isinstance(error, (RuntimeError))), (-3, True))
        expect('exception_is_a_value_error_too', isinstance(error, ValueError), True)
        again = pickle.loads(pickle.dumps(error))
        expect('exception_can_be_pickled', (type(again), again.status, str(again)), (shapes.ERANGE, -3, str(error)))
    try:
        shapes.axpy(1.0, x, array.array('f', [1]))
    except shapes.Error as error:
        expect('exception_of_the_module_has_the_status', (error.status, isinstance(error, ValueError)), (-1, True))
    texts = {}

    def fail(number):
        try:
            for _ in range(50):
                shapes.gather(source, array.array('i', [100 + number]), array.array('d', [0]))
        except shapes.ERANGE as error:
            texts[number] = str(error)

    threads = [threading.Thread(target=fail, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect('threads_get_their_own_texts', texts,
           {n: f'shapes_gather_f64_i32: index[0] = {100 + n} is outside [0, 100)' for n in range(8)})


def run_scalars(x, y):
    refused('scalar_that_is_none_is_refused', TypeError, ['axpy: a = None is NoneType, and no number'], shapes.axpy,
            None, x, y)
    refused('scalar_of_another_type_is_refused', TypeError, ["axpy: a = 'a' is str, and no number"], shapes.axpy,
            'a', x, y)
    refused('extent_that_is_no_integer_is_refused', TypeError, ['axpy: n = 2.0 is float, and no integer'], shapes.axpy,
            1.0, x, y, n=2.0)
    refused('extent_beyond_its_type_is_refused', OverflowError, ['axpy: n = 4294967297 does not fit i32'], shapes.axpy,
            1.0, x, y, n=2**32 + 1)
    refused('extent_beyond_an_array_is_refused', shapes.EINVAL, ['axpy: x has the shape (257,), and (300,) is needed'],
            shapes.axpy, 1.0, x, y, n=300)
    before = list(y)
    shapes.axpy(1.0, x, y, n=3)
    expect('extent_that_is_given_counts', [i for i in range(257) if y[i] != before[i]], [0, 1, 2])
    shapes.set_shift(5)
    shapes.set_factors([[0, 0, 0], [0, 0, 2]])
    pairs, sums, flags = array.array('f', range(24)), array.array('f', [77] * 3), (ctypes.c_bool * 3)()
    view = memoryview(pairs).cast('B').cast('f', (3, 2, 4))
    shapes.sum_rows(view, (1, 10), sums, flags, 3)
    wanted = [2 * (8 + sum(8 * r + 4 * k + 10 * (8 * r + 4 * k + 3) for k in range(2))) for r in range(3)]
    expect('vectors_are_a_last_dimension', (list(sums), list(flags)), (wanted, [True] * 3))
    refused('small_integer_must_fit', OverflowError, ['sum_rows: add = 256 does not fit u8'], shapes.sum_rows, view,
            shapes.float2(1, 1), sums, flags, 256)
    refused('struct_of_another_type_is_refused', TypeError, ['sum_rows: scale = 1.5 is float, and no float2'],
            shapes.sum_rows, view, 1.5, sums, flags, 0)
    refused('symbol_has_its_number_of_elements', shapes.EINVAL, ['factors has 6 elements, and 2 were passed'],
            shapes.set_factors, [1, 2])
    even = shapes.max(array.array('i', [1, 5, 4, 5, 9]), array.array('i', [77, 77]))
    expect('extent_may_be_linear_in_a_scalar', list(even), [3, 5])
    refused('extent_that_no_scalar_has_is_refused', shapes.EINVAL,
            ['max: lambda_ has the shape (4,), and (5,) is needed'],
            shapes.max, array.array('i', [1, 5, 4, 5]), array.array('i', [77, 77]))


class Moved(ctypes.Structure):
    _fields_ = [('position', ctypes.c_double * 2), ('mass', ctypes.c_float)]


def run_structs():
    bodies = (shapes.body * 2)(shapes.body(2, (1, 2)), shapes.body(3, (4, 5)))
    weights = array.array('f', [77, 77])
    shapes.weigh(bodies, shapes.body(10, (0, 0.5)), 0.25, weights)
    expect('structs_are_of_ctypes', (list(weights), [b.position[1] for b in bodies]), ([20.25, 30.25], [2.5, 5.5]))
    refused('array_of_another_struct_is_refused', TypeError, [
        'weigh: b has the dtype f64', 'not shapes.body (mass: f32 at 0, position: f64[2] at 8)'],
            shapes.weigh, array.array('d', [1, 2]), shapes.body(), 0.0, weights)
    refused('ctypes_struct_with_other_members_is_refused', TypeError, [
        'weigh: b has the dtype bytes24 (position: f64[2] at 0, mass: f32 at 16)', 'not shapes.body'], shapes.weigh,
            (Moved * 2)(), shapes.body(), 0.0, weights)
    try:
        shapes.weigh(bodies, None, 0.0, weights)
        report('struct_that_is_none_is_refused', 'no error')
    except TypeError as error:
        expect('struct_that_is_none_is_refused', str(error), 'weigh: origin = None is NoneType, and no body')
    refused('half_that_is_too_large_is_refused', OverflowError, ['weigh: least = 1000000.0 does not fit f16'],
            shapes.weigh, bodies, shapes.body(), 1e6, weights)
    expect('struct_has_the_size_of_c', ctypes.sizeof(shapes.body), struct.calcsize('fdd'))
    run_odd_scalars()


def run_odd_scalars():
    y = array.array('d', [77] * 5)
    shapes.shift_by(y, (1, 2, 3), 1000, 2000)
    expect('names_that_are_one_in_python_are_two', list(y), [1321] * 5)
    shapes.shift_by(by=(1, 2, 3), min_=2, min__=1, y=y)
    expect('name_of_c_keeps_its_place', list(y), [322] * 5)
    run_order(array.array('f', [1, 2]), array.array('f', [0, 0]))
    expect('struct_of_another_layout_is_no_argument', hasattr(shapes, 'squeeze'), False)
    shapes.tint(x := array.array('f', [0, 0]), (1, 20, 300, 4000))
    expect('vector_of_16_bytes_is_an_argument', list(x), [4001, 4001])
    balls, corners = (shapes.ball * 2)(), (shapes.corner * 2)()
    for at, (ball, corner) in enumerate(zip(balls, corners)):
        ball.centre, ball.radius, corner.x = (0, 0, 0, 5 + at), 1 + at, 100 * (at + 1)
    shapes.swell(balls, corners, 7, shapes.corner(0, 0, 1000), ((0, 20000, 0, 0), 100000))
    expect('structs_of_16_bytes_are_arguments', [corner.z for corner in corners], [121112, 121219])
    run_values('python', lambda *words: shapes.put(array.array('d', [77] * 4), *words), True)
    run_members()


def put_more(half=0.0, brief=0.0, z=0j, how=(0, (0, 0), False, 0)):
    return list(shapes.put_more(array.array('d', [77] * 8), half, brief, z, how))


def run_members():
    """Floats of 16 bits, complex numbers and members of structs accept the values that plain arguments accept."""
    for name, value, rounded in (('half', 65519.9, 65504), ('brief', 3.39e38, 255 * 2.0 ** 120), ('half', 1e-8, 0),
                                 ('brief', -1 - 2.0 ** -8 - 2.0 ** -40, -1 - 2.0 ** -7), ('half', -math.inf, -math.inf),
                                 ('brief', 1 + 2.0 ** -8, 1), ('brief', 2.0 ** -133, 2.0 ** -133),
                                 ('brief', 1.5 * 2.0 ** -133, 2.0 ** -132),
                                 ('brief', math.inf, math.inf)):
        expect(f'python_{name}_of_{value}', put_more(**{name: value})['hb'.index(name[0])], rounded)
    expect('python_nan_of_16_bits', all(map(math.isnan, put_more(half=math.nan, brief=-math.nan)[:2])), True)
    expect('python_complex', [put_more(z=z)[2:4] for z in (1.5 - 2j, 3, True)], [[1.5, -2], [3, 0], [1, 0]])
    expect('python_members', put_more(how=(-2 ** 31, (0, 9), 1, b'a'))[4:], [-2 ** 31, 9, 1, 97])
    expect('python_members_of_lists', put_more(how=(1, [2, 3], True, -1))[4:], [1, 3, 1, -1])
    for name, error, text, words in (
            ('half', OverflowError, 'put_more: half = 65520.0 does not fit f16', {'half': 65520.0}),
            ('brief', OverflowError, 'put_more: brief = 3.4e+38 does not fit bf16', {'brief': 3.4e38}),
            ('brief', TypeError, "put_more: brief = '1' is str, and no number", {'brief': '1'}),
            ('complex', OverflowError, 'put_more: z = 1e+300j does not fit c64', {'z': 1e300j}),
            ('complex', TypeError, "put_more: z = '1j' is str, and no number", {'z': '1j'}),
            ('real_part', OverflowError, 'put_more: z = (1e+300+0j) does not fit c64', {'z': 1e300 + 0j}),
            ('member_char', OverflowError, 'put_more: how.mark = 300 does not fit i8', {'how': (0, (0, 0), True, 300)}),
            ('member', OverflowError, 'put_more: how.part_first = 4294967301 does not fit i32',
             {'how': (2 ** 32 + 5, (0, 0), True, 0)}),
            ('member_of_an_array', OverflowError, 'put_more: how.part_step[1] = 32768 does not fit i16',
             {'how': (0, (0, 2 ** 15), True, 0)}),
            ('member_float', TypeError, 'put_more: how.part_first = 1.0 is float, and no integer',
             {'how': (1.0, (0, 0), True, 0)}),
            ('member_bool', TypeError, "put_more: how.on = 'False' is str, and no bool",
             {'how': (0, (0, 0), 'False', 0)}),
            ('short_tuple', shapes.EINVAL, 'put_more: how = (1, (0, 0)) has the length 2, and settings has the members '
             'part_first, part_step, on, mark', {'how': (1, (0, 0))}),
            ('short_array', shapes.EINVAL, 'put_more: how.part_step = (1,) has the length 1, and 2 is needed',
             {'how': (0, (1,), True, 0)}),
            ('array_member', TypeError, 'put_more: how.part_step = 5 is int, and no tuple or list',
             {'how': (0, 5, True, 0)})):
        refused(f'python_{name}_is_refused', error, [text], put_more, **words)
    how = shapes.settings(1, (2, 3), mark=4)
    how.part_first = 7
    expect('python_class_of_a_struct', put_more(how=how)[4:], [7, 3, 0, 4])
    refused('python_element_of_an_array_member_wraps_nothing', OverflowError,
            ['settings.part_step[1] = 32768 does not fit i16'], operator.setitem, how.part_step, 1, 2 ** 15)
    refused('python_slice_of_an_array_member_has_its_length', shapes.EINVAL,
            ['a part of settings.part_step has the length 2, and 1 values were passed'], operator.setitem,
            how.part_step, slice(None), (1,))
    refused('python_slice_of_an_array_member_is_a_list', TypeError,
            ['a part of settings.part_step = 5 is int, and no tuple or list'], operator.setitem, how.part_step,
            slice(None), 5)
    refused('python_slice_of_an_array_member_wraps_nothing', OverflowError,
            ['settings.part_step[1] = 32768 does not fit i16'], operator.setitem, how.part_step, slice(None),
            (0, 2 ** 15))
    how.part_step[1] = 5
    expect('python_element_of_an_array_member', put_more(how=how)[4:], [7, 5, 0, 4])
    how.part_step[:] = 2, 3
    expect('python_slice_of_an_array_member', put_more(how=how)[4:], [7, 3, 0, 4])
    refused('python_class_of_a_struct_wraps_nothing', OverflowError,
            ['settings.part_first = 4294967301 does not fit i32'], shapes.settings, 2 ** 32 + 5)
    refused('python_class_counts_its_members', TypeError, ['settings has 4 members, and 5 values were passed'],
            shapes.settings, 1, (2, 3), True, 4, 5)
    refused('python_vector_wraps_nothing', OverflowError, ['float2.y = 1e+300 does not fit f32'], shapes.float2, 0,
            1e300)
    refused('python_member_that_is_none_is_refused', AttributeError, ['settings has no member firts'], setattr, how,
            'firts', 1)
    for value, error, text in ((-1, OverflowError, 'p = -1 does not fit u64'), ('1', TypeError, "p = '1' is str")):
        refused(f'python_pointer_that_is_{value}_is_refused', error, [text], shapes._member, 'p', ctypes.c_void_p, '',
                value)
    refused('python_symbol_takes_numbers', TypeError, ["shift = '1' is str, and no integer"], shapes.set_shift, '1')
    refused('python_symbol_takes_lists_of_numbers', TypeError, ["factors[2] = '1' is str, and no number"],
            shapes.set_factors, [[0, 0, '1'], [0, 0, 0]])
    refused('python_symbol_wraps_nothing', OverflowError, ['factors[5] = 1e+300 does not fit f32'], shapes.set_factors,
            [0, 0, 0, 0, 0, 1e300])


def run_order(x, y):
    """Positional arguments are in the order of C, with or without results."""
    for name, call in (('of_c', lambda: shapes.blend(y, x, 3.0, 4.0)),
                       ('of_c_again', lambda: shapes.blend(y, x, 3.0, 4.0)),
                       ('with_named_result', lambda: shapes.blend(x, 3.0, 4.0, y=y)),
                       ('with_named_scalar', lambda: shapes.blend(y, x, 3.0, b=4.0))):
        y[:] = array.array('f', [0, 0])
        expect(f'order_{name}', (call() is y, list(y)), (True, [7, 10]))
    refused('order_of_too_few_is_refused', TypeError,
            ['blend takes y, x, a, b, or without results x, a, b; 2 arguments are given by position'], shapes.blend, x,
            3.0)
    refused('order_of_too_few_with_names_is_refused', TypeError, ['blend', 'x, a'], shapes.blend, y=y, b=2.0)


# ---- NumPy


def run_numpy():
    import numpy as np
    draw = np.random.default_rng(1)
    for dtype, kind in (('f4', 'i4'), ('f4', 'i8'), ('f8', 'i4')):
        source, index = draw.random(1000).astype(dtype), draw.integers(0, 1000, 5000).astype(kind)
        for turn in ('', '_again'):
            res = shapes.gather(source, index)
            expect(f'numpy_gather_{dtype}_{kind}{turn}', (res.dtype, (res == source[index]).all()),
                   (source.dtype, True))
            res = np.full(5000, 77, dtype)
            shapes.gather(source, index, res)
            expect(f'numpy_gather_{dtype}_{kind}_into{turn}', (res == source[index]).all(), True)
    u, v = draw.random((30, 50)), np.zeros((30, 50))
    wanted = v.copy()
    wanted[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] -
                                                4 * u[1:-1, 1:-1])
    for turn in ('', '_again'):
        v[:] = 0
        expect(f'numpy_two_dimensions{turn}', (shapes.step(u, v, 0.1), np.allclose(v, wanted, 0, 1e-14)), (None, True))
    v[:] = 0
    shapes.step(u.reshape(-1), v, 0.1, nx=50, ny=30)
    expect('numpy_flat_array_with_extents', np.allclose(v, wanted, 0, 1e-14), True)
    run_instances(lambda kind, values: np.array(values, kind))
    for turn in ('', '_again'):
        expect(f'order_without_results{turn}', shapes.blend(np.array([1, 2], 'f4'), 3.0, 4.0).tolist(), [7, 10])
    expect('numpy_instance_makes_its_result', shapes.turn_i32(np.array([1, 2], 'f4')).dtype.name, 'int32')
    for kind, part in (('c8', 'f4'), ('c16', 'f8')):
        x, y = np.array([1 + 2j, 3 - 4j], kind), np.zeros(2, kind)
        expect(f'numpy_{x.dtype.name}_is_a_vector', (shapes.quarter(x, y) is y, y.tolist()), (True, (1j * x).tolist()))
        expect(f'numpy_vectors_of_{part}', shapes.quarter(x.view(part).reshape(2, 2)).view(kind).ravel().tolist(),
               (1j * x).tolist())
    refused('numpy_complex128_is_no_float2', TypeError, ['quarter_f: x has the dtype c128'], shapes.quarter_f, x)
    run_extents(np, u, wanted)
    refused('numpy_flat_array_tells_no_extent', TypeError, [
        'step: nx is missing: u has 1 dimension in place of 2 and does not tell it; pass nx='], shapes.step,
            u.reshape(-1), v.reshape(-1), 0.1)
    refused('numpy_result_of_a_negative_extent_is_refused', shapes.EINVAL, ['thin: y would have the shape', 'n = -4'],
            shapes.thin, np.zeros(0), 2, n=-4)
    refused('numpy_shapes_must_agree', shapes.EINVAL, ['step: v has the shape (50, 30), and (30, 50)'], shapes.step, u,
            np.zeros((50, 30)), 0.1)
    refused('numpy_failed_check_is_einval', shapes.EINVAL, ['shapes_step: the check nx > 2'], shapes.step,
            np.zeros((3, 2)), np.zeros((3, 2)), 0.1)
    run_numpy_refusals(np)
    from python_tensors import run_dlpack, run_small_floats     # imported here because they need NumPy
    run_dlpack(np)
    run_small_floats(np)
    run_numpy_values('python', shapes.put)
    run_masked_arrays('python', shapes)
    # After the first call with these arrays, later calls take the fast path.
    run_values('numpy', lambda *words: shapes.put(np.full(4, 77.0), *words), True)
    long = np.zeros((2 ** 31, 0))
    refused('numpy_extent_beyond_its_scalar_is_refused', OverflowError, ['step: ny of u = 2147483648 does not fit i32'],
            shapes.step, long, long, 0.1)
    refused('numpy_huge_shift_is_refused', shapes.EINVAL, ['shifted: x has an extent beyond 64 bits for bits = 20000'],
            shapes.shifted, np.zeros(4, 'f4'), 20000)
    refused('numpy_extent_without_scalars', shapes.EINVAL, ['put: y has the shape (3,), and (4,) is needed'],
            shapes.put, np.zeros(3), True, 1, 1, 1.0)
    refused('numpy_result_that_is_too_large_is_refused', MemoryError,
            ['shifted: y with the shape (1152921504606846976,)'], shapes._empty, 'shifted: y',
            shapes._View(0, '', (), True, True), 'f32', (2 ** 60,))


def run_extents(np, u, wanted):
    """Extents that are passed are kept: arrays may have more rows, but must not differ otherwise."""
    v = np.zeros((40, 50))
    shapes.step(np.concatenate([u, u]), v, 0.1, nx=50, ny=30)
    expect('numpy_more_rows_than_given', (np.allclose(v[:30], wanted, 0, 1e-14), v[30:].any()), (True, False))
    v = np.zeros(1600)
    shapes.step(u, v, 0.1, ny=30, nx=50)
    expect('numpy_longer_flat_array', np.allclose(v[:1500], wanted.ravel(), 0, 1e-14), True)
    x, y = (np.ones(5, 'f4') for _ in range(2))
    shapes.axpy(1.0, x[:4], y, n=3)
    expect('numpy_longer_vectors', y.tolist(), [2, 2, 2, 1, 1])
    expect('numpy_given_extent_makes_results', shapes.thin(np.arange(9.0), 2, n=7).tolist(), [0, 2, 4])
    for name, texts, call, words in (
            ('longer_rows', ['step: u has the shape (30, 50), and (30, 40) is needed for nx = 40, ny = 30'],
             (u, v, 0.1), {'nx': 40, 'ny': 30}),
            ('more_rows_without_their_extent', ['step: v has the shape (40, 50), and (30, 50) is needed'],
             (u, np.zeros((40, 50)), 0.1), {'nx': 50}),
            ('more_dimensions', ['step: v has the shape (2, 20, 50), and (30, 50) is needed'],
             (u, np.zeros((2, 20, 50)), 0.1), {'nx': 50, 'ny': 30})):
        refused(f'numpy_{name}_are_refused', shapes.EINVAL, texts, shapes.step, *call, **words)
    refused('numpy_extent_of_others_is_exact', shapes.EINVAL, ['thin: y has the shape (4,), and (3,) is needed'],
            shapes.thin, np.zeros(9), np.zeros(4), 2, n=7)
    for turn in ('', '_again'):
        expect(f'numpy_quotient{turn}', shapes.thin(np.arange(7.0), np.zeros(3), 2).tolist(), [0, 2, 4])
        refused(f'numpy_division_by_0_is_refused{turn}', shapes.EINVAL,
                ['thin: an extent has no value for n = 7, part = 0'], shapes.thin, np.arange(7.0), np.zeros(3), 0)


def run_numpy_refusals(np):
    source, index = np.arange(10, dtype='f8'), np.array([1, 9], 'i4')
    good = np.zeros(2)
    shapes.gather(source, index, good)
    still = np.zeros(2)
    still.flags.writeable = False
    for name, error, texts, arguments in (
            ('dtype', TypeError, ['gather: index has the dtype i16', 'i32'], (source, index.astype('i2'))),
            ('pair_of_dtypes', TypeError, ['gather: index has the dtype i64'], (source, index.astype('i8'))),
            ('byte_order', TypeError, ['gather: source has the dtype >f8'], (source.astype('>f8'), index)),
            ('dtype_of_result', TypeError, ['gather: res has the dtype f32'], (source, index, np.zeros(2, 'f4'))),
            ('objects', TypeError, ['gather: source has the dtype object'], (source.astype(object), index)),
            ('dates', TypeError, ['gather: source has the dtype datetime64[ns]'], (source.astype('M8[ns]'), index)),
            ('texts', TypeError, ['gather: source has the dtype <U3'], (np.array(['abc']), index)),
            ('strides', shapes.EINVAL, ['gather: source is not contiguous'], (source[::2], index)),
            ('read_only', shapes.EINVAL, ['gather: res is read-only'], (source, index, still)),
            ('length', shapes.EINVAL, ['gather: res has the shape (3,), and (2,)'], (source, index, np.zeros(3)))):
        refused(f'numpy_{name}_is_refused', error, texts, shapes.gather, *arguments)
    refused('numpy_stream_is_refused', shapes.EINVAL, ['gather: stream is given'], shapes.gather, source, index, good,
            stream=1)
    class Stream:
        def __cuda_stream__(self):
            raise RuntimeError

        def __repr__(self):
            return 'stream'

    class Array:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError('of its own')

    refused('numpy_array_that_fails_is_refused', shapes.EINVAL, ['gather: source', 'RuntimeError: of its own'],
            shapes.gather, Array(), index)
    for stream, error, text in ((Stream(), TypeError, 'gather: stream = stream is Stream, and no CUDA stream'),
                                (2 ** 2000, OverflowError, 'gather: stream = 2**2000 or beyond does not fit u64'),
                                (-1, OverflowError, 'gather: stream = -1 does not fit u64'),
                                ('1', TypeError, "gather: stream = '1' is str, and no CUDA stream"),
                                (1.0, TypeError, 'gather: stream = 1.0 is float, and no CUDA stream')):
        refused(f'numpy_stream_{str(stream)[:4]}_is_refused', error, [text], shapes.gather, source, index,
                stream=stream)
    expect('numpy_empty_arrays', shapes.gather(source, index[:0]).shape, (0,))
    flags = np.array([[0, 0, 0, 0], [0, 0, 0, 1]], 'f4').reshape(2, 1, 4)
    shapes.set_shift(0)
    shapes.set_factors(np.array([[0, 0, 0], [0, 0, 1]], 'f4'))
    sums, is_positive = shapes.sum_rows(flags, (1, 10), 0)
    expect('numpy_several_results', (sums.tolist(), is_positive.tolist(), is_positive.dtype.name),
           ([0, 10], [False, True], 'bool'))
    bodies = np.zeros(3, np.dtype(shapes.body))
    bodies['mass'] = [1, 2, 3]
    expect('numpy_structs', shapes.weigh(bodies, shapes.body(2), 0).tolist(), [2, 4, 6])
    run_records(np, bodies)
    corners = np.zeros(2, np.dtype(shapes.corner))
    corners['x'], other = [1, 2], np.zeros(2, {'names': 'xyz', 'formats': ['f4'] * 3, 'itemsize': 16})
    for name, given in (('of_the_class', corners), ('of_its_members', other)):
        shapes.swell(np.zeros(2, np.dtype(shapes.ball)), given, 0, (0, 0, 5), ((0, 6, 0, 0), 7))
        expect(f'numpy_structs_of_16_bytes_{name}', given['z'].tolist(), (given['x'] + 18).tolist())


def run_records(np, bodies):
    """Records must have the names, types and offsets of a struct's members; other records of its size are refused."""
    expect('numpy_buffer_of_structs', shapes.weigh(memoryview(bodies), shapes.body(2), 0, np.zeros(3, 'f4')).tolist(),
           [2, 4, 6])
    from python_tensors import Interface
    spelled = np.zeros(3, np.dtype([('mass', 'f4'), ('position', 'f8', 2)], align=True))
    expect('numpy_dtype_like_the_struct', shapes.weigh(spelled, shapes.body(2), 0.0).tolist(), [0, 0, 0])
    for name, members, offsets in (('names', ('mess', 'position'), (0, 8)), ('offsets', ('mass', 'position'), (4, 8)),
                                   ('order', ('position', 'mass'), (0, 16))):
        formats = [('f8', 2) if member == 'position' else 'f4' for member in members]
        other = np.dtype({'names': members, 'formats': formats, 'offsets': offsets, 'itemsize': 24})
        for kind, make in (('', np.asarray), ('_of_buffer', memoryview), ('_on_gpu', Interface)):
            refused(f'numpy_struct_with_other_{name}_is_refused{kind}', TypeError, [
                'weigh: b has the dtype bytes24 (', 'not shapes.body (mass: f32 at 0, position: f64[2] at 8)'],
                    shapes.weigh, make(np.zeros(3, other)), shapes.body(2), 0.0, np.zeros(3, 'f4'))
    refused('numpy_struct_with_another_type_is_refused', TypeError, ['mass: i32 at 0'], shapes.weigh,
            np.zeros(3, np.dtype([('mass', 'i4'), ('position', 'f8', 2)], align=True)), shapes.body(2), 0.0)
    expect('numpy_bytes_are_a_struct',
           shapes.weigh(bodies.view('V24'), shapes.body(2), 0.0, np.zeros(3, 'f4')).tolist(),
           [2, 4, 6])
    backwards = bodies.view(np.dtype({'names': ['position', 'mass'], 'formats': [('f8', 2), 'f4'], 'offsets': [8, 0],
                                      'itemsize': 24}))
    expect('numpy_records_with_members_in_another_order', shapes.weigh(backwards, shapes.body(2), 0.0).tolist(),
           [2, 4, 6])
    vector = np.dtype([(name, 'f4') for name in 'xyzw'])
    expect('numpy_record_is_a_vector', shapes.sum_rows(np.zeros((2, 3), vector), (1, 10), 0)[0].tolist(), [0, 0])
    refused('numpy_record_of_other_members_is_no_vector', TypeError, ['sum_rows: x has the dtype bytes16 (a: f64'],
            shapes.sum_rows, np.zeros((2, 3), [('a', 'f8'), ('b', 'f8')]), (1, 10), 0)


# ---- Played CuPy and PyTorch


def run_played():
    import numpy as np
    import played_arrays
    played_arrays.play()
    draw = np.random.default_rng(1)
    source, index = draw.random(1000), draw.integers(0, 1000, 500).astype('i4')
    for name, kind in (('cupy', played_arrays.ndarray), ('torch', played_arrays.Tensor)):
        refused(f'{name}_needs_a_gpu', shapes.EINVAL, ['gather: source is on a GPU, and the library runs on the CPU'],
                shapes.gather, kind(source), kind(index), kind(np.zeros(500)))
    shapes._gpu_count = lambda: 1
    shapes._stream_device = lambda stream, place: 0
    for name, kind in (('cupy', played_arrays.ndarray), ('torch', played_arrays.Tensor)):
        run_device_arrays(name, kind, np, source, index, played_arrays.Streams)
    run_producers(played_arrays, np, source, index)
    made = shapes.gather(played_arrays.Tensor(source, None), played_arrays.Tensor(index, None))
    expect('torch_on_the_cpu', (made.is_cuda, (made.array == source[index]).all()), (False, True))
    refused('torch_gradient_is_refused', shapes.EINVAL, ['gather: source requires a gradient'], shapes.gather,
            played_arrays.Tensor(source, 0, True), played_arrays.Tensor(index))


def run_device_arrays(name, kind, np, source, index, streams):
    slow, entry = [], shapes._of_gather
    run = type(entry).__call__
    type(entry).__call__ = lambda self, *words: slow.append(1) or run(self, *words)
    streams.current = 0
    for turn, expected in (('', 1), ('_again', 0)):
        slow.clear()
        res = kind(np.full(500, 77.0))
        got = shapes.gather(kind(source), kind(index), res)
        expect(f'{name}_gather{turn}', (got is res, (res.array == source[index]).all(), len(slow)),
               (True, True, expected))
    for turn, expected in (('', 1), ('_again', 0)):
        slow.clear()
        made = shapes.gather(kind(source), kind(index))
        expect(f'{name}_result_is_of_the_library{turn}',
               (type(made) is kind, (made.array == source[index]).all(), len(slow)), (True, True, expected))
    enqueue, used = shapes._of_gather.instances[2].enqueue, []
    key = next(k for k, v in entry.calls.items() if v[1] is enqueue and type(k[0]) is type(kind(source).dtype))
    plain = entry.calls[key][0]
    entry.calls[key] = plain, lambda stream, *words: used.append(stream) or 0
    shapes._of_gather.instances[2].enqueue = entry.calls[key][1]
    streams.current = 1234
    shapes.gather(kind(source), kind(index), kind(np.zeros(500)))
    shapes.gather(kind(source), kind(index))
    shapes.gather(kind(source), kind(index), stream=5678)
    expect(f'{name}_stream_is_current_or_given', used, [1234, 1234, 5678])
    shapes._of_gather.instances[2].enqueue = enqueue
    streams.current = 0
    entry.calls.clear()
    type(entry).__call__ = run
    good = kind(source), kind(index)
    shapes.gather(*good, kind(np.zeros(500)))
    shapes._one_gpu = False
    for what, texts, arguments in (
            ('host', ['gather: index is on the host, and source on a GPU'], (kind(source), index)),
            ('other_gpu', ['gather: source is on GPU 1'], (kind(source, 1), kind(index, 1))),
            ('strides', ['gather: source is not contiguous'], (kind(source[::2]), kind(index))),
            ('length', ['gather: res has the shape (499,)'], (*good, kind(np.zeros(499))))):
        refused(f'{name}_{what}_is_refused', shapes.EINVAL, texts, shapes.gather, *arguments)
    refused(f'{name}_dtype_is_refused', TypeError, ['gather: res has the dtype f32'], shapes.gather, *good,
            kind(np.zeros(500, 'f4')))
    u, v = np.random.default_rng(2).random((2, 5, 7))
    wanted = v.copy()
    shapes.step(u, wanted, 0.25)
    for turn in ('', '_again'):
        got = v.copy()
        shapes.step(kind(u), kind(got), 0.25)
        expect(f'{name}_two_dimensions{turn}', (got == wanted).all(), True)


def run_producers(played, np, source, index):
    """The call is ordered after the producers' work, on the given stream or on theirs."""
    instance, done = shapes._of_gather.instances[2], []
    sync, shapes._stream_sync = shapes._stream_sync, lambda stream: done.append(f'sync {stream}') or 0
    enqueue, instance.enqueue = instance.enqueue, lambda stream, *words: done.append(f'launch {stream}') or 0
    for name, words, streams, ordered, wanted in (
            ('own_streams', {}, (8, 8), 1, ['sync 1', 'launch 8', 'sync 8']),
            ('given_stream', {'stream': 5}, (8, 9), 5, ['sync 8', 'sync 9', 'launch 5']),
            ('given_stream_of_their_own', {'stream': 8}, (8, 8), 8, ['launch 8']),
            ('given_default_stream', {'stream': 0}, (1, None), 1, ['launch 0']),
            ('given_stream_without_theirs', {'stream': 2}, (None, None), 2, ['launch 2'])):
        done.clear()
        lent = played.Lent(index)
        shapes.gather(played.Foreign(source, streams[0]), lent, played.Foreign(np.zeros(500), streams[1]), **words)
        expect(f'producers_on_{name}', (lent.streams, done), ([ordered], wanted))
    done.clear()
    played.Streams.current = 1234
    shapes.gather(*(played.ndarray(array) for array in (source, index, np.zeros(500))), stream=5)
    expect('given_stream_is_not_ordered_after_the_current_one', done, ['launch 5'])
    played.Streams.current = 0
    shapes._stream_sync, instance.enqueue = sync, enqueue


if __name__ == '__main__':
    {'buffers': run_buffers, 'numpy': run_numpy, 'played': run_played}[sys.argv[1]]()
