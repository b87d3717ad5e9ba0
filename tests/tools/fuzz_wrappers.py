"""fuzz_wrappers.py - calls the wrappers of python.cu with random odd arguments. No call may crash, use a value other
than the argument's, or raise an exception that does not name the function and the argument. test_python.py runs it in a
folder with the wrappers. It prints one line for each promise; stderr has each call, so that a crash shows its call.

usage: fuzz_wrappers.py python|cython|tvm_ffi [--calls N] [--seed N]
"""

import argparse
import array
import ctypes
import decimal
import fractions
import math
import os
import random
import sys

import numpy as np

from report_lines import report

PROMISES = ('exceptions_are_those_of_the_rule', 'messages_name_function_and_argument',
            'results_are_those_of_the_values', 'refused_calls_leave_the_results')
SIZE = 12   # elements of each array


class Damaged:
    """An array for DLPack or __cuda_array_interface__ some of whose fields are wrong; `is_good` is set if none is."""

    def __init__(self, values):
        self.values, self.kept = values, []


class Tensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32),
                ('ndim', ctypes.c_int32), ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8),
                ('lanes', ctypes.c_uint16), ('shape', ctypes.c_void_p), ('strides', ctypes.c_void_p),
                ('offset', ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [('tensor', Tensor), ('context', ctypes.c_void_p), ('deleter', ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32), ('context', ctypes.c_void_p),
                ('deleter', ctypes.c_void_p), ('flags', ctypes.c_uint64), ('tensor', Tensor)]


class Packed(ctypes.Structure):
    """The struct TVMFFIAny."""
    class Value(ctypes.Union):
        _fields_ = [('real', ctypes.c_double), ('pointer', ctypes.c_void_p)]
    _anonymous_ = ['value']
    _fields_ = [('type_index', ctypes.c_int32), ('padding', ctypes.c_uint32), ('value', Value)]


DAMAGE = (('data', (0,)), ('device_type', (0, -1, 2, 3, 7, 13, 99)), ('device_id', (5, -1)),
          ('ndim', (-1, -2 ** 31, 0, 65, 2 ** 31 - 1)), ('code', (0, 1, 3, 4, 5, 6, 17, 255)),
          ('bits', (0, 1, 8, 16, 64, 128)), ('lanes', (0, 2, 4, 65535)), ('shape', (0,)), ('strides', (0,)),
          ('offset', (2 ** 64 - 8,)), ('extent', (-1, 0, 2 ** 62, -2 ** 63, SIZE - 1)), ('stride', (2, -1, 0)))


class Capsules(Damaged):
    """A handmade DLPack tensor, whose fields are then damaged."""

    def __init__(self, values, draw=None):
        super().__init__(values)
        self.is_versioned, self.damaged = bool(draw) and draw.random() < 0.5, []
        self.whole = (Versioned if self.is_versioned else Managed)()
        self.shape, self.strides = (ctypes.c_int64 * 1)(values.size), (ctypes.c_int64 * 1)(1)
        tensor = self.whole.tensor
        tensor.data, tensor.device_type, tensor.ndim = values.ctypes.data, 1, 1
        tensor.code, tensor.bits, tensor.lanes = 2, 8 * values.itemsize, 1
        tensor.shape, tensor.strides = ctypes.addressof(self.shape), ctypes.addressof(self.strides)
        if self.is_versioned:
            self.whole.major = 1
        for field, choices in draw.sample(DAMAGE, draw.choice((0, 1, 1, 1, 2))) if draw else ():
            value = draw.choice(choices)
            self.damaged.append((field, value))
            if field == 'extent':
                self.shape[0] = value
            elif field == 'stride':
                self.strides[0] = value
            else:
                setattr(tensor, field, value)
        if self.is_versioned and draw.random() < 0.2:
            self.damaged.append(('major', 2))
            self.whole.major = 2

    def __repr__(self):
        return f'<DLPack {"1.0 " * self.is_versioned}{self.damaged}>'

    @property
    def is_good(self):
        harmless = [('device_type', 3), ('strides', 0), ('device_id', 5), ('device_id', -1)]
        return all(pair in harmless or pair[0] == 'stride' and ('strides', 0) in self.damaged for pair in self.damaged)

    def __dlpack_device__(self):
        return self.whole.tensor.device_type, self.whole.tensor.device_id

    def __dlpack__(self, **words):
        if not self.is_versioned and 'max_version' in words:
            raise TypeError('max_version is no argument')
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.whole), b'dltensor_versioned' if self.is_versioned else b'dltensor', None)


