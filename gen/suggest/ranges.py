"""Finds the largest value of an index from guards, loops and the launch."""

import re

from expr.plain import spell_tree
from suggest.sums import constant, divide, divide_exactly, factor, read_sum, replace_factors, Sum
from suggest.terms import named

AXES = 'xyz'
MAX_STEPS = 40          # most successive replacements in one index
MAX_EFFORT = 2000       # most replacements that are tried for one index
# Names of row pitches; other factors may be strides of windows that overlap.
_PITCH = re.compile(r'(?i)(\b|_)ld|pitch')


def is_index(tree):
    """True if a factor differs between threads or turns of a loop."""
    text = spell_tree(tree)
    return '#' in text or 'threadIdx.' in text or 'blockIdx.' in text


class Range:
    """A variable of the kernel: its value as a sum, its smallest value, and the facts that hold where the variable is
    true. `is_signed`: the variable had a negative value before the unknown one."""

    def __init__(self, value=None):
        self.value, self.least, self.facts, self.is_signed = value, None, [], False


class Size:
    """The known part of a launch's size, as sums by axis. `counts`: threads, without those that guards stop; `blocks`:
    blocks; `block`: threads of a block."""

    def __init__(self):
        self.counts, self.blocks, self.block = {}, {}, {}
        self.rounded = set()        # axes whose counts are rounded up to whole blocks

    def set_axis(self, axis, count, block):
        """Sets the threads along an axis; None for an unknown number."""
        is_known = None not in (count, block)
        blocks = divide_exactly(count, block) or divide(count + block - constant(1), block) if is_known else None
        for sizes, total in ((self.counts, count), (self.blocks, blocks), (self.block, block)):
            sizes.pop(axis, None)
            if total is not None:
                sizes[axis] = total

    def replace(self, text):
        """Returns the sum for gridDim.x or blockDim.x; None if it is unknown."""
        sizes = {'blockDim': self.block, 'gridDim': self.blocks}.get(text[:-2])
        return sizes.get(text[-1]) if sizes else None


