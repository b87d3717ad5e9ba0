"""python_tensors.py - arrays that other libraries describe by DLPack, the array interface or buffers, for the module
that cfcc --emit python made from python.cu; python_module.py runs it."""

import math
import sys

import shapes
from fuzz_wrappers import Capsules, Versioned
from report_lines import expect, refused


class Exporter:
    """An array of a library that supports only DLPack, perhaps an older DLPack without versions."""

    def __init__(self, exporter, is_old=False):
        self.exporter, self.is_old = exporter, is_old

    def __dlpack_device__(self):
        return self.exporter.__dlpack_device__()

    def __dlpack__(self, **words):
        if self.is_old and 'max_version' in words:
            raise TypeError('max_version is no argument')
        return self.exporter.__dlpack__(**words)


class Interface:
    """NumPy's array interface, presented as that of an array on a GPU."""

    def __init__(self, array):
        self.__cuda_array_interface__ = array.__array_interface__


def run_small_floats(np):
    """Scalars and arrays of 8-bit floats, which have types in DLPack and none in NumPy."""
    x, y = Capsules(np.array([0x3c, 0xbe, 1], 'u1')), np.zeros(3, 'f4')
    x.whole.tensor.code = 12    # float8_e5m2
    for by, rounded in ((2, 2), (464, 448), (-463.9, -448), (2 ** -10, 0), (3 * 2 ** -10, 2 ** -8), (-1.0625, -1),
                        (-0.0, 0)):
        shapes.scale_small(by, x, y)
        expect(f'e4m3_of_{by}', y.tolist(), [rounded, -1.5 * rounded, 2 ** -16 * rounded])
    shapes.scale_small(math.nan, x, y)
    expect('e4m3_of_nan', np.isnan(y).all(), True)
    for by in (464.0001, 1e300, math.inf, -math.inf):
        refused(f'e4m3_of_{by}_is_refused', OverflowError, [f'scale_small: by = {by} does not fit e4m3'],
                shapes.scale_small, by, x, y)
    for code, dtype in ((10, 'e4m3'), (1, 'u8'), (9, 'DLPack 9:8')):
        x.whole.tensor.code = code
        refused(f'dlpack_code_{code}_is_no_e5m2', TypeError, [f'scale_small: x has the dtype {dtype}', 'e5m2'],
                shapes.scale_small, 2, x, y)


