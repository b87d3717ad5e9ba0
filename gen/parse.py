"""Annotations and kernel declarations: from a file's pragmas and tokens to the model."""

from difflib import get_close_matches

import expr
from expr import Cursor, ExprError, found
from model import CANONICAL_TYPES, SCALAR_TYPES, Check, Expr, Instance, Kernel, KernelFile, Location, Param
from scan import Pragma, Token, comment_above

MAX_GRID_DIMS = 3
MAX_ARRAY_DIMS = 8
MAX_BLOCK = 1024
MAX_BLOCK_Z = 64

_DIRECTIONS = {'in': 'CF_IN', 'out': 'CF_OUT', 'inout': 'CF_INOUT'}
_CLAUSES = ('grid', 'blocks', 'block', 'in', 'out', 'inout', 'check', 'bytes')
_TYPE_WORDS = {'signed', 'unsigned', 'short', 'long', 'int', 'char', 'float', 'double'}
_QUALIFIERS = {'const', '__restrict__', '__restrict', 'register'}
# Words that a C++ kernel may call a parameter and a C prototype may not.
_C_KEYWORDS = {'restrict', '_Bool', '_Complex', '_Generic', '_Atomic', '_Alignas', '_Alignof', '_Noreturn', '_Static_assert',
               '_Thread_local', '_Imaginary'}


class _Clauses:
    """What the pragmas in front of one kernel say; names are not yet looked up."""

    def __init__(self, token):
        self.token = token          # of `kernel`, or of the first pragma
        self.is_kernel = False
        self.grid = None            # list of (tree, text)
        self.counts_blocks = False
        self.block = None
        self.arrays = {}            # name: (token, direction, [(tree, text)])
        self.checks = []            # (tree, text)
        self.bytes = None
        self.instances = []         # (tag token, [argument tokens])
        self.instances_token = None


class _Declaration:
    """A kernel's declaration as written."""

    def __init__(self):
        self.token = None           # of the name
        self.scope = ()             # enclosing namespaces
        self.template = []          # (name, is type)
        self.params = []            # _RawParam


class _RawParam:
    def __init__(self, token, words, const, pointer):
        self.token, self.words, self.const, self.pointer = token, words, const, pointer


def parse(scanner, path, stem, diagnostics):
    """Reads one kernel file. Errors go to `diagnostics`; what could be read is returned."""
    return _Parser(scanner, diagnostics).file(path, stem)


