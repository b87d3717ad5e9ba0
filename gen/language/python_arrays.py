"""The part of a generated Python module that knows arrays, scalars and errors; python_calls.py follows it there. The
emitter replaces the value of _PREFIX, and EINVAL by the classes of all statuses."""

import ctypes
import functools  # noqa: F401
import math
import operator
import os
import struct
import sys
from typing import Any, Dict, Optional, Tuple  # noqa: F401

Array = Any


class Error(RuntimeError):
    """A call that was refused or could not be finished; `status` is the CF_... status."""

    status = 0


class EINVAL(Error, ValueError):
    """Stands for the classes of all statuses."""


_ERRORS: Dict[int, Any] = {}    # exceptions by status


# ---- The shared object

_PREFIX = 'prefix'


def _open_library():
    variable, name = f'{_PREFIX.upper()}_LIBRARY_DIR', f'lib{_PREFIX}.so'
    folder = os.environ.get(variable)
    path = os.path.join(folder or os.path.dirname(os.path.abspath(__file__)), name)
    try:
        return ctypes.CDLL(path if folder or os.path.exists(path) else name)
    except OSError as error:
        raise ImportError(f'{_PREFIX} needs {name} of cfcc --shared, beside it or in the folder that {variable} '
                          f'names: {error}') from None


_LIBRARY = _open_library()


def _function(name, *types):
    try:
        function = _LIBRARY[name]
    except AttributeError:
        raise ImportError(f'{_LIBRARY._name} has no {name}; build both again, in one run of cfcc') from None
    function.argtypes = types
    return function


_last_error = _function('cf_last_error')
_last_error.restype = ctypes.c_char_p
_status_text = _function('cf_status_text', ctypes.c_int)
_status_text.restype = ctypes.c_char_p
_device_count = _function('cf_device_count', ctypes.c_void_p)
_stream_device = _function('cf_stream_device', ctypes.c_void_p, ctypes.c_void_p)
_stream_sync = _function('cf_stream_sync', ctypes.c_void_p)


def _fail(status):
    error = _ERRORS.get(status, Error)(_last_error().decode(errors='replace') or _status_text(status).decode())
    error.status = status
    raise error


def _check(status):
    if status:
        _fail(status)


def _gpu_count():
    count = ctypes.c_int()
    _check(_device_count(ctypes.byref(count)))
    return count.value


# ---- Arrays


class _View:
    """The facts of an array, whoever made it."""
    __slots__ = ('contiguous', 'device', 'dtype', 'keep', 'library', 'members', 'pointer', 'shape', 'stream',
                 'writable')

    def __init__(self, pointer, dtype, shape, contiguous, writable, device=-1, stream=None, library='', keep=None,
                 members=None):
        self.pointer, self.dtype, self.shape, self.contiguous = pointer, dtype, tuple(shape), contiguous
        self.writable, self.device, self.stream, self.library, self.keep = writable, device, stream, library, keep
        self.members = members

    def spell(self):
        return self.dtype + (f' ({_spell_members(self.members)})' if self.members else '')


def _dtype_of_typestr(text):
    """The name of a dtype of the array interfaces: <f4 is f32."""
    order, kind, size = text[0], text[1], int(text[2:])
    if size > 1 and kind != 'V' and order not in '|=' + ('<' if sys.byteorder == 'little' else '>'):
        return text
    name = {'f': 'f', 'i': 'i', 'u': 'u', 'c': 'c', 'b': 'bool', 'V': 'bytes', 'O': 'object'}.get(kind, text)
    return 'bool' if kind == 'b' else f'{name}{size if kind == "V" else 8 * size}'


