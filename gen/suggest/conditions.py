"""Facts that follow from the conditions of a kernel, and the guards that tell the size of its grid."""

from suggest.ranges import AXES, larger
from suggest.sums import constant, Sum
from tokens.brackets import matching, split_at

_NEGATED = {'<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '=='}
_MIRRORED = {'<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==', '!=': '!='}


class Conditions:
    def __init__(self, values):
        self._values, self._ranges = values, values.ranges
        self._guards = {}       # axis to the sums that bound its index, each elsewhere in the kernel

    @property
    def guards(self):
        """Returns the sum that bounds the index of each guarded axis, x first; None where no guard covers the others
        of its axis."""
        return {axis: next((limit for limit in self._guards[axis] if all(
            larger(limit, other) is limit for other in self._guards[axis])), None)
                for axis in AXES if axis in self._guards}

    def learn(self, condition, names, is_true):
        """Returns the facts that follow from a condition: (sum, limit), which means that the sum is less. Ranges learn
        the smallest values that follow from it."""
        while condition and condition[0].text == '(' and matching(condition, 0, '(', ')') == len(condition):
            condition = condition[1:-1]
        if condition[:1] and condition[0].text == '!' and len(condition) > 1:
            is_whole = condition[1].text == '(' or len(condition) == 2
            return self.learn(condition[1:], names, not is_true) if is_whole else []
        for splitter, holds in (('||', False), ('&&', True)):
            parts = split_at(condition, splitter)
            if len(parts) > 1 and is_true and splitter == '||':     # a switch for cases that need no guard
                parts = [p for p in parts if len(p) > 1]
                return self.learn(parts[0], names, True) if len(parts) == 1 else []
            if len(parts) > 1:
                return [f for p in parts for f in self.learn(p, names, is_true)] if is_true == holds else []
        for text in _NEGATED:
            sides = split_at(condition, text)
            if len(sides) == 2 and all(sides):
                return self._relation(*sides, text if is_true else _NEGATED[text], names)
        if len(condition) == 1 and is_true and names.get(condition[0].text) is not None:
            variable = self._ranges.variables.get(str(names.get(condition[0].text)))
            return variable.facts if variable else []
        return []

    def _relation(self, left, right, relation, names):
        one, other = self._values.sum(left, names), self._values.sum(right, names)
        if one is None or other is None:
            return []
        facts = []
        for smaller, limit, text in ((one, other, relation), (other, one, _MIRRORED[relation])):
            if not self._ranges.has_index(smaller):
                continue
            if text in ('<', '<=', '!='):
                fact = smaller, limit + constant(1) if text == '<=' else limit
                if text != '!=' or not self._ranges.has_index(limit) and limit.value is None:
                    facts.append(fact)
            elif text == '==':
                facts.append((smaller, limit + constant(1)))
            if text == '!=' and limit.value == 0 and str(smaller) in self._ranges.variables:
                self._ranges.variables[str(smaller)].least = constant(1)
            elif text in ('>', '>=') and not self._ranges.has_index(limit):
                variable = self._ranges.variables.get(str(smaller))
                if variable:
                    variable.least = limit + constant(1) if text == '>' else limit
        return facts

    def note_guards(self, facts, outer):
        """A guard of a thread's own index tells the size of the grid, unless the facts around it have one already."""
        known = {axis for fact in outer for axis, _ in self._guards_of(*fact)}
        for axis, limit in (guard for fact in facts for guard in self._guards_of(*fact)):
            if axis not in known:
                known.add(axis)
                limits = self._guards.setdefault(axis, [])
                limits += [limit] if limit not in limits else []

    def _guards_of(self, value, limit):
        """Yields the axis whose index a fact bounds, and its limit."""
        if self._ranges.has_index(limit):
            return
        plain = self._ranges.expand(value)
        for axis in AXES:
            rest = plain - self._values.axis_index(axis)
            if rest.value is not None:
                yield axis, limit - rest

    def note_stride_loops(self, starts, names, facts, outer):
        """A loop that begins at a thread's own index guards like a condition."""
        for name, start in starts.items():
            if isinstance(start, Sum):
                self.note_guards([(start, limit) for value, limit in facts if value == names.get(name)], outer)
