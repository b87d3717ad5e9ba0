"""Finds loops in which the threads of a block or a warp share out elements, and moves these loops outside of the loops
over threads.

    for (int k = threadIdx.x; k < n; k += 32)           for (int by = 0; by < n; by += 32)
        sum += x[k];                                        for each thread: { int k = by + threadIdx.x;
                                                                               if (k < n) sum += x[k]; }

A thread takes part in the steps until its condition is false for the first time; its variable must not grow so far that
the condition is true again. Threads depend on one another only in operations of warps, which divide the loop's body."""

from cpu.comparisons import Bound
from cpu.ranges import type_of, WIDE
from cpu.rowchecks import is_signed, SIGNED, spell_tested
from tokens.brackets import matching

# The tokens of step sizes that are surely greater than 0.
_SIZES = {'blockDim', 'gridDim', '.', 'x', 'y', 'z', '*', '(', ')', 'warpSize'}
_OF_LIMITS = {'float', 'double'}, {'min', 'max', 'warpSize'}


class Stride:
    """A loop whose steps all threads take together. `variable`: the loop's variable; `condition`, `size`: places;
    `chain`: as in Bound, or None if the variable does not grow by 1 from thread to thread; `bound`: Bound of the
    threads in a step; `may_be_empty`: some threads may not run the loop."""

    def __init__(self, variable, condition, size, may_be_empty, chain, bound):
        self.variable, self.condition, self.size, self.chain, self.bound = variable, condition, size, chain, bound
        self.may_be_empty = may_be_empty

    @property
    def is_straight(self):
        return self.chain is not None


class Strides:
    """Finds the loops of one kernel whose steps all threads can take together. `innermost`, `layout`: those of the
    kernel."""

    def __init__(self, tokens, variables, innermost, layout):
        self._tokens, self._variables, self._innermost, self._layout = tokens, variables, innermost, layout

    def _text(self, at):
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ''

    def read(self, statement, may_be_empty):
        """Returns the Stride of a loop such as for (i = first + threadIdx.x; i < n; i += blockDim.x); None for loops
        whose steps the threads cannot take together. `may_be_empty`: as in Innermost.is_better()."""
        if statement.kind != 'for' or self._layout.is_coarse or not self._innermost.is_plain(
                statement.begin, statement.end):
            return None
        _, condition, step = statement.parts
        declared = self._variables.declared_by(statement)
        variable = declared[0] if len(declared) == 1 else None
        if variable is None or variable.escape is not None or variable.value is None or \
                ' '.join(t.text for t in variable.types) not in WIDE or variable.is_reference or \
                variable.is_pointer or variable.is_array or self._text(variable.value[0] - 1) != '=':
            return None
        size = range(step[0] + 3, step[1])
        if [self._text(at) for at in range(step[0], step[0] + 3)] != [variable.name, '+', '='] or not size or \
                variable.writes != [step[0]] or self._layout.tell(size.start, size.stop) is not None or \
                any(self._text(at) == ',' for at in size):
            return None
        if may_be_empty and not all(self._text(at) in _SIZES or self._text(at)[:1].isdigit() and
                                    not self._text(at).startswith('0') for at in size):
            return None
        relation = next((at for at in range(*condition) if self._text(at) in ('<', '<=')), None)
        if relation != condition[0] + 1 or self._text(condition[0]) != variable.name or \
                relation + 1 == condition[1] or self._layout.tell(relation + 1, condition[1]) is not None:
            return None
        if not self._is_bound_limit(relation + 1, condition[1]) or not all(
                self._is_start(at, statement) for at in range(*variable.value)) or not any(
                    map(self._layout.varies, range(*variable.value))):
            return None
        used = {self._variables.of.get(at) for at in (*range(*variable.value), *size, *range(relation, condition[1]))}
        if any(statement.begin <= at < statement.end for v in used - {None} for at in v.writes):
            return None
        chain = None
        if self._is_of_x(*variable.value):
            chain = self._innermost.read_sum(*variable.value, type_of(variable), '()+-*/%.[]&')
            chain = chain and [(types, value, None, check) for types, value, _, check in chain]
        # A comparison without sign takes a negative index for a large number, so that a later step could make it true.
        has_sign = type_of(variable) in SIGNED and is_signed(
            self._tokens, self._variables, (relation + 1, condition[1]), *_OF_LIMITS)
        marked = chain
        if chain is not None:
            marked = self._layout.checks.mark_loop(
                variable, chain, ((relation + 1, condition[1]), (size.start, size.stop)), has_sign)
        if chain != [] and not has_sign and not marked:
            return None
        chain = marked
        return Stride(variable, condition, (size.start, size.stop), may_be_empty, chain,
                      Bound((condition[0], condition[0] + 1), self._text(relation), (relation + 1, condition[1]),
                            chain or []))

    def _is_bound_limit(self, begin, end):
        """True if an expression can be the limit of a comparison: it has no operator that binds less tightly."""
        depth = 0
        for at in range(begin, end):
            text = self._text(at)
            depth += (text in '([') - (text in ')]') if self._tokens[at].kind == 'punctuation' else 0
            if depth == 0 and text in ('<', '>', '<=', '>=', '==', '!=', '&', '|', '^', '&&', '||', '?', ',', '='):
                return False
        return True

    def _is_start(self, at, statement):
        """True if the token at `at` may be in the first value of a loop's variable. The value may contain indices and
        what all threads share, since each thread has to compute it again."""
        token, variable = self._tokens[at], self._variables.of.get(at)
        if token.kind == 'punctuation':
            return token.text not in ('=', '{', '->') and (token.text not in ('*', '&') or
                                                           self._variables.ends_value(at - 1)) and (
                token.text != '[' or self._layout.tell(at - 1, matching(self._tokens, at, '[', ']')) is None)
        if token.kind != 'identifier' or self._text(at - 1) == '.':
            return token.kind in ('identifier', 'number')
        if variable is None or not self._layout.varies(at):
            return self._layout.tell(at, at + 1) is None or token.text == 'threadIdx'
        return variable.is_integer and not variable.writes and not variable.is_auto and variable.value is not None and \
            variable.statement is not statement and self._text(variable.value[0] - 1) == '=' and all(
                self._is_start(place, statement) and self._text(place) not in ('[', '(') or self._text(place) == '(' and
                self._tokens[place - 1].kind != 'identifier' for place in range(*variable.value))

    def _is_of_x(self, begin, end):
        """True if the value between two places differs only between the threads of one row, so that all rows have the
        same values, or if it grows by 1 from lane to lane of the warp whose code is read."""
        if self._layout.warps is not None:
            return not self._layout.shape.has_lines or self._layout.warps.is_sum(begin, end, self._layout.tell)
        return all(self._text(at) != 'threadIdx' or self._text(at + 2) == 'x' for at in range(begin, end)) and all(
            self._is_of_x(*self._variables.of[at].value) for at in range(begin, end)
            if at in self._variables.of and self._layout.varies(at))


