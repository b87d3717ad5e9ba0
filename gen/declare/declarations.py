"""Finds where each declaration of a kernel file begins and ends, at file and namespace scope."""

from functools import cached_property

from tokens.brackets import ATTRIBUTES, matching, split_at, without_attributes
from tokens.lexer import Token
from tokens.scan import Pragma

_KEYS = {'struct', 'class', 'union', 'enum', 'final', 'const', 'volatile', 'float', 'double', 'int', 'unsigned',
         'signed', 'char', 'short', 'long', 'bool', 'void'}
# Words that make a function callable on a device.
_DEVICE = frozenset(('__device__', '__global__', 'constexpr', 'consteval'))
# Tokens that may follow the parenthesis behind a variable's name; behind a function's name, a type follows.
_BEGINS_OF_VALUES = {'-', '~', '!', 'true', 'false', 'nullptr', 'sizeof'}


class Declaration:
    """The tokens of one declaration: head (before the braces), body (inside them), and tail (after them, up to the
    semicolon)."""

    def __init__(self, head, scope, is_member):
        self.head, self.scope, self.is_member = head, scope, is_member
        self.body = None
        self.tail = []
        self.last = head[-1]        # last token of the declaration
        self.begin = self.end = 0   # range of the declaration in the file's tokens and pragmas
        self.numbers = frozenset()  # template parameters of a kernel that are numbers of 4 or 8 bytes in all instances
        self.row = ()               # tokens of the row length, if a kernel's flat block is divided into rows
        self.tiles = {}             # variable of a loop over the rows of a tile: the length of a row
        self.openings = ()          # tokens that open the namespaces and linkage blocks around it
        self.function = _function_name(head, is_member)
        self._front = frozenset(t.text for t in head)

    @property
    def name(self):
        """The name of the declared function; None for other declarations."""
        return self.head[self.function].text if self.function is not None else None

    @property
    def parameters(self):
        """The tokens of each parameter of the declared function, which may be a specialisation or an operator."""
        head, at = self.head, self.function + 1
        if self.name == 'operator':     # operator() has two pairs of parentheses
            at = next((i for i in range(at + 1, len(head)) if head[i].text == '('), len(head))
        elif [t.text for t in head[at:at + 1]] == ['<']:
            at = matching(head, at, '<', '>')
        return split_at(head[at + 1:matching(head, at, '(', ')') - 1], ',', '([{<', ')]}>')

    @cached_property
    def names(self):
        """The declared names. All tokens have to be known."""
        return _given_names(self)

    @cached_property
    def is_on_device(self):
        """True for a function that device code can call."""
        return not self._front.isdisjoint(_DEVICE)

    def defines_kernel(self, name):
        """True if the declaration defines a kernel of this name; several declarations may do so."""
        return self.function is not None and self.body is not None and self.name == name and self.has('__global__')

    @property
    def is_class(self):
        """True if the declaration defines a class, a class template or an enumeration, and no variable."""
        head = [t.text for t in self.head[behind_template(self.head):]] or ['']
        return (self.function is None and self.body is not None and
                head[0] in ('struct', 'class', 'union', 'enum', 'typedef') and '=' not in head)

    @property
    def is_directive(self):
        """True for using directives, assertions and namespace aliases, which declare no name or names that any other
        declaration may need."""
        words = [t.text for t in self.head[:2]]
        return self.body is None and self.function is None and (
            words == ['using', 'namespace'] or words[0] in ('namespace', 'static_assert'))

    @property
    def is_instantiation(self):
        """True for an explicit instantiation of a template that is declared elsewhere."""
        return _is_instantiation(self.head)

    def has(self, word):
        """True if a word appears before the braces."""
        return word in self._front

    @cached_property
    def last_return(self):
        """The token of a `return;` that ends a function's body and is no part of another statement, or None."""
        before, word, semicolon = ([None] * 3 + (self.body or []))[-3:]
        is_last = word is not None and word.text == 'return' and semicolon.text == ';'
        return word if is_last and (before is None or before.text in (';', '{', '}', ':')) else None

    @cached_property
    def words(self):
        """The texts of all tokens, which have to be known."""
        return self._front.union((t.text for t in self.body or ()), (t.text for t in self.tail))


