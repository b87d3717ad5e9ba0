"""Emits the fast path of a Python function: straight-line code for arrays of the same library and types as in an
earlier call. If a condition does not hold, the call takes the slow path, which reports errors."""

from base.text import fold
from language.extents import scalar_kind, spell_shape

LIMITS = {f'{kind}{bits}': (-2 ** (bits - 1), 2 ** (bits - 1) - 1) if kind == 'i' else (0, 2 ** bits - 1)
          for kind in 'iu' for bits in (8, 16, 32, 64)}
FLOAT_LIMIT = (2 - 2.0 ** -24) * 2.0 ** 127     # least double that rounds to infinity as a float
# For each library: its name; expressions for an array's size, pointer and contiguity; the stream; which of two C
# functions is called.
_LIBRARIES = (('cupy', '{}.size', '{}.data.ptr', '{}.flags.c_contiguous', '_cupy_stream().ptr, ', 1),
              ('torch', '{}.numel()', '{}.data_ptr()', '{}.is_contiguous()', '_torch_stream().cuda_stream, ', 1),
              ('numpy', '{}.size', '{}.ctypes.data', '{}.flags.c_contiguous', '', 0))


def spell_fast_path(call, names):
    """Returns the statements of the fast path, '' if there is none. `names`: the arguments in the order of C."""
    if not _is_plain(call):
        return ''
    text = ''
    for name, argument in zip(names, call.arguments):
        if argument.direction == 'value' and argument.type.kind[0] == 'f':
            text += f'    if type({name}) is int and -1e38 < {name} < 1e38:\n        {name} = float({name})\n'
    made = _find_made(call, names)
    kept = [names[n] for n in call.arrays if n not in made]
    text += f'    _kind = type({kept[0]})\n'
    conditions = [' is '.join(['_kind', *(f'type({name})' for name in kept[1:])])] if kept[1:] else []
    conditions += [f'({names[n]} is None or type({names[n]}) is _kind)' for n in made]
    conditions.append(' is '.join([*(names[n] for n in sorted(call.told)), 'stream', 'None']))
    conditions += [spell_scalar(names[n], scalar_kind(call.arguments[n].type))
                   for n in call.given if call.roles[n] == 'value']
    text += f'    if {_spell_all(conditions, 7)}:\n'
    for number, library in enumerate(_LIBRARIES):
        text += f'        {"elif" if number else "if"} _kind is _{library[0]}_array:\n'
        text += _spell_branch(call, names, made, *library)
    return text


def _find_made(call, names):
    """Maps the numbers of outputs to their shapes, if all of these follow from the sizes of other arrays."""
    places = call.places(call.functions[0])
    told = [names[place.scalar] for place in places.values() if place.array not in call.outputs and place.offset <= 0]
    by_name = {a.name: name for a, name in zip(call.arguments, names)}
    shapes = {number: spell_shape(call.arguments[number], by_name) for number in call.outputs}
    is_told = 0 < len(told) == len(places) and all(
        text in told or text.isdecimal() for shape in shapes.values() for text in shape)
    return {n: f'({", ".join(shape)}{"," * (len(shape) == 1)})' for n, shape in shapes.items()} if is_told else {}


def _is_plain(call):
    """True if arrays and scalars are numbers, and all instances have the same extents, which have values for all
    arguments."""
    def facts(argument):
        dims = [tuple(part and part.tree for part in (d.lower, d.extent, d.pitch)) for d in argument.dims]
        return dims, argument.type if argument.direction == 'value' else None

    for function in call.functions:
        for argument, first in zip(function.arguments, call.arguments):
            kind = scalar_kind(argument.type)
            if facts(argument) != facts(first) or argument.type.lanes > 1 or argument.direction == 'pointer':
                return False
            if not all(is_total(part.tree) for d in argument.dims for part in (d.lower, d.extent, d.pitch) if part):
                return False
            if kind in ('opaque', 'ptr', 'void') or argument.direction == 'value' and not (
                    kind in LIMITS or kind in ('f32', 'f64', 'bool')):
                return False
    return bool(call.arrays)


def is_total(tree):
    """True if the expression has a value for all scalars."""
    return tree[0] not in ('DIV', 'MOD', 'SHL', 'SHR') and all(is_total(p) for p in tree[1:] if isinstance(p, tuple))


def spell_scalar(name, kind):
    """Returns the condition that a Python value needs no conversion."""
    if kind in LIMITS:
        return f'type({name}) is int and {LIMITS[kind][0]} <= {name} <= {LIMITS[kind][1]}'
    if kind == 'f32':
        return f'type({name}) is float and {-FLOAT_LIMIT} < {name} < {FLOAT_LIMIT}'
    return f'type({name}) is {"bool" if kind == "bool" else "float"}'


