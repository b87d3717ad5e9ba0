"""A kernel file's declarations at file and namespace scope: finds them, and reads what types, constants and kernels
they declare."""

import expr
from cxxtypes import WORDS, Types, pointer
from expr import Cursor, ExprError, found
from lexer import Token
from model import CType, Symbol
from scan import Pragma

MAX_POINTERS = 4

# Words in front of a parenthesis that are no function's name.
_ATTRIBUTES = {'__launch_bounds__', '__attribute__', '__attribute', '__align__', '__builtin_align__', 'alignas', '_Alignas',
               'decltype', '__declspec', '__maxnreg__', '__cluster_dims__', '__block_size__', 'noexcept', 'explicit',
               'requires', 'throw', '__typeof__', 'typeof', '__nv_pure__', 'static_assert', '_Static_assert'}
_CLASSES = {'struct', 'class', 'union'}
# Words that say nothing about a type.
_SPECIFIERS = {'static', 'extern', 'inline', 'constexpr', 'register', 'typename', '__restrict__', '__restrict',
               '__grid_constant__', '__device__', '__constant__', '__managed__', '__host__', 'mutable', 'thread_local',
               '__extension__', '__inline__', '__forceinline__', '__noinline__'}
# Words that a C++ kernel may call a parameter and a C prototype may not.
_C_KEYWORDS = {'restrict', '_Bool', '_Complex', '_Generic', '_Atomic', '_Alignas', '_Alignof', '_Noreturn', '_Static_assert',
               '_Thread_local', '_Imaginary'}
_KNOWN_WORDS = {'bool', 'void', 'const', 'volatile'}


# A member whose type only the C compiler can tell.
_UNKNOWN = CType('', '', '', '', '', 'integer')
_UNKNOWN_STRUCT = CType('', '', '', '', '', 'struct')


class Declaration:
    """Tokens of one declaration: what stands in front of its braces, in them, and behind them up to the semicolon."""

    def __init__(self, head, scope, is_member):
        self.head, self.scope, self.is_member = head, scope, is_member
        self.body = None
        self.tail = []
        self.last = head[-1]        # the last token of all
        self.function = _function_name(head)

    def has(self, word):
        return any(t.text == word for t in self.head)


def _matching(tokens, at, opening, closing):
    """The index behind what closes the bracket at `at`; the end where nothing does."""
    depth, parens = 0, 0
    while at < len(tokens):
        text = tokens[at].text
        if text == '(' and opening != '(':
            parens += 1
        elif text == ')' and opening != '(':
            parens -= 1
        elif text == opening and parens == 0:
            depth += 1
        elif text == closing and parens == 0:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return at


def _behind_template(head):
    """The index behind template<...>, or several."""
    at = 0
    while at + 1 < len(head) and head[at].text == 'template' and head[at + 1].text == '<':
        at = _matching(head, at + 1, '<', '>')
    return at


def _function_name(head):
    """The index of a function's name in the front of its declaration; None where it declares none."""
    at = start = _behind_template(head)
    if at < len(head) and head[at].text in ('typedef', 'using'):
        return None
    while at < len(head):
        token = head[at]
        if token.kind == 'punctuation' and token.text in '=':
            return None
        if token.text == '[' and token.kind == 'punctuation':       # an attribute, or an extent
            at = _matching(head, at, '[', ']')
            continue
        if token.kind == 'identifier' and at + 1 < len(head) and head[at + 1].text == '(':
            if token.text in _ATTRIBUTES:
                at = _matching(head, at + 1, '(', ')')
                continue
            return at if at > start else None
        if token.text == 'operator':
            return at
        at += 1
    return None


def declarations(items):
    """Pragmas and declarations of a file, in order, from its tokens and pragmas. What stands inside of classes is no
    declaration of its own, but a pragma there is given with the class as its place."""
    at, scopes, head, depth = 0, [], [], 0
    while at < len(items):
        item = items[at]
        if isinstance(item, Pragma):
            if head:
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


