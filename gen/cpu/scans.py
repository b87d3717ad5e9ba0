"""Finds loops in which the threads of a block scan or reduce an array by a known algorithm.

    for (int k = 1; k < 256; k *= 2) {          cf__scan_steps<CF__SUM, 256, 8, true>(&s[0]);
        int v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }

The symbolic Run of a loop has to leave the same term in each element as one of the algorithms below, with the same
order of additions, so that floats have the same values, too. Any other loop is not changed."""

from dataclasses import dataclass

from cpu.ranges import type_of, WIDE
from cpu.terms import Run, Unknown
from tokens.brackets import matching
from tokens.lexer import TokenError

# Most statements that threads run symbolically in a kernel, and most tokens of a loop that is read.
_MOST_RUNS, _MOST_TOKENS = 80000, 300
_NAMES = {'+': 'CF__SUM', 'min': 'CF__MIN', 'max': 'CF__MAX'}
# Maps a loop that can follow the loop of cf__scan_up() to a template argument. For integers, one pass then does the
# work of both loops.
_BEHIND_UP = {'down': 'CF__BEFORE_DOWN', 'spread': 'CF__BEFORE_SPREAD'}
# The words by which control may leave the loop around a statement.
_LEAVES = {'break', 'continue', 'goto', 'return', 'switch', 'asm'}


@dataclass(eq=False)
class _Scan:
    """A loop whose algorithm is known. `arguments`: template arguments of the library's function, after the operation;
    `place`: result of Run.find_place(); `ends`: text that sets variables to their values after the loop."""
    run: Run
    name: str
    operation: str
    arguments: list
    place: tuple
    ends: str

    def spell(self, other):
        """Returns the call that replaces the loop. `other`: the _Scan of a loop that this call replaces, too, or
        None."""
        array, reals = self.run.array.name, self.run.has_reals or other is not None and other.run.has_reals
        types = ''.join(f', {t}' for t in sorted(self.run.types.union(other.run.types if other is not None else ())))
        base, count, shift = self.place
        arguments = [self.operation, *self.arguments]
        if other is not None:
            arguments.append(_BEHIND_UP[other.name] if self.name == 'up' else 'true')
        call, first = f"cf__scan_{self.name}<{', '.join(arguments)}>", f'&{array}[{base}]'
        call = f'cf__without_gaps<{count}, {shift}>({first}, [](auto *cf__own) CF__INLINE CF__OF_BLOCK {{ ' \
            f'{call}(cf__own); }});' if shift else f'{call}({first});'
        return (f'if constexpr (cf__are_sums<{self.operation}, {str(reals).lower()}, decltype({array}[0]){types}>) '
                f'{{ {call}{self.ends} }} else ')


