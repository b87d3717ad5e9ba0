"""Emits a Python module that calls a shared object of the library by ctypes."""

import builtins
import keyword
import os
import pkgutil
import re
import sys
import textwrap

from base.diagnostics import GeneratorError
from base.text import banner, fold
from language.extents import Call, find_places, scalar_kind, spell_shape, Unspellable
from language.interface import Family
from language.python_fast import spell_fast_path
from language.statuses import read_statuses, spell_status_classes
from language.structures import class_name, is_passed, spell_structures

HERE = os.path.dirname(os.path.realpath(__file__))
_HINTS = {'i': 'int', 'u': 'int', 'c': 'complex'}
_ROLES = {'in': 'read', 'out': 'written; made and returned if it is not given', 'inout': 'read and written',
          'pointer': 'memory of the device, of any size'}
_DOC = '''Arguments are NumPy, CuPy or PyTorch arrays, objects with __cuda_array_interface__ or __dlpack__, and
buffers; none is copied. With arrays on the host, a call is done when it returns. With arrays on a GPU, it is enqueued
on the current stream of their library, or on `stream`. Extents are those of the arrays.

The shared object lib{prefix}.so of cfcc --shared lies in the folder that the environment variable {variable} names, or
beside this file, or where the dynamic linker looks.

{classes}
'''
# Names that a module cannot have, beside Python's words and standard library, with their owners.
_TAKEN = {**dict.fromkeys(('cupy', 'numpy', 'torch'), 'a library whose arrays it takes'),
          **dict.fromkeys(('cuda', 'cython', 'jax', 'ml_dtypes', 'numba', 'scipy', 'tvm_ffi'),
                          'a package that programs import beside it'),
          **dict.fromkeys(('cpython', 'libc', 'libcpp'), 'a package of Cython'),
          **dict.fromkeys(('distutils', 'pip', 'pkg_resources', 'setuptools', 'wheel'),
                          'a package that installs others'),
          **dict.fromkeys(('sitecustomize', 'usercustomize'), 'a module that it imports at its start'),
          'test': 'a module of its standard library'}
# Names that a function's own statements use.
_USED = {'stream', 'min', 'max', 'int', 'float', 'bool', 'type', 'len'}


def is_taken_argument(name):
    return name.startswith('_') or keyword.iskeyword(name) or name in _USED


def spell_names(names, is_taken):
    """Maps C names to Python names. A name that is taken gets underscores until it is unique."""
    found = {name: name for name in names if not is_taken(name)}
    for name in names:
        if name not in found:
            spelled = f'x{name}' if name.startswith('_') else f'{name}_'
            while is_taken(spelled) or spelled in found.values():
                spelled += '_'
            found[name] = spelled
    return found