class Interfaces(Damaged):
    """An array on a GPU with damaged fields, which no call on the CPU may accept."""
    is_good = False

    def __init__(self, values, draw):
        super().__init__(values)
        facts = dict(values.__array_interface__)
        for key, choices in draw.sample((
                ('typestr', ('', '<', '|O', '<f', 5, None, '<f4x', '|V4')),
                ('shape', (5, None, (-1,), ('a',), (2 ** 70,))),
                ('data', (5, None, ('a', 1), (-1, False), (2 ** 70, True), ())), ('strides', (5, (), ('a',), (4, 4))),
                ('stream', ('a', 1.5, 0, -1)), ('descr', (5, [5], [()])), ('mask', (5,))), draw.randrange(3)):
            facts[key] = draw.choice(choices)
        for key in draw.sample(sorted(facts), draw.choice((0, 0, 1))):
            del facts[key]
        self.__cuda_array_interface__ = draw.choice((facts, facts, facts, 5, None, {}))

    def __repr__(self):
        return f'<__cuda_array_interface__ {self.__cuda_array_interface__}>'


class Odd:
    """An object with methods that return nonsense."""

    def __init__(self, name, result):
        self.name, self.result = name, result

    def __repr__(self):
        return f'<an object with {self.name}>'

    @staticmethod
    def make(draw):
        name = draw.choice(('__index__', '__float__', '__complex__', '__bool__', '__len__', '__dlpack__',
                            '__dlpack_device__', '__repr__', 'shape', 'item', 'dtype'))
        result = draw.choice((1, 1.5, 'x', None, -1, 2 ** 70, (), ValueError('odd'), TypeError('odd')))

        def method(_self, *_words, **_more):
            if isinstance(result, Exception):
                raise result
            return result

        kind = type('Odd', (Odd,), {name: method if name[0] == '_' else result})
        return kind(name, result)


def odd_scalar(draw):
    bits, sign = draw.choice((1, 7, 8, 15, 16, 31, 32, 53, 63, 64, 127, 128, 1023, 1024, 20000)), draw.choice((1, -1))
    near = sign * 2 ** bits + draw.choice((-1, 0, 1))
    kind = draw.choice(('int8', 'uint8', 'int32', 'int64', 'uint64', 'float16', 'float32', 'float64', 'longdouble',
                        'bool', 'complex64', 'complex128', 'datetime64[s]', 'timedelta64[ns]', 'S2', 'U2', 'V3',
                        'object'))
    numpy = np.zeros(1, kind)
    if kind[0] not in 'dtSUVo':
        numpy[0] = draw.choice((0, 1, 2, 100))
    return draw.choice((
        near, near, draw.randrange(-3, 4), draw.random() * 10.0 ** draw.randrange(-320, 309), float(draw.randrange(5)),
        (2 - 2.0 ** -24) * 2.0 ** 127 * draw.choice((1, 1 - 2.0 ** -53, -1)), math.inf, -math.inf, math.nan, -0.0,
        True, False, None, '1', 'False', '', b'2', bytearray(b'3'), [], [1], (1,), {}, {1}, 1j, 1 + 0j, object(), int,
        float, fractions.Fraction(near, 3), decimal.Decimal(near) / 3, decimal.Decimal('NaN'), numpy[0], numpy,
        numpy[:0], numpy.reshape(()), memoryview(b'1'), array.array('f', [1]), ctypes.c_int(1), Odd.make(draw), print))


