"""A region of a kernel: adjacent statements that each thread runs, and the conditions around them."""

import bisect


class Region:
    """Adjacent statements that each thread runs from the first to the last. `moved`: declarations among them that the
    block runs before the region."""

    def __init__(self, begin):
        self.begin, self.end = begin, begin
        self.moved, self.has_return, self.only_declares = [], False, True
        self.guards = ()            # Guards around the region
        self.places = set()         # places of its statements
        self.statement = None       # its statement, if there is only one
        self.is_simple, self.has_short = True, False        # all statements are simple, one is short: see Innermost
        self.exchanges = ()         # each lanes.Exchange of its first statement
        self.is_once = False        # the block runs its only statement once, behind its exchanges
        self.is_leave = False       # its only statement ends the threads for which a condition holds
        self.section = None         # the Section that contains it
        self.is_of_tile = False     # threads along x are the elements of a tile's row

    def hides(self, variable, variables, is_computed):
        """True if the name of a variable means something else in the region's code than before the region, because the
        region declares it, or one of `variables` with its name. `is_computed`: it may be declared in front, too."""
        return any(v.name == variable.name and v.statement is not None and not (is_computed and v is variable) and
                   self.begin <= v.statement.begin < self.end and not any(
                       begin <= v.statement.begin < end for begin, end in self.moved) for v in variables)


def find_home(variable, regions, begins):
    """Returns the region that declares a variable; None if there is none. `begins`: where the regions begin."""
    if variable.statement is None:
        return None
    number = bisect.bisect_right(begins, variable.statement.begin) - 1
    return regions[number] if number >= 0 and variable.statement.begin < regions[number].end else None


class Guard:
    """The place of a condition around regions. `is_negated`: the regions are in the else branch. `parts`: see
    Innermost.find_parts(). `end`: the end of the code that it guards. `is_final`: threads that fail it have ended."""

    def __init__(self, place, is_negated, parts, end, is_in_loop, is_final):
        self.place, self.is_negated, self.parts = place, is_negated, parts
        self.end, self.is_in_loop, self.is_final = end, is_in_loop, is_final
