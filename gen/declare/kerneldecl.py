"""The declaration of one kernel: its name, its template parameters and its parameters."""

from base.bounds import MAX_PARAMETERS
from base.text import C_WORDS
from expr.cxxtypes import WORDS
from expr.tree import read_type_words
from tokens.brackets import matching, without_attributes
from tokens.cursor import check_names, Cursor, tell_found
from tokens.lexer import spell_tokens, Token, TokenError

MAX_POINTERS = 4

# Words that can name a parameter in C++17 but not in C++20; generated headers have to compile as both.
CXX20_WORDS = {'char8_t', 'co_await', 'co_return', 'co_yield', 'concept', 'consteval', 'constinit', 'requires'}
# Names that generated headers use.
_TAKEN = {'cf_call', 'cf_launch', 'cf_stream'}
_KNOWN_WORDS = {'bool', 'void', 'const', 'volatile'}
_RESTRICT = {'__restrict__', '__restrict'}


class RawParam:
    """A parameter as the source spells it."""

    def __init__(self, token, first, words, is_const, is_volatile, pointers, is_restrict):
        # A type with template arguments is one word.
        self.token, self.first, self.words = token, first, words
        self.is_const, self.is_volatile = is_const, is_volatile     # qualifiers of the innermost type
        self.is_restrict = is_restrict  # qualifies the outermost pointer
        self.pointers = pointers        # set of qualifiers of each *, in order
        self.is_added = False           # the parameter comes from param(...)

    @property
    def pointer(self):
        return bool(self.pointers)

    @property
    def const(self):
        """True if the target of the outermost pointer is const."""
        return self.is_const if len(self.pointers) == 1 else 'const' in self.pointers[-2]

    def as_const(self):
        """Returns a copy whose outermost pointer has a const target."""
        pointers = [*self.pointers[:-2], *(p | {'const'} for p in self.pointers[-2:-1]), *self.pointers[-1:]]
        return RawParam(self.token, self.first, self.words, self.is_const or len(pointers) == 1, self.is_volatile,
                        pointers, self.is_restrict)


class TemplateParam:
    """A template parameter. `words`: the words of the type of a constant; `default`: the tokens of the default."""

    def __init__(self, name, is_type, words, default):
        self.name, self.is_type, self.words, self.default = name, is_type, words, default


class KernelDeclaration:
    """A kernel or an operation as the source declares it."""

    def __init__(self, declaration):
        self.token = None           # token of the name
        self.scope = ()             # enclosing namespaces
        self.template = []          # TemplateParam
        self.params = []            # RawParam
        self.declaration = declaration


def read_kernel(declaration, what='a kernel'):
    """Returns the KernelDeclaration of a declaration. Raises TokenError with the reason if C cannot call the kernel."""
    kernel = KernelDeclaration(declaration)
    head = declaration.head
    if declaration.is_member:
        raise TokenError(head[0], f'{what} stands at file or namespace scope')
    kernel.scope = declaration.scope
    last = declaration.last if declaration.body is None else head[-1]
    cursor = Cursor(head + [Token('end', '', last.file, last.line, last.column + len(last.text))])
    check_names(head)
    if cursor.accept('template'):
        _read_template(cursor, kernel)
    if cursor.at('template'):
        raise TokenError(cursor.token, 'a member template cannot be an entry point; declare the kernel at namespace '
                                       'scope')
    if declaration.function is None:
        raise TokenError(cursor.token, "expected the kernel's name and parameters")
    kernel.token = head[declaration.function]
    before = head[declaration.function - 1]
    if before.text == '::':
        raise TokenError(kernel.token, 'annotate the kernel where it is declared, in its namespace')
    before = []
    while cursor.token is not kernel.token:
        before.append(cursor.take().text)
    if not {'void', 'auto'}.intersection(before) or {'const', 'volatile'}.intersection(before):
        raise TokenError(kernel.token, f'{what} returns void')
    cursor.take()
    kernel.params = read_params(cursor, "the kernel's name", may_default=True)
    _check_names_differ(kernel.params)
    return kernel


