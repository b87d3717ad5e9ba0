"""Chooses the form in which the CPU runs each kernel, and the declarations in the copies of the source."""

from copy import copy
from dataclasses import replace
import re

from base.bounds import DEFAULT_BLOCK
from base.model import Host
from cpu.archcode import ArchOnly
from cpu.blockgroups import write_groups
from cpu.collected import edit_parameters, find_sums
from cpu.collective import find_foreign, find_waits, may_wait_for_work, runs_together, TOGETHER
from cpu.counts import evaluate
from cpu.cpusource import copy_for_cpu
from cpu.devicesource import copy_for_device
from cpu.dynamicmem import Dynamic
from cpu.effects import Reach
from cpu.expand import expand_calls
from cpu.hoisted import hoist_calls
from cpu.lanes import BLOCK_VOTES, NAMES
from cpu.lockstep import find_lockstep
from cpu.loops import find_hidden, find_loop, HIDDEN, reads_indices
from cpu.members import body_tokens, mark_definitions
from cpu.nested import move_shared
from cpu.numeric import calls_only_numbers, has_only_numbers
from cpu.onelane import find_written_by_one
from cpu.refused import Refused
from cpu.regions import Rewriter
from cpu.renamed import rename_values
from cpu.rows import find_rows
from cpu.tiles import find_tiles
from cpu.turned import find_turned
from cpu.unified import unify
from cpu.uniform import BARRIER
from declare.declarations import behind_template
from expr.evaluate import evaluate_exact
from tokens.brackets import split_at
from tokens.lexer import TokenError

# Matches the names of numeric types of 4 and 8 bytes.
_WIDE_TYPES = re.compile(r'float|double|((un)?signed )?(int|long( long)?)( int)?|unsigned|u?int(32|64)_t|size_t')
_NUMBERS = ('integer', 'float', 'enum')


