"""Evaluates integer constants of a file and of a kernel. Such a constant may be the argument of a template."""

import copy

from expr.compile import compile_expr
from expr.evaluate import evaluate_small
from expr.tree import parse_expr, RELATIONS
from tokens.brackets import split_at
from tokens.cursor import Cursor
from tokens.lexer import Token, TokenError

_INTEGERS = {'int', 'unsigned', 'signed', 'long', 'auto', 'size_t', 'uint', 'int32_t', 'uint32_t', 'int64_t',
             'uint64_t', 'std', '::'}
_CONSTANTS = {'const', 'constexpr'}
_QUALIFIERS = {*_CONSTANTS, 'static', 'inline', '__device__', '__constant__'}
_MOST_NESTED = 20


def evaluate_constant(tokens, find):
    """Returns the value of a constant expression if it is a number from 0 to INT_MAX that is the same in all integer
    types of 32 or more bits; None for others. `find`: returns the value of the identifier at a place of `tokens`, or
    None."""
    found = []
    for at, token in enumerate(tokens):
        if token.kind == 'identifier':
            value = find(at)
            if value is None:
                return None
            token = copy.copy(token)
            token.kind, token.text = 'number', str(value)
        found.append(token)
    # In a < b < c, C++ compares the result of a < b with c.
    if sum(t.text in RELATIONS for t in found) > 1 and '?' not in {t.text for t in found}:
        return None
    try:
        cursor = Cursor([*found, Token('end', '', '', 0, 0)])
        tree = parse_expr(cursor)
        return evaluate_small(compile_expr(tree, '', None)) if cursor.token.kind == 'end' else None
    except TokenError:
        return None


def _is_integer(types):
    words = {t.text for t in types}
    return words <= _INTEGERS | _QUALIFIERS and not words.isdisjoint(_CONSTANTS)


class Constants:
    """The constants of a file that a kernel, and device functions in its namespace, can name."""

    def __init__(self, kernel, declarations):
        self._scope, self._declarations, self._nested = kernel.scope, declarations, 0

    def evaluate(self, tokens):
        """Returns the value of an expression if it contains only numbers and constants of the file; None for others."""
        return evaluate_constant(tokens, lambda at: self._find(tokens[at].text))

    def evaluate_local(self, body, begin, end, variables, statements, hidden):
        """Returns the value of the expression from `begin` to `end` in a kernel's body if it contains only numbers and
        constants; None for others. `hidden`: names that mean something else than a constant of the file."""
        hidden = hidden | {t.text for outer in statements for s in outer.walk() if s.kind in ('alias', 'unknown')
                           for t in body[s.begin:s.end]}

        def find(at):
            name, variable = body[at].text, variables.of.get(at)
            if variable is not None:
                is_constant = variable.value is not None and len(variable.declarator) == 1 and \
                    _is_integer(variable.types)
                return evaluate(*variable.value) if is_constant else None
            return self._find(name) if name not in hidden else None

        def evaluate(first, last):
            if body[first].text == '{':
                first, last = first + 1, last - 1
            return evaluate_constant(body[first:last], lambda at: find(first + at))

        return evaluate(begin, end)

    def _find_enumerator(self, tokens, name):
        """Returns the value of an enumerator of the declaration in `tokens`; None if numbers and constants do not give
        it."""
        texts = [t.text for t in tokens]
        if texts[0] != 'enum' or '{' not in texts or texts[1] in ('class', 'struct') or not self._has_none(texts):
            return None
        value, opening = -1, texts.index('{')
        for part in split_at(tokens[opening + 1:texts.index('}')], ','):
            words = [t.text for t in part]
            if words[1:2] == ['=']:
                value = self.evaluate(part[2:])
            elif value is not None:
                value += 1
            if words[:1] == [name]:
                return value
        return None

    def _has_none(self, texts):
        """True if the value of no enumerator contains another enumerator of the same list, as in A, B = A + 1."""
        names = {b for a, b in zip(texts, texts[1:]) if a in ('{', ',')}
        return all(a in ('{', ',') for a, b in zip(texts, texts[1:]) if b in names)

    def _find(self, name):
        """Returns the value of the file's constant with a name; None if another declaration may have this name, too."""
        found = [d for d in self._declarations if name in d.names]
        if len(found) != 1 or found[0].function is not None or self._nested > _MOST_NESTED or \
                tuple(found[0].scope) != tuple(self._scope[:len(found[0].scope)]):
            return None
        declaration, self._nested = found[0], self._nested + 1
        try:
            if declaration.has('enum'):
                braces = [Token('punctuation', t, '', 0, 0) for t in '{}']
                return self._find_enumerator([*declaration.head, braces[0], *(declaration.body or ()), braces[1]], name)
            parts = split_at([t for t in declaration.head if t.text != ';'], ',')
            if not parts or declaration.is_class or declaration.tail:
                return None
            first = next((i for i, t in enumerate(parts[0]) if t.text in ('=', '{')), len(parts[0])) - 1
            if not _is_integer(parts[0][:first]):
                return None
            parts[0] = parts[0][first:]
            part = next((p for p in parts if p and p[0].text == name), [])
            if [t.text for t in part[1:2]] == ['=']:
                return self.evaluate(part[2:])
            return self.evaluate(declaration.body) if declaration.body and part is parts[-1] and not part[1:] else None
        finally:
            self._nested -= 1
