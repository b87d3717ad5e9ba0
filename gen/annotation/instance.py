"""Fills in the template arguments of kernels and operations: from clauses and a declaration to the model."""

import itertools
import os
from dataclasses import replace

from annotation.condition import read_condition
from annotation.consistency import check_clauses, find_doubts, list_parameters
from annotation.constant import check_constants
from annotation.launchrule import read_launch
from annotation.split import check_split
from annotation.types import fill_in
from base.model import CType, Dim, Instance, Kernel, Use, Zero
from cpu.casts import find_alignment
from cpu.effects import may_point
from declare.declarations import list_heads
from expr.compile import compile_expr
from expr.cxxtypes import builtin, UNREADABLE, VOID
from expr.evaluate import evaluate_exact
from expr.names import Names
from expr.tree import parse_expr, read_type_words
from tokens.cursor import Cursor
from tokens.lexer import spell_tokens, Token, TokenError


class Instantiation:
    """Makes the model's kernels from one file's declarations. `proofs` collects the constants of the file that clauses
    use."""

    def __init__(self, types, declarations, cpu, adopted, diagnostics):
        self._types, self._declarations, self._cpu, self._adopted = types, declarations, cpu, adopted
        self._diagnostics = diagnostics
        self.proofs = set()

    def _add_error(self, token, message):
        self._diagnostics.error(token.location, message)

    def read_kernel(self, clauses, declaration, doc):
        before = self._diagnostics.count
        check_clauses(clauses, declaration, self._declarations, self._add_error)
        sets = clauses.instances
        token = declaration.token
        free = [p for p in declaration.template if p.name not in clauses.tune]
        if free and not clauses.instances_token:
            self._add_error(token, f'{token.text} is a template; list its instances: #pragma cf '
                                   f'instances({_spell_example(free)})')
        if clauses.instances_token and not declaration.template:
            self._add_error(clauses.instances_token, f'{token.text} is no template; it has no instances')
        if self._diagnostics.count != before:
            return None
        name = clauses.name.text if clauses.name else token.text
        instances, seen = [], {}
        for tag, arguments in sets or [(None, [])]:
            at = tag or token
            try:
                instance, identity = self._make_instance(f'{name}_{tag.text}' if tag else name, clauses, declaration,
                                                         arguments, at)
            except TokenError as error:
                self._add_error(error.token, str(error))
                continue
            same = seen.setdefault(identity, tag)
            if same is not tag:
                self._add_error(tag, f"instance '{tag.text}' has the same template arguments as '{same.text}'")
            instances.append(instance)
        if self._diagnostics.count != before:
            return None
        for doubtful, message in find_doubts(clauses, declaration):
            self._diagnostics.warn(doubtful.location, message)
        for doubtful, message, warning in self._cpu.find_doubts(clauses, declaration.declaration):
            self._diagnostics.warn(doubtful.location, message, warning)
        for doubtful, message in self._find_pointers(declaration, instances):
            self._diagnostics.warn(doubtful.location, message, 'pointers')
        return Kernel(name, doc, token.location, tuple(instances), clauses.is_operation, bool(clauses.internal))

    def _find_pointers(self, declaration, instances):
        """Yields warnings as (token, message) for parameters whose structs hold pointers that callers set."""
        tokens = {p.token.text: p.token for p in declaration.params}
        for param in (p for i in instances for p in i.params):
            if param.name not in tokens or param.direction not in ('CF_VALUE', 'CF_IN', 'CF_INOUT'):
                continue
            names = [f'{param.name}.{leaf.path}' for leaf in self._types.layouts.list_leaves(param.type)
                     if leaf.path and leaf.type.kind == 'pointer']
            if names:
                listed, is_are = (names[0], 'is a pointer') if len(names) == 1 else (
                    f'{", ".join(names[:-1])} and {names[-1]}', 'are pointers')
                yield tokens[param.name], (f'{listed} {is_are} inside a struct, which calls neither copy nor check, so '
                                           'callers must pass device memory there')

    def _read_arguments(self, declaration, clauses, arguments, at):
        """Returns the template arguments of an instance: name to CType or int, without tuned constants."""
        filled = {}
        free = [p for p in declaration.template if p.name not in clauses.tune]
        if len(arguments) > len(free) or any(not p.default for p in free[len(arguments):]):
            plural = '' if len(arguments) == 1 else 's'
            raise TokenError(at, f"instance '{at.text}' has {len(arguments)} template argument{plural}, and "
                                 f'{declaration.token.text} takes {list_parameters(free)}; write all of one instance '
                                 f'after its tag: instances({_spell_example(free)})')
        for number, parameter in enumerate(free):
            argument = arguments[number] if number < len(arguments) else None
            if argument is None:
                words, tree, token, text = _read_default(parameter)
            else:
                words, tree, token, text = argument.words, argument.tree, argument.token, argument.text
            if parameter.is_type:
                if words is None:
                    raise TokenError(token, f"{parameter.name} is a type, found '{text}'; "
                                            f'{declaration.token.text} takes {list_parameters(free)}')
                ctype = filled.get(words[0]) if len(words) == 1 and isinstance(filled.get(words[0]), CType) else \
                    self._types.find_type(token, words, declaration.scope)
                if ctype is VOID:
                    raise TokenError(token, "'void' is no type that an instance can have")
                filled[parameter.name] = ctype
            else:
                value = self._read_constant(words, tree, declaration.scope, filled)
                if value is None:
                    value = self._types.ask_constant(text)
                if value is None:
                    raise TokenError(token, f"{parameter.name} takes an integer constant of 64 bits, found '{text}'; "
                                            f'{declaration.token.text} takes {list_parameters(free)}')
                filled[parameter.name] = value
        return filled

    def _read_constant(self, words, tree, scope, filled):
        if words is not None:
            value = self._types.declared.types.constant(scope, ' '.join(words))
            if value is UNREADABLE:
                return None
            if value is not None and words not in (['true'], ['false']):
                self.proofs.add((scope, ' '.join(words), value))
            return value
        constants = {n: v for n, v in filled.items() if isinstance(v, int)}
        types = {n: v for n, v in filled.items() if not isinstance(v, int)}
        names = Names([], constants, types, self._types.declared.types, scope)
        try:
            value = evaluate_exact(compile_expr(tree, '', names))
        except TokenError:
            return None
        self.proofs |= names.proofs
        return value

    def _combine_tuned(self, clauses, declaration, filled):
        """Returns a list of (name, value) for each combination of tuned constants; one empty list if nothing is
        tuned."""
        lists = []
        for name, (_, values) in clauses.tune.items():
            numbers = []
            for tree, text in values:
                value = self._read_constant(None, tree, declaration.scope, filled)
                if value is None:
                    raise TokenError(tree.token, f"{name} takes integer constants, found '{text}'")
                if value in numbers:
                    raise TokenError(tree.token, f'{name} has the value {value} twice')
                numbers.append(value)
            lists.append([(name, n) for n in numbers])
        return [list(c) for c in itertools.product(*lists)]

    def _make_instance(self, name, clauses, declaration, arguments, at):
        """Returns an instance with its variants, and the values that distinguish it from other instances of its
        kernel."""
        filled = self._read_arguments(declaration, clauses, arguments, at)
        identity = tuple((v.key, v.cxx if v.kind == 'enum' else '') if isinstance(v, CType) else v
                         for v in filled.values())
        variants = []
        for constants in self._combine_tuned(clauses, declaration, filled):
            suffix = ''.join(f'__{n}_{v}'.replace('-', 'm') for n, v in constants)
            variants.append(self._fill_in_arguments(name + suffix, clauses, declaration, {**filled, **dict(constants)},
                                                    tuple(constants), name))
        first = variants[0]
        if not self._is_tuned_on_cpu(clauses, declaration):
            # Variants with equal CPU forms and parameters share one CPU body.
            variants[1:] = [replace(v, host_of=first.name) if (v.host, v.params) == (first.host, first.params) else v
                            for v in variants[1:]]
        if clauses.tune:
            first = replace(first, name=name, constants=(), variants=tuple(variants))
        return first, identity

    def _is_tuned_on_cpu(self, clauses, declaration):
        """True if the CPU form may depend on a tuned constant: a definition of the kernel uses its name, or calls the
        kernel."""
        # The annotated declaration need not be the definition, which may be elsewhere in the file.
        bodies = [d for d in self._declarations if d.defines_kernel(declaration.token.text)]
        texts = [[t.text for t in d.head + (d.body or [])] for d in [declaration.declaration, *bodies]]
        return not bodies or any(text.count(name) != 1 for text in texts for name in clauses.tune)

    def _fill_in_arguments(self, name, clauses, declaration, filled, constants, entry):
        types = {n: v for n, v in filled.items() if isinstance(v, CType)}
        numbers = {n: v for n, v in filled.items() if not isinstance(v, CType)}
        params = [self._types.read_param(raw, declaration.scope, filled, clauses.arrays) for raw in declaration.params]
        names = Names([(p.name, p.type, p.pointer) for p in params], numbers, types, self._types.declared.types,
                           declaration.scope)

        def exact(item):
            return compile_expr(*item, names) if item else None

        def real(item):
            return compile_expr(*item, names, real=True) if item else None

        in_place = {token.text: number + 1 for number, names in enumerate(clauses.in_place) for token in names}
        params = [replace(p, dims=self._read_dims(p.name, clauses, exact), in_place=in_place.get(p.name, 0))
                  if p.name in clauses.arrays else p for p in params]
        kernel = ''.join(s + '::' for s in declaration.scope if s) + declaration.token.text
        arguments = [self._spelled_argument(filled[p.name], p, declaration.scope) for p in declaration.template]
        if arguments:
            kernel += f'<{", ".join(arguments)}>'
        heads = list_heads(declaration.declaration, arguments, self._declarations)
        launch = read_launch(clauses, heads, exact,
                             lambda text: self._types.ask_number(fill_in(text, filled), declaration.scope))
        checks = tuple(read_condition(c, names, params, self._types.is_aligned) for c in clauses.checks)
        zeros = tuple(self._read_zero(params, n, s, n in clauses.rezeros, exact) for n, (_, s) in clauses.zeros.items())
        reports = real(clauses.bytes), real(clauses.flops), real(clauses.tolerance)
        check_constants(names, clauses, params, checks, reports[2])
        # The order of checks: a call reports elements out of range before elements out of order.
        checks = tuple(sorted(checks, key=lambda c: c.order == 'ascending'))
        if clauses.is_operation:
            self.proofs |= names.proofs
            uses = tuple(Use(t.text, t.location) for t in clauses.uses.values())
            return Instance(name, kernel, tuple(params), launch, checks, *reports, None, zeros=zeros, uses=uses)
        self._check_shared(clauses, declaration)
        is_bounded, is_closed, casts = self._cpu.reached(clauses, declaration)
        # Memory reached through a pointer without an extent, or through a pointer in a value or an element, belongs to
        # no argument.
        is_closed = is_closed and not clauses.image and not any(p.direction == 'CF_POINTER' or may_point(p.type)
                                                                for p in params)
        host = self._cpu.host(clauses, declaration, kernel, entry, params, types, launch,
                              lambda tokens: _find_constant(tokens, exact))
        self.proofs |= names.proofs
        aligned = [replace(p, cpu_align=_find_cpu_alignment(p, casts) if host is not None else 0) for p in params]
        if clauses.host_grid:
            host = replace(host, grid=exact(clauses.host_grid))
        split = check_split(clauses.split, params, checks, zeros) if clauses.split else None
        image, label = self._adopted.find(clauses, declaration, filled, params) if clauses.image else (None, '')
        return Instance(name, kernel, tuple(aligned), launch, checks, *reports, host, constants,
                        is_bounded and not image, is_closed, zeros=zeros, split=split, image=image, entry=label)

    def _spelled_argument(self, value, parameter, scope):
        """Returns the text of a template argument as file scope spells it."""
        if isinstance(value, CType):
            return value.cxx
        words = [w for w in parameter.words if w not in ('const', 'enum')]
        if builtin(words) is not None or words == ['auto']:
            return str(value)
        return f'({self._types.declared.types.qualified(scope, "".join(words))}){value}'

    @staticmethod
    def _read_dims(name, clauses, exact):
        array = clauses.arrays[name]
        pitches = list(clauses.pitches[name][1]) if name in clauses.pitches else []
        dims = []
        for number, (lower, extent) in enumerate(array.dims):
            inner = len(array.dims) - 1 - number        # pitches start at the innermost dimension
            pitch = pitches[inner] if number and inner < len(pitches) else None
            dims.append(Dim(exact(extent), exact(lower), exact(pitch)))
        return tuple(dims)

    @staticmethod
    def _read_zero(params, name, section, is_rezeroed, exact):
        number = next(i for i, p in enumerate(params) if p.name == name)
        lower, extent = section or (None, None)
        return Zero(number, exact(extent), exact(lower), is_rezeroed)

    def _check_shared(self, clauses, declaration):
        """Refuses extern __shared__ memory without a shared clause: the launch allocates none of it."""
        token = None if clauses.shared else self._cpu.dynamic(declaration.declaration)
        if token:
            raise TokenError(declaration.token, f'{declaration.token.text} has extern __shared__ memory, in line '
                             f'{token.line} of {os.path.basename(token.file)}, and no shared(...) tells how many '
                             'bytes; shared(0) where it uses none')