def _dtype_of_format(text, size):
    """The same of a buffer's format."""
    order, code = (text[0], text[1:]) if text[:1] in tuple('@=<>!') else ('@', text)
    if size > 1 and order in ('>!' if sys.byteorder == 'little' else '<'):
        return text
    for codes, name in (('bhilqn', 'i'), ('BHILQN', 'u'), ('efd', 'f')):
        if len(code) == 1 and code in codes:
            return f'{name}{8 * size}'
    return {'?': 'bool', 'c': 'i8', 'P': 'u64', 'Zf': 'c64', 'Zd': 'c128'}.get(code, f'bytes{size}')


def _members_of_descr(descr, prefix='', at=0):
    """The members of a record, as {name: (offset, dtype, extents)}, and its end; None if it has no names. A member of a
    nested record has the name of both, as in the classes of structs."""
    members = {}
    for name, kind, *extents in descr:
        name, extents = prefix + (name[1] if isinstance(name, tuple) else name), tuple(*extents)
        if isinstance(kind, list):
            inner, end = _members_of_descr(kind, f'{name}_', at)
            members.update({name: (at, 'record', extents)} if extents else inner or {})
            size = end - at
        else:
            size, is_text = int(kind[2:]), kind[1] == 'S'
            dtype = 'i8' if is_text else _dtype_of_typestr(kind)
            if name != prefix:      # padding has no name
                members[name] = at, dtype, extents + ((size,) if is_text and size > 1 else ())
        at += size * math.prod(extents)
    return members or None, at


@functools.lru_cache(maxsize=None)
def _members_of_class(kind):
    """The same of a structure of ctypes."""
    members = {}
    for name, ctype, *_ in kind._fields_:
        extents = []
        while hasattr(ctype, '_length_'):
            extents.append(ctype._length_)
            ctype = ctype._type_
        at = getattr(kind, name).offset
        if issubclass(ctype, ctypes.Structure) and not extents:
            members.update({f'{name}_{inner}': (at + offset, *facts)
                            for inner, (offset, *facts) in _members_of_class(ctype).items()})
        else:
            dtype = _dtype_of_format(memoryview(ctype()).format, ctypes.sizeof(ctype))
            members[name] = at, dtype, tuple(extents)
    return members


def _members_of_owner(owner):
    """The same of an object with a buffer."""
    if hasattr(owner, 'dtype'):
        return _members_of_descr(owner.dtype.descr)[0]
    kind = type(owner)
    while hasattr(kind, '_length_'):
        kind = kind._type_
    return _members_of_class(kind) if issubclass(kind, ctypes.Structure) else None


def _spell_members(members):
    return ', '.join(f'{name}: {dtype}{list(extents) or ""} at {at}' for name, (at, dtype, extents) in members.items())


def _is_packed(shape, strides, size):
    """True for C order without gaps; strides in the unit of `size`."""
    if strides is None or 0 in shape:
        return True
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != size:
            return False
        size *= extent
    return True


class _Buffer(ctypes.Structure):
    _fields_ = [('buf', ctypes.c_void_p), ('obj', ctypes.py_object), ('len', ctypes.c_ssize_t),
                ('itemsize', ctypes.c_ssize_t), ('readonly', ctypes.c_int), ('ndim', ctypes.c_int),
                ('format', ctypes.c_char_p), ('shape', ctypes.c_void_p), ('strides', ctypes.c_void_p),
                ('suboffsets', ctypes.c_void_p), ('internal', ctypes.c_void_p)]


def _address(view):
    """The address of a memoryview, also of one that is only read."""
    buffer = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(buffer), 0)
    try:
        return buffer.buf or 0
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))


def _view_buffer(array):
    view = memoryview(array)
    pointer = _address(view) if view.c_contiguous else 0
    return _View(pointer, _dtype_of_format(view.format, view.itemsize), view.shape, view.c_contiguous,
                 not view.readonly, keep=view,
                 members=_members_of_owner(view.obj) if view.format.startswith('T{') else None)


