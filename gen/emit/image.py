"""Emits the embedded images of one kernel file: an assembler file that contains them, and a header that describes the
image that nvcc makes."""

import os
import re
import struct
import zlib

from base.diagnostics import GeneratorError
from base.text import banner, c_string
from emit.names import adopted_end_name, adopted_name, image_end_name, image_name

_PROOF = re.compile(r'^\.(?:visible )?\.?global .*?\bcf__e_(\w+) = (\w+);$', re.MULTILINE)
_DATA = re.compile(r'^\.(?:visible )?\.?global .*?\bcf__d_(\w+) = generic\((\w+)\);$', re.MULTILINE)
_ENTRY = re.compile(r'^(?:\.\w+ )*\.entry (\w+)', re.MULTILINE)


_QUADS = 4      # 8-byte words in a line


def list_targets(names):
    """Returns targets such as 90a as the beginning of a C initializer, whose last element will be 0."""
    bits = {'a': ' | CF_TARGET_EXACT', 'f': ' | CF_TARGET_FAMILY'}
    return ''.join(f'{name.rstrip("af")}{bits.get(name[-1], "")}, ' for name in names)


def emit_image(file, prefix):
    own = _emit_data(image_name(prefix, file), image_end_name(prefix, file), f'    .incbin "{file.stem}.fatbin"\n')
    # The bytes of an adopted image are written here, because its file may change before the assembler runs.
    is_here = file.image_of in ('', file.stem)
    return (banner(file.path) + '    .section .rodata\n' +
            f'#ifdef CF__GPU\n{own}#endif\n' * (is_here and has_own_image(file)) +
            ''.join(_emit_data(adopted_name(prefix, file, number), adopted_end_name(prefix, file, number),
                               _emit_bytes(image.data)) for number, image in enumerate(file.images)) +
            '    .section .note.GNU-stack,"",%progbits\n')


def emit_inputs(file, root):
    """Lists the images of a kernel file for make. Their paths are relative to the folder `root`."""
    paths = [os.path.normpath(os.path.join(root, image.path)) for image in file.images]
    escaped = [re.sub(r'([ #:])', r'\\\1', path).replace('$', '$$') for path in paths]
    return f'{file.stem}: {" ".join(escaped)}\n'


def has_own_image(file):
    """True if nvcc compiles code or data of the file, or if its image also holds the code of other files."""
    return bool(file.compiled or file.symbols or file.image_of)


def _emit_data(symbol, end, text):
    return (f'    .balign 16\n    .globl {symbol}\n    .hidden {symbol}\n{symbol}:\n{text}'
            f'    .globl {end}\n    .hidden {end}\n{end}:\n    .byte 0\n')


def _emit_bytes(data):
    whole = len(data) // 8 * 8
    words = [f'{word:#018x}' for word, in struct.iter_unpack('<Q', data[:whole])]
    lines = [f'    .quad {", ".join(words[at:at + _QUADS])}\n' for at in range(0, len(words), _QUADS)]
    return ''.join(lines) + (f'    .byte {", ".join(map(str, data[whole:]))}\n' if data[whole:] else '')


def emit_image_header(ptx, fatbin, stem, toolkit, sm, compute):
    """Returns the header that describes nvcc's output for a kernel file: the entry name of each instance, read from the
    pointers in the PTX, and the image's checksum and targets."""
    entries = set(_ENTRY.findall(ptx))
    names = dict(_PROOF.findall(ptx))
    lost = sorted(n for n, entry in names.items() if entry not in entries)
    if lost or (entries and not names):     # a file with only operations has none
        raise GeneratorError(f'{stem}: the PTX shows no entry for ' + (', '.join(lost) or 'any kernel'))
    text = [banner(f'{stem}.ptx and {stem}.fatbin'), f'#define CF__CRC32 0x{zlib.crc32(fatbin):08x}\n',
            f'#define CF__TOOLKIT {toolkit}\n',
            *(f'#define {name} {list_targets(targets)}\n'
              for name, targets in (('CF__SM', sm), ('CF__PTX', compute)))]
    text += [f'#define CF__ENTRY_{name} {c_string(entry)}\n' for name, entry in sorted(names.items())]
    text += [f'#define CF__DATA_{name} {c_string(entry)}\n' for name, entry in sorted(_DATA.findall(ptx))]
    return re.sub(r' +\n', '\n', ''.join(text))
