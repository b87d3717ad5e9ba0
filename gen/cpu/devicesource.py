"""Makes a copy of a kernel file for nvcc, if nvcc cannot compile the file itself."""

import os
import re

from base.text import c_string, include
from cpu.collective import has_launch

_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*"([^"]+)"')


def copy_for_device(scanner, path, declarations):
    """Returns the text of a file without the bodies of device functions that launch kernels, since these need a device
    linker; '' if the file has no such functions. Annotated kernels keep their bodies."""
    launching = [d for d in declarations if d.head[0].file == path and (d.has('__device__') or d.has('__global__')) and
                 has_launch(d.body or ()) and d.body[0].exact and d.body[-1].exact]
    if not launching:
        return ''
    lines = list(scanner.lines_of(path))
    for declaration in reversed(launching):
        _blank_range(lines, declaration.body[0], declaration.body[-1])
    shown = set(map(os.path.normpath, scanner.shown_paths))
    for number, line in enumerate(lines):
        match = _INCLUDE.match(line)
        target = os.path.normpath(os.path.join(os.path.dirname(path), match.group(1))) if match else None
        if target in shown:     # relative includes need a path, since the copy is in another folder
            lines[number] = include(target).rstrip('\n')
    return f'#line 1 {c_string(path)}\n' + '\n'.join(lines)


def _blank_range(lines, first, last):
    """Replaces the text from token `first` to token `last` by spaces. Line ends and directives stay."""
    for number in range(first.line, last.line + 1):
        line = lines[number - 1]
        if line.lstrip().startswith('#'):
            continue
        begin = first.column - 1 if number == first.line else 0
        end = last.column - 1 + len(last.text) if number == last.line else len(line)
        lines[number - 1] = line[:begin] + line[end:]
