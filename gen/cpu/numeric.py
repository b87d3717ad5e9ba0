"""Decides whether a kernel works only on numbers.

All memory of such a kernel is in the caller's arrays, and compilers may assume that no two threads of a loop access the
same element. A thread's own array breaks this rule, since all threads use its memory one after another. Compilers would
also load q[2 * i] and q[2 * i + 1] at once, before a write to one of them through another pointer."""

import bisect

from cpu.reachable import find_reachable
from declare.declarations import behind_template
from tokens.brackets import matching, split_at

_INDICES = {'threadIdx', 'blockIdx', 'blockDim', 'gridDim'}

_TYPES = {'bool', 'char', 'short', 'int', 'long', 'unsigned', 'signed', 'float', 'double', 'auto', 'void', 'size_t',
          'ptrdiff_t', 'const', 'constexpr'} | {f'{u}int{n}_t' for u in ('', 'u') for n in (8, 16, 32, 64)}
_WORDS = _TYPES | {'if', 'else', 'for', 'while', 'do', 'return', 'break', 'continue', 'switch', 'case', 'default',
                   'true', 'false', 'sizeof', 'static_cast', 'nullptr', '__restrict__', '__restrict'}
# The words after which a value begins.
_IN_FRONT = {'return', 'case', 'else', 'do'}
_LOOPS = {'for', 'while', 'do'}
_CHANGES = {'+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=', '++', '--'}
_OTHERS = {'static', 'extern', 'union', 'struct', 'class', 'enum', 'new', 'delete', 'throw', 'try', 'asm', '__asm__',
           'goto', 'typedef', 'using', 'operator', 'decltype', 'template', 'this', 'reinterpret_cast', 'const_cast',
           'volatile', 'alignas', '__align__', 'thread_local', '__builtin_alloca', 'alloca'}


def has_only_numbers(kernel, declarations, types):
    """True if a kernel works only on numbers. `types`: the template parameters that are number types. The kernel's
    parameters are already known to be numbers."""
    body = kernel.body or ()
    return has_numbers(body, types) and not _takes_arrays(kernel.head) and \
        calls_only_numbers(kernel, declarations) and \
        not MemoryAccesses(kernel, declarations).has_neighbours_after_write(body)


def _list_reached(kernel, declarations):
    # Operators that a file defines take objects of classes, so that code with numbers does not call them.
    return find_reachable([kernel], [d for d in declarations if not d.has('__global__') and not d.has('operator')])


def calls_only_numbers(kernel, declarations):
    """True if all functions that a kernel calls work only on numbers."""
    for declaration in _list_reached(kernel, declarations):
        if declaration.function is None:
            if declaration.is_class or declaration.head[0].text in ('typedef', 'using', 'struct', 'class', 'union'):
                return False
            continue
        if declaration is not kernel and (_takes_arrays(declaration.head) or not has_numbers(
                declaration.body or (), _template_parameters(declaration))):
            return False
    return True


class MemoryAccesses:
    """Finds the accesses of a kernel's threads to memory. `shared`: arrays that overlap no other array; `parameters`:
    names of pointers that always mean a parameter with its first value, None for all parameters."""

    def __init__(self, kernel, declarations, shared=frozenset(), parameters=None):
        self._arrays = shared | (parameters if parameters is not None else {t.text for t in kernel.head})
        self._shared = shared
        self._callees = [access for d in _list_reached(kernel, declarations)
                         if d is not kernel and d.function is not None and d.body
                         for access in _list_accesses(d.body, ())]

    def has_neighbours_after_write(self, body):
        """True if a thread may read an array after it has written one, and accesses several elements of the read or the
        written array. `body`: the kernel's body, or a part of it."""
        first_write, last_read, texts = {}, {}, {}      # map an array to a place, or to its elements
        own = list(_list_accesses(body, self._arrays))
        loop = next((at for at, t in enumerate(body) if t.text in _LOOPS), len(body))
        for number, (base, element, at, end, before, after) in enumerate([*own, *self._callees]):
            is_own = number < len(own)
            texts.setdefault(base, set()).add(element)
            if after == '=' or after in _CHANGES or before in ('++', '--'):
                place = end if is_own and at < loop else -1
                first_write[base] = min(first_write.get(base, place), place)
            if after != '=':
                last_read[base] = max(last_read.get(base, -1), at if is_own else len(body))
        return any(len(texts[base]) + len(texts[other]) > 2 and place <= at
                   for base, place in first_write.items() for other, at in last_read.items()
                   if base == other or not (base and other) or self._shared.isdisjoint((base, other)))


def list_apart(variables, numbers):
    """Yields the names of a kernel's __shared__ arrays of numbers that overlap no other array. Arrays without an extent
    overlap one another, and an array of pointers may point into any array."""
    shared, names = [v for v in variables.all if v.is_shared], [v.name for v in variables.all]
    dynamic = sum('extern' in (t.text for t in v.types) for v in shared)
    for variable in shared:
        words = {t.text for t in variable.types}
        if variable.is_array and variable.declarator[0] is variable.token and names.count(variable.name) == 1 and \
                words <= numbers | {'__shared__', 'extern', 'static', 'volatile'} and (
                    'extern' not in words or dynamic == 1):
            yield variable.name


