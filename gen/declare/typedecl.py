"""Reads types and integer constants from a kernel file's declarations."""

from base.model import CType
from expr.compile import compile_expr
from expr.cxxtypes import pointer, Types
from expr.evaluate import evaluate_exact
from expr.names import Names
from expr.tree import parse_expr, read_type_words
from tokens.brackets import ATTRIBUTES, matching, SPECIFIERS, split_at
from tokens.cursor import Cursor
from tokens.lexer import Token, TokenError

CLASSES = {'struct', 'class', 'union'}

# A member whose type only the C compiler knows.
_UNKNOWN = CType('', '', '', '', '', 'integer')
_UNKNOWN_STRUCT = CType('', '', '', '', '', 'struct')


class Declared:
    """The types and constants of a file, and the headers that declare the types."""

    def __init__(self, path):
        self.path = path                # path of the kernel file
        self.types = Types()
        self.headers = {}               # C name of a struct or an enum: the header that declares it

    def add(self, declaration):
        """Adds the types and constants of a declaration; ignores declarations that it cannot read."""
        head = declaration.head
        words = [t.text for t in head[:3]]
        try:
            if words[:2] == ['using', 'namespace']:
                self.types.use(''.join(t.text for t in head[2:]))
                return
            if words[0] == 'typedef':
                self._read_typedef(declaration)
            elif words[0] == 'using' and len(head) > 3 and head[2].text == '=':
                self._read_alias(declaration, head[1].text, head[3:])
            elif words[0] in CLASSES or words[0] == 'enum':
                self._read_tagged(declaration, head, None)
            elif declaration.function is None and any(w in ('const', 'constexpr') for w in [t.text for t in head[:6]]):
                self._read_constants(declaration)
        except TokenError:
            pass                        # each use of it is refused, with the facts known then

    def _find_visible(self, declaration, ctype, name):
        """Returns a struct or an enum as C sees it, or the reason why C does not see it."""
        where = declaration.head[0].file
        if where == self.path:
            return (f'{name} is declared in this file, which C programs do not include; move it into a header and '
                    'write include("that header")')
        if declaration.scope:
            return f'{name} is in a namespace, which C does not have; declare it outside of all namespaces'
        self.headers[ctype.c] = where
        return ctype

    def _read_typedef(self, declaration):
        head = declaration.head
        if declaration.body is not None:
            names = [t.text for t in declaration.tail if t.kind == 'identifier']
            if names:
                is_pointer = any(t.text == '*' for t in declaration.tail)
                self._read_tagged(declaration, head[1:], None if is_pointer else names[-1])
            return
        if any(t.text == ',' for t in head) and not any(t.text == '(' for t in head):
            first, *others = split_at(head, ',')
            self._typedef_of(declaration, first)
            base = [t for t in first[:-1] if t.kind == 'identifier' or t.text == '::']
            for other in others:
                self._typedef_of(declaration, base + other)
            return
        self._typedef_of(declaration, head)

    def _typedef_of(self, declaration, head):
        """Reads `typedef`, words of a type, a declarator."""
        scope, name = declaration.scope, head[-1]
        if name.kind != 'identifier' or any(t.text in '(*&[' for t in head if t.kind == 'punctuation'):
            # (*name)(...) declares a pointer to a function or an array; otherwise the name comes last.
            inner = [b for a, b in zip(head, head[1:]) if a.text in '*&' and b.kind == 'identifier']
            plain = [t for t in head if t.kind == 'identifier']
            name = inner[0] if inner and head[-1].kind != 'identifier' else plain[-1]
            self.types.declare(scope, name.text, f'{name.text} hides a pointer or an array behind its name; write the '
                                                 '* or [] in the kernel')
            return
        self._read_alias(declaration, name.text, head[1:-1])

    def _read_alias(self, declaration, name, tokens):
        if any(t.text in '*&[(' for t in tokens if t.kind == 'punctuation'):
            self.types.declare(declaration.scope, name, f'{name} hides a pointer or a reference behind its name; '
                                                        'write the * in the kernel')
            return
        cursor = Cursor(list(tokens) + [Token('end', '', '', 0, 0)])
        words = [w for w in read_type_words(cursor) if w not in SPECIFIERS | {'const', 'volatile'}]
        found_type = self.types.find(declaration.scope, words)
        if found_type is not None and cursor.token.kind == 'end':
            self.types.declare(declaration.scope, name, found_type)

    def _read_tagged(self, declaration, head, alias):
        """Reads a struct, union, class or enum, with the name of its typedef if there is one."""
        kind = head[0].text
        names = [t for t in head[1:] if t.kind == 'identifier' and t.text not in ATTRIBUTES and t.text != 'final']
        is_scoped = kind == 'enum' and bool(names) and names[0].text in ('class', 'struct')
        base = next((i for i, t in enumerate(head) if t.text == ':'), None)
        before = [t for t in (head if base is None else head[:base])]
        tags = [t.text for n, t in enumerate(before) if n and t.kind == 'identifier' and t.text not in ATTRIBUTES and
                t.text not in ('class', 'struct', 'final') and before[n - 1].text not in ('(', ',')]
        tag = tags[-1] if tags else None
        name = alias or tag
        if name is None:
            if kind == 'enum' and declaration.body is not None:
                self._read_enumerators(declaration)
            return
        if declaration.body is None:
            return
        c = alias or f'{kind if kind != "class" else "struct"} {tag}'
        cxx = alias or tag
        if kind == 'enum':
            ctype = self._read_enum(declaration, c, cxx, name, is_scoped, base is not None)
        else:
            ctype = self._read_class(declaration, c, cxx, name, kind, base is not None)
        for declared in {name, tag} - {None}:
            self.types.declare(declaration.scope, declared, ctype)

    def _read_enum(self, declaration, c, cxx, name, is_scoped, has_base):
        negative = self._read_enumerators(declaration, name if is_scoped else None, name)
        if is_scoped:
            return f'{name} is an enum class, which C does not have; declare a plain enum, or take an integer'
        if has_base:
            return f'{name} has a fixed underlying type, which C has only since C23; leave it out, or take an integer'
        # Usually right; attributes and large values change the size, which the C compiler checks.
        base, key = ('int', 'i32') if negative else ('unsigned int', 'u32')
        ctype = CType(c, cxx, base, f'CF_INTEGER_TYPE({c})', key, 'enum')
        return self._find_visible(declaration, ctype, name)

    def _read_enumerators(self, declaration, scoped=None, tag=None):
        """Adds the values and returns True if any is negative."""
        value, negative = -1, False
        scope = declaration.scope + ((scoped,) if scoped else ())
        for tokens in split_at(declaration.body, ','):
            if not tokens:
                continue
            value = value + 1 if value is not None else None
            if len(tokens) > 2 and tokens[1].text == '=':
                value = self.evaluate(tokens[2:], scope)
            self.types.declare_constant(scope, tokens[0].text, value)
            if tag is not None and scoped is None:
                self.types.declare_constant(scope + (tag,), tokens[0].text, value)
            negative |= value is not None and value < 0
        return negative

    def _read_class(self, declaration, c, cxx, name, kind, has_base):
        texts = [t.text for t in declaration.body]
        if 'virtual' in texts:
            return f'{name} has virtual functions, so it is not trivially copyable; pass a plain struct'
        for at in range(len(texts) - 2):
            if texts[at] == '~' and texts[at + 1] == name and texts[at + 2] == '(':
                return f'{name} has a destructor, so it is not trivially copyable; pass a plain struct'
        for at in range(len(texts) - 3):
            is_constructor = texts[at] == name and texts[at + 1] == '('
            if is_constructor and name in texts[at + 2:at + 4] and '&' in texts[at + 3:at + 6]:
                return f'{name} has a copy constructor, so it is not trivially copyable; pass a plain struct'
        if has_base:
            return f'{name} has a base class, which C does not have; pass a plain struct'
        members = self._read_members(declaration)
        ctype = CType(c, cxx, c, 'CF_OPAQUE', name, 'struct', None, None, 1, members)
        return self._find_visible(declaration, ctype, name)

    def _read_members(self, declaration):
        """Returns the members of a plain struct by name; None if any cannot be read."""
        members = {}
        for tokens in split_at(declaration.body, ';'):
            if not tokens:
                continue
            punctuation = [t.text for t in tokens if t.kind == 'punctuation']
            if '{' in punctuation:      # a nested struct needs a name for its members to be told apart
                end = max((i for i, t in enumerate(tokens) if t.text == '}'), default=len(tokens))
                name = _declared_name(tokens[end + 1:])
                if name is None and tokens[0].text != 'enum':
                    return None
                if name is not None:
                    members[name] = _UNKNOWN if tokens[0].text == 'enum' else _UNKNOWN_STRUCT
                continue
            if '(' in punctuation:      # a pointer to a function, or a function
                inner = [b.text for a, b in zip(tokens, tokens[1:]) if a.text == '*' and b.kind == 'identifier']
                members.update({name: pointer('void *', 'void *') for name in inner[:1]})
                continue
            declarators = split_at(tokens, ',')
            words = [t for t in declarators[0] if t.text not in SPECIFIERS | CLASSES | {'const', 'volatile', 'enum'}]
            end = next((i for i, t in enumerate(words) if t.kind == 'punctuation' and t.text in '*[:'), len(words))
            if end == len(words) or words[end].text != '*':
                end -= 1            # the name
            base = self.types.find(declaration.scope, read_type_words(Cursor(
                words[:end] + [Token('end', '', '', 0, 0)]))) if end > 0 else None
            for declarator in declarators:
                name = _declared_name(declarator)
                if name is None:
                    return None
                member = base if isinstance(base, CType) else _UNKNOWN
                if any(t.text == '*' for t in declarator):
                    member = pointer('void *', 'void *')
                members[name] = self._shape_member(declarator, member, declaration.scope)
        return members or None

    def _shape_member(self, declarator, member, scope):
        """Returns a member's type with its extents or the width of its bit-field."""
        if any(t.text == ':' for t in declarator):
            return CType('', '', '', '', '', 'bit-field')
        at = next((i for i, t in enumerate(declarator) if t.text == '['), None)
        extents = []
        while at is not None and at < len(declarator) and declarator[at].text == '[':
            end = matching(declarator, at, '[', ']')
            extents.append(self.evaluate(declarator[at + 1:end - 1], scope))
            at = end
        for extent in reversed(extents):
            member = CType('', '', '', '', '', 'array', extent, members={'[]': member})
        return member

    def evaluate(self, tokens, scope):
        """Evaluates an integer constant expression; None if the generator cannot."""
        try:
            cursor = Cursor(list(tokens) + [Token('end', '', '', 0, 0)])
            tree = parse_expr(cursor)
            if cursor.token.kind != 'end':
                return None
            names = Names([], {}, {}, self.types, scope)
            return evaluate_exact(compile_expr(tree, '', names))
        except TokenError:
            return None

    def _read_constants(self, declaration):
        """Reads `constexpr int N = 4, M = 2 * N;`. Compilers check the values that are used: see emit/proofs.py."""
        is_integer = None
        for tokens in split_at(declaration.head, ','):
            at = next((i for i, t in enumerate(tokens) if t.text == '='), None)
            if not at or tokens[at - 1].kind != 'identifier':
                continue
            if is_integer is None:
                words = read_type_words(Cursor(tokens[:at - 1] + [Token('end', '', '', 0, 0)]))
                words = [w for w in words if w not in SPECIFIERS | {'const', 'auto'}]
                base = self.types.find(declaration.scope, words) if words else None
                is_integer = not words or isinstance(base, CType) and base.kind in ('integer', 'enum')
            value = self.evaluate(tokens[at + 1:], declaration.scope) if is_integer else None
            if value is not None and words:
                value = _convert_value(value, base)
            self.types.declare_constant(declaration.scope, tokens[at - 1].text, value)


def _convert_value(value, ctype):
    """Converts a value to an integer type."""
    if ctype.enum == 'CF_BOOL':
        return int(value != 0)
    bits = 8 * (ctype.bytes or 8)
    value &= (1 << bits) - 1
    return value - (1 << bits) if ctype.enum.startswith('CF_I') and value >> (bits - 1) else value


def _declared_name(tokens):
    """Returns the name in a simple declarator: the last identifier before [ or :."""
    name = None
    for token in tokens:
        if token.text in ('[', ':', '='):
            break
        if token.kind == 'identifier':
            name = token.text
    return name
