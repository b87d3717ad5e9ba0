"""Finds the declarations of a file that a kernel or a function reaches. They are found by their names."""

import re

from cpu.members import device_tokens

_WORD = re.compile(r'[^\W\d]\w*')


def find_reachable(roots, everything, words=(), tokens_of=device_tokens):
    """Returns the functions, classes and variables whose names are in the roots, in `words`, or in other declarations
    of the result. `tokens_of`: returns the tokens of a declaration that are searched."""
    named = {}
    for declaration in everything:
        for name in declaration.names:
            named.setdefault(name, []).append(declaration)
    seen, pending = {id(d) for d in roots}, list(roots)
    # Operators are reached without their names.
    others = [d for name in ('operator', *words) for d in named.get(name, ())]
    found = list(roots)
    for other in others:
        if id(other) not in seen:
            seen.add(id(other))
            pending.append(other)
            found.append(other)
    while pending:
        for token in tokens_of(pending.pop()):
            if token.kind != 'identifier' and not token.pragmas:
                continue
            # A constant may be named only in #pragma unroll.
            for word in [token.text, *_WORD.findall(' '.join(token.pragmas))] if token.pragmas else (token.text,):
                for other in named.get(word, ()):
                    if id(other) not in seen:
                        seen.add(id(other))
                        pending.append(other)
                        found.append(other)
    return found


def all_tokens(declaration):
    """Returns all tokens of a declaration. In a class, these include the functions for host code."""
    return [*declaration.head, *(declaration.body or ()), *declaration.tail]
