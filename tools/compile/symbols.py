"""symbols.py - reads the symbol tables and sections of objects. The build of the library runs this file as a program,
which prints the functions of an object that kernels of other files may call."""

import struct
import sys

from failure import Failure


class Symbols:
    """The global symbols that a 64-bit little-endian object defines; `missing` are the undefined ones. The class can
    make hidden symbols visible, which no GNU tool does: it changes the visibility, a byte in the symbol table, before
    the linker reads it."""

    TYPE_OBJECT, TYPE_FUNCTION, BIND_LOCAL, SECTION_SYMBOLS, PROTECTED = 1, 2, 0, 2, 3

    def __init__(self, path):
        with open(path, 'rb') as file:
            self._data = bytearray(file.read())
        if self._data[:6] != b'\x7fELF\x02\x01':
            raise Failure(f'{path} is no object file of this machine')
        try:
            self._read()
        except (struct.error, IndexError, ValueError) as error:
            raise Failure(f'{path} is no whole object file: {error}') from error

    def _read(self):
        start, = struct.unpack_from('<Q', self._data, 40)
        size, count = struct.unpack_from('<HH', self._data, 58)
        if not count:
            count, = struct.unpack_from('<Q', self._data, start + 32)
        # name, type, flags, address, offset, size, link
        headers = [struct.unpack_from('<IIQQQQI', self._data, start + i * size) for i in range(count)]
        self._places, self.missing = {}, set()
        for header in (h for h in headers if h[1] == self.SECTION_SYMBOLS):
            names = headers[header[6]][4]
            for place in range(header[4], header[4] + header[5], 24):
                name, info, _, section = struct.unpack_from('<IBBH', self._data, place)
                if info >> 4 == self.BIND_LOCAL:
                    continue
                text = self._data[names + name:self._data.index(0, names + name)].decode(errors='replace')
                if section:
                    self._places[text] = place
                else:
                    self.missing.add(text)

    def __iter__(self):
        return iter(sorted(self._places))

    def _of_type(self, wanted):
        return [name for name in self if self._data[self._places[name] + 4] & 15 == wanted]

    def functions(self):
        return self._of_type(self.TYPE_FUNCTION)

    def linked(self):
        """Returns the functions that kernels of other files may call, which are the only ones with protected
        visibility."""
        return [name for name in self if self._data[self._places[name] + 5] & 3 == self.PROTECTED]

    def registries(self):
        """Returns the prefixes of the libraries in the object."""
        return [name[:-len('_registry')] for name in self._of_type(self.TYPE_OBJECT)
                if name.endswith('_registry') and name != 'cf_registry']

    def show(self, names, path):
        """Writes the object to `path`, with default visibility for the symbols `names`."""
        for name in names:
            self._data[self._places[name] + 5] &= 0xfc
        with open(path, 'wb') as file:
            file.write(self._data)


def has_section(path, name):
    """True if an object, or an object in an archive, has a section of this name. False for a damaged file, which the
    linker reports later."""
    with open(path, 'rb') as file:
        data = file.read()
    try:
        return any(name in _sections(part) for part in (_members(data) if data.startswith(b'!<arch>\n') else [data]))
    except (struct.error, IndexError, ValueError):
        return False


def _members(archive):
    at = 8
    while at + 60 <= len(archive):
        size = int(archive[at + 48:at + 58])
        yield archive[at + 60:at + 60 + size]
        at += 60 + size + size % 2


def _sections(data):
    """Yields the names of an object's sections."""
    if data[:6] != b'\x7fELF\x02\x01':
        return
    start, = struct.unpack_from('<Q', data, 40)
    size, count, texts = struct.unpack_from('<HHH', data, 58)
    if not count:           # with many sections, the first header holds the counts
        count, = struct.unpack_from('<Q', data, start + 32)
    if texts == 0xffff:
        texts, = struct.unpack_from('<I', data, start + 40)
    places, = struct.unpack_from('<Q', data, start + texts * size + 24)
    for i in range(count):
        name, = struct.unpack_from('<I', data, start + i * size)
        yield data[places + name:data.index(0, places + name)].decode(errors='replace')


if __name__ == '__main__':
    print('\n'.join(Symbols(sys.argv[1]).linked()))
