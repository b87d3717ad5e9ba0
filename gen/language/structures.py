"""Structs and vectors of C as classes of ctypes."""

import ctypes
import math
import re

from base.text import fold

_CTYPES = {'float': 'c_float', 'double': 'c_double', 'bool': 'c_bool', 'char': 'c_char', 'signed char': 'c_byte',
           'unsigned char': 'c_ubyte', 'short': 'c_short', 'unsigned short': 'c_ushort', 'int': 'c_int',
           'unsigned int': 'c_uint', 'long': 'c_long', 'unsigned long': 'c_ulong', 'long long': 'c_longlong',
           'unsigned long long': 'c_ulonglong', 'size_t': 'c_size_t',
           **{f'{u}int{bits}_t': f'c_{u}int{bits}' for u in ('', 'u') for bits in (8, 16, 32, 64)}}
_VECTOR = re.compile(r'cf_(u?)(char|short|int|long|longlong|float|double)([1-4])$')


def class_name(ctype):
    return re.sub(r'^(struct|union|enum) |^cf_', '', ctype)


def spell_structures(interface):
    """Returns the classes of structs, and of vectors that are passed by value, by their C names."""
    classes = {struct.ctype: _spell_struct(struct) for struct in interface.types}
    for function in interface.functions:
        for argument in function.arguments:
            ctype = argument.type
            # Registers and the stack have other places for a value that is aligned to 16 bytes, and ctypes aligns none.
            if argument.direction == 'value' and ctype.lanes > 1 and (ctype.align or 16) <= 8:
                classes[ctype.ctype] = _spell_vector(ctype.ctype)
    return {name: text for name, text in classes.items() if text}


def _spell_struct(struct):
    """Returns the class of a struct; None if ctypes would lay it out in another way."""
    fields, at, align = [], 0, 1
    if struct.is_opaque or struct.values or not struct.members:
        return None
    for member in struct.members:
        word = 'c_void_p' if member.ctype.endswith('*') else _CTYPES.get(re.sub('^const ', '', member.ctype))
        if word is None:
            return None
        size = ctypes.sizeof(getattr(ctypes, word))
        at += -at % size
        if at != member.offset:
            return None
        align = max(align, size)
        at += size * math.prod(member.extents)
        spelled = f'ctypes.{word}' + ''.join(f' * {extent}' for extent in reversed(member.extents))
        fields.append(f"('{member.path.replace('.', '_')}', {spelled})")
    if at + -at % align != struct.bytes or align != struct.align:
        return None
    return _spell_class(struct.ctype, fields)


def _spell_vector(ctype):
    match = _VECTOR.match(ctype)
    if not match:
        return None
    word = f'c_{match[1]}{"byte" if match[2] == "char" else match[2]}'
    return _spell_class(ctype, [f"('{name}', ctypes.{word})" for name in 'xyzw'[:int(match[3])]])


def _spell_class(ctype, fields):
    body = fold(f'    _fields_ = [{", ".join(fields)}]', 16)
    return f'class {class_name(ctype)}(_Struct):\n    """{ctype} of C."""\n\n{body}\n'
