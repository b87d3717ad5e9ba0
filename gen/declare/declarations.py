"""A kernel file's declarations at file and namespace scope: finds where each begins and ends."""

from functools import cached_property

from tokens.brackets import ATTRIBUTES, matching, split_at, without_attributes
from tokens.lexer import Token
from tokens.scan import Pragma

_KEYS = {'struct', 'class', 'union', 'enum', 'final', 'const', 'volatile', 'float', 'double', 'int', 'unsigned',
         'signed', 'char', 'short', 'long', 'bool', 'void'}
# Behind a variable's name and a parenthesis; behind a function's stand types.
_BEGINS_OF_VALUES = {'-', '~', '!', 'true', 'false', 'nullptr', 'sizeof'}


class Declaration:
    """Tokens of one declaration: what stands in front of its braces, in them, and behind them up to the semicolon."""

    def __init__(self, head, scope, is_member):
        self.head, self.scope, self.is_member = head, scope, is_member
        self.body = None
        self.tail = []
        self.last = head[-1]        # the last token of all
        self.function = _function_name(head)
        self._front = frozenset(t.text for t in head)

    @property
    def name(self):
        """The name of a function; None where it declares none."""
        return self.head[self.function].text if self.function is not None else None

    @cached_property
    def names(self):
        """The names that it gives, once it has all of its tokens."""
        return _given_names(self)

    def defines_kernel(self, name):
        """Whether it is the definition of a kernel of a name, of which there may be several."""
        return self.function is not None and self.body is not None and self.name == name and self.has('__global__')

    @property
    def is_class(self):
        """Whether it defines a class or an enumeration, perhaps a template, and no variable with it."""
        first = next((t.text for t in self.head[behind_template(self.head):]), '')
        return (self.function is None and self.body is not None and
                first in ('struct', 'class', 'union', 'enum', 'typedef') and '=' not in [t.text for t in self.head])

    @property
    def is_directive(self):
        """Whether it gives no name that could be reached, or one that all else may need: using directives, assertions,
        namespace aliases."""
        words = [t.text for t in self.head[:2]]
        return self.body is None and self.function is None and (
            words == ['using', 'namespace'] or words[0] in ('namespace', 'static_assert'))

    @property
    def is_instantiation(self):
        """Whether it instantiates a template explicitly: what it names is declared elsewhere."""
        return _is_instantiation(self.head)

    def has(self, word):
        """Whether a word stands in front of its braces."""
        return word in self._front

    @cached_property
    def last_return(self):
        """The `return` of a `return;` that ends a function's body; None where it is a part of another statement."""
        before, word, semicolon = ([None] * 3 + (self.body or []))[-3:]
        is_last = word is not None and word.text == 'return' and semicolon.text == ';'
        return word if is_last and (before is None or before.text in (';', '{', '}', ':')) else None

    @cached_property
    def words(self):
        """The texts of its tokens, once it has all of them."""
        return self._front.union((t.text for t in self.body or ()), (t.text for t in self.tail))


def behind_template(head):
    """The index behind template<...>, or several."""
    at = 0
    while at + 1 < len(head) and head[at].text == 'template' and head[at + 1].text == '<':
        at = matching(head, at + 1, '<', '>')
    return at


def _is_instantiation(head):
    words = [t.text for t in head[:3]]
    words = words[1:] if words[0] == 'extern' else words
    return words[:1] == ['template'] and words[1:2] != ['<']


def _function_name(head):
    """The index of a function's name in the front of its declaration; None where it declares none."""
    at = start = behind_template(head)
    if at < len(head) and head[at].text in ('typedef', 'using') or _is_instantiation(head):
        return None
    while at < len(head):
        token = head[at]
        if token.kind == 'punctuation' and token.text in '=':
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
            return at if at > start and not is_value else None
        if token.text == 'operator':
            return at
        if token.kind == 'identifier' and at + 1 < len(head) and head[at + 1].text == '<':
            behind = matching(head, at + 1, '<', '>')       # arguments of the function's type, or its own
            if at > start and _is_parameters(head, behind):
                return at
            at = behind
            continue
        at += 1
    return None


def _is_parameters(head, at):
    """Whether a function's parameters stand there, and not a pointer's or a reference's declarator."""
    return [t.text for t in head[at:at + 1]] == ['('] and not {t.text for t in head[at + 1:at + 2]} & {'*', '&', '&&'}


