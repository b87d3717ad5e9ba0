"""Adopted kernels: finds the image that an annotation names, and compares its kernel with the declaration."""

import os
import re

from base.diagnostics import closest
from base.model import CType, Image
from base.regular import open_regular
from image.facts import ImageError
from image.read import read_image
from tokens.lexer import TokenError

_POINTER_BYTES = 8
_LISTED = 8             # most names in a message
_PLACE = re.compile(r'\{(\w+)\}')       # a template parameter in the name of a file or of a kernel


class Adopted:
    """The images of one kernel file."""

    def __init__(self, scanner):
        self._scanner = scanner
        self._read = {}         # maps a path to (Image, Facts)

    def find(self, clauses, declaration, filled, params):
        """Returns the image of an instance or a variant, and the kernel's name in this image. `filled`: the template
        arguments. Raises TokenError."""
        image, facts = self._read_image(clauses.image, _fill_in(clauses.image, filled))
        token = clauses.entry or declaration.token
        name = _fill_in(clauses.entry, filled) if clauses.entry else token.text
        if facts.entries is not None:
            if name not in facts.entries:
                raise TokenError(token, f"{image.path} has no kernel '{name}'" + _list_entries(facts, name))
            _check_params(declaration, params, facts.entries[name].params, f'{name} in {image.path}')
        return image, name

    def _read_image(self, token, name):
        path = os.path.join(os.path.dirname(self._scanner.path_of(token.file)), name)
        if path not in self._read:
            shown = os.path.normpath(os.path.join(os.path.dirname(token.file), name))
            try:
                with open_regular(path, 'rb') as file:
                    data = file.read()
                facts = read_image(data)
            except OSError as error:
                raise TokenError(token, f'{shown}: {error.strerror}; image names a file relative to the folder of this '
                                        'one') from error
            except ImageError as error:
                raise TokenError(token, f'{shown} {error}') from error
            self._read[path] = Image(shown, data, facts.sm, facts.ptx), facts
        return self._read[path]


def _fill_in(token, filled):
    """Returns a string in which template arguments take the place of each {NAME}: numbers, or types such as f32."""
    def argument(match):
        value = filled.get(match[1])
        if value is None:
            raise TokenError(token, f"'{match[1]}' in {token.text} is no template parameter of the kernel")
        return value.short if isinstance(value, CType) else str(value)
    return _PLACE.sub(argument, token.text[1:-1])


def _list_entries(facts, name):
    near = closest(name, facts.entries)
    names = list(facts.entries)
    more = f' and {len(names) - _LISTED} more' if len(names) > _LISTED else ''
    return (f"; did you mean '{near}'?" if near else '') + f'; it has {", ".join(names[:_LISTED]) or "none"}{more}'


def _check_params(declaration, params, sizes, what):
    taken = [p for p in params if not p.is_added]
    if len(taken) != len(sizes):
        listed = f', of {" ".join(map(str, sizes))} bytes' if sizes else ''
        raise TokenError(declaration.token, f'{declaration.token.text} takes {len(taken)} parameters, and {what} takes '
                                            f'{len(sizes)}{listed}')
    for raw, param, size in zip(declaration.params, taken, sizes):
        expected = _POINTER_BYTES if param.pointer else param.type.bytes
        if expected not in (None, size):        # None: only the C compiler knows the size
            raise TokenError(raw.token, f'{param.name} has {expected} bytes here, and {size} in {what}')
