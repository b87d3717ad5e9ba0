"""Finds the Fortran types for C types: kinds of iso_c_binding, and derived types for structs."""

import math
import re

from base.text import identifier
from language.fortran_lines import fold

_NUMBERS = {'i8': 'integer(c_int8_t)', 'i16': 'integer(c_int16_t)', 'i32': 'integer(c_int32_t)',
            'i64': 'integer(c_int64_t)', 'f32': 'real(c_float)', 'f64': 'real(c_double)',
            'c64': 'complex(c_float_complex)', 'c128': 'complex(c_double_complex)', 'bool': 'logical(c_bool)',
            'char': 'integer(c_int8_t)', 'ptr': 'type(c_ptr)',
            # Fortran has no unsigned integers; signed ones hold the same bits.
            'u8': 'integer(c_int8_t)', 'u16': 'integer(c_int16_t)', 'u32': 'integer(c_int32_t)',
            'u64': 'integer(c_int64_t)'}

# Maps kinds of unsigned integers to the mask of their bits in 64 bits, 0 for 64-bit ones.
UNSIGNED = {'u8': 0xff, 'u16': 0xffff, 'u32': 0xffffffff, 'u64': 0}

# Maps the C type of a member to its kind and its bytes.
_MEMBERS = {'char': ('char', 1), 'signed char': ('i8', 1), 'unsigned char': ('u8', 1), 'short': ('i16', 2),
            'unsigned short': ('u16', 2), 'int': ('i32', 4), 'unsigned int': ('u32', 4), 'long': ('i64', 8),
            'unsigned long': ('u64', 8), 'long long': ('i64', 8), 'unsigned long long': ('u64', 8), 'float': ('f32', 4),
            'double': ('f64', 8), 'bool': ('bool', 1), '_Bool': ('bool', 1), 'size_t': ('u64', 8),
            'ptrdiff_t': ('i64', 8), 'intptr_t': ('i64', 8), 'uintptr_t': ('u64', 8),
            **{f'{"u" * (sign == "u")}int{bits}_t': (f'{sign}{bits}', bits // 8)
               for sign in 'iu' for bits in (8, 16, 32, 64)}}

_VECTOR = re.compile(r'cf_(u?)(char|short|int|long|longlong|float|double)([1-4])')
_SPELLED = {'char': 'signed char', 'longlong': 'long long'}
_PADDING = 'cf_padding'


class Types:
    """The derived types of a library. A struct has none if Fortran cannot lay it out as C does."""

    def __init__(self, structs, names):
        self.structs = {struct.ctype: struct for struct in structs}
        self.derived, self.lines, self.members = {}, [], {}
        self.aligned, self.padded = {}, set()   # Fortran's own alignment; structs that C aligns to more
        for struct in structs:
            if struct.values:
                self._add_enumeration(struct, names)
            else:
                self._add_struct(struct, names)

    def text(self):
        return ''.join(self.lines)

    def value(self, ctype):
        """Returns the type of a value, None if Fortran has none: C passes padded and aligned structs in other
        places."""
        return None if ctype.lanes > 1 or ctype.ctype in self.padded else self._find(ctype)

    def element(self, ctype):
        """Returns the type of an element. For a vector, this is the type of a component, and the array has one more
        dimension."""
        return self._find(ctype)

    def kind(self, kind):
        """Returns the kind of a number in Fortran, such as c_int32_t."""
        return re.search(r'\((\w+)\)', _NUMBERS[kind]).group(1)

    def member(self, ctype, path):
        """Returns the component for a member and the kind of its type; None if the derived type has no such number."""
        match = re.fullmatch(r'(\w+)(?:\[(\d+)\])?', path)
        kind = match and self._kind_of_member(self.members.get(ctype, {}).get(match[1]))
        return kind and (match[1] if match[2] is None else f'{match[1]}({int(match[2]) + 1})', kind)

    def _kind_of_member(self, ctype):
        """Returns the kind of a member. An enumeration is signed only if it has negative values."""
        struct = self.structs.get(ctype)
        if struct and struct.values:
            return f'{"i" if min(struct.values.values()) < 0 else "u"}{8 * struct.bytes}'
        return _MEMBERS.get(ctype, (None,))[0]

    def _find(self, ctype):
        if ctype.kind == 'opaque':
            return self.derived.get(ctype.ctype)
        return _NUMBERS.get(ctype.kind)

    def _add_enumeration(self, struct, names):
        kind = {1: 'c_int8_t', 2: 'c_int16_t', 4: 'c_int32_t', 8: 'c_int64_t'}[struct.bytes]
        for cxx, value in struct.values.items():
            name = names.public(identifier(cxx.replace('::', '_')))
            wrapped = value - 2 ** (8 * struct.bytes) if value >= 2 ** (8 * struct.bytes - 1) else value
            self.lines.append(f'    integer({kind}), parameter, public :: {name} = {wrapped}_{kind}\n')
        self.lines.append('\n')

    def _add_struct(self, struct, names):
        lines, at, align, found = [], 0, 1, set()
        for member in struct.members:
            placed = self._place(member)
            if struct.is_opaque or not placed or not re.fullmatch(r'[A-Za-z]\w{0,62}', member.path):
                return
            ctype, size, alignment, extents = placed
            if member.offset % alignment or member.offset < at or member.path.lower() in found:
                return
            if at + -at % alignment != member.offset:
                lines.append(_pad(at, member.offset))
            shape = f'({", ".join(str(e) for e in reversed(extents))})' if extents else ''
            lines.append(fold(f'{ctype} :: {member.path}{shape}', 8))
            found.add(member.path.lower())
            at, align = member.offset + size * math.prod(extents), max(align, alignment)
        if not lines or struct.bytes < at or struct.bytes % align:
            return
        if at + -at % align != struct.bytes:
            lines.append(_pad(at, struct.bytes))
        name = names.public_type(struct.ctype.split()[-1])
        self.members[struct.ctype] = {member.path: member.ctype for member in struct.members}
        self.derived[struct.ctype], self.aligned[struct.ctype] = f'type({name})', align
        inner = {member.ctype for member in struct.members} & self.padded
        if align != struct.align or inner or any(_PADDING in line for line in lines):
            self.padded.add(struct.ctype)
        self.lines.append(f'    type, bind(c), public :: {name}\n{"".join(lines)}    end type\n\n')

    def _place(self, member):
        """Returns the type, size and alignment of a member's elements, and its extents; None if Fortran lacks the
        type."""
        if member.ctype.endswith(('*', '*const', ')')):
            return 'type(c_ptr)' if '(' not in member.ctype else 'type(c_funptr)', 8, 8, member.extents
        vector = _VECTOR.fullmatch(member.ctype)
        if vector:
            word = f'unsigned {vector[2]}'.replace('gl', 'g l') if vector[1] else _SPELLED.get(vector[2], vector[2])
            kind, size = _MEMBERS[word]
            return _NUMBERS[kind], size, size, (*member.extents, int(vector[3]))
        struct = self.structs.get(member.ctype)
        if struct and struct.values:
            return f'integer(c_int{8 * struct.bytes}_t)', struct.bytes, struct.bytes, member.extents
        if struct:
            derived = self.derived.get(struct.ctype)
            return derived and (derived, struct.bytes, self.aligned[struct.ctype], member.extents)
        kind, size = _MEMBERS.get(member.ctype, (None, 0))
        return kind and (_NUMBERS[kind], size, size, member.extents)


def _pad(at, end):
    """Returns a component for the padding bytes before a member, or at the end of the structure."""
    return f'        integer(c_int8_t) :: {_PADDING}{at}({end - at})\n'
