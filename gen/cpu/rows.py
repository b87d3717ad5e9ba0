"""Divides a flat block into rows if the kernel itself computes a row and a column from the thread's index.

    int row = threadIdx.x / 32;             int row = threadIdx.y;
    int column = threadIdx.x % 32;          int column = threadIdx.x;
    s[threadIdx.x] = 0;                     s[(threadIdx.y * 32 + threadIdx.x)] = 0;

The order of the threads does not change. Neighbours along x are then neighbours in memory, and a value that depends
only on the row is the same for all threads of the row."""

import copy
import re

from cpu.ranges import type_of
from cpu.loops import find_hidden, list_called, reads_elsewhere
from cpu.renamed import is_plain
from cpu.turned import Neighbours, OTHERS
from cpu.unified import Body
from tokens.brackets import matching
from tokens.lexer import Token, TokenError

_WORDS = {'threadIdx', 'blockDim'}
TYPES = {'int', 'unsigned', 'unsigned int', 'uint', 'int32_t', 'uint32_t'}
_BEFORE = {'=', '(', '[', ',', '+', '-', '<', '>', '<=', '>=', '==', '!=', '&&', '||', '?', ':', 'return', ';', '{',
           '}'}
# An expression that stands alone between two of these tokens needs no parentheses.
_BEFORE_ALONE, _BEHIND_ALONE = {'=', '(', '[', ',', 'return'}, {')', ']', ',', ';'}
_NUMBER = re.compile(r'(0|[1-9]\d{0,5})[uU]?')
_LEAST = 8      # fewest threads of a row
_MOST_NESTED = 4


class Rows:
    """A kernel whose flat block is divided into rows: its changed copy, the tokens of a row's length, and their
    value."""

    def __init__(self, kernel, length, value):
        self.kernel, self.length, self.value = kernel, length, value


def find_rows(kernel, declarations, value, threads):
    """Returns the Rows of a kernel; None if it computes no rows, or if rows would not help. `value`: returns the value
    of tokens that are a constant, or None; `threads`: the number of a block's threads."""
    if 'threadIdx' not in kernel.words or any(find_hidden(kernel.body)) or reads_elsewhere(kernel, declarations, ()):
        return None
    if any(OTHERS.fullmatch(word) for d in [kernel, *list_called(kernel, declarations)] for word in d.words):
        return None
    if any(token.text in _WORDS and [t.text for t in kernel.body[at + 1:at + 3]] != ['.', 'x']
           for at, token in enumerate(kernel.body)):
        return None
    try:
        body = Body(kernel, declarations)
    except TokenError:
        return None
    if not is_plain(kernel.body, body.statements, body.variables):
        return None
    parts = [part for part in find_parts(body, value, _find_indices(body))
             if part.value < threads and threads % part.value == 0]
    # Loops over elements that the threads share out need the flat index of a thread.
    inside = {at for part in parts for at in range(part.begin, part.end)}
    headers = [range(*s.parts[0]) for t in body.statements for s in t.walk() if s.kind == 'for']
    if any(at not in inside and any(at in header for header in headers) for at, _, _ in _find_indices(body)):
        return None
    best, most = None, Neighbours(kernel.body).count()[0]
    for length in sorted({part.value for part in parts}, reverse=True):
        found = _divide(Body(kernel, declarations), parts, length)
        count = Neighbours(found.kernel.body).count()[0]
        if count > most:
            best, most = found, count
    return best


def spell_row(kernel, sizes):
    """Returns the number of threads in the longest row as text, '' if it is unknown. `sizes`: threads of a block along
    each axis."""
    if kernel.tiles:
        return str(max(sizes[0], *kernel.tiles.values()))
    if kernel.row:
        return f"({' '.join(t.text for t in kernel.row)})"
    return str(sizes[0]) if sizes and sizes[0] else ''


class _Part:
    """A quotient or a remainder of a thread's index. `is_column`: it is the remainder; `length`, `value`: the tokens
    and the value of the divisor; `cast`: the type's name if it is not the index's own type."""

    def __init__(self, begin, end, is_column, length, value, cast):
        self.begin, self.end, self.is_column = begin, end, is_column
        self.length, self.value, self.cast = length, value, cast


