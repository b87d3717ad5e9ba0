"""value_cases.py - the rule for scalars of Python, Cython and TVM-FFI, tested with the kernel put() of python.cu."""

import array
import decimal
import fractions
import math
import struct

from report_lines import expect, refused

INFINITE = (2 - 2.0 ** -24) * 2.0 ** 127     # the smallest float of Python that rounds to infinity
LARGEST = struct.unpack('<f', struct.pack('<I', 0x7f7fffff))[0]
GOOD = {'on': True, 'low': 5, 'high': 7, 'real': 1.5}
REFUSED = (
    ('on', 'integer_for_bool', 2, OverflowError), ('on', 'negative_for_bool', -1, OverflowError),
    ('on', 'text_for_bool', 'False', TypeError), ('on', 'list_for_bool', [0], TypeError),
    ('on', 'object_for_bool', object(), TypeError), ('on', 'float_for_bool', 1.0, TypeError),
    ('on', 'nothing_for_bool', b'', TypeError), ('on', 'none_for_bool', None, TypeError),
    ('low', 'large_integer', 128, OverflowError), ('low', 'small_integer', -129, OverflowError),
    ('low', 'long_integer', 2 ** 2000, OverflowError), ('low', 'float_for_integer', 2.0, TypeError),
    ('low', 'text_for_integer', '1', TypeError), ('low', 'bytes_for_integer', b'2', TypeError),
    ('low', 'list_for_integer', [1], TypeError), ('low', 'tuple_for_integer', (1,), TypeError),
    ('low', 'fraction_for_integer', fractions.Fraction(2), TypeError),
    ('high', 'negative_for_unsigned', -1, OverflowError), ('high', 'large_unsigned', 2 ** 64, OverflowError),
    ('high', 'decimal_for_integer', decimal.Decimal(2), TypeError), ('high', 'complex_for_integer', 1j, TypeError),
    ('real', 'float_that_would_be_infinite', 1e300, OverflowError),
    ('real', 'least_float_that_would_be_infinite', INFINITE, OverflowError),
    ('real', 'integer_that_would_be_infinite', -2 ** 128, OverflowError),
    ('real', 'integer_beyond_floats', 10 ** 400, OverflowError),
    ('real', 'integer_of_many_digits', -10 ** 5000, OverflowError), ('real', 'text_for_float', '1.5', TypeError),
    ('real', 'bytes_for_float', b'2', TypeError), ('real', 'complex_for_float', 1j, TypeError),
    ('real', 'list_for_float', [1.0], TypeError), ('real', 'buffer_for_float', array.array('f', [1]), TypeError))


def run_values(prefix, put, lacks_none=False):
    """Tests put(on, low, high, real), which returns y. `lacks_none` means that None counts as a missing argument."""
    def results(**words):
        return list(put(*{**GOOD, **words}.values()))

    expect(f'{prefix}_bounds_are_taken', (results(low=-128, high=2 ** 63), results(on=0, low=127, high=1, real=-2)),
           ([1, -128, 2.0 ** 63, 1.5], [0, 127, 0, -2]))
    expect(f'{prefix}_bools_are_integers', results(on=1, low=True, high=True, real=True), [1, 1, 0, 1])
    for name, value, rounded in (
            ('rounds', 0.1, struct.unpack('f', struct.pack('f', 0.1))[0]), ('infinity', -math.inf, -math.inf),
            ('largest', INFINITE * (1 - 2.0 ** -53), LARGEST), ('integer', 2 ** 24 + 1, 2.0 ** 24), ('tiny', 1e-300, 0),
            ('long_integer', 10 ** 30, struct.unpack('f', struct.pack('f', 1e30))[0]),
            ('fraction', fractions.Fraction(1, 4), 0.25)):
        expect(f'{prefix}_float_{name}', results(real=value)[3], rounded)
    expect(f'{prefix}_float_nan', math.isnan(results(real=math.nan)[3]), True)
    for parameter, name, value, error in REFUSED:
        if value is not None or not lacks_none:
            refused(f'{prefix}_{name}_is_refused', error, [f'put: {parameter}'], put,
                    *{**GOOD, parameter: value}.values())
    refused(f'{prefix}_value_without_a_text_is_refused', TypeError, ['put: low = ... is Mute, and no integer'], put,
            *{**GOOD, 'low': Mute()}.values())
    refused(f'{prefix}_long_value_is_cut', TypeError, [f"put: low = '{'x' * 56}", '... is str, and no integer'] if
            prefix != 'tvm_ffi' else [f"put: low = '{'x' * 57}...' is str, and no integer"], put,
            *{**GOOD, 'low': 'x' * 90}.values())
    refused(f'{prefix}_text_is_cut_between_characters', TypeError, ["put: low = 'x\u00e4\u00e4", '... is str' if
            prefix != 'tvm_ffi' else "...' is str"], put, *{**GOOD, 'low': f'x{chr(228) * 90}'}.values())
    for parameter, value, what in (('low', Failing(), 'integer'), ('real', Failing(), 'number'),
                                   ('on', Failing(), 'bool'), ('real', FailingFloat(), 'number')):
        text = f'put: {parameter} = a value that fails is {type(value).__name__}, and no {what}'
        refused(f'{prefix}_{type(value).__name__}_for_{parameter}_is_refused', TypeError, [text], put,
                *{**GOOD, parameter: value}.values())
    if prefix == 'tvm_ffi':     # the package of TVM-FFI calls no methods of the value
        return
    for name, value, wanted in (('failure', Failing(), 'RuntimeError(7)'), ('other_type', 2.0, 'None')):
        try:
            put(*{**GOOD, 'low': value}.values())
        except TypeError as error:
            expect(f'{prefix}_cause_of_a_{name}', repr(error.__cause__), wanted)


