"""Spells the extents of arrays for Python and Cython, and finds the scalars that follow from them."""

from collections import namedtuple

# A place where an array's size tells a scalar: extent = `factor` * scalar + `offset`. `scalar`, `array`: argument
# numbers.
Place = namedtuple('Place', 'scalar array dimension factor offset')

_BINARY = {'ADD': '+', 'SUB': '-', 'MUL': '*', 'SHL': '<<', 'SHR': '>>', 'BIT_AND': '&', 'BIT_OR': '|',
           'BIT_XOR': '^'}
_COMPARED = {'LT': '<', 'LE': '<=', 'GT': '>', 'GE': '>=', 'EQ': '==', 'NE': '!='}
_CALLS = {'MIN': 'min', 'MAX': 'max', 'DIV': '_quotient', 'MOD': '_remainder'}


class Unspellable(Exception):
    """An expression whose value only the C compiler knows."""


def spell(tree, names):
    """Returns the text of an expression. `names`: the texts of scalars."""
    kind, *parts = tree
    if kind == 'CONST':
        return str(parts[0])
    if kind == 'PARAM':
        return names[parts[0]]
    if kind == 'MEMBER':
        return f'{names[parts[0]]}.{parts[1].replace(".", "_")}'
    if kind in _CALLS:
        return f'{_CALLS[kind]}({spell(parts[0], names)}, {spell(parts[1], names)})'
    if kind not in _BINARY and kind not in _COMPARED and kind not in ('NEG', 'NOT', 'AND', 'OR', 'SELECT'):
        raise Unspellable
    texts = [_spell_part(part, names) for part in parts]
    if kind == 'NEG':
        return f'-{texts[0]}'
    if kind == 'NOT':
        return f'int(not {texts[0]})'
    if kind in _COMPARED:
        return f'int({texts[0]} {_COMPARED[kind]} {texts[1]})'
    if kind == 'AND':
        return f'{texts[0]} and {texts[1]}'
    if kind == 'OR':
        return f'1 if {texts[0]} else {texts[1]}'
    if kind == 'SELECT':
        return f'{texts[1]} if {texts[0]} else {texts[2]}'
    return f'{texts[0]} {_BINARY[kind]} {texts[1]}'


def _spell_part(tree, names):
    text = spell(tree, names)
    is_open = tree[0] in _BINARY or tree[0] in ('AND', 'OR', 'SELECT', 'NEG') or text.startswith('-')
    return f'({text})' if is_open else text


def spell_shape(argument, names):
    """Returns the texts of an array's extents in memory, outermost first."""
    return [spell(tree, names) for tree in list_extents(argument)]


def list_extents(argument):
    """Yields the trees of an array's extents in memory, outermost first."""
    for number, dim in enumerate(argument.dims):
        if number and dim.pitch:
            yield dim.pitch.tree
        else:
            yield ('ADD', dim.lower.tree, dim.extent.tree) if dim.lower else dim.extent.tree


def _find_line(tree):
    """Returns (scalar, factor, offset) of an extent that is linear in at most one scalar; None for other extents."""
    if tree[0] == 'CONST':
        return None, 0, tree[1]
    if tree[0] == 'PARAM':
        return tree[1], 1, 0
    if tree[0] not in ('ADD', 'SUB', 'MUL'):
        return None
    left, right = _find_line(tree[1]), _find_line(tree[2])
    if left is None or right is None or left[0] is not None and right[0] is not None:
        return None
    scalar = right[0] if left[0] is None else left[0]
    if tree[0] == 'MUL':
        return scalar, left[1] * right[2] + right[1] * left[2], left[2] * right[2]
    sign = 1 if tree[0] == 'ADD' else -1
    return scalar, left[1] + sign * right[1], left[2] + sign * right[2]


def find_places(arguments):
    """Returns the places from which scalars follow, the simplest place of each scalar first."""
    numbers, found = {a.name: number for number, a in enumerate(arguments)}, []
    for number, argument in enumerate(arguments):
        for dimension, tree in enumerate(list_extents(argument) if argument.is_array else ()):
            line = _find_line(tree)
            if line and line[0] is not None and line[1] > 0 and arguments[numbers[line[0]]].is_counter:
                found.append(Place(numbers[line[0]], number, dimension, *line[1:]))
    return sorted(found, key=lambda place: (place.scalar, place.factor, place.offset))


class Call:
    """A family as one function of arrays that stands for all of its instances."""

    def __init__(self, family):
        self.family, self.name, self.functions = family, family.name, family.functions
        self.arguments = family.functions[0].arguments
        self.roles = [argument.direction for argument in self.arguments]
        told = [{place.scalar for place in find_places(f.arguments)} for f in family.functions]
        self.told = set.intersection(*told)

    @property
    def arrays(self):
        return [number for number, role in enumerate(self.roles) if role != 'value']

    @property
    def outputs(self):
        return [number for number, role in enumerate(self.roles) if role == 'out']

    @property
    def given(self):
        """The arguments that a caller has to pass: no outputs, and no scalars that follow from arrays."""
        return [n for n in range(len(self.roles)) if n not in self.told and n not in self.outputs]

    @property
    def order(self):
        """The arguments that may be passed by position, in the order of C."""
        return sorted([*self.given, *self.outputs])

    @property
    def has_results_before(self):
        """True if outputs, which a caller may leave out, stand before other arguments."""
        return self.order != [*self.given, *self.outputs]

    def places(self, function):
        """Returns the first place of each scalar that follows from arrays. Outputs come last, since they may be
        missing."""
        known = {}
        for place in sorted(find_places(function.arguments), key=lambda place: place.array in self.outputs):
            if place.scalar in self.told:
                known.setdefault(place.scalar, place)
        return known


def scalar_kind(ctype):
    """Returns the kind of a scalar's type; char is an integer of 8 bits."""
    return 'i8' if ctype.kind == 'char' else ctype.kind
