"""Finds by name the declarations of a file that a kernel or a function reaches."""

import re

from cpu.members import device_tokens

_WORD = re.compile(r'[^\W\d]\w*')


def find_reachable(roots, everything, words=(), tokens_of=device_tokens):
    """Returns the functions, classes and variables whose names appear in the roots, in `words`, or in declarations
    found so. `tokens_of` returns the tokens of a declaration in which names count."""
    named = {}
    for declaration in everything:
        for name in declaration.names:
            named.setdefault(name, []).append(declaration)
    seen, pending = {id(d) for d in roots}, list(roots)
    # Code uses operators without naming them.
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
            # A constant may appear only in #pragma unroll.
            for word in [token.text, *_WORD.findall(' '.join(token.pragmas))] if token.pragmas else (token.text,):
                for other in named.get(word, ()):
                    if id(other) not in seen:
                        seen.add(id(other))
                        pending.append(other)
                        found.append(other)
    return found


def all_tokens(declaration):
    """Returns all tokens of a declaration, including those of host functions in classes."""
    return [*declaration.head, *(declaration.body or ()), *declaration.tail]
