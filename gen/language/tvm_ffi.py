"""Emits a C file that exports the kernels to TVM-FFI, through which PyTorch, JAX and CuPy can call them."""

import os

from base.text import banner, comment, fold
from language.extents import Call, find_places, scalar_kind
from language.interface import Family

_HERE = os.path.dirname(os.path.realpath(__file__))
_SCALARS = ('i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64', 'f32', 'f64', 'bool')


def emit_tvm_ffi(interface):
    support = '\n'.join(_read_part(name) for name in ('tvm_ffi_text.h', 'tvm_ffi_call.h'))
    calls, notes = [], ''
    for family in interface.families:
        functions = [f for f in family.functions if not _find_problem(f)]
        notes += ''.join(comment([f'No {f.name}: {_find_problem(f)}.']) for f in family.functions if f not in functions)
        calls += [Call(Family(f.name, (f,))) for f in functions]
        if functions and family.is_template:
            calls.append(Call(Family(family.name, tuple(functions))))
    most = max([len(call.arguments) for call in calls] + [1])
    return {f'{interface.name}_tvm_ffi.c': (
        f'{banner(", ".join(interface.sources))}#define CF__MOST_ARGUMENTS {most} /* of a function */\n\n'
        f'{support}\n/* ---- The kernels ---- */\n\n'
        f'extern const cf_module {interface.prefix}_registry;\n'
        f'{notes and chr(10)}{notes}' + ''.join(_emit_call(call, interface.prefix) for call in calls))}


def _read_part(name):
    """Returns the text of a file that is a part of each output, from its first #include."""
    with open(os.path.join(_HERE, name), encoding='utf-8') as file:
        text = file.read()
    return text[text.index('#include'):]


def _find_problem(function):
    """Returns the reason why TVM-FFI cannot pass an argument; '' if it can pass all."""
    for argument in function.arguments:
        kind = scalar_kind(argument.type)
        if argument.direction == 'value' and (kind not in _SCALARS or argument.type.lanes > 1):
            return f'{argument.name} is {argument.type.ctype}, which TVM-FFI does not pass'
        if argument.direction != 'value' and kind in ('opaque', 'ptr', 'void'):
            return f'{argument.name} has elements of {argument.type.ctype}, which no tensor has'
    return ''


def _emit_call(call, prefix):
    text, rows = '\n' + comment((call.functions[0].doc or call.name).split('\n')), []
    for number, function in enumerate(call.functions):
        places = [place for place in find_places(function.arguments) if place.scalar in call.told]
        first = {}
        for place in places:
            first.setdefault(place.scalar, place)
        name = f'{call.name}_places_{number}' if first else 'NULL'
        rows.append(f'{{"{function.name}", {len(first)}, {name}}}')
        if first:
            listed = ', '.join(f'{{{", ".join(map(str, place))}}}' for place in first.values())
            text += fold(f'static const struct place {name}[] = {{{listed}}};', 8) + '\n'
    told = ', '.join(str(int(number in call.told)) for number in range(len(call.arguments))) or '0'
    listed = ',\n    '.join(rows)
    return (f'{text}static const struct instance {call.name}_instances[] = {{\n    {listed}}};\n'
            f'static const uint8_t {call.name}_told[] = {{{told}}};\n'
            f'static const struct family {call.name}_family = {{"{call.name}", &{prefix}_registry, {len(rows)}, '
            f'{call.name}_instances,\n    {call.name}_told}};\n\n'
            f'TVM_FFI_DLL_EXPORT int __tvm_ffi_{call.name}(void *self, const TVMFFIAny *args, int32_t count, '
            'TVMFFIAny *result);\n'
            f'int __tvm_ffi_{call.name}(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result)\n'
            f'{{\n    (void)self;\n    return call_family(&{call.name}_family, args, count, result);\n}}\n')
