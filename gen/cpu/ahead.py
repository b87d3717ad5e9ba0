"""Finds rows of the caller's arrays that the next step of a loop around regions reads or writes:

    for (int z = 1; z < nz - 1; z++) { i += plane;  float above = u[i + plane];  __syncthreads(); ... }

The rows of a block are too short for the processor's own prefetcher, so each step prefetches the rows of the next one.
A wrong address costs little, since a prefetch never faults."""

from cpu.advances import end_of_advance
from tokens.brackets import matching


def spell_ahead(tokens, region, variables, layout, is_known, load, bounds, close, spell):
    """Returns the texts before and after the loop over a row of threads, with prefetches for the next step. `bounds`,
    `close`: the two texts without prefetches; `load`: returns the text that declares variables; `is_known`: tells
    whether `load` can declare a variable."""
    row = 'cf__span.cf__begin, cf__span.cf__end' if bounds else '0, cf__scope.cf__columns()'
    text = ''.join(f'{{ CF__FIRST_OF_ROW {load(used)}cf__fetch(&{spell(*place)}, {times} * ({spell(*added)}), '
                   f'{row}); }} ' for place, added, times, used in _find(tokens, region, variables, layout, is_known))
    return ((bounds or '{ ') + text, ' }') if text else (bounds, close)


def _find(tokens, region, variables, layout, is_known):
    """Yields for each element of the caller's arrays: its place, the place of the number that a step adds to its index,
    the number of additions until its next access, and the variables of its index."""
    texts, of = set(), variables.of
    loop = max((loop for loop in layout.loops.items() if loop[0] <= region.begin < loop[1]), default=(0, 0))
    for at in range(region.begin, region.end if loop[1] else 0):
        array = of.get(at)
        if array is None or not array.is_pointer or array.statement is not None or tokens[at + 1].text != '[':
            continue
        end = matching(tokens, at + 1, '[', ']')
        used = {of[i] for i in range(at + 2, end - 1) if i in of}
        added = [i for v in used for i in v.writes
                 if loop[0] <= i < loop[1] and end_of_advance(tokens, v, i, layout, of)]
        text = ' '.join(t.text for t in tokens[at:end])
        if len(added) == 1 and tokens[added[0] + 1].text == '+' and text not in texts and \
                tokens[end].text not in ('[', '.') and all(map(is_known, used)) and \
                layout.innermost.is_safe(at + 2, end - 1):
            texts.add(text)
            last = end_of_advance(tokens, of[added[0]], added[0], layout, of) - 1
            yield (at, end), (added[0] + 3, last), 1 + (region.begin <= added[0] < at), {v for v in used if v.is_block}
