"""Moves the declaration of an array into the innermost block that uses it, if a loop fills the array there first.

    float a[4];                                 for (int k = 0; k < n; k++) {
    for (int k = 0; k < n; k++) {                   float a[4];
        for (int j = 0; j < 4; j++)                 for (int j = 0; j < 4; j++)
            a[j] = x[j * n + k];                        a[j] = x[j * n + k];
        ...                                         ...

Then the array does not live across barriers, and compilers may keep its elements in registers."""

from collections import Counter


def narrow_arrays(body):
    """Moves the declarations of arrays of numbers. `body`: the unified.Body of a kernel."""
    counts = Counter(v.name for v in body.variables.all)
    for statement in (s for statements in body.lists for s in statements if s.kind == 'declaration'):
        declared = body.variables.declared_by(statement)
        variable = declared[0] if len(declared) == 1 else None
        if variable is None or not (variable.is_number and variable.is_array) or variable.count_extents() != 1 or \
                counts[variable.name] > 1 or variable.name in body.words or variable.escape is not None or \
                variable.is_shared or variable.is_static or variable.is_volatile or variable.is_constant or \
                body.tokens[statement.begin].pragmas or any(
                    t.kind == 'identifier' for t in body.tokens[slice(*variable.value or (0, 0))]):
            continue
        uses = [at for at in variable.uses if not statement.begin <= at < statement.end]
        around = [statements for statements in body.lists if uses and statements and
                  all(statements[0].begin <= at < statements[-1].end for at in uses)]
        inner = min(around, key=lambda statements: statements[-1].end - statements[0].begin, default=[statement])
        first = next((s for s in inner if s.begin <= min(uses, default=-1) < s.end), None)
        if statement not in inner and first is not None and _fills(body, first, variable):
            body.remove(statement.begin, statement.end)
            body.put_before(first.begin, *variable.types, *variable.declarator, ';')


def _fills(body, loop, variable):
    """True if the only effect of a loop on an array is that it assigns each element."""
    index = body.variables.declared_by(loop)
    children = [i for s in loop.children for i in (s.children if s.kind == 'block' else [s])]
    filling = [s.begin for s in children if s.kind == 'expression' and body.of.get(s.begin) is variable]
    if loop.kind != 'for' or len(index) != 1 or len(filling) != 1 or any(
            s.kind in ('break', 'continue', 'return') for s in loop.walk()):
        return False
    (index,), (_, condition, step), at = index, loop.parts, filling[0]
    name, extent = index.name, [t.text for t in variable.declarator[2:-1]]
    # A constant from outside of the function has the same meaning at both places of the declaration.
    is_constant = extent and variable.declarator[1].text == '[' and all(
        i not in body.of and (body.tokens[i].kind != 'punctuation' or body.text(i) in ('+', '-', '*', '/'))
        for i in range(condition[0] + 2, condition[1]))
    counts_up = body.texts(*index.value or (0, 0)) == ['0'] and body.texts(*condition) == [name, '<', *extent] and \
        body.texts(*step) in ([name, '+', '=', '1'], [name, '+', '+'], ['+', '+', name]) and \
        index.escape is None and all(step[0] <= i < step[1] for i in index.writes)
    return bool(is_constant) and counts_up and body.texts(at + 1, at + 5) == ['[', name, ']', '='] and \
        [i for i in variable.uses if loop.begin <= i < loop.end] == [at]