class Scans:
    """Finds the loops of one kernel. `sizes`: threads of a block along each axis, 0 or () if unknown; `found`: maps a
    loop's Statement to the call that replaces the loop. The loop runs if elements and sums differ in type."""

    def __init__(self, tokens, statements, variables, meanings, layout, sizes):
        self.tokens, self.variables, self.meanings, self.layout = tokens, variables, meanings, layout
        self.found, self._left = {}, _MOST_RUNS
        self._count, *others = sizes or (0,)
        if self._count < 2 or any(n != 1 for n in others) or layout.warps is not None or layout.masked:
            return
        # Places of statements that only change a variable.
        self._plain = set()
        for statement in (s for t in statements for s in t.walk()):
            if statement.kind == 'expression':
                self._plain.add(statement.begin)
            elif statement.kind == 'for':
                self._plain.update((statement.parts[0][0], statement.parts[2][0]))
        loops = [s for t in statements for s in t.walk() if self._may_be_scan(s)]
        self._used = {self.variables.of[at] for s in loops for at in range(s.begin, s.end) if at in self.variables.of}
        if loops:
            self._walk(statements, {})

    def _spend(self):
        self._left -= 1
        if self._left < 0:
            raise Unknown

    # ---- Variables around loops

    def _walk(self, statements, known):
        """Walks over statements in order. `known`: maps a variable to its number in all threads, or to a tuple with the
        number of each thread."""
        before = None       # (_Scan of the last loop whose algorithm is known, index of this loop in `statements`)
        for number, statement in enumerate(statements):
            after, scan = self._find_numbers(statement, known), None
            try:
                scan, left = self._read_loop(statement, known, before and before[0]) if \
                    self._may_be_scan(statement) else (None, None)
            except (Unknown, TokenError):
                pass
            if scan is not None:
                other = before and before[0]
                is_pair = other is not None and other.name == 'up' and scan.name in _BEHIND_UP and (
                    other.run.array, other.operation, other.place) == (scan.run.array, scan.operation, scan.place) and \
                    self._leaves_others(scan, statements[before[1] + 1:number], known)
                if is_pair:
                    self.found[statements[before[1]]] = other.spell(scan)
                self.found[statement] = scan.spell(other if is_pair else None)
                before = scan, number
            for variable in [v for v in known if any(statement.begin <= at < statement.end for at in v.writes)]:
                del known[variable]
            if scan is None:
                for child in [statement] if statement.kind == 'block' else statement.children:
                    self._walk(child.children if child.kind == 'block' else [child], dict(known))
            known.update(after if scan is None else left)

    def _leaves_others(self, scan, statements, known):
        """True if the statements access no element of a scanned array but the last one."""
        array, written = scan.run.array, [(s.begin, s.end) for s in statements]
        if not array.is_array or array.is_static:
            return False
        fixed = {v: n for v, n in known.items() if not any(b <= at < e for b, e in written for at in v.writes)}
        for statement in statements:
            if self.layout.is_barrier(statement):
                continue
            for at in range(statement.begin, statement.end):
                variable, token = self.variables.of.get(at), self.tokens[at]
                if token.text in _LEAVES or token.text == '->' or variable is None and token.kind == 'identifier' and \
                        token.text != 'if' and self.tokens[at + 1].text == '(':
                    return False
                if variable is None:
                    continue
                if variable is not array:
                    if not (variable.is_number and not (variable.is_array or variable.is_pointer or
                                                        variable.is_reference) or
                            variable in self.variables.parameters and not variable.writes):
                        return False
                    continue
                if self.tokens[at + 1].text != '[' or self.tokens[at - 1].text == '&':
                    return False
                close = matching(self.tokens, at + 1, '[', ']')
                try:
                    index = Run(self, self._count, fixed, self._spend).number_of(at + 2, close - 1)
                except (Unknown, TokenError):
                    return False
                if index != _place(scan.place, scan.place[1] - 1):
                    return False
        return True

    def _find_numbers(self, statement, known):
        """Returns a map from the variables that a statement assigns to their numbers: one number for all threads, or a
        tuple."""
        changes = [(v, None) for v in self.variables.declared_by(statement) if v.value is not None] \
            if statement.kind == 'declaration' else []
        if statement.kind == 'expression' and statement.begin in self.variables.of:
            changes = [(self.variables.of[statement.begin], (statement.begin, statement.end - 1))]
        found = {}
        for variable, place in changes:
            try:
                if variable.writes and variable in self._used and self._is_tame(variable):
                    found[variable] = Run(self, self._count, known, self._spend).numbers_of(variable, place)
            except (Unknown, TokenError):
                pass
        return found

    def _is_tame(self, variable):
        """True for an integer that is changed only by statements without other effects."""
        return variable.is_integer and type_of(variable) in WIDE and variable.escape is None and not (
            variable.is_static or variable.is_volatile or variable.is_shared or variable.is_array) and \
            self._plain.issuperset(variable.writes)

    # ---- Loops

    def _may_be_scan(self, statement):
        """True for a loop around regions that all threads run, and whose step is a shift or a product."""
        if statement.kind != 'for' or statement.begin not in self.layout.loops or \
                statement.end - statement.begin > _MOST_TOKENS or not self.layout.has_barrier(statement):
            return False
        step = [self.tokens[at].text for at in range(*statement.parts[2])]
        regions = [r for r in self.layout.regions if statement.begin <= r.begin < statement.end]
        return not {'*', '/', '<', '>'}.isdisjoint(step) and not any(
            g.place[0] < statement.begin for r in regions for g in r.guards)

    def _read_loop(self, statement, known, before):
        """Returns the _Scan of a loop, and a map from variables around the loop to their numbers after it; raises
        Unknown for other loops. `before`: the last _Scan, or None."""
        run = Run(self, self._count, known, self._spend)
        run.run(statement)
        left = {}
        for variable in self.variables.all:
            places = [at for at in variable.writes if statement.begin <= at < statement.end]
            if not places or variable in (run.array, *self.variables.declared_by(statement)) or \
                    variable.statement is not None and statement.begin <= variable.statement.begin < statement.end:
                continue
            if variable in self.layout.varying:
                if any(not statement.begin <= at < statement.end for at in variable.uses):
                    raise Unknown
            elif not self._is_tame(variable):
                raise Unknown
            else:
                left[variable] = run.left_in(variable)
        ends = ''.join(f' {v.name} = {n};' for v, n in left.items())
        # The loop that spreads sums accesses no outermost element. The place of all elements is then that of the loop
        # before.
        places = [before.place] if before is not None and run.uses_only(before.run) else []
        places += [place for place in [run.find_place()] if place is not None and place not in places]
        for place in places:
            algorithm = _find_algorithm(run, place)
            if algorithm is not None:
                return _Scan(run, *algorithm, place, ends), left
        raise Unknown


