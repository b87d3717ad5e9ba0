"""Decides whether a kernel's work is bounded and whether it accesses only its arguments, and finds its pointer casts.

The decisions use names only. A name with two meanings may make a decision negative, and never positive."""

from cpu.casts import CastReader, find_pointer_cast
from tokens.brackets import matching, SPECIFIERS

_LOOPS = {'for', 'while', 'do', 'goto'}
_WORDS = SPECIFIERS | {'const', 'volatile', 'float', 'double', 'int', 'unsigned', 'char', 'short', 'long', 'bool',
                       'void'}
_TAGGED = ('struct', 'class', 'union', 'enum')


class Reach:
    """The declarations of a file that code can reach by name. `is_host`: True for host code, False for device code."""

    def __init__(self, declarations, is_host):
        self._is_host = is_host
        self._casts = CastReader(declarations)
        self._named, self._kernels = {}, {}
        for declaration in declarations:
            if declaration.has('__global__'):
                self._kernels.setdefault(declaration.name, []).append(declaration)
            elif declaration.function is None or self._can_be_called(declaration):
                for name in set(declaration.names) - _WORDS:
                    self._named.setdefault(name, []).append(declaration)

    def _can_be_called(self, declaration):
        if self._is_host:
            return not declaration.has('__device__') or declaration.has('__host__')
        return any(declaration.has(word) for word in ('__device__', 'constexpr', 'consteval'))

    def judge(self, root):
        """Returns (is bounded, is closed, pointer casts) of a kernel or a function. Bounded work has no loop and no
        recursion; closed code accesses only its arguments."""
        # The definition may stand apart from the annotated declaration, and a template may have specialisations.
        named = {id(d): d for d in [root, *self._kernels.get(root.name, ())]}
        roots = [d for d in named.values() if d.body is not None]
        if not roots:
            return False, False, frozenset()
        found, is_known = self._find_reached(roots)
        functions = [f for d in found for f in list_functions(d)]
        is_bounded = is_known and not any(t.text in _LOOPS and t.kind == 'identifier'
                                          for _, body in functions for t in body)
        is_closed = (is_known and not any(_is_data(d) for d in found) and
                     not any(_keeps_data(body) for _, body in functions) and not _makes_addresses(found))
        casts = self._casts.list_casts(found)
        return is_bounded and not _calls_itself(functions), is_closed, casts

    def _find_reached(self, roots):
        """Returns the declarations that `roots` reach, and True if all functions among them have bodies."""
        # Operators are reached without their names.
        found = roots + self._named.get('operator', [])
        seen, pending, is_known = {id(d) for d in found}, list(found), True
        while pending:
            declaration = pending.pop()
            for tokens in (declaration.head, declaration.body or (), declaration.tail):
                for token in tokens:
                    others = self._named.get(token.text, ()) if token.kind == 'identifier' else ()
                    # A prototype without a function in the file belongs to a function of another file.
                    is_prototype = others and all(d.function is not None and d.body is None for d in others)
                    is_known = is_known and not is_prototype
                    for other in others:
                        if id(other) not in seen:
                            seen.add(id(other))
                            pending.append(other)
                            found.append(other)
        return found, is_known


def list_functions(declaration):
    """Returns (name, tokens of the body) of each function that a declaration defines: the function itself, or the
    member functions of a class. The name is a token, or None for other code."""
    if declaration.body is None:
        return []
    if declaration.function is not None:
        return [(declaration.head[declaration.function], declaration.body)]
    if not any(t.text in _TAGGED for t in declaration.head):
        return [(None, declaration.body)]     # initializer of a variable
    # The body of a member function begins after its parentheses, so that a constructor's initialisers belong to it.
    body, found, at = declaration.body, [], 0
    while at < len(body):
        if body[at].kind == 'identifier' and at + 1 < len(body) and body[at + 1].text == '(':
            end = matching(body, at + 1, '(', ')')
            begin = end
            while end < len(body) and body[end].text not in ('{', ';', '(', '='):
                end += 1
            if end < len(body) and body[end].text == '{':
                after = matching(body, end, '{', '}')
                found.append((body[at], body[begin:after]))
                at = after
                continue
        at += 1
    # The whole class counts as one more body, so that members of an unknown form are checked, too.
    return found + [(None, body)]


def _calls_itself(functions):
    """True if a function calls itself, directly or through others. Functions with the same name count as one
    function."""
    calls = {}
    names = {name.text for name, _ in functions if name}
    for name, body in functions:
        if name:
            called = {t.text for t in body if t.kind == 'identifier' and t.text in names}
            calls.setdefault(name.text, set()).update(called)
    # Functions that call no remaining function are removed, one after another; cycles of calls remain.
    callers = {}
    for name, called in calls.items():
        for other in called:
            callers.setdefault(other, []).append(name)
    ends = [name for name, called in calls.items() if not called]
    for end in ends:
        for name in callers.get(end, ()):
            calls[name].remove(end)
            if not calls[name]:
                ends.append(name)
    return len(ends) < len(calls)