def odd_array(draw, good):
    """Returns an argument to pass in place of a good array of NumPy."""
    kind = draw.randrange(10)
    if kind < 3:
        return Capsules(good, draw)
    if kind == 3:
        return Interfaces(good, draw)
    if kind == 4:
        return odd_scalar(draw)
    if kind == 5:
        code = draw.choice('bBhHiIlLqQefdgFDG?OSUVMm')
        with np.errstate(all='ignore'):
            other = np.zeros(good.size, 'V4') if code == 'V' else good.astype(
                {'S': 'S3', 'U': 'U3', 'M': 'M8[ns]', 'm': 'm8[s]'}.get(code, code))
        return other if draw.random() < 0.7 or other.dtype.hasobject else other.view(other.dtype.newbyteorder('>'))
    still = good.copy()
    still.flags.writeable = False
    pair = np.zeros(good.size, [('a', 'f4')])
    return draw.choice((
        good[::-1], good[::2], np.repeat(good, 2)[::2], good[:0], good[:1], good[None], good.reshape(2, -1), still,
        good.reshape(3, 4).T, np.broadcast_to(good[:1], good.shape), np.zeros((0, 2 ** 40), good.dtype), good.tobytes(),
        bytearray(good.tobytes()), memoryview(good), memoryview(good)[::-1], memoryview(good.tobytes()).cast('f'), pair,
        array.array('f', good.tolist()), array.array('i', [0] * good.size),
        (ctypes.c_float * good.size)(*good.tolist()), (ctypes.c_char * good.size)(), (ctypes.c_void_p * good.size)(),
        good.tolist(), good[0], np.array(1, good.dtype),
        np.asfortranarray(good.reshape(3, 4)), np.concatenate([good, good]), np.ma.array(good), good.view(np.recarray)))


def floats_of(argument):
    """Returns the float32 elements of an argument as NumPy sees them; None if NumPy would not accept it."""
    if isinstance(argument, Capsules):
        return argument.values if argument.is_good else None
    if isinstance(argument, Damaged):
        return None
    try:
        values = np.asarray(argument) if isinstance(argument, np.ndarray) else np.frombuffer(argument, np.float32) if (
            memoryview(argument).format in ('f', '<f')) else None
    except (TypeError, ValueError, BufferError):
        return None
    return values if values is not None and values.dtype == np.float32 and values.flags.c_contiguous else None


KINDS = {'on': (0, 1), 'low': (-128, 127), 'high': (0, 2 ** 64 - 1)}


def scalar_of(name, value, language):
    """Returns the number that a parameter of put() or axpy() must get by the rule, or the exception; None if both are
    allowed."""
    if isinstance(value, (Odd, np.longdouble, decimal.Decimal)) or value is None:
        return None
    if isinstance(value, np.ndarray):
        if value.shape:
            return TypeError
        value = value[()]
        if language == 'tvm_ffi' or isinstance(value, np.longdouble):
            return None
    if isinstance(value, np.generic):
        if language == 'tvm_ffi' or isinstance(value, (np.datetime64, np.timedelta64)):
            return None
        value = value.item()
    if name in KINDS:
        if not isinstance(value, int):
            return TypeError
        low, high = KINDS[name]
        return value if low <= value <= high else OverflowError
    if not isinstance(value, (int, float, fractions.Fraction)):
        return TypeError
    try:
        real = float(value)
    except OverflowError:
        return OverflowError
    with np.errstate(over='ignore'):
        rounded = float(np.float32(real))
    return OverflowError if math.isinf(rounded) and not math.isinf(real) else rounded