class _Parser:
    def __init__(self, scanner, diagnostics):
        self._scanner = scanner
        self._diagnostics = diagnostics
        self._items = list(scanner.items())
        self._at = 0
        self._scopes = []           # per open brace: a namespace's name, '' for an anonymous one, None for others

    def file(self, path, stem):
        kernels, before = [], self._diagnostics.count
        while not self._is_end():
            item = self._items[self._at]
            if isinstance(item, Pragma):
                kernel = self._annotated()
                if kernel:
                    kernels.append(kernel)
            else:
                self._step()
        if not kernels and self._diagnostics.count == before:
            self._diagnostics.error(Location(path, 1, 1), 'no kernel is annotated in this file; write #pragma cf kernel '
                                    '... above a __global__ function')
        return KernelFile(path, stem, tuple(kernels))

    # ---- Walking over the file

    def _is_end(self):
        item = self._items[self._at]
        return not isinstance(item, Pragma) and item.kind == 'end'

    def _step(self):
        """Passes one token, keeping track of the open scopes."""
        token = self._items[self._at]
        self._at += 1
        if token.text == 'namespace' and token.kind == 'identifier':
            names = []
            while self._peek_kind() == 'identifier' or self._peek('::'):
                names.append(self._items[self._at].text)
                self._at += 1
            if self._peek('{'):
                self._at += 1
                self._scopes.append(''.join(n for n in names if n != 'inline'))
        elif token.text == 'extern' and self._peek_kind() == 'string' and self._peek('{', 1):
            self._at += 2
            self._scopes.append('::')       # a linkage block names no scope
        elif token.text == '{':
            self._scopes.append(None)
        elif token.text == '}' and self._scopes:
            self._scopes.pop()

    def _peek(self, text, ahead=0):
        item = self._items[min(self._at + ahead, len(self._items) - 1)]
        return not isinstance(item, Pragma) and item.text == text and item.kind == 'punctuation'

    def _peek_kind(self):
        item = self._items[self._at]
        return None if isinstance(item, Pragma) else item.kind

    def _error(self, token, message):
        self._diagnostics.error(token.location, message)

    def _annotated(self):
        """The pragmas in front of one kernel, and its declaration."""
        before = self._diagnostics.count
        first = self._items[self._at]
        clauses = _Clauses(first)
        while isinstance(self._items[self._at], Pragma):
            self._pragma(self._items[self._at], clauses)
            self._at += 1
        if not clauses.is_kernel:
            if self._diagnostics.count == before:
                self._error(first, 'this annotation belongs to no kernel; write #pragma cf kernel ... above it')
            return None
        declaration = self._declaration(clauses)
        if declaration is None:
            return None
        kernel = self._kernel(clauses, declaration, first, before)
        return kernel if self._diagnostics.count == before else None

    # ---- Pragmas

    def _pragma(self, pragma, clauses):
        cursor = Cursor(pragma.tokens)
        directive = cursor.take()
        try:
            if directive.text == 'kernel':
                if clauses.is_kernel:
                    raise ExprError(directive, 'a second #pragma cf kernel for one kernel; put its clauses into the first')
                clauses.is_kernel = True
                clauses.token = directive
                while cursor.token.kind != 'end':
                    self._clause(cursor, clauses)
                    cursor.accept(',')
            elif directive.text == 'instances':
                if clauses.instances_token:
                    raise ExprError(directive, 'a second #pragma cf instances for one kernel; add to the first')
                clauses.instances_token = directive
                self._instances(cursor, clauses)
            else:
                raise ExprError(directive, f'expected kernel or instances after #pragma cf{found(directive)}')
        except ExprError as error:
            self._error(error.token, str(error))

    def _clause(self, cursor, clauses):
        name = cursor.take()
        if name.kind != 'identifier':
            raise ExprError(name, 'expected a clause' + found(name))
        if name.text not in _CLAUSES:
            near = get_close_matches(name.text, _CLAUSES, 1)
            hint = f"did you mean '{near[0]}'?" if near else 'the clauses are ' + ', '.join(_CLAUSES)
            raise ExprError(name, f"unknown clause '{name.text}'; {hint}")
        cursor.expect('(', f'after {name.text}')
        if name.text in _DIRECTIONS:
            self._arrays(cursor, clauses, _DIRECTIONS[name.text])
        else:
            items = self._expressions(cursor)
            self._set(name, items, clauses)
        cursor.expect(')', f'to close {name.text}')

    @staticmethod
    def _expressions(cursor):
        items = []
        while True:
            mark = cursor.mark()
            tree = expr.parse(cursor)
            items.append((tree, cursor.text_since(mark)))
            if not cursor.accept(','):
                return items

    @staticmethod
    def _set(name, items, clauses):
        if name.text == 'check':
            clauses.checks += items
            return
        if name.text == 'bytes':
            if clauses.bytes or len(items) != 1:
                raise ExprError(name, 'bytes takes one expression, once')
            clauses.bytes = items[0]
            return
        field = 'block' if name.text == 'block' else 'grid'
        if getattr(clauses, field) is not None:
            raise ExprError(name, f'a second {name.text} clause; a kernel has one ' +
                            ('block' if field == 'block' else 'grid or blocks'))
        if len(items) > MAX_GRID_DIMS:
            raise ExprError(items[MAX_GRID_DIMS][0].token, f'{name.text} has at most {MAX_GRID_DIMS} dimensions')
        setattr(clauses, field, items)
        if field == 'grid':
            clauses.counts_blocks = name.text == 'blocks'

    @staticmethod
    def _arrays(cursor, clauses, direction):
        while True:
            name = cursor.take()
            if name.kind != 'identifier':
                raise ExprError(name, 'expected the name of an array parameter' + found(name))
            extents = []
            while cursor.at('['):
                cursor.take()
                mark = cursor.mark()
                tree = expr.parse(cursor)
                extents.append((tree, cursor.text_since(mark)))
                cursor.expect(']', f'after an extent of {name.text}')
            if not extents:
                raise ExprError(name, f'{name.text} needs its extent: write {name.text}[n]')
            if len(extents) > MAX_ARRAY_DIMS:
                raise ExprError(name, f'{name.text} has more than {MAX_ARRAY_DIMS} dimensions')
            if name.text in clauses.arrays:
                raise ExprError(name, f'{name.text} stands in two clauses; name it once, inout where it is read and written')
            clauses.arrays[name.text] = (name, direction, extents)
            if not cursor.accept(','):
                return

    @staticmethod
    def _instances(cursor, clauses):
        cursor.expect('(', 'after instances')
        while True:
            tag = cursor.take()
            if tag.kind != 'identifier':
                raise ExprError(tag, "expected an instance's tag, as in instances(f32: float)" + found(tag))
            if tag.text in [t.text for t, _ in clauses.instances]:
                raise ExprError(tag, f"a second instance '{tag.text}'")
            cursor.expect(':', f'after the tag {tag.text}')
            arguments = []
            while True:
                words = []
                while cursor.token.kind in ('identifier', 'number') or cursor.at('-'):
                    words.append(cursor.take())
                if not words:
                    raise ExprError(cursor.token, 'expected a template argument' + found(cursor.token))
                arguments.append(words)
                if not cursor.accept(','):
                    break
            clauses.instances.append((tag, arguments))
            if not cursor.accept(';') or cursor.at(')'):
                break
        cursor.expect(')', 'to close instances')
        if cursor.token.kind != 'end':
            raise ExprError(cursor.token, 'nothing may follow instances(...)' + found(cursor.token))

    # ---- The declaration

    def _declaration(self, clauses):
        """Reads `[template <...>] ... __global__ void name(...)` up to its body."""
        tokens = []
        at = self._at
        depth = 0
        while not isinstance(self._items[at], Pragma) and self._items[at].kind != 'end':
            token = self._items[at]
            if token.kind == 'punctuation' and token.text in '([':
                depth += 1
            elif token.kind == 'punctuation' and token.text in ')]':
                depth -= 1
            elif token.kind == 'punctuation' and token.text in '{;' and depth <= 0:
                break
            tokens.append(token)
            at += 1
        end = self._items[at]
        if not any(t.text == '__global__' for t in tokens):
            # A reader looks at the annotation, and so does the message, unless there is a declaration to show.
            self._error(tokens[0] if tokens else clauses.token,
                        'expected a __global__ function below #pragma cf kernel')
            return None
        self._at = at
        cursor = Cursor(tokens + [Token('end', '', end.location)])
        declaration = _Declaration()
        try:
            self._scope(declaration, tokens[0])
            if cursor.accept('template'):
                self._template(cursor, declaration)
            self._specifiers(cursor, declaration)
            self._params(cursor, declaration)
        except ExprError as error:
            self._error(error.token, str(error))
            return None
        return declaration

    def _scope(self, declaration, token):
        for scope in self._scopes:
            if scope is None:
                raise ExprError(token, 'a kernel stands at file or namespace scope')
            if scope == '':
                raise ExprError(token, 'a kernel in an anonymous namespace has no name that can be looked up; '
                                       'name the namespace')
        declaration.scope = tuple(s for s in self._scopes if s != '::')

    @staticmethod
    def _template(cursor, declaration):
        cursor.expect('<', 'after template')
        while True:
            first = cursor.take()
            if first.text == '...' or cursor.at('...'):
                raise ExprError(first, 'a parameter pack cannot be an entry point; give the kernel a fixed number of '
                                       'parameters')
            is_type = first.text in ('typename', 'class')
            words = [first]
            while cursor.token.kind == 'identifier':
                words.append(cursor.take())
            name = words[-1]
            if name.kind != 'identifier' or len(words) < 2:
                raise ExprError(name, 'expected a named template parameter' + found(cursor.token))
            if not is_type and ' '.join(w.text for w in words[:-1] if w.text != 'const') not in \
                    set(SCALAR_TYPES) | {'bool'}:
                raise ExprError(first, 'a template parameter is a type (typename T) or an integer (int N)')
            declaration.template.append((name.text, is_type))
            if not cursor.accept(','):
                break
        cursor.expect('>', 'after the template parameters')

    @staticmethod
    def _specifiers(cursor, declaration):
        """Everything before the parameter list: attributes may stand in any order, the name comes last."""
        while True:
            token = cursor.take()
            if token.kind == 'end':
                raise ExprError(token, "expected the kernel's name and parameters")
            if (token.text.startswith('__') or token.text == 'alignas') and cursor.at('('):
                _skip_parentheses(cursor)   # __launch_bounds__, __attribute__ and the like
            elif token.kind == 'identifier' and cursor.at('('):
                declaration.token = token
                return

    @staticmethod
    def _params(cursor, declaration):
        cursor.expect('(', "after the kernel's name")
        if cursor.accept(')'):
            return
        if cursor.at('void'):
            void = cursor.take()
            if cursor.accept(')'):
                return
            raise _unsupported(void, 'void *', 'a pointer to a scalar type')
        while True:
            declaration.params.append(_param(cursor))
            if not cursor.accept(','):
                break
        cursor.expect(')', "after the kernel's parameters")

    # ---- From what was written to instances

    def _kernel(self, clauses, declaration, first, before):
        self._check_names(clauses, declaration)
        sets = clauses.instances
        if declaration.template and not sets:
            self._error(declaration.token, f'{declaration.token.text} is a template; list its instances: '
                        '#pragma cf instances(' + self._example(declaration) + ')')
        if sets and not declaration.template:
            self._error(clauses.instances_token, f'{declaration.token.text} is no template; it has no instances')
        if clauses.grid is None and self._diagnostics.count == before:
            self._error(clauses.token, 'a kernel needs grid(n), its number of threads, or blocks(n), its number of blocks')
        if self._diagnostics.count != before:
            return None
        name = declaration.token.text
        instances, seen = [], {}
        if declaration.template:
            for tag, arguments in sets:
                same = seen.setdefault(self._canonical(declaration, arguments), tag)
                if same is not tag:
                    self._error(tag, f"instance '{tag.text}' has the same template arguments as '{same.text}'")
                instances.append(self._instance(f'{name}_{tag.text}', clauses, declaration, arguments, tag))
        else:
            instances.append(self._instance(name, clauses, declaration, (), declaration.token))
        if self._diagnostics.count != before:
            return None
        doc = comment_above(self._scanner.source(first.path), first.location.line)
        return Kernel(name, doc, declaration.token.location, tuple(instances))

    @staticmethod
    def _canonical(declaration, arguments):
        """Template arguments as the compiler tells them apart."""
        texts = [' '.join(w.text for w in words) for words in arguments]
        return tuple(CANONICAL_TYPES.get(t, t) if is_type else _constant(t.replace(' ', ''))
                     for t, (_, is_type) in zip(texts, declaration.template))

    @staticmethod
    def _example(declaration):
        return 'tag: ' + ', '.join('float' if is_type else '256' for _, is_type in declaration.template)

    def _check_names(self, clauses, declaration):
        params = {p.token.text: p for p in declaration.params}
        for name, (token, direction, _) in clauses.arrays.items():
            if name not in params:
                near = get_close_matches(name, params, 1)
                self._error(token, f"'{name}' is no parameter of {declaration.token.text}" +
                            (f"; did you mean '{near[0]}'?" if near else ''))
            elif not params[name].pointer:
                self._error(token, f'{name} is passed by value; in, out and inout take arrays')
            elif direction == 'CF_IN' and not params[name].const:
                self._error(token, f'{name} is not const, so the kernel may write it; declare it const, or write '
                            f'inout({name}[...])')
            elif direction != 'CF_IN' and params[name].const:
                self._error(token, f'{name} is const, so the kernel cannot write it; write in({name}[...])')

    def _instance(self, name, clauses, declaration, arguments, tag):
        types, constants, spelled = {}, {}, {}
        if len(arguments) != len(declaration.template):
            self._error(tag, f'{len(arguments)} template arguments for {len(declaration.template)} template parameters')
            return None
        for (parameter, is_type), words in zip(declaration.template, arguments):
            text = ''.join(w.text for w in words) if not is_type else ' '.join(w.text for w in words)
            spelled[parameter] = text
            if is_type:
                if text not in SCALAR_TYPES:
                    self._error(words[0], f"'{text}' is no type that an instance can have; use a scalar type such as "
                                'float or int32_t')
                    return None
                types[parameter] = SCALAR_TYPES[text]
            else:
                constants[parameter] = _constant(text)
                if constants[parameter] is None:
                    self._error(words[0], f"{parameter} takes an integer constant of 64 bits, found '{text}'")
                    return None
        try:
            return self._substitute(name, clauses, declaration, types, constants, spelled)
        except ExprError as error:
            self._error(error.token, str(error))
            return None

    def _substitute(self, name, clauses, declaration, types, constants, spelled):
        raw = [(p, _base_type(p, types, spelled)) for p in declaration.params]
        names = expr.Names([(p.token.text, scalar, p.pointer) for p, (_, scalar) in raw], constants, types)

        def compiled(item):
            return expr.compile_expr(item[0], item[1], names)

        params = []
        for p, (base, scalar) in raw:
            _, direction, extents = clauses.arrays.get(p.token.text, (None, 'CF_POINTER' if p.pointer else 'CF_VALUE', ()))
            params.append(Param(p.token.text, base, scalar, p.pointer, p.const and p.pointer, direction,
                                tuple(compiled(e) for e in extents)))
        scope = ''.join(s + '::' for s in declaration.scope)
        arguments = ', '.join(spelled[n] for n, _ in declaration.template)
        kernel = scope + declaration.token.text + (f'<{arguments}>' if arguments else '')
        block = tuple(compiled(e) for e in clauses.block) if clauses.block else (Expr('256', (('CONST', 256), ('END', 0))),)
        self._check_block(clauses, block)
        return Instance(name, kernel, tuple(params), clauses.counts_blocks, tuple(compiled(e) for e in clauses.grid),
                        block, tuple(self._check(c, names, params) for c in clauses.checks),
                        compiled(clauses.bytes) if clauses.bytes else None)

    @staticmethod
    def _check_block(clauses, block):
        """What of a block's size is constant has to fit; the runtime checks the rest."""
        threads = 1
        for number, e in enumerate(block):
            size = expr.constant_value(e)
            if size is None:
                continue
            threads *= max(size, 0)
            limit = MAX_BLOCK_Z if number == 2 else MAX_BLOCK
            if not 1 <= size <= limit or threads > MAX_BLOCK:
                raise ExprError(clauses.block[number][0].token,
                                f'a block has 1 to {MAX_BLOCK} threads, and at most {MAX_BLOCK_Z} along z; this is '
                                f'{size if size < 1 or number == 2 else threads}')

    @staticmethod
    def _check(item, names, params):
        tree, text = item
        bounds = expr.element_check(tree)
        if bounds is None:
            return Check(text, condition=expr.compile_expr(tree, text, names))
        token, lower, lower_open, upper, upper_open = bounds
        array = next((i for i, p in enumerate(params) if p.name == token.text), None)
        if array is None or params[array].direction not in ('CF_IN', 'CF_INOUT'):
            raise ExprError(token, f'{token.text} is not declared by in(...) or inout(...), so its elements cannot be '
                                   'checked')
        if params[array].scalar.short not in ('i32', 'i64'):
            raise ExprError(token, f'{token.text} has {params[array].base} elements; those of int32_t and int64_t arrays '
                                   'can be checked')
        return Check(text, array=array,
                     lower=expr.compile_expr(lower, lower.text, names) if lower else None, lower_open=lower_open,
                     upper=expr.compile_expr(upper, upper.text, names) if upper else None, upper_open=upper_open)


