"""What device code uses that needs its threads to work together, or a GPU: found by name, through the functions and
classes of the file that it uses."""

import re

# What no loop over threads can run.
_WORDS = re.compile(
    r'__shared__|__sync(threads|warp)\w*|__shfl\w*|__(any|all|ballot|activemask|match)\w*|__reduce_\w+_sync|asm|__asm__|'
    r'cooperative_groups|this_thread_block|this_grid|__nanosleep|wmma|nvcuda|__pipeline_\w+|__cluster\w*|__isGlobal|'
    r'__cvta_\w+|tex[123]D\w*|surf[123]D\w*')


def reachable(roots, everything):
    """The declarations whose names stand in the roots, or in what they reach: functions, classes and variables."""
    named = {}
    for declaration in everything:
        for name in _names(declaration):
            named.setdefault(name, []).append(declaration)
    seen, pending = {id(d) for d in roots}, list(roots)
    # No name leads to an operator.
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


def _names(declaration):
    if declaration.function is not None:
        token = declaration.head[declaration.function]
        if token.text == 'operator':
            return ['operator']
        return [token.text]
    return [t.text for t in declaration.head if t.kind == 'identifier'] + [t.text for t in declaration.tail
                                                                          if t.kind == 'identifier']


def first_use(kernel, everything, words=None):
    """The first word in a kernel, or in what it calls, that makes its threads work together; None where there is none."""
    candidates = [d for d in everything if not d.has('__global__') and (d.function is not None or d.body is not None)]
    for declaration in reachable([kernel], candidates):
        for token in declaration.body or ():
            if token.kind == 'identifier' and (token.text in words if words else _WORDS.fullmatch(token.text)):
                return token.text + ('()' if token.text.startswith('__') and token.text != '__shared__' else '')
    return None