def _view_numpy(array):
    dtype = array.dtype
    name = 'bf16' if dtype.name == 'bfloat16' else _dtype_of_typestr(dtype.str)
    return _View(array.ctypes.data, name, array.shape, array.flags.c_contiguous, array.flags.writeable,
                 library='numpy', members=_members_of_descr(dtype.descr)[0] if dtype.names else None)


def _view_cupy(array):
    with _modules['cupy'].cuda.Device(array.data.device_id):
        stream = _modules['cupy'].cuda.get_current_stream().ptr
    name = 'bf16' if array.dtype.name == 'bfloat16' else _dtype_of_typestr(array.dtype.str)
    return _View(array.data.ptr, name, array.shape, array.flags.c_contiguous, True, array.data.device_id, stream,
                 'cupy')


_TORCH_NAMES = {'bfloat16': 'bf16', 'complex64': 'c64', 'complex128': 'c128', 'bool': 'bool'}


def _view_torch(tensor):
    name = str(tensor.dtype)[len('torch.'):]
    known = _TORCH_NAMES.get(name) or name.replace('float', 'f').replace('uint', 'u').replace('int', 'i')
    if tensor.requires_grad:
        raise ValueError('requires a gradient, which the call would lose; pass its detach()')
    if tensor.is_conj() or tensor.is_neg():
        raise ValueError('is a view that conjugates or negates; pass its resolve_conj() or resolve_neg()')
    kind, device, stream = tensor.device.type, -1, None
    if kind == 'cuda':
        device = tensor.device.index
        stream = _modules['torch'].cuda.current_stream(tensor.device).cuda_stream
    elif kind != 'cpu':
        raise ValueError(f'is on {tensor.device}; the library uses memory of the CPU and of CUDA GPUs')
    return _View(tensor.data_ptr(), known, tensor.shape, tensor.is_contiguous(), True, device, stream, 'torch')


def _view_cuda(array):
    facts = array.__cuda_array_interface__
    dtype = _dtype_of_typestr(facts['typestr'])
    shape, strides = facts['shape'], facts.get('strides')
    pointer, is_read_only = facts['data']
    return _View(pointer or 0, dtype, shape, _is_packed(shape, strides, int(facts['typestr'][2:])), not is_read_only,
                 None, facts.get('stream'), keep=array,
                 members=_members_of_descr(facts['descr'])[0] if facts.get('descr') else None)


class _DLTensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32),
                ('ndim', ctypes.c_int32), ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8),
                ('lanes', ctypes.c_uint16), ('shape', ctypes.POINTER(ctypes.c_int64)),
                ('strides', ctypes.POINTER(ctypes.c_int64)), ('offset', ctypes.c_uint64)]


class _DLVersioned(ctypes.Structure):
    _fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32), ('context', ctypes.c_void_p),
                ('deleter', ctypes.c_void_p), ('flags', ctypes.c_uint64), ('tensor', _DLTensor)]


_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ('PyCapsule_GetPointer', ctypes.pythonapi))
_DL_CPU, _DL_CUDA, _DL_HOST, _DL_MANAGED = 1, 2, 3, 13


def _view_dlpack(array, stream):
    kind, number = array.__dlpack_device__()
    kind = int(kind)
    if kind not in (_DL_CPU, _DL_CUDA, _DL_HOST, _DL_MANAGED):
        raise ValueError(f'is on a device of DLPack\'s kind {kind}; the library uses memory of the CPU and of CUDA '
                         'GPUs')
    is_device = kind in (_DL_CUDA, _DL_MANAGED)
    stream = (stream or 1) if is_device else None       # DLPack calls the default stream 1
    words = {'stream': stream} if is_device else {}     # the producer orders its work before this stream
    try:
        capsule = array.__dlpack__(max_version=(1, 0), **words)
    except TypeError:                                   # a producer of before DLPack 1.0
        capsule = array.__dlpack__(**words)
    if '"dltensor_versioned"' in repr(capsule):
        whole = _DLVersioned.from_address(_capsule_pointer(capsule, b'dltensor_versioned'))
        tensor, writable = whole.tensor, not whole.flags & 1
    else:
        tensor, writable = _DLTensor.from_address(_capsule_pointer(capsule, b'dltensor')), True
    shape = tensor.shape[:tensor.ndim]
    strides = tensor.strides[:tensor.ndim] if tensor.strides else None
    name = {0: 'i', 1: 'u', 2: 'f', 4: 'bf', 5: 'c', 6: 'bool'}.get(tensor.code, f'DLPack {tensor.code}:')
    dtype = name if name == 'bool' else f'{name}{tensor.bits}'
    if tensor.lanes != 1:
        dtype = f'{dtype}x{tensor.lanes}'
    return _View((tensor.data or 0) + tensor.offset, dtype, shape, _is_packed(shape, strides, 1), writable,
                 number if is_device else -1, stream, keep=(array, capsule))


