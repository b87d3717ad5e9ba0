"""npy.py - .npy files as NumPy writes them, and as it does not, without NumPy."""

import re
import struct

LETTERS = {'i8': 'b', 'i16': 'h', 'i32': 'i', 'i64': 'q', 'u8': 'B', 'u16': 'H', 'u32': 'I', 'u64': 'Q', 'f32': 'f',
           'f64': 'd'}


def descr(short):
    """'<f4' for 'f32'."""
    size = int(short[1:]) // 8
    return f'{"<" if size > 1 else "|"}{short[0]}{size}'


def pack(short, values):
    return struct.pack(f'<{len(values)}{LETTERS[short]}', *values)


def npy_bytes(header, data=b'', version=(1, 0), length=None):
    """A file with any header, of any version; `length` replaces the header's."""
    header = header.encode('latin-1')
    prefix = 10 if version[0] == 1 else 12
    header += b' ' * (-(prefix + len(header) + 1) % 64) + b'\n'
    length = len(header) if length is None else length
    return b'\x93NUMPY' + bytes(version) + struct.pack('<H' if version[0] == 1 else '<I', length) + header + data


def npy(short, values, shape=None, version=(1, 0)):
    shape = (len(values),) if shape is None else shape
    return npy_bytes(f"{{'descr': '{descr(short)}', 'fortran_order': False, 'shape': {shape!r}, }}",
                     pack(short, values), version)


def read_npy(path):
    """(type, shape, values) of a file that cf-run wrote, read more strictly than NumPy does."""
    with open(path, 'rb') as file:
        content = file.read()
    assert content[:8] == b'\x93NUMPY\x01\x00', content[:8]
    end = 10 + struct.unpack('<H', content[8:10])[0]
    header = content[10:end].decode('ascii')
    assert end % 64 == 0 and header.endswith('\n'), header
    match = re.fullmatch(r"\{'descr': '([<|][iuf][1248])', 'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n",
                         header)
    assert match, header
    short = next(s for s in LETTERS if descr(s) == match.group(1))
    shape = tuple(int(n) for n in match.group(2).split(',') if n.strip())
    count = (len(content) - end) // (int(short[1:]) // 8)
    return short, shape, list(struct.unpack(f'<{count}{LETTERS[short]}', content[end:]))
