"""Finds kernels that certainly use extern __shared__ memory, whose size the launch sets.

Memory and functions are found by their names. A name does not count if the function may declare it, or if it may mean
another function or class."""

from cpu.sharedmem import find_ranges, names_of, Outside
from declare.classdecl import split_members
from declare.declarations import behind_template
from tokens.brackets import matching

_NO_TYPES = {'return', 'case', 'else', 'do', 'sizeof', 'new', 'delete', 'goto', 'throw', 'typename', 'extern', 'static'}
_INDICES = {'threadIdx', 'blockIdx', 'blockDim', 'gridDim', 'this'}


class Dynamic:
    def __init__(self, declarations):
        self._functions, self._classes, self._outside, self._found = {}, {}, {}, {}
        if not any('__shared__' in d.words and 'extern' in d.words for d in declarations):
            declarations = ()       # an empty list ends the search, since most files have no such memory
        self._has_any = bool(declarations)
        for declaration in declarations:
            if Outside.is_one(declaration) and declaration.has('extern'):
                for name in names_of(declaration.head):
                    self._outside.setdefault(name, []).append(declaration)
            elif declaration.function is not None and declaration.body is not None:
                self._functions.setdefault(declaration.name, []).append(declaration)
            elif declaration.is_class and not declaration.has('enum'):
                self._classes.setdefault(_class_name(declaration.head), []).append(declaration)

    def first(self, declaration):
        """Returns the first token that declares extern __shared__ memory in a function, or in the functions and
        variables that it uses; None if there is no such memory."""
        if not self._has_any:
            return None
        key = id(declaration)
        if key not in self._found:
            self._found[key] = None     # a recursive function finds this value for itself
            self._found[key] = _find_own(declaration) or self._find_named(declaration)
        return self._found[key]

    def _find_named(self, declaration):
        body = list(declaration.body or ())
        taken = {t.text for t in declaration.head} | _list_declared(body)
        for at, token in enumerate(body):
            before, behind = (body[i].text if 0 <= i < len(body) else '' for i in (at - 1, at + 1))
            if token.kind != 'identifier' or token.text in taken or before in ('.', '->'):
                continue
            scope = body[at - 2].text if before == '::' and at > 1 else None
            outside = _list_within(self._outside.get(token.text, []), scope)
            if outside:
                return outside[0].head[0]
            named = _list_within(self._functions.get(token.text, []) if behind in ('(', '<') else [], scope)
            classes = _list_within(self._classes.get(token.text, []) if _is_made(body, at) else [], scope)
            found = [self.first(d) for d in named] or [_of_class(d) for d in classes]
            if found and all(found):
                return found[0]
        return None


def _find_own(declaration):
    if '__shared__' not in declaration.words:
        return None
    return next((d.shared for d in find_ranges(list(declaration.body or ())) if d.is_dynamic), None)


def only_gives_memory(declaration):
    """True for a function that does nothing but return the address of its extern __shared__ memory, and for a class
    whose only members are conversions of this kind, such as SharedMemory<T> of NVIDIA's samples."""
    if declaration.is_class and ':' not in (t.text for t in declaration.head):
        members = [m for _, _, m in split_members(declaration.body) if m.function is not None or len(m.head) > 1]
        return bool(members) and all(m.name == 'operator' and only_gives_memory(m) for m in members)
    texts = [t.text for t in declaration.body or ()] if declaration.function is not None else []
    first = texts.index(';') if ';' in texts else 0
    if first < 3:
        return False
    name, value = texts[first - 3], texts[first + 1:]
    pairs = list(zip(value, declaration.body[first + 2:]))
    return {'extern', '__shared__'} <= set(texts[:first]) and texts[first - 2:first] == ['[', ']'] and \
        value[:1] == ['return'] and value.count(';') == value.count(name) == 1 and value[-1] == ';' and not any(
            behind.text == '(' and text not in ('return', '(', ')', '>') or text == ')' and behind.text == '*' or
            behind.kind not in ('identifier', 'punctuation') or
            behind.kind == 'punctuation' and behind.text not in ('(', ')', '*', '<', '>', '::', ';')
            for text, behind in pairs) and not _INDICES.intersection(value)


def _of_class(declaration):
    """Returns the first token that declares extern __shared__ memory in a class; None unless all functions of the class
    have such memory, since any of them may be called."""
    body, at, found = list(declaration.body or ()), 0, []
    while at < len(body):
        if body[at].text == '{':
            end = matching(body, at, '{', '}')
            found.append(next((d.shared for d in find_ranges(body[at + 1:end - 1]) if d.is_dynamic), None))
            at = end
        else:
            at += 1
    return found[0] if found and all(found) else None


def _is_made(body, at):
    """True if an object of the class whose name is at `at` is created: a variable or a temporary."""
    behind = matching(body, at + 1, '<', '>') if [t.text for t in body[at + 1:at + 2]] == ['<'] else at + 1
    return behind < len(body) and (body[behind].kind == 'identifier' or body[behind].text in '({')


def _list_within(declarations, scope):
    """Returns the declarations in the namespace `scope`; all of them if `scope` is None."""
    return [d for d in declarations if scope is None or d.scope[-1:] == (scope,)]


def _class_name(head):
    """Returns the name of the class that a head declares. The head may also name template arguments and bases."""
    name = ''
    for token in head[behind_template(head):]:
        if token.text in ('<', ':', 'final'):
            break
        name = token.text if token.kind == 'identifier' else name
    return name


def _list_declared(body):
    """Returns the names that a function's body may declare: names after a type or a comma, and names in auto [...]."""
    found, depth = set(), 0
    for at, token in enumerate(body):
        if token.kind == 'punctuation':
            depth += (token.text in '([') - (token.text in ')]')
        elif token.text == 'auto':
            opening = next((i for i in range(at + 1, min(at + 4, len(body))) if body[i].text == '['), None)
            if opening:
                found |= {t.text for t in body[opening:matching(body, opening, '[', ']')] if t.kind == 'identifier'}
        elif token.kind == 'identifier' and at > 0:
            before = at - 1
            while before > 0 and body[before].text in ('*', '&', 'const'):
                before -= 1
            is_typed = body[before].kind == 'identifier' and body[before].text not in _NO_TYPES
            is_assigned = [t.text for t in body[at + 1:at + 2]] == ['=']
            if is_typed or (body[before].text == ',' and (depth == 0 or is_assigned)):
                found.add(token.text)
    return found
