"""The part of a generated Python module that makes calls; it follows python_scalars.py there, without these imports."""

import ctypes
import functools
import math

from language.python_arrays import (_check, _empty, _function, _gpu_count, _members_of_class, _modules, _PREFIX,
                                    _spell_members, _stream_device, _stream_sync, _View, _view, EINVAL)
from language.python_scalars import _is_masked, _number, _NUMBERS, _scalar, _stream_handle

# ---- Calls


_PAIRS = ('c64', 'f32', 2), ('c128', 'f64', 2)      # complex numbers that are passed as vectors of C


class _Instance:
    """One C function. `types`: for each parameter, (dtype or class, lanes, bytes, dimensions) of an array, or the kind
    of a scalar. `inferred`: the places that tell scalars, as (scalar, array, dimension, factor, offset). `shapes`: a
    function that returns the shapes for given scalars."""

    def __init__(self, name, function, types, inferred, shapes):
        self.name, self.types, self.inferred, self.shapes = name, types, inferred, shapes
        words = [ctypes.c_void_p if isinstance(t, tuple) else _NUMBERS[t] if t in _NUMBERS else
                 ctypes.POINTER(t) if t._is_by_address_ else t for t in types]
        self.plain = _function(function, *words)
        self.enqueue = _function(f'{function}_async', ctypes.c_void_p, *words)

    def shape_of(self, number, view, role):
        """Returns the shape of an array in elements; None if it has another dtype."""
        dtype, lanes, size, _ = self.types[number]
        if dtype == 'void':
            return view.shape
        if view.dtype == dtype and lanes == 1:
            return view.shape
        if view.dtype == f'bytes{size}' and (lanes > 1 or dtype == 'bytes' or isinstance(dtype, type)):
            wanted = self._members_of(number)
            return view.shape if None in (wanted, view.members) or view.members == wanted else None
        if lanes > 1 and view.dtype == dtype and view.shape[-1:] == (lanes,):
            return view.shape[:-1]
        if lanes > 1 and view.dtype == f'{dtype}x{lanes}' or (view.dtype, dtype, lanes) in _PAIRS:
            return view.shape
        return view.shape if role == 'in' and (view.dtype, dtype) == ('bool', 'u8') else None

    def _members_of(self, number):
        """Returns the members that a record for this parameter must have; None if the module does not know its C
        type."""
        dtype, lanes, size, _ = self.types[number]
        if isinstance(dtype, type):
            return _members_of_class(dtype)
        return {'xyzw'[n]: (n * size // lanes, dtype, ()) for n in range(lanes)} if lanes > 1 else None

    def spell(self, number):
        dtype, lanes, size, _ = self.types[number]
        if isinstance(dtype, type):
            return f'{_PREFIX}.{dtype.__name__} ({_spell_members(_members_of_class(dtype))})'
        return f'bytes{size}' if dtype == 'bytes' else dtype if lanes == 1 else f'{dtype} with a last extent of {lanes}'


class _Entry:
    """A function of this module: its parameters in the order of C, as (name, role), and its instances."""

    def __init__(self, name, parameters, instances):
        self.name, self.parameters, self.instances = name, parameters, instances
        self.calls = {}     # C functions by the arrays' dtypes, for the fast path
        self.made = {}      # dtypes of the outputs by the dtypes of the other arrays

    def __call__(self, stream, *values):
        handle = None if stream is None else _stream_handle(f'{self.name}: stream', stream)
        return _Call(self, list(values), handle).run()


class _Call:
    """One call on the slow path, which checks one thing after the other, with a message for each."""

    def __init__(self, entry, values, stream):
        self.entry, self.values, self.stream, self.parameters = entry, values, stream, entry.parameters
        self.views, self.is_made = {}, False
        for number, (name, role) in enumerate(self.parameters):
            if role != 'value' and values[number] is not None:
                self.views[number] = self._view_of(name, role, values[number])
        self.instance = self._choose()
        self.shapes = {i: self.instance.shape_of(i, view, self.parameters[i][1]) for i, view in self.views.items()}

    def _named(self, number):
        return f'{self.entry.name}: {self.parameters[number][0]}'

    def _view_of(self, name, role, array):
        name = f'{self.entry.name}: {name}'
        if role == 'pointer' and hasattr(type(array), '__index__') and not hasattr(type(array), '__setitem__'):
            return _View(_number(name, 'u64', array), '', (), True, True, None)
        view = _view(name, array, self.stream)
        if _is_masked(array):
            raise EINVAL(f'{name} has masked elements, and the call would ignore the mask; pass its filled()')
        if not view.contiguous:
            raise EINVAL(f'{name} is not contiguous in C order; pass a copy of it')
        if role in ('out', 'inout') and not view.writable:
            raise EINVAL(f'{name} is read-only, and the call writes it')
        return view

    def _choose(self):
        """Returns the instance for the arrays' dtypes."""
        left = self.entry.instances
        for number, view in self.views.items():
            role = self.parameters[number][1]
            if role == 'pointer' and not view.dtype:
                continue
            fitting = [i for i in left if i.shape_of(number, view, role) is not None]
            if not fitting:
                wanted = list(dict.fromkeys(i.spell(number) for i in left))
                raise TypeError(f'{self._named(number)} has the dtype {view.spell()} and the shape {view.shape}, '
                                f'and not {" or ".join(wanted)}')
            left = fitting
        if len(left) > 1:
            names = ', '.join(i.name for i in left)
            for number, (_, role) in enumerate(self.parameters):
                if role != 'value' and number not in self.views and len({i.types[number] for i in left}) > 1:
                    raise TypeError(f'{self._named(number)} is missing: the other arrays do not tell its dtype; pass '
                                    f'it, or call one of {names}')
            raise TypeError(f'{self.entry.name}: several instances take these arrays; call one of {names}')
        return left[0]

    def _infer(self):
        """Fills in the scalars. Returns the arrays whose first extent the caller passed as a scalar."""
        given = {array for number, array, dimension, *_ in self.instance.inferred
                 if self.values[number] is not None and dimension == 0}
        for number, array, dimension, factor, offset in self.instance.inferred:
            shape = self.shapes.get(array)
            rank = self.instance.types[array][3]
            if self.values[number] is not None or shape is None or rank not in (1, len(shape)):
                continue
            extent = math.prod(shape) if rank == 1 else shape[dimension]
            if extent < offset or (extent - offset) % factor:
                raise EINVAL(f'{self._named(array)} has the extent {extent}, which {factor} * '
                                 f'{self.parameters[number][0]} + {offset} cannot be')
            self.values[number] = _scalar(f'{self._named(number)} of {self.parameters[array][0]}',
                                          self.instance.types[number], (extent - offset) // factor)
        for number, (_, role) in enumerate(self.parameters):
            if role == 'value':
                if self.values[number] is None and any(number == scalar for scalar, *_ in self.instance.inferred):
                    raise TypeError(f'{self._named(number)} is missing{self._say_what_tells(number)}')
                self.values[number] = _scalar(self._named(number), self.instance.types[number], self.values[number])
        return given

    def _say_what_tells(self, number):
        """Returns the end of a message about a missing scalar: the reason why no array tells its value."""
        arrays = [array for scalar, array, *_ in self.instance.inferred if scalar == number]
        passed = [array for array in arrays if array in self.shapes]
        if not passed:
            return f', and {self.parameters[arrays[0]][0]}, which tells it, is None'
        have, need = len(self.shapes[passed[0]]), self.instance.types[passed[0]][3]
        return (f': {self.parameters[passed[0]][0]} has {have} dimension{"s" * (have != 1)} in place of '
                f'{need} and does not tell it; pass {self.parameters[number][0]}=')

    def _check_shapes(self, given):
        """Compares the arrays with the extents that the annotation declares; arrays in `given` may have more rows."""
        try:
            wanted = self.instance.shapes(*(v for v, (_, role) in zip(self.values, self.parameters)
                                            if role == 'value'))
        except (ArithmeticError, MemoryError, ValueError) as error:
            raise EINVAL(f'{self.entry.name}: an extent has no value{self._for_scalars()}: {error}') from None
        for number, want in enumerate(wanted):
            if want and any(abs(extent) >= 2 ** 63 for extent in want):
                raise EINVAL(f'{self._named(number)} has an extent beyond 64 bits{self._for_scalars()}')
        for number, shape in self.shapes.items():
            want = wanted[number]
            if want is not None and not self._fits(shape, want, number in given):
                raise EINVAL(f'{self._named(number)} has the shape {shape}, and {want} is needed{self._for_scalars()}')
        return wanted

    @staticmethod
    def _fits(shape, want, may_have_more):
        """True for equal shapes, and for the same number of elements in other dimensions. `may_have_more`: further
        rows, or further elements of a flat array, are accepted, since the others keep their place in memory."""
        if len(shape) != len(want):
            may_have_more = may_have_more and 1 in (len(shape), len(want))
            shape, want = (math.prod(shape),), (math.prod(want),)
        return shape == want or may_have_more and shape[0] > want[0] and shape[1:] == want[1:]

    def _for_scalars(self):
        """Returns the end of a message: a text with the integers that determine the extents."""
        words = [f'{name} = {value}' for value, (name, role) in zip(self.values, self.parameters)
                 if role == 'value' and isinstance(value, int)]
        return f' for {", ".join(words)}' if words else ''

    def _allocate(self, wanted):
        like = next(iter(self.views.values()), _View(0, '', (), True, True))
        missing = {n for n, (_, role) in enumerate(self.parameters) if role == 'out' and n not in self.views}
        for number, (_, role) in enumerate(self.parameters):
            if role == 'value' or number in self.views:
                continue
            if role != 'out':
                raise TypeError(f'{self._named(number)} is missing')
            dtype, lanes, size, _ = self.instance.types[number]
            if any(extent < 0 for extent in wanted[number]):
                raise EINVAL(f'{self._named(number)} would have the shape {wanted[number]}{self._for_scalars()}')
            shape = wanted[number] + ((lanes,) if lanes > 1 else ())
            self.values[number] = _empty(self._named(number), like, dtype if dtype in _NUMBERS else f'bytes{size}',
                                         shape)
            self.views[number] = _view(self._named(number), self.values[number])
        self.is_made = bool(missing) and missing == {n for n, (_, role) in enumerate(self.parameters) if role == 'out'}

    def _place(self):
        """Returns the stream of a call and the other streams for which it has to wait; None if the arrays are on the
        host. A stream from the caller waits for the current streams of CuPy and PyTorch; without one, arrays tell their
        streams."""
        on_gpu = {number: view for number, view in self.views.items() if view.device != -1}
        if not on_gpu:
            if self.stream is not None:
                raise EINVAL(f'{self.entry.name}: stream is given, and the arrays are on the host')
            return None, set()
        first = next(iter(on_gpu))
        if _gpu_count() == 0:
            raise EINVAL(f'{self._named(first)} is on a GPU, and the library runs on the CPU')
        for number in self.views:
            if number not in on_gpu:
                raise EINVAL(f'{self._named(number)} is on the host, and {self.parameters[first][0]} on a GPU')
        streams = [view.stream for view in on_gpu.values()
                   if view.stream is not None and (self.stream is None or not view.library)]
        handle = self.stream if self.stream is not None else streams[0] if streams else 0
        place = ctypes.c_int()
        _check(_stream_device(handle, ctypes.byref(place)))
        for number, view in on_gpu.items():
            if view.device not in (None, place.value):
                raise EINVAL(f'{self._named(number)} is on GPU {view.device}, and the stream is on {place.value}')
        return handle, {s for s in streams if (s or 1) != (handle or 1)}

    def run(self):
        given = self._infer()
        self._allocate(self._check_shapes(given))
        handle, others = self._place()
        words = [self.views[number].pointer if number in self.views else value
                 for number, value in enumerate(self.values)]
        if handle is None:
            _check(self.instance.plain(*words))
        else:
            for other in others:
                _check(_stream_sync(other))
            _check(self.instance.enqueue(handle, *words))
            if others and self.stream is None:
                _check(_stream_sync(handle))
        self._remember()
        results = [value for value, (_, role) in zip(self.values, self.parameters) if role == 'out']
        return results[0] if len(results) == 1 else tuple(results) or None

    def _remember(self):
        """Lets later calls with arrays of these types take the function's fast path."""
        libraries = {view.library for view in self.views.values()}
        if len(libraries) != 1 or '' in libraries:
            return
        _meet(*libraries)
        dtypes = [(value.dtype, role) for value, (_, role) in zip(self.values, self.parameters) if role != 'value']
        self.entry.calls[tuple(dtype for dtype, _ in dtypes)] = self.instance.plain, self.instance.enqueue
        if self.is_made:    # the inputs determine the outputs' dtypes
            self.entry.made[tuple(dtype for dtype, role in dtypes if role != 'out')] = tuple(
                dtype for dtype, role in dtypes if role == 'out')


class _Unmet:
    """Stands for the array class of a library until one of its arrays is passed."""


_numpy_array = _cupy_array = _torch_array = _Unmet
_cupy_stream = _cupy_device = _torch_stream = _torch_device = _numpy_empty = _cupy_empty = _torch_empty = None
_one_gpu = False


def _meet(library):
    """Sets the classes and functions of a library that the fast paths use."""
    global _numpy_array, _cupy_array, _torch_array, _cupy_stream, _cupy_device, _torch_stream, _torch_device, _one_gpu
    global _numpy_empty, _cupy_empty, _torch_empty
    module = _modules[library]
    if library == 'numpy':
        _numpy_array, _numpy_empty = module.ndarray, module.empty
    elif _gpu_count():
        _one_gpu = _gpu_count() == 1
        if library == 'cupy':
            _cupy_stream, _cupy_device = module.cuda.get_current_stream, module.cuda.get_device_id
            _cupy_array, _cupy_empty = module.ndarray, module.empty
        else:
            _torch_stream, _torch_device = module.cuda.current_stream, module.cuda.current_device
            _torch_array, _torch_empty = module.Tensor, functools.partial(module.empty, device='cuda')