class _Function(Call):
    """A function of the generated Python module."""

    def __init__(self, family, classes):
        super().__init__(family)
        self.classes = classes
        self.by_name = spell_names([a.name for a in self.arguments], is_taken_argument)
        self.names = [self.by_name[a.name] for a in self.arguments]

    @property
    def problem(self):
        """The reason why ctypes cannot call the function; '' if it can."""
        for function in self.functions:
            for argument in function.arguments:
                ctype = argument.type
                is_found = ctype.ctype in self.classes if argument.is_by_address else is_passed(ctype, self.classes)
                if argument.direction == 'value' and not is_found and (
                        ctype.lanes > 1 or ctype.kind in ('opaque', 'ptr')):
                    return f'{argument.name} is {ctype.ctype}, which ctypes does not pass by value'
        try:
            self.spell_entry()
        except Unspellable:
            return 'an extent has a value that only the C compiler knows'
        return ''

    # ---- The table

    def array_types(self, function):
        """Returns the types of arrays by which a call chooses an instance."""
        return tuple(self._spell_type(a) for a in function.arguments if a.direction != 'value')

    def spell_entry(self):
        """Returns the function's table, which the code of python_calls.py reads."""
        arguments = ', '.join(f"('{name}', '{role}')" for name, role in zip(self.names, self.roles))
        head = f"_of_{self.name} = _Entry('{self.name}', ("
        comma = ',' * (len(self.names) == 1)
        if self.functions[0].name == self.name:
            instances = self._spell_instance(self.functions[0])
        else:
            instances = ',\n    '.join(f'*_of_{function.name}.instances' for function in self.functions)
        return fold(f'{head}{arguments}{comma}), [', len(head)) + f'\n    {instances}])\n'

    def _spell_instance(self, function):
        scalars = ', '.join(self.by_name[a.name] for a in function.arguments if a.direction == 'value')
        wanted = [self._spell_tuple(spell_shape(a, self.by_name)) if a.is_array else 'None'
                  for a in function.arguments]
        places = [str(tuple(place)) for place in find_places(function.arguments) if place.scalar in self.told]
        types = self._spell_tuple(map(self._spell_type, function.arguments))
        separator = f',\n{" " * 14}'
        return (f"_Instance('{function.name}', '{function.called}', {types}{separator}"
                f"{self._spell_tuple(places)}{separator}"
                f"lambda{' ' * bool(scalars)}{scalars}: {self._spell_tuple(wanted)})")

    @staticmethod
    def _spell_tuple(texts):
        texts = list(texts)
        return f'({", ".join(texts)}{"," * (len(texts) == 1)})'

    def _spell_type(self, argument):
        ctype = argument.type
        if argument.direction == 'value':
            return class_name(ctype.ctype) if ctype.ctype in self.classes else f"'{scalar_kind(ctype)}'"
        dtype = repr({'opaque': 'bytes', 'ptr': 'u64'}.get(ctype.kind, scalar_kind(ctype)))
        if ctype.kind == 'opaque' and ctype.ctype in self.classes:
            dtype = class_name(ctype.ctype)
        return f"({dtype}, {ctype.lanes}, {ctype.bytes or 0}, {len(argument.dims)})"

    # ---- The function

    def spell_function(self, name):
        default = '' if self.has_results_before else ' = None'
        words = [f'{self.names[n]}: ' + (f'Optional[Array]{default}' if n in self.outputs else
                                         self._hint(self.arguments[n])) for n in self.order]
        words += ['*', *(f'{self.names[n]}: Optional[int] = None' for n in sorted(self.told)), 'stream: Any = None']
        result = {0: 'None', 1: 'Array'}.get(len(self.outputs), f'Tuple[{", ".join(["Array"] * len(self.outputs))}]')
        head, call = f'def {name}(', f'    return _of_{self.name}('
        return (spell_order(self, self.names) + fold(f'{head}{", ".join(words)}) -> {result}:', len(head)) +
                f'\n{self._spell_doc()}{spell_fast_path(self, self.names)}' +
                fold(f'{call}stream, {", ".join(self.names)})\n', len(call)))

    def _hint(self, argument):
        if argument.direction != 'value':
            return 'Array'
        ctype = argument.type
        return class_name(ctype.ctype) if ctype.ctype in self.classes else (
            'bool' if ctype.kind == 'bool' else _HINTS.get(scalar_kind(ctype)[0], 'float'))

    def _spell_doc(self):
        lines = escape_doc(self.functions[0].doc or f'Calls {self.functions[0].function}() of C.').split('\n')
        for number in self.arrays:
            dtypes = dict.fromkeys(_spell_dtype(function.arguments[number].type) for function in self.functions)
            extents = ''.join(f'[{dim.lower.text + ":" if dim.lower else ""}{dim.extent.text}]'
                              for dim in self.arguments[number].dims)
            text = f'{self.names[number]}{extents}: {", ".join(dtypes)}; {_ROLES[self.roles[number]]}'
            lines += [''] * (number == self.arrays[0]) + textwrap.wrap(text, 110, subsequent_indent='    ')
        if self.has_results_before:
            given = ', '.join(self.names[n] for n in self.given)
            lines += ['', *textwrap.wrap(f'Without {", ".join(self.names[n] for n in self.outputs)} the arguments are '
                                         f'{given}.', 110)]
        if self.functions[0].name != self.name:
            text = f'The dtypes choose among {", ".join(function.name for function in self.functions)}.'
            lines += ['', *textwrap.wrap(text, 110)]
        lines[0] = f'"""{lines[0]}'
        text = '\n'.join(f'    {line}' if line else '' for line in lines)
        return text + ('\n    """\n' if len(lines) > 1 else '"""\n')


