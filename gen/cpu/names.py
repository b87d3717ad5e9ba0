"""Reads the names that declarations give to types, variables and bit-fields."""

from declare.classdecl import split_members
from declare.declarations import behind_template
from tokens.brackets import ATTRIBUTES, matching, split_at, without_attributes

_SIZED = {f'{u}int{kind}{n}_t' for u in ('', 'u') for kind in ('', '_least', '_fast') for n in (8, 16, 32, 64)}
WORDS = {'char', 'short', 'int', 'long', 'unsigned', 'signed'}
NAMES = _SIZED | {
    *(f'u_int{n}_t' for n in (8, 16, 32, 64)), *(f'__{u}int{n}_t' for u in ('', 'u') for n in (8, 16, 32, 64)),
    'size_t', 'ptrdiff_t', 'intptr_t', 'uintptr_t', 'ssize_t', 'intmax_t', 'uintmax_t', 'clock_t', 'time_t', 'off_t',
    'uint', 'ushort', 'ulong', 'uchar', 'u_char', 'u_short', 'u_int', 'u_long',
    'wchar_t', 'char8_t', 'char16_t', 'char32_t'}
QUALIFIERS = {'const', 'volatile', 'static', 'constexpr', 'register', 'inline', '__restrict__', '__restrict', 'std',
               '::', 'extern', '__forceinline__', '__device__', '__host__', '__noinline__', '__inline__', '__shared__',
              '__grid_constant__', 'mutable'}
VECTORS = {f'{kind}{n}' for kind in ('char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong', 'longlong',
                                      'ulonglong') for n in (1, 2, 3, 4)} | {'dim3'}
FLOAT_VECTORS = {f'{kind}{n}' for kind in ('float', 'double') for n in (1, 2, 3, 4)}
# The operators that are words. A parenthesis after such a word opens no call.
OPERATORS = {'and', 'or', 'not', 'xor', 'bitand', 'bitor', 'compl', 'not_eq', 'and_eq', 'or_eq', 'xor_eq'}
IN_FRONT = OPERATORS | {'return', 'case', 'else', 'do', 'throw'}
# A * or & after a name declares a pointer or a reference if one of these tokens precedes the name, and is rarely an
# operator.
_BEFORE_POINTERS = {';', '{', '}', '(', ',', ']'}
_LONGEST = 256   # most tokens of template arguments that are read, so that nested comparisons take linear time
_NO_TYPES = IN_FRONT | {'goto', 'new', 'delete', 'typename', 'using', 'namespace', 'operator', 'struct', 'class',
                         'enum', 'union', 'template', 'break', 'continue', 'default', 'if', 'for', 'while', 'switch'}


def find_types(tokens):
    """Yields the names that typedefs, using declarations and template parameters among the tokens give to types."""
    for at, token in enumerate(tokens):
        if token.text == 'typedef':
            end = at
            while end < len(tokens) and tokens[end].text != ';':
                end = matching(tokens, end, '{', '}') if tokens[end].text == '{' else end + 1
            if tokens[end - 1].kind == 'identifier' and tokens[end - 2].text not in ('*', '&', '&&'):
                yield tokens[end - 1].text
        elif token.text == 'using' and [t.text for t in tokens[at + 2:at + 3]] == ['=']:
            yield tokens[at + 1].text
        elif token.text in ('typename', 'class') and at and tokens[at - 1].text in ('<', ',') and \
                at + 2 < len(tokens) and tokens[at + 1].kind == 'identifier' and \
                tokens[at + 2].text in (',', '>', '='):
            yield tokens[at + 1].text


def find_bit_fields(tokens):
    """Returns the names of the bit-fields that the tokens declare. Other code may look like a bit-field, and adds
    names."""
    return {name.text for before, name, colon, after in zip(tokens, tokens[1:], tokens[2:], tokens[3:])
            if colon.text == ':' and name.kind == 'identifier' and after.text not in (':', '{', ';') and
            (before.kind == 'identifier' and before.text not in IN_FRONT or before.text == ',')}