def spell_doubts(index, limit, chain, spell):
    """Returns the condition under which an index grows by 1 from thread to thread, and its comparison with a limit
    holds for a range of threads. `index`, `limit`: types; `chain`: as in Bound; `spell`: returns the text of a
    place."""
    doubts, greats = [], []
    for types, value, alignment, check in chain:
        own = f'decltype({spell(*value)})'
        tested, great = spell_tested(check, types or own, own, spell)
        aligned = f'cf__is_aligned<{types or own}, {own}, {alignment[0]}, {alignment[1]}>' if alignment else ''
        doubts.append(' || '.join(filter(None, [f'cf__is_straight<{types or own}, {own}>', aligned, tested])))
        greats.append(' || '.join(filter(None, [aligned, great])))
    may_be_less = (f'!({greats[0]})' if greats[0] else 'true') if chain else 'false'
    return ' && '.join([f'cf__is_bound<{index}, {limit}, {may_be_less}>', *(
        f'({doubt})' if ' || ' in doubt else doubt for doubt in doubts)])


def spell_step(stride, checks, spell, place):
    """Returns the text of the value that a Stride's variable has in a thread. `checks`: the kernel's RowChecks;
    `spell`: returns the text of a place; `place`: text of the thread's distance from the first one."""
    variable = stride.variable
    start, types = f'cf__start_{variable.number}', type_of(variable)
    plain = f'static_cast<{types}>({spell(*variable.value)}) + cf__by_{variable.number}'
    if stride.is_straight:
        plain = (f'decltype({start})::cf__is_straight ? {start}.cf__value + cf__by_{variable.number} + '
                 f'static_cast<{types}>({place}) : {plain}')
    return f'cf__in_row<{types}, false>(static_cast<{types}>({plain}), (unsigned int)cf__x)' \
        if checks.has_loop(variable) else f'static_cast<{types}>({plain})'


def spell_begin(stride, spell, load_first, load):
    """Returns the text that replaces the header of a Stride's loop. `load_first`: declarations of the variables in the
    first value; `load`: declarations of all variables in the condition; `spell`: returns the text of a place."""
    number, types, value, straight = stride.variable.number, type_of(stride.variable), '0', 'false'
    if stride.is_straight:
        value = spell(*stride.variable.value)
        straight = spell_doubts(types, f'decltype({spell(*stride.bound.limit)})', stride.chain, spell)
    else:
        load_first = ''
    return (f'{{ {types} cf__by_{number} = 0; const auto cf__start_{number} = [&] {{ CF__FIRST {load_first}'
            f'return cf__start<{types}, {straight}>{{static_cast<{types}>({value})}}; }}(); '
            f'const auto cf__goes_{number} = [&](int cf__x, int cf__y, int cf__z) {{ CF__ENTER '
            f'{load}return {spell(*stride.condition)}; }}; '
            f'for (; cf__any_goes<decltype(cf__start_{number})::cf__is_straight>(cf__scope, cf__goes_{number}); '
            f'cf__by_{number} += {spell(*stride.size)}) ')