def add_params(kernel, added):
    """Adds the parameters of param(...) to a KernelDeclaration."""
    for param in added:
        if param.pointer:
            raise TokenError(param.token, f'{param.token.text} is a pointer; param(...) adds numbers, and only the '
                                          'kernel can take pointers')
        if any(param.token.text == p.name for p in kernel.template):
            raise TokenError(param.token, f'{param.token.text} is a template parameter of {kernel.token.text}; give '
                                          'the parameter of param(...) another name')
        param.is_added = True
    kernel.params += added
    _check_names_differ(kernel.params)


def _read_template(cursor, kernel):
    if not cursor.accept('<') or cursor.at('>'):
        raise TokenError(cursor.token, 'annotate the template, and not its specialisation')
    while True:
        first = cursor.take()
        if first.text == 'template':
            raise TokenError(first, 'a template parameter is a type (typename T) or a constant (int N)')
        is_type = first.text in ('typename', 'class')
        words = [first]
        while cursor.token.kind == 'identifier' or cursor.at('::'):
            words.append(cursor.take())
        if first.text == '...' or cursor.at('...'):
            raise TokenError(first, 'a parameter pack cannot be an entry point; give the kernel a fixed number of '
                                    'parameters')
        name = words[-1]
        if name.kind != 'identifier' or len(words) < 2 or cursor.at('*', '&', '<'):
            raise TokenError(name if name.kind == 'identifier' and len(words) > 1 else first,
                             'a template parameter is a named type (typename T) or constant (int N)')
        default = []
        if cursor.accept('='):
            depth = 0
            while cursor.token.kind != 'end' and (depth or not cursor.at(',', '>')):
                if cursor.adjacent('<', '<'):
                    default.append(cursor.take())
                else:
                    depth += cursor.at('(', '<') - cursor.at(')', '>')
                default.append(cursor.take())
        kernel.template.append(TemplateParam(name.text, is_type, [w.text for w in words[:-1]], default))
        if not cursor.accept(','):
            break
    cursor.expect('>', 'after the template parameters')


def read_params(cursor, name, may_default=False):
    """Returns the parameters in the parentheses after `name`, a text for messages. Default arguments, which C callers
    do not have, are refused unless `may_default`."""
    cursor.expect('(', f'after {name}')
    parts, open_brackets, before, is_default = [[]], ['('], '', False
    while True:
        token = cursor.take()
        if token.kind == 'end':
            raise TokenError(token, "expected ')' after the parameters" + tell_found(token))
        text = token.text if token.kind == 'punctuation' else ''
        if text and text in '([{' or text == '<' and before == 'identifier':
            open_brackets.append(text)
        elif text and text in ')]}':
            while open_brackets.pop() == '<':       # this < was a comparison
                pass
        elif text == '>' and open_brackets[-1] == '<':
            open_brackets.pop()
        if not open_brackets:
            break
        before, is_outside = token.kind, len(open_brackets) == 1
        if is_outside and text == ',':
            parts.append([])
            is_default = False
        else:
            is_default |= may_default and is_outside and text == '='
            parts[-1] += [] if is_default else [token]
    if parts == [[]] or [t.text for part in parts for t in part] == ['void']:
        return []
    if [] in parts:
        raise TokenError(token, 'a parameter needs a type and a name')
    if len(parts) > MAX_PARAMETERS:
        raise TokenError(token, f'{len(parts)} parameters; {MAX_PARAMETERS} are the most: pass a struct or an array')
    return [read_param(part) for part in parts]


def _check_names_differ(params):
    seen = set()
    for param in params:
        if param.token.text in seen:
            raise TokenError(param.token, f'two parameters are called {param.token.text}')
        seen.add(param.token.text)


def _make_error(token, what, instead):
    return TokenError(token, f'an entry point cannot take {what}; use {instead}')


