"""The data of a region: adjacent statements of a kernel that run as one loop over threads."""

import bisect


class Region:
    """Adjacent statements that each thread runs from the first to the last. `moved`: places of declarations among them
    that the block runs before the region."""

    def __init__(self, begin):
        self.begin, self.end = begin, begin
        self.moved, self.has_return, self.only_declares = [], False, True
        self.guards = ()            # the Guards around the region
        self.places = set()         # places of the region's statements
        self.statement = None       # the region's statement, if it has only one
        self.is_simple, self.has_short = True, False        # all statements are simple; one is a short loop
        self.exchanges = ()         # each lanes.Exchange of the region's first statement
        self.is_once = False        # the block runs the region's only statement once, after the exchanges
        self.is_leave = False       # the region's only statement ends the threads for which a condition holds
        self.section = None         # the Section that contains the region, or None
        self.is_of_tile = False     # the threads along x are the elements of a row of a tile

    def hides(self, variable, variables, is_computed):
        """True if the name of a variable means another variable within the region: the region declares the variable, or
        one of `variables` with this name. `is_computed`: the code before the region may declare the variable, too."""
        return any(v.name == variable.name and v.statement is not None and not (is_computed and v is variable) and
                   self.begin <= v.statement.begin < self.end and not any(
                       begin <= v.statement.begin < end for begin, end in self.moved) for v in variables)


def find_home(variable, regions, begins):
    """Returns the region that declares a variable; None if no region declares it. `begins`: the beginnings of all
    regions."""
    if variable.statement is None:
        return None
    number = bisect.bisect_right(begins, variable.statement.begin) - 1
    return regions[number] if number >= 0 and variable.statement.begin < regions[number].end else None


class Guard:
    """A condition around regions. `place`: the place of the condition; `is_negated`: the regions are in the else
    branch; `parts`: result of find_parts(); `end`: the end of the code under it; `is_final`: threads that fail it have
    ended."""

    def __init__(self, place, is_negated, parts, end, is_in_loop, is_final):
        self.place, self.is_negated, self.parts = place, is_negated, parts
        self.end, self.is_in_loop, self.is_final = end, is_in_loop, is_final
