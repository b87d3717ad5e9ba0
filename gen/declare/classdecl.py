"""Reads the body of a class: its data members, and the declarations within it."""

from declare.declarations import Declaration
from tokens.brackets import ATTRIBUTES, matching, split_at, without_attributes

ACCESS = {'public', 'private', 'protected'}
_KEYS = {'struct', 'class', 'union', 'enum'}
_CLOSING = {'(': ')', '[': ']', '{': '}'}
_ALIGNMENTS = {'alignas', '_Alignas', '__align__', '__builtin_align__'}


class Member:
    """A data member as written."""

    def __init__(self, token, words, stars, extents):
        self.token = token          # its name; None if it has none
        self.words = words          # tokens of its type, with qualifiers
        self.stars = stars          # set of qualifiers of each *, in order
        self.extents = extents      # tokens of each extent
        self.alignments = []        # tokens of each alignment
        self.nested = None          # the Declaration of a class without a name
        self.is_bit_field = self.is_function = self.is_reference = False


class ClassBody:
    """A class body: members, and declarations of types and constants within it."""

    def __init__(self, declaration, name, scope):
        self.members, self.declarations = [], []
        self.doubt = ''             # why C cannot express it
        is_hidden = declaration.head[0].text == 'class'
        for tokens in _split_statements(declaration.body):
            if tokens[0].text in ACCESS and len(tokens) == 1:
                is_hidden = tokens[0].text != 'public'
            elif tokens[0].text in ('friend', 'template', 'static_assert') or _is_function(tokens):
                continue
            elif tokens[0].text in ('typedef', 'using') or 'static' in [t.text for t in tokens[:4]]:
                self.declarations.append(_make_declaration(tokens, scope + (name,)))
            else:
                self._add_members(tokens, scope + (name,))
                if is_hidden and self.members:
                    self.doubt = self.doubt or 'has private members'

    def _add_members(self, tokens, scope):
        plain = without_attributes(tokens)
        nested = None
        if plain and plain[0].text in _KEYS and any(t.text == '{' for t in plain):
            nested = _make_declaration(plain, scope)
            # A class without a name is declared by its member.
            has_name = any(t.kind == 'identifier' for t in nested.head[1:])
            if has_name:
                self.declarations.append(nested)
            if not nested.tail:
                if not has_name and plain[0].text != 'enum':
                    self.members.append(Member(None, [], [], []))
                    self.members[-1].nested = nested
                elif not has_name:
                    self.declarations.append(nested)
                return
            end = len(plain) - len(nested.tail)
            words = [t for t in nested.head if t.text != 'final'][:2] if has_name else []
            declarators = split_at(plain[end:], ',')
        else:
            first, *rest = split_at(plain, ',', '([{<', ')]}>')
            words, declarator = _split_type(first)
            declarators = [declarator] + rest
        for declarator in declarators:
            member = _read_declarator(words, declarator)
            member.alignments = read_alignments(tokens)
            member.nested = nested if not words else None
            self.members.append(member)


def read_alignments(tokens):
    """Returns the tokens of each alignment that attributes ask for."""
    found = []
    for at, token in enumerate(tokens[:-1]):
        is_attribute = token.text == 'aligned' and at > 0 and tokens[at - 1].text in ('(', ',', '_')
        if (token.text in _ALIGNMENTS or is_attribute) and tokens[at + 1].text == '(':
            found.append(tokens[at + 2:matching(tokens, at + 1, '(', ')') - 1])
    return found


def _make_declaration(tokens, scope):
    """Returns the declaration of tokens without a semicolon."""
    at = next((i for i, t in enumerate(tokens) if t.text == '{'), len(tokens))
    if any(t.text == '=' for t in tokens[:at]) or 'static' in [t.text for t in tokens[:4]]:
        at = len(tokens)
    declaration = Declaration(tokens[:at], scope, True)
    if at < len(tokens):
        end = matching(tokens, at, '{', '}')
        declaration.body, declaration.tail = tokens[at + 1:end - 1], tokens[end:]
    return declaration


def _split_statements(tokens):
    """Yields the tokens of each declaration in a class, without its semicolon; a function ends with its body."""
    current, at = [], 0
    while at < len(tokens):
        token = tokens[at]
        if not current and token.text in ACCESS and at + 1 < len(tokens) and tokens[at + 1].text == ':':
            yield [token]
            at += 2
        elif token.text == ';':
            if current:
                yield current
            current, at = [], at + 1
        elif token.kind == 'punctuation' and token.text in _CLOSING:
            end = matching(tokens, at, token.text, _CLOSING[token.text])
            is_body = token.text == '{' and _is_function(current) and not _is_initializer(current)
            current = current + tokens[at:end]
            at = end
            if is_body:
                yield current
                current = []
        else:
            current.append(token)
            at += 1
    if current:
        yield current


def _is_initializer(head):
    """True if a brace after this head opens the value of a member in a constructor."""
    return head[-1].kind == 'identifier' and any(
        a.text == ')' and b.text == ':' or a.text == 'noexcept' and b.text == ':' for a, b in zip(head, head[1:]))


def _is_function(tokens):
    """True if a declaration in a class declares a function, not a pointer to one."""
    at = 0
    while at < len(tokens):
        text = tokens[at].text
        if text == 'operator':
            return True
        if text in ('=', '{', ':'):
            return False
        if text == '[':
            at = matching(tokens, at, '[', ']')
            continue
        if text == '(':
            if at and tokens[at - 1].text in ATTRIBUTES:
                at = matching(tokens, at, '(', ')')
                continue
            return at + 1 >= len(tokens) or tokens[at + 1].text not in ('*', '&')
        at += 1
    return False


def _split_type(tokens):
    """Returns the tokens of a type, and those of the first declarator."""
    at = 0
    while at < len(tokens):
        text = tokens[at].text
        if text == '<' and at:
            at = matching(tokens, at, '<', '>')
            continue
        if tokens[at].kind == 'punctuation' and text != '::':
            break
        at += 1
    if at < len(tokens) and tokens[at].text in ('*', '&', '&&', '('):
        return tokens[:at], tokens[at:]
    return tokens[:max(at - 1, 0)], tokens[max(at - 1, 0):]


def _read_declarator(words, tokens):
    """Reads pointers, a name, extents; initial values are ignored."""
    stars, extents, name, at = [], [], None, 0
    is_bit_field = is_function = is_reference = False
    while at < len(tokens):
        token = tokens[at]
        if token.text == '*':
            stars.append(set())
        elif token.text in ('&', '&&'):
            is_reference = True
        elif token.text in ('const', 'volatile') and stars:
            stars[-1].add(token.text)
        elif token.text == '(':
            is_function = True
            name = next((b for a, b in zip(tokens[at:], tokens[at + 1:]) if a.text == '*' and b.kind == 'identifier'),
                        None)
            break
        elif token.text == '[':
            end = matching(tokens, at, '[', ']')
            extents.append(tokens[at + 1:end - 1])
            at = end
            continue
        elif token.text == ':':
            is_bit_field = True
            break
        elif token.text in ('=', '{'):
            break
        elif token.kind == 'identifier':
            name = token
        at += 1
    member = Member(name, words, stars, extents)
    member.is_bit_field, member.is_function, member.is_reference = is_bit_field, is_function, is_reference
    return member
