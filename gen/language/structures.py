"""Spells the ctypes classes for C structs and vectors."""

import ctypes
import math
import re

from base.text import fold

_CTYPES = {'float': 'c_float', 'double': 'c_double', 'bool': 'c_bool', 'char': 'c_char', 'signed char': 'c_byte',
           'unsigned char': 'c_ubyte', 'short': 'c_short', 'unsigned short': 'c_ushort', 'int': 'c_int',
           'unsigned int': 'c_uint', 'long': 'c_long', 'unsigned long': 'c_ulong', 'long long': 'c_longlong',
           'unsigned long long': 'c_ulonglong', 'size_t': 'c_size_t',
           **{f'{u}int{bits}_t': f'c_{u}int{bits}' for u in ('', 'u') for bits in (8, 16, 32, 64)}}
PADDING = '_padding'    # begins the names of members that python_scalars.py leaves out
_VECTOR = re.compile(r'cf_(u?)(char|short|int|long|longlong|float|double)([1-4])$')


def class_name(ctype):
    return re.sub(r'^(struct|union|enum) |^cf_', '', ctype)


def spell_structures(interface):
    """Maps C names to the classes of structs, and of vectors that are passed by value."""
    classes = {struct.ctype: _spell_struct(struct) for struct in interface.types}
    for function in interface.functions:
        for argument in function.arguments:
            ctype = argument.type
            if argument.direction == 'value' and ctype.lanes > 1:
                classes[ctype.ctype] = _spell_vector(ctype)
    return {name: text for name, text in classes.items() if text}


def is_passed(ctype, classes):
    """True if ctypes passes a value of this class as C does. It cannot align a value to 16 bytes, and it counts padding
    as members, so that the value would be in other registers or at another place on the stack."""
    return ctype.ctype in classes and (ctype.align or 16) <= 8 and PADDING not in classes[ctype.ctype]


def _spell_struct(struct):
    """Returns the class of a struct; None if ctypes cannot lay it out as C does. If ctypes lacks an alignment, padding
    becomes a member."""
    fields, at, align = [], 0, 1
    if struct.is_opaque or struct.values or not struct.members:
        return None

    def pad(end):
        if end > at:
            fields.append(f"('{PADDING}{at}', ctypes.c_byte * {end - at})")

    for member in struct.members:
        word, lanes = _place(re.sub('^const ', '', member.ctype))
        if word is None:
            return None
        size = ctypes.sizeof(getattr(ctypes, word))
        if at + -at % size != member.offset:
            if member.offset % size or member.offset < at:
                return None
            pad(member.offset)
        align = max(align, size)
        extents = (*member.extents, lanes) if lanes > 1 else member.extents
        at = member.offset + size * math.prod(extents)
        name, spelled = member.path.replace('.', '_'), f'ctypes.{word}'
        for number, extent in reversed(list(enumerate(extents))):
            path = f'{class_name(struct.ctype)}.{name}{"[...]" * number}'
            spelled = f'{spelled} * {extent}' if word == 'c_char' else f"_array('{path}', {spelled}, {extent})"
        fields.append(f"('{name}', {spelled})")
    if struct.bytes < at or struct.bytes % align:
        return None
    if at + -at % align != struct.bytes:
        pad(struct.bytes)
    return _spell_class(struct.ctype, fields, struct.align)


def _place(ctype):
    """Returns (ctypes class of a member's components or None, number of components)."""
    if ctype.endswith('*'):
        return 'c_void_p', 1
    match = _VECTOR.match(ctype)
    return (_vector_word(match), int(match[3])) if match else (_CTYPES.get(ctype), 1)


def _vector_word(match):
    return f'c_{match[1]}{"byte" if match[2] == "char" else match[2]}'


def _spell_vector(ctype):
    match = _VECTOR.match(ctype.ctype)
    if not match:
        return None
    word = _vector_word(match)
    return _spell_class(ctype.ctype, [f"('{name}', ctypes.{word})" for name in 'xyzw'[:int(match[3])]], ctype.align)


def _spell_class(ctype, fields, align):
    body = fold(f'    _fields_ = [{", ".join(fields)}]', 16)
    mark = '    _is_by_address_ = True\n' * ((align or 0) >= 16)
    return f'class {class_name(ctype)}(_Struct):\n    """{ctype} of C."""\n\n{mark}{body}\n'
