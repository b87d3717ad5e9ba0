"""Finds sums of indices and numbers that are better computed in a signed type.

    int tx = threadIdx.x + 1;               int tx = (unsigned int)((int)threadIdx.x + 1);
    int x = blockIdx.y * 32 + threadIdx.x;  int x = (unsigned int)((int)blockIdx.y * 32 + (int)threadIdx.x);

Compilers know that a signed sum does not wrap around, so that neighbours along x access neighbours in memory. Each of
these sums is too small to overflow, and so both types give the same value."""

import re

from cpu.counts import evaluate

_BEFORE = {'(', '[', ',', '=', 'return', '?', ':', ';', '{', '}', '<', '>', '<=', '>=', '==', '!=', '&&', '||', '|',
           '^'}
# A parenthesis after > may belong to a cast or a call.
_BEFORE_PARENTHESES = _BEFORE - {'>'} | {'+', '-', '*'}
_AFTER = (_BEFORE - {'(', '[', 'return', '{'}) | {')', ']', '&', '!'}
_WORDS = {'threadIdx', 'blockIdx', 'blockDim'}
_PARTS = _WORDS | {'.', 'x', 'y', 'z', '+', '-', '*', '(', ')'}
# Kernels in larger grids run as fibers, for which cf__has_regions() returns false.
_LARGEST_THREAD, _LARGEST_BLOCK, _LARGEST_SUM = 1023, 2**21 - 1, 2**31 - 1


def spell_signed_sums(tokens, sizes, taken):
    """Returns a map from the places of tokens in such sums to (new text, beginning, end of the sum). A text that
    contains only a part of the sum keeps the source's tokens. `sizes`: threads of a block along each axis, 0 or () if
    unknown; `taken`: places with other edits."""
    found = {}
    for begin, end in _find_sums(tokens, sizes):
        if taken.isdisjoint(range(begin, end)) and found.keys().isdisjoint(range(begin, end)):
            for at in range(begin, end):
                text = '(int)' * (tokens[at].text in _WORDS) + tokens[at].text
                found[at] = '(unsigned int)(' * (at == begin) + text + ')' * (at == end - 1), begin, end
    return found


def _find_sums(tokens, sizes):
    last = 0
    sizes = {axis: size or _LARGEST_THREAD + 1 for axis, size in zip('xyz', (*sizes, 1, 1) if sizes else (0, 0, 0))}
    for at, token in enumerate(tokens):
        if token.text == 'threadIdx' and at >= last:
            found = [place for place in _list_around(tokens, at) if _is_small(tokens, *place, sizes)]
            yield from found[-1:]
            last = found[-1][1] if found else at + 1


def _list_around(tokens, at):
    """Yields the places of all sums around the index at `at`, from the innermost outwards."""
    begin, end = _scan(tokens, at, -1), _scan(tokens, at, 1) + 1
    yield begin, end
    while begin > 1 and tokens[begin - 1].text == '(' and tokens[begin - 2].text in _BEFORE_PARENTHESES and \
            end < len(tokens) and tokens[end].text == ')':
        begin, end = _scan(tokens, begin - 1, -1), _scan(tokens, end, 1) + 1
        yield begin, end


def _is_part(token):
    return token.text in _PARTS or token.kind == 'number' and re.fullmatch(r'0|[1-9]\d{0,5}', token.text) is not None


def _scan(tokens, at, step):
    """Returns the last place from `at` on, in the direction `step`, up to which all tokens may be parts of such a
    sum."""
    opening, depth = ('(', 0) if step > 0 else (')', 0)
    while 0 <= at + step < len(tokens) and _is_part(tokens[at + step]):
        text = tokens[at + step].text
        depth += (text == opening) - (text in '()' and text != opening)
        if depth < 0:
            break
        at += step
    return at


def _is_small(tokens, begin, end, sizes):
    """True if two places enclose a whole sum of an index and other operands whose value is surely small."""
    texts = [t.text for t in tokens[begin:end]]
    before = tokens[begin - 1].text if begin else ';'
    if before not in _BEFORE or end >= len(tokens) or tokens[end].text not in _AFTER or 'x' not in texts or \
            len(texts) < 4 or any(a in ('(', '+', '-', '*') and b in ('+', '-', '*', ')')
                                  for a, b in zip(['(', *texts], [*texts, ')'])):
        return False
    largest = {'threadIdx': dict.fromkeys('xyz', _LARGEST_THREAD), 'blockIdx': dict.fromkeys('xyz', _LARGEST_BLOCK),
               'blockDim': sizes}
    text = re.sub(r'(threadIdx|blockIdx|blockDim) \. ([xyz])', lambda found: str(largest[found[1]][found[2]]),
                  ' '.join(texts))
    # With - replaced by + and 0 by 1, the sum is at least as large as each of its parts.
    most = evaluate([{'-': '+', '0': '1'}.get(part, part) for part in text.split()])
    return most is not None and most <= _LARGEST_SUM
