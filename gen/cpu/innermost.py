"""Finds serial loops that run faster if the loop over a block's threads is inside them, and conditions around regions.

    for (int k = 0; k < 16; k++)                    for (int k = 0; k < 16; k++)
        sum += a[ty][k] * b[k][tx];                     for each thread: sum += a[ty][k] * b[k][tx];

The second order is better if neighbours along x access neighbours in memory. Threads do not depend on one another
between two barriers, but the order of effects would change: code that calls functions with effects stays as it is."""

import re

from cpu.advances import end_of_advance
from cpu.collected import list_adds
from cpu.counts import count_steps, counts_by_number, is_small, MOST_TOKENS
from cpu.meanings import EFFECTS
from cpu.ranges import Ranges, type_of, WIDE
from cpu.sharedmem import find_changed, find_shared
from tokens.brackets import is_update, matching

_WORDS = {'if', 'for', 'sizeof', 'static_cast', 'reinterpret_cast', 'return', 'min', 'max'}


class Innermost(Ranges):
    """Decides the order of loops for the code of one kernel. `row`: text for the number of threads in a row, or '' if
    the number is unknown."""

    def __init__(self, tokens, variables, meanings, layout, statements, row):
        self._row, self._end = row, len(tokens)
        self._tokens, self._variables, self._meanings, self._layout = tokens, variables, meanings, layout
        self._steps = {}        # result of _step_of() by (variable, True for the block's code, True for a warp's)
        self._assigned = {}     # maps a variable to its plain assignments as (place of the value, later statements)
        self.changing = None    # a variable that still has its first value in the code that is read
        self._note_assignments(statements)
        # The result of integer additions does not depend on their order.
        self._adds = {at for at in list_adds(tokens) if self._is_whole(at) and
                      not meanings.is_function(tokens[at].text)}

    def _text(self, at):
        return self._tokens[at].text if 0 <= at < self._end else ''

    def _note_assignments(self, statements):
        for number, statement in enumerate(statements):
            value = self._variables.find_value(statement)
            if value:
                self._assigned.setdefault(self._variables.of[statement.begin], []).append(
                    (value, statements[number + 1:]))
            for inner in [statement] if statement.kind == 'block' else statement.children:
                self._note_assignments(inner.children if inner.kind == 'block' else [inner])

    def _find_value(self, variable, at):
        """Returns the place of the value that a variable has at the place `at`, if all names in this value still mean
        and hold the same there; None if the value is unknown."""
        if not variable.writes:
            return variable.value
        assigned = self._assigned.get(variable, ())
        # A lambda or a function that gets the address of a variable may write it at an unknown place.
        if len(assigned) < len(variable.writes) or variable.escape is not None or not variable.is_integer:
            return None
        for value, following in assigned:
            around = next((s for s in following if s.begin <= at < s.end), None)
            used = {self._variables.of[i] for i in range(*value) if i in self._variables.of}
            if around is None or not self.is_safe(*value) or self._variables.may_be_float(*value) or any(
                    s.kind == 'label' for t in following if t.begin <= at for s in t.walk()):
                continue
            if not any(value[0] <= i < around.end for i in variable.writes) and not any(
                    v.escape is not None or any(value[0] - 2 <= i < around.end for i in v.writes) for v in used):
                return value
        return None

    def _is_whole(self, at):
        """True if the atomic function at `at` changes an integer in __shared__ memory or in the caller's array."""
        shared = find_shared(self._tokens, self._variables.of, at)
        variable = shared or self._variables.of.get(find_changed(self._tokens, at))
        return variable is not None and not variable.is_volatile and (
            shared is not None or variable.statement is None and variable.is_pointer) and \
            type_of(variable).replace('__shared__ ', '') in WIDE | {'unsigned long long'}

    # ---- Effects

    def is_plain(self, begin, end):
        """True if the functions between two places, apart from operations of warps, have no effect but their result."""
        for at in range(begin, end):
            token = self._tokens[at]
            if token.kind != 'identifier':
                continue
            if at in self._adds or at in self._layout.lanes.exchanges or token.text == '__syncwarp':
                continue
            if EFFECTS.fullmatch(token.text):
                return False
            variable = self._variables.of.get(at)
            behind = self._text(at + 1)
            if variable is not None and (variable.is_volatile or behind == '('):
                return False
            if behind == '(' and self._text(at - 1) in ('.', '->', '::') or \
                    not self._meanings.has_no_effect(token.text):
                return False
        return True

    # ---- Order of loops

    def is_better(self, statement, may_be_empty):
        """True if a loop without barriers runs faster around the loop over threads. `may_be_empty`: the loop also runs
        if no thread would run it, so that it has to end for any values of its variables."""
        if statement.kind != 'for' or self._layout.is_coarse or not self.is_plain(
                statement.begin, statement.end):
            return False
        if may_be_empty and not all(counts_by_number(self._tokens, s) for s in statement.walk() if s.kind == 'for'):
            return False
        if any(s.kind in ('while', 'do', 'range', 'switch', 'return', 'break', 'continue', 'alias')
               for s in statement.walk()):
            return False
        for inner in statement.walk():
            if inner is not statement and inner.kind == 'for' and any(
                    self.step_of_name(at) != 0 for at in range(*inner.parts[1])):
                return False
        return self._has_neighbours(statement.begin, statement.end)

    def is_short(self, statement):
        """True for a loop of few steps, known from its numbers, that runs faster around the loop over threads. The loop
        becomes a region, since compilers unroll it and keep its variables in registers if no other code is beside
        it."""
        return statement.kind == 'for' and count_steps(self._tokens, statement) > 0 and any(
            statement.begin <= at < statement.end for v in self._layout.varying if v.is_block and not v.is_shared
            for at in v.writes) and self.is_better(statement, False)

    def is_simple(self, statement):
        """True for a statement that may share a region with a short loop: it has no condition, and accesses only
        neighbours in __shared__ memory."""
        begin, end = statement.begin, statement.end
        if statement.kind not in ('declaration', 'expression', 'empty'):
            return False
        for at, token in enumerate(self._tokens[begin:end], begin):
            text = token.text
            if text in ('?', '&&', '||', '{', '->') or text == '(' and self._tokens[at - 1].kind == 'identifier' and \
                    self._text(at - 1) not in _WORDS or text == '[' and not self._is_in_shared(at - 1) or \
                    text == '*' and not self._variables.ends_value(at - 1):
                return False
        return self.is_plain(begin, end) and self._find_neighbours(begin, end) is not None

    def _is_in_shared(self, at):
        """True if the token at `at` ends the name or an element of a __shared__ array."""
        while self._text(at) == ']':
            depth = 1
            while depth:
                at -= 1
                depth += (self._text(at) == ']') - (self._text(at) == '[')
            at -= 1
        variable = self._variables.of.get(at)
        return variable is not None and variable.is_shared and variable.is_array

    def is_scatter(self, statement, begin):
        """True if a statement stores to an element whose index depends on a condition in the code from `begin` on. It
        becomes a region, since compilers do not vectorize code beside such a store."""
        at = behind = statement.begin
        if statement.kind != 'expression' or at not in self._variables.of or at - begin > MOST_TOKENS:
            return False
        behind += 1
        while self._text(behind) == '[':
            behind = matching(self._tokens, behind, '[', ']')
        texts, of = [self._text(behind), self._text(behind + 1)], self._variables.of
        own = {v for v in map(of.get, range(begin, at)) if v is not None and v.statement is not None and
               begin <= v.statement.begin < at}
        chosen = [of[i] for i in range(at + 1, behind) if of.get(i) in own and of[i] in self._layout.varying and
                  self._reads_data(of[i], own, set())]
        before = {self._text(i) for i in range(begin, at)}
        # The store can be a region only if all variables that it needs from the code before are plain.
        return bool(chosen) and (texts[0] == '=' or is_update(texts)) and not before.isdisjoint(('?', 'if')) and \
            'return' not in before and self.is_plain(begin, statement.end) and all(
                v.is_scalar and v.is_block and not v.is_reference for v in own) and not any(
                    v.escape is not None and not v.is_shared or v.is_reference for v in self._variables.all)

    def _reads_data(self, variable, own, visited):
        """True if the value of a variable may come from memory, directly or through the variables `own` that are not
        in `visited`."""
        visited.add(variable)
        return bool(variable.writes) or any(
            self._text(at) == '[' or used in own and used not in visited and self._reads_data(used, own, visited)
            for at in range(*variable.value or (0, 0)) for used in [self._variables.of.get(at)])

    def ends(self, statement):
        """True if a loop ends for any values of its variables, so that it may run although no thread would run it."""
        if statement.kind != 'for':
            return False
        (first, middle), condition, step = statement.parts
        variable = self._variables.of.get(condition[0])
        if variable is None or any(statement.begin <= at < statement.end and not (step[0] <= at < step[1] or
                                                                                  first <= at < middle)
                                   for at in variable.writes):
            return False
        if counts_by_number(self._tokens, statement):
            return True
        value = [self._text(at) for at in range(*variable.value or (0, 0))] if variable.statement is statement else []
        texts = [self._text(at) for at in range(*condition)]
        steps = [self._text(at) for at in range(*step)]
        factor = int(steps[3]) if len(steps) == 4 and re.fullmatch(r'[1-9]\d?', steps[3]) else 0
        if steps[:1] != texts[:1] or not factor or not is_small(value):
            return False
        if steps[1:3] == ['/', '='] and factor > 1 or steps[1:3] == ['>', '>=']:
            return texts[1:] in ([], ['>', '0'], ['!=', '0'], ['>=', '1'])
        return (steps[1:3] == ['*', '='] and factor > 1 or steps[1:3] == ['<', '<=']) and value != ['0'] and \
            factor < 16 and texts[1:2] in (['<'], ['<=']) and is_small(texts[2:])

    def is_guard(self, statement, is_divided, last=None):
        """True if an `if` becomes a guard, a condition that is tested around each region of its statements. `last`: the
        `if` ends threads, and is a guard for the others up to this place. `is_divided`: operations of warps divide the
        statements in any case."""
        is_plain = is_divided or not self._layout.is_coarse and self.is_plain(statement.begin, statement.end)
        if self._text(statement.begin + 1) != '(' or not is_plain or not self.is_steady(statement, last):
            return False
        begin, end = statement.parts[0]
        if not any(map(self._layout.varies, range(begin, end))):
            return False
        names = {self._text(at) for at in range(begin, end) if at in self._variables.of}
        if not is_divided and any(v.name in names and v.statement is not None and
                                  end <= v.statement.begin < (last or statement.end) for v in self._variables.all):
            return False        # another variable has this name in some region
        return is_divided or bool(self.find_parts(begin, end, last is not None)) or last is None and any(
            self.is_better(s, True) for child in statement.children
            for s in (child.children if child.kind == 'block' else [child]))

    def is_steady(self, statement, last=None):
        """True if the condition of an `if` reads no memory and has the same value to its end. `last`: as in
        is_guard()."""
        begin, end = statement.parts[0]
        for at in range(begin, end):
            variable, text = self._variables.of.get(at), self._text(at)
            if text in ('[', '->', '=', '{') or text == '*' and not self._variables.ends_value(at - 1) or \
                    self._layout.is_data(at):
                return False
            if text == '(' and self._tokens[at - 1].kind == 'identifier' and self._text(at - 1) not in ('min', 'max'):
                return False
            if variable is not None and (variable.is_reference or not variable.is_block or variable.is_shared or any(
                    statement.begin <= place < (last or statement.end) for place in variable.writes)):
                return False
        is_sum = any(self._text(at) in ('+', '-') for at in range(begin, end))
        # A compiler may contract float operations in one region and not in another, so that the values would differ.
        return not (is_sum and self._variables.may_be_float(begin, end))

    def is_apart(self, at):
        """True if the elements of the array at `at` that neighbouring threads access are neither one element nor
        adjacent."""
        _, steps = self._steps_at(at)
        return None in steps or 1 in steps[:-1]

    def _steps_at(self, at):
        """Returns the end of the array element at `at`, and for each of its indices the result of step()."""
        place, steps = at + 1, []
        while self._text(place) == '[':
            behind = matching(self._tokens, place, '[', ']')
            steps.append(self.step(place + 1, behind - 1))
            place = behind
        return place, steps

    def _has_neighbours(self, begin, end):
        """True if neighbouring threads access the same or adjacent elements of each array between two places. Elements
        that any order of loops accesses alike do not count: those at indices from memory, and those copied to
        __shared__ arrays."""
        return bool(self._find_neighbours(begin, end))

    def _find_neighbours(self, begin, end):
        """Returns True if _has_neighbours() is true and the code differs between threads, False if the code is the same
        for all threads, and None if neighbouring threads access other elements."""
        varies = has_gathers = has_neighbours = False
        for at in range(begin, end):
            variable = self._variables.of.get(at)
            if variable is None:
                continue
            is_own = variable.is_array and not variable.is_shared and not variable.is_constant
            if is_own and not variable.is_column or variable.is_reference:
                return None
            is_varying = self._layout.differs(variable) or not variable.is_block and not variable.is_shared
            if is_varying and variable.is_pointer:
                return None
            varies |= is_varying
            place, steps = self._steps_at(at)
            if not is_own and (None in steps or 1 in steps[:-1]) and self._is_read(at, place) and (
                    steps == [None] and self._is_gathered(at + 2, place - 1) or self._is_copied(variable, at, begin)):
                has_gathers = True
            elif None in steps or 1 in (steps if is_own else steps[:-1]):
                return None
            has_neighbours |= 1 in steps or is_own
        return None if has_gathers and not has_neighbours else varies

    def _is_read(self, begin, end):
        """True if the array element between two places is read and not written."""
        return self._text(begin - 1) != '&' and self._text(begin - 2) + self._text(begin - 1) not in ('++', '--') and \
            self._text(end) != '=' and not is_update([self._text(end), self._text(end + 1)])

    def _is_copied(self, variable, at, begin):
        """True if the array element at `at` is copied from the caller's array to a __shared__ array, in a loop without
        inner loops."""
        first = next((i for i in range(at, begin, -1) if self._text(i - 1) in (';', ')', '{', '}') and
                      self._text(i + 1) == '['), begin)
        changed = self._variables.of.get(first)
        return variable.is_shared and self._text(at - 1) == '=' and changed is not None and \
            not (changed.is_shared or changed.is_array) and all(self._text(i) != 'for' for i in range(begin + 1, at))

    def _is_gathered(self, begin, end, depth=0):
        """True if the index between two places depends on an array element that differs from thread to thread."""
        for at in range(begin, end):
            variable = self._variables.of.get(at)
            if variable is None:
                continue
            if self._text(at + 1) == '[' and self.step(at + 2, matching(self._tokens, at + 1, '[', ']') - 1) != 0:
                return True
            if depth < 3 and variable.value and not variable.writes and self._is_gathered(*variable.value, depth + 1):
                return True
        return False

    def step(self, begin, end):
        """Returns the growth of an integer expression from thread to thread along x: 0, 1, or None for any other
        growth."""
        begin, end = self._strip(begin, end)
        total, sign, first, depth = 0, 1, begin, 0
        question = self._find_outside(begin, end, '?')
        if question < end:
            return self._step_of_choice(begin, question, end)
        for at in range(begin, end + 1):
            text = self._text(at) if at < end else '+'
            if depth == 0 and text in ('+', '-') and at > first:
                step = self._step_of_term(first, at)
                if step is None or sign < 0 and step:
                    return None
                total += step
                sign, first = (1 if text == '+' else -1), at + 1
            depth += (text in '([') - (text in ')]') if at < end else 0
        return total if total <= 1 else None

    def _find_outside(self, begin, end, text):
        """Returns the first place of the operator `text` outside of parentheses; `end` if there is none."""
        depth = 0
        for at in range(begin, end):
            if depth == 0 and self._text(at) == text:
                return at
            depth += (self._text(at) in '([?') - (self._text(at) in ')]:')
        return end

    def _step_of_choice(self, begin, question, end):
        """Returns the step of a ?: whose condition compares an index, or is the same for a row of threads; None for
        others."""
        colon = self._find_outside(question + 1, end, ':')
        steps = [self.step(question + 1, colon), self.step(colon + 1, end)] if colon < end else [None]
        is_known = None not in steps and (self._is_of_row(begin, question) or any(
            part.bounds for part in self.find_parts(*self._strip(begin, question), is_rough=True)))
        return max(steps) if is_known else None

    def _step_of_term(self, begin, end):
        while self._text(begin) == '(' and matching(self._tokens, begin, '(', ')') == end:
            return self.step(begin + 1, end - 1)
        if self._text(begin) == '(' and not self._variables.ends_value(matching(self._tokens, begin, '(', ')') - 1):
            return self._step_of_term(matching(self._tokens, begin, '(', ')'), end)
        if self._is_lane(begin, end):
            return 1
        if all(self.step_of_name(at) == 0 for at in range(begin, end)):
            return 0
        is_index = end == begin + 1 or end == begin + 3 and self._text(begin) == 'threadIdx'
        return self.step_of_name(begin) if is_index else None

    def step_of_name(self, at):
        """Returns the growth of the name at `at` from thread to thread along x: 0, 1, or None for any other growth."""
        token, warps = self._tokens[at], self._layout.warps
        if token.kind != 'identifier' or self._text(at - 1) == '.' or warps is not None and at in warps.uniform:
            return 0
        if token.text == 'threadIdx':
            return int(self._text(at + 2) == 'x') if self._text(at + 1) == '.' else None
        variable = self._variables.of.get(at)
        if variable is None:
            return None if self._text(at + 1) == '(' and token.text not in ('min', 'max', 'sizeof') else 0
        stride = self._layout.strides.get(variable)
        if stride is not None:
            return 1 if stride.is_straight else None
        if (key := (variable, warps is None, self._layout.is_of_warp(variable))) not in self._steps:
            self._steps[key] = None             # ends the recursion if the value contains the variable
            self._steps[key] = self._step_of(variable)
        return self._steps[key]

    def _step_of(self, variable):
        if variable.is_shared:
            return None
        if variable.is_block and not self._layout.differs(variable):
            return 0
        of = self._variables.of
        if not all(end_of_advance(self._tokens, variable, at, self._layout, of) for at in variable.writes) or \
                not variable.is_integer or variable.value is None:
            return 0 if not variable.is_block and self._is_counter(variable) else None
        return self.step(*variable.value)

    def _is_counter(self, variable):
        """True for a loop's variable that has the same values in all threads."""
        statement = variable.statement
        return statement is not None and statement.kind == 'for' and variable.value is not None and \
            self.step(*variable.value) == 0 and not self._layout.tell(*variable.value) and all(
                statement.parts[2][0] <= at < statement.parts[2][1] for at in variable.writes)
