"""The model of a kernel file: frozen dataclasses with source locations."""

from dataclasses import dataclass
from typing import Mapping, Optional, Tuple


@dataclass(frozen=True, order=True)
class Location:
    """A place in a source file; line and column count from 1."""
    file: str
    line: int
    column: int


@dataclass(frozen=True)
class Field:
    """A member of a type that the generated header defines."""
    path: str                       # position, centre.x
    ctype: str                      # C type without extents: "const float *"
    extents: Tuple[int, ...]
    offset: int
    cxx: Optional[str] = None       # the type in C++ at file scope; None if no text spells it


@dataclass(frozen=True)
class Definition:
    """A type that the generated header defines for C."""
    c: str                          # C name: "struct body"
    cxx: str                        # C++ name at file scope: "heat::body"
    location: Location
    text: str                       # the definition in C
    names: Tuple[str, ...]          # the names that it declares in C: tag or typedef, enumerators
    words: Tuple[str, ...]          # names of its members
    bytes: int
    align: int
    fields: Tuple[Field, ...] = ()
    values: Tuple[Tuple[str, int], ...] = ()    # enumerators in C++ at file scope, with their values
    needs: Tuple['Definition', ...] = ()        # definitions that C needs before this one
    opaque: str = ''                # the reason why C only sees its bytes; '' if C sees its members


@dataclass(frozen=True)
class CType:
    """A type that C and a kernel share. A size is None if only the C compiler knows it."""
    c: str                          # C name: "cf_float4", "struct body"
    cxx: str                        # C++ name at file scope: "float4", "body"
    key: str                        # text that is equal for types that _Generic and overloading do not distinguish
    enum: str                       # registry constant, such as CF_F32; for a vector, that of its components
    short: str                      # short name: f32, body
    kind: str                       # integer, float, coded (bits in C), complex, vector, enum, struct, pointer, void
    bytes: Optional[int] = None
    align: Optional[int] = None
    lanes: int = 1
    members: Optional[Mapping[str, 'CType']] = None     # members of structs and vectors; None: unknown
    definition: Optional[Definition] = None     # the definition, if the generated header defines the type

    @property
    def integer(self):
        """True if an integer expression can read the type."""
        return self.kind in ('integer', 'enum')

    @property
    def number(self):
        """True if a real expression can read the type."""
        return self.kind in ('integer', 'enum', 'float', 'coded')


@dataclass(frozen=True)
class Expr:
    """An expression of one instance: its text and its tree. A node is (code without CF_OP_, nodes...), or ('SELECT',
    condition, node, node); a leaf is ('CONST', number or ('sizeof', C type)), ('REAL', bits of a double), ('PARAM',
    number) or ('MEMBER', (parameter number, C type of the parameter, path of the member, its CF_... type or None))."""
    text: str
    tree: tuple

    def nodes(self):
        """Yields the root and all nodes below it, from left to right."""
        pending = [self.tree]
        while pending:
            node = pending.pop()
            yield node
            if node[0] not in ('CONST', 'REAL', 'PARAM', 'MEMBER'):
                pending += reversed(node[1:])

    def reads(self):
        """Yields the leaves that read parameters."""
        return (node for node in self.nodes() if node[0] in ('PARAM', 'MEMBER'))


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
    ctype: str                      # C declaration: "const float *"
    cxx: str                        # C++ declaration, for the proof of the type
    type: CType                     # type of the value, or of the pointed-to element
    pointer: bool
    const: bool                     # the pointed-to element is const
    direction: str                  # CF_VALUE, CF_IN, CF_OUT, CF_INOUT, CF_POINTER, CF_SCRATCH
    dims: Tuple[Dim, ...]
    is_restrict: bool = False       # the pointer is declared __restrict__
    in_place: int = 0               # number of its inplace(...) list, from 1; 0: none
    cpu_align: int = 0              # arrays: alignment to which the CPU form casts pointers; 0: that of the elements
    is_added: bool = False          # comes from param(...): the C function has it, the kernel has not

    @property
    def is_written(self):
        return self.direction in ('CF_OUT', 'CF_INOUT')

    @property
    def is_null(self):
        """True for scratch memory without elements; the kernel gets NULL."""
        return self.direction == 'CF_SCRATCH' and self.dims[0].extent.tree == ('CONST', 0)

    @property
    def is_by_address(self):
        """True for a value that other languages pass by address: few of them can align it to 16 bytes as C does."""
        return not self.pointer and self.type.kind in ('struct', 'vector') and (self.type.align or 0) >= 16

    @property
    def declaration(self):
        return f'{self.ctype}{"" if self.ctype.endswith("*") else " "}{self.name}'


@dataclass(frozen=True)
class Leaf:
    """A value within a struct that is a number, a pointer, or opaque."""
    path: str                       # path in the struct, such as cells[].x, with [] for each index
    type: CType                     # type of the value; of a struct or an unknown type, C only sees bytes


