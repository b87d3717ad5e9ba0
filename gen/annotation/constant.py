"""Checks the constant parts of annotations while a file is read, so that those which can never work are refused before
the first call. The library checks parts that are valid for some arguments or in another branch."""

import math

from base.bounds import DEFAULT_BLOCK, INT64_MAX, MAX_GRID, MAX_SHARED
from expr.compile import read_leaf
from expr.evaluate import calculate, evaluate_real
from expr.tree import Node, RELATIONS
from tokens.lexer import TokenError

AXES = 'xyz'


class _Never(Exception):
    """Raised for a part of an annotation that has no value, whatever the arguments are."""

    def __init__(self, node, what):
        super().__init__(what)
        self.node, self.what = node, what


def check_constants(names, clauses, params, checks, tolerance):
    """Checks that the constant parts of clauses are valid."""
    constants = _Constants(names, clauses.tune)
    if not clauses.is_operation:
        constants.launch(clauses)
    if clauses.host_grid:
        constants.host_grid(clauses.host_grid)
    for param in params:
        if param.name in clauses.arrays:
            constants.array(clauses.arrays[param.name], clauses.pitches.get(param.name, (None, ()))[1], param.type)
    for name, (_, section) in clauses.zeros.items():
        if section:
            constants.zero(name, section, clauses.arrays[name].dims[0])
    for (tree, text), check in zip(clauses.checks, checks):
        if not check.is_real:
            constants.check(tree, text)
        elif check.condition:
            constants.real_check(tree, check.condition)
    if clauses.tolerance:
        constants.tolerance(clauses.tolerance[0], tolerance)
    for item, clause in ((clauses.flops, 'flops'), (clauses.bytes, 'bytes')):
        if item:
            constants.count(item, clause)