def read_types(tokens, known):
    """Returns a map from the names of types to kinds: the map `known`, and the typedefs of integers and vectors."""
    kinds = dict(known)
    for at, token in enumerate(tokens):
        is_using = token.text == 'using' and [t.text for t in tokens[at + 2:at + 3]] == ['=']
        if token.text != 'typedef' and not is_using:
            continue
        first = at + 3 if is_using else at + 1
        end = next((i for i in range(first, len(tokens)) if tokens[i].text == ';'), len(tokens))
        if end <= first:
            continue
        name, words = (tokens[at + 1], tokens[first:end]) if is_using else (tokens[end - 1], tokens[first:end - 1])
        is_plain = all(t.kind == 'identifier' or t.text == '::' for t in words)
        kind = kind_of([t.text for t in words], kinds) if is_plain else 'other'
        kinds[name.text] = kind if known.get(name.text, kind) == kind else 'other'
    return kinds


def read_variables(tokens, found, kinds):
    """Adds the variables that the tokens declare to `found`, which maps a name to pairs (integer, vector or other;
    levels of pointers). `kinds`: maps typedefs to kinds."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        texts = [t.text for t in tokens[at:at + 5]]
        if texts[0] in ('decltype', '__typeof__', 'typeof') and texts[1:4:2] == ['(', ')'] and len(texts) == 5 and \
                tokens[at + 4].kind == 'identifier':        # decltype(n) x
            found.setdefault(texts[4], set()).update(found.get(texts[2], {('other', 0)}))
            at += 5
            continue
        if token.kind != 'identifier' or token.text in _NO_TYPES or token.text in ATTRIBUTES:
            at += 1
            continue
        end = at
        while end < len(tokens) and (tokens[end].kind == 'identifier' or tokens[end].text == '::') and \
                tokens[end].text not in ATTRIBUTES:
            end += 1
        words = [t.text for t in tokens[at:end]]
        levels = 0
        while end < len(tokens) and tokens[end].text in ('*', '&', '&&', 'const', '__restrict__', '__restrict'):
            levels += tokens[end].text == '*'
            end += 1
        if end > at + len(words):
            if end < len(tokens) and tokens[end].kind == 'identifier' and _may_declare(tokens, at, words, found):
                type_words, name = words, tokens[end].text
                end += 1
            else:
                at = max(end, at + 1)
                continue
        else:
            type_words, name = words[:-1], words[-1]
        if not type_words or type_words[-1] == '::' or at and tokens[at - 1].text in ('.', '->'):
            at = max(end, at + 1)
            continue
        kind = kind_of(type_words, kinds)
        while end < len(tokens):
            extents = 0
            while end < len(tokens) and tokens[end].text == '[':
                extents += 1
                end = matching(tokens, end, '[', ']')
            found.setdefault(name, set()).add((kind, levels + extents))
            comma = _find_comma(tokens, end, found) if kind != 'other' else None
            if comma is None:
                break
            end, levels = comma + 1, 0
            while end < len(tokens) and tokens[end].text in ('*', '&', 'const'):
                levels += tokens[end].text == '*'
                end += 1
            if end + 1 >= len(tokens) or tokens[end].kind != 'identifier' or tokens[end + 1].kind == 'identifier' or \
                    tokens[end + 1].text not in (',', ';', '=', '[', ':'):
                break
            name = tokens[end].text
            end += 1
        at = max(end, at + 1)


def _may_declare(tokens, at, words, found):
    """True if `words` before a * or & may be a type. Expressions such as 2 + a * b and (flags & mask) give False."""
    before = tokens[at - 1].text if at else ';'
    return len(words) > 1 or before in _BEFORE_POINTERS and words[0] not in found


def kind_of(words, kinds):
    plain = [w for w in words if w not in QUALIFIERS]
    if len(plain) == 1 and plain[0] in kinds:
        return kinds[plain[0]]
    if plain and (set(plain) <= WORDS or len(plain) == 1 and plain[0] in NAMES):
        return 'integer'
    return 'vector' if len(plain) == 1 and plain[0] in VECTORS else 'other'


def _find_comma(tokens, at, variables):
    """Returns the index of the comma after a declarator; None if the declaration ends with this declarator."""
    while at < len(tokens):
        text = tokens[at].text if tokens[at].kind == 'punctuation' else ''
        if text == ',':
            return at
        if text in (';', ')', '}', ']'):
            return None
        closing = {'(': ')', '[': ']', '{': '}'}.get(text)
        if text == '<' and tokens[at - 1].kind == 'identifier' and tokens[at - 1].text not in variables:
            at = _behind_arguments(tokens, at)
        else:
            at = matching(tokens, at, text, closing) if closing else at + 1
    return None


def _behind_arguments(tokens, at):
    """Returns the index after the template arguments that open at `at`. If the < seems to be a comparison, this is the
    index after the <."""
    near = tokens[at:at + _LONGEST]
    end = next((i for i, t in enumerate(near) if t.text in (';', '{')), len(near))
    behind = matching(near[:end], 0, '<', '>')
    return at + (behind if near[behind - 1].text == '>' else 1)


def takes_integer(parameter, kinds):
    """True if a parameter of a function is an integer. The tokens may lack the parameter's name."""
    texts = [t.text for t in without_attributes(split_at(parameter, '=')[0])]
    is_plain = set(texts).isdisjoint(('*', '&', '&&', '[', '(', '<', '...'))
    return is_plain and 'integer' in (kind_of(texts, kinds), kind_of(texts[:-1], kinds))


