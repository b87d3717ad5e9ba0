"""Comparisons of indices that hold for a range of threads along x."""

# Comparisons with their operands exchanged.
MIRRORED = {'<': '>', '>': '<', '<=': '>=', '>=': '<=', '==': '=='}


class Bound:
    """A comparison of an index along x with a limit: the index's place, the relation, the limit's place, and the result
    of _read_index(). `types`: of the variable that holds the index, '' for the index's own type. `factors`: result of
    _read_factors() for an index that may grow by more than 1. `other`: the other operand of min() or max()."""

    def __init__(self, index, relation, limit, chain, types='', factors=None, other=None):
        self.index, self.relation, self.limit, self.chain, self.types = index, relation, limit, chain, types
        self.factors, self.other = factors, other


class Part:
    """A part of a guard's condition, at a place: its bounds, and the places of conditions that are the same for a row
    of threads. `variables`: maps variables whose values contain these to the values' places. `is_whole`: bounds and
    rows are the whole part. `multiple`: places of an index along x and of its divisor, and text behind the divisor."""

    def __init__(self, begin, end, bounds, rows, variables=(), is_whole=True, multiple=()):
        self.begin, self.end, self.bounds, self.rows = begin, end, bounds, rows
        self.variables, self.is_whole, self.multiple = variables, is_whole, multiple

    def places(self):
        """Yields the places of the expressions that the part reads."""
        yield from (*self.rows, *self.multiple[:2])
        for bound in self.bounds:
            yield bound.index
            yield bound.limit
