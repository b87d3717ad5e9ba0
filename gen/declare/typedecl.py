"""Reads types and integer constants from a kernel file's declarations."""

from dataclasses import replace

from base.model import CType
from declare.classdecl import ClassBody
from expr.compile import compile_expr
from expr.cxxtypes import pointer, Types
from expr.evaluate import evaluate_exact
from expr.names import Names
from expr.tree import parse_expr, read_type_words
from tokens.brackets import ATTRIBUTES, matching, SPECIFIERS, split_at, without_attributes
from tokens.cursor import Cursor
from tokens.lexer import Token, TokenError

CLASSES = {'struct', 'class', 'union'}

# Stands for the type of a member that only the C compiler knows.
_UNKNOWN = CType('', '', '', '', '', 'integer')
_STRUCT = CType('', 'a struct without a name', '', '', '', 'struct')


class Record:
    """A struct, union, class or enumeration as declared."""

    def __init__(self, declaration, kind, name, alias, tag):
        self.declaration, self.kind, self.name = declaration, kind, name
        # The names in a namespace without a name belong to the enclosing namespace.
        scope = tuple(s for s in declaration.scope if s)
        self.scope = scope + (name,)
        # C has no namespaces: geo::box is geo_box there.
        self.tag = '_'.join(scope + (tag,)) if tag else None
        self.alias = '_'.join(scope + (alias,)) if alias else None
        self.keyword = 'struct' if kind in ('class', 'typedef') else kind
        self.c = self.alias or f'{self.keyword} {self.tag}'
        self.cxx = '::'.join(scope + (alias or tag,))
        # A member may have the name of a type within the class.
        self.spelled = f'{kind} {self.cxx}' if declaration.is_member and not alias else self.cxx
        self.body = None                # ClassBody of a class
        self.values = []                # (token, value or None) of an enumeration
        self.is_scoped = False          # enum class
        self.base = None                # underlying type of an enumeration that names one
        self.ctype = None

    @property
    def file(self):
        return self.declaration.head[0].file


