"""Looks up the types of a kernel file's parameters and data, and how C sees them."""

import re

from base.model import CType, Param
from declare.layout import Layouts, name_type
from declare.typedecl import Declared
from expr.cxxtypes import pointer, VOID
from tokens.lexer import TokenError


class FileTypes:
    """The types of a kernel file by name. C sees types of headers in include(...); the generated header defines all
    others."""

    def __init__(self, scanner, probe):
        self._scanner, self._probe = scanner, probe
        self.declared = Declared()
        self.layouts = Layouts(self.declared, probe, lambda file: file in self.shared)
        self.includes = []          # tokens of the headers' names
        self._shared = None

    def add_includes(self, tokens):
        self.includes += [token for token in tokens if token.text not in [t.text for t in self.includes]]

    def complete(self):
        """Gives types their C definitions from now on. All declarations have to be known."""
        self.declared.types.complete = self.layouts.complete

    @property
    def shared(self):
        """The displayed names of headers that C programs see: those in include(...) and the headers they include."""
        if self._shared is None:
            pending, self._shared = [(t.file, t.text[1:-1], t.location) for t in self.includes], set()
            while pending:
                shown = self._scanner.find_included(*pending.pop())
                if shown and shown not in self._shared:
                    self._shared.add(shown)
                    pending += [(shown, name) for name in self._scanner.includes_of(shown)]
        return self._shared

    def ask_constant(self, text):
        """Returns the value of a name that only the compiler knows, such as an enumerator of a system header; None if
        there is none."""
        is_name = re.fullmatch(r'(?:::)?(?:[^\W\d]\w*::)*[^\W\d]\w*', text)
        return self._probe.value(text, re.findall(r'\w+', text)) if is_name else None

    def ask_number(self, text, scope):
        """Returns the value of an expression in a namespace; None if it is no constant for the C++ compiler."""
        return self._probe.value(text, re.findall(r'\w+', text), scope)

    def is_aligned(self, ctype, path):
        """True if a member is aligned in every element of an array, or if only the C compiler can tell."""
        if ctype.kind == 'vector':
            return True
        offset, size = f'__builtin_offsetof({ctype.cxx}, {path})', f'sizeof((({ctype.cxx} *)0)->{path})'
        return self._probe.value(f'({offset} | sizeof({ctype.cxx})) % {size} == 0',
                                 re.findall(r'\w+', ctype.cxx)) != 0

    def find_type(self, token, words, scope, is_dependent=False):
        """Returns the type that words name. `is_dependent`: they name a member of a template parameter."""
        found = self.declared.types.find(scope, words)
        text = ' '.join(words)
        if found is None and (is_dependent or '<' in text):
            cxx = self._probe.alias(scope, f'cf__{name_type(text)}', text)
            found = self.layouts.ask(cxx, (*scope, *re.findall(r'\w+', text)), text, token)
        if isinstance(found, str):
            raise TokenError(token, found)
        if found is None and words == ['void']:
            return VOID
        if found is None and 'std::' in text:
            raise TokenError(token, f"'{text}' is a class of the C++ library, which C does not have; pass a pointer "
                                    'and a length')
        if found is None:
            near = self.declared.types.near(words[-1])
            raise TokenError(token, f"unknown type '{text}'; " + (f"did you mean '{near}'?" if near else
                             'use a scalar type such as float, double, int32_t or int64_t, or a struct of this file '
                             'or of a header of your own'))
        return found

    def read_param(self, raw, scope, filled, arrays):
        """Returns a Param of one instance, still without dimensions. `filled`: template arguments by name."""
        base = filled.get(raw.words[0]) if len(raw.words) == 1 else None
        if not isinstance(base, CType):
            words = [fill_in(word, filled) for word in raw.words]
            base = self.find_type(raw.first, words, scope, words != raw.words)
        if base is VOID and not raw.pointer:
            raise TokenError(raw.first, f'{raw.token.text} has no type')
        if base.c in self.layouts.arrays and not raw.pointer:
            raise TokenError(raw.first, f'{base.cxx} is an array, which functions take as a pointer; write a pointer '
                                        'to its elements in the kernel')
        if raw.is_added and not base.number:
            raise TokenError(raw.first, f'{raw.token.text} is {base.cxx}; param(...) adds numbers')
        array = arrays.get(raw.token.text)
        is_input = array is not None and array.direction == 'CF_IN'
        spelled_c = _spell_type(raw.as_const() if is_input else raw, base.c)
        spelled_cxx = _spell_type(raw, base.cxx)
        element = base
        if len(raw.pointers) > 1:
            inner_c, inner_cxx = (_spell_type(raw, name, len(raw.pointers) - 1) for name in (base.c, base.cxx))
            element = pointer(inner_c, inner_cxx)
        direction = array.direction if array else 'CF_POINTER' if raw.pointer else 'CF_VALUE'
        if array and element is VOID:
            raise TokenError(array.token, f'the elements of {raw.token.text} have no type, so it has no extent; give '
                                          "it the elements' type")
        is_const = raw.pointer and raw.const or is_input
        return Param(raw.token.text, spelled_c, spelled_cxx, element, raw.pointer, is_const, direction, (),
                     raw.is_restrict, is_added=raw.is_added)


def fill_in(text, filled):
    """Returns C++ text, such as a word of a type, with template arguments filled in."""
    def value(match):
        found = filled.get(match.group())
        return found.cxx if isinstance(found, CType) else match.group() if found is None else str(found)
    return re.sub(r'(?<![:.\w])[A-Za-z_]\w*', value, text)


def _spell_type(raw, base, pointers=None):
    """Returns a parameter's type with `base` as the name of its innermost type, and with only `pointers` of its *s."""
    text = ('const ' if raw.is_const and raw.pointer else '') + (
        'volatile ' if raw.is_volatile and raw.pointer else '') + base
    stars = raw.pointers if pointers is None else raw.pointers[:pointers]
    for number, qualifiers in enumerate(stars):
        text += '*' if number else ' *'
        if pointers is not None or number < len(stars) - 1:
            text += ''.join(f'{q} ' for q in ('const', 'volatile') if q in qualifiers)
    return text.rstrip()
