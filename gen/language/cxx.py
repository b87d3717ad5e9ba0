"""Emits the C++ header: overloads over the instances of a kernel, which take arrays as spans."""

import math
import re

from base.diagnostics import GeneratorError
from base.text import CXX_WORDS, banner, comment, fold, identifier, include
from emit.header import overload_refusal, overload_template

_BINARY = {'ADD': '+', 'SUB': '-', 'MUL': '*', 'DIV': '/', 'MOD': '%', 'LT': '<', 'LE': '<=', 'GT': '>', 'GE': '>=',
           'EQ': '==', 'NE': '!=', 'SHL': '<<', 'SHR': '>>', 'BIT_AND': '&', 'BIT_OR': '|', 'BIT_XOR': '^'}
_CALLS = {'MIN': 'least', 'MAX': 'most', 'AND': 'both', 'OR': 'either', 'SELECT': 'choose'}


def emit_cxx(interface):
    if interface.prefix in CXX_WORDS or interface.prefix == 'std':
        raise GeneratorError(f"--emit cxx: no namespace can have the name '{interface.prefix}'; give another with "
                             '--prefix')
    name = re.sub(r'\.h$', '', interface.header) + '.hpp'
    guard = f'CUFERRY_{identifier(name).upper().replace("CUFERRY_", "")}'
    opaque = {t.ctype for t in interface.types if t.is_opaque}
    blocks = []
    for family in interface.families:
        blocks += [_emit_function(f, opaque, f == family.functions[0]) for f in family.functions]
        if family.is_template:
            groups = list(family.overloads(_key))
            has_several = any(len(group) > 1 for group in groups)
            blocks += [_emit_overload(family.name, group, has_several) for group in groups]
    blocks += map(_emit_setters, interface.symbols)
    text = (f'{banner(", ".join(interface.sources))}#ifndef {guard}\n#define {guard}\n\n'
            f'#include <cuferry/cuferry.hpp>\n{include(interface.header)}\n'
            f'namespace {interface.prefix} {{\ninline namespace CF__STYLE {{\n\n')
    return {name: text + '\n'.join(blocks) + f'\n}}\n}}\n\n#endif /* {guard} */\n'}


def _key(function):
    """Returns the types by which C++ chooses an overload. Numbers are left out, since they convert to one another."""
    return tuple((a.type.ctype, a.direction) for a in function.arguments if a.direction != 'value')


def _safe(name):
    return f'{name}_' if name in CXX_WORDS else name


def _emit_function(function, opaque, is_first):
    told = function.lengths(False)
    declared = ', '.join(_declare(a) for a in function.arguments if a.name not in told)
    checks = ''.join(_emit_checks(function, told, opaque))
    passed = ', '.join(f'{a.name}.data()' if a.is_array else a.name for a in function.arguments)
    stream = _stream_name({a.name for a in function.arguments})
    forms = _emit_forms(function.name, function.function, stream, declared, checks, passed)
    return _comment(function, is_first) + ''.join(forms)


def _emit_overload(name, group, has_several):
    """Emits the family's name for the only instance with these types, or a template that refuses calls if there are
    several."""
    function = group[0]
    told = function.lengths(False)
    arguments = [a for a in function.arguments if a.name not in told]
    stream = _stream_name({a.name for a in function.arguments})
    text = ''
    for suffix, leading, first in (('', '', ''), ('_async', f'cf_stream {stream}', stream)):
        passed = _join(first, *(a.name for a in arguments))
        listed = [f.name + suffix for f in group]
        head = f'{overload_template(listed) * has_several}inline CF__RESULT {_safe(name + suffix)}('
        text += fold(f'{head}{_join(leading, *map(_declare, arguments))})\n', len(head)) + '{\n'
        if len(group) > 1:
            text += overload_refusal(listed, f'{name}{suffix}: several instances fit; call {" or ".join(listed)}')
            text += ''.join(f'    (void){word};\n' for word in passed.split(', '))
            text += '    return cf::check(CF_EINVAL);\n}\n'
        else:
            text += fold(f'    return {_safe(function.name + suffix)}({passed});\n', 8) + '}\n'
    return text


def _comment(of, has_doc):
    return comment([*(of.doc.split('\n') if of.doc and has_doc else ()), f'In C: {of.function}()'])