class Ranges:
    """The known facts of one kernel. A variable's name cannot occur in a source, such as `i#3`. `used`: axes without a
    guard, along which all threads of whole blocks were counted."""

    def __init__(self, size):
        self.size = size
        self.variables = {}         # text: Range
        self.used = set()
        self._effort = 0

    @staticmethod
    def has_index(total):
        return any(map(is_index, total.factors.values()))

    def expand(self, total):
        """Returns the sum with variables replaced by their values."""
        for _ in range(20):
            values = {text: self.variables[text].value for text in total.factors
                      if text in self.variables and self.variables[text].value is not None}
            if not values:
                break
            total = replace_factors(total, lambda tree, values=values: values.get(spell_tree(tree)))
        return total

    def greatest(self, total, facts, is_wide=False, steps=MAX_STEPS):
        """Returns the largest value of a sum if the facts hold, as a sum without indices; None if it is unknown. A fact
        (sum, limit) means that the sum is less than the limit. `is_wide`: a guard that excludes both ends of a range
        counts as a guard of the whole range."""
        if not self.has_index(total):
            return total
        self._effort = 0 if steps == MAX_STEPS else self._effort + 1
        if steps == 0 or self._effort > MAX_EFFORT:
            return None
        for value, limit in _tightest(facts):
            if not self.has_index(total - value):
                if self._is_halo(value, total - value, facts):
                    return None
                found = self.greatest(self._widened(value, limit, facts, is_wide), facts, is_wide, steps - 1)
                if found is not None:
                    return found - constant(1) + total - value
        for value, limit in facts:
            times = self._multiple(total, value)
            top = times and self.greatest(self._widened(value, limit, facts, is_wide), facts, is_wide, steps - 1)
            if top:
                return self.greatest(total + times * (top - constant(1) - value), facts, is_wide, steps - 1)
        total = self._whole_axes(total, facts)
        if not self.has_index(total):
            return total
        for tree in self._ordered(total):
            following = self._replace(total, tree, facts, is_wide, steps - 1)
            if following is not None:
                found = self.greatest(following, facts, is_wide, steps - 1)
                if found is not None:
                    return found
        return None

    def last_of(self, index, width, facts):
        """Returns the index of the last of several elements that are accessed at once. A guard such as i + 7 < n is
        that of a whole group of elements, however many of them this access reads."""
        for value, _ in facts:
            slack = (value - index).value if width > 1 else None
            if slack is not None and slack >= width - 1:
                return value
        return index + constant(width - 1)

    def is_natural(self, index, facts):
        """True if an index is never negative. A variable whose value is unknown counts as such, unless it was negative
        before."""
        plain, facts, is_signed = self.expand(index), list(facts), False
        for text, tree in plain.factors.items():
            variable = self.variables.get(text)
            if tree.kind in ('MIN', 'SELECT'):
                parts = [read_sum(part) for part in tree.parts[-2:]]
                is_signed |= not all(self.is_natural(part, facts) if self.has_index(part) else (part.value or 0) >= 0
                                     for part in parts)
            elif variable and variable.value is None:
                least = constant(0) if variable.least is None else variable.least
                is_one_signed = variable.is_signed or any(count < 0 for count, _ in least.terms.values())
                facts += [] if is_one_signed else [(-named(text), constant(1))]
                is_signed |= is_one_signed
            elif tree.kind not in ('NAME', 'MEMBER'):
                facts.append((-factor(tree), constant(1)))
        if not is_signed and all(count > 0 for count, _ in plain.terms.values()):
            return True
        top = self.greatest(-index, facts)
        return top is not None and all(count < 0 for count, _ in top.terms.values())

    def grouped(self, total, facts):
        """Returns the sum in which one index replaces each group of terms that a fact bounds together, and the facts
        with those about the new indices."""
        bounds = list(facts)
        for number, (value, limit) in enumerate(facts):
            times = self._multiple(total, value)
            if times:
                group = named(f'group#{number}')
                total += times * (group - value)
                bounds.append((group, limit))
        return total, bounds

    def _multiple(self, total, value):
        """Returns the positive number whose product with a sum of several terms is a part of the total; None if there
        is no such number."""
        indices = {text for text, tree in value.factors.items() if is_index(tree)}
        terms = [key for key in value.terms if indices & set(key)]
        if len(terms) < 2:
            return None
        for key, term in total.terms.items():
            part = divide_exactly(Sum({key: term}), Sum({terms[0]: value.terms[terms[0]]})) if term[0] > 0 else None
            if part and not indices & set((total - part * value).factors):
                return part
        return None

    def _ordered(self, total):
        """Returns the indices in the order in which they are replaced: operations, then variables, the latest first."""
        def key(item):
            text, tree = item
            is_plain = tree.kind in ('NAME', 'MEMBER')
            return is_plain, -int(text.rsplit('#', 1)[1]) if is_plain and '#' in text else 0
        return [tree for _, tree in sorted(total.factors.items(), key=key) if is_index(tree)]

    def _widened(self, value, limit, facts, is_wide):
        """Widens the limit of a stencil's guard, because 0 < i < n - 1 suggests arrays of n elements."""
        least = self._least(value, facts) if is_wide and value.product and str(value) in self.variables else None
        if least is not None and limit.value is None and all(
                limit.terms.get(key, (0,))[0] == -count for key, (count, _) in least.terms.items()):
            return limit + least
        return limit

    def _least(self, value, facts):
        """Returns the smallest value of an index that the facts or its loop tell; None if they tell none."""
        found = [constant(1) - limit for other, limit in facts if not (other + value).terms and
                 not self.has_index(limit)]
        variable = self.variables.get(str(value))
        return found[-1] if found else variable and variable.least

    def _thread_limit(self, axis, facts):
        """Returns the limit of threadIdx.x that follows from the facts; None if it is not below the block's size."""
        for value, limit in facts:
            limit -= self.expand(value) - named(f'threadIdx.{axis}')
            block = self.size.block.get(axis)
            if not self.has_index(limit) and (block is None or larger(limit, block) is not limit):
                return limit
        return None

    def _is_halo(self, value, offset, facts):
        """True if a guard of `threadIdx` lets only some threads of each block access the elements at this offset. Then
        the number of elements depends on the last block."""
        indices = self.expand(value).factors
        return larger(offset, constant(0)) is offset and bool(offset.terms) and not any(
            count < 0 for count, _ in value.terms.values()) and any(
            {f'threadIdx.{axis}', f'blockIdx.{axis}'} <= indices.keys() and self._thread_limit(axis, facts)
            for axis in AXES)

    def _whole_axes(self, total, facts):
        """Replaces blockIdx.x * blockDim.x + threadIdx.x by the largest index of an axis whose threads are counted."""
        for axis in self.size.counts.keys() & self.size.block.keys():
            count = self.size.counts[axis]
            thread, block = named(f'threadIdx.{axis}'), named(f'blockIdx.{axis}')
            for key, (times, factors) in list(total.terms.items()):
                if f'threadIdx.{axis}' not in key or times < 0:
                    continue
                others = constant(times)
                for tree in factors:
                    if spell_tree(tree) != f'threadIdx.{axis}':
                        others *= factor(tree)
                rest = total - others * (block * self.size.block[axis] + thread)
                if not {f'threadIdx.{axis}', f'blockIdx.{axis}'} & set(rest.factors):
                    limit = self._thread_limit(axis, facts) if any(n > 0 for n, _ in rest.terms.values()) else None
                    if limit and axis not in self.size.rounded:
                        continue
                    last = count - self.size.block[axis] + limit if limit else count
                    total = rest + others * (last - constant(1))
                    self.used.add(axis)
        return total

    def _replace(self, total, tree, facts, is_wide, steps):
        """Returns the sum with an index replaced by the end of its range; None if the end is unknown."""
        text = spell_tree(tree)
        variable = self.variables.get(text)
        signs = {term[0] > 0 for key, term in total.terms.items() if text in key}
        end = None
        if signs == {True}:
            end = self._greatest_factor(tree, facts, is_wide, steps)
        elif signs == {False}:
            end = self._least_factor(tree, facts)
        if end is None and variable and variable.value is not None:
            end = variable.value
        return None if end is None else replace_factors(total, lambda t: end if spell_tree(t) == text else None)

    def _least_factor(self, tree, facts):
        least = self._least(factor(tree), facts)    # i % n is least within the range of i, not at its end
        is_plain = tree.kind in ('NAME', 'MEMBER') and spell_tree(tree) not in self.variables
        return constant(0) if least is None and is_plain else least

    def _greatest_factor(self, tree, facts, is_wide, steps):
        text = spell_tree(tree)
        if text[:-1] in ('threadIdx.', 'blockIdx.'):
            limit = self._thread_limit(text[-1], facts) if text[0] == 't' else None
            if limit:
                return limit - constant(1)
            sizes = self.size.block if text[0] == 't' else self.size.blocks
            return sizes[text[-1]] - constant(1) if text[-1] in sizes else None
        for value, limit in _tightest(facts):
            offset = value - factor(tree)
            if text in value.factors and offset.value is not None:
                limit = self._widened(factor(tree), limit - offset, facts, is_wide)
                found = self.greatest(limit, facts, is_wide, steps)
                if found is not None:
                    return found - constant(1)
        if tree.kind in ('NAME', 'MEMBER', 'NUMBER', 'CHAIN'):
            return None
        if tree.kind == 'SELECT' and tree.parts[0].kind == 'CHAIN' and len(tree.parts[0].parts[0]) == 2:
            tops = [self.greatest(read_sum(part), facts + more, is_wide, steps)
                    for part, more in zip(tree.parts[1:], _facts_of(tree.parts[0]))]
            return larger(*tops) if None not in tops else None
        return self._greatest_of_parts(tree.kind, [read_sum(part) for part in tree.parts], facts, is_wide, steps)

    def _greatest_of_parts(self, kind, parts, facts, is_wide, steps):
        if kind == 'MOD' and not self.has_index(parts[1]):
            return parts[1] - constant(1)
        if kind == 'BIT_AND' and parts[1].value is not None:
            return parts[1]
        if kind == 'DIV' and not self.has_index(parts[1]):
            top = self.greatest(parts[0], facts, is_wide, steps)
            if top is None:
                return None
            whole = divide_exactly(top + constant(1), parts[1])
            return divide(top, parts[1]) if whole is None else whole - constant(1)
        if kind not in ('MIN', 'MAX', 'SELECT'):
            return None
        plain = [part for part in parts if not self.has_index(part)]
        if kind == 'MIN' and plain:
            return plain[0]
        tops = [self.greatest(part, facts, is_wide, steps) for part in parts[-2:]]
        if kind == 'MIN':
            return next((top for top in tops if top is not None), None)
        return larger(*tops) if None not in tops else None


