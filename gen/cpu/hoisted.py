"""Moves operations of warps and votes of blocks out of conditions and out of one another, into statements before them.

    if (__any_sync(~0u, x > 0)) ...             { int cf__asked_1 = __any_sync(~0u, x > 0);
                                                  if (cf__asked_1) ... }
    do ... while (__any_sync(~0u, x > 0));      for (;;) { ... { int cf__asked_1 = ...; if (!(cf__asked_1)) break; } }

Regions begin at expressions and declarations. So a loop whose condition contains such an operation becomes a loop
without a condition. A kernel is not changed if the operation might not run exactly once, before all other effects."""

from cpu.lanes import Calls, EXCHANGES, NAMES
from cpu.meanings import Meanings
from cpu.refused import Refused
from cpu.statements import Statement
from cpu.unified import Body, goes_on
from tokens.brackets import is_update
from tokens.lexer import TokenError

_MOST_MOVED = 60
_RESULTS = {'__any_sync': ('int',), '__all_sync': ('int',), '__ballot_sync': ('unsigned', 'int'),
            '__activemask': ('unsigned', 'int'), '__match_any_sync': ('unsigned', 'int'),
            '__syncthreads_count': ('int',), '__syncthreads_and': ('int',), '__syncthreads_or': ('int',)}


def hoist_calls(kernel, known, declarations):
    """Returns a copy of a kernel with moved operations, or the kernel itself. `known`: the kernel in `declarations`."""
    if NAMES.isdisjoint(kernel.words):
        return kernel
    try:
        for number in range(_MOST_MOVED):
            own = [kernel if d is known else d for d in declarations]
            body = Body(kernel, own)
            name = f'cf__asked_{number}'
            if not (_change_loop(body) or _move_one(body, Meanings(kernel, own), name) or _keep_condition(body, name)
                    or _ask_for_mask(body, Meanings(kernel, own))):
                break
            kernel = body.changed()
    except (TokenError, Refused):
        pass
    return kernel


def _is_asked(body, begin, end):
    return any(body.text(at) in EXCHANGES for at in range(begin, end))


def _change_loop(body):
    """Moves the condition of one loop into the loop's body, if the condition contains an operation of warps. Returns
    True if it has changed a loop."""
    for statement in (s for t in body.statements for s in t.walk()):
        if statement.kind not in ('while', 'do') or not _is_asked(body, *statement.parts[0]):
            continue
        (begin, end), child = statement.parts[0], statement.children[0]
        leave = ('if', '(', '!', '(', *body.tokens[begin:end], ')', ')', 'break', ';')
        if statement.kind == 'while':
            body.remove(statement.begin, child.begin)
            body.put_before(child.begin, 'for', '(', ';', ';', ')', '{', *leave)
            body.put_behind(child.end - 1, '}')
        elif goes_on(child):
            continue
        else:
            body.replace(statement.begin, 'for')
            body.put_behind(statement.begin, '(', ';', ';', ')', '{')
            body.remove(child.end, statement.end)
            body.put_behind(child.end - 1, *leave, '}')
        return True
    return False


def _keep_condition(body, name):
    """Declares a bool for the condition of one `if` that reads memory and contains operations of warps in its branches,
    because other lanes may write to the memory before these end. Returns True if it has changed an `if`."""
    for statement in (s for t in body.statements for s in t.walk() if s.kind == 'if'):
        begin, end = statement.parts[0]
        texts = body.texts(begin, end)
        reads = any(text in ('[', '->') or text == '*' and not body.variables.ends_value(begin + at - 1)
                    for at, text in enumerate(texts))
        if reads and body.text(statement.begin + 1) == '(' and not {'=', '{', '::'} & set(texts) and any(
                _is_asked(body, child.begin, child.end) for child in statement.children):
            body.put_before(statement.begin, '{', 'bool', name, '=', '!', '!', '(', *body.tokens[begin:end], ')', ';')
            body.remove(begin + 1, end)
            body.replace(begin, name)
            body.put_behind(statement.end - 1, '}')
            return True
    return False


def _ask_for_mask(body, meanings):
    """Replaces one __syncwarp() of only some lanes by a vote, for which the same lanes wait. Returns True if there was
    one."""
    calls = Calls(body.tokens, body.variables, meanings)
    for statement in (s for t in body.statements for s in t.walk() if s.kind == 'expression'):
        begin, end = statement.begin + 2, statement.end - 2
        if body.texts(statement.begin, begin) == ['__syncwarp', '('] and begin < end and \
                body.text(end) == ')' and not calls.is_all(begin, end):
            body.replace(statement.begin, '__any_sync')
            body.put_behind(end - 1, ',', '0')
            return True
    return False


def _move_one(body, meanings, name):
    """Moves one operation into a new statement before its own statement. Returns True if there was one."""
    calls = Calls(body.tokens, body.variables, meanings)
    for statement in (s for t in body.statements for s in t.walk()):
        if statement.kind not in ('if', 'return', 'expression', 'declaration'):
            continue
        is_plain = statement.kind in ('expression', 'declaration')
        begin, end = (statement.begin, statement.end) if is_plain else statement.parts[0]
        places, found = [at for at in range(begin, end) if body.text(at) in EXCHANGES], []
        for at in places:
            try:
                found.append(calls.read(at))
            except Refused:
                continue            # an operation in an argument moves first
        votes = [call for call in found if call.is_of_block]
        is_mixed = is_plain and 0 < len(votes) < len(places)     # a section of warps contains no vote of the block
        if not found or is_plain and len(found) == len(places) and not is_mixed:
            continue
        inner = votes if is_mixed else found if not is_plain else [c for c in found if len(places) > 1]
        _move(body, calls, statement, Statement('expression', begin, end), inner, name)
        return True
    return False


def _move(body, calls, statement, place, found, name):
    call = found[0]
    calls.check_order(place, found)
    if statement.kind not in ('expression', 'declaration') and any(
            body.text(at) == '=' or is_update(body.texts(at, at + 2)) for at in range(place.begin, place.end)):
        raise Refused(body.tokens[call.at], 'is in an expression with other effects')
    words = (*_RESULTS.get(call.name, ('auto',)), name, '=', *body.tokens[call.at:call.end + 1], ';')
    if statement.kind == 'declaration':
        body.put_before(statement.begin, *words)
    else:
        body.put_before(statement.begin, '{', *words)
        body.put_behind(statement.end - 1, '}')
    body.remove(call.at + 1, call.end + 1)
    body.replace(call.at, name)
