"""Runs a loop of a block's threads symbolically, to find the result of each array element. Values that threadIdx and
constants determine are numbers; the values that elements have before the loop are terms."""

from collections import defaultdict

from cpu.ranges import WIDE
from cpu.threads import LEVELS
from tokens.brackets import is_update, matching
from tokens.lexer import integer_of

_CALCULATE = {
    '|': lambda a, b: a | b, '^': lambda a, b: a ^ b, '&': lambda a, b: a & b, '==': lambda a, b: int(a == b),
    '!=': lambda a, b: int(a != b), '<': lambda a, b: int(a < b), '>': lambda a, b: int(a > b),
    '<=': lambda a, b: int(a <= b), '>=': lambda a, b: int(a >= b), '<<': lambda a, b: a << b if b < 31 else -1,
    '>>': lambda a, b: a >> b if b < 31 else 0, '+': lambda a, b: a + b, '-': lambda a, b: a - b,
    '*': lambda a, b: a * b, '/': lambda a, b: a // b if b else -1, '%': lambda a, b: a % b if b else -1,
    'min': min, 'max': max}
_COMBINE = ('+', 'min', 'max')
_ZEROS = {'0.0', '0.0f', '0.f', '0.', '.0', '.0f'}
_MANY = -1
_MOST_TURNS, _MOST_NESTED = 40, 20


class Unknown(Exception):
    """Raised for code of an unknown form, and for loops that are neither a scan nor a reduction."""


class Term:
    """The value that an element has before the loop, or the result of an operation on two terms."""
    __slots__ = ('number',)

    def __init__(self, number):
        self.number = number


class Terms:
    """All terms of one symbolic run. Equal terms are one object, whatever the order of their operands."""

    def __init__(self):
        self._all = {}

    def element(self, index):
        return self._get(index)

    def combine(self, operator, left, right):
        if isinstance(right, int) or isinstance(left, Term) and left.number > right.number:
            left, right = right, left
        return self._get((operator, left, right))

    def operators(self):
        """Returns the operators of all terms as a set. Terms of single elements have none."""
        return {key[0] for key in self._all if isinstance(key, tuple)}

    def _get(self, key):
        found = self._all.get(key)
        if found is None:
            found = self._all[key] = Term(len(self._all))
        return found


