"""The part of a generated Python module for arrays and errors; python_scalars.py and python_calls.py follow it there.
The emitter replaces the value of _PREFIX, and replaces EINVAL by the classes of all statuses."""

import ctypes
import functools  # noqa: F401
import math
import operator
import os
import re
import sys
from typing import Any, Dict, Optional, Tuple  # noqa: F401

Array = Any


class Error(RuntimeError):
    """A call that was refused or could not be finished; `status` is the CF_... status."""

    status = 0


class EINVAL(Error, ValueError):
    """Stands for the classes of all statuses: the emitter replaces this class by them."""


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


_ORDER = '<' if sys.byteorder == 'little' else '>'

# Floats that C sees as bits: bytes, binary digits, bits of infinity or else of NaN, DLPack's code, name in PyTorch and
# ml_dtypes.
_CODED = {'f16': (2, 11, 0x7c00, 2, 'float16'), 'bf16': (2, 8, 0x7f80, 4, 'bfloat16'),
          'e4m3': (1, 4, 0x7f, 10, 'float8_e4m3fn'), 'e5m2': (1, 3, 0x7c, 12, 'float8_e5m2')}
_NAMED = {name: kind for kind, (*_, name) in _CODED.items()}


class _View:
    """Describes an array of any library."""
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
    """Returns the name of a type of the array interfaces: f32 for <f4."""
    kind, size = text[1:2], int(text[2:]) if text[2:].isdecimal() else 0
    if kind in 'OMm':
        return {'O': 'object', 'M': 'datetime64', 'm': 'timedelta64'}[kind] + text[3:] * (kind != 'O')
    if kind not in 'fiucbV' or size > 1 and kind != 'V' and text[0] not in '|=' + _ORDER:
        return text
    return 'bool' if (kind, size) == ('b', 1) else f'bytes{size}' if kind == 'V' else f'{kind}{8 * size}'


def _dtype_of_format(text, size):
    """Returns the name of the type in a buffer's format."""
    order, code = (text[0], text[1:]) if text[:1] in tuple('@=<>!') else ('@', text)
    if re.fullmatch(r'\d*[sxp]|T\{.*\}', code):
        return f'bytes{size}'
    if size > 1 and order in ('>!' if sys.byteorder == 'little' else '<'):
        return text
    for codes, name in (('bhilqn', 'i'), ('BHILQN', 'u'), ('efd', 'f')):
        if len(code) == 1 and code in codes:    # a union of ctypes has the code for bytes
            return f'{name}{8 * size}' if code not in 'bB' or size == 1 else f'bytes{size}'
    return {'?': 'bool', 'c': 'i8', 'P': 'u64', 'Zf': 'c64', 'Zd': 'c128'}.get(code, text)


def _members_of_dtype(dtype, prefix='', at=0):
    """Returns the members of a NumPy record as {name: (offset, dtype, extents)}. A nested record's members have the
    name of the record before their own, as in the classes of structs."""
    members = {}
    for name in (name for name in dtype.names if not name.startswith('_padding')):
        inner, offset = dtype.fields[name][:2]
        inner, extents = inner.subdtype or (inner, ())
        name, offset = prefix + name, at + offset
        if inner.names and not extents:
            members.update(_members_of_dtype(inner, f'{name}_', offset))
        else:
            is_text = inner.kind == 'S'
            members[name] = (offset, 'record' if inner.names else 'i8' if is_text else _dtype_of_typestr(inner.str),
                             extents + (inner.itemsize,) * (is_text and inner.itemsize > 1))
    return members


def _members_of_descr(descr, prefix='', at=0):
    """Returns the members in a description of the array interface, or None if it has no names; and the end of the
    record."""
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
            if name != prefix and not name.startswith('_padding'):      # padding has no name
                members[name] = at, dtype, extents + ((size,) if is_text and size > 1 else ())
        at += size * math.prod(extents)
    return members or None, at


def _fields_without_padding(kind):
    return [(name, ctype) for name, ctype, *_ in kind._fields_ if not name.startswith('_padding')]


