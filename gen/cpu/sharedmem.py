"""Replaces __shared__ variables in the CPU's copy of a kernel file by references to a block's memory, which the library
owns.

    __shared__ float tile[32], *end;

becomes a typedef of the same shape under other names, and a reference for each variable:

    typedef float cf__T_tile[32], *cf__T_end; cf__T_tile &tile = ...; cf__T_end &end = ...;

Types, extents and attributes stay as written. A variable outside of functions gets a reference in each function that
names it."""

import re

from tokens.brackets import ATTRIBUTES, matching
from tokens.lexer import Token, TokenError

_TAKEN_OUT = {'extern', 'static', '__shared__', '__device__', 'inline'}
_PIECE = re.compile(r'(?<!\w)\d(?:\'\w|[\w.])*|/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|'
                    r'[^\W\d][\w$]*|\S', re.DOTALL)
_CALL = re.compile(r'[^\W\d][\w$]*\s*(\(.*\))?\s*')
_BEHIND_NAMES = {'[', ',', ';', '=', '{', *ATTRIBUTES}
_FROM_MACRO = ('a __shared__ declaration that a macro gives is not for the CPU, unless it is all that the macro gives: '
               'write it out, or add host(none)')


class _Range:
    """The tokens of a declaration without its semicolon, the token before it, and the __shared__ token."""

    def __init__(self, tokens, before, at):
        self.tokens, self.before, self.shared = tokens, before, tokens[at]
        self.is_dynamic = any(t.text == 'extern' for t in tokens)


class _Declaration(_Range):
    """A declaration with the names that it declares."""

    def __init__(self, tokens, before, at):
        super().__init__(tokens, before, at)
        self.names = _list_variables(tokens)


def _find_declarations(tokens):
    """Yields the declarations with __shared__ in a function's body."""
    for found in find_ranges(tokens):
        yield _Declaration(found.tokens, found.before, found.tokens.index(found.shared))


def find_ranges(tokens):
    """The same, without reading their names."""
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
            yield _Range(tokens[begin:end], tokens[begin - 1] if begin else None, at - begin)


def _list_variables(declaration):
    """Returns the tokens of the names that a declaration declares."""
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
            raise TokenError(token, 'a __shared__ variable of this type is not understood; give its type a name with '
                                    'typedef or using')
        if token.text in '[{' and token.kind == 'punctuation':
            at = matching(declaration, at, token.text, ']' if token.text == '[' else '}')
            continue
        if token.text == ',' and last is not None:
            found.append(last)
        elif token.kind == 'identifier':
            last = token
        at += 1
    if last is None:
        raise TokenError(declaration[0], 'this __shared__ declaration names no variable')
    return found + [last]


def _replacement_word(word, is_first):
    """Returns the typedef's text for a word of the declaration; None: the word itself."""
    if word in _TAKEN_OUT:
        return 'typedef' if is_first else ''
    return 'CF__ALIGN_AS' if word == 'alignas' else None


def _emit_reference(name, is_dynamic):
    alias = f'cf__T_{name}'
    value = f'cf__dynamic_shared<{alias}>()' if is_dynamic else f'cf__shared<{alias}>(&cf__K_{name}, alignof({alias}))'
    return f' [[maybe_unused]] {alias} &{name} = {value};'


def _emit_key(name, is_dynamic):
    return '' if is_dynamic else f' static const cf_host_shape cf__K_{name} = cf__shape<cf__T_{name}>();'


def _source_pieces(lines, line, column):
    """Yields (text, line, column, depth) of the pieces of a declaration's source up to its semicolon, without
    comments."""
    depth, text = 0, '\n'.join(lines[line - 1:])
    start = column - 1
    for match in _PIECE.finditer(text, start):
        piece = match.group()
        if piece[:2] in ('/*', '//'):
            continue
        depth += (piece in '([{') - (piece in ')]}') if len(piece) == 1 else 0
        before = text[:match.start()]
        row = before.count('\n')
        yield piece, line + row, match.start() - (before.rfind('\n') + 1 if row else 0) + 1, depth
        if piece == ';' and depth == 0:
            return


def _edit_source(declaration, lines, behind):
    """Yields the edits of a declaration that is written out, except for macros in its types and extents."""
    shared = declaration.shared
    is_first = True
    for token in declaration.tokens[:declaration.tokens.index(shared)]:
        text = _replacement_word(token.text, is_first)
        if text is not None:
            if not token.exact:
                raise TokenError(token, _FROM_MACRO)
            is_first = is_first and token.text not in _TAKEN_OUT
            yield token, text
    pieces = list(_source_pieces(lines, shared.line, shared.column))
    names = [name.text for name in declaration.names]
    for at, (piece, line, column, depth) in enumerate(pieces):
        token = Token('edit', piece, shared.file, line, column)
        text = _replacement_word(piece, is_first)
        following = pieces[at + 1][0] if at + 1 < len(pieces) else ''
        if text is not None and depth == 0:
            is_first = is_first and piece not in _TAKEN_OUT
            yield token, text
        elif names and piece == names[0] and depth == 0 and following in _BEHIND_NAMES:
            yield token, f'cf__T_{names.pop(0)}'
        elif piece == ';' and depth == 0:
            if names:
                break
            yield token, ';' + behind
            return
    raise TokenError(shared, _FROM_MACRO)