class CpuForm:
    """Chooses the CPU's forms for the kernels of one file. `declarations`: all declarations of the file; `kernels`:
    (Clauses, KernelDeclaration) of each annotation."""

    def __init__(self, scanner, path, declarations, kernels):
        self._scanner, self._path, self._declarations = scanner, path, declarations
        mark_definitions(declarations)
        self._reaches = {}          # True for host code, False for device code: the Reach
        self._loops = {}            # name of a kernel: result of find_loop()
        self._blocks = {}           # name of a kernel: the block sizes of its annotations
        for clauses, declaration in kernels:
            self._blocks.setdefault(declaration.token.text, set()).add(tuple(_block_sizes(clauses)))
        self._together = {}         # id of a kernel's declaration: True if its threads wait for one another
        self._regions = {}          # name of a kernel: its Rewriter, or the Refused with the reason why there is none
        self._has_numbers = {}      # name of a kernel: True if the parameters of all instances are numbers
        self._numeric = {}          # (name of a kernel, types of its template parameters): result of has_only_numbers()
        self._judged = {}           # id of a kernel's declaration: result of reached()
        self._sizes = {}            # name of a kernel: result of _find_sizes()
        self._sums = {}             # name of a kernel: result of find_sums()
        self._values = {}           # name of a kernel: the last two arguments of find_rows() for its first instance
        self._turned = {}           # name of a kernel: result of find_turned()
        self._sources = {}          # id of a kernel whose x and y are exchanged: its original body
        self._copies = {}           # id of a token of a kernel: the token that takes its place before all other edits
        self._dynamic = None        # dynamicmem.Dynamic, created when it is first used
        self._arch_only = ArchOnly(scanner, declarations)

    def reached(self, clauses, declaration):
        """Returns (is bounded, is closed, pointer casts of the CPU's code) of a kernel. If the CPU runs another
        function instead, that function has to be closed, too."""
        key = id(declaration)
        if key not in self._judged:
            is_bounded, is_closed, casts = self._find_reach(False).judge(declaration.declaration)
            is_bounded = is_bounded and (clauses.host is not None or
                                         not self._runs_together(declaration.declaration))
            function = self._host_function(clauses)
            if clauses.host is not None:
                _, is_host_closed, casts = (self._find_reach(True).judge(function) if function is not None else
                                            (False, True, frozenset()))
                is_closed = is_closed and is_host_closed
            self._judged[key] = is_bounded, is_closed, casts
        return self._judged[key]

    def dynamic(self, kernel):
        """Returns a token that declares extern __shared__ memory in a kernel or a function that it calls; None if there
        is none."""
        if self._dynamic is None:
            self._dynamic = Dynamic(self._declarations)
        definitions = [kernel] if kernel.body is not None else [d for d in self._all_of(kernel)
                                                                if d.scope == kernel.scope]
        return next(filter(None, map(self._dynamic.first, definitions)), None)

    def _find_reach(self, is_host):
        if is_host not in self._reaches:
            self._reaches[is_host] = Reach(self._declarations, is_host)
        return self._reaches[is_host]

    def _host_function(self, clauses):
        """Returns the function of this file that the clause host(...) names; None if there is none."""
        name = clauses.host.text if clauses.host else None
        return next((d for d in self._declarations if name and d.body is not None and d.name == name and
                     not d.has('__global__')), None)

    def host(self, clauses, declaration, kernel, entry, params, types, launch, value):
        """Returns the Host that describes the CPU's form of an instance, None for host(none). `value`: returns the
        value of tokens that are a constant, or None."""
        if clauses.host and clauses.host.text == 'none':
            return None
        if clauses.host:
            name = clauses.host.text
            function = self._host_function(clauses)
            if function is None:
                suffix = entry[len((clauses.name or declaration.token).text):]
                return Host(name + suffix, True)
            scope = ''.join(s + '::' for s in function.scope if s)
            arguments = kernel[kernel.index('<'):] if function.head[0].text == 'template' and '<' in kernel else ''
            return Host(scope + name + arguments)
        name = declaration.token.text
        is_turned = self._is_turned(name, clauses)
        sizes = _turn(_find_sizes(clauses, declaration, launch), is_turned)
        is_other = self._sizes.setdefault(name, sizes) != sizes     # another annotation of the kernel has other sizes
        self._values.setdefault(name, (value, evaluate_exact(launch.block[0]) if len(launch.block) == 1 else None))
        used = find_foreign(declaration.declaration, self._declarations)
        if used:
            what, instead = used
            raise TokenError(declaration.token, f'{declaration.token.text} uses {what}, which the CPU does not run; '
                             f'{instead}, or add host(none) to its annotation, or host(function) with a function for '
                             'the CPU')
        self._arch_only.check(declaration.declaration, declaration.token, params)
        if self._runs_together(declaration.declaration):
            if clauses.host_grid:
                raise TokenError(clauses.host_grid[0].token,
                                 f'threads of {declaration.token.text} wait for one another, so that the CPU runs as '
                                 'many as a GPU; leave host(grid(...)) out')
            return replace(self._together_form(name, clauses, params, types, launch, value, is_other),
                           is_turned=is_turned)
        found = self._find_kernel_loop(name, clauses)
        if isinstance(found, Refused):
            return Host(reason=_explain(found), is_turned=is_turned)
        self._has_numbers[name] = self._has_numbers.get(name, True) and _are_numbers(params, types)
        has_regions = not is_other and self._is_better_as_regions(name, clauses) and _has_whole_rows(
            self._regions[name].kernel, launch, value)
        sums = self._find_sums(name)
        is_numeric = not sums and self._is_numeric(declaration, params, types)
        return Host(loop=replace(found[0], is_numeric=is_numeric), has_regions=has_regions,
                    is_global=has_regions and self._regions[name].is_global, sums=sums, is_turned=is_turned)

    def _is_turned(self, name, clauses):
        """True if x and y of the kernel with this name are exchanged. The first call exchanges them in the kernel's
        body."""
        if name not in self._turned:
            bodies = [d for d in self._declarations if d.defines_kernel(name)]
            is_plain = len(bodies) == 1 and len(clauses.block or ()) > 1 and not (
                clauses.cooperative or clauses.cluster or clauses.host_grid)
            self._turned[name] = find_turned(bodies[0], self._declarations) if is_plain else {}
            if self._turned[name]:
                kernel = bodies[0]
                self._sources[id(kernel)] = kernel.body
                self._copies.update((id(kernel.body[at]), token) for at, token in self._turned[name].items())
                kernel.body = [self._copies.get(id(token), token) for token in kernel.body]
        return bool(self._turned[name])

    def check_device_function(self, declaration):
        """Raises TokenError if the CPU cannot run a device function that kernels of other files call. Only the file of
        a kernel knows the state of its threads and blocks."""
        name = declaration.head[declaration.function]
        used = find_foreign(declaration, self._declarations)
        if used:
            raise TokenError(name, f'{name.text} uses {used[0]}, which the CPU does not run; {used[1]}, or add '
                                   'host(none) to its annotation')
        self._arch_only.check(declaration, name, ())
        if self._runs_together(declaration) or reads_indices(declaration, self._declarations):
            raise TokenError(name, f'{name.text} reads indices of its thread, uses its block or asserts, and on the '
                                   'CPU functions that other files call do not know their thread; pass what it needs, '
                                   'define it in a header, or add host(none) to its annotation')

    def find_doubts(self, clauses, kernel):
        """Yields (token, message, name of the warning) for code of a kernel that may differ from its author's
        intention."""
        if clauses.dependent and not clauses.image and not any(may_wait_for_work(d, self._declarations)
                                                               for d in self._all_of(kernel)):
            yield clauses.dependent, (f'{kernel.name} never waits for the kernel before it, whose results it may read '
                                      'too early; call cudaGridDependencySynchronize() before the first access'), \
                'dependent'
        if not clauses.host:
            found = {id(declaration): doubt for declaration, *doubt in [
                *find_lockstep(self._source_of(kernel), self._declarations, clauses.block),
                *find_written_by_one(kernel, self._declarations)]}     # at most one message per function
            for token, message in found.values():
                yield token, message, 'lockstep'
            for token, message in self._arch_only.find_parts(kernel):
                yield token, message, ''

    def _source_of(self, kernel):
        if id(kernel) not in self._sources:
            return kernel
        found = copy(kernel)
        found.body = self._sources[id(kernel)]
        return found

    def _together_form(self, name, clauses, params, types, launch, value, is_other):
        """Returns the Host of an instance of a kernel whose threads wait for one another."""
        self._has_numbers[name] = self._has_numbers.get(name, True) and _are_numbers(params, types)
        found = self._find_regions(name, clauses)
        if is_other and not isinstance(found, Refused):
            found = Refused(found.kernel.head[found.kernel.function], 'has annotations with other blocks')
        if not isinstance(found, Refused) and not _has_whole_rows(found.kernel, launch, value):
            found = Refused(found.kernel.row[0], 'does not divide the block')
        if not isinstance(found, Refused):
            return Host(is_together=True, has_regions=True, of_warps=found.of_warps, sums=self._find_sums(name))
        return Host(is_together=True, reason=_explain(found))

    def _find_regions(self, name, clauses):
        """Returns the Rewriter of the kernel with this name, or the Refused with the reason why there is none."""
        if name not in self._regions:
            kernels = [d for d in self._declarations if d.has('__global__') and d.name == name]
            bodies = [d for d in kernels if d.body is not None]
            try:
                if len(bodies) != 1 or len(kernels) > 1 and any(d.head[0].text == 'template' for d in kernels):
                    raise Refused(kernels[0].head[kernels[0].function], 'has several declarations')
                blocks = _turn(_block_sizes(clauses), self._turned.get(name))
                kernel = copy(bodies[0])
                kernel.numbers = frozenset(_find_number_types(kernel, clauses.instances))
                self._regions[name] = _find_rewriter(
                    kernel, [kernel if d is bodies[0] else d for d in self._declarations], blocks, self._sizes[name],
                    self._values[name])
            except Refused as reason:
                self._regions[name] = reason
        return self._regions[name]

    def _find_sums(self, name):
        if name not in self._sums:
            kernels = [d for d in self._declarations if d.has('__global__') and d.name == name]
            self._sums[name] = find_sums(kernels, self._declarations)
        return self._sums[name]

    def _is_better_as_regions(self, name, clauses):
        """True if a kernel whose threads do not wait runs faster as regions, because serial loops become the outer
        loops."""
        sizes = self._sizes[name]
        found = self._find_regions(name, clauses) if sizes else None
        return isinstance(found, Rewriter) and (bool(found.kernel.row) or all(sizes) and (
            found.has_loops_around or found.has_ranges))

    def _is_numeric(self, declaration, params, types):
        """True if all data of a thread are numbers in an instance of a kernel."""
        if not _are_numbers(params, types):
            return False
        key = declaration.token.text, tuple(types)
        if key not in self._numeric:
            kernel = next(d for d in self._declarations if d.defines_kernel(key[0]))
            self._numeric[key] = has_only_numbers(kernel, self._declarations, set(types))
        return self._numeric[key]

    def _find_kernel_loop(self, name, clauses):
        """Returns the result of find_loop() for the kernels with this name, or the Refused that it raises."""
        if name not in self._loops:
            blocks = _turn(_block_sizes(clauses), self._turned.get(name)) if len(self._blocks[name]) == 1 else ()
            try:
                self._loops[name] = find_loop(name, self._declarations, self._path, blocks)
            except Refused as reason:
                self._loops[name] = reason
        return self._loops[name]

    def _runs_together(self, kernel):
        """True if threads of a kernel wait for one another, or if the kernel is not understood."""
        if id(kernel) not in self._together:
            self._together[id(kernel)] = any(runs_together(root, self._declarations)
                                             for root in self._all_of(kernel))
        return self._together[id(kernel)]

    def _all_of(self, kernel):
        """Returns all declarations of a kernel. Its definition may stand apart from its annotated declaration."""
        return [kernel] + [d for d in self._declarations if d is not kernel and d.defines_kernel(kernel.name)]

    def copy_device_source(self):
        """Returns the text that nvcc compiles in place of the file; '' if nvcc compiles the file itself."""
        return copy_for_device(self._scanner, self._path, self._declarations)

    def copy_source(self, items, kernels, devices, words, error):
        """Returns the copy that the CPU compiles. `items`: the file's tokens and pragmas; `kernels`: (Clauses,
        KernelDeclaration) of each annotation; `devices`: device functions that other files call; `words`: names that
        generated code uses; `error`: called with a token and the text of its error."""
        kept = [d.declaration for c, d in kernels if not (c.host or c.is_operation)]
        annotated = {id(d.declaration) for _, d in kernels}
        names = {d.token.text for c, d in kernels if not (c.host or c.is_operation)}
        # The definition of a kernel may stand apart from its annotated declaration.
        kept += [d for d in self._declarations if d.has('__global__') and id(d) not in annotated and d.name in names]
        edits, regions = {}, {}
        clauses_of = {d.token.text: c for c, d in kernels}
        for name in names:
            kernel = next((d for d in kept if d.name == name and d.body is not None), None)
            if name in self._regions and not isinstance(self._regions[name], Refused) and (
                    self._runs_together(kernel) or self._is_better_as_regions(name, clauses_of[name])):
                is_numeric = self._has_numbers[name] and calls_only_numbers(self._regions[name].kernel,
                                                                            self._declarations)
                regions[id(kernel)] = self._regions[name], is_numeric, list(edit_parameters(
                    kernel, self._find_sums(name)))
            if not any(self._runs_together(d) for d in kept if d.name == name):
                found = self._find_kernel_loop(name, clauses_of[name])
                for key, changes in () if isinstance(found, Refused) else found[1].items():
                    declaration = next(d for d in self._declarations if id(d) == key)
                    edits[key] = changes + list(edit_parameters(declaration, self._find_sums(name)))
        functions = {c.host.text for c, _ in kernels if c.host}
        items = [self._copies.get(id(item), item) for item in items]
        return copy_for_cpu(self._scanner, items, self._declarations, kept, devices, functions, words, edits, regions,
                            error)


