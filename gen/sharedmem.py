"""__shared__ variables in a kernel file as the CPU compiles it: references to memory that the library has for each block.

    __shared__ float tile[32], *end;

becomes a typedef of the same shape under other names, and a reference for each variable:

    typedef float cf__T_tile[32], *cf__T_end; cf__T_tile &tile = ...; cf__T_end &end = ...;

so that types, extents and attributes stay as they are written."""

from brackets import ATTRIBUTES, matching

_TAKEN_OUT = {'extern', 'static', '__shared__'}


class SharedError(Exception):
    """A declaration that cannot be rewritten."""

    def __init__(self, token, message):
        super().__init__(message)
        self.token = token


def declarations(tokens):
    """The declarations with __shared__ in a function's body: (tokens up to the semicolon, the semicolon)."""
    for at, token in enumerate(tokens):
        if token.text != '__shared__' or token.kind != 'identifier':
            continue
        begin = at
        while begin > 0 and tokens[begin - 1].text not in (';', '{', '}', ':'):
            begin -= 1
        end = at
        while end < len(tokens) and tokens[end].text != ';':
            closing = {'(': ')', '{': '}', '[': ']'}.get(tokens[end].text)
            end = matching(tokens, end, tokens[end].text, closing) if closing else end + 1
        if end < len(tokens):
            yield tokens[begin:end], tokens[end]


def variables(declaration):
    """The tokens that are the names a declaration gives."""
    found, last, at = [], None, 0
    while at < len(declaration):
        token = declaration[at]
        if token.text in ATTRIBUTES and at + 1 < len(declaration) and declaration[at + 1].text == '(':
            at = matching(declaration, at + 1, '(', ')')
            continue
        if token.text == '<' and last is not None:
            at = matching(declaration, at, '<', '>')
            continue
        if token.text == '(':
            raise SharedError(token, 'a __shared__ variable of this type is not understood; give its type a name with '
                                     'typedef or using')
        if token.text in '[{' and token.kind == 'punctuation':
            at = matching(declaration, at, token.text, ']' if token.text == '[' else '}')
            continue
        if token.text == ',':
            found.append(last)
        elif token.kind == 'identifier':
            last = token
        at += 1
    return found + [last]


def _require_exact(declaration, names, last):
    """What is changed has to stand in the source. Macros may give extents and types, which stay as they are."""
    edited = [t for t in declaration if t.text in _TAKEN_OUT or t.text == 'alignas']
    for token in edited + names + [last]:
        if not token.exact:
            raise SharedError(token, 'a __shared__ declaration that a macro gives is not for the CPU: write it out, or '
                                     'add host(none)')


def edits(tokens):
    """What to change in the source: (token, text in its place), and (semicolon, text with it)."""
    for declaration, semicolon in declarations(tokens):
        _require_exact(declaration, variables(declaration), semicolon)
        is_dynamic = any(t.text == 'extern' for t in declaration)
        is_first, behind = True, ';'
        for token in declaration:
            if token.text in _TAKEN_OUT:
                yield token, 'typedef' if is_first else ''
                is_first = False
            elif token.text == 'alignas':
                yield token, '__align__'
        for name in variables(declaration):
            alias = f'cf__T_{name.text}'
            yield name, alias
            if is_dynamic:
                value = f'cf__dynamic_shared<{alias}>()'
            else:
                behind += f' static char cf__K_{name.text};'
                value = f'cf__shared<{alias}>(&cf__K_{name.text}, alignof({alias}))'
            behind += f' [[maybe_unused]] {alias} &{name.text} = {value};'
        yield semicolon, behind


def edits_outside(declaration):
    """The same for dynamic shared memory that is declared outside of functions."""
    name = variables(declaration.head)[0]
    _require_exact(declaration.head, [name], declaration.last)
    if not declaration.has('extern'):
        raise SharedError(name, f'{name.text}: __shared__ memory is declared inside of the kernel')
    is_first = True
    for token in declaration.head:
        if token.text in _TAKEN_OUT:
            yield token, 'typedef' if is_first else ''
            is_first = False
        elif token.text == 'alignas':
            yield token, '__align__'
    yield name, f'cf__T_{name.text}'
    yield declaration.last, f'; static const cf__dynamic_array<cf__element<cf__T_{name.text}>> {name.text}{{}};'