def spell_order(call, names):
    """Returns the decorator by which a function accepts arguments in C's order; '' if it needs none. `names`: its
    arguments."""
    if not call.has_results_before:
        return ''
    order, results = ([names[n] for n in numbers] for numbers in (call.order, call.outputs))
    return fold(f'@_in_order({order}, {results})', 11) + '\n'


def escape_doc(text):
    """Returns a kernel's comment as text that can stand in a docstring."""
    return text.replace('\\', '\\\\').replace('"""', "'''") + ' ' * text.endswith('"')


def _spell_dtype(ctype):
    if ctype.kind in ('opaque', 'void'):
        return ctype.ctype
    return ctype.kind + f'x{ctype.lanes}' * (ctype.lanes > 1)


def _spell_setter(symbol, name, classes):
    """Returns a function that sets __constant__ data; None if ctypes has no such type."""
    ctype = symbol.type
    is_found = is_passed(ctype, classes) if ctype.lanes > 1 else ctype.ctype in classes
    if not is_found and (ctype.lanes > 1 or ctype.kind in ('opaque', 'ptr', 'void')):
        return None
    kind = class_name(ctype.ctype) if ctype.ctype in classes else f"'{scalar_kind(ctype)}'"
    is_value = not symbol.extents and ctype.kind != 'opaque'
    doc = escape_doc(symbol.doc or f'Sets {symbol.name}.').split('\n')[0]
    return (f"_of_{name} = _Setter('{symbol.name}', '{symbol.function}', {kind}, {symbol.extents}, {is_value})\n\n\n"
            f'def {name}(value: Any) -> None:\n    """{doc}"""\n    _of_{name}(value)\n')


def read_part(name, start):
    """Returns the text of a file that is a part of each module, from its first line that begins with `start`."""
    with open(os.path.join(HERE, name), encoding='utf-8') as file:
        text = file.read()
    return text[text.index(f'\n{start}') + 1:].rstrip() + '\n'


def _read_support(prefix):
    """Returns the parts of each module that do not depend on its kernels."""
    parts = [read_part(f'python_{name}.py', start) for name, start in (
        ('arrays', 'import ctypes\n'), ('scalars', '# ---- '), ('calls', '# ---- '), ('order', '# ---- '))]
    arrays = parts[0].replace("_PREFIX = 'prefix'", f"_PREFIX = '{prefix}'").replace('  # noqa: F401', '')
    arrays = re.sub(r'class EINVAL.*?(?=\n\n# ---- )', lambda _: spell_status_classes(), arrays, flags=re.DOTALL)
    return '\n\n'.join([arrays, *parts[1:]])


def check_module(language, name):
    """Refuses names that mean something else to Python, or to a module that uses its standard library and arrays."""
    standard = getattr(sys, 'stdlib_module_names', None) or {
        *sys.builtin_module_names, *(module.name for module in pkgutil.iter_modules([os.path.dirname(os.__file__)]))}
    # pip ignores the case of names, and so do some file systems.
    whose = "a word of Python's" if keyword.iskeyword(name) else (
        _TAKEN['test'] if name in standard else _TAKEN.get(name.lower(), ''))
    if whose:
        raise GeneratorError(f"--emit {language}: no module of Python can have the name '{name}', which is {whose}; "
                             'give another with --prefix')


