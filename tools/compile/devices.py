"""devices.py - device functions that kernel files define for one another, and symbols that no file defines."""

import json
import os
import re

from failure import Refused


class Devices:
    """The device functions that the generator lists; a library may have none."""

    def __init__(self, path, options):
        self._gpu_code = options.gpu_code
        self.functions, self.image_of = [], {}
        if os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                found = json.load(file)
            self.functions, self.image_of = found['functions'], found['images']

    def refuse(self, files, symbols, is_on_cpu=False):
        """Returns the failure that names undefined symbols. `files` are the kernel files that need them, as pairs
        (stem, path)."""
        lines = []
        for symbol in dict.fromkeys(symbols):
            stem, source = next((f for f in files if self._find(symbol, f[0])), files[0])
            lines.append(self._tell(stem, source, symbol, is_on_cpu) + '\n')
        return Refused(''.join(sorted(lines)))

    def is_declared(self, stem, symbol, is_on_host):
        """True if a file declares the function of a symbol: for host code, too, if `is_on_host`, and otherwise only for
        the GPU."""
        return any(d['has_host'] == is_on_host for d in self._find(symbol, stem))

    def _find(self, symbol, stem=None):
        """Returns the declarations of a mangled name in a file, or its definitions in all files if `stem` is None."""
        name = read_name(symbol)
        return [f for f in self.functions if f['name'] == name and f['is_defined'] == (stem is None) and
                stem in (None, f['file'])]

    def _tell(self, stem, source, symbol, is_on_cpu):
        declared, defined = self._find(symbol, stem), self._find(symbol)
        found = [f['parameters'] for f in defined if f['has_host'] or not is_on_cpu]
        # Parameters are not read from the mangled name; instead, overloads that a file defines are known not to be
        # missing.
        declared = [f for f in declared if f['parameters'] not in found] or declared
        signatures = ' or '.join(dict.fromkeys(f['signature'] for f in declared)) or symbol
        place = declared[0]['place'] if declared else source
        none = [f for f in defined if not f['has_host'] and
                f['parameters'] in [d['parameters'] for d in declared]]
        if is_on_cpu and (none or self._gpu_code):
            where = f'it has host(none) at {none[0]["place"]}' if none else f'it is in {", ".join(self._gpu_code)}'
            return (f'{place}: error: the CPU lacks {signatures}: {where}; annotate kernels that call it with '
                    'host(none), or with host(FUNCTION) for a form of their own')
        others = f', nor in {", ".join(self._gpu_code)}' if self._gpu_code else ''
        near = (f'; {defined[0]["signature"]} at {defined[0]["place"]} has other parameters' if defined else
                '; write #pragma cf device above its definition in a kernel file, or name the GPU code that has it')
        return f'{place}: error: {signatures} is defined in no kernel file{others}{near}'


def read_name(symbol):
    """Returns a function's qualified name, such as heat::mul, from its mangled name; the name of a C function is not
    mangled."""
    text, names = re.sub('^_ZN?', '', symbol), []
    while symbol.startswith('_Z') and text[:1].isdigit():
        count = re.match(r'\d+', text)[0]
        names.append(text[len(count):len(count) + int(count)])
        text = text[len(count) + int(count):]
        if not symbol.startswith('_ZN'):
            break
    return '::'.join(names) or symbol