def _constant(text):
    """The value of an integer template argument; None where it is none, or does not fit."""
    if text in ('true', 'false'):
        return int(text == 'true')
    try:
        value = int(text.replace("'", ''), 0)
    except ValueError:
        return None
    return value if -2**63 <= value < 2**63 else None


def _skip_parentheses(cursor):
    depth = 0
    while cursor.token.kind != 'end':
        token = cursor.take()
        if token.text == '(':
            depth += 1
        elif token.text == ')':
            depth -= 1
            if depth == 0:
                return


def _unsupported(token, what, instead):
    return ExprError(token, f"an entry point cannot take '{what}'; use {instead}")


def _param(cursor):
    """One parameter: qualifiers, a type, at most one *, a name."""
    first = cursor.token
    words, const, pointer, name = [], False, False, None
    while not cursor.at(',', ')') and cursor.token.kind != 'end':
        token = cursor.take()
        if token.text in _QUALIFIERS:
            if token.text == 'const' and not pointer:
                const = True
        elif token.text == '__grid_constant__':
            continue
        elif token.text == 'volatile':
            raise _unsupported(token, 'volatile', 'a pointer without it')
        elif token.text == '*':
            if pointer:
                raise _unsupported(token, 'a pointer to a pointer', 'a flat array')
            pointer = True
        elif token.text == '&':
            raise _unsupported(token, 'a reference', 'a pointer or a value')
        elif token.text == '...':
            raise _unsupported(token, '...', 'a fixed number of parameters')
        elif token.text == '[':
            if pointer or not cursor.accept(']'):
                raise _unsupported(token, 'an array of arrays', 'a pointer')
            pointer = True
        elif token.text == '=':
            raise ExprError(token, 'a default argument cannot reach C callers; leave it out')
        elif token.text in ('<', '(', '::'):
            raise _unsupported(first, cursor_text(words) or token.text, 'scalar types and pointers to them')
        elif token.kind == 'identifier':
            words.append(token)
        else:
            raise ExprError(token, 'expected a parameter' + found(token))
    typed = [w for w in words if w.text != 'struct']
    if not typed or len(typed) < 2 or typed[-1].text in _TYPE_WORDS:
        raise ExprError(first, 'a parameter needs a type and a name' + ('' if typed else found(cursor.token)))
    name = typed.pop()
    if name.text in _C_KEYWORDS:
        raise ExprError(name, f"'{name.text}' is a word of C, whose programs call the kernel; rename the parameter")
    return _RawParam(name, typed, const, pointer)


def cursor_text(words):
    return ' '.join(w.text for w in words)


def _base_type(param, types, spelled):
    """The C spelling and the scalar type of what a parameter is or points to."""
    words = [w.text for w in param.words]
    text = ' '.join(words)
    if text in types:
        return spelled[text], types[text]
    if set(words) <= _TYPE_WORDS and text not in SCALAR_TYPES:
        # C lets these words stand in any order, and lets `int` be left out.
        order = ['signed', 'unsigned', 'short', 'long', 'char', 'int', 'float', 'double']
        text = ' '.join(sorted(words, key=order.index))
    if text not in SCALAR_TYPES:
        hint = ("char is signed on some machines; use int8_t or uint8_t" if text == 'char' else
                'use a scalar type such as float, double, int32_t or int64_t')
        raise ExprError(param.words[0], f"unknown type '{text}'; {hint}")
    return text, SCALAR_TYPES[text]