def _stream_name(names):
    return 'stream' if 'stream' not in names else 'cf__stream'


def _emit_forms(name, function, stream, declared, checks, passed):
    """Yields the plain form and the form with a stream."""
    for suffix, leading, first in (('', '', ''), ('_async', f'cf_stream {stream}', stream)):
        head = f'inline CF__RESULT {_safe(name + suffix)}('
        yield fold(f'{head}{_join(leading, declared)})\n', len(head))
        call = f'::{function}{suffix}({_join(first, passed)})'
        if checks:
            call = f'cf__call.fails() ? cf__call.status() : {call}'
            yield f'{{\n    cf::detail::call cf__call("{function}{suffix}");\n{checks}'
        else:
            yield '{\n'
        yield fold(f'    return cf::check({call});\n', 8) + '}\n'


def _join(*parts):
    return ', '.join(filter(None, parts))


def _declare(argument):
    if argument.is_array:
        return f'cf::span<{argument.declared[:-1].rstrip()}> {argument.name}'
    return f'{argument.declared}{"" if argument.declared.endswith("*") else " "}{argument.name}'


def _emit_checks(function, told, opaque):
    """Emits statements that take lengths from the sizes of arrays, and compare the other sizes."""
    for name, (array, _) in told.items():
        yield (f'    const {function.argument(name).declared} {name} = '
               f'cf__call.length<{function.argument(name).declared}>("{array.name}", {array.name}.size());\n')
    tellers = {array.name for array, _ in told.values()}
    for array in filter(lambda a: a.is_array and a.name not in tellers, function.arguments):
        tree = array.length()
        if not _reads_opaque(tree, function, opaque):
            kind = 'equal' if array.is_packed else 'at_least'
            yield fold(f'    cf__call.{kind}("{array.name}", {array.name}.size(), {_spell(tree)});\n', 8)


def _reads_opaque(tree, function, opaque):
    """True if an expression reads a member of a struct that C only sees as bytes."""
    if tree[0] == 'MEMBER':
        return function.argument(tree[1]).type.ctype in opaque
    return any(_reads_opaque(part, function, opaque) for part in tree[1:] if isinstance(part, tuple))


def _spell(tree):
    """Returns the C++ text of an expression over cf::detail::exact."""
    kind, *parts = tree
    if kind == 'CONST':
        return f'cf::detail::exact({parts[0]})' if abs(parts[0]) < 2**31 else f'cf::detail::exact(INT64_C({parts[0]}))'
    if kind == 'SIZEOF':
        return f'cf::detail::exact(sizeof({parts[0]}))'
    if kind in ('PARAM', 'MEMBER'):
        return f'cf::detail::exact({".".join(parts)})'
    if kind in ('NEG', 'NOT'):
        return f'{"-" if kind == "NEG" else "!"}({_spell(parts[0])})'
    if kind in _CALLS:
        return f'cf::detail::{_CALLS[kind]}({", ".join(map(_spell, parts))})'
    return f' {_BINARY[kind]} '.join(map(_spell_operand, parts))


def _spell_operand(tree):
    return f'({_spell(tree)})' if tree[0] in _BINARY else _spell(tree)


def _emit_setters(symbol):
    stream, ctype = _stream_name({symbol.name}), symbol.type.ctype
    checks, passed = '', symbol.name
    if symbol.extents:
        count = math.prod(symbol.extents)
        declared, passed = f'cf::span<const {ctype}> {symbol.name}', f'{symbol.name}.data()'
        checks = f'    cf__call.equal("{symbol.name}", {symbol.name}.size(), cf::detail::exact({count}));\n'
        if len(symbol.extents) > 1:
            rows = ''.join(f'[{e}]' for e in symbol.extents[1:])
            passed = f'reinterpret_cast<const {ctype} (*){rows}>({passed})'
    elif symbol.type.kind == 'opaque':
        declared, passed = f'const {ctype} &{symbol.name}', f'&{symbol.name}'
    else:
        declared = f'{ctype} {symbol.name}'
    forms = _emit_forms(f'set_{symbol.name}', symbol.function, stream, declared, checks, passed)
    return _comment(symbol, True) + ''.join(forms)
