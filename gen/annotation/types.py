"""The types of a kernel file's parameters and data: looked up by name and visible to C."""

import os

from base.model import Param
from declare.typedecl import Declared
from expr.cxxtypes import pointer, VOID
from tokens.lexer import TokenError


class FileTypes:
    """Types by their names in a kernel file. C sees the types of headers in include(...)."""

    def __init__(self, path, error):
        """`error` takes a token and a message."""
        self._path, self._error = path, error
        self.declared = Declared(path)
        self.includes = []          # tokens of the headers' names

    def add_includes(self, tokens):
        self.includes += [token for token in tokens if token.text not in [t.text for t in self.includes]]

    def check_header(self, token, ctype):
        """Checks that include(...) names the header that declares the type, so that C sees it."""
        header = self.declared.headers.get(ctype.c)
        if header and not self.includes:
            name = os.path.relpath(header, os.path.dirname(self._path) or '.')
            self._error(token, f'{ctype.cxx} is declared in {header}, which C programs have to include too; add '
                               f'include("{name}") to the annotation')

    def find_type(self, token, words, scope):
        found = self.declared.types.find(scope, words)
        text = ' '.join(words)
        if isinstance(found, str):
            raise TokenError(token, found)
        if found is None and words == ['void']:
            return VOID
        if found is None and 'std::' in text:
            raise TokenError(token, f"'{text}' is a class of the C++ library, which C does not have; pass a pointer "
                                    "and a "
                                    'length')
        if found is None:
            near = self.declared.types.near(words[-1])
            raise TokenError(token, f"unknown type '{text}'; " + (f"did you mean '{near}'?" if near else
                             'use a scalar type such as float, double, int32_t or int64_t, or a struct of a header '
                             'that include(...) names'))
        self.check_header(token, found)
        return found

    def read_param(self, raw, scope, types, arrays):
        """Returns (Param without dimensions, its token) of one instance."""
        base = types.get(raw.words[0]) if len(raw.words) == 1 else None
        if base is None:
            words = [self._fill_in_types(w, types) for w in raw.words]
            base = self.find_type(raw.first, words, scope)
        if base is VOID and not raw.pointer:
            raise TokenError(raw.first, f'{raw.token.text} has no type')
        spelled_c, spelled_cxx = (_spell_type(raw, name) for name in (base.c, base.cxx))
        element = base
        if len(raw.pointers) > 1:
            inner_c, inner_cxx = (_spell_type(raw, name, len(raw.pointers) - 1) for name in (base.c, base.cxx))
            element = pointer(inner_c, inner_cxx)
        array = arrays.get(raw.token.text)
        direction = array.direction if array else 'CF_POINTER' if raw.pointer else 'CF_VALUE'
        if array and element is VOID:
            raise TokenError(array.token, f'the elements of {raw.token.text} have no type, so it has no extent; give '
                                          "it the elements' type")
        return Param(raw.token.text, spelled_c, spelled_cxx, element, raw.pointer, raw.pointer and raw.const, direction,
                     (), raw.is_restrict)

    @staticmethod
    def _fill_in_types(word, types):
        """Returns complex<T> with T filled in."""
        for name, ctype in types.items():
            word = word.replace(f'<{name}>', f'<{ctype.cxx}>')
        return word



def _spell_type(raw, base, pointers=None):
    """Spells a parameter's type over a base type's name; with `pointers`, the type after that many dereferences."""
    text = ('const ' if raw.is_const and raw.pointer else '') + (
        'volatile ' if raw.is_volatile and raw.pointer else '') + base
    stars = raw.pointers if pointers is None else raw.pointers[:pointers]
    for number, qualifiers in enumerate(stars):
        text += '*' if number else ' *'
        if pointers is not None or number < len(stars) - 1:
            text += ''.join(f'{q} ' for q in ('const', 'volatile') if q in qualifiers)
    return text.rstrip()