def _open_scope(items, at, scopes):
    """Enters a namespace or a linkage block; the index behind its brace, or 0."""
    def text(ahead):
        item = items[min(at + ahead, len(items) - 1)]
        return None if isinstance(item, Pragma) else item.text

    if items[at].text == 'extern' and not isinstance(items[at + 1], Pragma) and items[at + 1].kind == 'string' and text(2) == '{':
        scopes.append('::')         # a linkage block names no scope
        return at + 3
    ahead = 1 if items[at].text == 'inline' and text(1) == 'namespace' else 0
    if text(ahead) != 'namespace' or items[at].kind != 'identifier':
        return 0
    ahead += 1
    names = ''
    while text(ahead) is not None and (text(ahead) == '::' or items[min(at + ahead, len(items) - 1)].kind == 'identifier'):
        names += text(ahead) if text(ahead) != 'inline' else ''
        ahead += 1
    if text(ahead) != '{':
        return 0
    scopes.append(names)
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


# ---- Types and constants


class Declared:
    """What the declarations of a file say: types, constants, and where the types stand."""

    def __init__(self, path):
        self.path = path                # the kernel file's
        self.types = Types()
        self.headers = {}               # C name of a struct or an enum: the header that declares it

    def add(self, declaration):
        """Learns the types and constants of a declaration; what it cannot read it leaves alone."""
        head = declaration.head
        words = [t.text for t in head[:3]]
        try:
            if words[0] == 'typedef':
                self._typedef(declaration)
            elif words[0] == 'using' and len(head) > 3 and head[2].text == '=':
                self._alias(declaration, head[1].text, head[3:])
            elif words[0] in _CLASSES or words[0] == 'enum':
                self._tagged(declaration, head, None)
            elif declaration.function is None and any(w in ('const', 'constexpr') for w in [t.text for t in head[:6]]):
                self._constants(declaration)
        except ExprError:
            pass                        # a use of it is refused, with what is known then

    def _visible(self, declaration, ctype, name):
        """A struct or an enum as C sees it, or the reason why it does not."""
        where = declaration.head[0].file
        if where == self.path:
            return (f'{name} is declared in this file, which C programs do not include; move it into a header and write '
                    f'include("that header")')
        if declaration.scope:
            return f'{name} is in a namespace, which C does not have; declare it outside of all namespaces'
        self.headers[ctype.c] = where
        return ctype

    def _typedef(self, declaration):
        head, scope = declaration.head, declaration.scope
        if declaration.body is not None:
            names = [t.text for t in declaration.tail if t.kind == 'identifier']
            if names:
                self._tagged(declaration, head[1:], names[-1] if '*' not in [t.text for t in declaration.tail] else None)
            return
        name = head[-1]
        if name.kind != 'identifier' or any(t.text in '(*&[' for t in head if t.kind == 'punctuation'):
            # (*name)(...) declares a pointer to a function or an array; else the name comes last.
            inner = [b for a, b in zip(head, head[1:]) if a.text in '*&' and b.kind == 'identifier']
            plain = [t for t in head if t.kind == 'identifier']
            name = inner[0] if inner and head[-1].kind != 'identifier' else plain[-1]
            self.types.declare(scope, name.text, f'{name.text} hides a pointer or an array behind its name; write the * '
                                                 'or [] in the kernel')
            return
        self._alias(declaration, name.text, head[1:-1])

    def _alias(self, declaration, name, tokens):
        if any(t.text in '*&[(' for t in tokens if t.kind == 'punctuation'):
            self.types.declare(declaration.scope, name, f'{name} hides a pointer or a reference behind its name; write the '
                                                        '* in the kernel')
            return
        cursor = Cursor(list(tokens) + [Token('end', '', '', 0, 0)])
        words = [w for w in expr.type_words(cursor) if w not in _SPECIFIERS]
        found_type = self.types.find(declaration.scope, words)
        if found_type is not None and cursor.token.kind == 'end':
            self.types.declare(declaration.scope, name, found_type)

    def _tagged(self, declaration, head, alias):
        """A struct, union, class or enum, with a typedef's name where it has one."""
        kind = head[0].text
        names = [t for t in head[1:] if t.kind == 'identifier' and t.text not in _ATTRIBUTES and t.text != 'final']
        is_scoped = kind == 'enum' and bool(names) and names[0].text in ('class', 'struct')
        base = next((i for i, t in enumerate(head) if t.text == ':'), None)
        before = [t for t in (head if base is None else head[:base])]
        tags = [t.text for n, t in enumerate(before) if n and t.kind == 'identifier' and t.text not in _ATTRIBUTES and
                t.text not in ('class', 'struct', 'final') and before[n - 1].text not in ('(', ',')]
        tag = tags[-1] if tags else None
        name = alias or tag
        if name is None:
            if kind == 'enum' and declaration.body is not None:
                self._enumerators(declaration)
            return
        if declaration.body is None:
            return
        c = alias or f'{kind if kind != "class" else "struct"} {tag}'
        cxx = alias or tag
        if kind == 'enum':
            ctype = self._enum(declaration, c, cxx, name, is_scoped, base is not None)
        else:
            ctype = self._class(declaration, c, cxx, name, kind, base is not None)
        for declared in {name, tag} - {None}:
            self.types.declare(declaration.scope, declared, ctype)

    def _enum(self, declaration, c, cxx, name, is_scoped, has_base):
        negative = self._enumerators(declaration, None if not is_scoped else name)
        if is_scoped:
            return f'{name} is an enum class, which C does not have; declare a plain enum, or take an integer'
        if has_base:
            return f'{name} has a fixed underlying type, which C has only since C23; leave it out, or take an integer'
        ctype = CType(c, cxx, 'int' if negative else 'unsigned int', f'CF_INTEGER_TYPE({c})', 'i32' if negative else 'u32',
                      'enum', 4, 4)
        return self._visible(declaration, ctype, name)

    def _enumerators(self, declaration, scoped=None):
        """Declares the values; whether one of them is negative."""
        value, negative = -1, False
        scope = declaration.scope + ((scoped,) if scoped else ())
        for tokens in _split(declaration.body, ','):
            if not tokens:
                continue
            value = value + 1 if value is not None else None
            if len(tokens) > 2 and tokens[1].text == '=':
                value = self.evaluate(tokens[2:], scope)
            if value is not None:
                self.types.declare_constant(scope, tokens[0].text, value)
                negative |= value < 0
        return negative

    def _class(self, declaration, c, cxx, name, kind, has_base):
        texts = [t.text for t in declaration.body]
        for what, reason in (('virtual', 'has virtual functions'), ('~', 'has a destructor')):
            if what in texts:
                return f'{name} {reason}, so it is not trivially copyable; pass a plain struct'
        for at in range(len(texts) - 3):
            if texts[at] == name and texts[at + 1] == '(' and name in texts[at + 2:at + 4] and '&' in texts[at + 3:at + 6]:
                return f'{name} has a copy constructor, so it is not trivially copyable; pass a plain struct'
        if has_base:
            return f'{name} has a base class, which C does not have; pass a plain struct'
        members = self._members(declaration)
        ctype = CType(c, cxx, c, 'CF_OPAQUE', name, 'struct', None, None, 1, members)
        return self._visible(declaration, ctype, name)

    def _members(self, declaration):
        """The members of a plain struct by name; None where one of them cannot be read."""
        members = {}
        for tokens in _split(declaration.body, ';'):
            if not tokens:
                continue
            punctuation = [t.text for t in tokens if t.kind == 'punctuation']
            if '{' in punctuation:      # a struct within, which has to have a name for its members to be told apart
                name = _declared_name(tokens[max(i for i, t in enumerate(tokens) if t.text == '}') + 1:])
                if name is None:
                    return None
                members[name] = _UNKNOWN_STRUCT
                continue
            if '(' in punctuation:      # a pointer to a function, or a function
                inner = [b.text for a, b in zip(tokens, tokens[1:]) if a.text == '*' and b.kind == 'identifier']
                members.update({name: pointer('void *', 'void *') for name in inner[:1]})
                continue
            declarators = _split(tokens, ',')
            words = [t for t in declarators[0] if t.text not in _SPECIFIERS | _CLASSES | {'const', 'volatile', 'enum'}]
            end = next((i for i, t in enumerate(words) if t.kind == 'punctuation' and t.text in '*[:'), len(words))
            if end == len(words) or words[end].text != '*':
                end -= 1            # the name
            base = self.types.find(declaration.scope, expr.type_words(Cursor(
                words[:end] + [Token('end', '', '', 0, 0)]))) if end > 0 else None
            for declarator in declarators:
                name = _declared_name(declarator)
                if name is None:
                    return None
                if any(t.text == '*' for t in declarator):
                    members[name] = pointer('void *', 'void *')
                else:
                    members[name] = base if isinstance(base, CType) else _UNKNOWN
        return members or None

    def evaluate(self, tokens, scope):
        """The value of an integer constant expression; None where the generator cannot tell it."""
        try:
            cursor = Cursor(list(tokens) + [Token('end', '', '', 0, 0)])
            tree = expr.parse(cursor)
            if cursor.token.kind != 'end':
                return None
            names = expr.Names([], {}, {}, self.types, scope)
            return expr.constant_value(expr.compile_expr(tree, '', names))
        except ExprError:
            return None

    def _constants(self, declaration):
        """`constexpr int N = 4, M = 2 * N;`"""
        for tokens in _split(declaration.head, ','):
            at = next((i for i, t in enumerate(tokens) if t.text == '='), None)
            if at and tokens[at - 1].kind == 'identifier':
                value = self.evaluate(tokens[at + 1:], declaration.scope)
                if value is not None:
                    self.types.declare_constant(declaration.scope, tokens[at - 1].text, value)