@functools.lru_cache(maxsize=None)
def _members_of_class(kind):
    """Returns the members of a ctypes structure as {name: (offset, dtype, extents)}."""
    members = {}
    for name, ctype in _fields_without_padding(kind):
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
    """Returns the members of an object with a buffer as {name: (offset, dtype, extents)}."""
    if hasattr(owner, 'dtype'):
        return _members_of_dtype(owner.dtype)
    kind = type(owner)
    while hasattr(kind, '_length_'):
        kind = kind._type_
    return _members_of_class(kind) if issubclass(kind, ctypes.Structure) else None


def _spell_members(members):
    return ', '.join(f'{name}: {dtype}{list(extents) or ""} at {at}' for name, (at, dtype, extents) in members.items())


def _is_packed(shape, strides, size):
    """True for elements in C order without gaps. Strides are counted in units of `size`."""
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
    """Returns the address of a memoryview, which may be read-only."""
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
    name = _NAMED.get(dtype.name) or _dtype_of_typestr(dtype.str)
    return _View(array.ctypes.data, name, array.shape, array.flags.c_contiguous, array.flags.writeable,
                 library='numpy', members=_members_of_dtype(dtype) if dtype.names else None)


def _view_cupy(array):
    with _modules['cupy'].cuda.Device(array.data.device_id):
        stream = _modules['cupy'].cuda.get_current_stream().ptr
    name = _NAMED.get(array.dtype.name) or _dtype_of_typestr(array.dtype.str)
    return _View(array.data.ptr, name, array.shape, array.flags.c_contiguous, True, array.data.device_id, stream,
                 'cupy')


_TORCH_NAMES = {**_NAMED, 'complex64': 'c64', 'complex128': 'c128', 'bool': 'bool'}


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
    typestr = facts['typestr']
    shape, strides = facts['shape'], facts.get('strides')
    pointer, is_read_only = facts['data']
    if facts.get('mask') is not None:
        raise ValueError('has a mask, which the call would ignore')
    size = int(typestr[2:] or 0)
    pointer, shape = _check_memory(pointer, shape, strides, size)
    stream = facts.get('stream')
    return _View(pointer, _dtype_of_typestr(typestr), shape, _is_packed(shape, strides, size), not is_read_only,
                 None, stream if stream is None else operator.index(stream), keep=array,
                 members=_members_of_descr(facts['descr'])[0] if facts.get('descr') else None)


