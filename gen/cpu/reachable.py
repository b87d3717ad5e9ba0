"""Finds the declarations of a file that a kernel or a function leads to, by name."""


def find_reachable(roots, everything):
    """Returns the declarations whose names appear in the roots or in declarations that they reach: functions, classes
    and variables."""
    named = {}
    for declaration in everything:
        for name in declaration.names:
            named.setdefault(name, []).append(declaration)
    seen, pending = {id(d) for d in roots}, list(roots)
    # Operators are used without being named.
    operators = [d for d in named.get('operator', ()) if id(d) not in seen]
    seen |= {id(d) for d in operators}
    pending += operators
    found = list(roots) + operators
    while pending:
        declaration = pending.pop()
        for tokens in (declaration.head, declaration.body or (), declaration.tail):
            for token in tokens:
                if token.kind != 'identifier':
                    continue
                for other in named.get(token.text, ()):
                    if id(other) not in seen:
                        seen.add(id(other))
                        pending.append(other)
                        found.append(other)
    return found