def _declared_name(tokens):
    """The name that a simple declarator declares: the last identifier in front of [ or :."""
    name = None
    for token in tokens:
        if token.text in ('[', ':', '='):
            break
        if token.kind == 'identifier':
            name = token.text
    return name


def _split(tokens, separator, opening='([{', closing=')]}'):
    """Tokens between separators that stand in no bracket."""
    parts, depth = [[]], 0
    for token in tokens:
        if token.kind == 'punctuation':
            if token.text in opening:
                depth += 1
            elif token.text in closing:
                depth -= 1
            elif token.text == separator and depth == 0:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts


# ---- Kernels


class RawParam:
    """A parameter as written."""

    def __init__(self, token, first, words, is_const, is_volatile, pointers):
        self.token, self.first, self.words = token, first, words
        self.is_const, self.is_volatile = is_const, is_volatile     # of the innermost type
        self.pointers = pointers        # the qualifiers of each *, as sets, in their order

    @property
    def pointer(self):
        return bool(self.pointers)

    @property
    def const(self):
        """Whether what the outermost pointer points to is const."""
        return self.is_const if len(self.pointers) == 1 else 'const' in self.pointers[-2]


class TemplateParam:
    """A parameter of a template: a type, or a constant with the words of its type; its default's tokens."""

    def __init__(self, name, is_type, words, default):
        self.name, self.is_type, self.words, self.default = name, is_type, words, default


