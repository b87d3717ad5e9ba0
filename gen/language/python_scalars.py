"""The part of a generated Python module that converts scalars; it follows python_arrays.py there, without these
imports. Its first section is also a part of a Cython wrapper."""

import ctypes
import functools
import math
import operator

from language.python_arrays import _check, _CODED, _dtype_of_format, _fields_without_padding, _function, EINVAL

# ---- Numbers

# Maps each floating-point type of C to the least value that rounds to infinity.
_FLOATS = {'f32': (2 - 2.0 ** -24) * 2.0 ** 127, 'f64': math.inf}
_PARTS = {'c64': 'f32', 'c128': 'f64'}      # types of the parts of complex numbers
_INTEGERS = {'bool': (0, 1), **{f'i{bits}': (-2 ** (bits - 1), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
             **{f'u{bits}': (0, 2 ** bits - 1) for bits in (8, 16, 32, 64)}}


def _spell_value(value):
    """Returns a value's text for a message: short and on one line, even if it has thousands of digits or no text."""
    if isinstance(value, int) and value.bit_length() > 192:
        return f'{"-" * (value < 0)}2**{value.bit_length() - 1} or beyond'
    try:
        text = ' '.join(repr(value).split())
    except Exception:   # an object's own __repr__ may raise any exception
        text = '...'
    return text if len(text) <= 60 else f'{text[:57]}...'


def _not_a(what, name, value):
    return TypeError(f'{name} = {_spell_value(value)} is {type(value).__name__}, and no {what}')


def _is_masked(value):
    """True for an array or a scalar, as of numpy.ma, with a mask that hides an element."""
    return hasattr(type(value), 'mask') and hasattr(value.mask, 'tobytes') and b'\1' in value.mask.tobytes()


def _plain(value):
    """Returns a scalar of NumPy or PyTorch, or an array without dimensions, as a Python number; other values
    unchanged."""
    if type(value) in (bool, float, int) or not hasattr(value, 'shape') or not hasattr(value, 'item'):
        return value
    if tuple(value.shape) or getattr(getattr(value, 'dtype', None), 'kind', '') in ('m', 'M') or _is_masked(value):
        raise TypeError
    return value.item()


def _real(kind, value):
    if type(value) is not float and not hasattr(type(value), '__float__') and not hasattr(type(value), '__index__'):
        raise TypeError     # float() would accept strings
    real = float(value)
    # float() turns a longer type's large value into infinity without an error.
    if abs(real) >= _FLOATS[kind] if math.isfinite(real) else math.isinf(real) and value != real:
        raise OverflowError
    return real


def _number(name, kind, value):
    """Returns the number for a parameter. Integers and bools are exact; a float is not yet rounded to its type."""
    try:
        plain = _plain(value)
        if kind in _FLOATS:
            return _real(kind, plain)
        if kind in _PARTS:
            whole = complex(plain) if isinstance(plain, complex) else _real(_PARTS[kind], plain) + 0j
            _real(_PARTS[kind], whole.real)
            _real(_PARTS[kind], whole.imag)
            return whole
        if not hasattr(type(plain), '__index__'):
            raise TypeError     # the error did not occur in a method of the value
        number = operator.index(plain)
    except OverflowError:
        raise OverflowError(f'{name} = {_spell_value(value)} does not fit {kind}') from None
    except Exception as error:      # an object's own methods may raise anything
        what = 'number' if kind in _FLOATS or kind in _PARTS else 'bool' if kind == 'bool' else 'integer'
        raise _not_a(what, name, value) from (error if error.args else None)
    low, high = _INTEGERS[kind]
    if not low <= number <= high:
        raise OverflowError(f'{name} = {_spell_value(number)} does not fit {kind}')
    return bool(number) if kind == 'bool' else number


def _quotient(left, right):
    """Returns the quotient, rounded towards 0 as in C."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left, right):
    return left - right * _quotient(left, right)


# ---- Numbers and structs for ctypes


class _Bits8(ctypes.Structure):
    _fields_ = [('bits', ctypes.c_uint8)]


class _Bits16(ctypes.Structure):
    _fields_ = [('bits', ctypes.c_uint16)]


class _Complex64(ctypes.Structure):
    _fields_ = [('real', ctypes.c_float), ('imag', ctypes.c_float)]


class _Complex128(ctypes.Structure):
    _fields_ = [('real', ctypes.c_double), ('imag', ctypes.c_double)]


_NUMBERS = {'i8': ctypes.c_int8, 'i16': ctypes.c_int16, 'i32': ctypes.c_int32, 'i64': ctypes.c_int64,
            'u8': ctypes.c_uint8, 'u16': ctypes.c_uint16, 'u32': ctypes.c_uint32, 'u64': ctypes.c_uint64,
            'f32': ctypes.c_float, 'f64': ctypes.c_double, 'c64': _Complex64, 'c128': _Complex128,
            'bool': ctypes.c_bool, **{kind: _Bits8 if row[0] == 1 else _Bits16 for kind, row in _CODED.items()}}
_FLOATS.update(dict.fromkeys(_CODED, math.inf))     # _encode() finds those that do not fit


def _encode(kind, real):
    """Returns the bits of a float that C sees as bits, rounded to the nearest, ties to even; None if it does not
    fit."""
    size, digits, beyond, _, _ = _CODED[kind]
    bias = (1 << 8 * size - digits) // 2 - 1
    if real != real:
        bits = beyond | 1 << digits - 2
    elif math.isinf(real):
        bits = beyond
    else:
        least = max(math.frexp(real)[1] - 1, 1 - bias) if real else 1 - bias    # denormal numbers share an exponent
        bits = round(math.ldexp(abs(real), digits - 1 - least)) + (least + bias - 1 << digits - 1)
    has_infinity = beyond & (1 << digits - 1) - 1 == 0
    if bits >= beyond and (math.isfinite(real) or math.isinf(real) and not has_infinity):
        return None
    return bits | (math.copysign(1, real) < 0) << 8 * size - 1


def _scalar(name, kind, value):
    """Returns a value for ctypes; `kind` is the name of a number's type, or the class of a struct."""
    if isinstance(kind, type):
        return _struct(name, kind, value)
    number = _number(name, kind, value)
    if kind in _PARTS:
        return _NUMBERS[kind](number.real, number.imag)
    if kind not in _CODED:
        return number
    bits = _encode(kind, number)
    if bits is None:
        raise OverflowError(f'{name} = {_spell_value(value)} does not fit {kind}')
    return _NUMBERS[kind](bits)


@functools.lru_cache(maxsize=None)
def _fields_of(kind):
    """Returns the fields of a structure as {name: (type, kind)}."""
    return {name: (ctype, _kind_of(ctype)) for name, ctype in _fields_without_padding(kind)}


def _kind_of(ctype):
    """Returns the kind of a number's type; '' for other types."""
    if not issubclass(ctype, ctypes._SimpleCData) or ctype in (ctypes.c_char, ctypes.c_void_p):
        return ''
    return _dtype_of_format(memoryview(ctype()).format, ctypes.sizeof(ctype))


def _struct(name, kind, value):
    if isinstance(value, kind):
        return value
    if not isinstance(value, tuple):
        raise _not_a(kind.__name__, name, value)
    fields = _fields_of(kind)
    if len(value) != len(fields):
        raise EINVAL(f'{name} = {_spell_value(value)} has the length {len(value)}, and {kind.__name__} has the members '
                     f'{", ".join(fields)}')
    made = kind()
    for (field, types), part in zip(fields.items(), value):
        _set(made, field, _member(f'{name}.{field}', *types, part))
    return made


def _member(name, ctype, kind, value):
    """Returns the value of a struct's member for ctypes."""
    if kind:
        return _number(name, kind, value.value if isinstance(value, ctype) else value)
    if isinstance(value, ctype):
        return value
    if issubclass(ctype, ctypes.Structure):
        return _struct(name, ctype, value)
    if hasattr(ctype, '_length_'):
        is_text = ctype._type_ is ctypes.c_char
        if not isinstance(value, (tuple, list, ctypes.Array) + (bytes,) * is_text):
            raise _not_a('tuple or list', name, value)
        if len(value) != ctype._length_:
            raise EINVAL(f'{name} = {_spell_value(value)} has the length {len(value)}, and {ctype._length_} is needed')
        kind = _kind_of(ctype._type_)
        parts = [_member(f'{name}[{number}]', ctype._type_, kind, part) for number, part in enumerate(value)]
        return b''.join(parts) if is_text else ctype(*parts)
    if ctype is ctypes.c_char:
        if isinstance(value, bytes) and len(value) == 1:
            return value
        return bytes([_number(name, 'i8', value) & 255])
    return None if value is None else _number(name, 'u64', value)       # a pointer


_set = ctypes.Structure.__setattr__


def _array(name, ctype, length):
    """Returns the class of an array that is the member `name` of a struct. Its elements accept the same values as
    members."""
    plain, kind = ctype * length, _kind_of(ctype)

    def put(self, index, value):
        if isinstance(index, slice):
            places = range(length)[index]
            if not hasattr(type(value), '__len__'):
                raise _not_a('tuple or list', f'a part of {name}', value)
            if len(value) != len(places):
                raise EINVAL(f'a part of {name} has the length {len(places)}, and {len(value)} values were passed')
            value = [_member(f'{name}[{n}]', ctype, kind, part) for n, part in zip(places, value)]
        else:
            value = _member(f'{name}[{index}]', ctype, kind, value)
        plain.__setitem__(self, index, value)
    return type(name, (plain,), {'__setitem__': put})


class _Struct(ctypes.Structure):
    """A struct whose members accept the same values as arguments."""

    _is_by_address_ = False     # as ctypes aligns no value to 16 bytes

    def __init__(self, *values, **named):
        kind = type(self)
        if len(values) > len(_fields_of(kind)):
            raise TypeError(f'{kind.__name__} has {len(_fields_of(kind))} members, and {len(values)} values were '
                            'passed')
        super().__init__(*values, **named)

    def __setattr__(self, name, value):
        kind = type(self)
        if name not in _fields_of(kind):
            raise AttributeError(f'{kind.__name__} has no member {name}')
        _set(self, name, _member(f'{kind.__name__}.{name}', *_fields_of(kind)[name], value))


def _stream_handle(name, stream):
    """Returns the handle of a stream, which is an integer, a stream of CuPy or PyTorch, or any object with
    __cuda_stream__()."""
    handle = stream
    try:
        if hasattr(stream, '__cuda_stream__'):
            handle = stream.__cuda_stream__()[1]
        else:
            attribute = next((a for a in ('ptr', 'cuda_stream', 'handle') if hasattr(stream, a)), None)
            handle = getattr(stream, attribute) if attribute else stream
        handle = operator.index(handle)
    except Exception as error:      # an object's own methods may raise anything
        raise _not_a('CUDA stream', name, stream) from error
    return _number(name, 'u64', handle)


def _is_list(value, kind):
    return hasattr(type(value), '__len__') and getattr(value, 'shape', None) != () and not isinstance(
        value, (str, bytes, dict, ctypes.Structure) + (tuple,) * isinstance(kind, type))


def _flatten(value, kind):
    return [v for part in value for v in _flatten(part, kind)] if _is_list(value, kind) else [value]


class _Setter:
    """Sets __constant__ data from a value, or from an array or a list of all elements."""

    def __init__(self, name, function, kind, extents, by_value):
        self.name, self.kind, self.count, self.by_value = name, kind, math.prod(extents), by_value
        self.ctype = _NUMBERS.get(kind, kind)
        self.function = _function(function, self.ctype if by_value else ctypes.c_void_p)

    def __call__(self, value):
        if self.by_value:
            return _check(self.function(_scalar(self.name, self.kind, value)))
        values = _flatten(value, self.kind)
        if len(values) != self.count:
            raise EINVAL(f'{self.name} has {self.count} elements, and {len(values)} '
                         f'{"was" if len(values) == 1 else "were"} passed')
        words = [_scalar(f'{self.name}[{number}]', self.kind, v) for number, v in enumerate(values)]
        return _check(self.function(ctypes.byref((self.ctype * self.count)(*words))))