def _place(place, i):
    """Returns the index of element number `i`. `place`: result of Run.find_place()."""
    base, _, shift = place
    return base + i + (i >> shift if shift else 0)


def _find_algorithm(run, place):
    """Returns (name of the library's function with the effect of a run, operation, template arguments); None if there
    is none."""
    _, count, _ = place
    terms, first = run.terms, [run.terms.element(_place(place, i)) for i in range(count)]
    values = [run.memory.get(_place(place, i)) or own for i, own in enumerate(first)]
    changed = next((i for i in range(count) if values[i] is not first[i]), 0)
    used = terms.operators()
    for operation, name in [(o, n) for o, n in _NAMES.items() if o in used]:
        # An element without a predecessor may stay, or may get a 0 added. In a third form, only the elements from the
        # first changed one on change.
        for before, has_zeros in ((0, False), (0, True), (changed, False))[:3 if operation == '+' else 1]:
            own = first
            for steps in range(1, count.bit_length() + 1):
                if before and 1 << steps - 1 > before:
                    break
                own = _step(terms, operation, own, 1 << steps - 1, has_zeros, before)
                if own == values:
                    return 'steps', name, [str(count), str(steps), str(has_zeros).lower(), *[str(before)] * (
                        before > 0)]
        if count & count - 1 == 0:
            for algorithm, change in (('up', _rise), ('down', _fall), ('spread', _spread), ('fold', _fold)):
                if values == change(terms, operation, list(first)):
                    return algorithm, name, [str(count)]
    return None


def _step(terms, operation, values, distance, has_zeros, before):
    """Returns the values after one step: each value plus the value `distance` before it. `has_zeros`: a value without
    such a predecessor gets 0 added; `before`: number of first values that stay."""
    return [terms.combine(operation, v, values[i - distance]) if i >= max(distance, before) else
            terms.combine(operation, v, 0) if has_zeros else v for i, v in enumerate(values)]


def _rise(terms, operation, values):
    """Returns the values after an up-sweep: the last element of a part gets the part's sum. The parts double in
    length."""
    count, distance = len(values), 1
    while distance < count:
        for i in range(2 * distance - 1, count, 2 * distance):
            values[i] = terms.combine(operation, values[i], values[i - distance])
        distance *= 2
    return values


def _fold(terms, operation, values):
    """Returns the values after an up-sweep that leaves the sum of a part in the part's first element."""
    count, distance = len(values), 1
    while distance < count:
        for i in range(0, count, 2 * distance):
            values[i] = terms.combine(operation, values[i], values[i + distance])
        distance *= 2
    return values


def _fall(terms, operation, values):
    """Returns the values after a down-sweep. The first half of each part gets the part's last value, and the second
    half gets this value plus the first half's. The parts halve in length."""
    count, distance = len(values), len(values) // 2
    while distance:
        for i in range(2 * distance - 1, count, 2 * distance):
            values[i - distance], values[i] = values[i], terms.combine(operation, values[i], values[i - distance])
        distance //= 2
    return values


def _spread(terms, operation, values):
    """Returns the values after the sum at the end of each part was added to the middle of the next part. The parts
    halve in length."""
    count, distance = len(values), len(values) // 4
    while distance:
        for i in range(3 * distance - 1, count, 2 * distance):
            values[i] = terms.combine(operation, values[i], values[i - distance])
        distance //= 2
    return values