class KernelDeclaration:
    """A kernel as written."""

    def __init__(self, declaration):
        self.token = None           # of the name
        self.scope = ()             # enclosing namespaces
        self.template = []          # TemplateParam
        self.params = []            # RawParam
        self.has_launch_bounds = declaration.has('__launch_bounds__')
        self.declaration = declaration


def read_kernel(declaration):
    """The kernel that a declaration declares. Raises ExprError with the reason where it cannot be called from C."""
    kernel = KernelDeclaration(declaration)
    head = declaration.head
    if declaration.is_member:
        raise ExprError(head[0], 'a kernel stands at file or namespace scope')
    if '' in declaration.scope:
        raise ExprError(head[0], 'a kernel in an anonymous namespace has no name that can be looked up; '
                                 'name the namespace')
    kernel.scope = declaration.scope
    last = declaration.last if declaration.body is None else head[-1]
    cursor = Cursor(head + [Token('end', '', last.file, last.line, last.column + len(last.text))])
    if cursor.accept('template'):
        _template(cursor, kernel)
    if cursor.at('template'):
        raise ExprError(cursor.token, 'a member template cannot be an entry point; declare the kernel at namespace scope')
    if declaration.function is None:
        raise ExprError(cursor.token, "expected the kernel's name and parameters")
    kernel.token = head[declaration.function]
    before = head[declaration.function - 1]
    if before.text == '::':
        raise ExprError(kernel.token, 'annotate the kernel where it is declared, in its namespace')
    while cursor.token is not kernel.token:
        cursor.take()
    cursor.take()
    _params(cursor, kernel)
    return kernel