def _explain(reason):
    """Returns the text of a Refused, such as `__syncthreads() in line 31 depends on threadIdx.x`."""
    name = reason.token.text
    is_function = TOGETHER.fullmatch(name) and name not in ('__shared__', 'make_pipeline', 'this_cluster')
    return f'{name}{"()" * bool(is_function)} in line {reason.token.line} {reason}'


def _are_numbers(params, types):
    return all(t.kind in _NUMBERS for t in [p.type for p in params] + list(types.values()))


def _block_sizes(clauses):
    """Returns the texts of the annotation's block size along each axis; () if the CPU chooses the size, as for
    host(grid(...))."""
    if clauses.block == [] or clauses.host_grid:
        return ()
    return [text for _, text in clauses.block] if clauses.block else [str(DEFAULT_BLOCK)]


def _find_number_types(kernel, instances):
    """Yields the names of template parameters whose arguments are numeric types of 4 or 8 bytes in all instances."""
    for number, parameter in enumerate(split_at(kernel.head[2:behind_template(kernel.head) - 1], ',')):
        if [t.text for t in parameter[:-1]] in (['typename'], ['class']) and instances and all(
                _WIDE_TYPES.fullmatch(argument.text) for _, given in instances
                for argument in (given[number:number + 1] or [parameter[0]])):
            yield parameter[-1].text


