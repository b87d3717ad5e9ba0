"""tvm_ffi_module.py - calls the kernels of python.cu through TVM-FFI. test_python.py runs it in a folder with
shapes_ffi.so; it writes one line per test."""

import os

import numpy as np
import tvm_ffi

from fuzz_wrappers import Capsules, Fuzzer
from report_lines import expect, refused
from value_cases import run_numpy_values, run_values

tensor = tvm_ffi.from_dlpack


def run_instances(shapes, x, wide):
    """Each instance has its own name. A name of several instances is refused if more than one of them fits the
    arguments."""
    for name, given, wanted in (('apply_plus', x, [4, 5, 7]), ('apply_times', x, [3, 6, 12]),
                                ('reduce_sum_f32', x, [7]),
                                ('reduce_max_f32', x, [4]), ('reduce_sum_f64', wide, [3.5]), ('reduce', wide, [3.5])):
        res = np.zeros(len(wanted), given.dtype)
        getattr(shapes, name)(tensor(given), tensor(res))
        expect(f'tvm_ffi_{name}', res.tolist(), wanted)
    for name, instances in (('reduce', 'reduce_max_f32, reduce_sum_f32'), ('apply', 'apply_plus, apply_times')):
        refused(f'tvm_ffi_several_instances_of_{name}_are_refused', TypeError,
                [f'{name}: several instances take these tensors; call one of {instances}'], getattr(shapes, name),
                tensor(x), tensor(np.zeros(3, 'f4')))


def run_damaged():
    """Damages the fields of tensors one by one and passes them through the C interface, because the package would read
    them."""
    pass_tensors = Fuzzer('tvm_ffi').pass_tensors

    def made(values, **fields):
        result = Capsules(values)
        for field, value in fields.items():
            if field == 'extent':
                result.shape[0] = value
            else:
                setattr(result.whole.tensor, field, value)
        return result

    x, wide, pair, flag, brief = np.ones(4, 'f4'), np.ones(4), np.ones(4, 'c16'), np.ones(4, '?'), np.ones(4, 'u2')
    complex_pair, on, bf16 = {'code': 5}, {'code': 6}, {'code': 4}
    for name, text, call, values in (
            ('negative_rank', 'axpy: x has no valid number of dim', 'axpy', (2.0, made(x, ndim=-1), made(x))),
            ('large_rank', 'axpy: x has no valid number of dim', 'axpy', (2.0, made(x, ndim=65), made(x))),
            ('missing_shape', 'axpy: x has no valid number of dim', 'axpy', (2.0, made(x, shape=0), made(x))),
            ('negative_extent', 'axpy: x has a negative extent', 'axpy', (2.0, made(x, extent=-1), made(x))),
            ('huge_extent', 'axpy: x has more bytes', 'axpy', (2.0, made(x, extent=2 ** 62), made(x))),
            ('null', 'axpy: x has a NULL pointer', 'axpy', (2.0, made(x, data=0), made(x))),
            ('far_offset', 'axpy: x ends beyond', 'axpy', (2.0, made(x, offset=2 ** 64 - 8), made(x))),
            ('lanes', 'axpy: x has elements of the type', 'axpy', (2.0, made(x, lanes=2), made(x))),
            ('other_device', "axpy: x is on a device of DLPack's kind 7", 'axpy',
             (2.0, made(x, device_type=7), made(x))),
            ('two_devices', 'axpy: x and y are on different devices', 'axpy', (2.0, made(x, device_type=2), made(x))),
            ('gpu', 'axpy: the tensors are on a GPU, and the library', 'axpy',
             (2.0, made(x, device_type=2), made(x, device_type=2))),
            ('float_of_128_bits', 'reduce_sum_f64: x has elements of the type float128', 'reduce_sum_f64',
             (made(wide, bits=128), made(wide, extent=1))),
            ('complex_of_32_bits', 'quarter_d: x has elements of the type complex32', 'quarter_d',
             (made(pair, **complex_pair, bits=32), made(pair, **complex_pair))),
            ('bool_of_32_bits', 'chosen: on has elements of the type bool32', 'chosen',
             (made(flag, **on, bits=32), made(brief, **bf16), made(x))),
            ('bfloat_of_8_bits', 'chosen: x has elements of the type bfloat8', 'chosen',
             (made(flag, **on), made(brief, **bf16, bits=8), made(x)))):
        error = pass_tensors(call, values)
        expect(f'tvm_ffi_tensor_with_{name}_is_refused', text in str(error) or error, True)
    brief[:] = [0x3f80, 0x4000, 0x4040, 0x4080]
    flag[2] = False
    good = pass_tensors('chosen', (made(flag, **on), made(brief, **bf16), made(x)))
    expect('tvm_ffi_bools_and_bfloats', (good, x.tolist()), (None, [1, 2, 0, 4]))
    good = pass_tensors('reduce_sum_f32', (made(x, offset=4, extent=3), total := made(np.zeros(1, 'f4'))))
    expect('tvm_ffi_offset_counts', (good, total.values.tolist()), (None, [6]))


