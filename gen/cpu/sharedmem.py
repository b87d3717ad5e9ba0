"""Replaces __shared__ variables in the copy for the CPU by references to a block's memory, which the library owns.

    __shared__ float tile[32], *end;

becomes a typedef of the same shape under other names, and a reference for each variable:

    typedef float cf__T_tile[32], *cf__T_end; cf__T_tile &tile = ...; cf__T_end &end = ...;

Types, extents and attributes keep their text. A variable that is declared outside of functions gets a reference in each
function that names the variable."""

from tokens.brackets import ATTRIBUTES, matching
from tokens.lexer import TokenError

ATOMICS = {f'atomic{name}' for name in ('Add', 'Sub', 'Exch', 'Min', 'Max', 'And', 'Or', 'Xor')}
# Most pointers that are followed from an atomic function to the array that the function changes.
_MOST_POINTERS = 8
_TAKEN_OUT = {'extern', 'static', '__shared__', '__device__', 'inline'}


class _Range:
    """The tokens of a declaration without its semicolon, the semicolon, and the index of the __shared__ token.
    `is_nested`: the declaration is in an inner block of its function."""

    def __init__(self, tokens, semicolon, at, is_nested=False):
        self.tokens, self.semicolon, self.shared = tokens, semicolon, tokens[at]
        self.is_dynamic = any(t.text == 'extern' for t in tokens)
        self.is_nested = is_nested


def find_ranges(tokens):
    """Yields the _Range of each declaration with __shared__ in the tokens of a function's body."""
    depth = 0
    for at, token in enumerate(tokens):
        if token.kind == 'punctuation':
            depth += (token.text == '{') - (token.text == '}')
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
            yield _Range(tokens[begin:end], tokens[end], at - begin, depth > 0)


def _list_variables(declaration):
    """Returns the tokens with the names of the variables in a declaration."""
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
        elif token.kind == 'identifier' and token.text not in _TAKEN_OUT:
            last = token
        at += 1
    if last is None:
        raise TokenError(declaration[0], 'this __shared__ declaration names no variable')
    return found + [last]


def _replacement_word(word, is_first):
    """Returns the text of a declaration's word in the typedef; None if the word stays. `is_first`: no other word was
    taken out before it."""
    if word in _TAKEN_OUT:
        return 'typedef' if is_first else ''
    return 'CF__ALIGN_AS' if word == 'alignas' else None


def _emit_reference(name, is_dynamic, is_local=False, is_nested=False):
    alias = f'cf__T_{name}'
    value = f'cf__dynamic_shared<{alias}>()' if is_dynamic else f'cf__shared<{alias}>(&cf__K_{name}, alignof({alias}))'
    memory = ''
    if is_local and not is_dynamic:
        # An object that the function declares in an inner block would end with this block.
        place = ', false' * is_nested
        memory = f' alignas({alias}) alignas(64) cf__local<{alias}{place}> cf__S_{name};'
        value = f'cf__S_{name}.cf__value(&cf__K_{name})'
    return f'{memory} [[maybe_unused]] {alias} &{name} = {value};'


def _emit_key(name, is_dynamic):
    return '' if is_dynamic else f' static const cf_host_shape cf__K_{name} = cf__shape<cf__T_{name}>();'


def _edit_declaration(declaration, names, behind):
    """Yields the edits (token, replacement) of one declaration. `behind`: text that follows it."""
    is_first, depth = True, 0
    for token in declaration.tokens:
        if token.kind == 'punctuation':
            depth += (token.text in '([{') - (token.text in ')]}')
        text = _replacement_word(token.text, is_first) if depth == 0 else None
        if text is not None:
            is_first = is_first and token.text not in _TAKEN_OUT
            yield token, text
        elif token in names:
            yield token, f'cf__T_{token.text}'
    yield declaration.semicolon, ';' + behind


def find_edits(tokens, is_local=False):
    """Yields the edits (token, replacement) of a function. `is_local`: one call of the function runs the whole block,
    so that a __shared__ variable may become a local variable."""
    for declaration in find_ranges(tokens):
        names = _list_variables(declaration.tokens)
        behind = ''.join(_emit_key(n.text, declaration.is_dynamic) +
                         _emit_reference(n.text, declaration.is_dynamic, is_local, declaration.is_nested)
                         for n in names)
        yield from _edit_declaration(declaration, names, behind)


def find_plain_atomics(tokens, variables, meanings, begin, end):
    """Yields the places of atomic functions that change the block's own __shared__ variables. `variables`: maps a place
    to its Variable."""
    for at in range(begin, end - 3):
        name = tokens[at].text
        variable = find_shared(tokens, variables, at) if name in ATOMICS else None
        if variable is not None and variable.is_number and \
                not variable.is_volatile and variable.declarator[0] is variable.token and \
                not meanings.is_function(name) and tokens[at - 1].text not in ('.', '->', '::'):
            yield at