def _find_sizes(clauses, declaration, launch):
    """Returns the number of a block's threads along each axis, 0 for a number that may differ between instances; () if
    the CPU chooses the numbers."""
    if clauses.block == [] or clauses.host_grid:
        return ()
    parameters = {p.name for p in declaration.template}
    texts = [text for _, text in clauses.block or [(None, '')]]
    return tuple(0 if parameters.intersection(re.findall(r'\w+', text)) else evaluate_exact(size) or 0
                 for text, size in zip(texts, launch.block))


def _turn(sizes, is_turned):
    """Returns `sizes`, with the numbers for x and y exchanged if `is_turned`."""
    return [sizes[1], sizes[0], *sizes[2:]] if is_turned else sizes


def _has_whole_rows(kernel, launch, value):
    """True if the block of an instance consists of whole rows, or if the kernel has no rows."""
    if not kernel.row:
        return True
    length, threads = value(kernel.row), evaluate_exact(launch.block[0])
    return length is not None and length > 0 and threads is not None and threads % length == 0


def _find_rewriter(kernel, declarations, blocks, sizes, values):
    """Returns the Rewriter that divides a kernel into regions; raises Refused with the reason if there is none.
    `blocks`: as in find_loop(); `sizes`: result of _find_sizes(); `values`: the last two arguments of find_rows()."""
    expanded, refused = expand_calls(kernel, declarations)
    expanded = write_groups(expanded, declarations, sizes)
    expanded = hoist_calls(move_shared(expanded, declarations), kernel, declarations)
    kernel, declarations = expanded, [expanded if d is kernel else d for d in declarations]
    for declaration, at in find_waits(kernel, declarations):
        texts = [t.text for t in body_tokens(declaration)[at:at + len(BARRIER)]]
        if texts[:1] == ['__shared__'] or declaration.has('__shared__') or declaration is kernel and (
                texts == BARRIER or not NAMES.isdisjoint(texts[:1])):
            continue
        if declaration is kernel and texts:
            raise Refused(body_tokens(declaration)[at], 'needs threads that take turns')
        name = declaration.names[-1] if declaration.names else ''
        why = f', and {_explain(refused[name])}' if name in refused else ''
        raise Refused(next((t for t in kernel.body if t.text == name), kernel.head[kernel.function]),
                      'waits for other threads' + why)
    for token in find_hidden(kernel.body):
        raise Refused(token, HIDDEN)
    has_warps = _has_rows_of_warps(kernel, sizes)
    rows = find_rows(kernel, declarations, *values) if values[1] and sizes and blocks and not has_warps else None
    of_warp = _try_form(kernel, declarations, blocks, sizes, True, values[0]) if has_warps else None
    if isinstance(of_warp, Rewriter):
        return of_warp
    found = None
    if rows is None or _has_whole_warps(kernel, sizes):
        found = _try_form(kernel, declarations, blocks, sizes, False, values[0])
    # Warps of 32 threads are better in the kernel's own block than in rows of other lengths.
    if rows is not None and not (isinstance(found, Rewriter) and found.layout.sections):
        of_rows = _try_form(rows.kernel, [rows.kernel if d is kernel else d for d in declarations], (), (), False,
                            values[0])
        if isinstance(of_rows, Rewriter):
            return of_rows
    found = found or _try_form(kernel, declarations, blocks, sizes, False, values[0])
    if isinstance(found, Refused):
        raise found
    return found


