"""tvm_ffi_module.py - calls the kernels of python.cu through TVM-FFI. test_python.py runs it in a folder with
shapes_ffi.so; it writes one line per test."""

import os

import numpy as np
import tvm_ffi

from report_lines import expect, refused
from value_cases import run_numpy_values, run_values

tensor = tvm_ffi.from_dlpack


def run_instances(shapes, x, wide):
    """Each instance has its own name; a name of several that fit is refused."""
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
    differences = np.full(2, 77, 'i4')
    shapes.max(tensor(np.array([1, 5, 4, 5, 9], 'i4')), tensor(differences))
    expect('tvm_ffi_linear_extent', differences.tolist(), [3, 5])
    pairs, turned = np.array([1 + 2j, 3 - 4j], 'c8'), np.zeros(2, 'c8')
    shapes.quarter(tensor(pairs), tensor(turned))
    expect('tvm_ffi_complex_numbers_are_vectors', turned.tolist(), (1j * pairs).tolist())
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
            ('range', ValueError, ['shapes_gather_f64_i32: index[0] = 1000 is outside [0, 1000)'],
             (tensor(np.full(5000, 1000, 'i4')), tensor(res)))):
        refused(f'tvm_ffi_{name}_is_refused', error, texts, shapes.gather, tensor(source), *arguments)
    expect('tvm_ffi_failed_call_leaves_the_result', (res == before).all(), True)
    refused('tvm_ffi_shapes_must_agree', ValueError, ['step: v has the extent 7 in dimension 0, and not ny = 5'],
            shapes.step, tensor(u), tensor(np.zeros((7, 5))), 0.25)
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
