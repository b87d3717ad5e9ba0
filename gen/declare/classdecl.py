"""Reads the body of a class: its data members, and the declarations within it."""

from declare.declarations import Declaration, is_value_brace
from tokens.brackets import matching, split_at, without_attributes

_ACCESS = {'public', 'private', 'protected'}
_KEYS = {'struct', 'class', 'union', 'enum'}
_CLOSING = {'(': ')', '[': ']', '{': '}'}
_ALIGNMENTS = {'alignas', '_Alignas', '__align__', '__builtin_align__'}


class Member:
    """A data member as the source spells it."""

    def __init__(self, token, words, stars, extents):
        self.token = token          # token of its name; None if it has none
        self.words = words          # tokens of its type, including qualifiers
        self.stars = stars          # set of qualifiers of each *, in order
        self.extents = extents      # tokens of each extent
        self.alignments = []        # tokens of each alignment
        self.nested = None          # Declaration of the member's class, if that has no name
        self.is_bit_field = self.is_function = self.is_reference = False


class ClassBody:
    """A class body: its members, and its declarations of types and constants."""

    def __init__(self, declaration, name, scope):
        self.members, self.declarations = [], []
        self.doubt = ''             # the reason why C cannot express the class
        is_hidden = declaration.head[0].text == 'class'
        for first, end, member in split_members(declaration.body):
            tokens = declaration.body[first:end - (declaration.body[end - 1].text == ';')]
            if tokens[0].text in _ACCESS and len(member.head) == 1:
                is_hidden = tokens[0].text != 'public'
            elif tokens[0].text in ('friend', 'template', 'static_assert') or member.function is not None:
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
            # A class without a name is declared together with its member.
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
    """Returns the Declaration for tokens that lack the semicolon."""
    at = next((i for i, t in enumerate(tokens) if t.text == '{'), len(tokens))
    if any(t.text == '=' for t in tokens[:at]) or 'static' in [t.text for t in tokens[:4]]:
        at = len(tokens)
    declaration = Declaration(tokens[:at] or tokens[:1], scope, True)
    if at < len(tokens):
        end = matching(tokens, at, '{', '}')
        declaration.body, declaration.tail = tokens[at + 1:end - 1], tokens[end:]
    return declaration


def split_members(body):
    """Yields each member of a class's body as (index of its first token, index after its last, its Declaration). The
    Declaration of a function includes its body; access specifiers are members, too."""
    first = at = 0
    while at < len(body):
        text = body[at].text if body[at].kind == 'punctuation' else ''
        end = matching(body, at, text, _CLOSING[text]) if text in _CLOSING else at + 1
        member = None
        if text == '{' and not is_value_brace(body[first:at], True):
            member = Declaration(body[first:at] or [body[at]], (), True)
            member.body = body[at + 1:end - 1]
            member = member if member.function is not None else None
        elif text == ':' and at == first + 1 and body[first].text in _ACCESS:
            member = Declaration([body[first]], (), True)
        elif text == ';' and at > first:
            member = _make_declaration(body[first:at], ())
        if member:
            yield first, end, member
        if member or text == ';':
            first = end
        at = end
    if first < len(body):
        yield first, len(body), _make_declaration(body[first:], ())


def _split_type(tokens):
    """Returns the tokens of the type and the tokens of the first declarator."""
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