class Run:
    """A symbolic run of a loop. `kernel`: holds tokens, Variables, Meanings and Layout; `count`: number of threads
    along x; `known`: maps variables to numbers that all threads share; `spend`: called for each statement of a
    thread."""

    def __init__(self, kernel, count, known, spend):
        self._kernel, self._count, self._known, self._spend = kernel, count, known, spend
        self._of = kernel.variables.of
        self.terms, self.memory, self.array = Terms(), {}, None
        self.types, self.has_reals = set(), False       # types of variables that are no indices; True if 0.0 occurs
        self._locals = defaultdict(dict)
        self._readers, self._writers, self._touched = {}, {}, set()
        self._nested = 0

    # ---- Statements

    def run(self, statement):
        """Runs a loop for all threads. Then `memory` maps the index of each changed array element to its term."""
        threads, kernel = range(self._count), self._kernel
        (first, end), condition, step = statement.parts
        goes, steps, items = self._read(kernel.tokens, *condition), self._read_change(*step), []
        self._flatten(statement.children[0], items)
        declared = kernel.variables.declared_by(statement)
        begin = [self._read_declared(v) for v in declared] if declared else [self._read_change(first, end)] * (
            first < end)
        self._each(begin, threads)
        turns = 0
        while goes(0):
            turns += 1
            if turns > _MOST_TURNS:
                raise Unknown
            for item in items:
                if item is None:
                    self._readers, self._writers = {}, {}
                else:
                    self._each([item], threads)
            self._each([steps], threads)

    def find_place(self):
        """Returns (index of the first element, number of elements, distance of gaps) for the elements that the run has
        accessed; None for other patterns and for a single element. A gap of one element follows every `distance`
        elements, a power of two; the distance 0 means that there are no gaps."""
        found, count = sorted(self._touched), len(self._touched)
        if count > 1 and found[-1] - found[0] == count - 1:
            return found[0], count, 0
        for shift in range(1, count.bit_length()):
            if found == [i + (i >> shift) for i in range(count)]:
                return 0, count, shift
        return None

    def uses_only(self, other):
        """True if this run has accessed only elements that another run has accessed, too."""
        return self.array is other.array and self._touched <= other._touched

    def left_in(self, variable):
        """Returns the number that a variable holds in all threads; raises Unknown if it differs."""
        values = {self._locals[t].get(variable) for t in range(self._count)}
        if len(values) != 1 or not isinstance(next(iter(values)), int):
            raise Unknown
        return values.pop()

    def number_of(self, begin, end):
        """Returns the number that an expression has in all threads; raises Unknown if it differs."""
        value = self._read(self._kernel.tokens, begin, end)
        values = {value(t) for t in range(self._count)}
        if len(values) != 1 or not isinstance(next(iter(values)), int):
            raise Unknown
        return values.pop()

    def numbers_of(self, variable, place):
        """Returns the numbers that a variable holds in the threads after its declaration, or after the assignment at
        `place` if this is not None. Equal numbers are returned as one."""
        self._each([self._read_declared(variable) if place is None else self._read_change(*place)], range(self._count))
        values = tuple(self._number(self._locals[t].get(variable)) for t in range(self._count))
        return values[0] if len(set(values)) == 1 else values

    def _each(self, changes, threads):
        for change in changes:
            for t in threads:
                change(t)

    def _flatten(self, statement, items):
        """Appends the statements that a block's threads run to `items`, in order. None in this list means a barrier."""
        if statement.kind == 'expression' and self._kernel.layout.is_barrier(statement):
            items.append(None)
        elif statement.kind == 'block':
            for child in statement.children:
                self._flatten(child, items)
        else:
            items.append(self._read_statement(statement))

    def _read_statement(self, statement):
        kind = statement.kind
        if kind == 'empty':
            return lambda t: None
        if kind == 'declaration':
            parts = [self._read_declared(v) for v in self._kernel.variables.declared_by(statement)]
        elif kind == 'expression':
            return self._read_change(statement.begin, statement.end - 1)
        elif kind == 'block':
            parts = [self._read_statement(child) for child in statement.children]
        elif kind == 'if':
            return self._read_choice(statement)
        else:
            raise Unknown

        def run(t):
            for part in parts:
                part(t)
        return run

    def _read_choice(self, statement):
        condition = self._read(self._kernel.tokens, *statement.parts[0])
        branches = [self._read_statement(child) for child in statement.children]

        def run(t):
            self._spend()
            holds = condition(t)
            if not isinstance(holds, int):
                raise Unknown
            if holds:
                branches[0](t)
            elif len(branches) > 1:
                branches[1](t)
        return run

    def _read_declared(self, variable):
        self._check(variable)
        if variable.value is None:
            return lambda t: self._locals[t].pop(variable, None)
        if self._kernel.tokens[variable.value[0] - 1].text != '=':
            raise Unknown
        return self._assigning(variable, self._read(self._kernel.tokens, *variable.value))

    def _check(self, variable):
        """Raises Unknown for a variable that other code may change through an address or a reference."""
        if variable is None or variable.is_pointer or variable.is_array or variable.is_reference or \
                variable.is_volatile or variable.is_static or variable.is_shared or variable.escape is not None:
            raise Unknown
        if _type_of(variable) not in WIDE:
            if variable.is_auto:
                raise Unknown
            self.types.add(_type_of(variable))

    def _assigning(self, variable, value):
        """Returns a function that assigns the result of `value` to a variable in a thread."""
        name = _type_of(variable)

        def assign(t):
            self._spend()
            own = value(t)
            if isinstance(own, Term):
                self.types.add(name)
            elif name not in WIDE and own != 0:
                raise Unknown
            self._locals[t][variable] = own
        return assign

    def _read_change(self, begin, end):
        """Returns a function that makes the assignment between two places in a thread."""
        tokens, at = self._kernel.tokens, begin
        variable = self._of.get(begin)
        index = None
        if variable is None or begin >= end:
            raise Unknown
        at += 1
        if tokens[at].text == '[':
            behind = matching(tokens, at, '[', ']')
            index, at = self._read(tokens, at + 1, behind - 1), behind
            self._check_array(variable)
        else:
            self._check(variable)
        texts = [t.text for t in tokens[at:min(at + 2, end)]]
        if texts[:1] == ['=']:
            value = self._read(tokens, at + 1, end)
        elif is_update(texts) and texts[1] != texts[0]:
            operator = texts[0] * 2 if texts[0] in '<>' else texts[0]
            value = self._binary(operator, self._read(tokens, begin, at), self._read(tokens, at + 2, end))
        else:
            raise Unknown
        if index is None:
            return self._assigning(variable, value)
        return lambda t: self._store(self._number(index(t)), t, value(t))

    # ---- Memory

    def _check_array(self, variable):
        is_row = variable.is_array and variable.is_shared and variable.count_extents() == 1
        is_pointer = variable.is_pointer and not variable.writes and variable not in self._kernel.layout.varying and \
            sum(t.text == '*' for t in variable.declarator) == 1
        if self.array not in (None, variable) or not (is_row or is_pointer) or variable.is_volatile or \
                variable.is_reference:
            raise Unknown
        self.array = variable

    def _load(self, index, t):
        if self._writers.get(index, t) != t:
            raise Unknown
        self._touched.add(index)
        self._readers[index] = t if self._readers.get(index, t) == t else _MANY
        return self.memory[index] if index in self.memory else self.terms.element(index)

    def _store(self, index, t, value):
        self._spend()
        if self._writers.get(index, t) != t or self._readers.get(index, t) != t or not isinstance(value, Term):
            raise Unknown
        self._touched.add(index)
        self._writers[index] = t
        self.memory[index] = value

    # ---- Expressions

    def _number(self, value):
        """Raises Unknown unless a number has the same value in all integer types of 32 or more bits."""
        if not isinstance(value, int) or not 0 <= value < 1 << 31:
            raise Unknown
        return value

    def _read(self, tokens, begin, end):
        """Returns a function that computes the value of an expression in a thread."""
        self._nested += 1
        if begin >= end or self._nested > _MOST_NESTED:
            raise Unknown
        found, at = self._read_ternary(tokens, begin, end)
        if at != end:
            raise Unknown
        self._nested -= 1
        return found

    def _read_ternary(self, tokens, at, end):
        condition, at = self._read_binary(tokens, at, end, 0)
        if at >= end or tokens[at].text != '?':
            return condition, at
        first, at = self._read_ternary(tokens, at + 1, end)
        if at >= end or tokens[at].text != ':':
            raise Unknown
        second, at = self._read_ternary(tokens, at + 1, end)
        return lambda t: first(t) if self._number(condition(t)) else second(t), at

    def _read_binary(self, tokens, at, end, least):
        left, at = self._read_operand(tokens, at, end)
        while at < end:
            operator = tokens[at].text
            is_shift = operator in ('<', '>') and at + 1 < end and tokens[at + 1].text == operator
            operator *= 1 + is_shift
            if LEVELS.get(operator, -1) < least:
                break
            right, at = self._read_binary(tokens, at + 1 + is_shift, end, LEVELS[operator] + 1)
            left = self._binary(operator, left, right)
        return left, at

    def _binary(self, operator, left, right):
        if operator == '&&':
            return lambda t: int(bool(self._number(left(t))) and bool(self._number(right(t))))
        if operator == '||':
            return lambda t: int(bool(self._number(left(t))) or bool(self._number(right(t))))
        calculate = _CALCULATE.get(operator)

        def value(t):
            a, b = left(t), right(t)
            if isinstance(a, int) and isinstance(b, int):
                return self._number(calculate(a, b))
            if operator not in _COMBINE:
                raise Unknown
            return self.terms.combine(operator, a, b)
        return value

    def _read_operand(self, tokens, at, end):
        token = tokens[at] if at < end else None
        behind = tokens[at + 1].text if at + 1 < end else ''
        if token is None:
            raise Unknown
        if token.text == '(':
            close = matching(tokens, at, '(', ')')
            return self._read(tokens, at + 1, close - 1), close
        if token.kind == 'number':
            is_real = token.text.lower() in _ZEROS
            self.has_reals |= is_real
            number = 0 if is_real else self._number(integer_of(token.text))
            return lambda t: number, at + 1
        if token.text in ('threadIdx', 'blockDim') and behind == '.':
            axis, is_index = tokens[at + 2].text, token.text == 'threadIdx'
            count = self._count if axis == 'x' else 1
            return (lambda t: t if axis == 'x' else 0) if is_index else lambda t: count, at + 3
        if token.kind != 'identifier':
            raise Unknown
        if token.text in ('min', 'max') and behind == '(':
            return self._read_call(tokens, at)
        variable = self._of.get(at) if tokens is self._kernel.tokens else None
        if variable is None:
            number = self._find_constant(token.text)
            return lambda t: number, at + 1
        if behind == '[':
            self._check_array(variable)
            close = matching(tokens, at + 1, '[', ']')
            index = self._read(tokens, at + 2, close - 1)
            return lambda t: self._load(self._number(index(t)), t), close
        self._check(variable)
        initial = []        # the value of the declaration, for a variable that is not assigned elsewhere

        def value(t):
            own = self._locals[t]
            if variable in own:
                return own[variable]
            if variable in self._known:
                known = self._known[variable]
                return known[t] if isinstance(known, tuple) else known
            if not initial:
                initial.append(self._read_initial(variable))
            return initial[0](t)
        return value, at + 1

    def _read_initial(self, variable):
        if variable.writes or variable.value is None or not variable.is_integer or _type_of(variable) not in WIDE or \
                self._kernel.tokens[variable.value[0] - 1].text != '=':
            raise Unknown
        # The variables in this value must not have changed since the declaration.
        for at in range(*variable.value):
            used = self._of.get(at)
            if used is not None and (used.writes or used.is_array or used.is_pointer):
                raise Unknown
        return self._read(self._kernel.tokens, *variable.value)

    def _read_call(self, tokens, at):
        """Reads min() or max() of two operands, each a single value, since the result of an operation might have
        another type."""
        close = matching(tokens, at + 1, '(', ')')
        left, comma = self._read_operand(tokens, at + 2, close - 1)
        if comma >= close or tokens[comma].text != ',':
            raise Unknown
        right, behind = self._read_operand(tokens, comma + 1, close - 1)
        if behind != close - 1 or '(' in (tokens[at + 2].text, tokens[comma + 1].text):
            raise Unknown
        return self._binary(tokens[at].text, left, right), close

    def _find_constant(self, name):
        head = self._kernel.meanings.find_constant(name) or ()
        texts = [t.text for t in head]
        at = texts.index('=') if '=' in texts else 0
        if at < 2 or texts[at - 1] != name or texts[-1] != ';' or {'const', 'constexpr'}.isdisjoint(texts[:at]) or \
                ' '.join(t for t in texts[:at - 1] if t not in _QUALIFIERS) not in WIDE:
            raise Unknown
        return self._number(self._read(head, at + 1, len(head) - 1)(0))


_QUALIFIERS = {'const', 'constexpr', 'static', '__device__', '__constant__', 'inline'}


def _type_of(variable):
    return ' '.join(t.text for t in variable.types if t.text not in _QUALIFIERS)
