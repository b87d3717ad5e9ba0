"""Exchanges x and y in kernels whose neighbours along y are neighbours in memory.

    int row = blockIdx.x * blockDim.x + threadIdx.x;        int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.y * blockDim.y + threadIdx.y;     int column = blockIdx.x * blockDim.x + threadIdx.x;
    c[row * n + column] = 0;                                c[row * n + column] = 0;

The CPU's loops over threads run along x, and the CPU may number the threads of a launch in any order."""

import copy
import re

from cpu.collective import TOGETHER
from cpu.loops import find_hidden, GROUPS, INDICES, list_called, reads_elsewhere
from tokens.brackets import matching

# Matches words whose effect depends on the order of threads, or that tell a thread's indices to others.
OTHERS = re.compile(r'warpSize|printf|asm|__asm__|cub|(Block|Warp)[A-Z]\w+|(?!__shared__|__syncthreads)('
                     rf'{TOGETHER.pattern})')
_OTHER = {'y': 'x', 'x': 'y'}
# The factor by which each loop around an access raises the weight of the access.
_IN_LOOP = 8


def find_turned(kernel, declarations):
    """Returns a map from the places of tokens to their changed copies. The map is empty if x and y stay."""
    body = kernel.body
    if 'y' not in kernel.words or 'threadIdx' not in kernel.words or any(find_hidden(body)) or \
            reads_elsewhere(kernel, declarations, ()) or any(GROUPS in d.words for d in declarations):
        return {}
    if any(OTHERS.fullmatch(word) for d in [kernel, *list_called(kernel, declarations)] for word in d.words):
        return {}
    places = [at for at, token in enumerate(body) if token.text in INDICES and token.kind == 'identifier']
    if not all(body[at + 1].text == '.' and body[at + 2].text in ('x', 'y', 'z') for at in places):
        return {}
    along_x, along_y = Neighbours(body).count()
    if along_x >= along_y:
        return {}
    return {at + 2: _copy(body[at + 2], _OTHER[body[at + 2].text]) for at in places if body[at + 2].text != 'z'}


def _copy(token, text):
    found = copy.copy(token)
    found.text = text
    return found


class Neighbours:
    """Counts the accesses that are neighbours in memory for neighbouring threads along x, and along y. Steps are a
    pair: the growth of a value from thread to thread along x and along y, each 0, 1, or None for any other growth."""

    def __init__(self, body):
        self._body = body
        self._steps = {}        # maps a name to its steps

    def count(self):
        body, found, loops = self._body, [0, 0], []
        for at, token in enumerate(body):
            loops = [end for end in loops if end > at]
            if token.text in ('for', 'while') and body[at + 1].text == '(':
                loops.append(self._find_end(matching(body, at + 1, '(', ')')))
            if token.text == '=' and body[at - 1].kind == 'identifier':
                self._note(body[at - 1].text, at + 1)
            elif token.text == '[' and at and (body[at - 1].kind == 'identifier' or body[at - 1].text == ']'):
                end = matching(body, at, '[', ']')
                steps = self._steps_of(at + 1, end - 1) if [t.text for t in body[end:end + 1]] != ['['] else (0, 0)
                found = [n + (step == 1) * _IN_LOOP ** len(loops) for n, step in zip(found, steps)]
        return found

    def _find_end(self, at):
        """Returns the end of the statement at `at`; a guess for a statement without braces."""
        if self._body[at].text == '{':
            return matching(self._body, at, '{', '}')
        return next((i for i in range(at, len(self._body)) if self._body[i].text in (';', '{')), len(self._body))

    def _note(self, name, at):
        """Notes the steps of the variable `name` from its first value, which begins at `at`."""
        depth, end = 0, at
        while end < len(self._body) and (depth or self._body[end].text not in (';', ',', ')')):
            depth += (self._body[end].text in '([{') - (self._body[end].text in ')]}')
            end += 1
        self._steps.setdefault(name, self._steps_of(at, end))

    def _steps_of(self, begin, end):
        """Returns the steps of the sum between two places."""
        total, first, depth = [0, 0], begin, 0
        for at in range(begin, end + 1):
            text = self._body[at].text if at < end else '+'
            if depth == 0 and text in ('+', '-') and at > first:
                total = [None if a is None or b is None else a + b
                         for a, b in zip(total, self._steps_of_term(first, at))]
                first = at + 1
            depth += (text in '([{') - (text in ')]}') if at < end else 0
        return total

    def _steps_of_term(self, begin, end):
        body = self._body
        if body[begin].text == '(' and matching(body, begin, '(', ')') == end:
            return self._steps_of(begin + 1, end - 1)
        if [t.text for t in body[begin:begin + 2]] == ['threadIdx', '.'] and end == begin + 3:
            return [int(body[end - 1].text == axis) for axis in 'xy']
        if end == begin + 1:
            return self._steps.get(body[begin].text, [0, 0])
        varying = [[0, 0]]
        for at in range(begin, end):
            if body[at].text == 'threadIdx':
                varying.append([int(body[at + 2].text == axis) for axis in 'xy'])
            elif body[at].kind == 'identifier' and body[at - 1].text != '.':
                varying.append(self._steps.get(body[at].text, [0, 0]))
        return [0 if all(v[axis] == 0 for v in varying) else None for axis in (0, 1)]
