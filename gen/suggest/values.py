"""Reads the values of a kernel's expressions: sums over parameters and variables, and pointers into arrays."""

from expr.plain import spell_tree
from suggest.ranges import AXES, Range
from suggest.sums import constant, factor, read_sum, replace_factors
from suggest.terms import named
from tokens.brackets import matching, split_at


class Pointer:
    """A pointer to an element of an array parameter."""

    def __init__(self, array, offset):
        self.array, self.offset = array, offset


class Names(dict):
    """Maps the names of a block and of the blocks around it to values; None hides an outer name. A name of an outer
    block that this block changes has no known value after this block."""

    def __init__(self, outer=None):
        super().__init__()
        self._outer = outer

    def get(self, name, default=None):
        return next((block[name] for block in self._blocks() if dict.__contains__(block, name)), default)

    def __contains__(self, name):
        return any(dict.__contains__(block, name) for block in self._blocks())

    def _blocks(self):
        block = self
        while block is not None:
            yield block
            block = block._outer


class Values:
    """The values of one kernel. `unknown`: arrays whose accesses are not understood."""

    def __init__(self, terms, ranges):
        self.terms, self.ranges = terms, ranges
        self.unknown = set()
        self._count = 0

    def add_variable(self, name, value=None):
        self._count += 1
        text = f'{name}#{self._count}'
        self.ranges.variables[text] = Range(value)
        return named(text)

    def block(self, axis):
        return self.ranges.size.block.get(axis) or named(f'blockDim.{axis}')

    def axis_index(self, axis):
        return named(f'blockIdx.{axis}') * self.block(axis) + named(f'threadIdx.{axis}')

    def is_axis(self, value):
        """True for the index of a thread along an axis."""
        plain = self.ranges.expand(value)
        return any((plain - self.axis_index(axis)).value is not None for axis in AXES)

    def sum(self, tokens, names):
        """Returns the sum of an expression, over parameters and variables."""
        total = self.terms.sum(tokens)
        if total is None:
            return None

        def rename(tree):
            if tree.kind in ('NAME', 'MEMBER'):
                text = spell_tree(tree)
                size = self.ranges.size.replace(text)
                if size is not None:
                    return size
                found = names.get(text)
                if found is None and not text.startswith(('threadIdx.', 'blockIdx.', 'blockDim.', 'gridDim.')):
                    root = names.get(tree.parts[0])
                    if '[' in text or '(' in text or '->' in text or root is None and tree.parts[0] in names:
                        return self.add_variable('value')      # the tree is an element, or the result of a call
                    if tree.kind == 'MEMBER' and root is not None and str(root) != tree.parts[0]:
                        return self.add_variable('value')
                return found if not isinstance(found, Pointer) else self.add_variable('pointer')
            if tree.kind in ('NUMBER', 'SIZEOF', 'IS_INTEGRAL'):
                return None
            if tree.kind == 'CHAIN':
                terms = [replace_factors(read_sum(part), rename).tree() for part in tree.parts[0]]
                return factor(type(tree)('CHAIN', tree.token, terms, tree.parts[1]))
            parts = [replace_factors(read_sum(part), rename).tree() for part in tree.parts]
            return read_sum(type(tree)(tree.kind, tree.token, *parts))
        return replace_factors(total, rename)

    def pointer(self, tokens, names):
        """Returns the Pointer for x, x + i or &x[i]; None for other expressions."""
        while tokens and tokens[0].text == '(' and matching(tokens, 0, '(', ')') == len(tokens):
            tokens = tokens[1:-1]
        if not tokens:
            return None
        if tokens[0].text == '&' and len(tokens) > 2:
            pointer = names.get(tokens[1].text)
            if isinstance(pointer, Pointer) and tokens[2].text == '[' and matching(tokens, 2, '[', ']') == len(tokens):
                offset = self.sum(tokens[3:-1], names)
                return Pointer(pointer.array, pointer.offset + offset) if offset is not None else self._lose(pointer)
            return None
        for at, token in enumerate(tokens):
            pointer = names.get(token.text)
            if not isinstance(pointer, Pointer):
                continue
            is_sum = (at == 0 or tokens[at - 1].text == '+') and (
                at + 1 == len(tokens) or tokens[at + 1].text in ('+', '-')) and all(
                    len(split_at(tokens, c)) == 1 for c in ('?', ',', '=', '<', '>', '==', '!='))
            if not is_sum:
                return None
            rest = tokens[:max(at - 1, 0)] + tokens[at + 1:]
            rest = rest[1:] if rest and rest[0].text == '+' and at == 0 else rest
            offset = self.sum(rest, names) if rest else constant(0)
            return Pointer(pointer.array, pointer.offset + offset) if offset is not None else self._lose(pointer)
        return None

    def _lose(self, pointer):
        self.unknown.add(pointer.array)
        return Pointer(pointer.array, self.add_variable('lost'))