def list_heads(kernel, arguments, declarations):
    """Returns the heads of all declarations of a kernel and of its specialisations, in order, with template parameters
    renamed to those of the kernel. `arguments`: the texts of its template arguments. Overloads are told apart by the
    texts of their parameters."""
    same = [d for d in declarations if d.function is not None and d.name == kernel.name and d.has('__global__') and
            (d.scope, d.has('template'), len(d.parameters)) ==
            (kernel.scope, kernel.has('template'), len(kernel.parameters))]
    if sum(d.body is not None for d in same) > 1:
        types = _spell_types(kernel, arguments)
        same = [d for d in same if d is kernel or
                not any(a.isdisjoint(b) for a, b in zip(types, _spell_types(d, arguments)))]
    names = _template_names(kernel.head)
    return [_rename(d.head, dict(zip(_template_names(d.head), names))) for d in same]


def _template_names(head):
    """Returns the names of a template's parameters, '' for a parameter without a name."""
    if not behind_template(head):
        return []
    inside = [split_at(p, '=')[0] for p in split_at(head[2:behind_template(head) - 1], ',', '([{<', ')]}>')]
    return [part[-1].text if len(part) > 1 and part[-1].text not in _KEYS else '' for part in inside]


def _rename(tokens, names):
    """Returns tokens in which identifiers are renamed."""
    return [Token(t.kind, names[t.text], t.file, t.line, t.column) if names.get(t.text, t.text) != t.text else t
            for t in tokens]


def _spell_types(declaration, arguments):
    """Returns the possible texts of each parameter's type: the parameter's last word may be its name or a part of the
    type."""
    values = dict(zip(_template_names(declaration.head), arguments))
    found = []
    for tokens in declaration.parameters:
        tokens = [t for t in without_attributes(split_at(tokens, '=')[0])
                  if t.text not in ('const', 'struct', 'class', 'union', 'enum', 'typename')]
        extent = next((i for i, t in enumerate(tokens) if t.text == '['), len(tokens))
        words = [values.get(t.text, t.text) for t in tokens[:extent]]
        star = ['*'] * (extent < len(tokens))
        found.append({' '.join(words + star)})
        if words and tokens[extent - 1].kind == 'identifier':
            found[-1].add(' '.join(words[:-1] + star))
    return found


def behind_template(head):
    """Returns the index after one or more template<...>."""
    at = 0
    while at + 1 < len(head) and head[at].text == 'template' and head[at + 1].text == '<':
        at = matching(head, at + 1, '<', '>')
    return at


def _is_instantiation(head):
    words = [t.text for t in head[:3]]
    words = words[1:] if words[0] == 'extern' else words
    return words[:1] == ['template'] and words[1:2] != ['<']


def _function_name(head, is_member):
    """Returns the index of the function's name in a head; None if the head declares no function. A constructor has no
    type, so the first word of a member may be the name."""
    at = start = behind_template(head)
    if at < len(head) and head[at].text in ('typedef', 'using') or _is_instantiation(head):
        return None
    while at < len(head):
        token = head[at]
        if token.kind == 'punctuation' and token.text in ('=', ':', '{'):       # a value, or the width of a bit-field
            return None
        if token.text == '[' and token.kind == 'punctuation':       # an attribute, or an extent
            at = matching(head, at, '[', ']')
            continue
        if token.kind == 'identifier' and at + 1 < len(head) and head[at + 1].text == '(':
            if token.text in ATTRIBUTES:
                at = matching(head, at + 1, '(', ')')
                continue
            inside = head[at + 2] if at + 2 < len(head) else token
            if inside.text in ('*', '&'):       # a pointer to a function, or a function that returns one
                at += 2
                continue
            is_value = inside.kind in ('number', 'string') or inside.text in _BEGINS_OF_VALUES
            end = matching(head, at + 1, '(', ')')      # in int (S::*member)(int), a second parenthesis follows
            can_be = at > start or is_member and [t.text for t in head[end:end + 1]] != ['(']
            return at if can_be and not is_value else None
        if token.text == 'operator':
            return at
        if token.kind == 'identifier' and at + 1 < len(head) and head[at + 1].text == '<':
            behind = matching(head, at + 1, '<', '>')       # template arguments of the return type or of the function
            if at > start and _is_parameters(head, behind):
                return at
            at = behind
            continue
        at += 1
    return None


def _is_parameters(head, at):
    """True if the parenthesis opens a function's parameters and no declarator of a pointer or reference."""
    return [t.text for t in head[at:at + 1]] == ['('] and not {t.text for t in head[at + 1:at + 2]} & {'*', '&', '&&'}


