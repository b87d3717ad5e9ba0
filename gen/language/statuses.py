"""Spells the Python exceptions for the statuses of the library."""

import os
import re

from base.folders import INCLUDE

# Maps a status to the builtin exception that is a further base of its class.
_ALSO = {'EINVAL': 'ValueError', 'EOVERFLOW': 'OverflowError', 'ERANGE': 'ValueError', 'ENOMEM': 'MemoryError',
         'ENOTSUP': 'NotImplementedError'}


def read_statuses():
    """Returns (name without CF_, value, text) of each status but CF_OK."""
    with open(os.path.join(INCLUDE, 'cuferry.h'), encoding='utf-8') as file:
        found = re.findall(r'X\(CF_(E\w+), (-\d+), "([^"]*)"\)', file.read())
    return [(name, int(value), text) for name, value, text in found]


def spell_status_classes():
    """Returns the text of a class for each status and of their table; the module already has the class Error."""
    text = ''
    for name, value, said in read_statuses():
        also = f', {_ALSO[name]}' if name in _ALSO else ''
        text += f'class {name}(Error{also}):\n    """{said[0].upper()}{said[1:]}."""\n\n    status = {value}\n\n\n'
    rows = ''.join(f'    {value}: {name},\n' for name, value, _ in read_statuses())
    return f'{text}_ERRORS = {{\n{rows}}}\n'
