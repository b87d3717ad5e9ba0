"""Reads images of any kind: cubins, PTX, and fatbins, which hold several of both."""

import struct

from image.cubin import read_cubin
from image.facts import Facts, ImageError
from image.ptx import read_ptx

_FATBIN, _LTO, _BITCODE = b'\x50\xed\x55\xba', b'\xed\x43\x4e\x7f', b'\x42\x43\xc0\xde'
_HEAD, _ENTRY = struct.Struct('<IHHQ'), struct.Struct('<HHIQIIHHIIIQ')
_PTX, _CUBIN = 1, 2     # kinds of an entry
_EXACT, _FAMILY = 0x100000, 0x200000


def read_image(data):
    """Returns the facts of an image. Raises ImageError."""
    if data.startswith((_LTO, _BITCODE)):
        raise ImageError('is LTO-IR; link it first')
    if data.startswith(b'!<arch>\n'):
        raise ImageError('is an archive of object files; link it first')
    if data.startswith(_FATBIN):
        return _read_fatbin(data)
    return _read_part(data)


def _read_part(data):
    if data.startswith(b'\x7fELF'):
        return read_cubin(data)
    try:
        text = data.rstrip(b'\0').decode()
        if '\0' not in text and text.lstrip()[:1] in ('.', '/', ''):
            return read_ptx(text)
    except UnicodeDecodeError:
        pass
    raise ImageError(f'is no cubin, fatbin or PTX: it has {len(data)} bytes and begins with {data[:4].hex()}')


def _read_fatbin(data):
    if len(data) < _HEAD.size:
        raise ImageError(f'is cut off: it has {len(data)} bytes, and the header of a fatbin {_HEAD.size}')
    _, version, at, size = _HEAD.unpack_from(data)
    if version != 1 or at < _HEAD.size:
        raise ImageError(f'is damaged: its header has version {version} and {at} bytes')
    end = at + size
    if end > len(data):
        raise ImageError(f'is cut off: it has {len(data)} bytes, and its entries need {size} from {at}')
    sm, ptx, entries, is_packed = {}, {}, {}, False
    while at < end:
        if end - at < _ENTRY.size:
            raise ImageError(f'is damaged: {end - at} bytes follow its entries')
        kind, _, head, length, packed, _, _, _, capability, _, _, flags = _ENTRY.unpack_from(data, at)
        if head < _ENTRY.size or head + length > end - at:
            raise ImageError(f'is damaged: an entry has {head} and {length} bytes, and {end - at} are left')
        if packed > length:
            raise ImageError(f'is damaged: an entry has {length} bytes, {packed} of them compressed')
        if kind in (_PTX, _CUBIN):
            if not 10 <= capability <= 999:
                raise ImageError(f'is damaged: the target of an entry is sm_{capability}')
            target = f'{capability}{"a" * bool(flags & _EXACT) or "f" * bool(flags & _FAMILY)}'
            (ptx if kind == _PTX else sm)[target] = True
            is_packed |= packed > 0
            if not packed:
                read = read_cubin if kind == _CUBIN else _read_part
                _add_entries(entries, read(data[at + head:at + head + length]).entries)
        at += head + length
    if not sm and not ptx:
        raise ImageError('has no code in its entries; LTO-IR has to be linked first')
    return Facts(tuple(sm), tuple(ptx), None if is_packed else entries)


def _add_entries(entries, others):
    """Adds the kernels of one entry of a fatbin. Kernels of the same name have to agree in all entries, because a
    launch does not know which entry the driver chooses."""
    for name, entry in others.items():
        known = entries.setdefault(name, entry)
        if (known.params, known.block) != (entry.params, entry.block):
            raise ImageError(f'has several kernels {name}, whose parameters or blocks differ')
