"""What device code uses that needs its threads to run together, or a GPU: found by name, through the functions and
classes of the file that it uses."""

import re

from brackets import split
from declare import behind_template

_KEYS = {'struct', 'class', 'union', 'enum', 'final'}

# What a loop over threads cannot run: threads that wait for one another or for a block's memory, or that fail.
TOGETHER = re.compile(
    r'__shared__|__sync(threads|warp)\w*|__shfl\w*|__(any|all|ballot|activemask|match)\w*|__reduce_\w+_sync|'
    r'__nanosleep|__trap|assert|__assert_fail|__is(Shared|Global)|__dynamic_smem\w*')
# The same in files that use cooperative_groups: of groups, ranks and sizes alone need no other thread.
_GROUPS = re.compile(
    r'sync|shfl\w*|any|all|ballot|match_a\w+|reduce\w*|\w+clusive_scan\w*|coalesced_\w+|\w+_partition|invoke_one\w*|'
    r'memcpy_async|wait|wait_prior|barrier_(arrive|wait)|is_valid')
# A partition of a size that its type tells is one of ranks.
_RANKS = {'tiled_partition'}
# What no CPU can.
_FOREIGN = re.compile(r'asm|__asm__|wmma|nvcuda|__pipeline_\w+|__cluster\w*|this_cluster|cluster_group|__cvta_\w+|'
                      r'tex[123]D\w*|surf[123]D\w*')


def reachable(roots, everything):
    """The declarations whose names stand in the roots, or in what they reach: functions, classes and variables."""
    named = {}
    for declaration in everything:
        for name in names(declaration):
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


def names(declaration):
    """The names that a declaration gives."""
    if declaration.function is not None:
        return [declaration.head[declaration.function].text]
    head = declaration.head[behind_template(declaration.head):]
    if not head:
        return []
    first = head[0].text
    if first == 'using':
        return [t.text for t in head[1:2]]
    found = [t.text for t in declaration.tail if t.kind == 'identifier']
    if first in ('typedef', 'struct', 'class', 'union', 'enum'):
        found += [t.text for t in head[1:] if t.kind == 'identifier'][:4] + [t.text for t in head[-1:]]
        if 'enum' in [t.text for t in head[:2]]:
            found += [t.text for t in declaration.body or () if t.kind == 'identifier']
        return [n for n in found if n not in _KEYS]
    # A variable: what stands in front of its extents or its value.
    for part in split(head, ','):
        end = next((i for i, t in enumerate(part) if t.text in ('=', '[')), len(part))
        found += [t.text for t in part[:end] if t.kind == 'identifier'][-1:]
        if any(t.text == '(' for t in part[:end]):      # of a pointer to functions
            found += [b.text for a, b in zip(part, part[1:]) if a.text == '*' and b.kind == 'identifier']
    return found


def first_use(kernel, everything, words=_FOREIGN):
    """The first of some words in a kernel, or in what it calls: without others, the first that no CPU can run. None
    where there is none."""
    candidates = [d for d in everything if not d.has('__global__') and (d.function is not None or d.body is not None)]
    for declaration in reachable([kernel], candidates):
        for token in declaration.body or ():
            if token.kind == 'identifier' and words.fullmatch(token.text):
                return token.text + ('()' if token.text.startswith('__') and token.text != '__shared__' else '')
    return None


def runs_together(root, everything):
    """Whether threads of a kernel wait for one another. What is not understood does."""
    if first_use(root, everything, TOGETHER):
        return True
    if not any(t.text == 'cooperative_groups' for d in everything for part in (d.head, d.body or (), d.tail)
               for t in part):
        return False
    candidates = [d for d in everything if not d.has('__global__') and (d.function is not None or d.body is not None)]
    for declaration in reachable([root], candidates):
        tokens = declaration.body or ()
        for token, following in zip(tokens, [*tokens[1:], None]):
            if token.kind == 'identifier' and _GROUPS.fullmatch(token.text):
                if token.text not in _RANKS or following is None or following.text != '<':
                    return True
    return False
