"""A library as wrappers of other languages see it: its manifest with trees for expressions, and without internal
kernels and scratch memory."""

from dataclasses import dataclass

DIRECTIONS = ('in', 'out', 'inout')


@dataclass(frozen=True)
class Type:
    """`kind` is that of the manifest: f32, i64, opaque ...; `ctype` is the name in C."""
    ctype: str
    kind: str
    lanes: int
    bytes: int          # None if only the C compiler knows it
    align: int


@dataclass(frozen=True)
class Expression:
    """`tree` is ('CONST', n), ('SIZEOF', type), ('REAL', x), ('PARAM', name), ('MEMBER', name, path),
    ('SELECT', condition, tree, tree), or a step of <cuferry/registry.h> with one or two trees, as ('ADD', tree, tree).
    Only the side of AND, OR and SELECT that decides needs to have a value."""
    text: str
    tree: tuple


@dataclass(frozen=True)
class Dimension:
    """In elements; `lower` and `pitch` are None for 0 and for the extent."""
    lower: Expression
    extent: Expression
    pitch: Expression


@dataclass(frozen=True)
class Argument:
    """`direction` is value, in, out, inout, or pointer: a pointer of which nothing is known. `dims` are those of C,
    outermost first."""
    name: str
    declared: str       # the type in C: const float *
    type: Type          # of a value, or of an element
    direction: str
    const: bool
    dims: tuple

    @property
    def is_array(self):
        return self.direction in DIRECTIONS

    @property
    def is_by_address(self):
        """True for a value aligned to 16 bytes, of which the C function for wrappers takes the address."""
        return self.direction == 'value' and (self.type.kind == 'opaque' or self.type.lanes > 1) and (
            self.type.align or 0) >= 16

    @property
    def is_packed(self):
        """True if the array's elements are those of its memory: then its length is exactly the product of extents."""
        return not any(d.lower or d.pitch for d in self.dims)

    @property
    def is_counter(self):
        """True for integers, which may be a length."""
        return self.direction == 'value' and self.type.lanes == 1 and self.type.kind[0] in 'iu'

    def shape(self):
        """The trees of the dimensions in memory, outermost first: None for an outermost one with a lower bound, of
        which only the end of the section is known."""
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
    """`condition` is that of scalars; `text` describes all kinds of checks."""
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
        """The C function that wrappers call."""
        return self.function + '_by_address' * any(a.is_by_address for a in self.arguments)

    def argument(self, name):
        return next(a for a in self.arguments if a.name == name)

    def lengths(self, has_shapes):
        """The scalars that arrays tell: {name: (array, number of the dimension)}. The first array with a dimension of
        this length in memory tells it; without shapes only packed arrays of one dimension do."""
        found = {}
        for array in self.arguments:
            if array.is_array and (has_shapes or array.is_packed and len(array.dims) == 1):
                for number, tree in enumerate(array.shape()):
                    if tree and tree[0] == 'PARAM' and self.argument(tree[1]).is_counter:
                        found.setdefault(tree[1], (array, number))
        return found


@dataclass(frozen=True)
class Family:
    """A kernel with its instances; one that is no template has one of the same name."""
    name: str
    functions: tuple

    @property
    def is_template(self):
        return self.functions[0].name != self.name

    def overloads(self, key):
        """The instances in groups that types do not tell apart: the family's name means the instance of a group of
        one, and no instance of the others. `key` returns an instance's types, as the language sees them."""
        groups = {}
        for function in self.functions:
            groups.setdefault(key(function), []).append(function)
        return list(groups.values())


@dataclass(frozen=True)
class Symbol:
    """__constant__ data. `function` is the C setter, which takes a value or, with extents or for a struct, a pointer;
    its form with a stream is `function`_async."""
    name: str
    function: str
    doc: str
    type: Type
    extents: tuple


@dataclass(frozen=True)
class Member:
    """A leaf of a struct; `path` as in centre.x."""
    path: str
    ctype: str
    extents: tuple
    offset: int


@dataclass(frozen=True)
class Struct:
    """A type of the C header, or an enumeration, whose `values` are not empty. `is_opaque`: C sees bytes alone."""
    ctype: str
    cxx: str
    bytes: int
    align: int
    is_opaque: bool
    values: dict
    members: tuple


@dataclass(frozen=True)
class Interface:
    """All of a library. `name` names files and modules: the prefix, or cuferry_kernels for the bundled kernels."""
    name: str
    prefix: str
    header: str         # as programs include it
    sources: tuple
    includes: tuple     # headers of C types
    families: tuple
    symbols: tuple
    types: tuple        # in order of dependency

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
    """Gives parameters their names."""
    code, *parts = tree
    if code in ('PARAM', 'MEMBER'):
        return code, names[parts[0]], *parts[1:]
    return (code, *(_read_tree(part, names) if isinstance(part, list) else part for part in parts))


def _product(left, right):
    """A product without the factor 1, so that single extents are recognised."""
    return right if left == ('CONST', 1) else left if right == ('CONST', 1) else ('MUL', right, left)
