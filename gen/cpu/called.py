"""Finds the functions whose calls `expand` may inline, and reads their parameters."""

import copy

from cpu.collective import find_reached
from cpu.sharedmem import ATOMICS, find_changed
from tokens.brackets import matching


def find_waiting(kernel, declarations, waits):
    """Returns two sets of names: of functions in which threads of a kernel wait, and of functions that apply atomic
    functions to the target of a parameter. Each set includes the functions that call its functions."""
    functions = [d for d in find_reached(kernel, declarations)
                 if d is not kernel and d.function is not None and d.body] if waits else []
    callers = {}
    for function in functions:
        for word in function.words:
            callers.setdefault(word, []).append(function.name)
    waiting = _with_callers({name for d, _ in waits if d is not kernel for name in d.names}, callers)
    changing = _with_callers({d.name for d in functions if _changes_parameter(d)}, callers)
    names = {d.name for d in functions}
    return waiting & names, (changing - waiting) & names


def _with_callers(names, callers):
    found, pending = set(names), list(names)
    while pending:
        more = {name for name in callers.get(pending.pop(), ()) if name not in found}
        found |= more
        pending += more
    return found


def _changes_parameter(function):
    pointers = {p[-1].text for p in function.parameters if any(t.text == '*' for t in p)}
    return any(token.text in ATOMICS and place is not None and function.body[place].text in pointers
               for at, token in enumerate(function.body) for place in [find_changed(function.body, at)])


def is_changed(types):
    """True if a function may change the argument of a parameter with these types by reference."""
    texts = [t.text for t in types]
    return '&' in texts and 'const' not in texts


def as_pointer(parameter):
    """Returns the tokens of a parameter T name[n] in the form T *name, which has the same meaning; other parameters are
    returned unchanged."""
    at = next((i for i, t in enumerate(parameter) if t.text == '['), 0)
    if at < 2 or matching(parameter, at, '[', ']') < len(parameter) or any(t.text in '*&(' for t in parameter[:at]):
        return parameter
    star = copy.copy(parameter[at])
    star.text = '*'
    return [*parameter[:at - 1], star, parameter[at - 1]]
