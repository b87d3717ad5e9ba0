"""Describes a library for wrappers in other languages: its manifest with names in place of the numbers of parameters,
and without internal kernels and scratch memory."""

from dataclasses import dataclass

DIRECTIONS = ('in', 'out', 'inout')


@dataclass(frozen=True)
class Type:
    """A type. `kind`: as in the manifest, such as f32, i64 or opaque; `ctype`: its name in C."""
    ctype: str
    kind: str
    lanes: int
    bytes: int          # None if only the C compiler knows it
    align: int


@dataclass(frozen=True)
class Expression:
    """An expression. `tree` is ('CONST', n), ('SIZEOF', type), ('REAL', x), ('PARAM', name), ('MEMBER', name, path),
    ('SELECT', condition, tree, tree), or a step of <cuferry/registry.h> with one or two trees, as ('ADD', tree, tree).
    Of AND, OR and SELECT, only the side that decides the result needs to have a value."""
    text: str
    tree: tuple


@dataclass(frozen=True)
class Dimension:
    """A dimension, in elements. `lower` is None for 0, and `pitch` is None if it equals the extent."""
    lower: Expression
    extent: Expression
    pitch: Expression


@dataclass(frozen=True)
class Argument:
    """An argument. `direction`: value, in, out, inout, or pointer for a pointer of unknown extent; `dims`: dimensions
    in C, outermost first."""
    name: str
    declared: str       # the type in C: const float *
    type: Type          # type of the value, or of an element
    direction: str
    const: bool
    dims: tuple

    @property
    def is_array(self):
        return self.direction in DIRECTIONS

    @property
    def is_by_address(self):
        """True for a value aligned to 16 bytes, which the C function for wrappers takes by address."""
        return self.direction == 'value' and (self.type.kind == 'opaque' or self.type.lanes > 1) and (
            self.type.align or 0) >= 16

    @property
    def is_packed(self):
        """True if an array has no gaps in memory: then its length is the product of its extents."""
        return not any(d.lower or d.pitch for d in self.dims)

    @property
    def is_counter(self):
        """True for an integer, which may be the length of an array."""
        return self.direction == 'value' and self.type.lanes == 1 and self.type.kind[0] in 'iu'

    def shape(self):
        """The trees of the dimensions in memory, outermost first. An outermost dimension with a lower bound is None,
        since only the end of its section is known."""
        return tuple(None if dim.lower and not dim.pitch else (dim.pitch or dim.extent).tree for dim in self.dims)

    def length(self):
        """The tree of the number of elements from the pointer to the array's last element."""
        strides, stride = [], ('CONST', 1)
        for dim in reversed(self.dims):
            strides.insert(0, stride)
            stride = _product(stride, (dim.pitch or dim.extent).tree)
        if self.is_packed:
            return stride
        last, is_empty = ('CONST', 1), ('CONST', 0)
        for dim, stride in zip(self.dims, strides):
            begin = dim.lower.tree if dim.lower else ('CONST', 0)
            index = ('SUB', ('ADD', begin, dim.extent.tree), ('CONST', 1))
            last = ('ADD', last, _product(stride, index))
            is_empty = ('OR', is_empty, ('LE', dim.extent.tree, ('CONST', 0)))
        return 'SELECT', is_empty, ('CONST', 0), last


@dataclass(frozen=True)
class Check:
    """A check. `condition` is set for checks of scalars; `text` describes checks of any kind."""
    text: str
    condition: Expression
    is_real: bool


@dataclass(frozen=True)
class Function:
    """One instance. `function` is the C function; its form with a stream is `function`_async."""
    name: str
    family: str
    function: str
    doc: str
    file: str
    line: int
    arguments: tuple
    checks: tuple

    @property
    def called(self):
        """The name of the C function that wrappers call."""
        return self.function + '_by_address' * any(a.is_by_address for a in self.arguments)

    def argument(self, name):
        return next(a for a in self.arguments if a.name == name)

    def lengths(self, has_shapes):
        """Maps scalars that follow from arrays to (array, number of the dimension): the first array with a dimension of
        this length in memory. Without `has_shapes`, only packed arrays of one dimension count."""
        found = {}
        for array in self.arguments:
            if array.is_array and (has_shapes or array.is_packed and len(array.dims) == 1):
                for number, tree in enumerate(array.shape()):
                    if tree and tree[0] == 'PARAM' and self.argument(tree[1]).is_counter:
                        found.setdefault(tree[1], (array, number))
        return found


