"""Emits declarations of the C functions for Cython, and a module whose functions take memoryviews and other buffers."""

import builtins
import keyword
import re

from base.text import banner, fold
from language.extents import Call, find_places, list_extents, scalar_kind, spell_shape, Unspellable
from language.interface import Family
from language.python import (check_module, escape_doc, is_taken_argument, read_part, spell_lookup, spell_names,
                             spell_order)
from language.python_fast import is_total, spell_scalar
from language.statuses import spell_status_classes

# Maps a type of elements to Cython's type and to NumPy's name.
_ELEMENTS = {'i8': ('int8_t', 'int8'), 'i16': ('int16_t', 'int16'), 'i32': ('int32_t', 'int32'),
             'i64': ('int64_t', 'int64'), 'u8': ('uint8_t', 'uint8'), 'u16': ('uint16_t', 'uint16'),
             'u32': ('uint32_t', 'uint32'), 'u64': ('uint64_t', 'uint64'), 'f32': ('float', 'float32'),
             'f64': ('double', 'float64'), 'c64': ('float complex', 'complex64'),
             'c128': ('double complex', 'complex128')}
_BASIC = re.compile(r'(const )?((unsigned |signed )?(char|short|int|long|long long)|float|double|void|bool|size_t|'
                    r'u?int(8|16|32|64)_t|(float|double) complex)( \*)?')
# Keywords that Cython has and Python does not.
_RESERVED = ('cdef', 'cimport', 'cpdef', 'ctypedef', 'enum', 'extern', 'include', 'inline', 'nogil', 'packed', 'public',
             'readonly', 'sizeof', 'struct', 'union')
