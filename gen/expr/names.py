"""Looks up names in one instance: parameters by number, constants and types by value."""

import re

from base.diagnostics import closest
from expr.compile import compile_expr
from expr.cxxtypes import UNREADABLE
from expr.evaluate import evaluate_exact
from tokens.lexer import TokenError


class Names:
    def __init__(self, params, constants, types, declared, scope):
        """`params`: list of (name, type, is pointer). `constants`: name to int. `types`: name to type. `declared`: the
        file's types and constants, looked up from `scope`."""
        self.params, self.constants, self.types = params, constants, types
        self.declared, self.scope = declared, scope
        self.proofs = set()         # (scope, name, value) of the file's constants that were used

    def resolve(self, token, spelled, real):
        if spelled in self.constants:
            return 'CONST', self.constants[spelled]
        for number, (name, ctype, pointer) in enumerate(self.params):
            if name == spelled:
                if pointer:
                    raise TokenError(token, f'{name} is an array; an expression takes numbers')
                if ctype.kind in ('struct', 'vector'):
                    raise TokenError(token, f'{name} is {ctype.cxx}; an expression takes one of its members, as in '
                                            f'{name}.{next(iter(ctype.members or ("x",)))}')
                self._check_type(token, name, ctype, real)
                return 'PARAM', number
        value = self.declared.constant(self.scope, spelled)
        if value is UNREADABLE:
            raise TokenError(token, f'the value of {spelled} cannot be told here; use a literal, a macro, or a '
                                    'constant that is made of those')
        if value is not None:
            if spelled not in ('true', 'false'):
                self.proofs.add((self.scope, spelled, value))
            return 'CONST', value
        raise TokenError(token, f"'{spelled}' is no parameter of the kernel" + self._suggest_name(spelled))

    @staticmethod
    def _check_type(token, name, ctype, real):
        if not (ctype.number if real else ctype.integer):
            what = {'float': 'a floating-point number', 'coded': 'a floating-point number',
                    'complex': 'a complex number', 'pointer': 'a pointer',
                    'array': f'an array; write {name}[0]',
                    'bit-field': 'a bit-field, which has no address', 'struct': 'a struct'}.get(ctype.kind, ctype.cxx)
            raise TokenError(token, f'{name} is {what}; an expression takes {"numbers" if real else "integers"}')

    def find_number(self, token, spelled):
        """Returns the number of a parameter."""
        number = next((i for i, p in enumerate(self.params) if p[0] == spelled), None)
        if number is None:
            raise TokenError(token, f"'{spelled}' is no parameter of the kernel" + self._suggest_name(spelled))
        return number

    def _read_index(self, node):
        value = evaluate_exact(compile_expr(node, '', self))
        if value is None or value < 0:
            raise TokenError(node.token, 'the index of a member is a constant')
        return value

    def find_member(self, token, spelled, path, indices, real):
        """Returns the step for a member of a parameter; its C type is empty if only the C compiler knows it."""
        path = path.format(*(self._read_index(i) for i in indices))
        number = self.find_number(token, spelled)
        _, whole, pointer = self.params[number]
        if pointer:
            raise TokenError(token, f'{spelled} is an array; an expression takes members of what is passed by value')
        ctype = self._follow_path(token, spelled, whole, path)
        if ctype is not None:
            self._check_type(token, f'{spelled}.{path}', ctype, real)
        known = ctype is not None and ctype.kind != 'enum'      # the compiler decides the sign of an enumeration
        return 'MEMBER', (number, whole.c, path, ctype.enum if known else '', real)

    def find_checked_member(self, token, number, path, indices):
        """Returns (path, type) of a member of an array's elements; the type is None if only the C compiler knows it."""
        path = path.format(*(self._read_index(i) for i in indices))
        name, ctype, _ = self.params[number]
        return path, self._follow_path(token, f'{name}[:]', ctype, path)

    def _follow_path(self, token, spelled, ctype, path):
        """Returns the type of a member; None if only the C compiler knows it."""
        if ctype.kind not in ('struct', 'vector'):
            raise TokenError(token, f'{spelled} is {ctype.cxx}, which has no members')
        at = spelled
        for step in re.findall(r'\w+|\[\d+\]', path):
            if ctype is None or ctype.kind == 'struct' and ctype.members is None:
                return None
            if step.startswith('['):
                ctype = self._find_element(token, ctype, at, step)
                at += step
                continue
            if ctype.kind == 'array':
                raise TokenError(token, f'{at} is an array; write {at}[0]')
            if ctype.definition and ctype.definition.opaque:
                raise TokenError(token, f'C sees the bytes of {at} alone: {ctype.definition.opaque}; pass {step} as a '
                                        'parameter of its own')
            if step not in (ctype.members or {}):
                near = closest(step, list(ctype.members or {}))
                raise TokenError(token, f"{at} has no member '{step}'" + (f"; did you mean '{near}'?" if near else ''))
            ctype = ctype.members[step]
            at += f'.{step}'
        return ctype

    @staticmethod
    def _find_element(token, ctype, at, step):
        if ctype.kind != 'array':
            raise TokenError(token, f'{at} is no array')
        if ctype.bytes is not None and int(step[1:-1]) >= ctype.bytes:
            raise TokenError(token, f'{at} has {ctype.bytes} elements, and no {at}{step}')
        return ctype.members['[]']

    def _suggest_name(self, name):
        near = closest(name, [p[0] for p in self.params] + list(self.constants))
        return f"; did you mean '{near}'?" if near else ''

    def _find_type(self, token, words):
        ctype = self.types.get(words[0]) if len(words) == 1 else None
        ctype = ctype or self.declared.find(self.scope, words)
        if isinstance(ctype, str):
            raise TokenError(token, ctype)
        if ctype is None:
            raise TokenError(token, f"{token.text} takes a type that C knows or a template's type, not "
                                    f"'{' '.join(words)}'")
        return ctype

    def find_size(self, token, words, stars):
        if stars:
            return 8
        ctype = self._find_type(token, words)
        return ctype.bytes if ctype.bytes is not None else ('sizeof', ctype.c)

    def is_integral(self, token, words, stars):
        """Like std::is_integral: true for bool, false for enumerations."""
        return int(self._find_type(token, words).kind == 'integer' and not stars)
