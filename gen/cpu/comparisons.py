"""The data of comparisons of indices that hold for a range of threads along x."""

# Maps a comparison to the one that is equivalent to it if the operands are exchanged.
MIRRORED = {'<': '>', '>': '<', '<=': '>=', '>=': '<=', '==': '=='}


class Bound:
    """A comparison of an index along x with a limit. `index`, `limit`: places; `chain`: result of Ranges._read_index();
    `types`: the type of a variable that holds the index, or ''; `factors`: result of _read_factors() if the index may
    grow by more than 1; `other`: the other operand of min() or max()."""

    def __init__(self, index, relation, limit, chain, types='', factors=None, other=None):
        self.index, self.relation, self.limit, self.chain, self.types = index, relation, limit, chain, types
        self.factors, self.other = factors, other


class Part:
    """A part of a condition. `bounds`: its Bounds; `rows`: places of conditions that are the same for a row of threads;
    `variables`: maps a variable that holds the part to its value's place; `is_whole`: it has nothing else; `multiple`:
    places of an index and of its divisor, and the text after the divisor."""

    def __init__(self, begin, end, bounds, rows, variables=(), is_whole=True, multiple=()):
        self.begin, self.end, self.bounds, self.rows = begin, end, bounds, rows
        self.variables, self.is_whole, self.multiple = variables, is_whole, multiple

    def places(self):
        """Yields the places of all expressions in the part."""
        yield from (*self.rows, *self.multiple[:2])
        for bound in self.bounds:
            yield bound.index
            yield bound.limit
