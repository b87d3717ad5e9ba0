"""Reads device functions that kernels of other files call: definitions with `#pragma cf device`, and declarations of
functions that another file defines."""

import keyword
from dataclasses import replace

from base.model import DeviceFunction
from cpu.members import list_parameters
from declare.kerneldecl import read_param, read_params
from tokens.brackets import without_attributes
from tokens.cursor import Cursor
from tokens.lexer import spell_tokens, Token, TokenError

# Maps the short names of C types to Numba's names.
_NUMBA = {'bool': 'boolean', 'f32': 'float32', 'f64': 'float64',
          **{f'{sign[:1] or "i"}{bits}': f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64)}}
# Names in the module of emit/numba.py.
_OF_MODULE = ('cuda', 'os', '_FOLDER', 'FATBINS', 'LTOIRS')
# Specifiers of functions that have code only in the files that call them.
_INLINE = ('inline', '__forceinline__', '__inline__', 'constexpr', 'consteval')


def check_device_function(token, declaration):
    """Raises TokenError unless other files can call a function. `token`: the token of its annotation."""
    if declaration is None or declaration.function is None or declaration.has('__global__') or not (
            declaration.has('__device__') or declaration.is_on_device):
        raise TokenError(declaration.head[0] if declaration else token,
                         'expected a __device__ function below #pragma cf device')
    name = declaration.head[declaration.function]
    if declaration.head[0].text == 'template':
        raise TokenError(name, f'{name.text} is a template, which has no code for other files to call; define it in a '
                               'header that all of them include, without #pragma cf device, or make it a function of '
                               'fixed types')
    if declaration.is_member or declaration.head[declaration.function - 1].text == '::' or name.text == 'operator':
        raise TokenError(name, 'other files call functions with a name of their own; write a function at file or '
                               'namespace scope that calls this one')
    if declaration.body is None:
        raise TokenError(name, f'{name.text} has no body here; #pragma cf device is for the definition, and other '
                               'files need the declaration alone')
    if declaration.has('static') or '' in declaration.scope:
        where = 'static' if declaration.has('static') else 'in a namespace without a name'
        raise TokenError(name, f'{name.text} is {where}, so that no other file can call it; '
                               f'{"leave static out" if declaration.has("static") else "move it out of there"}')
    inline = next(filter(declaration.has, _INLINE), None)
    if inline:
        raise TokenError(name, f'{name.text} is {inline}, so that files have code of it only where they call it; leave '
                               f'{inline} out: the link inlines functions of other files, too')


def read_device_function(declaration, has_host):
    """Returns the DeviceFunction for a function that a file defines for other files or expects from them."""
    name = '::'.join([s for s in declaration.scope if s] + [declaration.name])
    head = [t for t in without_attributes(declaration.head) if t.kind != 'string']      # without the "C" of extern "C"
    after = head.index(declaration.head[declaration.function]) + 1
    before = spell_tokens(head[:after])
    signature = before[:len(before) - len(declaration.name)] + name + spell_tokens(head[after:])
    return DeviceFunction(name, list_parameters(declaration), signature,
                          declaration.head[declaration.function].location, declaration.body is not None, has_host)


def add_numba(function, declaration, types):
    """Returns a DeviceFunction extended by its types in Numba. Raises TokenError for a type that Numba cannot pass."""
    token = declaration.head[declaration.function]
    if keyword.iskeyword(token.text) or token.text in _OF_MODULE:
        raise TokenError(token, f'{token.text} cannot be the name of a function in the Python module for Numba; rename '
                                'it')
    end = declaration.last
    cursor = Cursor([*declaration.head[declaration.function + 1:], Token('end', '', end.file, end.line, end.column)])
    front = [t for t in declaration.head[:declaration.function] if t.kind != 'string' and t.text != 'extern']
    raws = [read_param([*front, token]), *read_params(cursor, "the function's name")]
    found = []
    for raw in raws:
        is_void = raw is raws[0] and raw.words == ['void'] and not raw.pointer
        param = None if is_void else types.read_param(raw, declaration.scope, {}, {})
        name = 'void' if is_void else _NUMBA.get(param.type.short) if param.type.kind in ('integer', 'float') else None
        if name is None or len(raw.pointers) > 1:
            raise TokenError(raw.first, 'functions for Numba take and return bool, integers except char, float, double '
                                        'and pointers to these')
        found.append(('void' if is_void else param.cxx, f'CPointer({name})' if raw.pointer else name))
    spelled = f'{found[0][1]}({", ".join(name for _, name in found[1:])})'
    return replace(function, numba=spelled, params=tuple(cxx for cxx, _ in found))


def list_outside(declarations):
    """Returns the declarations of device functions that a file's device code names but the file does not define."""
    def key(declaration):
        return declaration.scope, declaration.name, list_parameters(declaration)

    functions = [d for d in declarations if d.function is not None and d.name != 'operator' and
                 not d.is_instantiation and d.head[0].text != 'template' and
                 d.head[d.function - 1].text != '::']
    outside = [d for d in functions if d.body is None and d.has('__device__')]
    if not outside:
        return []
    defined = {key(d) for d in functions if d.body is not None}
    called = frozenset().union(*(d.words for d in declarations if d.body is not None and (
        d.is_class or d.is_on_device or d.has('__global__'))))
    found = {key(d): d for d in reversed(outside) if d.name in called}
    return [d for d in outside if found.get(key(d)) is d and key(d) not in defined]