def _template(cursor, kernel):
    if not cursor.accept('<') or cursor.at('>'):
        raise ExprError(cursor.token, 'annotate the template, and not its specialisation')
    while True:
        first = cursor.take()
        if first.text == 'template':
            raise ExprError(first, 'a template parameter is a type (typename T) or a constant (int N)')
        is_type = first.text in ('typename', 'class')
        words = [first]
        while cursor.token.kind == 'identifier' or cursor.at('::'):
            words.append(cursor.take())
        if first.text == '...' or cursor.at('...'):
            raise ExprError(first, 'a parameter pack cannot be an entry point; give the kernel a fixed number of '
                                   'parameters')
        name = words[-1]
        if name.kind != 'identifier' or len(words) < 2 or cursor.at('*', '&', '<'):
            raise ExprError(name if name.kind == 'identifier' and len(words) > 1 else first,
                            'a template parameter is a named type (typename T) or constant (int N)')
        default = []
        if cursor.accept('='):
            depth = 0
            while cursor.token.kind != 'end' and (depth or not cursor.at(',', '>')):
                token = cursor.take()
                depth += (token.text in '(<') - (token.text in ')>')
                default.append(token)
        kernel.template.append(TemplateParam(name.text, is_type, [w.text for w in words[:-1]], default))
        if not cursor.accept(','):
            break
    cursor.expect('>', 'after the template parameters')


def _params(cursor, kernel):
    cursor.expect('(', "after the kernel's name")
    tokens, depth = [], 1
    while True:
        token = cursor.take()
        if token.kind == 'end':
            raise ExprError(token, "expected ')' after the kernel's parameters" + found(token))
        if token.kind == 'punctuation':
            depth += (token.text in '([<{') - (token.text in ')]>}')
        if depth == 0:
            break
        tokens.append(token)
    if not tokens or [t.text for t in tokens] == ['void']:
        return
    for part in _split(tokens, ',', '([{<', ')]}>'):
        if not part:
            raise ExprError(token, 'a parameter needs a type and a name')
        kernel.params.append(_param(part))
    seen = set()
    for param in kernel.params:
        if param.token.text in seen:
            raise ExprError(param.token, f'two parameters are called {param.token.text}')
        seen.add(param.token.text)


def _unsupported(token, what, instead):
    return ExprError(token, f'an entry point cannot take {what}; use {instead}')


def _plain(tokens):
    """A parameter's tokens without attributes and without words that say nothing about its type."""
    plain, at = [], 0
    while at < len(tokens):
        token = tokens[at]
        if token.text == '[' and at + 1 < len(tokens) and tokens[at + 1].text == '[':
            at = _matching(tokens, at, '[', ']')
        elif token.text in _ATTRIBUTES and at + 1 < len(tokens) and tokens[at + 1].text == '(':
            at = _matching(tokens, at + 1, '(', ')')
        else:
            if token.text not in _SPECIFIERS or token.text == 'typename':
                plain.append(token)
            at += 1
    return plain


def _check_form(tokens):
    for token in tokens:
        if token.kind == 'string':
            raise ExprError(token, 'expected a parameter' + found(token))
        if token.text in ('&', '&&'):
            raise _unsupported(token, 'a reference', 'a pointer or a value')
        if token.text == '...':
            raise _unsupported(token, '...', 'a fixed number of parameters')
        if token.text == '(':
            raise _unsupported(token, 'a pointer to a function or to an array', 'a pointer to elements')
        if token.text == '=':
            raise ExprError(token, 'a default argument cannot reach C callers; leave it out')
        if token.text == 'typename':
            raise _unsupported(token, 'a type that depends on another', 'a template parameter of its own')


def _param(tokens):
    """One parameter: qualifiers and a type, pointers, a name, brackets."""
    first = tokens[0]
    tokens = _plain(tokens)
    _check_form(tokens)
    brackets = next((i for i, t in enumerate(tokens) if t.text == '['), len(tokens))
    at = brackets - 1
    if at < 0 or tokens[at].kind != 'identifier':
        raise ExprError(first, 'a parameter needs a type and a name')
    name, suffix = tokens[at], tokens[brackets:]
    star = next((i for i, t in enumerate(tokens[:at]) if t.text == '*'), at)
    if star > at or (star == at and at == 0):
        raise ExprError(first, 'a parameter needs a type and a name')
    is_const = is_volatile = False
    base = []
    for token in tokens[:star]:
        if token.text == 'const':
            is_const = True
        elif token.text == 'volatile':
            is_volatile = True
        else:
            base.append(token)
    pointers = []
    for token in tokens[star:at]:
        if token.text == '*':
            pointers.append(set())
            if len(pointers) > MAX_POINTERS:
                raise ExprError(token, f'a pointer more than {MAX_POINTERS} deep; use fewer')
        elif token.text in ('const', 'volatile'):
            pointers[-1].add(token.text)
        else:
            raise ExprError(token, f"expected ',' or ')' after a parameter's name{found(token)}")
    if suffix:
        if sum(t.text == '[' for t in suffix) > 1:
            raise _unsupported(suffix[0], 'an array of arrays', 'a pointer, and declare its dimensions: in(a[ny][nx])')
        pointers.append(set())
    if name.text in WORDS or name.text in _KNOWN_WORDS:
        raise ExprError(first, 'a parameter needs a type and a name')
    if name.text in _C_KEYWORDS:
        raise ExprError(name, f"'{name.text}' is a word of C, whose programs call the kernel; rename the parameter")
    return RawParam(name, base[0] if base else first, _base_words(first, base), is_const, is_volatile, pointers)