@dataclass(frozen=True)
class Zero:
    """The elements of a scratch array that are 0 when the kernel begins."""
    array: int                      # number of the parameter
    extent: Optional[Expr] = None   # None: the whole array
    lower: Optional[Expr] = None
    is_rezeroed: bool = False       # the elements are 0 again when the kernel ends


@dataclass(frozen=True)
class Check:
    """A condition on scalars; on every element of an integer array (`array` is set) or on a member of it (`member` is
    set); or on the order of the elements (`order` is set)."""
    text: str
    condition: Optional[Expr] = None
    is_real: bool = False
    array: Optional[int] = None
    member: str = ''                # path within an element: pos.x
    member_type: Optional[CType] = None
    lower: Optional[Expr] = None
    lower_open: bool = False
    upper: Optional[Expr] = None
    upper_open: bool = False
    order: str = ''                 # ascending: no element is less than the one before it; distinct: they differ


@dataclass(frozen=True)
class Launch:
    """The launch rule: grid, block and shared memory."""
    counts_blocks: bool
    is_cooperative: bool
    is_block_auto: bool
    grid: Tuple[Expr, ...]
    block: Tuple[Expr, ...]
    items: Optional[Expr]
    shared: Optional[Expr]
    cluster: Tuple[int, ...] = ()   # blocks of a cluster
    passes_cluster: bool = False    # the size is from cluster(...), which a launch passes; else from __cluster_dims__
    is_dependent: bool = False
    max_block: int = 0              # most threads of a block by __launch_bounds__; 0: no such limit


@dataclass(frozen=True)
class Guard:
    """A comparison of a kernel's global index with a value that is the same for all threads."""
    axis: int                       # 0: x
    is_upper: bool                  # the comparison holds up to some index; otherwise from some index on


@dataclass(frozen=True)
class Loop:
    """How the CPU runs a kernel that gets its indices as a parameter."""
    guards: Tuple[Guard, ...]       # guards by number
    is_flat: bool                   # along x it reads only the global index
    is_mirrored: bool               # functions that it calls read the indices, too
    is_numeric: bool = False        # a thread's own variables are numbers, not arrays


@dataclass(frozen=True)
class Host:
    """The CPU form of an instance. `function` is a C++ name if the kernel file defines the function, else the name of a
    C function."""
    function: Optional[str] = None  # None: the CPU runs the kernel itself
    is_extern_c: bool = False
    is_together: bool = False       # threads of a block may wait for one another
    has_regions: bool = False       # a block runs as several loops over its threads, between barriers or within serial
                                    # loops
    of_warps: bool = False          # the regions are loops over the lanes of one warp after the other
    is_global: bool = False         # the regions only read global indices, so that blocks may have any shape
    reason: str = ''                # the reason for blocks of fibers, or for threads that run one by one
    loop: Optional[Loop] = None     # set if threads do not wait and the generator understands the kernel
    grid: Optional[Expr] = None     # number of threads in one dimension; None for the same as on a GPU
    is_turned: bool = False         # x and y are exchanged
    sums: Tuple[int, ...] = ()      # numbers of array parameters to which threads only add, so that sums are collected

    @property
    def form(self):
        """The words that describe how the CPU runs the threads."""
        if self.function:
            return 'one function for all blocks'
        if self.is_together:
            return f'blocks of fibers: {self.reason}' if not self.has_regions else \
                'warps of loops between shuffles' if self.of_warps else 'blocks of loops between barriers'
        if self.loop and self.has_regions:
            return 'blocks of loops inside serial ones'
        return 'loops over threads' if self.loop else f'thread by thread: {self.reason}'


@dataclass(frozen=True)
class Image:
    """An image that contains the code of kernels instead of nvcc's output. Targets are spelled as in 90a."""
    path: str                       # path that generated files show
    data: bytes
    sm: Tuple[str, ...]             # targets with machine code
    ptx: Tuple[str, ...]


@dataclass(frozen=True)
class Use:
    """A name in uses(...)."""
    text: str
    location: Location