class Mute:
    def __repr__(self):
        raise RuntimeError


class Failing:
    def __index__(self):
        raise RuntimeError(7)

    def __repr__(self):
        return 'a value  that\nfails'


class FailingFloat(Failing):
    def __float__(self):
        raise ZeroDivisionError


class Index:
    def __index__(self):
        return 3


class Float:
    def __float__(self):
        return 0.5


def run_numpy_values(prefix, put, takes_objects=True):
    import numpy as np
    expect(f'{prefix}_scalars_of_numpy', list(put(np.uint8(1), np.int64(-3), np.uint8(4), np.float64(0.5))),
           [1, -3, 3, 0.5])
    refused(f'{prefix}_large_integer_of_numpy_is_refused', OverflowError, ['put: low'], put, True, np.int64(300), 1,
            0.5)
    for name, value in (('float', np.float32(2)), ('date', np.datetime64(5, 'ns')), ('text', np.str_('1')),
                        ('array', np.ones(1, 'i4'))):
        refused(f'{prefix}_{name}_of_numpy_for_integer_is_refused', TypeError, ['put: low'], put, True, value, 1, 0.5)
    for name, value in (('complex', np.complex64(1)), ('text', np.str_('1')),
                        ('array', np.ones(1)), ('record', np.zeros((), 'i4,i4')[()])):
        refused(f'{prefix}_{name}_of_numpy_for_float_is_refused', TypeError, ['put: real'], put, True, 1, 1, value)
    for name, parameter, value in (('void', 'real', np.void(b'1234')), ('nan_for_integer', 'low', np.float64('nan')),
                                   ('date_for_float', 'real', np.datetime64('NaT', 's'))):
        refused(f'{prefix}_{name}_of_numpy_is_refused', TypeError, [f'put: {parameter}'], put,
                *{**GOOD, parameter: value}.values())
    if takes_objects:
        refused(f'{prefix}_text_without_dimensions_is_refused', TypeError, ['put: real = '], put, True, 1, 1,
                np.array('3'))
        for name, value in (('constant', np.ma.masked), ('scalar', np.ma.array(3, mask=True))):
            for parameter in ('on', 'low', 'real'):
                refused(f'{prefix}_masked_{name}_for_{parameter}_is_refused', TypeError,
                        [f'put: {parameter} = masked', ' is Masked'], put, *{**GOOD, parameter: value}.values())
        expect(f'{prefix}_scalars_that_are_not_masked',
               list(put(True, np.ma.array(3, mask=False), 4, np.ma.array(0.5))), [1, 3, 3, 0.5])
        refused(f'{prefix}_duration_of_numpy_is_refused', TypeError, ['put: real = '], put, True, 1, 1,
                np.timedelta64(5, 's'))
        expect(f'{prefix}_scalars_of_others', list(put(np.bool_(True), Index(), np.array(4), Float())), [1, 3, 3, 0.5])
        expect(f'{prefix}_decimal', list(put(np.False_, 0, 1, decimal.Decimal('0.25'))), [0, 0, 0, 0.25])
        for name, value in (('longdouble', np.longdouble('1e4000')), ('decimal', decimal.Decimal('1e400'))):
            refused(f'{prefix}_long_{name}_is_refused', OverflowError, ['put: real = '], put, True, 1, 1, value)


def run_masked_arrays(prefix, shapes):
    """Arrays of numpy.ma that hide elements are refused; those that hide none are accepted."""
    import numpy as np
    x, y = np.array([1, 2], 'f4'), np.zeros(2, 'f4')
    for turn in ('', '_again'):
        for name, arrays in (('read', (np.ma.array(x, mask=[0, 1]), y)), ('written', (x, np.ma.array(y, mask=True)))):
            refused(f'{prefix}_masked_array_that_is_{name}_is_refused{turn}', shapes.EINVAL, [
                f'axpy: {"xy"[name == "written"]} has masked elements, and the call would ignore the mask'],
                    shapes.axpy, 1.0, *arrays)
        y[:] = 0
        shapes.axpy(1.0, np.ma.array(x, mask=False), np.ma.array(y, copy=False))
        expect(f'{prefix}_masked_array_without_masked_elements{turn}', y.tolist(), [1, 2])