def _find_indices(body):
    """Yields (begin, end, name of the type) of each thread index, and of each use of a variable that holds one."""
    for at, token in enumerate(body.tokens):
        variable = body.of.get(at)
        if token.text == 'threadIdx':
            yield at, at + 3, ''
        elif variable is not None and at not in range(*variable.place) and variable.value is not None and \
                body.texts(*variable.value) == ['threadIdx', '.', 'x'] and not variable.writes and \
                variable.escape is None and body.text(variable.value[0] - 1) == '=' and type_of(variable) in TYPES:
            yield at, at + 1, type_of(variable)


def find_parts(body, value, indices):
    """Yields a _Part for each quotient and remainder of the indices, which are given as (begin, end, name of the
    type)."""
    for begin, end, cast in indices:
        operator, before = body.text(end), body.text(begin - 1)
        last = matching(body.tokens, end + 1, '(', ')') if body.text(end + 1) == '(' else end + 2
        if before not in _BEFORE or before == '-' and not body.variables.ends_value(begin - 2) or \
                before == ':' and body.text(begin - 2) == ':' or body.text(last) in ('(', '.', '->', '::', '['):
            continue
        is_alone = before in _BEFORE_ALONE and body.text(last) in _BEHIND_ALONE
        if operator in ('/', '%') and body.text(end + 1) != '=':
            length = _resolve(body, end + 1, last)
            size = value(length) if length else None
        elif operator == '&' and is_alone:
            length = _resolve(body, end + 1, last)
            size = value(length) if length else None
            size = size + 1 if size is not None and size & (size + 1) == 0 else None
            is_number = length is not None and len(length) == 1
            length = _number(str(size), body.tokens[end]) if is_number else \
                [*_number('1', body.tokens[end]), *_sign('+', body.tokens[end]), *(length or ())]
        elif operator == '>' and body.text(end + 1) == '>' and body.tokens[end + 1].joined or operator == '>>':
            at = end + 1 + (operator == '>')
            is_alone = before in _BEFORE_ALONE and body.text(at + 1) in _BEHIND_ALONE
            text = body.text(at)
            size = 1 << int(text) if is_alone and re.fullmatch(r'\d', text) else None
            length, last = _number(str(size), body.tokens[end]), at + 1
        else:
            continue
        if size is not None and _LEAST <= size <= 512:
            is_whole = body.text(begin - 1) == '=' and body.text(last) in (';', ',')
            yield _Part(begin, last, operator in ('%', '&'), length, size, '' if is_whole else cast)


def _number(text, beside):
    return [Token('number', text, beside.file, beside.line, beside.column, False)]


def _sign(text, beside):
    return [Token('punctuation', text, beside.file, beside.line, beside.column, False)]


def _resolve(body, begin, end, nested=0):
    """Returns the tokens of a constant expression, in which the values of the kernel's own variables take the place of
    their names; None for others."""
    found = []
    for at in range(begin, end):
        token, variable = body.tokens[at], body.of.get(at)
        if variable is not None:
            is_constant = variable.value is not None and variable.statement is not None and not variable.writes and \
                variable.escape is None and body.text(variable.value[0] - 1) == '=' and \
                re.sub('constexpr |static ', '', type_of(variable)) in TYPES
            inner = _resolve(body, *variable.value, nested + 1) if is_constant and nested < _MOST_NESTED else None
            if inner is None:
                return None
            found += [*_sign('(', token), *inner, *_sign(')', token)]
        elif token.kind == 'identifier' or token.kind == 'number' and _NUMBER.fullmatch(token.text) or \
                token.text in ('(', ')', '*', '/', '+', '-'):
            if token.text in ('threadIdx', 'blockIdx', 'blockDim', 'gridDim', 'sizeof'):
                return None
            found.append(token)
        else:
            return None
    return found


def _divide(body, parts, length):
    """Returns the Rows of a kernel's body for one length of a row."""
    own = [part for part in parts if part.value == length]
    tokens = own[0].length
    inside = {at for part in own for at in range(part.begin, part.end)}
    for part in own:
        body.remove(part.begin + 1, part.end)
        body.replace(part.begin, '')
        name = ['threadIdx', '.', 'x' if part.is_column else 'y']
        if part.cast:
            name = ['static_cast', '<', *part.cast.split(), '>', '(', *name, ')']
        body.put_before(part.begin, *name)
        body.remove(part.begin, part.begin + 1)
    for at, token in enumerate(body.tokens):
        if token.text == 'threadIdx' and at not in inside:
            body.put_before(at, '(', 'threadIdx', '.', 'y', '*', *tokens, '+')
            body.put_behind(at + 2, ')')
    kernel = copy.copy(body.changed())
    kernel.row = tokens
    return Rows(kernel, tokens, length)