def _list_accesses(body, arrays):
    """Yields (array, element, place, end of the statement, tokens before and after) for each access to memory. All
    local pointers count as one array, since they may point into the same array."""
    ends = [at for at, token in enumerate(body) if token.text == ';']
    for at, token in enumerate(body):
        before = body[at - 1] if at else None
        if token.text == '[' and before is not None and before.kind == 'identifier':
            begin, close = at - 1, matching(body, at, '[', ']')
            while close < len(body) and body[close].text == '[':
                close = matching(body, close, '[', ']')
        elif token.text == '*' and not _is_operand(before) and at + 1 < len(body):
            begin, close = at, at + 2 if body[at + 1].text != '(' else matching(body, at + 1, '(', ')')
        else:
            continue
        name, number = body[begin].text, bisect.bisect_left(ends, at)
        yield (name if name in arrays else '', ' '.join(t.text for t in body[begin:close]), begin,
               ends[number] if number < len(ends) else len(body), body[begin - 1].text if begin else '',
               body[close].text if close < len(body) else '')


def _template_parameters(function):
    """Returns the names of a function's template parameters. They are numbers if the function's arguments are
    numbers."""
    if function.head[0].text != 'template':
        return set()
    end = matching(function.head, 1, '<', '>')
    return {t.text for t in function.head[2:end - 1] if t.kind == 'identifier'} - {'typename', 'class'}


def _takes_arrays(head):
    """True if a parameter in a function's head is a reference to an array."""
    return any(a.text == '(' and b.text == '&' for a, b in zip(head, head[1:]))


def list_types(head):
    """Returns the names of a function's template parameters that are types."""
    return [b.text for a, b in zip(head, head[1:]) if a.text in ('typename', 'class')] * (head[0].text == 'template')


def has_numbers(body, types):
    """True if the statements of a function use only numbers and pointers to numbers, and take no address of a
    variable."""
    opened = []     # for each open bracket, True if arguments or an index follow it
    ends = _find_ends(body)
    for at, token in enumerate(body):
        before, after = body[at - 1] if at else None, body[at + 1] if at + 1 < len(body) else None
        text = token.text
        if token.kind == 'string' or text in ('->', '::') or text in _OTHERS:
            return False
        if token.kind == 'identifier' and text not in _WORDS and text not in types and after is not None and \
                after.kind == 'identifier':
            return False            # an object of a class
        if text == '&' and not _is_operand(before):
            return False            # an address
        if text == '.' and before is not None and before.text not in _INDICES:
            return False            # a member
        if text == '{' and before is not None and before.text not in (')', '{', '}', ';', 'else', 'do', ':'):
            return False            # an object, or a lambda
        if text == '[' and not _is_access(body, at, types, opened):
            return False
        if text == '<' and _is_template(body, ends[at]):
            return False
        if text in ('(', '[', '{'):
            is_call = before is not None and before.kind == 'identifier' and before.text not in (
                'for', 'if', 'while', 'switch')
            opened.append(text == '[' or (text == '(' and is_call))
        elif text in (')', ']', '}') and opened:
            opened.pop()
    return True


def _is_operand(token):
    """True if the token ends a value, so that an operator after it is binary."""
    return token is not None and (token.text in (')', ']') or
                                  (token.kind in ('identifier', 'number') and token.text not in _IN_FRONT))


def _is_access(body, at, types, opened):
    """True if the bracket at `at` is an index of a pointer, and not the extent in the declaration of an array."""
    if at == 0 or (body[at - 1].text != ']' and body[at - 1].kind != 'identifier'):
        return False
    if body[at - 1].text == ']':
        return True                 # the first index of this element was checked before
    front = at - 2
    while front >= 0 and body[front].text in ('*', 'const'):
        front -= 1
    if front < 0:
        return True
    if body[front].text == ',':     # a comma between arguments or between declarators
        return bool(opened and opened[-1])
    return not (body[front].kind == 'identifier' and (body[front].text in _TYPES or body[front].text in types))


def _find_ends(body):
    """Returns for each token the place of the next token that ends template arguments, or cannot stand in them."""
    ends, end = [], len(body)
    for at in range(len(body) - 1, -1, -1):
        ends.append(end)
        if body[at].text in ('>', ';', '(', ')', '{', '}', '&&', '||', '?'):
            end = at
    return ends[::-1]


def _is_template(body, end):
    """True if a < that ends at `end` may open the template arguments of a class, of which an object is declared."""
    return end + 1 < len(body) and body[end].text == '>' and body[end + 1].kind == 'identifier'


def list_constants(kernel):
    """Returns the names of a kernel's template parameters that are integers."""
    parameters = split_at(kernel.head[2:behind_template(kernel.head) - 1], ',')
    return {p[-1].text for p in parameters if p and {t.text for t in p[:-1]} <= {'const', 'int', 'unsigned', 'uint'}}
