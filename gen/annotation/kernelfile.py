"""One kernel file: from its annotations and declarations to the model."""

import itertools
import os
import re
from dataclasses import replace

from annotation import consistency
from expr import expr
from annotation import operation
from cpu import effects
from annotation.clauses import Clauses, is_include, read_pragma
from annotation.constant import Constants
from cpu.form import CpuForm
from expr.cxxtypes import UNREADABLE, VOID, builtin, pointer
from declare.declarations import declarations
from expr.expr import ExprError
from tokens.lexer import Token, written
from base.model import Check, CType, Dim, Expr, Instance, Kernel, KernelFile, Launch, Location, Param, Use, Zero
from declare.kerneldecl import read_kernel
from tokens.scan import Pragma, comment_above
from annotation.split import split_by
from declare.symboldecl import read_symbols
from declare.typedecl import Declared

MAX_BLOCK = 1024
MAX_BLOCK_Z = 64
_CHECKED = ('i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64')


def parse(scanner, path, stem, diagnostics):
    """Reads one kernel file. Errors go to `diagnostics`; what could be read is returned."""
    return _File(scanner, path, diagnostics).read(stem)


class _File:
    def __init__(self, scanner, path, diagnostics):
        self._scanner, self._path, self._diagnostics = scanner, path, diagnostics
        self._declared = Declared(path)
        self._declarations = []
        self._includes = []
        self._kernels = []          # (Clauses, KernelDeclaration, doc)
        self._symbols = []
        self._notes = []
        self._proofs = set()
        self._cpu = None            # CpuForm, once all is declared

    def _error(self, token, message):
        self._diagnostics.error(token.location, message)

    def read(self, stem):
        before = self._diagnostics.count
        opened = self._scanner.unclosed()
        self._walk()
        self._check_includes()
        self._cpu = CpuForm(self._scanner, self._path, self._declarations)
        kernels = []
        for clauses, declaration, doc in self._kernels:
            kernel = self._kernel(clauses, declaration, doc)
            if kernel:
                kernels.append(kernel)
        if opened:
            self._tell_unclosed(opened, before)
        if not self._kernels and self._diagnostics.count == before:
            self._diagnostics.error(Location(self._path, 1, 1), 'no kernel is annotated in this file; write #pragma cf '
                                    'kernel ... above a __global__ function')
        host = ''
        if self._diagnostics.count == before:
            host = self._cpu.source([(c, d) for c, d, _ in self._kernels], self._proofs, self._error)
        return KernelFile(self._path, stem, tuple(kernels), tuple(self._symbols),
                          tuple(t.text[1:-1] for t in self._includes),
                          tuple(self._notes), tuple(self._proofs), host)

    # ---- Walking over the file

    def _tell_unclosed(self, opened, before):
        """Brackets that nothing closes, in the place of all errors behind the first, which may follow from it."""
        self._diagnostics.drop_behind(opened[0][0].location, before)
        for token, closing in opened:
            what = 'never closed'
            if closing:
                place = f'of line {closing.line}' if closing.file == token.file else f'at {closing.file}:{closing.line}'
                what = f"not closed before the '{closing.text}' {place}"
            self._error(token, f"this '{token.text}' is {what}")

    def _walk(self):
        """Learns what the file declares, and pairs annotations with the kernels below them."""
        clauses = first = None
        before = 0
        for item in declarations(list(self._scanner.items())):
            if isinstance(item, Pragma):
                if is_include(item):
                    self._file_pragma(item)
                    continue
                if clauses is None:
                    clauses, first, before = Clauses(item), item, self._diagnostics.count - (not item.is_read)
                read_pragma(item, clauses, self._diagnostics)
                continue
            if clauses is not None:
                self._annotated(clauses, first, item, before)
                clauses = None
            if not item.is_member:
                self._declarations.append(item)
                self._declared.add(item)
                if item.has('__constant__') and item.function is None:
                    self._symbols_of(item)
        if clauses is not None:
            self._annotated(clauses, first, None, before)

    def _file_pragma(self, pragma):
        clauses = Clauses(pragma)
        read_pragma(pragma, clauses, self._diagnostics)
        self._add_includes(clauses)

    def _add_includes(self, clauses):
        self._includes += [token for token in clauses.includes if token.text not in [t.text for t in self._includes]]

    def _check_includes(self):
        """Types come from headers that the kernel file itself includes."""
        for token in self._includes:
            name = os.path.normpath(token.text[1:-1])
            if not any(os.path.normpath(p) == name or os.path.normpath(p).endswith('/' + name.lstrip('./'))
                       for p in self._scanner.paths):
                self._error(token, f'this file does not include {name}; include("...") names a header whose types it '
                                   'shares with C')

    def _annotated(self, clauses, first, declaration, before):
        if not clauses.is_kernel:
            if self._diagnostics.count == before:
                self._error(first, 'this annotation belongs to no kernel; write #pragma cf kernel ... above it')
            return
        self._add_includes(clauses)
        if not clauses.is_operation and (declaration is None or not declaration.has('__global__')):
            # A reader looks at the annotation, and so does the message, unless there is a declaration to show.
            self._error(declaration.head[0] if declaration else clauses.token,
                        'expected a __global__ function below #pragma cf kernel')
            return
        try:
            if clauses.is_operation:
                operation.check_declaration(clauses.token, declaration)
            kernel = read_kernel(declaration, 'an operation' if clauses.is_operation else 'a kernel')
        except ExprError as error:
            self._error(error.token, str(error))
            return
        if self._diagnostics.count == before:
            # Above the annotation, or between it and the kernel.
            head = declaration.head[0]
            doc = (comment_above(self._scanner.source(first.path), first.location.line) or
                   comment_above(self._scanner.source_shown(head.file), head.line))
            self._kernels.append((clauses, kernel, doc))

    def _symbols_of(self, declaration):
        """Data of a type that C cannot name have no setter; the header says why."""
        first = declaration.head[0]
        try:
            expr.check_names(declaration.head)
        except ExprError as error:
            self._error(error.token, str(error))
            return
        for read in read_symbols(declaration):
            try:
                symbol = read(self._declared)
                self._check_header(first, symbol.type)
                doc = comment_above(self._scanner.source_shown(first.file), first.line)
                self._symbols.append(replace(symbol, doc=doc))
            except ExprError as error:
                self._notes.append(f'{error.token.file}:{error.token.line}: {error}')

    # ---- Types

    def _check_header(self, token, ctype):
        """A type that a header declares needs include(...) for C to see it."""
        header = self._declared.headers.get(ctype.c)
        if header and not self._includes and not any(c.includes for c, _, _ in self._kernels):
            name = os.path.relpath(header, os.path.dirname(self._path) or '.')
            self._error(token, f'{ctype.cxx} is declared in {header}, which C programs have to include too; add '
                               f'include("{name}") to the annotation')

    def _type(self, token, words, scope):
        found = self._declared.types.find(scope, words)
        text = ' '.join(words)
        if isinstance(found, str):
            raise ExprError(token, found)
        if found is None and words == ['void']:
            return VOID
        if found is None and 'std::' in text:
            raise ExprError(token, f"'{text}' is a class of the C++ library, which C does not have; pass a pointer "
                                   "and a "
                                   'length')
        if found is None:
            near = self._declared.types.near(words[-1])
            raise ExprError(token, f"unknown type '{text}'; " + (f"did you mean '{near}'?" if near else
                            'use a scalar type such as float, double, int32_t or int64_t, or a struct of a header that '
                            'include(...) names'))
        self._check_header(token, found)
        return found

    def _param(self, raw, declaration, types, arrays):
        """(Param without dimensions, its token) of one instance."""
        base = types.get(raw.words[0]) if len(raw.words) == 1 else None
        if base is None:
            words = [self._fill(w, types) for w in raw.words]
            base = self._type(raw.first, words, declaration.scope)
        if base is VOID and not raw.pointer:
            raise ExprError(raw.first, f'{raw.token.text} has no type')
        spelled_c, spelled_cxx = (_spelled(raw, name) for name in (base.c, base.cxx))
        element = base
        if len(raw.pointers) > 1:
            inner_c, inner_cxx = (_spelled(raw, name, len(raw.pointers) - 1) for name in (base.c, base.cxx))
            element = pointer(inner_c, inner_cxx)
        array = arrays.get(raw.token.text)
        direction = array.direction if array else 'CF_POINTER' if raw.pointer else 'CF_VALUE'
        if array and element is VOID:
            raise ExprError(array.token, f'the elements of {raw.token.text} have no type, so it has no extent; give '
                                         "it the elements' type")
        return Param(raw.token.text, spelled_c, spelled_cxx, element, raw.pointer, raw.pointer and raw.const, direction,
                     (), raw.is_restrict)

    @staticmethod
    def _fill(word, types):
        """complex<T> with T filled in."""
        for name, ctype in types.items():
            word = word.replace(f'<{name}>', f'<{ctype.cxx}>')
        return word

    # ---- From what was written to instances

    def _kernel(self, clauses, declaration, doc):
        before = self._diagnostics.count
        consistency.check(clauses, declaration, self._declarations, self._error)
        sets = clauses.instances
        token = declaration.token
        free = [p for p in declaration.template if p.name not in clauses.tune]
        if free and not clauses.instances_token:
            self._error(token, f'{token.text} is a template; list its instances: #pragma cf '
                               f'instances({_example(free)})')
        if clauses.instances_token and not declaration.template:
            self._error(clauses.instances_token, f'{token.text} is no template; it has no instances')
        if self._diagnostics.count != before:
            return None
        name = clauses.name.text if clauses.name else token.text
        instances, seen = [], {}
        for tag, arguments in sets or [(None, [])]:
            at = tag or token
            try:
                instance, identity = self._instance(f'{name}_{tag.text}' if tag else name, clauses, declaration,
                                                    arguments, at)
            except ExprError as error:
                self._error(error.token, str(error))
                continue
            same = seen.setdefault(identity, tag)
            if same is not tag:
                self._error(tag, f"instance '{tag.text}' has the same template arguments as '{same.text}'")
            instances.append(instance)
        if self._diagnostics.count != before:
            return None
        for doubtful, message in consistency.doubts(clauses, declaration):
            self._diagnostics.warn(doubtful.location, message)
        return Kernel(name, doc, token.location, tuple(instances), clauses.is_operation, bool(clauses.internal))

    def _arguments(self, declaration, clauses, arguments, at):
        """The template arguments of an instance: name to CType or int, tuned ones left out."""
        filled = {}
        free = [p for p in declaration.template if p.name not in clauses.tune]
        if len(arguments) > len(free) or any(not p.default for p in free[len(arguments):]):
            plural = '' if len(arguments) == 1 else 's'
            raise ExprError(at, f"instance '{at.text}' has {len(arguments)} template argument{plural}, and "
                                f'{declaration.token.text} takes {consistency.listed(free)}; write all of one instance behind its '
                                f'tag: instances({_example(free)})')
        for number, parameter in enumerate(free):
            argument = arguments[number] if number < len(arguments) else None
            if argument is None:
                words, tree, token, text = _default(parameter)
            else:
                words, tree, token, text = argument.words, argument.tree, argument.token, argument.text
            if parameter.is_type:
                if words is None:
                    raise ExprError(token, f"{parameter.name} is a type, found '{text}'; "
                                           f'{declaration.token.text} takes {consistency.listed(free)}')
                ctype = filled.get(words[0]) if len(words) == 1 and isinstance(filled.get(words[0]), CType) else \
                    self._type(token, words, declaration.scope)
                if ctype is VOID:
                    raise ExprError(token, "'void' is no type that an instance can have")
                filled[parameter.name] = ctype
            else:
                value = self._constant(words, tree, declaration.scope, filled)
                if value is None:
                    raise ExprError(token, f"{parameter.name} takes an integer constant of 64 bits, found '{text}'; "
                                           f'{declaration.token.text} takes {consistency.listed(free)}')
                filled[parameter.name] = value
        return filled

    def _constant(self, words, tree, scope, filled):
        if words is not None:
            value = self._declared.types.constant(scope, ' '.join(words))
            if value is UNREADABLE:
                return None
            if value is not None and words not in (['true'], ['false']):
                self._proofs.add((scope, ' '.join(words), value))
            return value
        constants = {n: v for n, v in filled.items() if isinstance(v, int)}
        types = {n: v for n, v in filled.items() if not isinstance(v, int)}
        names = expr.Names([], constants, types, self._declared.types, scope)
        try:
            value = expr.constant_value(expr.compile_expr(tree, '', names))
        except ExprError:
            return None
        self._proofs |= names.proofs
        return value

    def _tuned(self, clauses, declaration, filled):
        """Every combination of tuned constants, as lists of (name, value); one empty list where nothing is tuned."""
        lists = []
        for name, (_, values) in clauses.tune.items():
            numbers = []
            for tree, text in values:
                value = self._constant(None, tree, declaration.scope, filled)
                if value is None:
                    raise ExprError(tree.token, f"{name} takes integer constants, found '{text}'")
                if value in numbers:
                    raise ExprError(tree.token, f'{name} has the value {value} twice')
                numbers.append(value)
            lists.append([(name, n) for n in numbers])
        return [list(c) for c in itertools.product(*lists)]

    def _instance(self, name, clauses, declaration, arguments, at):
        """An instance with its variants, and what tells it apart from others of its kernel."""
        filled = self._arguments(declaration, clauses, arguments, at)
        identity = tuple((v.key, v.cxx if v.kind == 'enum' else '') if isinstance(v, CType) else v
                         for v in filled.values())
        variants = []
        for constants in self._tuned(clauses, declaration, filled):
            suffix = ''.join(f'__{n}_{v}'.replace('-', 'm') for n, v in constants)
            variants.append(self._substitute(name + suffix, clauses, declaration, {**filled, **dict(constants)},
                                             tuple(constants), name))
        first = variants[0]
        if not self._is_tuned_on_cpu(clauses, declaration):
            # Where all else is the same the body need not be compiled again.
            variants[1:] = [replace(v, host_of=first.name) if (v.host, v.params) == (first.host, first.params) else v
                            for v in variants[1:]]
        if clauses.tune:
            first = replace(first, name=name, constants=(), variants=tuple(variants))
        return first, identity

    def _is_tuned_on_cpu(self, clauses, declaration):
        """Whether what the CPU runs may depend on a tuned constant: a definition of the kernel names it, but to declare
        it, or calls it otherwise."""
        # An annotation may stand at a declaration, and the definition elsewhere.
        bodies = [d for d in self._declarations if d.has('__global__') and d.function is not None and d.body is not None and
                  d.head[d.function].text == declaration.token.text]
        texts = [[t.text for t in d.head + (d.body or [])] for d in [declaration.declaration, *bodies]]
        return not bodies or any(text.count(name) != 1 for text in texts for name in clauses.tune)

    def _substitute(self, name, clauses, declaration, filled, constants, entry):
        types = {n: v for n, v in filled.items() if isinstance(v, CType)}
        numbers = {n: v for n, v in filled.items() if not isinstance(v, CType)}
        params = [self._param(raw, declaration, types, clauses.arrays) for raw in declaration.params]
        names = expr.Names([(p.name, p.type, p.pointer) for p in params], numbers, types, self._declared.types,
                           declaration.scope)

        def exact(item):
            return expr.compile_expr(*item, names) if item else None

        def real(item):
            return expr.compile_expr(*item, names, real=True) if item else None

        in_place = {token.text: number + 1 for number, names in enumerate(clauses.in_place) for token in names}
        params = [replace(p, dims=self._dims(p.name, clauses, exact), in_place=in_place.get(p.name, 0))
                  if p.name in clauses.arrays else p for p in params]
        kernel = ''.join(s + '::' for s in declaration.scope) + declaration.token.text
        if declaration.template:
            kernel += '<' + ', '.join(self._spelled_argument(filled[p.name], p, declaration.scope)
                                      for p in declaration.template) + '>'
        launch = self._launch(clauses, exact)
        checks = tuple(self._check(c, names, params) for c in clauses.checks)
        zeros = tuple(self._zero(params, n, s, n in clauses.rezeros, exact) for n, (_, s) in clauses.zeros.items())
        reports = real(clauses.bytes), real(clauses.flops), real(clauses.tolerance)
        self._check_constants(Constants(names, clauses.tune), clauses, params, checks, reports[2])
        # A call reports elements out of range first.
        checks = tuple(sorted(checks, key=lambda c: c.order == 'ascending'))
        self._proofs |= names.proofs
        if clauses.is_operation:
            uses = tuple(Use(t.text, t.location) for t in clauses.uses.values())
            return Instance(name, kernel, tuple(params), launch, checks, *reports, None, zeros=zeros, uses=uses)
        self._check_shared(clauses, declaration)
        is_bounded, is_closed = self._cpu.reached(clauses, declaration)
        # Memory behind a pointer that has no extent, or behind one in a value or an element, is nobody's argument.
        is_closed = is_closed and not any(p.direction == 'CF_POINTER' or effects.may_point(p.type) for p in params)
        host = self._cpu.host(clauses, declaration, kernel, entry, params, types)
        if clauses.host_grid:
            host = replace(host, grid=exact(clauses.host_grid))
        split = split_by(clauses.split, params, checks, zeros) if clauses.split else None
        return Instance(name, kernel, tuple(params), launch, checks, *reports, host, constants, is_bounded, is_closed,
                        zeros=zeros, split=split)

    def _spelled_argument(self, value, parameter, scope):
        """A template argument at file scope."""
        if isinstance(value, CType):
            return value.cxx
        words = [w for w in parameter.words if w not in ('const', 'enum')]
        if builtin(words) is not None or words == ['auto']:
            return str(value)
        return f'({self._declared.types.qualified(scope, "".join(words))}){value}'

    @staticmethod
    def _dims(name, clauses, exact):
        array = clauses.arrays[name]
        pitches = list(clauses.pitches[name][1]) if name in clauses.pitches else []
        dims = []
        for number, (lower, extent) in enumerate(array.dims):
            inner = len(array.dims) - 1 - number        # pitches begin with the innermost dimension
            pitch = pitches[inner] if number and inner < len(pitches) else None
            dims.append(Dim(exact(extent), exact(lower), exact(pitch)))
        return tuple(dims)

    @staticmethod
    def _zero(params, name, section, is_rezeroed, exact):
        number = next(i for i, p in enumerate(params) if p.name == name)
        lower, extent = section or (None, None)
        return Zero(number, exact(extent), exact(lower), is_rezeroed)

    def _launch(self, clauses, exact):
        if clauses.is_operation:
            return Launch(False, False, False, (), (), None, None)
        block = () if clauses.block == [] else tuple(exact(e) for e in clauses.block) if clauses.block else (
            Expr('256', (('CONST', 256), ('END', 0))),)
        self._check_block(clauses, block)
        return Launch(clauses.counts_blocks, bool(clauses.cooperative), clauses.block == [],
                      tuple(exact(e) for e in clauses.grid), block, exact(clauses.items), exact(clauses.shared))

    def _check_shared(self, clauses, declaration):
        """What a launch gives no memory to would write on other memory."""
        token = None if clauses.shared else self._cpu.dynamic(declaration.declaration)
        if token:
            raise ExprError(declaration.token, f'{declaration.token.text} has extern __shared__ memory, in line '
                            f'{token.line} of {os.path.basename(token.file)}, and no shared(...) tells how many bytes; '
                            'shared(0) where it uses none')

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
                token = clauses.block[number][0].token if clauses.block else clauses.token
                raise ExprError(token, f'a block has 1 to {MAX_BLOCK} threads, and at most {MAX_BLOCK_Z} along z; '
                                       f'this is {size if size < 1 or number == 2 else threads}')

    @staticmethod
    def _check_constants(constants, clauses, params, checks, tolerance):
        """What of the clauses is constant has to work."""
        if not clauses.is_operation:
            constants.launch(clauses)
        if clauses.host_grid:
            constants.host_grid(clauses.host_grid)
        for param in params:
            if param.name in clauses.arrays:
                constants.array(clauses.arrays[param.name], clauses.pitches.get(param.name, (None, ()))[1], param.type)
        for name, (_, section) in clauses.zeros.items():
            if section:
                constants.zero(name, section, clauses.arrays[name].dims[0])
        for (tree, text), check in zip(clauses.checks, checks):
            if not check.is_real:
                constants.check(tree, text)
            elif check.condition:
                constants.real_check(tree, check.condition)
        if clauses.tolerance:
            constants.tolerance(clauses.tolerance[0], tolerance)
        for item, clause in ((clauses.flops, 'flops'), (clauses.bytes, 'bytes')):
            if item:
                constants.count(item, clause)

    @staticmethod
    def _check(item, names, params):
        tree, text = item
        # Callers of the C function know nothing of the template's names.
        values = {**{n: t.c for n, t in names.types.items()}, **{n: str(v) if v >= 0 else f'({v})' for n, v in names.constants.items()}}
        text = re.sub(r'(?<![\w.:])[A-Za-z_]\w*(?!\w|::)', lambda m: values.get(m.group(), m.group()), text)
        if tree.kind == 'ORDER':
            token, order = tree.parts[0], tree.token.text
            array = _checked(token, names, params)
            if order == 'ascending' and len(params[array].dims) > 1:
                raise ExprError(token, f'{token.text} has {len(params[array].dims)} dimensions; elements ascend in '
                                       'arrays of one')
            return Check(text, array=array, order=order)
        bounds = expr.element_check(tree)
        if bounds is None:
            is_real = expr.reads_real(tree, names)
            return Check(text, condition=expr.compile_expr(tree, text, names, is_real), is_real=is_real)
        token, lower, lower_open, upper, upper_open = bounds
        return Check(text, array=_checked(token, names, params),
                     lower=expr.compile_expr(lower, lower.text, names) if lower else None, lower_open=lower_open,
                     upper=expr.compile_expr(upper, upper.text, names) if upper else None, upper_open=upper_open)


