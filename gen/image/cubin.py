"""Reads cubins, which are ELF files. The layouts are those of the toolkits 12 and 13; lib/program/inspect.c checks the
same when a program loads an image."""

import struct

from image.facts import Entry, Facts, ImageError

_HEAD, _SECTION, _SYMBOL = struct.Struct('<16sHHIQQQIHHHHHH'), struct.Struct('<IIQQQQIIQQ'), struct.Struct('<IBBHQQ')
_MACHINE, _REL, _EXEC, _SYMTAB, _NOBITS = 190, 1, 2, 2, 8
_SINCE_13 = 8           # ABI version of cubins whose flags have the target in their second byte
_ENTRY = 0x10           # in a symbol's st_other: a kernel
_INFO = '.nv.info.'     # begins the name of the section about a kernel
# Attributes of a kernel: a parameter in two layouts, the bytes of all of them, and its only block.
_PARAM, _LARGE_PARAM, _PARAM_BYTES, _BLOCK = 0x17, 0x45, 0x19, 0x10
_WITH_SIZE = 4          # form of an attribute: its size in bytes precedes its value


def read_cubin(data):
    """Returns the facts of a cubin. Raises ImageError."""
    if len(data) < _HEAD.size:
        raise ImageError(f'is cut off: it has {len(data)} bytes, and the header of a cubin {_HEAD.size}')
    ident, kind, machine, _, _, _, at, flags, _, _, _, size, count, named = _HEAD.unpack_from(data)
    if machine != _MACHINE:
        raise ImageError(f'is an ELF file for machine {machine} and not for a GPU ({_MACHINE}); code in object files '
                         'has to be linked')
    if kind == _REL:
        raise ImageError('is relocatable code; link it first')
    if kind != _EXEC or ident[4:7] != b'\2\1\1' or size != _SECTION.size or named >= count:
        raise ImageError('is damaged: its ELF header is not that of a cubin')
    if at + count * size > len(data):
        raise ImageError(f'is cut off: it has {len(data)} bytes, and its {count} sections are listed from byte {at} on')
    sections = [_SECTION.unpack_from(data, at + number * size) for number in range(count)]
    parts = [_part(data, number, *section) for number, section in enumerate(sections)]
    is_new = ident[8] >= _SINCE_13
    target = str((flags >> 8 if is_new else flags) & 0xff) + 'a' * bool(flags & (8 if is_new else 0x800))
    infos = {_text(parts[named], section[0]): part for section, part in zip(sections, parts)}
    entries = {}
    for number, section in enumerate(sections):
        for name in _kernels(parts[number], sections, parts, section) if section[1] == _SYMTAB else ():
            entries[name] = _read_entry(infos.get(_INFO + name, b''))
    return Facts((target,), (), entries)


def _part(data, number, _name, kind, _flags, _address, offset, size, *_rest):
    """Returns the bytes of a section."""
    if kind == _NOBITS:
        return b''
    if offset + size > len(data):
        raise ImageError(f'is cut off: it has {len(data)} bytes, and section {number} needs {size} from {offset}')
    return data[offset:offset + size]


def _text(part, offset):
    end = part.find(b'\0', offset)
    if end < 0:
        raise ImageError(f'is damaged: the name at {offset} is outside of the names')
    return part[offset:end].decode(errors='replace')


def _kernels(part, sections, parts, section):
    """Yields the names of the kernels in a table of symbols."""
    if section[6] >= len(sections) or len(part) % _SYMBOL.size:
        raise ImageError('is damaged: its table of symbols is')
    for name, _, other, *_ in _SYMBOL.iter_unpack(part):
        if other & _ENTRY:
            yield _text(parts[section[6]], name)


def _read_entry(info):
    """Returns a kernel from the section about it."""
    params, block, expected, at = {}, (), 0, 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from('<BBH', info, at)
        at += 4
        if attribute == _PARAM_BYTES:
            expected = size
        if form != _WITH_SIZE:
            continue
        value = info[at:at + size]
        at += size
        if attribute in (_PARAM, _LARGE_PARAM) and len(value) == 12:
            _, number, _, packed = struct.unpack('<IHHI', value)
            params[number] = packed >> 18 if attribute == _PARAM else packed & 0xffff
        if attribute == _BLOCK and len(value) == 12:
            block = struct.unpack('<III', value)
    if sorted(params) != list(range(len(params))) or (expected and not params):
        raise ImageError('is damaged: it does not tell the parameters of its kernels')
    return Entry(tuple(params[number] for number in sorted(params)), (), block)