def _is_data(declaration):
    """True if a declaration defines a variable that is no constant."""
    head = [t.text for t in declaration.head]
    if declaration.function is not None or head[0] in ('using', 'typedef', 'namespace', 'static_assert', 'template'):
        return declaration.function is None and head[0] == 'template' and not declaration.is_class and \
            'using' not in head and declaration.body is None and not _is_constant(head, declaration)
    if declaration.is_class or head[0] in _TAGGED and declaration.body is None and '=' not in head and len(head) < 3:
        return bool([t for t in declaration.tail if t.kind == 'identifier']) and not _is_constant(head, declaration)
    return not _is_constant(head, declaration)


def _is_constant(head, declaration):
    """True if the head of a variable's declaration makes it a constant with a known value."""
    front = head[:head.index('=')] if '=' in head else head
    has_value = '=' in head or declaration.body is not None
    if 'constexpr' in front:
        return True
    behind_stars = front[len(front) - front[::-1].index('*'):] if '*' in front else front
    return has_value and 'const' in behind_stars and '&' not in front and 'extern' not in front


def _keeps_data(body):
    """True if a function's body declares a variable that outlives the call, or names a variable of another place."""
    for at, token in enumerate(body):
        if token.kind == 'identifier' and token.text in ('static', 'extern', 'thread_local'):
            end = next((i for i in range(at, len(body)) if body[i].text in ('=', ';', '{', '(')), len(body))
            front = [t.text for t in body[at:end]]
            if '__shared__' in front:       # the variable lives as long as the block
                continue
            stars = front[len(front) - front[::-1].index('*'):] if '*' in front else front
            is_constant = 'constexpr' in front or ('const' in stars and '&' not in front and token.text == 'static' and
                                                   end < len(body) and body[end].text in ('=', '{'))
            is_function = end < len(body) and body[end].text == '(' and token.text == 'static' and \
                _closes_function(body, end)
            if not is_constant and not is_function:
                return True
    return False


def _closes_function(body, at):
    """True if the parenthesis at `at` ends the parameters of a member function: a body or a word such as const
    follows."""
    end = matching(body, at, '(', ')')
    return end < len(body) and body[end].text in ('{', 'const', 'noexcept', '-')


def _makes_addresses(found):
    """True if a cast in the declarations may turn a value that is no pointer, such as an integer, into a pointer."""
    pointers = set()
    for declaration in found:
        pointers |= _find_pointers(declaration.head, True) | _find_pointers(declaration.body or [], False)
    for declaration in found:
        body = declaration.body or []
        for at, token in enumerate(body):
            if token.text == 'reinterpret_cast' and at + 1 < len(body) and body[at + 1].text == '<':
                end = matching(body, at + 1, '<', '>')
                is_pointer = body[end - 2].text == '*' or body[end - 3].text == '*'
            elif (token.text == ')' and body[at - 1].text in ('*', 'const', '__restrict__') and
                  find_pointer_cast(body, at)):
                end, is_pointer = at + 1, True
            else:
                continue
            if is_pointer and not _is_pointer(body, end, pointers):
                return True
    return False


def _is_pointer(body, at, pointers):
    """True if the operand at `at` is surely a pointer, perhaps in parentheses. `pointers`: names of pointers."""
    if body[at].text == '&' or body[at].text == '0' or body[at].text in ('nullptr', 'NULL', 'this'):
        return True
    end = matching(body, at, '(', ')') if body[at].text == '(' else at + 1
    if body[at].text == '(' and (body[at + 1].text == '&' or find_pointer_cast(body, end - 1)):
        return body[at + 1].text == '&' or _is_pointer(body, end, pointers)
    return any(t.text in pointers and (i + 1 == len(body) or body[i + 1].text not in ('[', '.', '-', '('))
               for i, t in enumerate(body[at:end], at))


def _find_pointers(tokens, is_head):
    """Returns the names that tokens declare as pointers or arrays. `is_head`: the tokens are a function's head."""
    found = set()
    for at in range(1, len(tokens) - 1):
        token, before, after = tokens[at], tokens[at - 1], tokens[at + 1].text
        if token.kind != 'identifier' or after not in (',', ')', ';', '=', '['):
            continue
        if (before.text in ('*', 'const', '__restrict__', '__restrict', 'restrict') and
                _is_pointer_name(tokens, at, is_head)):
            found.add(token.text)
        elif after == '[' and before.kind == 'identifier' and before.text not in ('return', 'else', 'case'):
            found.add(token.text)
    return found


def _is_pointer_name(tokens, at, is_head):
    """True if the name at `at` is declared as a pointer: a type and a * precede it, and a declaration may begin before
    the type. In a body, an opening parenthesis begins no declaration, since f(a * b) contains a product."""
    begin, stars = at - 1, 0
    while begin >= 0 and (tokens[begin].text in ('*', '::', '<', '>') or tokens[begin].kind == 'identifier'):
        stars += tokens[begin].text == '*'
        begin -= 1
    return stars > 0 and tokens[begin + 1].kind == 'identifier' and tokens[begin + 1].text != 'return' and (
        begin < 0 or tokens[begin].text in ((';', '{', '}', '(', ',') if is_head else (';', '{', '}')))


def may_point(ctype):
    """True if a value of the type may contain addresses."""
    if ctype.kind == 'pointer' or ctype.c == '' and ctype.kind not in ('array', 'bit-field'):
        return True
    if ctype.kind in ('struct', 'array'):
        return ctype.members is None or any(may_point(m) for m in ctype.members.values())
    return False