def _facts_of(chain):
    """Returns the facts that hold if a comparison is true, and those that hold if it is not."""
    (left, right), relation = map(read_sum, chain.parts[0]), chain.parts[1][0].text
    if relation in ('>', '>='):
        left, right, relation = right, left, {'>': '<', '>=': '<='}[relation]
    if relation not in ('<', '<='):
        return [], []
    one = constant(1)
    return ([(left, right)], [(right, left + one)]) if relation == '<' else ([(left, right + one)], [(right, left)])


def _tightest(facts):
    """Returns the facts without those that follow from another fact about the same sum."""
    return [(value, limit) for value, limit in facts if not any(
        ((other_limit - limit).value or 0) < 0 and other == value for other, other_limit in facts)]


def larger(one, other):
    """Returns the larger of two sums of sizes, which are never negative; None if neither is always larger."""
    counts = [count for count, _ in (one - other).terms.values()]
    return one if all(c > 0 for c in counts) else other if all(c < 0 for c in counts) else None


def has_single_steps(total):
    """True if no two indices have the same stride: true for y * nx + x, but not for y * nx + x + dx."""
    strides = [(count, tuple(spell_tree(t) for t in factors if not is_index(t)))
               for count, factors in total.terms.values()]
    return len(set(strides)) == len(strides)