def _given_names(declaration):
    if declaration.function is not None:
        return [declaration.name]
    template = behind_template(declaration.head)
    # Attributes may appear before the name, after it, and between specifiers.
    head = without_attributes(declaration.head[template:])
    if not head:
        return []
    first = head[0].text
    if first == 'using':
        if any(t.text == '=' for t in head):
            return [t.text for t in head[1:2]]
        return [t.text for part in split_at(head, ',') for t in part[-1:]]     # using a::b, c::d
    found = [t.text for t in declaration.tail if t.kind == 'identifier']
    if first in ('typedef', 'struct', 'class', 'union', 'enum'):
        head = split_at(head, ':')[0]       # without the bases
        found += [t.text for t in head[1:] if t.kind == 'identifier'][:4] + [t.text for t in head[-1:]]
        if 'enum' in [t.text for t in head[:2]]:
            found += [t.text for t in declaration.body or () if t.kind == 'identifier']
        return [n for n in found if n not in _KEYS]
    # The declaration is one of variables: a name stands before the extents or the value.
    own = {t.text for t in declaration.head[:template]}
    for part in split_at(_without_arguments(head), ','):
        end = next((i for i, t in enumerate(part) if t.text in ('=', '[') or _opens_value(part[i:])), len(part))
        identifiers = [t.text for t in part[:end] if t.kind == 'identifier']
        found += identifiers[-1:]
        if template:        # the last name may be a template argument of a member's class
            found += [name for name in identifiers if name not in own]
        if any(t.text == '(' for t in part[:end]):      # a pointer to functions
            found += [b.text for a, b in zip(part, part[1:]) if a.text == '*' and b.kind == 'identifier']
    return found


def _without_arguments(head):
    """Returns a variable's tokens without template arguments before its value: std::map<int, int> has a comma."""
    end = next((i for i, t in enumerate(head) if t.text == '='), len(head))
    found, depth = [], 0
    for token in head[:end]:
        depth += token.text == '<'
        if depth == 0:
            found.append(token)
        depth -= token.text.count('>') if depth else 0
    return (found if depth <= 0 else head[:end]) + head[end:]


def _opens_value(tokens):
    """True if the parenthesis opens a variable's value and no declarator of a pointer."""
    return tokens[0].text == '(' and len(tokens) > 1 and tokens[1].text not in ('*', '&')


def find_declarations(items):
    """Yields pragmas and declarations in order from a file's tokens and pragmas. Members of classes are not yielded,
    but a pragma among them is, with the class as its place."""
    at, begin, scopes, openings, head, depth = 0, 0, [], [], [], 0

    def place(declaration, end):
        declaration.begin, declaration.end, declaration.openings = begin, end, tuple(openings)
        return declaration

    while at < len(items):
        item = items[at]
        if isinstance(item, Pragma):
            if head and behind_template(head) < len(head):      # otherwise the pragma follows a template's parameters
                yield place(Declaration(head, _join_scopes(scopes), False), at)
                head, depth = [], 0
            yield item
            at += 1
            continue
        text = item.text if item.kind != 'string' else ''
        if item.kind == 'end':
            if head:
                yield place(Declaration(head, _join_scopes(scopes), False), at)
            return
        if not head:
            after = _open_scope(items, at, scopes)
            if after:
                openings.append(tuple(items[at:after]))
                at = after
                continue
            if text in ('}', ';'):
                if text == '}':
                    del scopes[-1:], openings[-1:]
                at += 1
                continue
            begin = at
        if text in ('(', '['):
            depth += 1
        elif text in (')', ']'):
            depth -= 1
        elif text == ';' and depth <= 0:
            declaration = Declaration(head, _join_scopes(scopes), False)
            declaration.last = item
            at += 1
            yield place(declaration, at)
            head, depth = [], 0
            continue
        elif text == '{' and depth <= 0 and is_value_brace(head, False):
            inside, after = _skip_braces(items, at)
            head += [t for t in [item, *inside, items[after - 1]] if isinstance(t, Token)]
            at = after
            continue
        elif text == '{' and depth <= 0:
            declaration = Declaration(head or [item], _join_scopes(scopes), False)
            body, at = _read_body(items, at, declaration, bool(head))
            yield place(declaration, at)
            yield from _members_with_pragmas(body, declaration)
            head, depth = [], 0
            continue
        head.append(item)
        at += 1