def _spell_all(conditions, indent):
    """Returns the conjunction, folded with backslashes."""
    lines = [conditions[0]]
    for condition in conditions[1:]:
        if indent + len(lines[-1]) + len(condition) > 106:
            lines.append(f'and {condition}')
        else:
            lines[-1] += f' and {condition}'
    return f' \\\n{" " * indent}'.join(lines)


def _spell_branch(call, names, made, library, size, pointer, packed, stream, which):
    """Returns the statements for the arrays of one library."""
    lines, indent, shapes, conditions = [], ' ' * 12, set(), []
    places = call.places(call.functions[0])
    for place in places.values():
        array, scalar, argument = names[place.array], names[place.scalar], call.arguments[place.array]
        extent = size.format(array)
        if len(argument.dims) > 1:
            if place.array not in shapes:
                shapes.add(place.array)
                lines += [f'{indent}_shape{place.array} = {array}.shape',
                          f'{indent}if len(_shape{place.array}) == {len(argument.dims)}:']
                indent += '    '
            extent = f'_shape{place.array}[{place.dimension}]'
        if place.offset:
            extent += f' {"-" if place.offset > 0 else "+"} {abs(place.offset)}'
        if place.factor > 1:
            extent = f'({extent})' if place.offset else extent
            conditions.append(f'{extent} % {place.factor} == 0')
            extent = f'{extent} // {place.factor}'
        lines.append(f'{indent}{scalar} = {extent}')
        limit = LIMITS[scalar_kind(call.arguments[place.scalar].type)][1]
        least = '0 <= ' if place.offset > 0 else ''
        most = f' <= {limit}' if limit < 2 ** 63 - 1 else ''
        if least or most:
            conditions.append(f'{least}{scalar}{most}')
    kept = [f'{names[n]}.dtype' for n in call.arrays if n not in made]
    key = f'({", ".join(kept)}{"," * (len(kept) == 1)})'
    for number, (output, shape) in enumerate(made.items()):
        lines += [f'{indent}_made{output} = {names[output]}',
                  f'{indent}if {names[output]} is None and {"_one_gpu and " * which}{key} in _of_{call.name}.made:',
                  f'{indent}    _made{output} = _{library}_empty({shape}, dtype=_of_{call.name}.made[{key}][{number}])']
    given, names = names, [f'_made{n}' if n in made else name for n, name in enumerate(names)]
    for number in call.arrays:
        texts = spell_shape(call.arguments[number], {a.name: name for a, name in zip(call.arguments, names)})
        told = sum(place.array == number for place in places.values())
        if len(texts) > 1 and told < len(texts):
            shape = f'_shape{number}' if number in shapes else f'{names[number]}.shape'
            conditions.append(f'{shape} == ({", ".join(texts)})')
        elif len(texts) == 1 and not told:
            conditions.append(f'{size.format(names[number])} == {texts[0]}')
        conditions.append(packed.format(names[number]))
    conditions += _spell_places(library, [(names[n], call.roles[n]) for n in call.arrays])
    dtypes = ', '.join(f'{names[n]}.dtype' for n in call.arrays) + ',' * (len(call.arrays) == 1)
    words = [pointer.format(name) if n in call.arrays else name for n, name in enumerate(names)]
    is_there = ''.join(f'{names[n]} is not None and ' for n in made)
    lines += [f'{indent}_found = {is_there}_of_{call.name}.calls.get(({dtypes}))',
              f'{indent}if {_spell_all(["_found", *conditions], len(indent) + 3)}:',
              fold(f'{indent}    _status = _found[{which}]({stream}{", ".join(words)})', len(indent) + 23),
              f'{indent}    if _status:', f'{indent}        _fail(_status)',
              f'{indent}    return {", ".join(names[n] for n in call.outputs) or None}']
    if places:
        lines.append(f'{" " * 12}{" = ".join(given[n] for n in sorted(places))} = None')
    return '\n'.join(lines) + '\n'


def _spell_places(library, arrays):
    """Returns the conditions that the arrays lie on the right device and are writable where needed."""
    if library == 'numpy':
        return [f'{name}.flags.writeable' for name, role in arrays if role != 'in']
    if library == 'torch':
        devices = ' == '.join(f'{name}.device.index' for name, _ in arrays)
        return [f'{name}.is_cuda and not {name}.requires_grad' for name, _ in arrays] + [
            f'(_one_gpu or {devices} == _torch_device())']
    devices = ' == '.join(f'{name}.data.device_id' for name, _ in arrays)
    return [f'(_one_gpu or {devices} == _cupy_device())']
