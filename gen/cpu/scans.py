"""Finds loops in whose steps the threads of a block add elements of an array in an order that is known.

    for (int k = 1; k < 256; k *= 2) {          cf__scan_steps<CF__SUM, 256, 8, true>(&s[0]);
        int v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }

A Run of such a loop has to leave the same term in each element as one of the algorithms below, with the same brackets,
so that floats have the same values, too. A loop that does anything else stays as it is."""

from cpu.innermost import type_of, WIDE
from cpu.terms import Run, Unknown
from tokens.lexer import TokenError

# Statements that threads run, and tokens of a loop.
_MOST_RUNS, _MOST_TOKENS = 80000, 300
_NAMES = {'+': 'CF__SUM', 'min': 'CF__MIN', 'max': 'CF__MAX'}


class Scans:
    """The loops of one kernel. `sizes`: threads of a block along each axis, 0 or () if they are unknown. `found`: the
    text in front of each, by Statement. The compiler takes the loop itself if the elements have another type than their
    sums."""

    def __init__(self, tokens, statements, variables, meanings, layout, sizes):
        self.tokens, self.variables, self.meanings, self.layout = tokens, variables, meanings, layout
        self.found, self._left = {}, _MOST_RUNS
        self._count, *others = sizes or (0,)
        if self._count < 2 or any(n != 1 for n in others) or layout.warps is not None or layout.masked:
            return
        # Places where statements of their own change a variable.
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
        """Walks over statements in order. `known`: numbers that all threads have in variables."""
        for statement in statements:
            after = self._find_numbers(statement, known)
            try:
                left = self._read_loop(statement, known) if self._may_be_scan(statement) else None
            except (Unknown, TokenError):
                left = None
            for variable in [v for v in known if any(statement.begin <= at < statement.end for at in v.writes)]:
                del known[variable]
            if left is None:
                for child in [statement] if statement.kind == 'block' else statement.children:
                    self._walk(child.children if child.kind == 'block' else [child], dict(known))
            known.update(left or after)

    def _find_numbers(self, statement, known):
        """Returns the numbers that a statement gives to variables."""
        values = {v: v.value for v in self.variables.declared_by(statement)} if statement.kind == 'declaration' else {}
        if self.variables.find_value(statement) is not None:
            values[self.variables.of[statement.begin]] = self.variables.find_value(statement)
        found = {}
        for variable, value in values.items():
            try:
                if value is not None and variable.writes and variable in self._used and self._is_tame(variable):
                    found[variable] = Run(self, self._count, known, self._spend).number_of(*value)
            except (Unknown, TokenError):
                pass
        return found

    def _is_tame(self, variable):
        """True for an integer that all threads share and that only statements of their own change."""
        return variable.is_integer and type_of(variable) in WIDE and variable.escape is None and not (
            variable.is_static or variable.is_volatile or variable.is_shared) and \
            variable not in self.layout.varying and self._plain.issuperset(variable.writes)

    # ---- Loops

    def _may_be_scan(self, statement):
        """True for a loop of all threads around regions whose step is a shift or a product."""
        if statement.kind != 'for' or statement.begin not in self.layout.loops or \
                statement.end - statement.begin > _MOST_TOKENS or not self.layout.has_barrier(statement):
            return False
        step = [self.tokens[at].text for at in range(*statement.parts[2])]
        regions = [r for r in self.layout.regions if statement.begin <= r.begin < statement.end]
        return not {'*', '/', '<', '>'}.isdisjoint(step) and not any(
            g.place[0] < statement.begin for r in regions for g in r.guards)

    def _read_loop(self, statement, known):
        """Notes the text for a loop that is known, and returns the numbers that it leaves in variables around it."""
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
        call, operation = _find_algorithm(run, self._count)
        name, types = run.array.name, ''.join(f', {t}' for t in sorted(run.types))
        ends = ''.join(f' {v.name} = {n};' for v, n in left.items())
        self.found[statement] = (f'if constexpr (cf__are_sums<{operation}, {str(run.has_reals).lower()}, '
                                 f'decltype({name}[0]){types}>) {{ {call}(&{name}[0]);{ends} }} else ')
        return left


def _find_algorithm(run, threads):
    """Returns the function that does what a run has done, and the operation."""
    count = run.count_elements()
    values = [run.memory.get(i) or run.terms.element(i) for i in range(count)]
    for operation, name in _NAMES.items():
        for has_zeros in (False, True)[:1 + (operation == '+')]:
            own = [run.terms.element(i) for i in range(count)]
            for steps in range(1, threads.bit_length() + 1):
                own = _step(run.terms, operation, own, 1 << steps - 1, has_zeros)
                if own == values and count == threads:
                    return f'cf__scan_steps<{name}, {count}, {steps}, {str(has_zeros).lower()}>', name
        if count & count - 1 == 0:
            if values == _rise(run.terms, operation, count):
                return f'cf__scan_up<{name}, {count}>', name
            if values == _fall(run.terms, operation, count):
                return f'cf__scan_down<{name}, {count}>', name
    raise Unknown


def _step(terms, operation, values, distance, has_zeros):
    """Returns each value plus the one at a distance before it. `has_zeros`: 0 is added to those without one."""
    return [terms.combine(operation, v, values[i - distance]) if i >= distance else
            terms.combine(operation, v, 0) if has_zeros else v for i, v in enumerate(values)]


def _rise(terms, operation, count):
    """Returns the sums of parts of twice the length, again and again, in their last elements."""
    values, distance = [terms.element(i) for i in range(count)], 1
    while distance < count:
        for i in range(2 * distance - 1, count, 2 * distance):
            values[i] = terms.combine(operation, values[i], values[i - distance])
        distance *= 2
    return values


def _fall(terms, operation, count):
    """Returns what remains if the first half of each part gets the last value, and the second half that plus the one of
    the first half; then parts of half the length."""
    values, distance = [terms.element(i) for i in range(count)], count // 2
    while distance:
        for i in range(2 * distance - 1, count, 2 * distance):
            values[i - distance], values[i] = values[i], terms.combine(operation, values[i], values[i - distance])
        distance //= 2
    return values
