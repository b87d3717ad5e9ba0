"""played_arrays.py - imitates arrays of CuPy and PyTorch in host memory, for tests without a GPU. A library that is
told that it has a GPU takes such arrays, and enqueues work on the CPU."""

import sys
import types

import numpy


class _Flags:
    def __init__(self, flags):
        self.c_contiguous = flags.c_contiguous


class _Pointer:
    def __init__(self, pointer, device):
        self.ptr, self.device_id = pointer, device


class ndarray:
    """Imitates an array of CuPy."""
    __module__ = 'cupy'

    def __init__(self, array, device=0):
        self.array, self.dtype, self.size, self.shape = array, array.dtype, array.size, array.shape
        self.flags, self.data = _Flags(array.flags), _Pointer(array.ctypes.data, device)


class Tensor:
    """Imitates a tensor of PyTorch."""
    __module__ = 'torch'

    def __init__(self, array, device=0, requires_grad=False):
        self.array, self.shape, self.is_cuda, self.requires_grad = array, array.shape, device is not None, requires_grad
        self.dtype = dtypes[array.dtype.name]
        self.device = types.SimpleNamespace(type='cpu' if device is None else 'cuda', index=device)

    def data_ptr(self):
        return self.array.ctypes.data

    def numel(self):
        return self.array.size

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def is_conj(self):
        return False

    def is_neg(self):
        return False


class Foreign:
    """An array of another library, exchanged by the array interface, with the stream of its work."""

    def __init__(self, array, stream):
        self.__cuda_array_interface__ = dict(array.__array_interface__, stream=stream)


class Lent:
    """An array of another library, exchanged by DLPack. It records the streams for which its work was ordered."""

    def __init__(self, array):
        self.array, self.streams = array, []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None, **words):
        self.streams.append(stream)
        return self.array.__dlpack__(**words)


class _Dtype:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f'torch.{self.name}'


dtypes = {name: _Dtype(name) for name in ('float32', 'float64', 'int32', 'int64', 'bool', 'uint8')}


class Device:
    def __init__(self, number):
        self.number = number

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Streams:
    """The current streams of both libraries. Their default stream is also a stream on the CPU."""
    current = 0

    @classmethod
    def cupy(cls):
        return types.SimpleNamespace(ptr=cls.current)

    @classmethod
    def torch(cls, _device=None):
        return types.SimpleNamespace(cuda_stream=cls.current)


def play():
    """Makes both imitations importable."""
    cupy = types.ModuleType('cupy')
    cupy.ndarray = ndarray
    cupy.empty = lambda shape, dtype: ndarray(numpy.full(shape, 77, dtype))
    cupy.cuda = types.SimpleNamespace(Device=Device, get_current_stream=Streams.cupy, get_device_id=lambda: 0)
    torch = types.ModuleType('torch')
    torch.Tensor = Tensor
    torch.empty = lambda shape, dtype, device: Tensor(numpy.full(shape, 77, dtype.name),
                                                      None if device == 'cpu' else int(device[len('cuda:'):] or 0))
    for name, dtype in dtypes.items():
        setattr(torch, name, dtype)
    torch.cuda = types.SimpleNamespace(current_stream=Streams.torch, current_device=lambda: 0)
    sys.modules.update(cupy=cupy, torch=torch)
