"""Tells how a block's warps follow its rows, and which expressions are the number of a thread in its block:

    int t = threadIdx.y * blockDim.x + threadIdx.x;"""

import re
from math import prod

from cpu.counts import evaluate
from cpu.ranges import type_of

_TYPES = {'int', 'unsigned', 'unsigned int', 'uint', 'int32_t', 'uint32_t'}
# Numbers in place of unknown sizes: a sum that is the number of a thread for both rows is it for all sizes.
_SAMPLES = (37, 41, 43), (89, 83, 97)


class Shape:
    """The shape of a block. `sizes`: threads along each axis, 0 or () if unknown; `names`: their texts in the
    annotation. `has_whole_rows`: each warp is a part of a row; `has_lines`: a warp may have lanes in several rows;
    `is_whole`: the block consists of whole warps; `line`: threads of a row if each row is a part of one warp, or 0."""

    def __init__(self, sizes, names):
        self._known, self._names = [*sizes, 1, 1][:3] if sizes else [0] * 3, names
        self.has_whole_rows = self._known[0] > 0 and self._known[0] % 32 == 0
        self.has_lines = not self.has_whole_rows and self._known[1:] != [1, 1]
        self.is_whole = prod(self._known) > 0 and prod(self._known) % 32 == 0 or self.has_whole_rows
        self.line = self._known[0] if self.has_lines and self._known[0] and 32 % self._known[0] == 0 else 0

    def differs_along(self, axis):
        """True if lanes of one warp may differ in an index along an axis, or in all indices for other texts."""
        return axis not in ('y', 'z') or self.has_lines and self._known['xyz'.index(axis)] != 1

    def is_number(self, tokens, variables, begin, end):
        """True if an expression is the number of a thread in its block."""
        for sample in _SAMPLES:
            names = dict(zip(self._names, sample))
            sizes = [size or names.get(name, other) for size, name, other in zip(
                self._known, [*self._names, '', '', ''], sample)]
            names.update(zip(self._names, sizes))
            flat = (0, *(prod(sizes[:axis]) * (size > 1) for axis, size in enumerate(sizes)))
            if find_coefficients(tokens, variables, begin, end, sizes, names) != flat:
                return False
        return True


def find_coefficients(tokens, variables, begin, end, sizes, names, nested=0):
    """Returns the constant of a sum and the factors of threadIdx.x, .y and .z; None for any other expression. `names`:
    maps names to numbers."""
    text, unknown, behind = '', False, begin
    for at in range(begin, end):
        variable, word = variables.of.get(at), tokens[at].text
        if at < behind:
            continue                # a part of a cast
        if variable is not None:
            inner = None
            if variable.value is not None and not variable.writes and variable.escape is None and \
                    type_of(variable) in _TYPES and nested < 4 and tokens[variable.value[0] - 1].text == '=':
                inner = find_coefficients(tokens, variables, *variable.value, sizes, names, nested + 1)
            if inner is None:
                return None
            text += ' ( {} + {} * X + {} * Y + {} * Z ) '.format(*inner)
        elif word in ('threadIdx', 'blockDim') and tokens[at + 1].text == '.' and tokens[at + 2].text in 'xyz':
            axis = 'xyz'.index(tokens[at + 2].text)
            text += f" {'XYZ'[axis] if word == 'threadIdx' else sizes[axis]} "
        elif tokens[at - 1].text == '.' and tokens[at - 2].text in ('threadIdx', 'blockDim') or word == '.':
            continue
        elif (behind := _end_of_cast(tokens, at, end)) > at:
            continue
        elif word in names:
            text += f' {names[word]} '
        elif word in ('+', '-', '*', '(', ')') or re.fullmatch(r'0|[1-9]\d{0,6}', word):
            text += f' {word} '
        else:
            unknown = True
    if unknown:
        return None
    # A product of two indices would pass for a sum in the first four values, but not in the last one.
    values = [evaluate([{'X': str(x), 'Y': str(y), 'Z': str(z)}.get(t, t) for t in text.split()])
              for x, y, z in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (3, 5, 7))]
    if None in values:
        return None
    first, *others, last = values
    factors = [(other - first) * (size > 1) for other, size in zip(others, sizes)]
    is_sum = first + sum((other - first) * by for other, by in zip(others, (3, 5, 7))) == last
    return (first, *factors) if is_sum else None


def _end_of_cast(tokens, at, end):
    """Returns the end of a cast to a plain integer type at `at`, or `at` itself."""
    first = at + 2 if [t.text for t in tokens[at:at + 2]] == ['static_cast', '<'] else at + 1
    last = next((i for i in range(first, end) if tokens[i].text in (')', '>')), at)
    is_cast = tokens[at].text == '(' and tokens[last].text == ')' or first == at + 2 and tokens[last].text == '>'
    return last + 1 if is_cast and ' '.join(t.text for t in tokens[first:last]) in _TYPES else at
