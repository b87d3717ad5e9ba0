"""Reads cubins, which are ELF files, in the layouts of the toolkits 12 and 13. lib/program/inspect.c makes the same
checks when a program loads an image."""

import struct

from image.facts import check_name, Entry, Facts, ImageError

_HEAD, _SECTION, _SYMBOL = struct.Struct('<16sHHIQQQIHHHHHH'), struct.Struct('<IIQQQQIIQQ'), struct.Struct('<IBBHQQ')
_SEGMENT = struct.Struct('<IIQQQQQQ')
_MACHINE, _REL, _EXEC = 190, 1, 2
_NULL, _SYMTAB, _STRTAB, _NOBITS = 0, 2, 3, 8       # types of sections
_RESERVED = 0xff00      # section numbers from here on have special meanings
_LEAST_TARGET = 10
_SINCE_13 = 8           # ABI version of cubins whose flags have the target in their second byte
_ENTRY = 0x10           # bit of a symbol's st_other that marks a kernel
_INFO = '.nv.info.'     # prefix of the section that describes a kernel
# Attributes of a kernel: a parameter, in either of two layouts; the bytes of all parameters; its required block size.
_PARAM, _LARGE_PARAM, _PARAM_BYTES, _BLOCK = 0x17, 0x45, 0x19, 0x10
_WITH_SIZE = 4          # form of an attribute: its size in bytes precedes its value


def read_cubin(data):
    """Returns the facts of a cubin. Raises ImageError."""
    if len(data) < _HEAD.size:
        raise ImageError(f'is cut off: it has {len(data)} bytes, and the header of a cubin {_HEAD.size}')
    ident, kind, machine, _, _, segments_at, at, flags, own, segment, nsegments, size, count, named = \
        _HEAD.unpack_from(data)
    if ident[:4] == b'\x7fELF' and machine != _MACHINE:
        raise ImageError(f'is an ELF file for machine {machine} and not for a GPU ({_MACHINE}); code in object files '
                         'has to be linked')
    if kind == _REL:
        raise ImageError('is relocatable code; link it first')
    if kind != _EXEC or ident[:7] != b'\x7fELF\2\1\1' or named >= count or not nsegments or \
            (own, segment, size) != (_HEAD.size, _SEGMENT.size, _SECTION.size):
        raise ImageError('is damaged: its ELF header is not that of a cubin')
    is_new = ident[8] >= _SINCE_13
    capability = (flags >> 8 if is_new else flags) & 0xff
    if capability < _LEAST_TARGET:
        raise ImageError(f'is damaged: its target is sm_{capability}')
    for each, number, offset in (('sections', count * size, at), ('segments', nsegments * segment, segments_at)):
        if offset + number > len(data):
            raise ImageError(f'is cut off: it has {len(data)} bytes, and its {each} are listed from byte {offset} on')
    for number in range(nsegments):
        _, _, offset, _, _, length, *_ = _SEGMENT.unpack_from(data, segments_at + number * segment)
        _check_range(data, f'segment {number}', offset, length)
    sections = [_SECTION.unpack_from(data, at + number * size) for number in range(count)]
    parts = [_part(data, number, *section) for number, section in enumerate(sections)]
    _check_sections(sections, parts, named)
    infos = {_text(parts[named], section[0]): part for section, part in zip(sections, parts)}
    entries = {}
    for section, part in zip(sections, parts):
        for name in _kernels(part, parts[section[6]], count) if section[1] == _SYMTAB else ():
            entries[name] = _read_entry(infos.get(_INFO + name, b''))
    return Facts((str(capability) + 'a' * bool(flags & (8 if is_new else 0x800)),), (), entries)


def _check_range(data, what, offset, size):
    if offset + size > len(data):
        raise ImageError(f'is cut off: it has {len(data)} bytes, and {what} needs {size} from {offset}')


def _part(data, number, _name, kind, _flags, _address, offset, size, *_rest):
    """Returns the bytes of a section."""
    if kind in (_NULL, _NOBITS) or not size:
        return b''
    _check_range(data, f'section {number}', offset, size)
    return data[offset:offset + size]


def _check_sections(sections, parts, named):
    if sections[named][1] != _STRTAB or parts[named][-1:] != b'\0':
        raise ImageError(f'is damaged: section {named} has no names')
    for number, (_, kind, _, _, _, _, link, _, _, size) in enumerate(sections):
        if link >= len(sections):
            raise ImageError(f'is damaged: section {number} refers to section {link} of {len(sections)}')
        if kind == _SYMTAB and (size != _SYMBOL.size or len(parts[number]) % size or sections[link][1] != _STRTAB):
            raise ImageError('is damaged: its table of symbols is')


def _text(part, offset):
    end = part.find(b'\0', offset)
    if end < 0:
        raise ImageError(f'is damaged: the name at {offset} is outside of the names')
    return part[offset:end].decode(errors='replace')


def _kernels(symbols, texts, count):
    """Yields the names of the kernels in a symbol table. `count`: the number of sections."""
    for name, _, other, section, *_ in _SYMBOL.iter_unpack(symbols):
        if count <= section < _RESERVED:
            raise ImageError(f'is damaged: a symbol is in section {section} of {count}')
        text = _text(texts, name)
        if other & _ENTRY:
            check_name(text)
            yield text


def _read_entry(info):
    """Returns the Entry of a kernel from the section that describes it."""
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
