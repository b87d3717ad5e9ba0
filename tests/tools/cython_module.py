"""cython_module.py - calls the module that Cython built from the wrapper of python.cu. test_python.py runs it in a
folder with the module; it writes one line per test."""

import pydoc

import numpy as np

import shapes_wrapper as shapes
from report_lines import expect, refused
from value_cases import run_masked_arrays, run_numpy_values, run_values


class OnGpu:
    __cuda_array_interface__ = {}


def run_instances(x, wide):
    """Each instance has its own name. A name of several instances is refused if more than one of them fits the
    arguments."""
    expect('cython_instances_of_equal_types', [call(x).tolist() for call in (
        shapes.apply_plus, shapes.apply_times, shapes.reduce_sum_f32, shapes.reduce_max_f32)],
           [[4, 5, 7], [3, 6, 12], [7], [4]])
    expect('cython_only_instance_of_its_types', (shapes.reduce(wide).tolist(), shapes.reduce_sum_f64(wide).tolist()),
           ([3.5], [3.5]))
    refused('cython_several_instances_are_refused', TypeError,
            ['reduce: several instances take these arrays; call one of reduce_max_f32, reduce_sum_f32'],
            shapes.reduce, x)
    refused('cython_instances_without_a_family_are_listed', AttributeError, ['apply_plus, apply_times'],
            lambda: shapes.apply)
    refused('cython_several_instances_for_a_missing_result_are_refused', TypeError,
            ['turn: several instances take these arrays; call one of turn_f32, turn_i32'], shapes.turn, x)
    expect('cython_result_tells_the_instance', [shapes.turn(x, np.zeros(3, kind)).tolist() for kind in ('f4', 'i4')],
           [[1.5, 3, 6], [1, 3, 6]])


def main():
    draw = np.random.default_rng(1)
    for dtype, kind in (('f4', 'i4'), ('f4', 'i8'), ('f8', 'i4')):
        source, index = draw.random(1000).astype(dtype), draw.integers(0, 1000, 5000).astype(kind)
        res = shapes.gather(source, index)
        expect(f'cython_gather_{dtype}_{kind}', (res.dtype, (res == source[index]).all()), (source.dtype, True))
    res = np.full(5000, 77.0)
    expect('cython_result_that_is_given_is_returned', shapes.gather_f64_i32(source, index, res) is res, True)
    expect('cython_gather_into', (res == source[index]).all(), True)
    x, y = draw.random((2, 33)).astype('f4')
    wanted = y + 2 * x
    expect('cython_without_result', (shapes.axpy(2, x, y), np.allclose(y, wanted, 1e-6)), (None, True))
    u, v = draw.random((2, 5, 7))
    wanted = v.copy()
    wanted[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] -
                                                 4 * u[1:-1, 1:-1])
    shapes.step(u, v, 0.25)
    expect('cython_two_dimensions', np.allclose(v, wanted, 0, 1e-14), True)
    expect('cython_linear_extent', shapes.max_(np.array([1, 5, 4, 5, 9], 'i4')).tolist(), [3, 5])
    expect('cython_empty_arrays', shapes.gather(source, index[:0]).shape, (0,))
    y = np.zeros(2, 'f4')
    expect('cython_order_of_arguments', (shapes.blend(y, np.array([1, 2], 'f4'), 3, 4) is y, y.tolist(), shapes.blend(
        np.array([1, 2], 'f4'), 3, 5).tolist()), (True, [7, 10], [8, 11]))
    refused('cython_order_of_too_few_is_refused', TypeError, ['blend takes y, x, a, b, or without results x, a, b'],
            shapes.blend, y)
    expect('cython_arguments_named_like_its_functions', shapes.named(2, 3, np.array([1, 2], 'f4'), 4).tolist(), [9, 11])
    text = pydoc.plain(pydoc.render_doc(shapes))
    expect('cython_help_has_the_kernels_alone', ('CLASSES' in text, text.split('FUNCTIONS\n')[1].split('\n')[0]),
           (False, '    apply_plus(x, y=None)'))
    run_instances(np.array([1, 2, 4], 'f4'), np.array([1.5, 2]))
    still = np.zeros(2)
    still.flags.writeable = False
    index = np.array([1, 9], 'i4')
    for name, error, texts, arguments in (
            ('dtype', TypeError, ['gather_f64_i32: index has the dtype int16, and int32 is needed'],
             (source, index.astype('i2'))),
            ('byte_order', TypeError, ['gather_f64_i32: source has the dtype >d'], (source.astype('>f8'), index)),
            ('strides', shapes.EINVAL, ['gather_f64_i32: source is not contiguous'], (source[::2], index)),
            ('read_only', shapes.EINVAL, ['gather_f64_i32: res is read-only'], (source, index, still)),
            ('length', shapes.EINVAL, ['gather_f64_i32: res has the shape (3,), and (2,)'],
             (source, index, np.zeros(3))),
            ('rank', shapes.EINVAL, ['gather_f64_i32: source has 2 dimensions, and 1 are needed'],
             (source[None], index)),
            ('no_array', TypeError, ['gather_f64_i32: source is no array but list'], ([1.0], index)),
            ('none', TypeError, ['gather_f64_i32: source is no array but NoneType'], (None, index)),
            ('gpu', shapes.EINVAL, ['gather_f64_i32: source is on a GPU'], (OnGpu(), index)),
            ('objects', TypeError, ['gather_f64_i32: source has the dtype O'], (source.astype(object), index)),
            ('dates', TypeError, ['gather_f64_i32: source has the dtype datetime64[s]'],
             (source.astype('M8[s]'), index)),
            ('range', shapes.ERANGE, ['shapes_gather_f64_i32: index[1] = 1000'], (source, np.array([1, 1000], 'i4')))):
        refused(f'cython_{name}_is_refused', error, texts, shapes.gather_f64_i32, *arguments)
    run_masked_arrays('cython', shapes)
    refused('cython_pair_of_dtypes_is_refused', TypeError, ['gather: no instance takes arrays of float64, int16'],
            shapes.gather, source, index.astype('i2'))
    refused('cython_odd_extent_is_refused', shapes.EINVAL, ['max: lambda_ has the extent 4'], shapes.max_,
            np.zeros(4, 'i4'))
    long = np.zeros((2 ** 31, 0))
    refused('cython_extent_beyond_its_scalar_is_refused', OverflowError,
            ['step: u has 2147483648 elements, and ny is i32'], shapes.step, long, long, 0.1)
    expect('cython_complex', shapes.rotate(2j, np.array([1, 1j], 'c8')).tolist(), [2j, -2])
    refused('cython_long_complex_is_refused', OverflowError, ['rotate: z = 1e+300j does not fit c64'], shapes.rotate,
            1e300j, np.zeros(1, 'c8'))
    run_values('cython', shapes.put)
    run_numpy_values('cython', shapes.put)
    refused('cython_division_by_0_is_refused', shapes.EINVAL, ['thin: y has an extent without a value'], shapes.thin,
            np.zeros(4), 0)
    refused('cython_huge_shift_is_refused', shapes.EINVAL, ['shifted: y has an extent beyond 64 bits'], shapes.shifted,
            np.zeros(4, 'f4'), 20000)
    refused('cython_result_of_a_negative_extent_is_refused', shapes.EINVAL, ['thin: y with the shape (-4,)'],
            shapes.thin, np.zeros(4), -1)
    try:
        shapes.gather(source, np.array([-1], 'i4'))
    except shapes.Error as error:
        expect('cython_exception_has_the_status', (error.status, isinstance(error, ValueError)), (-3, True))


if __name__ == '__main__':
    main()
