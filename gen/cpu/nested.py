"""Moves the declarations of __shared__ variables from inner blocks of a kernel to the kernel's beginning.

    for (int k = 0; k < n; k += 32) {           __shared__ float tile[32];
        __shared__ float tile[32];              for (int k = 0; k < n; k += 32) {

All steps of a loop use the same memory for such a variable. A declaration stays if its names or its extents would mean
something else at the beginning."""

import copy

from cpu.meanings import Meanings
from cpu.statements import parse_statements
from cpu.variables import Variables
from tokens.lexer import TokenError


def move_shared(kernel, declarations):
    """Returns a copy of a kernel with moved declarations; the kernel itself if no declaration can move."""
    try:
        statements = parse_statements(kernel.body)
        inner = [s for t in statements for s in _find_nested(t) if any(
            t.text == '__shared__' for t in kernel.body[s.begin:s.end])]
        if not inner or any(s.kind in ('unknown', 'label') for t in statements for s in t.walk()):
            return kernel
        variables = Variables(kernel.body, kernel.parameters, statements, Meanings(kernel, declarations))
    except TokenError:
        return kernel
    body, local = kernel.body, {v.name for v in variables.all}
    for statement in (s for t in statements for s in t.walk() if s.kind == 'alias'):
        local |= {t.text for t in body[statement.begin:statement.end]}
    moved = [s for s in inner if _may_move(s, body, variables, local)]
    if not moved:
        return kernel
    places = {at for s in moved for at in range(s.begin, s.end)}
    result = copy.copy(kernel)
    result.__dict__.pop('words', None)
    result.body = [t for s in moved for t in body[s.begin:s.end]] + [t for at, t in enumerate(body) if at not in places]
    return result


def _find_nested(statement):
    """Yields the declarations of __shared__ variables in all blocks within a statement."""
    for child in statement.children:
        if child.kind == 'declaration' and statement.kind == 'block':
            yield child
        yield from _find_nested(child)


def _may_move(statement, body, variables, local):
    """True if a declaration would have the same meaning at the beginning of a kernel, and no other declaration of the
    kernel has its names. `local`: the names that the kernel declares."""
    declared = variables.declared_by(statement)
    names = {v.name for v in declared}
    return all(v.is_shared and v.value is None for v in declared) and not any(
        t.pragmas or t.kind == 'identifier' and t.text in local - names for t in body[statement.begin:statement.end]
    ) and not any(t.text in names and t.kind == 'identifier' and variables.of.get(at) not in declared and
                  body[at - 1].text not in ('.', '->') for at, t in enumerate(body))