@dataclass(frozen=True)
class Instance:
    """An entry point: a kernel or an operation with its template arguments filled in. A kernel with tune(...) has
    variants, and the library chooses one; the instance itself equals the first variant."""
    name: str                       # registry key: gather_f32_i32
    kernel: str                     # C++ name: gather<float, int32_t>
    params: Tuple[Param, ...]
    launch: Launch
    checks: Tuple[Check, ...]
    bytes: Optional[Expr]
    flops: Optional[Expr]
    tolerance: Optional[Expr]
    host: Optional[Host]            # None: there is no CPU form
    constants: Tuple[Tuple[str, int], ...] = ()
    is_bounded: bool = False        # no loop in the kernel or its callees
    is_closed: bool = False         # the kernel accesses only its arguments
    variants: Tuple['Instance', ...] = ()
    zeros: Tuple[Zero, ...] = ()
    split: Optional[int] = None     # number of the parameter of split(...)
    host_of: str = ''               # variant whose CPU body it shares; '' for a body of its own
    uses: Tuple[Use, ...] = ()      # kernels that an operation enqueues, as written
    used: Tuple[str, ...] = ()      # names of the entry points that `uses` means; cf_... are bundled kernels
    is_hosted: bool = False         # all used entry points have a CPU form
    image: Optional[Image] = None   # None: nvcc compiles the kernel
    entry: str = ''                 # the kernel's name in this image

    @property
    def arguments(self):
        """The parameters of the C function."""
        return tuple(p for p in self.params if p.direction != 'CF_SCRATCH')

    @property
    def taken(self):
        """The parameters of the kernel; those of param(...) follow them in `params`."""
        return tuple(p for p in self.params if not p.is_added)

    @property
    def restricts(self):
        """True if the call has to check arrays for overlap."""
        arrays = [p for p in self.params if p.dims and p.direction != 'CF_SCRATCH']
        return any(a.is_restrict and (a.is_written or b.is_written) for a in arrays for b in arrays if a is not b)

    @property
    def cpu_grid(self):
        """The number of threads on the CPU if calls have to check it, because the grid does not imply it; else None."""
        grid = self.host.grid if self.host else None
        is_same = grid and not self.launch.counts_blocks and [g.tree for g in self.launch.grid] == [grid.tree]
        return None if is_same else grid

    @property
    def has_update(self):
        """True if a launch in a graph can get new arguments: it is a single launch, and the caller knows them all."""
        return not self.uses and not self.zeros and all(p.direction != 'CF_SCRATCH' or p.is_null for p in self.params)

    @property
    def all_variants(self):
        """The variants to compile; without tune(...) it is the instance itself."""
        return self.variants or (self,)


@dataclass(frozen=True)
class Kernel:
    """An annotated kernel or operation with its instances; without a template it has one instance of the same name."""
    name: str
    doc: Tuple[str, ...]            # lines of the comment above it, without comment marks
    location: Location
    instances: Tuple[Instance, ...]
    is_operation: bool = False
    is_internal: bool = False       # used only by operations

    @property
    def is_template(self):
        return self.instances[0].name != self.name


@dataclass(frozen=True)
class DeviceFunction:
    """A device function that a file defines for other files, or the declaration of one that another file defines."""
    name: str                       # C++ name: heat::mul
    parameters: Tuple[Tuple[str, ...], ...]     # words of their types
    signature: str                  # the declaration as written: float mul(float x, float y)
    location: Location              # place of the name
    is_defined: bool
    has_host: bool                  # the CPU has the function; for a declaration, host code can call it
    numba: str = ''                 # its types as Numba spells them: float32(float32, float32); '': not for Numba
    params: Tuple[str, ...] = ()    # C++ types of the result and the parameters, for Numba


@dataclass(frozen=True)
class Symbol:
    """__constant__ data that gets a setter."""
    name: str                       # C name: coeff
    cxx: str                        # C++ name: heat::coeff
    doc: Tuple[str, ...]
    location: Location
    type: CType
    extents: Tuple[int, ...]


@dataclass(frozen=True)
class KernelFile:
    """An annotated source file."""
    path: str                       # path that generated files show
    stem: str                       # file name without folder and suffix: gather
    kernels: Tuple[Kernel, ...]
    symbols: Tuple[Symbol, ...]
    includes: Tuple[str, ...]       # headers of C types, from include(...)
    notes: Tuple[str, ...]          # declarations without a C form, with the reasons
    proofs: Tuple[Tuple[Tuple[str, ...], str, int], ...]   # used constants of the file: scope, name, value
    host_source: str                # the source that the CPU compiles
    macros: Tuple[str, ...]         # macros of the compiler's options, which are hidden from the library's headers
    device_source: str              # the source that nvcc compiles; '': the file itself
    types: Tuple[Definition, ...] = ()      # types to define for C, in order of dependency
    aliases: Tuple[Tuple[Tuple[str, ...], str, str], ...] = ()  # names for C++ types without one: scope, name, type
    shared: frozenset = frozenset()         # headers, by displayed name, that C programs see through include(...)
    leaves: Tuple[Tuple[str, Tuple[Leaf, ...]], ...] = ()   # structs in arguments: C name, values in each
    devices: Tuple[DeviceFunction, ...] = ()    # functions defined for other files, and functions of other files
    image_of: str = ''              # stem of the file whose image also holds this file's code; '' for its own image

    @property
    def instances(self):
        return tuple(i for k in self.kernels for i in k.instances)

    @property
    def launched(self):
        """Instances of kernels, without operations."""
        return tuple(i for k in self.kernels if not k.is_operation for i in k.instances)

    @property
    def compiled(self):
        """The kernels' variants that nvcc compiles."""
        return tuple(v for i in self.launched for v in i.all_variants if not v.image)

    @property
    def images(self):
        """The adopted images of the kernels that nvcc does not compile."""
        return tuple(dict.fromkeys(v.image for i in self.launched for v in i.all_variants if v.image))
