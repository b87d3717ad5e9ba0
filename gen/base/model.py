"""What the generator knows of a kernel file, as frozen dataclasses that carry source locations."""

from dataclasses import dataclass
from typing import Mapping, Optional, Tuple


@dataclass(frozen=True, order=True)
class Location:
    """A place in a source file; line and column count from 1."""
    file: str
    line: int
    column: int


@dataclass(frozen=True)
class CType:
    """A type that C and a kernel share. Sizes are None where the C compiler is asked for them."""
    c: str                          # as C spells it: "cf_float4", "struct body"
    cxx: str                        # as C++ spells it at file scope: "float4", "body"
    key: str                        # tells types apart as _Generic and overloading do
    enum: str                       # CF_F32; of a vector's components
    short: str                      # f32, body
    kind: str                       # integer, float, half, complex, vector, enum, struct, pointer, void
    bytes: Optional[int] = None
    align: Optional[int] = None
    lanes: int = 1
    members: Optional[Mapping[str, 'CType']] = None     # of structs and vectors; None where they are not known

    @property
    def integer(self):
        """Whether an exact expression can read it."""
        return self.kind in ('integer', 'enum')

    @property
    def number(self):
        """Whether a real expression can read it."""
        return self.kind in ('integer', 'enum', 'float', 'half')


@dataclass(frozen=True)
class Expr:
    """An expression of one instance: its text and its postfix steps (code without CF_OP_, operand). The operand of a
    MEMBER step is (parameter number, C type of the parameter, path of the member, its CF_... type or None)."""
    text: str
    ops: Tuple[Tuple[str, object], ...]


@dataclass(frozen=True)
class Dim:
    """One dimension of an array's section."""
    extent: Expr
    lower: Optional[Expr] = None
    pitch: Optional[Expr] = None


@dataclass(frozen=True)
class Param:
    """A parameter of one instance."""
    name: str
    ctype: str                      # as C declares it: "const float *"
    cxx: str                        # as C++ does, for the proof of its type
    type: CType                     # of the value, or of what the pointer points to
    pointer: bool
    const: bool                     # of what the pointer points to
    direction: str                  # CF_VALUE, CF_IN, CF_OUT, CF_INOUT, CF_POINTER, CF_SCRATCH
    dims: Tuple[Dim, ...]
    is_restrict: bool = False       # the pointer is declared __restrict__
    in_place: int = 0               # the number of the list of inplace(...) that it stands in, from 1

    @property
    def is_written(self):
        return self.direction in ('CF_OUT', 'CF_INOUT')

    @property
    def declaration(self):
        return f'{self.ctype}{"" if self.ctype.endswith("*") else " "}{self.name}'


@dataclass(frozen=True)
class Zero:
    """The bytes of a scratch array that are 0 when the kernel begins."""
    array: int                      # the parameter's number
    extent: Optional[Expr] = None   # None: all of it
    lower: Optional[Expr] = None
    is_rezeroed: bool = False       # and when it ends, again


@dataclass(frozen=True)
class Check:
    """A condition on scalars, or (array set) on every element of an integer array, or (order set) on all of them."""
    text: str
    condition: Optional[Expr] = None
    is_real: bool = False
    array: Optional[int] = None
    lower: Optional[Expr] = None
    lower_open: bool = False
    upper: Optional[Expr] = None
    upper_open: bool = False
    order: str = ''                 # ascending: no element is less than the one before it; distinct: they differ


@dataclass(frozen=True)
class Launch:
    """How many threads are launched."""
    counts_blocks: bool
    is_cooperative: bool
    is_block_auto: bool
    grid: Tuple[Expr, ...]
    block: Tuple[Expr, ...]
    items: Optional[Expr]
    shared: Optional[Expr]


@dataclass(frozen=True)
class Guard:
    """A comparison of a kernel's global index with what is the same for all threads."""
    axis: int                       # 0: x
    is_upper: bool                  # holds up to some index; else from some on


@dataclass(frozen=True)
class Loop:
    """How the CPU runs a kernel whose indices are its parameter."""
    guards: Tuple[Guard, ...]       # by their numbers
    is_flat: bool                   # of the indices along x it reads the global one alone
    is_mirrored: bool               # functions that it calls read the indices, too
    is_numeric: bool = False        # its threads have nothing but numbers of their own, and no arrays of them


