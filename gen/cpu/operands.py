"""Rewrites && and || whose right operands may always be evaluated, since compilers vectorize no branches.

    v = n == 3 || s[y][x];      v = (((n == 3) != 0) | ((s[y][x]) != 0)) != 0;

Such an operand has no effect, computes nothing that may overflow, and reads only elements that the thread has accessed
before, in a statement that always runs ahead of this one."""

from tokens.brackets import is_update, matching

_INDICES = {'threadIdx', 'blockIdx', 'blockDim', 'gridDim'}
_JOINS = ('||', '&&')
_CONDITIONS = {*_JOINS, '?'}
_COMPARISONS = {'<', '>', '<=', '>=', '==', '!=', '!', '&', '|', '^', '~', '(', ')', '.', '?', ':', *_JOINS}
# The operators that only a first operand may have, which is evaluated in any case.
_SUMS = {'+', '-', '*', '/', '%', '[', ']'}


def join_operands(body):
    """Changes the statements of a Body whose operators && and || can all be replaced."""
    _walk(body, body.statements, frozenset())


def _walk(body, statements, known):
    """Changes a list of statements. `known`: keys of the elements that were accessed before."""
    for statement in statements:
        if statement.kind in ('expression', 'declaration'):
            place = statement.begin, statement.end - 1
            conditional = next((at for at in range(*place) if body.text(at) in _CONDITIONS), place[1])
            known |= _list_accessed(body, statement, conditional)
            if conditional < place[1] and not any(v.is_auto for v in body.variables.declared_by(statement)):
                _change(body, place, known)
        elif statement.kind != 'switch':
            for child in [statement] if statement.kind == 'block' else statement.children:
                _walk(body, child.children if child.kind == 'block' else [child], known)


def _change(body, place, known):
    chains = list(_find_chains(body, *place))
    others = [p for chain in chains for p in chain[1:]]
    if any(body.text(at) in ('<=', '>=') and body.text(at - 1) == body.text(at)[0] for at in range(*place)):
        return      # an assignment, <<= or >>=
    if not any(body.text(at) == '[' for p in others for at in range(*p)) or not all(
            _is_safe(body, p, known, p not in others) for chain in chains for p in chain):
        return
    for chain in chains:
        body.put_before(chain[0][0], '(')
        body.put_behind(chain[-1][1] - 1, ')', '!=', '0')
        for begin, end in chain:
            body.put_before(begin, '(', '(')
            body.put_behind(end - 1, ')', '!=', '0', ')')
            if (begin, end) != chain[0]:
                body.replace(begin - 1, body.text(begin - 1)[0])


def _find_chains(body, begin, end):
    """Yields the places of the operands of each chain of && or || between two places, outer chains first."""
    for first, last in _split(body, begin, end, {'?', ':', '=', ',', 'return'}):
        for join in _JOINS:
            parts = list(_split(body, first, last, {join}))
            if len(parts) > 1:
                yield parts
                for part in parts:
                    yield from _find_chains(body, *part)
                break
        else:
            at = first
            while at < last:
                closing = {'(': ')', '[': ']'}.get(body.text(at))
                behind = matching(body.tokens, at, body.text(at), closing) if closing else at + 1
                if closing:
                    yield from _find_chains(body, at + 1, behind - 1)
                at = behind


def _split(body, begin, end, words):
    at = begin
    while at < end:
        closing = {'(': ')', '[': ']', '{': '}'}.get(body.text(at))
        if body.text(at) in words:
            yield begin, at
            begin = at + 1
        at = matching(body.tokens, at, body.text(at), closing) if closing else at + 1
    yield begin, end


def _is_safe(body, place, known, is_first):
    """True if an operand is a number and has no effect, and `is_first` or it can also be evaluated in any case."""
    at, end = place
    while at < end:
        text, variable = body.text(at), body.of.get(at)
        behind = _find_end(body, at)
        if variable is not None and (variable.is_reference or not variable.is_number):
            return False
        if behind is not None and (is_first or _key(body, at, behind) in known):
            at = behind if not is_first else at + 1
            continue
        is_plain = variable is not None and variable.is_scalar and not (variable.is_pointer or variable.is_array)
        if not (is_plain or body.tokens[at].kind == 'number' or text in _INDICES or text in _COMPARISONS or
                body.text(at - 1) == '.' and body.text(at - 2) in _INDICES or is_first and text in _SUMS):
            return False
        if text in '*&' and not body.variables.ends_value(at - 1) or text == '(' and at > place[0] and \
                body.variables.ends_value(at - 1) or text in '+-' and body.text(at + 1) == text:
            return False
        at += 1
    return place[0] < end


def _find_end(body, at):
    """Returns the place after the element of an array of numbers that begins at `at`; None if none begins there."""
    variable = body.of.get(at)
    if variable is None or not variable.is_number or not (variable.is_array or variable.is_pointer) or \
            variable.writes and variable.is_pointer:
        return None
    behind, count = at + 1, variable.count_extents() if variable.is_array else 1
    while count and body.text(behind) == '[':
        behind, count = matching(body.tokens, behind, '[', ']'), count - 1
    stars = [t.text for t in variable.declarator].count('*')
    return behind if not count and stars == (not variable.is_array) else None


def _list_accessed(body, statement, end):
    """Returns the keys of the elements that an assignment or a declaration of numbers accesses before the place `end`.
    Other statements may name an element, for a reference or a class, without reading it."""
    begin, declared, found = statement.begin, body.variables.declared_by(statement), set()
    if statement.kind == 'expression':
        parts = [(begin, end)] if '=' in body.texts(begin, statement.end) else []
        behind = _find_end(body, begin)
        if behind is not None and behind < end and (body.text(behind) == '=' or is_update(
                body.texts(behind, behind + 2))):
            found.add(_key(body, begin, behind))
    else:
        is_plain = all(not v.is_reference and (v.is_number or {t.text for t in v.types} <= {'auto', 'const'})
                       for v in declared)
        parts = _split(body, begin, end, {','}) if declared and is_plain else []
    for part in parts:
        found |= _list_read(body, *part) or set()
    return found - {None}


def _list_read(body, begin, end):
    """Returns the keys of the elements that code reads or writes; None if it has other operators than those of numbers,
    which may take the address or the type of an element."""
    found, types, at = set(), body.meanings.numbers | {'auto'}, begin
    while at < end:
        text, variable, behind = body.text(at), body.of.get(at), _find_end(body, at)
        is_type, is_value = body.text(at - 1) in types, body.variables.ends_value(at - 1)
        if behind is not None and behind <= end:
            found |= {_key(body, at, behind)} | (_list_read(body, at + 1, behind) or set())
            at = behind
            continue
        is_number = variable.is_number if variable is not None else \
            text in types | _INDICES or body.text(at - 1) == '.'
        if text in ('{', ',', '->', '::') or text == '&' and (is_type or not is_value) or \
                text == '(' and is_value and not is_type or text == '[' and not is_value or \
                body.tokens[at].kind == 'identifier' and not is_number:
            return None
        at += 1
    return found


def _key(body, begin, end):
    """Returns what tells an element from others; None if its index may have another value elsewhere."""
    found = []
    for at in range(begin, end):
        variable, text = body.of.get(at), body.text(at)
        is_name = body.tokens[at].kind == 'identifier' and text not in _INDICES and body.text(at - 1) != '.'
        if at > begin and is_name and (variable is None or variable.writes or not variable.is_integer):
            return None
        found.append(text if variable is None else variable.number)
    return tuple(found)