def emit_python(interface):
    check_module('python', interface.name)
    support, classes = _read_support(interface.name), spell_structures(interface)
    taken = {'Any', 'Array', 'Dict', 'Optional', 'Tuple', *map(class_name, classes),
             *(name for name, _, _ in read_statuses()),
             *re.findall(r'^(?:class|def|import) (\w+)', support, re.MULTILINE)}
    calls, notes, several = _list_calls(interface.families, classes)
    names = spell_names([call.name for call in calls], lambda n: keyword.iskeyword(n) or n in taken)
    blocks, hidden, public = [], [], []
    for function in calls:
        name = names[function.name]
        public.append(name)
        if hasattr(builtins, name):
            hidden.append(name)
            blocks.append(f"{function.spell_entry()}\n\n{function.spell_function(f'_call_{name}')}\n\n"
                          f"_call_{name}.__name__ = '{name}'\n")
        else:
            blocks.append(f'{function.spell_entry()}\n\n{function.spell_function(name)}')
    for symbol in interface.symbols:
        name = f'set_{symbol.name}'
        text = _spell_setter(symbol, name, classes)
        if text:
            blocks.append(text)
            public.append(name)
        else:
            notes.append(f'# No {name}(): ctypes has no {symbol.type.ctype}.\n')
    sources = ', '.join(interface.sources)
    kinds = ', '.join(map(class_name, classes))
    said = 'Failed calls raise Error or a class of it, as EINVAL.' + f' Structs are the classes {kinds}.' * bool(kinds)
    doc = _DOC.format(prefix=interface.name, variable=f'{interface.name.upper()}_LIBRARY_DIR',
                      classes=textwrap.fill(said, 118))
    head = f'{banner(sources, ("#", ""))}"""Kernels of {escape_doc(sources)}.\n\n{doc}"""\n\n'
    return {f'{interface.name}.py': '\n\n'.join([
        f'{head}{support}', '# ---- The library\n', *classes.values(), *blocks,
        *([''.join(notes)] if notes else []), *spell_lookup(hidden, several, interface.name),
        fold(f'__all__ = [{", ".join(map(repr, public))}]', 11) + '\n'])}


def _list_calls(families, classes):
    """Returns the functions of the module, comments about functions that it lacks, and a map from each family whose
    instances all share their array types with others to these instances."""
    calls, notes, several = [], [], {}
    for family in families:
        own = [_Function(Family(function.name, (function,)), classes) for function in family.functions]
        notes += [f'# No {call.name}(): {call.problem}.\n' for call in own if call.problem]
        own = [call for call in own if not call.problem]
        calls += own
        if own and family.is_template:
            whole = _Function(Family(family.name, tuple(call.functions[0] for call in own)), classes)
            if any(len(group) == 1 for group in whole.family.overloads(whole.array_types)):
                calls.append(whole)
            else:
                several[family.name] = [call.name for call in own]
    return calls, notes, several


def _spell_several(several, module):
    """Returns the statements of __getattr__() that refuse the names of families whose instances take the same
    arrays."""
    rows = ''.join(f"    '{name}': '{', '.join(instances)}',\n" for name, instances in several.items())
    return f"_SEVERAL = {{\n{rows}}}", f"""    if name in _SEVERAL:
        raise AttributeError(f"module '{module}' has no function {{name}}: several instances take the same arrays, and "
                             f"each is a function: {{_SEVERAL[name]}}")
"""


def spell_lookup(hidden, several, module):
    """Returns __getattr__(), which finds functions that are named like Python builtins, since the module itself uses
    these, and refuses the names of `several`."""
    tables, body = [], ''
    if hidden:
        pairs = ', '.join(f"'{name}': _call_{name}" for name in hidden)
        tables.append(fold(f'_HIDDEN = {{{pairs}}}', 11))
        tables.append('\n\ndef _list_attributes():\n    return sorted([*globals(), *_HIDDEN])\n\n\n'
                      '__dir__ = functools.partial(_list_attributes)\n')
        body += '    if name in _HIDDEN:\n        return _HIDDEN[name]\n'
    if several:
        table, statements = _spell_several(several, module)
        tables.append(table)
        body += statements
    if not tables:
        return []
    return ['\n'.join(tables) + f"""


def _find_attribute(name):
{body}    raise AttributeError(f"module '{module}' has no attribute '{{name}}'")


__getattr__ = functools.partial(_find_attribute)    # help() lists functions of such names before the kernels
"""]