def _check_memory(pointer, shape, strides, size):
    """Returns the pointer and the shape of memory that another library describes; `size` is the size of an element."""
    pointer, shape = operator.index(pointer or 0), tuple(map(operator.index, shape))
    if any(extent < 0 for extent in shape):
        raise ValueError(f'has the shape {shape}')
    if not 0 <= pointer < 2 ** 64 - math.prod(shape) * size:
        raise ValueError(f'has the shape {shape} and the pointer {pointer:#x}, which is not in memory')
    if strides is not None and len(strides) != len(shape):
        raise ValueError(f'has {len(shape)} dimensions and {len(strides)} strides')
    if not pointer and 0 not in shape:
        raise ValueError(f'has the shape {shape} and a NULL pointer')
    return pointer, shape


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
    if is_device and operator.index(number) < 0:
        raise ValueError(f'is on GPU {number}')
    stream = (stream or 1) if is_device else None       # in DLPack, 1 is the default stream
    words = {'stream': stream} if is_device else {}     # the producer orders its work before this stream
    try:
        capsule = array.__dlpack__(max_version=(1, 0), **words)
    except TypeError:                                   # a producer that is older than DLPack 1.0
        capsule = array.__dlpack__(**words)
    if '"dltensor_versioned"' in repr(capsule):
        whole = _DLVersioned.from_address(_capsule_pointer(capsule, b'dltensor_versioned'))
        if whole.major != 1:
            raise ValueError(f'has version {whole.major}.{whole.minor} of DLPack, and 1 is needed')
        tensor, writable = whole.tensor, not whole.flags & 3    # flags of constant memory and of a copy
    else:
        tensor, writable = _DLTensor.from_address(_capsule_pointer(capsule, b'dltensor')), True
    if not 0 <= tensor.ndim <= 64 or tensor.ndim and not tensor.shape:
        raise ValueError(f'has {tensor.ndim} dimensions{"" if tensor.shape else " and no shape"} in DLPack')
    strides = tensor.strides[:tensor.ndim] if tensor.strides else None
    shape = tensor.shape[:tensor.ndim] if tensor.ndim else ()
    _check_memory(tensor.data, shape, strides, 0)
    pointer, shape = _check_memory((tensor.data or 0) + tensor.offset, shape, strides, tensor.bits // 8 * tensor.lanes)
    name = {0: 'i', 1: 'u', 2: 'f', 5: 'c', 6: 'bool'}.get(tensor.code, f'DLPack {tensor.code}:')
    coded = (kind for kind, (size, _, _, code, _) in _CODED.items() if (8 * size, code) == (tensor.bits, tensor.code))
    dtype = 'bool' if (name, tensor.bits) == ('bool', 8) else next(coded, f'{name}{tensor.bits}')
    if tensor.lanes != 1:
        dtype = f'{dtype}x{tensor.lanes}'
    return _View(pointer, dtype, shape, _is_packed(shape, strides, 1), writable, number if is_device else -1, stream,
                 keep=(array, capsule))


_VIEWS = {'numpy': ('ndarray', _view_numpy), 'cupy': ('ndarray', _view_cupy), 'torch': ('Tensor', _view_torch)}
_modules: Dict[str, Any] = {}   # libraries whose arrays were passed, by name


def _library_of(kind):
    for base in kind.__mro__:
        root = base.__module__.partition('.')[0]
        if root in _VIEWS and base.__name__ == _VIEWS[root][0] and root in sys.modules:
            return root
    return ''


def _view(name, array, stream=None):
    """Returns the _View of an argument, which errors name. `stream` is the handle that the call was given."""
    library, protocol = _library_of(type(array)), ''
    try:
        if library:
            _modules[library] = sys.modules[library]
            return _VIEWS[library][1](array)
        if isinstance(array, type):     # a class has the attributes of its instances
            raise TypeError
        if hasattr(array, '__cuda_array_interface__'):
            protocol = '__cuda_array_interface__'
            return _view_cuda(array)
        if hasattr(array, '__dlpack__') and hasattr(array, '__dlpack_device__'):
            protocol = '__dlpack__'
            return _view_dlpack(array, stream)
        return _view_buffer(array)
    except (BufferError, ValueError) as error:
        raise EINVAL(f'{name} {error}') from None
    except Exception as error:      # an object's own methods may raise anything
        if not protocol and not library and isinstance(error, TypeError):
            raise TypeError(f'{name} is no array but {type(array).__name__}') from None
        raise EINVAL(f'{name} has no valid {protocol or "memory"}: {type(error).__name__}: {error}') from error


_NUMPY_NAMES = {'f': 'float', 'c': 'complex', 'i': 'int', 'u': 'uint'}


def _library_dtype(dtype):
    """Returns the name of a dtype in NumPy and PyTorch: float32 for f32."""
    if dtype in _CODED:
        return _CODED[dtype][-1]
    return dtype if dtype == 'bool' else _NUMPY_NAMES[dtype[0]] + dtype[1:]


def _empty(name, like, dtype, shape):
    """Returns a new array of the library that made `like`."""
    if dtype.startswith('bytes'):
        raise TypeError(f'{name} is missing: arrays of structs are not made here')
    try:
        return _make(name, like, _library_dtype(dtype), shape)
    except MemoryError as error:
        raise MemoryError(f'{name} with the shape {shape} cannot be made: {error}') from None
    except (AttributeError, OverflowError, RuntimeError, ValueError) as error:
        raise EINVAL(f'{name} with the shape {shape} cannot be made: {error}') from None


def _make(name, like, dtype, shape):
    library = like.library
    if library == 'torch':
        torch = _modules['torch']
        device = 'cpu' if like.device < 0 else f'cuda:{like.device}'
        return torch.empty(shape, dtype=getattr(torch, dtype), device=device)
    if library == 'cupy':
        with _modules['cupy'].cuda.Device(like.device):
            return _modules['cupy'].empty(shape, dtype)
    if like.device != -1:
        raise TypeError(f'{name} is missing, and a library other than CuPy and PyTorch made the other arrays: pass '
                        'an array of its own')
    try:
        import numpy    # type: ignore[import-not-found]
    except ImportError:
        raise TypeError(f'{name} is missing, and without NumPy no array is made: pass one') from None
    return numpy.empty(shape, dtype)