def returns_integer(declaration, kinds):
    """True if a function returns an integer. The type of the result stands before the function's name or after an
    arrow."""
    head, at = declaration.head, declaration.function
    behind = matching(head, at + 1, '(', ')')
    arrow = next((i for i in range(behind, len(head)) if head[i].text == '->'), None)
    words = head[behind_template(head):at] if arrow is None else head[arrow + 1:]
    texts = [t.text for t in without_attributes(words) if t.kind != 'string']
    while texts[-1:] == ['::']:     # the name of the function's class
        texts = texts[:-2]
    return kind_of(texts, kinds) == 'integer'


def find_fields(body, is_deep=True):
    """Yields the tokens of each declaration of data in a class, and in the classes within it if `is_deep`."""
    for _, end, member in split_members(body):
        if member.function is None:
            yield [*member.head, *member.tail, body[end - 1]]
            if member.is_class and not member.has('enum') and (is_deep or len(member.head) == 1 and not member.tail):
                yield from find_fields(member.body, is_deep)


def find_initializers(declaration):
    """Returns the tokens of a constructor's initialisers, which follow the colon in its head."""
    head = declaration.head
    behind = matching(head, declaration.function + 1, '(', ')')
    return next((head[i + 1:] for i in range(behind, len(head)) if head[i].text == ':'), [])


def find_constants(tokens):
    """Returns the names of constants and template parameters in the tokens. These names may be template arguments."""
    found = {b.text for at, a in enumerate(tokens) if a.text in ('const', 'constexpr')
             for b, c in zip(tokens[at:at + 6], tokens[at + 1:at + 7]) if c.text in ('=', '{', '[')}
    for at, token in enumerate(tokens):
        if token.text == 'template' and [t.text for t in tokens[at + 1:at + 2]] == ['<']:
            found.update(t.text for t in tokens[at + 2:matching(tokens[:at + _LONGEST], at + 1, '<', '>')])
    return found


def find_changing(tokens, classes):
    """Yields the first token of each operator that is defined in the tokens and may change a number on its left."""
    for at, token in enumerate(tokens):
        end = at + 2 + (_text_at(tokens, at + 1) in ('<', '>'))
        if token.text != 'operator' or _text_at(tokens, at + 1) not in ('<', '>', '/', '%') or \
                _text_at(tokens, end) != '(':
            continue
        parameters = split_at(tokens[end + 1:matching(tokens, end, '(', ')') - 1], ',')
        words = [t.text for t in parameters[0]]
        names = [w for w in words if w not in QUALIFIERS]
        if len(parameters) == 2 and not {'&', '&&'}.isdisjoint(words) and 'const' not in words and \
                names[0] not in classes:
            yield tokens[at + 1].text


def _text_at(tokens, at):
    return tokens[at].text if at < len(tokens) else ''


def find_members(tokens, members, kinds):
    """Returns `members`, which maps a name to kinds, extended by the members of all classes in the tokens."""
    found = members
    for at, token in enumerate(tokens):
        if token.text in ('struct', 'union', 'class'):
            near = range(at + 1, min(at + 8, len(tokens)))
            opening = next((i for i in near if tokens[i].text in ('{', ';', '(')), at)
            if tokens[opening].text == '{':
                found = {name: set(of) for name, of in members.items()} if found is members else found
                read_variables(tokens[opening + 1:matching(tokens, opening, '{', '}') - 1], found, kinds)
    return found