@dataclass(frozen=True)
class Family:
    """A kernel with its instances; a kernel that is no template has one instance of the same name."""
    name: str
    functions: tuple

    @property
    def is_template(self):
        return self.functions[0].name != self.name

    def overloads(self, key):
        """Returns groups of instances with equal types. The family's name stands for the instances that are alone in
        their group. `key` returns the types of an instance, as the language sees them."""
        groups = {}
        for function in self.functions:
            groups.setdefault(key(function), []).append(function)
        return list(groups.values())


@dataclass(frozen=True)
class Symbol:
    """__constant__ data. `function`: the C setter, which takes a value, or a pointer for arrays and structs; its form
    with a stream is `function`_async."""
    name: str
    function: str
    doc: str
    type: Type
    extents: tuple


@dataclass(frozen=True)
class Member:
    """A leaf of a struct. `path`: such as centre.x."""
    path: str
    ctype: str
    extents: tuple
    offset: int


@dataclass(frozen=True)
class Struct:
    """A struct, or an enumeration, whose `values` are not empty, of the C header. `is_opaque`: C only sees its
    bytes."""
    ctype: str
    cxx: str
    bytes: int
    align: int
    is_opaque: bool
    values: dict
    members: tuple


@dataclass(frozen=True)
class Interface:
    """A whole library. `name`: the name of files and modules, which is the prefix, or cuferry_kernels for the bundled
    kernels."""
    name: str
    prefix: str
    header: str         # the header's name as programs include it
    sources: tuple
    includes: tuple     # headers of C types
    families: tuple
    symbols: tuple
    types: tuple        # structs and enumerations, in order of dependency

    @property
    def functions(self):
        return tuple(f for family in self.families for f in family.functions)


def read_interface(manifest):
    """Returns the interface of a manifest, a parsed JSON object."""
    families = {}
    for kernel in manifest['kernels']:
        if not kernel.get('internal'):
            families.setdefault(kernel['family'], []).append(_read_function(kernel))
    prefix = manifest['prefix']
    return Interface(
        'cuferry_kernels' if prefix == 'cf' else prefix, prefix, manifest['header'], tuple(manifest['sources']),
        tuple(manifest['includes']), tuple(Family(name, tuple(found)) for name, found in families.items()),
        tuple(map(_read_symbol, manifest['symbols'])), tuple(map(_read_struct, manifest.get('types', ()))))


def _read_type(value):
    return Type(value['ctype'], value['type'], value['lanes'], value['bytes'], value['align'])


def _read_function(kernel):
    names = [param['name'] for param in kernel['params']]
    return Function(
        kernel['name'], kernel['family'], kernel['function'], kernel['doc'], kernel['file'], kernel['line'],
        tuple(_read_argument(p, names) for p in kernel['params'] if p['direction'] != 'scratch'),
        tuple(Check(c['text'], _read_expression(c.get('condition'), names), c.get('real', False))
              for c in kernel['checks']))


def _read_argument(param, names):
    dims = [Dimension(*(_read_expression(dim[part], names) for part in ('lower', 'extent', 'pitch')))
            for dim in param['dims']]
    return Argument(param['name'], param['declared'], _read_type(param.get('element') or param['value']),
                    param['direction'], param['const'], tuple(dims))


def _read_symbol(symbol):
    return Symbol(symbol['name'], symbol['function'], symbol['doc'], _read_type(symbol['element']),
                  tuple(symbol['extents']))


def _read_struct(value):
    members = [Member(m['path'], m['ctype'], tuple(m['extents']), m['offset']) for m in value['members']]
    return Struct(value['name'], value['cxx'], value['bytes'], value['align'], value['opaque'], value['values'],
                  tuple(members))


def _read_expression(value, names):
    return None if value is None else Expression(value['text'], _read_tree(value['tree'], names))


def _read_tree(tree, names):
    """Returns the tree with names in place of parameter numbers."""
    code, *parts = tree
    if code in ('PARAM', 'MEMBER'):
        return code, names[parts[0]], *parts[1:]
    return (code, *(_read_tree(part, names) if isinstance(part, list) else part for part in parts))


def _product(left, right):
    """Returns a product without factors of 1, so that single extents can be recognised."""
    return right if left == ('CONST', 1) else left if right == ('CONST', 1) else ('MUL', right, left)
