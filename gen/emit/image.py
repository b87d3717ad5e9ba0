"""Emits the embedded image of one kernel file: the assembler file that includes it, and the header that describes
it."""

import re
import zlib

from base.diagnostics import GeneratorError
from base.text import banner, c_string
from emit.names import image_end_name, image_name

_PROOF = re.compile(r'^\.(?:visible )?\.?global .*?\bcf__e_(\w+) = (\w+);$', re.MULTILINE)
_DATA = re.compile(r'^\.(?:visible )?\.?global .*?\bcf__d_(\w+) = generic\((\w+)\);$', re.MULTILINE)
_ENTRY = re.compile(r'^(?:\.\w+ )*\.entry (\w+)', re.MULTILINE)


def _target(name):
    bit = {'a': ' | CF_TARGET_EXACT', 'f': ' | CF_TARGET_FAMILY'}.get(name[-1], '')
    return name.rstrip('af') + bit


def emit_image(file, prefix):
    symbol, end = image_name(prefix, file), image_end_name(prefix, file)
    return (banner(file.path) +
            '    .section .rodata\n    .balign 16\n'
            f'    .globl {symbol}\n    .hidden {symbol}\n{symbol}:\n    .incbin "{file.stem}.fatbin"\n'
            f'    .globl {end}\n    .hidden {end}\n{end}:\n    .byte 0\n'
            '    .section .note.GNU-stack,"",%progbits\n')


def emit_image_header(ptx, fatbin, stem, toolkit, sm, compute):
    """Describes nvcc's output for a kernel file: each instance's entry name, read from the pointers in the PTX, and the
    image's checksum and targets."""
    entries = set(_ENTRY.findall(ptx))
    names = dict(_PROOF.findall(ptx))
    lost = sorted(n for n, entry in names.items() if entry not in entries)
    if lost or (entries and not names):     # a file with only operations has none
        raise GeneratorError(f'{stem}: the PTX shows no entry for ' + (', '.join(lost) or 'any kernel'))
    text = [banner(f'{stem}.ptx and {stem}.fatbin'), f'#define CF__CRC32 0x{zlib.crc32(fatbin):08x}\n',
            f'#define CF__TOOLKIT {toolkit}\n',
            *(f'#define {name} {"".join(f"{_target(t)}, " for t in targets)}\n'
              for name, targets in (('CF__SM', sm), ('CF__PTX', compute)))]
    text += [f'#define CF__ENTRY_{name} {c_string(entry)}\n' for name, entry in sorted(names.items())]
    text += [f'#define CF__DATA_{name} {c_string(entry)}\n' for name, entry in sorted(_DATA.findall(ptx))]
    return re.sub(r' +\n', '\n', ''.join(text))