_SUPPORT = '''# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""{doc}"""

import functools

from cpython.buffer cimport (PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_FULL_RO, PyBUF_WRITABLE,
                             PyBuffer_IsContiguous, PyBuffer_Release, PyObject_GetBuffer)
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport strchr

cimport {name} as _cf_c

import math
import operator


class Error(RuntimeError):
    """A call that was refused or could not be finished; `status` is the CF_... status."""

    status = 0


cdef _fail(int status):
    error = _ERRORS.get(status, Error)(_cf_c.cf_last_error().decode(errors='replace'))
    error.status = status
    raise error


cdef _refuse(str name, object array, int is_written, Exception error):
    """Raises the error of an argument that has no buffer of the wanted kind."""
    cdef Py_buffer view
    if hasattr(array, '__cuda_array_interface__'):
        raise EINVAL(f'{{name}} is on a GPU, and the call takes arrays of the host') from None
    if isinstance(error, TypeError):
        raise TypeError(f'{{name}} is no array but {{type(array).__name__}}') from None
    try:
        PyObject_GetBuffer(array, &view, PyBUF_FULL_RO)
    except Exception:
        if hasattr(array, 'dtype'):     # NumPy exports no dates
            raise TypeError(f'{{name}} has the dtype {{array.dtype}}') from None
        raise EINVAL(f'{{name}}: {{error}}') from error
    is_packed, is_constant = PyBuffer_IsContiguous(&view, b'C'), view.readonly
    PyBuffer_Release(&view)
    if not is_packed:
        raise EINVAL(f'{{name}} is not contiguous in C order; pass a copy of it') from None
    if is_constant and is_written:
        raise EINVAL(f'{{name}} is read-only, and the call writes it') from None
    raise EINVAL(f'{{name}}: {{error}}') from None


cdef int _take(str name, object array, Py_buffer *view, str dtype, char kind, Py_ssize_t size, int rank,
               int flags) except -1:
    """Gets the buffer of an array, which the caller releases."""
    cdef const char *code
    try:
        PyObject_GetBuffer(array, view, flags | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)
    except Exception as error:
        _refuse(name, array, flags & PyBUF_WRITABLE, error)
    if _is_masked(array):
        PyBuffer_Release(view)
        raise EINVAL(f'{{name}} has masked elements, and the call would ignore the mask; pass its filled()')
    code = view.format
    if code == NULL:
        code = b'B'
    if code[0] == b'@' or code[0] == b'=' or code[0] == b'<':
        code += 1
    if view.ndim == rank and view.itemsize == size and _class_of(code) == kind:
        return 0
    rank_found = view.ndim
    PyBuffer_Release(view)
    found = _kind(name, array)
    if found != dtype:
        raise TypeError(f'{{name}} has the dtype {{found}}, and {{dtype}} is needed')
    raise EINVAL(f'{{name}} has {{rank_found}} dimensions, and {{rank}} are needed')


cdef char _class_of(const char *code) noexcept:
    """The class of a buffer's elements: integers, unsigned ones, real and complex numbers; 0 for others."""
    if code[0] == b'Z' and (code[1] == b'f' or code[1] == b'd') and code[2] == 0:
        return b'c'
    if code[0] == 0 or code[1] != 0:
        return 0
    if strchr("bhilqn", code[0]) != NULL:
        return b'i'
    if strchr("BHILQN", code[0]) != NULL:
        return b'u'
    return b'f' if strchr("efd", code[0]) != NULL else 0


cdef void _release(Py_buffer *views, int count) noexcept:
    while count > 0:
        count -= 1
        PyBuffer_Release(&views[count])


cdef _differ(str name, object shape, object wanted):
    raise EINVAL(f'{{name}} has the shape {{shape}}, and {{wanted}} is needed')


cdef _choose(str name, tuple instances, tuple kinds):
    """The instance for the dtypes of arrays; those that are None are not given."""
    found = [call for wanted, call in instances if all([k is None or k == w for k, w in zip(kinds, wanted)])]
    if not found:
        raise TypeError(f'{{name}}: no instance takes arrays of {{", ".join([k for k in kinds if k])}}')
    if len(found) > 1:
        names = ', '.join([call.__name__ for call in found])
        raise TypeError(f'{{name}}: several instances take these arrays; call one of {{names}}')
    return found[0]


cdef _empty(str name, object shape, str dtype):
    import numpy
    try:
        return numpy.empty(shape, dtype)
    except MemoryError as error:
        raise MemoryError(f'{{name}} with the shape {{shape}} cannot be made: {{error}}') from None
    except (OverflowError, ValueError) as error:
        raise EINVAL(f'{{name}} with the shape {{shape}} cannot be made: {{error}}') from None


cdef object _bounded(str name, object shape):
    if any(abs(extent) >= 2 ** 63 for extent in shape):
        raise EINVAL(f'{{name}} has an extent beyond 64 bits')
    return shape


cdef _without_value(str name, Exception error):
    if isinstance(error, EINVAL):
        raise error
    raise EINVAL(f'{{name}} has an extent without a value: {{error}}') from None


cdef str _kind(str name, object array):
    """The dtype of an array as NumPy calls it."""
    try:
        view = memoryview(array)
    except Exception as error:
        _refuse(name, array, False, error)
    size = view.itemsize
    for codes, word in (('bhilqn', 'int'), ('BHILQN', 'uint'), ('efd', 'float')):
        if view.format.lstrip('@=<') in tuple(codes):
            return f'{{word}}{{8 * size}}'
    return {{'Zf': 'complex64', 'Zd': 'complex128'}}.get(view.format, view.format)


'''
_DOC = '''Kernels of {sources}, as functions of arrays on the host.

An argument is anything with the buffer protocol, and is not copied. Extents are those of the arrays. NumPy makes the
results that are not given. The GIL is released during a call.'''


def emit_cython(interface):
    check_module('cython', interface.name)
    sources = ', '.join(interface.sources)
    mark = banner(sources, ('#', ''))
    blocks, notes, families, several, public = [], [], [], {}, []
    for family in interface.families:
        functions = [f for f in family.functions if not _find_problem(f)]
        notes += [f'# No {f.name}(): {_find_problem(f)}.\n' for f in family.functions if f not in functions]
        blocks += [_Wrapper(f).spell() for f in functions]
        public += [name_function(f.name) for f in functions]
        if functions and family.is_template:
            family = Family(family.name, tuple(functions))
            if any(len(group) == 1 for group in family.overloads(_array_types)):
                families.append(_spell_family(family))
                public.append(name_function(family.name))
            else:
                several[family.name] = [name_function(f.name) for f in functions]
    text = _SUPPORT.format(doc=_DOC.format(sources=escape_doc(sources)), name=interface.name)
    numbers = read_part('python_scalars.py', '# ---- ').split('\n\n\n# ---- ')[0]
    blocks = [read_part('python_order.py', 'def '), *blocks, *families,
              *spell_lookup({}, several, f'{interface.name}_wrapper'),
              fold(f'__all__ = [{", ".join(map(repr, public))}]', 11) + '\n']
    module = f'{mark}{text}{numbers}\n\n\n{spell_status_classes()}' + ''.join(f'\n\n{block}' for block in blocks)
    return {f'{interface.name}.pxd': mark + _spell_declarations(interface),
            f'{interface.name}_wrapper.pyx': module + ('\n\n' + ''.join(notes) if notes else '')}