def _given_names(declaration):
    if declaration.function is not None:
        return [declaration.name]
    template = behind_template(declaration.head)
    # Attributes may stand in front of the name, behind it, and between specifiers.
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
        found += [t.text for t in head[1:] if t.kind == 'identifier'][:4] + [t.text for t in head[-1:]]
        if 'enum' in [t.text for t in head[:2]]:
            found += [t.text for t in declaration.body or () if t.kind == 'identifier']
        return [n for n in found if n not in _KEYS]
    # A variable: what stands in front of its extents or its value.
    own = {t.text for t in declaration.head[:template]}
    for part in split_at(head, ','):
        end = next((i for i, t in enumerate(part) if t.text in ('=', '[') or _opens_value(part[i:])), len(part))
        identifiers = [t.text for t in part[:end] if t.kind == 'identifier']
        found += identifiers[-1:]
        if template:        # the last one may be an argument of the class whose member it is
            found += [name for name in identifiers if name not in own]
        if any(t.text == '(' for t in part[:end]):      # of a pointer to functions
            found += [b.text for a, b in zip(part, part[1:]) if a.text == '*' and b.kind == 'identifier']
    return found


def _opens_value(tokens):
    """Whether a variable's value stands there in parentheses, and not a pointer's declarator."""
    return tokens[0].text == '(' and len(tokens) > 1 and tokens[1].text not in ('*', '&')


def find_declarations(items):
    """Pragmas and declarations of a file, in order, from its tokens and pragmas. What stands inside of classes is no
    declaration of its own, but a pragma there is given with the class as its place."""
    at, scopes, head, depth = 0, [], [], 0
    while at < len(items):
        item = items[at]
        if isinstance(item, Pragma):
            if head and behind_template(head) < len(head):      # else it stands behind a template's parameters
                yield Declaration(head, _scope(scopes), False)
                head, depth = [], 0
            yield item
            at += 1
            continue
        text = item.text if item.kind != 'string' else ''
        if item.kind == 'end':
            if head:
                yield Declaration(head, _scope(scopes), False)
            return
        if not head:
            after = _open_scope(items, at, scopes)
            if after:
                at = after
                continue
            if text in ('}', ';'):
                if text == '}' and scopes:
                    scopes.pop()
                at += 1
                continue
        if text in ('(', '['):
            depth += 1
        elif text in (')', ']'):
            depth -= 1
        elif text == ';' and depth <= 0:
            declaration = Declaration(head, _scope(scopes), False)
            declaration.last = item
            yield declaration
            head, depth = [], 0
            at += 1
            continue
        elif text == '{' and depth <= 0 and _is_value(head):
            inside, after = _braces(items, at)
            head += [t for t in [item, *inside, items[after - 1]] if isinstance(t, Token)]
            at = after
            continue
        elif text == '{' and depth <= 0:
            declaration = Declaration(head or [item], _scope(scopes), False)
            body, at = _braces(items, at)
            declaration.body = [t for t in body if isinstance(t, Token)]
            declaration.last = items[at - 1] if isinstance(items[at - 1], Token) else item
            if head and declaration.function is None:
                at = _tail(items, at, declaration)
            yield declaration
            for member in _members_with_pragmas(body, declaration):
                yield member
            head, depth = [], 0
            continue
        head.append(item)
        at += 1


def _is_value(head):
    """Whether a brace behind this opens a value: of a template's parameter, or of a member in a constructor."""
    if [t.text for t in head[:2]] == ['template', '<'] and _is_open(head):
        return True
    if not head or not (head[-1].kind == 'identifier' or head[-1].text == '>'):
        return False
    function = _function_name(head)
    if function is None or head[function].text == 'operator':
        return False
    end = matching(head, function + 1, '(', ')')
    return any(t.text == ':' for t in head[end:])


def _is_open(head):
    """Whether a template's parameters go on behind this."""
    return matching(head + [Token('punctuation', '>', '', 0, 0)], 1, '<', '>') > len(head)


def _open_scope(items, at, scopes):
    """Enters a namespace or a linkage block; the index behind its brace, or 0."""
    def item_at(ahead):
        return items[min(at + ahead, len(items) - 1)]

    def text(ahead):
        return None if isinstance(item_at(ahead), Pragma) else item_at(ahead).text

    is_linkage = not isinstance(items[at + 1], Pragma) and items[at + 1].kind == 'string' and text(2) == '{'
    if items[at].text == 'extern' and is_linkage:
        scopes.append('::')         # a linkage block names no scope
        return at + 3
    # The names in an inline namespace are those of the namespace around it.
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


def _scope(scopes):
    return tuple(part for s in scopes if s != '::' for part in (s.split('::') if s else ('',)))


def _braces(items, at):
    """What stands between braces, and the index behind them."""
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


def _tail(items, at, declaration):
    """Behind a class or an initializer: declarators, up to the semicolon."""
    while at < len(items) and isinstance(items[at], Token) and items[at].kind != 'end':
        declaration.last = items[at]
        at += 1
        if declaration.last.text == ';':
            break
        if declaration.last.text == '{':
            _, at = _braces(items, at - 1)
            declaration.last = items[at - 1] if isinstance(items[at - 1], Token) else declaration.last
            continue
        declaration.tail.append(declaration.last)
    return at


def _members_with_pragmas(body, outer):
    """Pragmas inside braces, each with the declaration behind it, so that they can be refused at their places."""
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