def _try_form(kernel, declarations, blocks, sizes, of_warps, value):
    """Returns the Rewriter of a kernel, or the Refused with the reason why there is none. `of_warps`: the text runs a
    warp instead of a block; `value`: as in find_rows()."""
    unified = unify(kernel, declarations)
    renamed = rename_values(unified, [unified if d is kernel else d for d in declarations])
    # Optional divisions, at a condition or a loop, may need to keep a value that cannot be kept: other trials follow.
    for is_coarse in (False, True):
        for own in {id(k): k for k in (renamed, unified, kernel)}.values():
            try:
                others = [own if d is kernel else d for d in declarations]
                found = Rewriter(own, others, blocks, sizes, of_warps, is_coarse)
                return _find_tiled(found, own, others, blocks, sizes, is_coarse, value) or found
            except Refused as reason:
                refused = reason
            except TokenError as error:
                refused = Refused(error.token, 'is not understood')
    return refused


def _find_tiled(found, kernel, declarations, blocks, sizes, is_coarse, value):
    """Returns the Rewriter of a kernel whose loops over tiles run by rows; None if it has no such loops. `found`: the
    Rewriter without rows; `is_coarse`: its last argument; `value`: as in find_rows()."""
    is_template = kernel.head[0].text == 'template'
    changed = None if found.of_warps or found.is_mirrored else find_tiles(
        kernel, declarations, found.layout, found.variables, sizes,
        (lambda tokens: evaluate([t.text for t in tokens])) if is_template else value)
    try:
        return changed and Rewriter(changed, [changed if d is kernel else d for d in declarations], blocks, sizes,
                                    False, is_coarse)
    except (Refused, TokenError):
        return None


def _has_whole_warps(kernel, sizes):
    """True if each warp is a part of a row of threads along x, and the kernel has operations of warps."""
    return bool(sizes) and sizes[0] > 0 and sizes[0] % 32 == 0 and not NAMES.isdisjoint(t.text for t in kernel.body)


def _has_rows_of_warps(kernel, sizes):
    """True if each warp is a part of a row of threads along x, and threads wait only for lanes of their own warp."""
    return _has_whole_warps(kernel, sizes) and {t.text for t in kernel.body}.isdisjoint((BARRIER[0], *BLOCK_VOTES))