def find_shared(tokens, variables, at):
    """Returns the __shared__ variable that the atomic function at `at` changes, directly or through a pointer; None if
    it may change another variable."""
    end = depth = 0
    for end in range(at + 1, len(tokens)):
        depth += (tokens[end].text in '([') - (tokens[end].text in ')]')
        if tokens[end].text == ',' and depth == 1 or depth == 0:
            break
    array = find_array(tokens, variables, at + 2, end) if at + 2 < end else None
    variable = variables.get(find_changed(tokens, at))
    is_own = variable is not None and variable.is_shared and (variable.is_array or tokens[at + 2].text == '&')
    return variable if is_own else array


def find_array(tokens, variables, begin, end, nested=0):
    """Returns the __shared__ array into which a pointer expression points; None for others. Such an expression is s, s
    + k, &s[k], s[row], (s + k) + 1, or a pointer with such a value."""
    is_address = False
    while tokens[begin].text == '&' and not is_address or \
            tokens[begin].text == '(' and matching(tokens, begin, '(', ')') == end:
        end -= tokens[begin].text == '('
        is_address |= tokens[begin].text == '&'
        begin += 1
    is_inner, extents = tokens[begin].text == '(', 0
    behind = matching(tokens, begin, '(', ')') if is_inner else begin + 1
    while behind < end and tokens[behind].text == '[':
        behind, extents = matching(tokens, behind, '[', ']'), extents + 1
    if nested > _MOST_POINTERS or any(t.text == '?' for t in tokens[behind:end]) or \
            behind < end and (tokens[behind].text not in ('+', '-') or is_address):
        return None
    if is_inner:
        return None if is_address or extents else find_array(tokens, variables, begin + 1, behind - 1, nested + 1)
    variable = variables.get(begin)
    if variable is None or extents != (variable.count_extents() if variable.is_array else 1) - (not is_address):
        return None
    return variable if variable.is_shared and variable.is_array else _find_array_of(tokens, variables, variable, nested)


def _find_array_of(tokens, variables, variable, nested):
    """Returns the __shared__ array into which a pointer variable points, if the variable keeps the value of its
    declaration; None for other variables."""
    is_kept = variable.is_pointer and not (variable.is_shared or variable.writes or variable.is_volatile) and \
        variable.statement is not None and variable.value is not None
    return find_array(tokens, variables, *variable.value, nested + 1) if is_kept else None


def find_changed(tokens, at):
    """Returns the place of the variable that the atomic function at `at` changes, such as bins in (&bins[i], 1),
    (&(bins[i]), 1), (bins + i, 1) and (bins, 1); None for others."""
    texts = [t.text for t in tokens[at + 1:at + 5]]
    if len(texts) < 4 or texts[0] != '(':
        return None
    if texts[1] != '&':
        return at + 2 if tokens[at + 2].kind == 'identifier' and texts[2] in (',', '+') else None
    place = at + 3 + (texts[2] == '(')
    behind = place + 1
    while tokens[behind].text == '[':
        behind = matching(tokens, behind, '[', ']')
    if texts[2] == '(' and tokens[behind].text == ')':
        behind += 1
    return place if tokens[behind].text == ',' else None


# ---- Outside of functions


class Outside:
    """The __shared__ variables that a file declares outside of functions."""

    def __init__(self, declarations):
        self._found = {}        # maps a name to True if the launch sets the variable's size
        for declaration in declarations:
            if self.is_one(declaration):
                for name in names_of(declaration.head):
                    self._found[name] = declaration.has('extern')

    @staticmethod
    def is_one(declaration):
        return declaration.function is None and declaration.body is None and declaration.has('__shared__')

    def edits(self, declaration):
        """Yields the edits (token, replacement) of a declaration outside of functions."""
        at = next(i for i, t in enumerate(declaration.head) if t.text == '__shared__')
        found = _Range(declaration.head, declaration.last, at)
        names = _list_variables(found.tokens)
        behind = ''.join(_emit_key(n.text, found.is_dynamic) for n in names)
        if found.is_dynamic:        # a member function has no place for references
            behind += ''.join(f' static const cf__dynamic_array<cf__element<cf__T_{n.text}>> {n.text}{{}};'
                              for n in names)
        yield from _edit_declaration(found, names, behind)

    def references(self, declaration):
        """Returns the declarations of references that a function needs at its beginning, '' if it needs none. Variables
        of the function may have the same names, so that its body needs further braces."""
        body = declaration.body or ()
        named = {t.text for t in body if t.kind == 'identifier'} & set(self._found)
        if not named or declaration.function is None:
            for token in body if declaration.is_class else ():
                if token.text in named and not self._found[token.text]:
                    raise TokenError(token, f'{token.text} is __shared__ memory that a class names: declare it inside '
                                            'of the function')
            return ''
        named -= {t.text for t in declaration.head}
        named -= {n.text for d in find_ranges(list(body)) for n in _list_variables(d.tokens)}
        return ''.join(_emit_reference(name, self._found[name]) for name in sorted(named))


def names_of(head):
    """Returns the names in a declaration with __shared__; an empty list if its form is unknown."""
    try:
        return [t.text for t in _list_variables(head)]
    except TokenError:     # edits() reports the error if the copy needs this declaration
        return []