class _Constants:
    """Checks the clauses of one instance, all of whose names exist. An expression is a pair of a tree and its text, as
    in Clauses."""

    def __init__(self, names, tuned=()):
        self._names, self._tuned = names, tuned     # _tuned: names of constants with several values

    # ---- Clauses

    def value(self, item, where):
        """Returns the value of an integer expression; None if it depends on arguments."""
        try:
            return self._find_value(item[0])
        except _Never as never:
            raise self._make_error(never.node, where, item[0], never.what) from None

    def limits(self, item, where, low, high, what):
        """Returns the value as value() does, after checking it against limits, which `what` describes."""
        value = self.value(item, where)
        if value is not None and not low <= value <= high:
            raise self._make_error(item[0], where, item[0], f'{what}; this is {value}')
        return value

    def check(self, tree, text):
        """Refuses a condition over integers that never holds."""
        try:
            value = self._find_value(tree, is_required=True)
        except _Never as never:
            raise self._make_error(never.node, f'check({text})', tree, never.what) from None
        self._require_condition(tree, text, value)

    def real_check(self, tree, compiled):
        """Refuses a condition over real numbers that never holds."""
        self._require_condition(tree, compiled.text, evaluate_real(compiled))

    def _require_condition(self, tree, text, value):
        """Refuses a condition that no arguments satisfy, unless another combination of tuned constants may satisfy
        it."""
        if value == 0 and not set(self._list_used(tree)) & set(self._tuned):
            raise self._make_error(tree, f'check({text})', tree, 'it never holds, so that no call would be taken')

    def tolerance(self, tree, compiled):
        """Checks a constant tolerance."""
        value = evaluate_real(compiled)
        if value is not None and not 0 <= value < math.inf:
            raise self._make_error(tree, f'tolerance({compiled.text})', tree,
                                   f'a tolerance is a finite number from 0 on; this is {value:.9g}')

    def count(self, item, clause):
        """Checks flops or bytes, which are real numbers: a division by 0 would make them infinite."""
        node = self._zero_divisor(item[0])
        if node:
            raise self._make_error(node, f'{clause}({item[1]})', item[0], 'it divides by 0')

    def launch(self, clauses):
        """Checks the clauses grid, blocks, items and shared. A part of block(...) only needs a value here, since
        launchrule checks the size of the block."""
        clause, what = ('blocks', 'block') if clauses.counts_blocks else ('grid', 'thread')
        blocks = [self.value(item, f'block({item[1]})') for item in clauses.block or ()]
        if not clauses.block:           # block(auto): the driver chooses
            blocks = [DEFAULT_BLOCK if clauses.block is None else None]
        items = 1
        if clauses.items:
            items = self.limits(clauses.items, f'items({clauses.items[1]})', 1, INT64_MAX,
                                'a thread takes at least 1 element')
        for axis, item in enumerate(clauses.grid):
            where = f'{clause}({item[1]})'
            count = self.limits(item, where, 1, INT64_MAX, f'a grid has at least 1 {what} along {AXES[axis]}')
            divisors = (1,) if clauses.counts_blocks else (items if axis == 0 else 1,
                                                           blocks[axis] if axis < len(blocks) else 1)
            if None in (count, *divisors):
                continue
            for divisor in divisors:
                count = -(-count // divisor)
            if count > MAX_GRID[axis]:
                raise self._make_error(item[0], where, item[0], f'a grid has at most {MAX_GRID[axis]} blocks along '
                                                                f'{AXES[axis]}; this is {count}')
        if clauses.shared:
            where = f'shared({clauses.shared[1]})'
            self.limits(clauses.shared, where, 0, INT64_MAX, 'a size is at least 0')
            self.limits(clauses.shared, where, 0, MAX_SHARED,
                        f'a block has at most {MAX_SHARED} bytes (227 KiB, on sm_90 and sm_100)')

    def host_grid(self, item):
        """Checks the number of threads in host(grid(...))."""
        self.limits(item, f'host(grid({item[1]}))', 1, INT64_MAX, 'a grid has at least 1 thread')

    def array(self, array, pitches, ctype):
        """Checks the extents, lower bounds and pitches of an array."""
        clause, name = array.direction[len('CF_'):].lower(), array.token.text
        stride = size = ctype.bytes
        is_empty = is_large = False
        for inner, (lower, extent) in enumerate(reversed(array.dims)):      # pitches start at the innermost dimension
            is_outermost = inner + 1 == len(array.dims)
            where = section = f'{clause}({name}[{lower[1] + ":" if lower else ""}{extent[1]}])'
            count = self.limits(extent, where, 0, INT64_MAX, 'an extent is at least 0')
            start = self.limits(lower, where, 0, INT64_MAX, 'a lower bound is at least 0') if lower else 0
            row = end = None if count is None or start is None else start + count
            if not is_outermost and inner < len(pitches):
                where = f'pitch({name}: {pitches[inner][1]})'
                row = self.limits(pitches[inner], where, 0, INT64_MAX, 'a pitch is at least 0')
                if count and end is not None and row is not None and end > row:
                    raise self._make_error(pitches[inner][0], where, pitches[inner][0],
                                           f'rows of {end} elements are longer than {row}')
            is_empty = is_empty or count == 0
            size = None if None in (size, stride, end) else size + (end - 1) * stride
            stride = None if is_outermost or None in (stride, row) else stride * row
            is_large = is_large or max(size or 0, stride or 0) > INT64_MAX
        if is_large and not is_empty:
            raise self._make_error(extent[0], section, extent[0], f'{name} has more than 2^63 - 1 bytes')

    def zero(self, name, section, dim):
        """Checks that the section of zero(...) lies in its array."""
        (lower, extent), (first, count) = section, dim
        where = f'zero({name}[{lower[1] + ":" if lower else ""}{extent[1]}])'
        length = self.limits(extent, where, 0, INT64_MAX, 'an extent is at least 0')
        start = self.limits(lower, where, 0, INT64_MAX, 'a lower bound is at least 0') if lower else 0
        first, count = self.value(first, where) if first else 0, self.value(count, where)
        if not length or start is None:
            return
        if first is not None and start < first:
            raise self._make_error((lower or extent)[0], where, (lower or extent)[0],
                                   f'it begins at {start}, and {name} at {first}')
        if None not in (first, count) and start + length > first + count:
            raise self._make_error(extent[0], where, extent[0],
                                   f'it ends at {start + length}, and {name} at {first + count}')

    # ---- Trees

    def _find_value(self, node, is_required=False):
        """Returns the value of a tree; None if it is not constant. `is_required`: the tree is a condition that has to
        hold, so all operands of its && have to hold."""
        if node.kind in ('AND', 'OR'):
            return self._join_conditions(node, is_required and node.kind == 'AND')
        if node.kind == 'CHAIN':
            return self._find_chain_value(*node.parts, is_required)
        if node.kind == 'SELECT':
            return self._find_selected(*node.parts, is_required)
        if node.kind in ('NAME', 'SIZEOF', 'IS_INTEGRAL', 'NUMBER'):
            return read_leaf(node, self._names)
        if node.kind in ('MEMBER', 'ELEMENTS', 'ORDER'):
            return None
        values = [self._find_value(part) for part in node.parts]
        if node.kind in ('NEG', 'NOT', 'BIT_NOT'):
            return self._apply_unary(node, values[0])
        return self._apply_binary(node, *values)

    def _apply_unary(self, node, value):
        if value is None:
            return None
        return self._require_fitting(node, {'NEG': -value, 'NOT': int(not value), 'BIT_NOT': ~value}[node.kind])

    def _apply_binary(self, node, left, right):
        if node.kind in ('DIV', 'MOD') and right == 0:
            raise _Never(node.parts[1], 'it divides by 0')
        if node.kind in ('SHL', 'SHR') and right is not None and not 0 <= right < 64:
            raise _Never(node.parts[1], f'a shift is by 0 to 63 bits; this is by {right}')
        if left is None or right is None:
            return None
        if node.kind == 'MOD' and calculate('DIV', left, right) > INT64_MAX:
            raise _Never(node, 'it does not fit 64 bits')       # the library would refuse it, too
        return self._require_fitting(node, calculate(node.kind, left, right))

    @staticmethod
    def _require_fitting(node, value):
        if not -2**63 <= value <= INT64_MAX:
            raise _Never(node, 'it does not fit 64 bits')
        return value

    def _find_optional_value(self, node):
        """Returns the value of an expression that the library may skip; None if it is not constant or has no value."""
        try:
            return self._find_value(node)
        except _Never:
            return None

    def _join_conditions(self, node, is_required):
        decides = node.kind == 'OR'
        left = self._find_value(node.parts[0], is_required)
        if left is not None and bool(left) == decides:
            return int(decides)
        is_certain = left is not None or is_required
        right = self._find_value(node.parts[1], is_required) if is_certain else self._find_optional_value(node.parts[1])
        if right is not None and bool(right) == decides:
            return int(decides)
        return None if left is None or right is None else int(not decides)

    def _find_chain_value(self, terms, relations, is_required):
        result = 1
        for number, relation in enumerate(relations):
            look = self._find_optional_value if result is None and not is_required else self._find_value
            left, right = look(terms[number]), look(terms[number + 1])
            known = None if left is None or right is None else calculate(RELATIONS[relation.text], left, right)
            if known == 0:
                return 0
            result = None if known is None else result
        return result

    def _find_selected(self, condition, yes, no, is_required):
        known = self._find_value(condition)
        if known is not None:
            return self._find_value(yes if known else no, is_required)
        if self._fail(yes) and self._fail(no):
            self._find_value(yes)
        return None

    def _fail(self, node):
        try:
            self._find_value(node)
            return False
        except _Never:
            return True

    def _zero_divisor(self, node):
        """Returns a divisor that is 0 in a real expression, or None."""
        if node.kind in ('DIV', 'MOD') and read_leaf(node.parts[1], self._names, real=True) == 0:
            return node.parts[1]
        parts = node.parts[0] if node.kind == 'CHAIN' else node.parts
        if node.kind in ('AND', 'OR', 'SELECT'):
            parts = parts[:1]           # the library may skip the others
        return next(filter(None, (self._zero_divisor(p) for p in parts if isinstance(p, Node))), None)

    # ---- Messages

    def _make_error(self, node, where, tree, what):
        """Returns an error that also tells the values of template constants in the expression."""
        values = ', '.join(f'{name} = {self._names.constants[name]}' for name in dict.fromkeys(self._list_used(tree)))
        return TokenError(node.token, f'{where}{" with " if values else ""}{values}: {what}')

    def _list_used(self, node):
        if node.kind == 'NAME' and node.parts[0] in self._names.constants:
            yield node.parts[0]
        for part in node.parts[0] if node.kind == 'CHAIN' else node.parts:
            if isinstance(part, Node):
                yield from self._list_used(part)