def is_value_brace(head, is_member):
    """True if a brace after this head opens the value of a template parameter or of a member in a constructor."""
    if [t.text for t in head[:2]] == ['template', '<'] and _is_open(head):
        return True
    if not head or not (head[-1].kind == 'identifier' or head[-1].text == '>'):
        return False
    function = _function_name(head, is_member)
    if function is None or head[function].text == 'operator':
        return False
    end = matching(head, function + 1, '(', ')')
    return any(t.text == ':' for t in head[end:])


def _is_open(head):
    """True if a template's list of parameters is still open at the end of this head."""
    return matching(head + [Token('punctuation', '>', '', 0, 0)], 1, '<', '>') > len(head)


def _open_scope(items, at, scopes):
    """Enters a namespace or a linkage block, if one begins, and returns the index after its brace; else returns 0."""
    def item_at(ahead):
        return items[min(at + ahead, len(items) - 1)]

    def text(ahead):
        return None if isinstance(item_at(ahead), Pragma) else item_at(ahead).text

    is_linkage = not isinstance(items[at + 1], Pragma) and items[at + 1].kind == 'string' and text(2) == '{'
    if items[at].text == 'extern' and is_linkage:
        scopes.append('::')         # a linkage block has no name
        return at + 3
    # Names in an inline namespace belong to the enclosing namespace.
    is_inline = items[at].text == 'inline' and text(1) == 'namespace'
    ahead = 1 if is_inline else 0
    if text(ahead) != 'namespace' or items[at].kind != 'identifier':
        return 0
    ahead += 1
    names, depth = '', 0
    while depth or text(ahead) in ('::', '[') or text(ahead) is not None and item_at(ahead).kind == 'identifier':
        if text(ahead) in ('[', '('):
            depth += 1
        elif text(ahead) in (']', ')'):
            depth -= 1
        elif text(ahead) is None or item_at(ahead).kind == 'end':
            return 0
        elif text(ahead) in ATTRIBUTES and text(ahead + 1) == '(':
            depth, ahead = 1, ahead + 1
        elif depth == 0 and text(ahead) != 'inline':
            names += text(ahead)
        ahead += 1
    if text(ahead) != '{':
        return 0
    scopes.append('::' if is_inline else names)
    return at + ahead + 1


def _join_scopes(scopes):
    return tuple(part for s in scopes if s != '::' for part in (s.split('::') if s else ('',)))


def _skip_braces(items, at):
    """Returns the items between braces and the index after them."""
    depth, start = 0, at + 1
    while at < len(items):
        item = items[at]
        if not isinstance(item, Pragma):
            if item.kind == 'end':
                return items[start:at], at
            if item.kind == 'punctuation':
                if item.text == '{':
                    depth += 1
                elif item.text == '}':
                    depth -= 1
                    if depth == 0:
                        return items[start:at], at + 1
        at += 1
    return items[start:at], at


def _read_body(items, at, declaration, has_head):
    """Reads the braces of a declaration and what follows them. Returns the items between the braces and the index
    after the declaration."""
    opening = items[at]
    body, at = _skip_braces(items, at)
    declaration.body = [t for t in body if isinstance(t, Token)]
    declaration.last = items[at - 1] if isinstance(items[at - 1], Token) else opening
    return body, _read_tail(items, at, declaration) if has_head and declaration.function is None else at


def _read_tail(items, at, declaration):
    """Reads the declarators after a class or an initializer up to the semicolon."""
    while at < len(items) and isinstance(items[at], Token) and items[at].kind != 'end':
        declaration.last = items[at]
        at += 1
        if declaration.last.text == ';':
            break
        if declaration.last.text == '{':
            _, at = _skip_braces(items, at - 1)
            declaration.last = items[at - 1] if isinstance(items[at - 1], Token) else declaration.last
            continue
        declaration.tail.append(declaration.last)
    return at


def _members_with_pragmas(body, outer):
    """Yields pragmas inside braces, each with the following member, so that the error about it names its place."""
    for number, item in enumerate(body):
        if isinstance(item, Pragma):
            yield item
            rest = []
            for token in body[number + 1:]:
                if isinstance(token, Pragma) or token.text in ('{', ';'):
                    break
                rest.append(token)
            if rest:
                yield Declaration(rest, outer.scope, True)