def _check_form(tokens):
    for token in tokens:
        if token.kind == 'string':
            raise TokenError(token, 'expected a parameter' + tell_found(token))
        if token.text in ('&', '&&'):
            raise _make_error(token, 'a reference', 'a pointer or a value')
        if token.text == '...':
            raise _make_error(token, '...', 'a fixed number of parameters')
        if token.text == '(':
            raise _make_error(token, 'a pointer to a function or to an array', 'a pointer to elements')
        if token.text == '=':
            raise TokenError(token, 'a default argument cannot reach C callers; leave it out')


def read_param(tokens):
    """Returns a parameter from its tokens: qualifiers and a type, pointers, a name, brackets."""
    first = tokens[0]
    is_restrict = _is_restrict(tokens)
    tokens = without_attributes(tokens)
    _check_form(tokens)
    brackets = next((i for i, t in enumerate(tokens) if t.text == '['), len(tokens))
    at = brackets - 1
    if at < 0 or tokens[at].kind != 'identifier':
        raise TokenError(first, 'a parameter needs a type and a name')
    name, suffix = tokens[at], tokens[brackets:]
    # A * or a const between template brackets belongs to an argument.
    arguments = next((i for i, t in enumerate(tokens[:at]) if t.text == '<'), at)
    behind = matching(tokens, arguments, '<', '>') if arguments < at else at
    star = next((i for i, t in enumerate(tokens[:at]) if t.text == '*' and not arguments < i < behind), at)
    if star > at or (star == at and at == 0):
        raise TokenError(first, 'a parameter needs a type and a name')
    is_const = is_volatile = False
    base = []
    for number, token in enumerate(tokens[:star]):
        is_outside = not arguments < number < behind
        if token.text == 'const' and is_outside:
            is_const = True
        elif token.text == 'volatile' and is_outside:
            is_volatile = True
        elif token.text != 'typename' or not is_outside:
            base.append(token)
    pointers = []
    for token in tokens[star:at]:
        if token.text == '*':
            pointers.append(set())
            if len(pointers) > MAX_POINTERS:
                raise TokenError(token, f'a pointer more than {MAX_POINTERS} deep; use fewer')
        elif token.text in ('const', 'volatile'):
            pointers[-1].add(token.text)
        else:
            raise TokenError(token, f"expected ',' or ')' after a parameter's name{tell_found(token)}")
    if suffix:
        if sum(t.text == '[' for t in suffix) > 1:
            raise _make_error(suffix[0], 'an array of arrays', 'a pointer, and declare its dimensions: in(a[ny][nx])')
        pointers.append(set())
    if name.text in WORDS or name.text in _KNOWN_WORDS:
        raise TokenError(first, 'a parameter needs a type and a name')
    if name.text.startswith(('cf__', 'CF_')) or name.text in _TAKEN:
        raise TokenError(name, f"'{name.text}' is a name of the library's; rename the parameter")
    if name.text in C_WORDS:
        raise TokenError(name, f"'{name.text}' is a word of C, whose programs call the kernel; rename the parameter")
    if name.text in CXX20_WORDS:
        raise TokenError(name, f"'{name.text}' is a word of C++20, whose programs call the kernel; rename the "
                               'parameter')
    return RawParam(name, base[0] if base else first, _base_words(first, base), is_const, is_volatile, pointers,
                    is_restrict)


def _is_restrict(tokens):
    """True if the outermost pointer of a parameter is declared __restrict__."""
    words = [t.text for t in tokens]
    return '*' in words and not _RESTRICT.isdisjoint(words[len(words) - words[::-1].index('*'):])


def _base_words(first, base):
    if not base:
        raise TokenError(first, 'a parameter needs a type and a name')
    end = base[-1]
    cursor = Cursor(base + [Token('end', '', end.file, end.line, end.column + len(end.text))])
    words = read_type_words(cursor)
    if cursor.at('<') and words:
        return [spell_tokens(base)]
    if cursor.token.kind != 'end':
        raise TokenError(cursor.token, 'expected a parameter' + tell_found(cursor.token))
    return words