def split_dimensions(total, extent, greatest):
    """Returns the extents of the dimensions, outermost first, and their pitches, innermost first, for an index such as
    y * nx + x of an array with `extent` elements; ([extent], []) if the index has one dimension. `greatest` returns
    the largest value of a part of the index."""
    parts = []          # (stride, index along it)
    for count, factors in total.terms.values():
        stride, index = constant(count), constant(1)
        for tree in factors:
            if is_index(tree):
                index *= factor(tree)
            else:
                stride *= factor(tree)
        same = next((n for n, (other, _) in enumerate(parts) if other == stride), None)
        if same is None:
            parts.append((stride, index))
        else:
            parts[same] = stride, parts[same][1] + index
    parts.sort(key=lambda p: max((len(key), count) for key, (count, _) in p[0].terms.items()))
    extents = [greatest(index) for _, index in parts]
    if len(parts) < 2 or parts[0][0].value != 1 or None in extents:
        return [extent], []
    extents = [e + constant(1) for e in extents]
    pitches = [divide_exactly(outer[0], inner[0]) for inner, outer in zip(parts, parts[1:])]
    whole = constant(1)
    for size in extents:
        whole *= size
    if whole == extent and all(p == e for p, e in zip(pitches, extents)):
        return extents[::-1], []
    is_pitched = all(p is not None and p.product and _PITCH.search(str(p)) for p in pitches)
    last = constant(1)
    for (stride, _), size in zip(parts, extents):
        last += stride * (size - constant(1))
    return (extents[::-1], pitches) if is_pitched and last == extent else ([extent], [])
