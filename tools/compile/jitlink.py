"""jitlink.py - links GPU code for one target with nvJitLink, in a separate process, because damaged input may crash it.

usage: jitlink.py LIBRARY OUTPUT.cubin OPTION... -- FILE..."""

import ctypes
import os
import re
import sys
import tempfile

KINDS = {'.cubin': 1, '.ptx': 2, '.ltoir': 3, '.fatbin': 4, '.o': 5, '.a': 6}


class Linker:
    """One link. Functions of nvJitLink return 0 for success."""

    def __init__(self, library, options):
        self._library, self._handle = ctypes.CDLL(library), ctypes.c_void_p()
        self._names = []    # kept, because nvJitLink reads them until the link is done
        flags = (ctypes.c_char_p * len(options))(*map(os.fsencode, options))
        if self._library.nvJitLinkCreate(ctypes.byref(self._handle), ctypes.c_uint32(len(options)), flags):
            self._fail(f'nvJitLink refuses {" ".join(options)}')

    def add(self, path):
        with open(path, 'rb') as file:
            data = file.read()
        kind = KINDS[os.path.splitext(path)[1]]
        data += b'\0' * (kind == KINDS['.ptx'])     # nvJitLink expects a zero byte after a text
        self._names.append(os.fsencode(path))
        if self._library.nvJitLinkAddData(self._handle, kind, data, ctypes.c_size_t(len(data)), self._names[-1]):
            self._fail(f'{path} has no code for this target, or is damaged')

    def link(self):
        """Returns the linked cubin."""
        if self._library.nvJitLinkComplete(self._handle):
            self._fail('the link fails')
        said = self._get('InfoLog').rstrip(b'\0').decode(errors='replace')
        sys.stdout.write(said + '\n' * bool(said and not said.endswith('\n')))
        return self._get('LinkedCubin')

    def _fail(self, problem):
        # Without a handle there is no log.
        said = self._get('ErrorLog').rstrip(b'\0').decode(errors='replace').strip() if self._handle else ''
        sys.exit(f'{problem}: {said}' if said else problem)

    def _get(self, name):
        size = ctypes.c_size_t()
        getattr(self._library, f'nvJitLinkGet{name}Size')(self._handle, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        if size.value:
            getattr(self._library, f'nvJitLinkGet{name}')(self._handle, buffer)
        return buffer.raw[:size.value]


def link_quietly(linker, files):
    """Returns the linked cubin, and the text that nvJitLink printed to stderr instead of its log."""
    before = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            for path in files:
                linker.add(path)
            cubin = linker.link()
        finally:
            os.dup2(before, 2)
            os.close(before)
        file.seek(0)
        return cubin, file.read().decode(errors='replace')


def main():
    library, output, *rest = sys.argv[1:]
    options, files = rest[:rest.index('--')], rest[rest.index('--') + 1:]
    try:
        linker = Linker(library, options)
    except (OSError, AttributeError) as error:
        sys.exit(f'nvJitLink, which links GPU code, cannot be loaded: {error}; install it beside nvcc, or name a '
                 'toolkit that has it with --cuda')
    cubin, printed = link_quietly(linker, files)
    if re.search(r'^(?:@E@)?(?:error|fatal) *:', printed, re.MULTILINE):
        sys.exit(printed)       # nvJitLink returns success after some errors
    with open(output, 'wb') as file:
        file.write(cubin)


if __name__ == '__main__':
    main()
