"""npy.py - writes and reads .npy files without NumPy, including files that NumPy would not write."""

import ast
import re
import struct

LETTERS = {'i8': 'b', 'i16': 'h', 'i32': 'i', 'i64': 'q', 'u8': 'B', 'u16': 'H', 'u32': 'I', 'u64': 'Q', 'f32': 'f',
           'f64': 'd', 'bool': '?', 'f16': 'e', 'c64': 'f', 'c128': 'd'}


def descr(short):
    """Returns NumPy's name of a type: '<f4' for 'f32'."""
    if short == 'bool':
        return '|b1'
    size = int(short[1:]) // 8
    return f'{"<" if size > 1 else "|"}{short[0]}{size}'


def pack(short, values):
    if short[0] == 'c':
        values = [part for value in values for part in (complex(value).real, complex(value).imag)]
    return struct.pack(f'<{len(values)}{LETTERS[short]}', *values)


def unpack(short, data):
    values = [value for value, in struct.iter_unpack(f'<{LETTERS[short]}', data)]
    return [complex(*pair) for pair in zip(values[::2], values[1::2])] if short[0] == 'c' else values


def npy_bytes(header, data=b'', version=(1, 0), length=None):
    """Returns a file with any header and version; `length` replaces the header's length."""
    header = header.encode('latin-1')
    prefix = 10 if version[0] == 1 else 12
    header += b' ' * (-(prefix + len(header) + 1) % 64) + b'\n'
    length = len(header) if length is None else length
    return b'\x93NUMPY' + bytes(version) + struct.pack('<H' if version[0] == 1 else '<I', length) + header + data


def npy_of(types, data, shape, version=(1, 0)):
    """Returns a file with elements of the NumPy type `types`: '<f4', or a list of fields."""
    return npy_bytes(f"{{'descr': {types!r}, 'fortran_order': False, 'shape': {shape!r}, }}", data, version)


def npy(short, values, shape=None, version=(1, 0)):
    return npy_of(descr(short), pack(short, values), (len(values),) if shape is None else shape, version)


def read_bytes(path):
    """Returns (descr, shape, bytes) of a file that cf-run wrote; it is stricter than NumPy."""
    with open(path, 'rb') as file:
        content = file.read()
    assert content[:8] == b'\x93NUMPY\x01\x00', content[:8]
    end = 10 + struct.unpack('<H', content[8:10])[0]
    header = content[10:end].decode('ascii')
    assert end % 64 == 0 and header.endswith('\n'), header
    match = re.fullmatch(r"\{'descr': (.+), 'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n", header)
    assert match, header
    shape = tuple(int(n) for n in match.group(2).split(',') if n.strip())
    return ast.literal_eval(match.group(1)), shape, content[end:]


def read_npy(path):
    """Returns (type, shape, values)."""
    types, shape, data = read_bytes(path)
    short = next(s for s in LETTERS if descr(s) == types)
    return short, shape, unpack(short, data)