def _base_words(first, base):
    if not base:
        raise ExprError(first, 'a parameter needs a type and a name')
    end = base[-1]
    cursor = Cursor(base + [Token('end', '', end.file, end.line, end.column + len(end.text))])
    words = expr.type_words(cursor)
    if cursor.at('<') and words:
        raise _unsupported(first, f'{words[-1]}<...>, which C does not have', 'a scalar, a struct, or a pointer to one')
    if cursor.token.kind != 'end':
        raise ExprError(cursor.token, 'expected a parameter' + found(cursor.token))
    return words


# ---- Constants with setters


def read_symbols(declaration, declared):
    """(token of the name, Symbol) of each variable in a __constant__ declaration that a program may set."""
    words = {t.text for t in declaration.head}
    if 'extern' in words or 'const' in words or 'constexpr' in words:
        return
    head = _plain(declaration.head)
    if words & _CLASSES and declaration.body is not None and '=' not in words:
        name = next((t for t in declaration.tail if t.kind == 'identifier'), head[0])
        _no_symbol(name, 'a struct of its own')
    for number, declarator in enumerate(_split(head, ',')):
        at = next((i for i, t in enumerate(declarator) if t.text in ('=', '[')), len(declarator))
        name = declarator[at - 1] if at else declaration.head[-1]
        if name.kind != 'identifier':
            raise ExprError(declaration.head[0], 'expected the name of a __constant__ variable' + found(name))
        if number == 0:
            base = [t for t in declarator[:at - 1]]
            ctype = _symbol_type(declaration, declared, base, name)
        elif any(t.text == '*' for t in declarator):
            ctype = None
        if ctype is None or any(t.text in '*&' for t in declarator[:at] if t.kind == 'punctuation'):
            raise ExprError(name, f'{name.text} is a pointer in constant memory, which a setter cannot fill from C; pass '
                                  'the pointer to the kernel')
        scope = ''.join(s + '::' for s in declaration.scope if s)
        yield name, Symbol(name.text, scope + name.text, (), name.location, ctype,
                           tuple(_symbol_extents(declarator[at:], name, declaration, declared)))


def _symbol_type(declaration, declared, base, name):
    if any(t.text in '*&<(' for t in base if t.kind == 'punctuation') and not any(t.text == 'complex' for t in base):
        return None if any(t.text == '*' for t in base) else _no_symbol(name, ' '.join(t.text for t in base))
    words = expr.type_words(Cursor([t for t in base if t.text != 'volatile'] + [Token('end', '', '', 0, 0)]))
    ctype = declared.types.find(declaration.scope, words) if words else None
    if isinstance(ctype, str):
        raise ExprError(name, ctype)
    return ctype if ctype is not None else _no_symbol(name, ' '.join(words))


def _no_symbol(name, text):
    raise ExprError(name, f"{name.text} is of a type that C does not know, '{text}'; use a scalar type, or a struct of a "
                          'header that include(...) names')


def _symbol_extents(tokens, name, declaration, declared):
    at = 0
    while at < len(tokens) and tokens[at].text == '[':
        end = _matching(tokens, at, '[', ']')
        value = declared.evaluate(tokens[at + 1:end - 1], declaration.scope)
        if value is None or value < 1:
            raise ExprError(name, f'the extent of {name.text} is no integer constant that can be read here; use a literal, a '
                                  'macro, an enumerator or a constexpr integer')
        yield value
        at = end