def _spell_example(parameters):
    return 'tag: ' + ', '.join('float' if p.is_type else '256' for p in parameters)


def _read_default(parameter):
    """Returns a template parameter's default as an argument: (words, tree, token, text)."""
    token = parameter.default[0]
    tokens = parameter.default + [Token('end', '', token.file, token.line, token.column)]
    text = spell_tokens(parameter.default)
    cursor = Cursor(tokens)
    words = read_type_words(cursor)
    if words and cursor.token.kind == 'end':
        return words, None, token, text
    cursor = Cursor(tokens)
    return None, parse_expr(cursor), token, text


def _find_constant(tokens, exact):
    """Returns the value of an expression in a kernel's body, None if it is no constant. `exact` compiles
    expressions."""
    cursor = Cursor([*tokens, Token('end', '', '', 0, 0)])
    try:
        tree = parse_expr(cursor)
        return evaluate_exact(exact((tree, ''))) if cursor.token.kind == 'end' else None
    except TokenError:
        return None


def _find_cpu_alignment(param, casts):
    """Returns the alignment that casts in the CPU form demand of an array, if it exceeds that of its elements."""
    if not param.dims or param.direction == 'CF_SCRATCH':
        return 0
    align = find_alignment(casts, param.type.cxx.split() if param.type.cxx else [])
    return align if align > (param.type.align or 1) else 0