# ---- The C functions


def _spell_declarations(interface):
    structs = {struct.ctype: struct for struct in interface.types}
    named = {a.type.ctype for f in interface.functions for a in f.arguments} | {s.type.ctype for s in interface.symbols}
    lines = ['from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t\n',
             'from libcpp cimport bool\n', '\ncdef extern from "cuferry.h" nogil:\n    ctypedef void *cf_stream\n',
             '    const char *cf_last_error()\n    int cf_stream_sync(cf_stream stream)\n\n',
             f'cdef extern from "{interface.header}" nogil:\n']
    lines += [_spell_type(ctype, structs.get(ctype)) for ctype in sorted(named) if not _BASIC.fullmatch(_strip(ctype))]
    for function in interface.functions:
        words = [_strip(argument.declared) for argument in function.arguments]
        lines.append(f'    int {function.function}({", ".join(words)})\n')
        lines.append(f'    int {function.function}_async({", ".join(["cf_stream", *words])})\n')
    for symbol in interface.symbols:
        lines.append(f'    int {symbol.function}({_spell_setter(symbol)})\n')
    return ''.join(lines)


def _strip(declared):
    return re.sub(r'\bcf_complex(64|128)\b', lambda match: f'{"float" if match[1] == "64" else "double"} complex',
                  re.sub(r'\b(struct|union|enum) ', '', declared))


def _spell_setter(symbol):
    """Returns the parameter of a setter."""
    ctype = _strip(symbol.type.ctype)
    if not symbol.extents:
        return f'const {ctype} *' if symbol.type.kind == 'opaque' else ctype
    return f'const {ctype} *' if len(symbol.extents) == 1 else (
        f'const {ctype} (*)' + ''.join(f'[{extent}]' for extent in symbol.extents[1:]))


def _spell_type(ctype, struct):
    """Returns the declaration of a type, with only those members that have a basic type."""
    word, _, name = ctype.rpartition(' ')
    if struct and struct.values:
        return f'    {"enum" if word else "ctypedef int"} {name}' + (':\n        pass\n' if word else '\n')
    members = struct.members if struct and not struct.is_opaque else ()
    body = ''.join(f'        {member.ctype} {member.path}{"".join(f"[{e}]" for e in member.extents)}\n'
                   for member in members if '.' not in member.path and _BASIC.fullmatch(member.ctype))
    return f'    {word or "ctypedef struct"} {name}:\n{body or "        pass" + chr(10)}'


# ---- The wrappers


def _find_problem(function):
    """Returns the reason why an argument cannot be a memoryview; '' if all can."""
    for argument in function.arguments:
        ctype, kind = argument.type, scalar_kind(argument.type)
        if ctype.lanes > 1 or kind not in _ELEMENTS and (kind != 'bool' or argument.direction != 'value'):
            return f'{argument.name} is {argument.declared}'
        if argument.direction == 'pointer':
            return f'{argument.name} is memory of the device'
    try:
        names = {a.name: a.name for a in function.arguments}
        for argument in function.arguments:
            spell_shape(argument, names)
    except Unspellable:
        return 'an extent has a value that only the C compiler knows'
    return ''


def name_function(name):
    """Returns a function's name in the module. The module itself uses Python's builtins, so max becomes max_, and max_
    becomes max__."""
    plain = name.rstrip('_')
    is_taken = keyword.iskeyword(plain) or hasattr(builtins, plain) or plain in (
        'Error', 'functools', 'math', 'operator', *_RESERVED)
    return f'{name}_' if is_taken else name


def _local(name):
    """Returns the name of the variable for an argument's C value, which must differ from functions of the module."""
    return f'_c_{name}'