class Fuzzer:
    def __init__(self, language):
        self.language, self.problems = language, {promise: [] for promise in PROMISES}
        if language == 'tvm_ffi':
            import tvm_ffi
            self.library, self.runtime = (ctypes.CDLL(path) for path in (
                os.path.abspath('shapes_ffi.so'), tvm_ffi.libinfo.find_libtvm_ffi()))
            self.module = tvm_ffi.load_module(os.path.abspath('shapes_ffi.so'))
            self.allowed = (TypeError, ValueError, OverflowError, MemoryError, NotImplementedError)
        else:
            self.module = __import__('shapes' if language == 'python' else 'shapes_wrapper')
            self.allowed = (TypeError, OverflowError, MemoryError, self.module.Error)

    def blame(self, promise, case, text):
        if len(self.problems[PROMISES[promise]]) < 20:
            self.problems[PROMISES[promise]].append(f'{case}: {text}')

    def call(self, case, name, words, odd):
        """Makes a call whose argument `odd` may be wrong; returns its exception or None."""
        text = f'{case} {name}({", ".join(f"{key}={shorten(value)}" for key, value in words.items())})'
        print(text, file=sys.stderr, flush=True)
        values = words.values()
        if self.language == 'tvm_ffi' and any(isinstance(value, Capsules) for value in values):
            error = self.pass_tensors(name, [value if isinstance(value, (float, Capsules)) else Capsules(value)
                                             for value in values])
            if error and f'{name}: ' not in str(error):
                self.blame(1, text, repr(error))
            return error, text
        if self.language == 'tvm_ffi':
            values = [as_tensor(value) for value in values]
            if any(value is NotImplemented for value in values):
                return NotImplemented, text
        try:
            getattr(self.module, name)(*values)
            return None, text
        except Exception as error:      # every type of exception is checked
            said = str(error)
            if isinstance(words[odd], Odd) and said.endswith('odd'):    # the exception comes from the object itself
                return error, text
            if type(error) is ValueError and self.language != 'tvm_ffi' or not isinstance(error, self.allowed):
                if not is_of_tvm_ffi(error, self.language):
                    self.blame(0, text, f'{type(error).__name__}: {said}')
            elif not said.startswith((f'{name}: ', f'shapes_{name}: ')) or not any(
                    part in said.split(': ', 1)[1] for part in ('xy' if odd in 'xy' else (odd,))):
                if not is_of_tvm_ffi(error, self.language):
                    self.blame(1, text, f'{type(error).__name__}: {said}')
            return error, text

    def pass_tensors(self, name, values):
        """Calls through the C interface of TVM-FFI, because the package would read the damaged fields first; returns
        the error."""
        words = (Packed * len(values))()
        for word, value in zip(words, values):
            word.type_index = 3 if isinstance(value, float) else 7      # kTVMFFIFloat, kTVMFFIDLTensorPtr
            if isinstance(value, float):
                word.real = value
            else:
                word.pointer = ctypes.addressof(value.whole.tensor)
        result = Packed()
        if not self.library[f'__tvm_ffi_{name}'](None, words, len(words), ctypes.byref(result)):
            return None
        error = ctypes.c_void_p()
        self.runtime.TVMFFIErrorMoveFromRaised(ctypes.byref(error))
        texts = (ctypes.c_void_p * 4).from_address(error.value + 24)    # kind and message, after the header
        return RuntimeError(' '.join(ctypes.string_at(texts[at], texts[at + 1]).decode() for at in (0, 2)))

    def scalars(self, case, draw):
        name = draw.choice(('on', 'low', 'high', 'real'))
        y = np.full(4, 77.0)
        words = {'y': y, 'on': True, 'low': 5, 'high': 7, 'real': 1.5, name: odd_scalar(draw)}
        error, text = self.call(case, 'put', words, name)
        wanted = scalar_of(name, words[name], self.language)
        if error is NotImplemented or wanted is None:
            return
        if isinstance(wanted, type):
            if type(error) is not wanted and not is_of_tvm_ffi(error, self.language):
                self.blame(2, text, f'{wanted.__name__} is right, and not {error!r}')
            return
        wanted = [float((wanted - 1) % 2 ** 64) if name == 'high' else wanted][0]
        got = y[('on', 'low', 'high', 'real').index(name)]
        if error or not (got == wanted or got != got and wanted != wanted):
            self.blame(2, text, f'{wanted} is right, and not {got} {error!r}')

    def arrays(self, case, draw):
        x, y = np.arange(SIZE, dtype='f4'), np.ones(SIZE, 'f4')
        before, name = y.copy(), draw.choice('xy')
        words = {'a': 2.0, 'x': x, 'y': y}
        words[name] = odd_array(draw, words[name])
        odd = words[name]
        if self.language == 'tvm_ffi' and isinstance(odd, Capsules):    # DLPack tensors of TVM-FFI have no version
            odd.damaged = [pair for pair in odd.damaged if pair[0] != 'major']
        old = np.array(floats_of(odd)) if floats_of(odd) is not None else None
        error, text = self.call(case, 'axpy', words, name)
        if error is NotImplemented:
            return
        if error:
            if not (y == before).all():
                self.blame(3, text, f'{y} {error!r}')
            return
        values = floats_of(odd)
        if values is None or values.size != SIZE:
            self.blame(2, text, 'the call was taken')
            return
        wanted = 1 + 2 * old.ravel() if name == 'x' else old.ravel() + 2 * x
        if not (wanted == (y if name == 'x' else values).ravel()).all():
            self.blame(2, text, f'{wanted} is right')

    def members(self, case, draw):
        """Passes a struct as a tuple with an odd member or an odd length."""
        parts, odd, y = [1, (2, 3), True, 4], odd_scalar(draw), np.full(8, 77.0)
        at = draw.randrange(6)
        parts = parts[:3] if at == 5 else [*parts, odd] if at == 4 else [
            *parts[:at], (2, odd) if at == 1 and draw.random() < 0.7 else odd, *parts[at + 1:]]
        words = {'y': y, 'half': 0.5, 'brief': 0.5, 'z': 1j, 'how': tuple(parts)}
        error, text = self.call(case, 'put_more', words, 'how')
        if error:
            return
        if at > 3 or isinstance(odd, int) and y[(4, 5, 6, 7)[at]] != odd:
            self.blame(2, text, f'{y} is wrong')



