"""Finds sums of threadIdx and numbers, which are better computed with a sign.

    int tx = threadIdx.x + 1;           int tx = (unsigned int)((int)threadIdx.x + 1);

Compilers know that a sum of numbers with a sign does not begin anew at 0, so that neighbours along x name neighbours in
memory. The value is the same, since it is too small to overflow."""

import math
import re

_BEFORE = {'(', '[', ',', '=', 'return', '?', ':', ';', '{', '}', '<', '>', '<=', '>=', '==', '!=', '&&', '||', '|',
           '^'}
_AFTER = (_BEFORE - {'(', '[', 'return', '{'}) | {')', ']', '&', '!'}
_PARTS = {'threadIdx', '.', 'x', 'y', 'z', '+', '-', '*', '(', ')'}
_LARGEST_INDEX, _LARGEST_SUM, _MOST_TOKENS = 1023, 2**30, 40


def find_signed_sums(tokens):
    """Yields (begin, end) of each."""
    end = 0
    for at, token in enumerate(tokens):
        if token.text == 'threadIdx' and at >= end:
            begin = _scan(tokens, at, -1)
            end = _scan(tokens, at, 1) + 1
            if end - begin <= _MOST_TOKENS and _is_small(tokens, begin, end):
                yield begin, end


def _is_part(token):
    return token.text in _PARTS or token.kind == 'number' and re.fullmatch(r'0|[1-9]\d{0,5}', token.text) is not None


def _scan(tokens, at, step):
    """Returns the last place from `at` on, in one direction, up to which only parts of such a sum stand."""
    opening, depth = ('(', 0) if step > 0 else (')', 0)
    while 0 <= at + step < len(tokens) and _is_part(tokens[at + step]):
        text = tokens[at + step].text
        depth += (text == opening) - (text in '()' and text != opening)
        if depth < 0:
            break
        at += step
    return at


def _is_small(tokens, begin, end):
    """True for a whole sum, of more than an index, whose value is small."""
    texts = [t.text for t in tokens[begin:end]]
    before = tokens[begin - 1].text if begin else ';'
    if before not in _BEFORE or end >= len(tokens) or tokens[end].text not in _AFTER or 'x' not in texts or \
            len(texts) < 4 or any(a in ('(', '+', '-', '*') and b in ('+', '-', '*', ')')
                                  for a, b in zip(['(', *texts], [*texts, ')'])):
        return False
    numbers = re.sub(r'threadIdx \. [xyz]', str(_LARGEST_INDEX), ' '.join(texts))
    # A sum or product of a and b is less than (a + 1) * (b + 1).
    return re.fullmatch(r'[\d+*() -]+', numbers) is not None and texts.count('(') == texts.count(')') and \
        math.prod(int(n) + 1 for n in re.findall(r'\d+', numbers)) < _LARGEST_SUM