@dataclass(frozen=True)
class Host:
    """The CPU's form of an instance. A function is called by its C++ name where the kernel file defines it; else it is
    a C function."""
    function: Optional[str] = None  # None: the kernel itself
    is_extern_c: bool = False
    is_together: bool = False       # threads of a block may wait for one another
    loop: Optional[Loop] = None     # where they do not, and the kernel's text is understood
    grid: Optional[Expr] = None     # how many threads there are, in one dimension; None: as many as on a GPU


@dataclass(frozen=True)
class Use:
    """A name in uses(...)."""
    text: str
    location: Location


@dataclass(frozen=True)
class Instance:
    """One entry point: a kernel, or an operation, with its template arguments filled in. A kernel with tune(...) has
    variants, of which the runtime takes one; itself it is like the first of them."""
    name: str                       # gather_f32_i32
    kernel: str                     # as C++ names it: gather<float, int32_t>
    params: Tuple[Param, ...]
    launch: Launch
    checks: Tuple[Check, ...]
    bytes: Optional[Expr]
    flops: Optional[Expr]
    tolerance: Optional[Expr]
    host: Optional[Host]            # None: it has no form for the CPU
    constants: Tuple[Tuple[str, int], ...] = ()
    is_bounded: bool = False        # neither it nor what it calls has a loop
    is_closed: bool = False         # it touches its arguments alone
    variants: Tuple['Instance', ...] = ()
    zeros: Tuple[Zero, ...] = ()
    split: Optional[int] = None     # the number of the parameter by which a call can be taken apart
    host_of: str = ''               # the variant whose CPU body is this one's, too; '': it has its own
    uses: Tuple[Use, ...] = ()      # of an operation: what it enqueues, as written
    used: Tuple[str, ...] = ()      # the names of these entry points; cf_... are bundled ones
    is_hosted: bool = False         # all of these have a form for the CPU

    @property
    def arguments(self):
        """The parameters of the C function."""
        return tuple(p for p in self.params if p.direction != 'CF_SCRATCH')

    @property
    def restricts(self):
        """Whether there are arrays that the call keeps from overlapping."""
        arrays = [p for p in self.params if p.dims and p.direction != 'CF_SCRATCH']
        return any(a.is_restrict and (a.is_written or b.is_written) for a in arrays for b in arrays if a is not b)

    @property
    def host_grid(self):
        """How many threads the CPU runs, where a call does not know it to be right from the grid alone; else None."""
        grid = self.host.grid if self.host else None
        is_same = grid and not self.launch.counts_blocks and [g.ops for g in self.launch.grid] == [grid.ops]
        return None if is_same else grid

    @property
    def all_variants(self):
        """What is compiled: the instance itself where nothing is tuned."""
        return self.variants or (self,)


@dataclass(frozen=True)
class Kernel:
    """An annotated kernel, or operation, with its instances; one that is no template has one, of its own name."""
    name: str
    doc: Tuple[str, ...]            # the comment above it, without comment marks
    location: Location
    instances: Tuple[Instance, ...]
    is_operation: bool = False
    is_internal: bool = False       # for operations alone

    @property
    def is_template(self):
        return self.instances[0].name != self.name


@dataclass(frozen=True)
class Symbol:
    """__constant__ data, which gets a setter."""
    name: str                       # coeff
    cxx: str                        # heat::coeff
    doc: Tuple[str, ...]
    location: Location
    type: CType
    extents: Tuple[int, ...]


@dataclass(frozen=True)
class KernelFile:
    """An annotated source file."""
    path: str                       # as generated files name it
    stem: str                       # gather
    kernels: Tuple[Kernel, ...]
    symbols: Tuple[Symbol, ...]
    includes: Tuple[str, ...]       # headers of C types, as include(...) names them
    notes: Tuple[str, ...]          # what has no form in C, and why
    proofs: Tuple[Tuple[Tuple[str, ...], str, int], ...]   # constants of the file that were used: scope, name, value
    host_source: str                # the source less what no CPU kernel needs

    @property
    def instances(self):
        return tuple(i for k in self.kernels for i in k.instances)

    @property
    def launched(self):
        """The instances that are kernels."""
        return tuple(i for k in self.kernels if not k.is_operation for i in k.instances)
