"""Collects the facts that follow from a kernel's conditions, and the guards that tell the size of its grid."""

from suggest.ranges import AXES, larger
from suggest.sums import constant, Sum
from suggest.terms import named
from tokens.brackets import matching, split_at

_NEGATED = {'<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '=='}
_MIRRORED = {'<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==', '!=': '!='}


class Conditions:
    def __init__(self, values):
        self._values, self._ranges = values, values.ranges
        self._guards = {}       # axis: list of (sum that bounds its index or None, True for a loop)
        self._unguarded = set()     # axes whose index accesses an array without a guard
        self.used = set()           # axes that indices of arrays use
        self._thread_limits, self._loops = [], []   # (axis, sum that bounds its threadIdx) by guards and by loops
        self.is_paused = False      # True in a lambda, which need not be called
        self._own = set()           # axes whose threadIdx alone tells a thread's elements

    def guards(self, with_loops=True):
        """Returns the sum that bounds the index of each guarded axis, x first; None if it is unknown, because no guard
        covers the other guards of the axis or all accesses. `with_loops`: loops over the whole grid count as guards."""
        guards = {}
        for axis in AXES:
            limits = [limit for limit, is_loop in self._guards.get(axis, ()) if with_loops or not is_loop]
            is_told = None not in limits and axis not in self._unguarded
            if limits:
                guards[axis] = next((limit for limit in limits if is_told and all(
                    larger(limit, other) is limit for other in limits)), None)
        return guards

    def learn(self, condition, names, is_true, facts, counts_up=False):
        """Returns the facts that follow from a condition: (sum, limit) means that the sum is less than the limit; a
        smallest value is the limit of the negative sum. `facts`: those that hold already. `counts_up`: the condition is
        that of a loop that counts up by 1, so that != is <."""
        while condition and condition[0].text == '(' and matching(condition, 0, '(', ')') == len(condition):
            condition = condition[1:-1]
        if condition[:1] and condition[0].text == '!' and len(condition) > 1:
            is_whole = condition[1].text == '(' or len(condition) == 2
            return self.learn(condition[1:], names, not is_true, facts) if is_whole else []
        for splitter, holds in (('||', False), ('&&', True)):
            parts = split_at(condition, splitter)
            if len(parts) > 1 and is_true and splitter == '||':     # a constant flag of the kernel marks special cases
                parts = [p for p in parts if len(p) != 1 or p[0].text not in self._values.constants]
                return self.learn(parts[0], names, True, facts) if len(parts) == 1 else []
            if len(parts) > 1:
                found = [self.learn(p, names, is_true, facts, counts_up) for p in parts] if is_true == holds else []
                return [fact for part in found for fact in part]
        for text in _NEGATED:
            sides = split_at(condition, text)
            if len(sides) == 2 and all(sides):
                relation = text if is_true else _NEGATED[text]
                return self._relation(*sides, '<' if counts_up and relation == '!=' else relation, names, facts)
        if len(condition) == 1 and is_true and names.get(condition[0].text) is not None:
            variable = self._ranges.variables.get(str(names.get(condition[0].text)))
            return variable.facts if variable else []
        return []

    def _relation(self, left, right, relation, names, known):
        one, other = (self._values.sum(side, names) or self._values.add_variable('value') for side in (left, right))
        facts = []
        for smaller, limit, text in ((one, other, relation), (other, one, _MIRRORED[relation])):
            if not self._ranges.has_index(smaller):
                continue
            if text in ('<', '<=', '=='):
                facts.append((smaller, limit if text == '<' else limit + constant(1)))
            if text == '!=' and not self._ranges.has_index(limit):      # the end of a range that is known
                facts += [(smaller, limit)] if (smaller, limit + constant(1)) in known else []
                if (-smaller, constant(1) - limit) in known or (
                        limit.value == 0 and self._ranges.is_natural(smaller, known)):
                    facts.append((-smaller, -limit))
            elif text in ('>', '>=', '==') and not self._ranges.has_index(limit):
                facts.append((-smaller, -limit if text == '>' else constant(1) - limit))
        return facts

    def note_guards(self, facts, outer, is_loop=False):
        """Records guards of a thread's own index, which tell the grid's size, unless an outer fact guards the same
        axis."""
        if self.is_paused:
            return
        known = {axis for fact in outer for axis, _ in self._guards_of(*fact)}
        guards = [guard for fact in facts for guard in self._guards_of(*fact)]
        for axis, limit in sorted(guards, key=lambda guard: guard[1] is None):
            if axis not in known:
                known.add(axis)
                limits = self._guards.setdefault(axis, [])
                limits += [(limit, is_loop)] if (limit, is_loop) not in limits and self._is_size(axis, limit) else []
        for axis in AXES:
            limits = [named(f'threadIdx.{axis}') - self._excess(*fact) for fact in facts]
            (self._loops if is_loop else self._thread_limits).extend(
                (axis, limit) for limit in limits if not self._ranges.has_index(limit))

    @property
    def thread_limits(self):
        """The pairs (axis, sum) of guards that let only some threads of a block access elements, each its own."""
        return [(axis, limit) for axis, limit in self._thread_limits if axis in self._own and not any(
            limit == other for _, other in self._loops)]

    def _excess(self, value, limit):
        return self._ranges.expand(value - limit)

    def _guards_of(self, value, limit):
        """Yields each axis whose blocks a fact bounds, and the limit of its threads or None if it is unknown."""
        excess = self._excess(value, limit)
        if any(count < 0 and 'Idx.' in ' '.join(key) for key, (count, _) in excess.terms.items()):
            return              # a comparison of two indices
        for axis in AXES:
            if f'blockIdx.{axis}' in excess.factors:
                blocks = named(f'blockIdx.{axis}') - excess
                threads = self._values.axis_index(axis) - excess
                if not self._ranges.has_index(blocks):
                    threads = blocks if blocks.value == 1 else blocks * self._values.block(axis)
                yield axis, None if any('Idx.' in t for t in threads.factors) else self._ranges.greatest(threads, [])

    def _is_size(self, axis, limit):
        """True if a limit tells a grid's size. A limit of one thread does not, nor does a number that the launch
        reaches."""
        if limit is None:
            return True
        size, needed = self._ranges.size, limit.value
        launched = (size.blocks[axis] * size.block[axis]).value if axis in size.blocks.keys() & size.block else None
        return needed != 1 and 'gridDim.' not in str(limit) and (None in (launched, needed) or launched < needed)

    def note_access(self, index, facts):
        """Records an access at a thread's own index that no fact bounds. Guards elsewhere then do not tell the grid's
        size."""
        bounded = [self._ranges.expand(value).factors.keys() for value, _ in facts if any(
            count > 0 for count, _ in value.terms.values())]
        texts = self._ranges.expand(index).factors.keys()
        for axis in AXES:
            own = {f'blockIdx.{axis}', f'threadIdx.{axis}'}
            self.used |= {axis} if own & texts else set()
            self._own |= {axis} if f'threadIdx.{axis}' in texts else set()
            if own <= texts and not any(own <= names for names in bounded):
                self._unguarded.add(axis)

    def note_loops(self, starts, step, names, facts, outer):
        """Records a loop that begins at a thread's own index, whose end is a guard like a condition. Unless the loop
        counts by 1, it covers the whole range with a grid of any size."""
        is_loop = not any(text == other for text, other in zip(step, step[1:]))
        for name, start in starts.items():
            if isinstance(start, Sum):
                ends = [limit for value, limit in facts if value == names.get(name)]
                self._loops += [('', limit) for limit in ends]
                self.note_guards([(start, limit) for limit in ends], outer, is_loop)