def is_of_tvm_ffi(error, language):
    """Returns True for an exception that the package tvm_ffi raised, because it converts arguments before the call."""
    if language != 'tvm_ffi' or error is None:
        return False
    trace, names = error.__traceback__, []
    while trace:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return not any(name.startswith('__tvm_ffi_') for name in names)


def as_tensor(value):
    """Returns an argument for TVM-FFI; NotImplemented if the package cannot pass it."""
    if isinstance(value, np.ndarray) and value.shape:
        import tvm_ffi
        try:
            return tvm_ffi.from_dlpack(value)
        except Exception:       # raised by the package or by NumPy
            return NotImplemented
    return value


def shorten(value):
    try:
        return ' '.join(repr(value).split())[:100]
    except Exception:           # integers with many digits, and odd objects
        return type(value).__name__


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('usage: ')[1].strip())
    parser.add_argument('language', choices=('python', 'cython', 'tvm_ffi'))
    parser.add_argument('--calls', type=int, default=2000)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    fuzzer = Fuzzer(options.language)
    for case in range(options.seed, options.seed + options.calls):
        draw = random.Random(case)
        kinds = [fuzzer.scalars, fuzzer.arrays] + [fuzzer.members] * (options.language == 'python')
        draw.choice(kinds)(case, draw)
    for promise, problems in fuzzer.problems.items():
        report(f'fuzz_{options.language}_{promise}', '; '.join(problems))


if __name__ == '__main__':
    main()