def _checked(token, names, params):
    """The number of the array at a token, whose elements are checked."""
    array = names.number(token, token.text)
    ctype = params[array].type
    if params[array].direction not in ('CF_IN', 'CF_INOUT'):
        raise ExprError(token, f'{token.text} is not declared by in(...) or inout(...), so its elements cannot be '
                               'checked')
    if ctype.kind != 'integer' or ctype.short not in _CHECKED:
        raise ExprError(token, f'{token.text} has {ctype.cxx} elements; those of integer arrays can be checked')
    return array


def _example(parameters):
    return 'tag: ' + ', '.join('float' if p.is_type else '256' for p in parameters)


def _default(parameter):
    """A template parameter's default as an argument: (words, tree, token, text)."""
    token = parameter.default[0]
    tokens = parameter.default + [Token('end', '', token.file, token.line, token.column)]
    text = written(parameter.default)
    cursor = expr.Cursor(tokens)
    words = expr.type_words(cursor)
    if words and cursor.token.kind == 'end':
        return words, None, token, text
    cursor = expr.Cursor(tokens)
    return None, expr.parse(cursor), token, text


def _spelled(raw, base, pointers=None):
    """The type of a parameter over a base type's name; with `pointers`, of what so many of its pointers give."""
    text = ('const ' if raw.is_const and raw.pointer else '') + (
        'volatile ' if raw.is_volatile and raw.pointer else '') + base
    stars = raw.pointers if pointers is None else raw.pointers[:pointers]
    for number, qualifiers in enumerate(stars):
        text += '*' if number else ' *'
        if pointers is not None or number < len(stars) - 1:
            text += ''.join(f'{q} ' for q in ('const', 'volatile') if q in qualifiers)
    return text.rstrip()