class _Wrapper:
    """One function of the module."""

    def __init__(self, function):
        self.function, self.arguments = function, function.arguments
        names = spell_names([a.name for a in self.arguments], lambda n: n in _RESERVED or is_taken_argument(n))
        self.names = [names[a.name] for a in self.arguments]
        self.places = {}
        for is_output in (False, True):     # inputs first, since a caller may leave out outputs
            for place in find_places(self.arguments):
                if (self.arguments[place.array].direction == 'out') == is_output:
                    self.places.setdefault(place.scalar, place)
        tellers = {place.array for place in self.places.values()}
        self.outputs = [n for n, a in enumerate(self.arguments) if a.direction == 'out' and n not in tellers]
        given = [n for n in range(len(self.names)) if n not in self.outputs and n not in self.places]
        self.order = sorted(given + self.outputs)
        self.has_results_before = self.order != given + self.outputs
        self.scalars = {a.name: _local(name) for a, name in zip(self.arguments, self.names) if a.direction == 'value'}
        # Extents are computed in Python's integers, which do not overflow.
        self.exact = {name: f'(<object>{scalar})' for name, scalar in self.scalars.items()}

    def spell_words(self):
        """Returns the parameters of a function; callers may leave out arrays that the function can make."""
        default = '' if self.has_results_before else '=None'
        return ', '.join(self.names[n] + default * (n in self.outputs) for n in self.order)

    def spell(self):
        arrays = [n for n, a in enumerate(self.arguments) if a.direction != 'value']
        lines = [f'{spell_order(self, self.names)}def {name_function(self.function.name)}({self.spell_words()}):']
        doc = escape_doc(self.function.doc or f'Calls {self.function.function}().').split('\n')
        lines += ['    """' + '\n    '.join(doc).replace('\n    \n', '\n\n') + '"""']
        taken = [n for n in arrays if n not in self.outputs] + self.outputs
        if taken:
            lines += [f'    cdef Py_buffer[{len(taken)}] _cf_views', '    cdef int _cf_held = 0']
            lines += [f'    cdef Py_buffer *{_local(self.names[n])} = &_cf_views[{place}]'
                      for place, n in enumerate(taken)]
        lines += [f'    cdef {self._ctype(n)} {_local(self.names[n])}' for n in sorted(self.places)]
        lines += [line for n in range(len(self.names)) if n not in arrays and n not in self.places
                  for line in self._spell_scalar(n)]
        lines += ['    cdef int _cf_status']
        body = [line for n in taken if n not in self.outputs for line in self._spell_use(n)]
        body += [line for place in self.places.values() for line in self._spell_place(place)]
        for number in self.outputs:
            name = self.names[number]
            body += [f'    if {name} is None:', *(f'    {line}' for line in self._spell_wanted(number)),
                     f"        {name} = _empty('{self.function.name}: {name}', _cf_wanted, '{self._dtype(number)}')",
                     *self._spell_use(number)]
        body += [line for n in arrays for line in self._spell_check(n)]
        passed = ', '.join(self._pass(n) for n in range(len(self.names)))
        body += ['    with nogil:', f'        _cf_status = _cf_c.{self.function.function}({passed})']
        if taken:
            lines += ['    try:', *(f'    {line}' for line in body)]
            lines += ['    finally:', '        _release(_cf_views, _cf_held)']
        else:
            lines += body
        lines += ['    if _cf_status:', '        _fail(_cf_status)']
        results = ', '.join(self.names[n] for n, a in enumerate(self.arguments) if a.direction == 'out')
        return '\n'.join(lines + [f'    return {results}'] * bool(results)) + '\n'

    def _spell_scalar(self, number):
        """Returns the statement that converts a scalar, with a short cut for values of Python's own type that fit."""
        name, kind = self.names[number], scalar_kind(self.arguments[number].type)
        fits = spell_scalar(name, kind)
        if kind in ('f32', 'f64'):
            fits = f'{fits} or type({name}) is int and -1e38 < {name} < 1e38'
        exact = f'{name} if {fits} else ' * (kind not in ('c64', 'c128'))
        yield (f"    cdef {self._ctype(number)} {_local(name)} = {exact}_number("
               f"'{self.function.name}: {name}', '{kind}', {name})")

    def _ctype(self, number):
        kind = scalar_kind(self.arguments[number].type)
        return 'bint' if kind == 'bool' else _ELEMENTS[kind][0]

    def _dtype(self, number):
        return _ELEMENTS[scalar_kind(self.arguments[number].type)][1]

    def _spell_use(self, number):
        """Returns the statements that get the buffer of an array."""
        name, argument, kind = self.names[number], self.arguments[number], scalar_kind(self.arguments[number].type)
        flags = '0' if argument.direction == 'in' else 'PyBUF_WRITABLE'
        return [f"    _take('{self.function.name}: {name}', {name}, {_local(name)}, "
                f"'{self._dtype(number)}', b'{kind[0]}', {int(kind[1:]) // 8}, "
                f'{len(argument.dims)}, {flags})', '    _cf_held += 1']

    def _spell_place(self, place):
        extent, scalar = f'{_local(self.names[place.array])}.shape[{place.dimension}]', self.names[place.scalar]
        kind = scalar_kind(self.arguments[place.scalar].type)
        limit = 2 ** (int(kind[1:]) - (kind[0] == 'i')) - 1
        if place.offset or place.factor > 1:
            rest = f' or ({extent} - {place.offset}) % {place.factor}' if place.factor > 1 else ''
            yield f'    if {extent} < {place.offset}{rest}:'
            yield (f"        raise EINVAL(f'{self.function.name}: {self.names[place.array]} has the extent "
                   f"{{{extent}}}, which {place.factor} * {scalar} + {place.offset} cannot be')")
        if limit < 2 ** 63 - 1:
            yield f'    if {extent} > {limit * place.factor + place.offset}:'
            yield (f"        raise OverflowError(f'{self.function.name}: {self.names[place.array]} has {{{extent}}} "
                   f"elements, and {scalar} is {kind}')")
        value = f'({extent} - {place.offset})' if place.offset else extent
        value += f' // {place.factor}' if place.factor > 1 else ''
        yield f'    {_local(scalar)} = <{self._ctype(place.scalar)}>({value})'

    def _spell_wanted(self, number):
        """Returns the statements that compute the shape that an array must have."""
        texts = spell_shape(self.arguments[number], self.exact)
        shape, named = f'({", ".join(texts)},)', f"'{self.function.name}: {self.names[number]}'"
        if all(map(is_total, list_extents(self.arguments[number]))):
            yield f'    _cf_wanted = {shape}'
            return
        yield from ('    try:', f'        _cf_wanted = _bounded({named}, {shape})',
                    '    except (ArithmeticError, MemoryError, ValueError) as _cf_error:',
                    f'        _without_value({named}, _cf_error)')

    def _spell_check(self, number):
        argument, name = self.arguments[number], self.names[number]
        told = {place.dimension for place in self.places.values() if place.array == number}
        shape = [f'{_local(name)}.shape[{dimension}]' for dimension in range(len(argument.dims))]
        wanted = spell_shape(argument, self.scalars)
        conditions = [f'{shape[d]} != {text}' for d, text in enumerate(wanted) if d not in told]
        if not conditions:
            return
        is_simple = all(text in self.scalars.values() for d, text in enumerate(wanted) if d not in told)
        differ = f"_differ('{self.function.name}: {name}', ({', '.join(shape)},), _cf_wanted)"
        if is_simple:   # C's arithmetic suffices for the comparison
            yield from (f'    if {" or ".join(conditions)}:', *(f'    {line}' for line in self._spell_wanted(number)),
                        f'        {differ}')
        else:
            yield from self._spell_wanted(number)
            yield from (f'    if ({", ".join(shape)},) != _cf_wanted:', f'        {differ}')

    def _pass(self, number):
        argument, name = self.arguments[number], self.names[number]
        if argument.direction == 'value':
            return _local(name)
        return f'<{_strip(argument.declared)}>{_local(name)}.buf'


