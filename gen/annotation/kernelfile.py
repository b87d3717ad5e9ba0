"""Reads one kernel file and makes its model from annotations and declarations."""

import os
import re
from dataclasses import replace

from annotation.adopted import Adopted
from annotation.clauses import Clauses, is_include, read_pragma
from annotation.devicefunction import add_numba, check_device_function, list_outside, read_device_function
from annotation.instance import Instantiation
from annotation.operation import check_operation
from annotation.types import FileTypes
from base.model import KernelFile, Location
from cpu.form import CpuForm
from declare.declarations import find_declarations
from declare.kerneldecl import add_params, read_kernel
from declare.probe import Probe
from declare.symboldecl import read_symbols
from tokens.cursor import check_names
from tokens.lexer import Token, TokenError
from tokens.scan import comment_above, Pragma


def read_kernel_file(scanner, path, stem, cxx, diagnostics):
    """Reads one kernel file and returns the parts that could be read. Errors go to `diagnostics`. `cxx`: the command of
    the C++ compiler, which is asked for sizes of types that the generator does not understand."""
    return _File(scanner, path, cxx, diagnostics).read(stem)


class _File:
    def __init__(self, scanner, path, cxx, diagnostics):
        self._scanner, self._path, self._diagnostics = scanner, path, diagnostics
        self._items, self._declarations = [], []
        self._probe = Probe(cxx, scanner, self._declarations)
        self._types = FileTypes(scanner, self._probe)
        self._adopted = Adopted(scanner)
        self._data = []             # declarations of __constant__ data
        self._kernels = []          # (Clauses, KernelDeclaration, doc)
        self._devices = []          # (Clauses, Declaration) of functions for other files
        self._functions = []        # the DeviceFunction of each entry of _devices
        self._symbols = []
        self._notes = []

    def _add_error(self, token, message):
        self._diagnostics.error(token.location, message)

    def read(self, stem):
        before = self._diagnostics.count
        opened = self._scanner.unclosed()
        self._walk_items()
        self._check_includes()
        self._types.complete()
        cpu = CpuForm(self._scanner, self._path, self._declarations, [(c, d) for c, d, _ in self._kernels])
        self._read_devices(cpu)
        read = self._diagnostics.count
        instances, kernels = self._read_kernels(cpu)
        while self._probe.is_waiting:       # the compiler's answers may raise more questions
            self._probe.ask(self._types.layouts.candidates())
            self._types.layouts.forget()
            self._diagnostics.drop_since(read)
            instances, kernels = self._read_kernels(cpu)
        if opened:
            self._tell_unclosed(opened, before)
        if not self._kernels and not self._devices and self._diagnostics.count == before:
            self._diagnostics.error(Location(self._path, 1, 1), 'no kernel is annotated in this file; write #pragma cf '
                                    'kernel ... above a __global__ function')
        host, types = '', self._types.layouts.definitions()
        self._check_structs(kernels)
        if self._diagnostics.count == before:
            # Annotations may name further types.
            texts = [t.cxx for t in types] + [cxx for _, _, cxx in self._probe.aliases]
            host = cpu.copy_source(self._items, [(c, d) for c, d, _ in self._kernels],
                                   [d for c, d in self._devices if not c.host],
                                   _list_words(kernels, self._symbols, instances.proofs, texts), self._add_error)
        return KernelFile(self._path, stem, tuple(kernels), tuple(self._symbols),
                          tuple(t.text[1:-1] for t in self._types.includes),
                          tuple(self._notes), tuple(instances.proofs), host, tuple(self._scanner.macros),
                          cpu.copy_device_source(), types,
                          tuple(self._probe.aliases), frozenset(self._types.shared), self._list_leaves(kernels),
                          (*self._functions, *(read_device_function(d, d.has('__host__'))
                                               for d in list_outside(self._declarations))))

    def _check_structs(self, kernels):
        """Refuses a parameter whose struct has the name of a function, which would hide it in generated code."""
        functions = {'::'.join([*filter(None, d.scope), d.name]): d.head[0]
                     for d in self._declarations if d.function is not None}
        for name, location in self._list_structs(kernels).items():
            where = f', in line {functions[name].line} of {os.path.basename(functions[name].file)},' \
                if name in functions else ''
            if where or self._is_hidden(name):
                self._diagnostics.error(location, f'{name} is a struct and{where} a function; rename the struct')

    @staticmethod
    def _list_structs(kernels):
        """Maps the C++ names of structs in parameters, except typedefs, to their places."""
        return {p.type.cxx: k.location for k in kernels for i in k.instances for p in i.params
                if p.type.kind == 'struct' and p.type.c.startswith('struct ')}

    def _is_hidden(self, name):
        """True if a function of C's headers hides a struct's name; such functions have lower-case letters and
        digits."""
        return (re.fullmatch('[a-z][a-z0-9]*', name) is not None and
                self._probe.value(f'sizeof(struct {name})', [name]) is not None and
                self._probe.value(f'sizeof({name})', [name]) is None)

    def _read_devices(self, cpu):
        for clauses, declaration in self._devices:
            try:
                check_device_function(clauses.token, declaration)
                if not clauses.host:
                    cpu.check_device_function(declaration)
                self._functions.append(read_device_function(declaration, not clauses.host))
                if clauses.numba:
                    self._functions[-1] = add_numba(self._functions[-1], declaration, self._types)
            except TokenError as error:
                self._add_error(error.token, str(error))

    def _list_leaves(self, kernels):
        """Returns the leaves of each struct that is an argument or an element of an array argument."""
        structs = {p.type.c: p.type for k in kernels for i in k.instances for p in i.arguments
                   if p.direction != 'CF_POINTER' and p.type.kind == 'struct'}
        leaves = {c: self._types.layouts.list_leaves(ctype) for c, ctype in structs.items()}
        return tuple((c, found) for c, found in leaves.items() if found)

    def _read_kernels(self, cpu):
        """Returns the Instantiation of all kernels, and the kernels that could be read; also reads the data."""
        instances = Instantiation(self._types, self._declarations, cpu, self._adopted, self._diagnostics)
        self._symbols, self._notes = [], []
        for declaration in self._data:
            self._symbols_of(declaration)
        kernels = [kernel for kernel in (instances.read_kernel(*k) for k in self._kernels) if kernel]
        for name in self._list_structs(kernels):
            self._is_hidden(name)       # queues a question to the compiler; the next pass reads the answer
        return instances, kernels

    # ---- Walking over the file

    def _tell_unclosed(self, opened, before):
        """Reports unclosed brackets, and drops the errors after the first bracket, which may follow from it."""
        self._diagnostics.drop_behind(opened[0][0].location, before)
        for token, closing in opened:
            what = 'never closed'
            if closing:
                place = f'of line {closing.line}' if closing.file == token.file else f'at {closing.file}:{closing.line}'
                what = f"not closed before the '{closing.text}' {place}"
            self._add_error(token, f"this '{token.text}' is {what}")

    def _walk_items(self):
        """Collects the file's declarations and pairs annotations with the kernels below them."""
        clauses = first = None
        before = 0
        try:
            self._items = self._scanner.read_items()
        except TokenError as error:
            self._add_error(error.token, str(error))
            return
        for item in find_declarations(self._items):
            if isinstance(item, Pragma):
                if is_include(item):
                    self._file_pragma(item)
                    continue
                if clauses is None:
                    clauses, first, before = Clauses(item), item, self._diagnostics.count - (not item.is_read)
                read_pragma(item, clauses, self._diagnostics)
                continue
            if clauses is not None:
                self._read_annotated(clauses, first, item, before)
                clauses = None
            if not item.is_member:
                self._declarations.append(item)
                self._types.declared.add(item)
                if item.has('__constant__') and item.function is None:
                    self._data.append(item)
        if clauses is not None:
            self._read_annotated(clauses, first, None, before)

    def _file_pragma(self, pragma):
        clauses = Clauses(pragma)
        read_pragma(pragma, clauses, self._diagnostics)
        self._types.add_includes(clauses.includes)

    def _check_includes(self):
        """Checks that the kernel file itself includes the headers of its types."""
        for token in self._types.includes:
            name = os.path.normpath(token.text[1:-1])
            if not any(os.path.normpath(p) == name or os.path.normpath(p).endswith('/' + name.lstrip('./'))
                       for p in self._scanner.paths):
                self._add_error(token, f'this file does not include {name}; include("...") names a header whose types '
                                       'it shares with C')

    def _read_annotated(self, clauses, first, declaration, before):
        if not clauses.is_kernel:
            if self._diagnostics.count == before:
                self._add_error(first, 'this annotation belongs to no kernel; write #pragma cf kernel ... above it')
            return
        self._types.add_includes(clauses.includes)
        if clauses.device:
            self._devices += [(clauses, declaration)] * (self._diagnostics.count == before)
            return
        if not clauses.is_operation and (declaration is None or not declaration.has('__global__')):
            # The message shows the declaration, or the annotation if there is none.
            self._add_error(declaration.head[0] if declaration else clauses.token,
                            'expected a __global__ function below #pragma cf kernel')
            return
        try:
            if clauses.is_operation:
                check_operation(clauses.token, declaration)
            kernel = read_kernel(declaration, 'an operation' if clauses.is_operation else 'a kernel')
            add_params(kernel, clauses.added)
            if clauses.image and not (clauses.host or clauses.host_grid):
                clauses.host = Token('identifier', 'none', '', 0, 0)    # an image has only GPU code
        except TokenError as error:
            self._add_error(error.token, str(error))
            return
        if self._diagnostics.count == before:
            # The comment is above the annotation, or between it and the kernel.
            head = declaration.head[0]
            doc = (comment_above(self._scanner.source(first.path), first.location.line) or
                   comment_above(self._scanner.lines_of(head.file), head.line))
            self._kernels.append((clauses, kernel, doc))

    def _symbols_of(self, declaration):
        """Reads the symbols of a declaration. Data whose type C cannot name have no setter; the header says why."""
        first = declaration.head[0]
        try:
            check_names(declaration.head)
        except TokenError as error:
            self._add_error(error.token, str(error))
            return
        for read in read_symbols(declaration):
            try:
                symbol = read(self._types.declared)
                doc = comment_above(self._scanner.lines_of(first.file), first.line)
                self._symbols.append(replace(symbol, doc=doc))
            except TokenError as error:
                self._notes.append(f'{error.token.file}:{error.token.line}: {error}')


def _list_words(kernels, symbols, proofs, types):
    """Returns the words of types, template arguments and constants that the generated C++ for the CPU uses."""
    texts = [s.type.cxx for s in symbols] + [name for _, name, _ in proofs] + types
    for kernel in kernels:
        for instance in kernel.instances:
            for variant in instance.all_variants:
                if variant.host is not None:
                    texts += [variant.kernel, *(p.cxx for p in variant.params)]
    return sorted({word for text in texts for word in re.findall(r'[^\W\d]\w*', text)})