def run_dlpack(np):
    source, index = np.arange(10, dtype='f8'), np.array([1, 9], 'i4')
    for name, is_old in (('dlpack', False), ('dlpack_of_before_versions', True)):
        res = np.zeros(2)
        shapes.gather(*(Exporter(a, is_old) for a in (source, index, res)))
        expect(f'{name}_is_an_array', res.tolist(), [1, 9])
    count = sys.getrefcount(source)
    for _ in range(100):
        shapes.gather(Exporter(source), Exporter(index), np.zeros(2))
    expect('dlpack_is_given_back', sys.getrefcount(source), count)
    still = np.zeros(2)
    still.flags.writeable = False
    refused('dlpack_read_only_is_refused', shapes.EINVAL, ['gather: res is read-only'], shapes.gather, source, index,
            Exporter(still))
    for field, value, text in (('ndim', -1, 'has -1 dimensions'), ('ndim', 65, 'has 65 dimensions'),
                               ('shape', 0, 'has 1 dimensions and no shape'), ('data', 0, 'a NULL pointer'),
                               ('offset', 2 ** 64 - 8, 'not in memory'), ('device_type', 99, 'kind 99'),
                               ('extent', -1, 'has the shape (-1,)'), ('extent', 2 ** 61, 'not in memory')):
        damaged = Capsules(source)
        if field == 'extent':
            damaged.shape[0] = value
        else:
            setattr(damaged.whole.tensor, field, value)
        refused(f'dlpack_{field}_{value}_is_refused', shapes.EINVAL, ['gather: source', text], shapes.gather, damaged,
                index)
    damaged = Capsules(source)
    damaged.whole.tensor.data, damaged.whole.tensor.offset = 0, 8
    refused('dlpack_offset_from_null_is_refused', shapes.EINVAL, ['a NULL pointer'], shapes.gather, damaged, index)
    damaged = Capsules(source)
    damaged.whole.tensor.device_type, damaged.whole.tensor.device_id = 2, -1
    refused('dlpack_negative_gpu_is_refused', shapes.EINVAL, ['gather: source is on GPU -1'], shapes.gather, damaged,
            index)
    damaged = Capsules(source)
    damaged.whole.tensor.lanes = 2
    refused('dlpack_lanes_are_refused', TypeError, ['gather: source has the dtype f64x2'], shapes.gather, damaged,
            index)
    for name, major, flags, text in (('version', 2, 0, 'res has version 2.0 of DLPack'), ('copy', 1, 2, 'read-only')):
        damaged = Capsules(np.zeros(2))
        damaged.whole, damaged.is_versioned = Versioned(major=major, flags=flags, tensor=damaged.whole.tensor), True
        refused(f'dlpack_other_{name}_is_refused', shapes.EINVAL, [text], shapes.gather, source, index, damaged)
    expect('dlpack_strides_of_few_elements', [shapes.gather(source, Exporter(index[::-1][:n])).tolist()
                                              for n in (0, 1)], [[], [9]])
    pairs = Capsules(np.arange(4, dtype='f4'))
    pairs.whole.tensor.lanes, pairs.shape[0] = 2, 2
    expect('dlpack_lanes_are_a_vector', shapes.quarter(pairs, np.zeros((2, 2), 'f4')).tolist(), [[-1, 0], [-3, 2]])
    run_interfaces(np, source, index)
    flags = Capsules(np.zeros(2, 'u4'))
    flags.whole.tensor.code = 6
    refused('dlpack_bool_of_32_bits_is_refused', TypeError, ['sum_rows: flags has the dtype bool32'], shapes.sum_rows,
            np.zeros((2, 1, 4), 'f4'), (1, 10), add=0, sums=np.zeros(2, 'f4'), flags=flags)
    refused('dlpack_strides_are_refused', shapes.EINVAL, ['gather: source is not contiguous'], shapes.gather,
            Exporter(source[::2]), index)


def run_interfaces(np, source, index):
    """Tests array interfaces and buffers with fields that are wrong or have another meaning."""
    for name, facts, error, text in (
            ('strides', {'strides': (8, 8)}, shapes.EINVAL, 'has 1 dimensions and 2 strides'),
            ('mask', {'mask': source}, shapes.EINVAL, 'has a mask'),
            ('typestr', {'typestr': '|b4'}, TypeError, 'has the dtype b32'),
            ('data', {'data': 5}, shapes.EINVAL, 'has no valid __cuda_array_interface__')):
        damaged = Interface(source)
        damaged.__cuda_array_interface__ = {**source.__array_interface__, **facts}
        refused(f'interface_with_another_{name}_is_refused', error, ['gather: source', text], shapes.gather, damaged,
                index, np.zeros(2))
    damaged = Interface(source)
    damaged.__cuda_array_interface__ = {'shape': (10,)}
    refused('interface_without_facts_is_refused', shapes.EINVAL, ['no valid __cuda_array_interface__: KeyError'],
            shapes.gather, damaged, index)
    refused('interface_of_a_class_is_refused', TypeError, ['gather: source is no array but type'], shapes.gather,
            np.ndarray, index)
    refused('buffer_of_another_byte_order_is_refused', TypeError, ['gather: source has the dtype >d'], shapes.gather,
            memoryview(source.astype('>f8')), index)
    refused('complex_numbers_are_no_float4', TypeError, ['sum_rows: x has the dtype c64'], shapes.sum_rows,
            np.zeros((2, 3), 'c8'), (1, 10), 0)
    try:
        shapes.put_more(np.zeros(7), 0, 0, 0, (0, (0, 0), False, 0))
    except shapes.EINVAL as error:
        expect('shape_message_without_scalars', str(error), 'put_more: y has the shape (7,), and (8,) is needed')