class Declared:
    """The types and constants of a file."""

    def __init__(self):
        self.types = Types()
        self.records = {}               # C name: Record

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
            pass                        # each use of the type is refused with a reason

    def _read_typedef(self, declaration):
        head = declaration.head
        if declaration.body is not None:
            names = [t.text for t in without_attributes(declaration.tail) if t.kind == 'identifier']
            if names:
                is_pointer = any(t.text == '*' for t in declaration.tail)
                self._read_tagged(declaration, head[1:], None if is_pointer else names[-1])
            return
        first, *others = split_at(head, ',', '([{<', ')]}>')
        if others and not any(t.text == '(' for t in head):
            self._typedef_of(declaration, first)
            base = [t for t in first[:-1] if t.kind == 'identifier' or t.text == '::']
            for other in others:
                self._typedef_of(declaration, base + other)
            return
        self._typedef_of(declaration, head)

    def _typedef_of(self, declaration, head):
        """Reads `typedef`, words of a type, a declarator."""
        scope, name = declaration.scope, head[-1]
        brackets = _find_extents(head)
        if brackets is not None:
            self._read_alias(declaration, head[brackets - 1].text, head[1:brackets - 1] + head[brackets:])
            return
        if name.kind != 'identifier' or _has_declarator(head):
            # In (*name)(...), a pointer to a function or an array, the name stands inside; otherwise it is last.
            inner = [b for a, b in zip(head, head[1:]) if a.text in '*&' and b.kind == 'identifier']
            plain = [t for t in head if t.kind == 'identifier']
            name = inner[0] if inner and head[-1].kind != 'identifier' else plain[-1]
            self.types.declare(scope, name.text, f'{name.text} hides a pointer or an array behind its name; write the '
                                                 '* or [] in the kernel')
            return
        self._read_alias(declaration, name.text, head[1:-1])

    def _read_alias(self, declaration, name, tokens):
        if _find_extents(tokens) is not None:
            self._add_asked(declaration, name)
            return
        if _has_declarator(tokens):
            self.types.declare(declaration.scope, name, f'{name} hides a pointer or a reference behind its name; '
                                                        'write the * in the kernel')
            return
        cursor = Cursor(list(tokens) + [Token('end', '', '', 0, 0)])
        words = [w for w in read_type_words(cursor) if w not in SPECIFIERS | {'const', 'volatile'}]
        found_type = self.types.find_raw(declaration.scope, words)
        if found_type is not None and cursor.token.kind == 'end':
            self.types.declare(declaration.scope, name, found_type)
        elif cursor.at('<'):
            self._add_asked(declaration, name)

    def _add_asked(self, declaration, name):
        """Adds a name for a type that the compiler is asked about."""
        record = Record(declaration, 'typedef', name, None, name)
        record.ctype = CType(record.c, record.spelled, record.c, 'CF_OPAQUE', name, 'struct')
        self.types.declare(declaration.scope, name, record.ctype)
        self.records.setdefault(record.c, record)

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
        record = Record(declaration, kind, name, alias, tag)
        other = self.records.get(record.c)
        if other is not None:
            ctype = f'{record.cxx} and {other.cxx} would both be {record.c} in C; rename one'
        elif kind == 'enum':
            ctype = self._read_enum(record, [] if base is None else head[base + 1:], is_scoped)
        else:
            ctype = self._read_class(record, base is not None)
        for declared in {name, tag} - {None}:
            self.types.declare(declaration.scope, declared, ctype)
        if isinstance(ctype, CType):
            record.ctype = ctype
            self.records[record.c] = record

    def _read_enum(self, record, base, is_scoped):
        record.is_scoped = is_scoped
        record.values = self._read_enumerators(record.declaration, record.name if is_scoped else None, record.name)
        if base or is_scoped:
            words = read_type_words(Cursor(base + [Token('end', '', '', 0, 0)])) if base else ['int']
            found = self.types.find_raw(record.declaration.scope, words)
            if not isinstance(found, CType) or found.kind != 'integer':
                return f'the underlying type of {record.name} cannot be told here; name an integer type'
            record.c = record.alias or record.tag
            record.base = found
            return CType(record.c, record.spelled, found.key, found.enum, found.short, 'enum', found.bytes, found.align)
        # The type is usually int or unsigned int; attributes and large values change it, and the C compiler checks it.
        is_signed = any(v is not None and v < 0 for _, v in record.values)
        base, key = ('int', 'i32') if is_signed else ('unsigned int', 'u32')
        return CType(record.c, record.spelled, base, f'CF_INTEGER_TYPE({record.c})', key, 'enum')

    def _read_enumerators(self, declaration, scoped=None, tag=None):
        """Adds the enumerators as constants, and returns their tokens with their values."""
        value, values = -1, []
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
            values.append((tokens[0], value))
        return values

    def _read_class(self, record, has_base):
        name, texts = record.name, [t.text for t in record.declaration.body]
        if 'virtual' in texts:
            return f'{name} has virtual functions, so it is not trivially copyable; pass a plain struct'
        for at in range(len(texts) - 2):
            if texts[at] == '~' and texts[at + 1] == name and texts[at + 2] == '(' and not _is_defaulted(texts, at):
                return f'{name} has a destructor, so it is not trivially copyable; pass a plain struct'
        for at in range(len(texts) - 3):
            is_constructor = texts[at] == name and texts[at + 1] == '('
            if (is_constructor and name in texts[at + 2:at + 4] and '&' in texts[at + 3:at + 6] and
                    not _is_defaulted(texts, at)):
                return f'{name} has a copy constructor, so it is not trivially copyable; pass a plain struct'
        record.body = ClassBody(record.declaration, name, record.declaration.scope)
        if has_base:
            record.body.doubt = 'has a base class'
        # The type is declared first, since its members may point to it.
        self.types.declare(record.declaration.scope, name, CType(record.c, record.spelled, record.c, 'CF_OPAQUE', name,
                                                                 'struct'))
        for declaration in record.body.declarations:
            self.add(declaration)
        return CType(record.c, record.spelled, record.c, 'CF_OPAQUE', name, 'struct', None, None, 1,
                     self._list_members(record.body, record.scope))

    def find_member_type(self, member, scope):
        """Returns a member's type without pointers and extents as a CType, the reason why it has none as text, or
        None."""
        words = [t for t in member.words if t.text not in SPECIFIERS | {'const', 'volatile'}]
        cursor = Cursor(words + [Token('end', '', '', 0, 0)])
        found = self.types.find_raw(scope, read_type_words(cursor)) if words else None
        return found if cursor.token.kind == 'end' else None

    def _list_members(self, body, scope):
        """Maps the names of a class's members to their types; None if any member cannot be read."""
        members = {}
        for member in body.members:
            base = self.find_member_type(member, scope)
            shape = base if isinstance(base, CType) else _UNKNOWN
            if member.nested is not None and member.nested.head[0].text != 'enum':
                nested = ClassBody(member.nested, '', scope)
                is_list = not nested.doubt and not nested.declarations
                shape = replace(_STRUCT, members=self._list_members(nested, scope) if is_list else None)
            if member.token is None and shape.members is None:
                return None
            if member.token is None:
                members.update(shape.members)
                continue
            if member.stars or member.is_function:
                shape = pointer('void *', 'void *')
            if member.is_bit_field:
                shape = CType('', '', '', '', '', 'bit-field')
            for extent in reversed(member.extents):
                count = self.evaluate(extent, scope) if extent else 0
                shape = CType('', '', '', '', '', 'array', count, members={'[]': shape})
            members[member.token.text] = shape
        return members or None

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
        """Reads `constexpr int N = 4, M = 2 * N;`. Assertions of emit/proofs.py let compilers check used values."""
        is_integer = None
        for tokens in split_at(declaration.head, ','):
            at = next((i for i, t in enumerate(tokens) if t.text == '='), None)
            if not at or tokens[at - 1].kind != 'identifier':
                continue
            if is_integer is None:
                words = read_type_words(Cursor(tokens[:at - 1] + [Token('end', '', '', 0, 0)]))
                words = [w for w in words if w not in SPECIFIERS | {'const', 'auto'}]
                base = self.types.find_raw(declaration.scope, words) if words else None
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


def _find_extents(tokens):
    """Returns the index of the first [ in the declaration of an array of values; None for other declarations."""
    first = next((i for i, t in enumerate(tokens) if t.kind == 'punctuation' and t.text in '[(*&<'), None)
    is_array = first and tokens[first].text == '[' and tokens[first - 1].kind == 'identifier' and tokens[-1].text == ']'
    return first if is_array else None


def _has_declarator(tokens):
    """True if tokens outside of template arguments declare a pointer, a reference, a function or an array."""
    at = next((i for i, t in enumerate(tokens) if t.text == '<'), len(tokens))
    outside = tokens[:at] + tokens[matching(tokens, at, '<', '>'):]
    return any(t.text in '(*&[' for t in outside if t.kind == 'punctuation')


def _is_defaulted(texts, at):
    """True if `= default` follows the parentheses after `at`."""
    end = texts.index(')', at) if ')' in texts[at:] else at
    return texts[end + 1:end + 3] == ['=', 'default']
