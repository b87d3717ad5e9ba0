"""What the generator knows of a kernel file, as frozen dataclasses that carry source locations."""

from dataclasses import dataclass
from typing import Optional, Tuple


@dataclass(frozen=True, order=True)
class Location:
    """A place in a source file; line and column count from 1."""
    file: str
    line: int
    column: int


@dataclass(frozen=True)
class ScalarType:
    """A C scalar type as the registry knows it."""
    enum: str       # CF_F32
    short: str      # f32
    size: int       # bytes
    integer: bool


def _types():
    table = {}

    def add(enum, size, integer, *spellings):
        scalar = ScalarType('CF_' + enum, enum.lower(), size, integer)
        for spelling in spellings:
            table[spelling] = scalar

    # Linux on x86-64 and aarch64 is LP64; `char` is left out because its sign differs between the two.
    add('I8', 1, True, 'int8_t', 'signed char')
    add('I16', 2, True, 'int16_t', 'short', 'short int')
    add('I32', 4, True, 'int32_t', 'int', 'signed', 'signed int')
    add('I64', 8, True, 'int64_t', 'long', 'long int', 'long long', 'long long int', 'ptrdiff_t')
    add('U8', 1, True, 'uint8_t', 'unsigned char')
    add('U16', 2, True, 'uint16_t', 'unsigned short', 'unsigned short int')
    add('U32', 4, True, 'uint32_t', 'unsigned', 'unsigned int')
    add('U64', 8, True, 'uint64_t', 'unsigned long', 'unsigned long int', 'unsigned long long',
        'unsigned long long int', 'size_t')
    add('F32', 4, False, 'float')
    add('F64', 8, False, 'double')
    return table


SCALAR_TYPES = _types()

# The name of each C type by its first spelling: spellings of one type are one type to _Generic and to overloading, but
# `long` and `long long` are two, though both have 64 bits.
CANONICAL_TYPES = {spelling: 'long long' if 'long long' in spelling and 'unsigned' not in spelling else
                   'unsigned long long' if 'long long' in spelling else
                   scalar.enum for spelling, scalar in SCALAR_TYPES.items()}


@dataclass(frozen=True)
class Expr:
    """An expression of one instance: its text and its postfix steps (code without CF_OP_, operand)."""
    text: str
    ops: Tuple[Tuple[str, int], ...]


@dataclass(frozen=True)
class Param:
    """A parameter of one instance."""
    name: str
    base: str                       # type of the value, or of what the pointer points to: "float"
    scalar: ScalarType
    pointer: bool
    const: bool                     # of what the pointer points to
    direction: str                  # CF_VALUE, CF_IN, CF_OUT, CF_INOUT, CF_POINTER
    extents: Tuple[Expr, ...]

    @property
    def ctype(self):
        return f'{"const " if self.const else ""}{self.base}{" *" if self.pointer else ""}'

    @property
    def declaration(self):
        return f'{self.ctype}{"" if self.pointer else " "}{self.name}'


@dataclass(frozen=True)
class Check:
    """A condition on scalars, or (array set) on every element of an integer array."""
    text: str
    condition: Optional[Expr] = None
    array: Optional[int] = None
    lower: Optional[Expr] = None
    lower_open: bool = False
    upper: Optional[Expr] = None
    upper_open: bool = False


@dataclass(frozen=True)
class Instance:
    """One entry point: a kernel with its template arguments filled in."""
    name: str                       # gather_f32_i32
    kernel: str                     # as C++ names it: gather<float, int32_t>
    params: Tuple[Param, ...]
    counts_blocks: bool
    grid: Tuple[Expr, ...]
    block: Tuple[Expr, ...]
    checks: Tuple[Check, ...]
    bytes: Optional[Expr]

    @property
    def ctypes(self):
        return ', '.join(p.ctype for p in self.params)


@dataclass(frozen=True)
class Kernel:
    """An annotated kernel with its instances; a kernel that is no template has one, of its own name."""
    name: str
    doc: Tuple[str, ...]            # the comment above it, without comment marks
    location: Location
    instances: Tuple[Instance, ...]

    @property
    def is_template(self):
        return self.instances[0].name != self.name


@dataclass(frozen=True)
class KernelFile:
    """An annotated source file."""
    path: str                       # as generated files name it
    stem: str                       # gather
    kernels: Tuple[Kernel, ...]

    @property
    def instances(self):
        return tuple(i for k in self.kernels for i in k.instances)
