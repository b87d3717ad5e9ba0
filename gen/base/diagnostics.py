"""Errors and warnings, collected so that a file's errors are reported together, each with its line and a caret."""

import re
import sys
from typing import Dict, List, Tuple

from base.model import Location

# Maps the names of warnings that can be turned off to descriptions.
WARNINGS = {'lockstep': 'lanes that rely on lockstep',
            'dependent': 'dependent kernels that never wait for the work before them',
            'pointers': 'pointers inside structs, which calls neither copy nor check'}


def closest(name, names):
    """Returns the known name that is most similar to a misspelled name; None if none is similar."""
    from difflib import get_close_matches   # rarely needed and slow to load
    near = get_close_matches(name, list(names), 1)
    return near[0] if near else None


class GeneratorError(Exception):
    """An error without a source location."""


_WIDEST = 1000      # most columns of a line that a message shows


class Diagnostics:
    """Errors and warnings of all files. report() shows each with its line and a caret."""

    def __init__(self, off=()):
        """`off`: names of the warnings that are turned off."""
        self._off = off
        self._errors: Dict[Tuple[Location, str], None] = {}
        self._warnings: Dict[Tuple[Location, str], None] = {}
        self._lines: Dict[str, List[str]] = {}

    def add_source(self, name, text):
        self._lines[name] = text.split('\n')

    def error(self, location, message):
        self._errors.setdefault((location, message))

    def warn(self, location, message, name=''):
        """Adds a warning. -Wno-NAME turns off the warnings with this name."""
        message += f' [-W{name}]' if name else ''
        if name not in self._off:
            self._warnings.setdefault((location, message))

    def drop_since(self, count):
        """Drops the errors added after the first `count`."""
        self._errors = dict.fromkeys([*self._errors][:count])

    def drop_behind(self, location, since):
        """Drops the errors added after the first `since`, except those before `location` in its file."""
        errors = [*self._errors]
        self._errors = dict.fromkeys(errors[:since] + [e for e in errors[since:] if e[0].file == location.file and
                                                       e[0] < location])

    @property
    def count(self):
        """Number of errors."""
        return len(self._errors)

    def report(self, stream=sys.stderr):
        said = [(place, 'error', message) for place, message in self._errors]
        said += [(place, 'warning', message) for place, message in self._warnings]
        for location, kind, message in sorted(said):
            stream.write(f'{location.file}:{location.line}:{location.column}: {kind}: {message}\n')
            lines = self._lines.get(location.file, [])
            if location.line <= len(lines) and len(lines[location.line - 1]) <= _WIDEST:
                line = re.sub(r'[\x00-\x08\x0a-\x1f\x7f]', ' ', lines[location.line - 1])
                pad = re.sub(r'[^\t]', ' ', line[:location.column - 1])
                stream.write(f'{location.line:5} | {line}\n      | {pad}^\n')