def _edit_macro(declaration, lines, behind):
    """The same if a macro produces the whole declaration: its expansion replaces it."""
    before, shared = declaration.before, declaration.shared
    if before is None or not before.exact or shared.line > len(lines):
        raise TokenError(shared, _FROM_MACRO)
    pieces = list(_source_pieces(lines, before.line, before.column + len(before.text)))
    if not pieces or pieces[-1][0] != ';' or pieces[0][1] != pieces[-1][1]:
        raise TokenError(shared, _FROM_MACRO)
    begin, end = pieces[0][2], pieces[-1][2]
    call = lines[pieces[0][1] - 1][begin - 1:end - 1]
    if not _CALL.fullmatch(call) or pieces[0][0] in [t.text for t in declaration.tokens]:
        raise TokenError(shared, _FROM_MACRO)
    words, is_first = [], True
    for token in declaration.tokens:
        text = _replacement_word(token.text, is_first)
        if text is None:
            text = f'cf__T_{token.text}' if token in declaration.names else token.text
        is_first = is_first and token.text not in _TAKEN_OUT
        words.append(text)
    yield (Token('edit', call + ';', shared.file, pieces[0][1], begin),
           ' '.join(w for w in words if w) + ';' + behind)


def find_edits(tokens, source):
    """Yields the edits of a function: (token, replacement). `source` returns the lines of a file."""
    for declaration in _find_declarations(tokens):
        behind = ''.join(_emit_key(n.text, declaration.is_dynamic) + _emit_reference(n.text, declaration.is_dynamic)
                         for n in declaration.names)
        edit = _edit_source if declaration.shared.exact else _edit_macro
        yield from edit(declaration, source(declaration.shared.file), behind)


# ---- Outside of functions


class Outside:
    """The __shared__ variables that a file declares outside of functions."""

    def __init__(self, declarations):
        self._found = {}        # name: True if it is dynamic
        for declaration in declarations:
            if self.is_one(declaration):
                for name in names_of(declaration.head):
                    self._found[name] = declaration.has('extern')

    @staticmethod
    def is_one(declaration):
        return declaration.function is None and declaration.body is None and declaration.has('__shared__')

    def edits(self, declaration, source):
        """Yields the edits of their declarations."""
        head = declaration.head
        at = next(i for i, t in enumerate(head) if t.text == '__shared__')
        wrapped = _Declaration(head, None, at)
        behind = ''.join(_emit_key(n.text, wrapped.is_dynamic) for n in wrapped.names)
        if wrapped.is_dynamic:      # for members of classes
            behind += ''.join(f' static const cf__dynamic_array<cf__element<cf__T_{n.text}>> {n.text}{{}};'
                              for n in wrapped.names)
        if not wrapped.shared.exact:
            raise TokenError(wrapped.shared, _FROM_MACRO)
        yield from _edit_source(wrapped, source(wrapped.shared.file), behind)

    def references(self, declaration):
        """Yields the edits of a function that names them."""
        body = declaration.body or ()
        named = {t.text for t in body if t.kind == 'identifier'} & set(self._found)
        if not named or declaration.function is None:
            for token in body if declaration.is_class else ():
                if token.text in named and not self._found[token.text]:
                    raise TokenError(token, f'{token.text} is __shared__ memory that a class names: declare it inside '
                                            'of the function')
            return
        named -= {t.text for t in declaration.head}
        named -= {n.text for d in _find_declarations(list(body)) for n in d.names}
        if not named:
            return
        first, last = body[0], declaration.last
        if not first.exact or not last.exact or last.text != '}':
            raise TokenError(first, 'a macro stands where this function begins or ends, which names __shared__ memory '
                                    'that is declared outside: declare it inside')
        # In braces of its own, because the function may have variables of these names.
        text = ''.join(_emit_reference(name, self._found[name]) for name in sorted(named))
        yield Token('edit', '', first.file, first.line, first.column), text.lstrip() + ' { '
        yield last, '}}'


def names_of(head):
    """Returns the names of a declaration with __shared__; none if it is not understood."""
    try:
        return [t.text for t in _list_variables(head)]
    except TokenError:     # edits() reports the error if the declaration is needed
        return []