def _array_types(function):
    """Returns the types of arrays by which a call chooses an instance."""
    return tuple(_ELEMENTS[scalar_kind(a.type)][1] for a in function.arguments if a.direction != 'value')


def _spell_family(family):
    """Returns the function that chooses an instance by the types of arrays."""
    name, call = family.name, Call(family)
    wrappers = [_Wrapper(function) for function in family.functions]
    first, names = wrappers[0], wrappers[0].names
    rows = ''.join(f'    ({_spell_strings(_array_types(w.function))}, {name_function(w.function.name)}),\n'
                   for w in wrappers)
    kinds = [f"None if {names[n]} is None else _kind('{name}: {names[n]}', {names[n]})" if n in first.outputs else
             f"_kind('{name}: {names[n]}', {names[n]})" for n in call.arrays]
    doc = escape_doc(family.functions[0].doc or f'Calls {name}.').split('\n')[0]
    return (f'_{name}_instances = (\n{rows})\n_{name}_chosen = {{}}\n\n\n'
            f'{spell_order(first, names)}def {name_function(name)}({first.spell_words()}):\n'
            f'    """{doc}"""\n'
            f'    kinds = ({", ".join(kinds)},)\n    call = _{name}_chosen.get(kinds)\n    if call is None:\n'
            f"        call = _{name}_chosen[kinds] = _choose('{name}', _{name}_instances, kinds)\n"
            f'    return call({", ".join(names[n] for n in first.order)})\n')


def _spell_strings(words):
    return f'({", ".join(map(repr, words))}{"," * (len(words) == 1)})'
