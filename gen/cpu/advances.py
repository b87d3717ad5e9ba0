"""Finds integer variables to which all threads of a block add the same number, as in `i += nx * ny;`.

Such an addition keeps the differences between the threads' values. So a block adds up one number for all threads, and a
thread's value is its first value plus this number: neighbours along x still access neighbours in memory."""

import bisect
import re

_SIZES = {'blockIdx', 'blockDim', 'gridDim', '+', '-', '*', '(', ')', '.'}


def end_of_advance(tokens, variable, at, layout, of):
    """Returns the place after the statement `i += E;` or `i -= E;` that begins at `at`, if E is an integer that all
    threads share, else 0. `of` maps the place of a name to its Variable."""
    if not variable.is_integer or [t.text for t in tokens[at + 1:at + 3]] not in (['+', '='], ['-', '=']):
        return 0
    end = at + 3
    while tokens[end].text != ';':
        token, used = tokens[end], of.get(end)
        is_number = token.kind == 'number' and re.fullmatch(r'\d+[uUlL]*', token.text) or \
            used is not None and used.is_integer or tokens[end - 1].text == '.' and token.text in ('x', 'y', 'z')
        is_division = token.text in ('/', '%') and re.fullmatch(r'[1-9]\d*[uUlL]*', tokens[end + 1].text)
        if not (is_number or is_division or token.text in _SIZES):
            return 0
        end += 1
    return end + 1 if layout.tell(at + 3, end) is None else 0


def find_advances(tokens, variable, home, layout, of, begins):
    """Returns (region, begin, end) of each addition to a variable; an empty list if a statement other than an addition
    writes the variable, or if a thread that needs its value skips an addition. `home`: the region that declares the
    variable; `begins`: the beginnings of all regions."""
    found = []
    for at in variable.writes if home is not None else ():
        region = layout.regions[bisect.bisect_right(begins, at) - 1]
        end = end_of_advance(tokens, variable, at, layout, of)
        # Within a section, the addition would run once per warp instead of once per block.
        if (at, end) not in region.places or region.section is not home.section or not all(
                g in home.guards or g.is_final for g in region.guards):
            return []
        found.append((region, at, end))
    return found