def main():
    shapes = tvm_ffi.load_module(os.path.abspath('shapes_ffi.so'))
    draw = np.random.default_rng(1)
    for dtype, kind in (('f4', 'i4'), ('f4', 'i8'), ('f8', 'i4')):
        source, index = draw.random(1000).astype(dtype), draw.integers(0, 1000, 5000).astype(kind)
        res = np.full(5000, 77, dtype)
        shapes.gather(tensor(source), tensor(index), tensor(res))
        expect(f'tvm_ffi_gather_{dtype}_{kind}', (res == source[index]).all(), True)
    x, y = draw.random((2, 33)).astype('f4')
    wanted = y + 2 * x
    shapes.axpy(2, tensor(x), tensor(y))
    expect('tvm_ffi_scalar', np.allclose(y, wanted, 1e-6), True)
    u, v = draw.random((2, 5, 7))
    wanted = v.copy()
    wanted[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] -
                                                 4 * u[1:-1, 1:-1])
    shapes.step(tensor(u), tensor(v), 0.25)
    expect('tvm_ffi_two_dimensions', np.allclose(v, wanted, 0, 1e-14), True)
    one, product = np.zeros((2, 3, 3))
    one[1, 0] = 1
    shapes.step(tensor(one), tensor(product), 2 ** 180 + 2 ** 127 + 1)
    expect('tvm_ffi_long_integer_is_rounded_once', product[1, 1], 2.0 ** 180 + 2.0 ** 128)
    x, y = (tensor(np.zeros(4, 'f4')) for _ in range(2))
    for bits, text in ((40000, 'shapes_shifted: an expression shifts by'),
                       (65536, 'shifted: bits = 65536 does not fit')):
        refused(f'tvm_ffi_shift_of_{bits}_is_refused', OverflowError, [text], shapes.shifted, x, y, bits)
    differences = np.full(2, 77, 'i4')
    shapes.max(tensor(np.array([1, 5, 4, 5, 9], 'i4')), tensor(differences))
    expect('tvm_ffi_linear_extent', differences.tolist(), [3, 5])
    pairs, turned = np.array([1 + 2j, 3 - 4j], 'c8'), np.zeros(2, 'c8')
    shapes.quarter(tensor(pairs), tensor(turned))
    expect('tvm_ffi_complex_numbers_are_vectors', turned.tolist(), (1j * pairs).tolist())
    turned[:] = 0
    shapes.quarter(tensor(pairs.view('f4').reshape(2, 2)), tensor(turned.view('f4').reshape(2, 2)))
    expect('tvm_ffi_vectors_are_a_last_dimension', turned.tolist(), (1j * pairs).tolist())
    run_instances(shapes, np.array([1, 2, 4], 'f4'), np.array([1.5, 2]))
    before, index = res.copy(), np.array([1, 9], 'i4')
    good = tensor(np.zeros(2))
    for name, error, texts, arguments in (
            ('dtype', TypeError, ['gather: index has elements of the type int16'], (tensor(index.astype('i2')), good)),
            ('result', TypeError, ['gather: res has elements of the type float32'],
             (tensor(index), tensor(np.zeros(2, 'f4')))),
            ('strides', ValueError, ['gather: res is not contiguous'], (tensor(index), tensor(np.zeros(4)[::2]))),
            ('length', ValueError, ['gather: res has 3 elements, and not 2'], (tensor(index), tensor(np.zeros(3)))),
            ('number', TypeError, ['gather: index is no tensor'], (3, good)),
            ('count', TypeError, ['gather: 3 arguments are needed, and 2 were passed'], (good,)),
            ('larger_count', TypeError, ['gather: 3 arguments are needed, and 4 were passed'], (good, good, good)),
            ('range', ValueError, ['shapes_gather_f64_i32: index[0] = 1000 is outside [0, 1000)'],
             (tensor(np.full(5000, 1000, 'i4')), tensor(res)))):
        refused(f'tvm_ffi_{name}_is_refused', error, texts, shapes.gather, tensor(source), *arguments)
    expect('tvm_ffi_failed_call_leaves_the_result', (res == before).all(), True)
    refused('tvm_ffi_shapes_must_agree', ValueError, ['step: v has the extent 7 in dimension 0, and not ny = 5'],
            shapes.step, tensor(u), tensor(np.zeros((7, 5))), 0.25)
    long = tensor(np.zeros((2 ** 31, 0)))
    refused('tvm_ffi_extent_beyond_its_scalar_is_refused', OverflowError,
            ['step: ny of u = 2147483648 does not fit int'], shapes.step, long, long, 0.25)
    refused('tvm_ffi_odd_extent_is_refused', ValueError, ['max: lambda has 4 elements, and not 5'],
            shapes.max, tensor(np.zeros(4, 'i4')), tensor(differences))
    refused('tvm_ffi_complex_numbers_are_no_floats', TypeError, ['axpy: x has elements of the type complex64'],
            shapes.axpy, 2.0, tensor(pairs), tensor(pairs))
    run_damaged()
    refused('tvm_ffi_text_is_no_number', TypeError, ["axpy: a = 'a' is str, and no number"], shapes.axpy, 'a',
            tensor(x), tensor(y))

    refused('tvm_ffi_float_is_spelled_briefly', OverflowError, ['axpy: a = 1e+39 does not fit float'], shapes.axpy,
            1e39, tensor(x), tensor(y))

    values = np.zeros(4)

    def put(on, low, high, real):
        shapes.put(tensor(values), on, low, high, real)
        return values

    run_values('tvm_ffi', put)
    run_numpy_values('tvm_ffi', put, False)
    refused('tvm_ffi_long_integer_is_refused', OverflowError,
            ['axpy: a, an integer of more than', 'does not fit float'], shapes.axpy, 10 ** 400, tensor(x), tensor(y))


if __name__ == '__main__':
    main()
