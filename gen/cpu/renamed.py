"""Renames a numeric variable that is assigned several times, so that each of its values has a variable of its own.

    x = blockIdx.x * 32 + threadIdx.x;          int x = ...;
    ...                                         ...
    x = blockIdx.y * 32 + threadIdx.x;          int cf__renamed_1_0_x = ...;

Then regions can compute each value again if it is an index, and conditions with it hold for ranges of threads. Another
value may live in only one region. Loops may change the variable between two assignments."""

import copy
import re

from cpu.meanings import Meanings
from cpu.statements import parse_statements
from cpu.variables import Variables
from tokens.lexer import Token, TokenError


def rename_values(kernel, declarations):
    """Returns a copy of a kernel with renamed variables; the kernel itself if it has none to rename."""
    try:
        statements = parse_statements(kernel.body)
        variables = Variables(kernel.body, kernel.parameters, statements, Meanings(kernel, declarations))
    except TokenError:
        return kernel
    words = names_in_pragmas(kernel.body)
    found = [(v, assignments) for v, assignments in _find_all(statements, variables)
             if v.name not in words and not any(kernel.body[s.begin].pragmas for s in assignments)]
    if not found or not is_plain(kernel.body, statements, variables):
        return kernel
    names, types = {}, {}
    for variable, assignments in found:
        for number, statement in enumerate(assignments):
            end = assignments[number + 1].begin if number + 1 < len(assignments) else len(kernel.body)
            name = f'cf__renamed_{variable.number}_{number}_{variable.name}'
            names.update((at, name) for at in variable.uses if statement.begin <= at < end)
            types[statement.begin] = variable.types
    body = []
    for at, token in enumerate(kernel.body):
        body += [Token('identifier', t.text, token.file, token.line, token.column, False) for t in types.get(at, ())]
        body.append(token)
        if at in names:
            body[-1] = copy.copy(token)
            body[-1].text, body[-1].joined = names[at], token.joined and at not in types
    renamed = copy.copy(kernel)
    renamed.__dict__.pop('words', None)
    renamed.body = body
    return renamed


def names_in_pragmas(body):
    return {w for token in body for line in token.pragmas for w in re.findall(r'\w+', line)}


def is_plain(body, statements, variables):
    """True if a body has no lambdas, labels or aliases of types, so that a name has one meaning in all statements."""
    brackets = [at for at, token in enumerate(body) if token.text == '[']
    return all(variables.ends_value(at - 1) for at in brackets) and not any(
        s.kind in ('unknown', 'alias', 'label') for t in statements for s in t.walk())


def _find_all(statements, variables):
    """Yields (variable, its assignments) for each number that is declared in a block and assigned again there by plain
    assignments."""
    found = {}
    for statement in statements:
        if statement.kind == 'declaration':
            found.update((v, []) for v in variables.declared_by(statement) if _is_number(v) and v.escape is None and
                         not (v.is_static or v.is_shared or v.is_volatile))
        value = variables.find_value(statement)
        variable = variables.of[statement.begin] if value else None
        if variable in found and all(variables.of.get(at) is not variable for at in range(*value)):
            found[variable].append(statement)
    for variable, assignments in found.items():
        if assignments:
            yield variable, assignments
    for statement in statements:
        for inner in [statement] if statement.kind == 'block' else statement.children:
            yield from _find_all(inner.children if inner.kind == 'block' else [inner], variables)


def _is_number(variable):
    return variable.is_number and variable.is_scalar and not (
        variable.is_pointer or variable.is_array or variable.is_reference or variable.is_auto)