_VIEWS = {'numpy': ('ndarray', _view_numpy), 'cupy': ('ndarray', _view_cupy), 'torch': ('Tensor', _view_torch)}
_modules: Dict[str, Any] = {}   # libraries whose arrays were passed


def _library_of(kind):
    for base in kind.__mro__:
        root = base.__module__.partition('.')[0]
        if root in _VIEWS and base.__name__ == _VIEWS[root][0] and root in sys.modules:
            return root
    return ''


def _view(name, array, stream=None):
    """The view of an argument; TypeError and ValueError name it. `stream` is the handle that the call was given."""
    library = _library_of(type(array))
    try:
        if library:
            _modules[library] = sys.modules[library]
            return _VIEWS[library][1](array)
        if hasattr(array, '__cuda_array_interface__'):
            return _view_cuda(array)
        if hasattr(array, '__dlpack__') and hasattr(array, '__dlpack_device__'):
            return _view_dlpack(array, stream)
        return _view_buffer(array)
    except (BufferError, TypeError, ValueError) as error:
        if isinstance(error, TypeError) and not library:
            raise TypeError(f'{name} is no array but {type(array).__name__}') from None
        raise EINVAL(f'{name} {error}') from None


_NUMPY_NAMES = {'f': 'float', 'c': 'complex', 'i': 'int', 'u': 'uint'}


def _library_dtype(dtype):
    """NumPy's and PyTorch's name of a dtype: f32 is float32."""
    if dtype == 'bf16':
        return 'bfloat16'
    return dtype if dtype == 'bool' else _NUMPY_NAMES[dtype[0]] + dtype[1:]


def _empty(name, like, dtype, shape):
    """A new array in the library of `like`."""
    library = like.library
    if dtype.startswith('bytes'):
        raise TypeError(f'{name} is missing: arrays of structs are not made here')
    if library == 'torch':
        torch = _modules['torch']
        device = 'cpu' if like.device < 0 else f'cuda:{like.device}'
        return torch.empty(shape, dtype=getattr(torch, _library_dtype(dtype)), device=device)
    if library == 'cupy':
        with _modules['cupy'].cuda.Device(like.device):
            return _modules['cupy'].empty(shape, _library_dtype(dtype))
    if like.device != -1:
        raise TypeError(f'{name} is missing, and a library other than CuPy and PyTorch made the other arrays: pass '
                        'an array of its own')
    try:
        import numpy    # type: ignore[import-not-found]
    except ImportError:
        raise TypeError(f'{name} is missing, and without NumPy no array is made: pass one') from None
    return numpy.empty(shape, _library_dtype(dtype))


# ---- Scalars


class _Bits(ctypes.Structure):
    _fields_ = [('bits', ctypes.c_uint16)]


class _Complex64(ctypes.Structure):
    _fields_ = [('real', ctypes.c_float), ('imag', ctypes.c_float)]


class _Complex128(ctypes.Structure):
    _fields_ = [('real', ctypes.c_double), ('imag', ctypes.c_double)]


