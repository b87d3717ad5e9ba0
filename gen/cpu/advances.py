"""Finds integers to which all threads of a block add the same, such as `i += nx * ny;`.

The differences between the threads' values stay the same. So a block adds once, and each thread computes its value from
its first one: neighbours along x still access neighbours in memory."""

import bisect
import re

_SIZES = {'blockIdx', 'blockDim', 'gridDim', '+', '-', '*', '(', ')', '.'}


def end_of_advance(tokens, variable, at, layout, of):
    """Returns the end of `i += E;` or `i -= E;` at `at` if E is an integer that all threads share, else 0. `of` maps a
    place to its Variable."""
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
    """Returns the region and the place of each addition to a variable, if nothing else writes it and all threads that
    still need its value add. `home`: the region that declares it; `begins`: the places at which regions begin."""
    found = []
    for at in variable.writes if home is not None else ():
        region = layout.regions[bisect.bisect_right(begins, at) - 1]
        end = end_of_advance(tokens, variable, at, layout, of)
        # Each warp would add in a section.
        if (at, end) not in region.places or region.section is not home.section or not all(
                g in home.guards or g.is_final for g in region.guards):
            return []
        found.append((region, at, end))
    return found