def _bits_of_half(value):
    return _Bits(struct.unpack('<H', struct.pack('<e', value))[0])


def _bits_of_bfloat16(value):
    bits = struct.unpack('<I', struct.pack('<f', value))[0]
    return _Bits(0x7fc0 if math.isnan(value) else bits + 0x7fff + (bits >> 16 & 1) >> 16)


_NUMBERS = {'i8': ctypes.c_int8, 'i16': ctypes.c_int16, 'i32': ctypes.c_int32, 'i64': ctypes.c_int64,
            'u8': ctypes.c_uint8, 'u16': ctypes.c_uint16, 'u32': ctypes.c_uint32, 'u64': ctypes.c_uint64,
            'f16': _Bits, 'bf16': _Bits, 'f32': ctypes.c_float, 'f64': ctypes.c_double, 'c64': _Complex64,
            'c128': _Complex128, 'bool': ctypes.c_bool}
_FLOATS = {'f16': _bits_of_half, 'bf16': _bits_of_bfloat16, 'f32': float, 'f64': float}
_COMPLEX = {'c64': _Complex64, 'c128': _Complex128}


def _scalar(name, kind, value):
    """A value for ctypes; `kind` is the name of a number's type, or the class of a struct."""
    if isinstance(kind, type):
        if isinstance(value, tuple):
            return kind(*value)
        if not isinstance(value, kind):
            raise TypeError(f'{name} is {type(value).__name__}, and no {kind.__name__}')
        return value
    try:
        if kind in _FLOATS:
            return _FLOATS[kind](float(value))
        if kind in _COMPLEX:
            value = complex(value)
            return _COMPLEX[kind](value.real, value.imag)
        if kind == 'bool':
            return bool(value)
        value = operator.index(value)
    except (TypeError, ValueError):
        what = 'integer' if kind[0] in 'iu' else 'number'
        raise TypeError(f'{name} is {type(value).__name__}, and no {what}') from None
    except OverflowError:
        raise OverflowError(f'{name} = {value} does not fit {kind}') from None
    bits, signs = int(kind[1:]), int(kind[0] == 'i')
    if not -signs * 2 ** (bits - 1) <= value < 2 ** (bits - signs):
        raise OverflowError(f'{name} = {value} does not fit {kind}')
    return value


def _quotient(left, right):
    """C's quotient."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left, right):
    return left - right * _quotient(left, right)


def _stream_handle(stream):
    """The handle of a stream: an integer, or a stream of CuPy, PyTorch, or with __cuda_stream__()."""
    if hasattr(stream, '__cuda_stream__'):
        return stream.__cuda_stream__()[1]
    for attribute in ('ptr', 'cuda_stream', 'handle'):
        if hasattr(stream, attribute):
            return operator.index(getattr(stream, attribute))
    try:
        return operator.index(stream)
    except TypeError:
        raise TypeError(f'stream is no CUDA stream but {type(stream).__name__}') from None


def _flatten(value):
    return [v for part in value for v in _flatten(part)] if hasattr(value, '__len__') and not isinstance(
        value, (tuple, ctypes.Structure)) else [value]


class _Setter:
    """Sets __constant__ data from a value, or from an array or a list of all elements."""

    def __init__(self, name, function, kind, extents, by_value):
        self.name, self.kind, self.count, self.by_value = name, kind, math.prod(extents), by_value
        self.ctype = _NUMBERS.get(kind, kind)
        self.function = _function(function, self.ctype if by_value else ctypes.c_void_p)

    def __call__(self, value):
        if self.by_value:
            return _check(self.function(_scalar(self.name, self.kind, value)))
        values = [_scalar(self.name, self.kind, v) for v in _flatten(value)]
        if len(values) != self.count:
            raise EINVAL(f'{self.name} has {self.count} elements, and {len(values)} were passed')
        return _check(self.function(ctypes.byref((self.ctype * self.count)(*values))))
