"""Builds a C function from the values it reads, the expressions it evaluates, and the conditions for returning 0."""

import re
import struct

from base.bounds import INT64_MAX, INT64_MIN
from base.text import WIDTH
from emit.interval import (AND, ARITHMETIC, as_integer, as_real, as_truth, ATOM, BITS, CHOICE, combine_bits, compare,
                           decide, EQUALITY, Interpreted, MUL, negate, of_number, OR, quotient_of, RANGES, RELATION,
                           RELATIONS, UNARY, Value)
from expr.cxxtypes import ENCODED
from expr.evaluate import calculate

_LOCAL = re.compile(r' *const \w+ (\w+) = ')
_NESTING = 3        # greatest depth of nested values that are evaluated conditionally


# ---- Expressions


def key_of(code, operand):
    """Returns the key under which a function keeps a value that it reads. An integer and a real expression that read
    the same member have the same key if the member's type is known."""
    return code, operand[:4] if code == 'MEMBER' and operand[3] else operand


def conjuncts_of(node):
    """Returns the conjuncts of a condition, all of which have to hold."""
    if node[0] == 'AND':
        return conjuncts_of(node[1]) + conjuncts_of(node[2])
    if node[0] == 'NOT' and node[1][0] == 'NOT':
        return conjuncts_of(node[1][1])
    return [node]


def any_of(conditions):
    return ' || '.join(conditions)


# ---- The function


class Body:
    """The body of one function under construction."""

    def __init__(self, params):
        self._params = params
        self._lines = []
        self._depth = 0
        self._reads = {}            # (code, operand) of a value that is read: the local that holds it
        self._ranges = {}           # local: the range of its value
        self._values = {}           # tree of an expression: its value
        self._named = {}            # text of a value: the temporary that holds it
        self._left = set()          # conditions for which the function has returned 0 already
        self._temporaries = 0
        self._taken = {p.name for p in params}

    def line(self, text):
        self._lines.append(' ' * 4 * (self._depth + 1) + text + '\n')

    def leave(self, condition):
        """Emits `return 0` for a condition, with a line break after each || if it is long. A condition is tested only
        once, since values never change."""
        if condition in self._left:
            return
        if self._depth == 0:
            self._left.add(condition)
        current = 'if ('
        for part in f'{condition})'.replace(' || ', ' ||\n').split('\n'):
            if len(current) > 8 and len(current) + len(part) + 4 * self._depth + 5 > WIDTH:
                self.line(current.rstrip())
                current = '    '
            current += part + ' '
        self.line(current.rstrip())
        self.line('    return 0;')

    def local(self, value):
        """Gives a value a name, so that it is evaluated once."""
        if value.rank == ATOM:
            return value
        if value.kind == 'real':
            return Value(self._declare_variable('const double', value.text), ATOM, kind='real')
        name = self._named.get(value.text)
        if name is None:
            name = self._declare_variable('const int64_t', value.text)
            self._remember_temporary(value.text, name, value.low, value.high)
        return self.known(name)

    def _declare_variable(self, ctype, text):
        self._temporaries += 1
        name = f'cf__{self._temporaries}'
        self.line(f'{ctype} {name}{" = " * bool(text)}{text};')
        return name

    def _remember_temporary(self, text, name, low, high):
        """Records a temporary for reuse by equal values, unless it belongs to an inner block and is invisible
        outside."""
        self._ranges[name] = (low, high)
        if self._depth == 0:
            self._named[text] = name

    # ---- Values that are read

    def read(self, exprs):
        """Declares the values that integer and real expressions read."""
        steps = {key_of(*leaf): leaf for expr in exprs if expr for leaf in expr.reads()}
        for code, operand in sorted(steps.values(), key=lambda op: op[1] if op[0] == 'PARAM' else op[1][0]):
            if code == 'PARAM':
                self._declare_read((code, operand), self._params[operand].name, *self._argument_text(operand))
                continue
            number, c, path, enum, is_real = operand
            name = 'cf__' + re.sub(r'\W+', '_', f'{self._params[number].name}.{path}'.rstrip(']'))
            while name in self._taken:
                name += '_'
            enum = 'CF_F64' if is_real and not enum else enum
            place = f'((const {c} *)cf__args[{number}])->{path}'
            if enum == 'CF_BOOL':       # the library, too, reads any byte other than 0 as true
                enum, place = 'CF_U8', f'*(const unsigned char *)&{place}'
            self._declare_read(key_of(code, operand), name, enum, place)

    def _argument_text(self, number):
        ctype = self._params[number].type
        if ctype.kind == 'enum':
            return '', f'*(const {ctype.c} *)cf__args[{number}]'
        # The library, too, reads any bool other than 0 as true.
        spelled = 'unsigned char' if ctype.enum == 'CF_BOOL' else ctype.c
        return ctype.enum, f'*(const {spelled} *)cf__args[{number}]' + (' != 0' if ctype.enum == 'CF_BOOL' else '')

    def _declare_read(self, key, name, enum, place):
        self._taken.add(name)
        self._reads[key] = name
        if enum in ('CF_F32', 'CF_F64'):
            self.line(f'const double {name} = (double){place};')
            return
        if enum in ENCODED:
            raise Interpreted
        if enum not in RANGES:
            # Only the C compiler knows its type.
            self.line(f'int64_t {name};')
            self.leave(f'__builtin_add_overflow(0LL + {place}, 0, &{name})')
            self._ranges[name] = (INT64_MIN, INT64_MAX)
            return
        cast = '(int64_t)' if enum == 'CF_U64' else ''
        self.line(f'const int64_t {name} = {cast}{place};')
        self._ranges[name] = RANGES[enum]

    def unsigned(self):
        """Returns the locals that hold a uint64_t: values above INT64_MAX are negative."""
        for (code, operand), name in self._reads.items():
            ctype = self._params[operand].type if code == 'PARAM' else None
            enum = operand[3] if ctype is None else ctype.enum if ctype.kind != 'enum' else ''
            if enum == 'CF_U64':
                yield name

    def name(self, expr):
        """Returns the name of a local if an expression only reads it, else None."""
        if expr.tree[0] not in ('PARAM', 'MEMBER'):
            return None
        name = self._reads[key_of(*expr.tree)]
        return name if name in self._ranges else None

    def known(self, name):
        """Returns the value of a local."""
        return Value(name, ATOM, *self._ranges[name])

    def bounds(self, node):
        """Returns (local, least, most) if a condition bounds a local by a constant; else None."""
        code, *sides = node
        if code not in RELATIONS or code == 'NE':
            return None
        if sides[0][0] == 'CONST':
            sides.reverse()
            code = {'LT': 'GT', 'LE': 'GE', 'GT': 'LT', 'GE': 'LE', 'EQ': 'EQ'}[code]
        name = self._reads.get(key_of(*sides[0])) if sides[0][0] in ('PARAM', 'MEMBER') else None
        if name not in self._ranges or sides[1][0] != 'CONST' or isinstance(sides[1][1], tuple):
            return None
        bound = sides[1][1]
        low = bound + (code == 'GT') if code in ('GT', 'GE', 'EQ') else INT64_MIN
        high = bound - (code == 'LT') if code in ('LT', 'LE', 'EQ') else INT64_MAX
        return name, low, high

    def outside(self, value, low, high):
        """Returns conditions, one of which holds if a value is out of range. Afterwards the value counts as being in
        range."""
        if value.low > high or value.high < low:
            raise Interpreted       # never in range
        text = value.within(RELATION - 1)
        if value.text in self._ranges:
            self._ranges[value.text] = (max(low, value.low), min(high, value.high))
        if value.low < low == high < value.high:
            return [f'{text} != {of_number(low).text}']
        return ([f'{text} < {of_number(low).text}'] if value.low < low else []) + (
            [f'{text} > {of_number(high).text}'] if value.high > high else [])

    def require(self, value, low=INT64_MIN, high=INT64_MAX):
        """Emits `return 0` for a value out of range; returns the value with its new range."""
        outside = self.outside(value, low, high)
        if outside:
            self.leave(any_of(outside))
        return Value(value.text, value.rank, max(low, value.low), min(high, value.high), value.kind)

    # ---- Expressions

    def value(self, expr):
        """Returns the named value of an integer expression, evaluated once."""
        name = self.name(expr)
        if name:
            return self.known(name)
        if expr.tree not in self._values:
            value = self._emit_node(expr.tree, False)
            value = as_integer(value) if value.constant is None else of_number(value.constant)
            self._values[expr.tree] = self.local(value)
        return self._values[expr.tree]

    def truth(self, node, is_real):
        """Returns the value of a part of a condition."""
        return as_truth(self._emit_node(node, is_real))

    def know(self, expr, value):
        """Records a more precise value of an expression."""
        if not self.name(expr):
            self._values[expr.tree] = value

    def _emit_node(self, node, is_real):
        code, *operands = node
        if code in ('CONST', 'PARAM', 'MEMBER', 'REAL'):
            value = self._emit_leaf(code, operands[0])
            return as_real(value) if is_real else value
        if code in ('AND', 'OR', 'SELECT'):
            return self._emit_lazy(code, operands, is_real)
        values = [self._emit_node(o, is_real) for o in operands]
        if code == 'NOT':
            return negate(values[0])
        if code in RELATIONS:
            return compare(code, *values)
        if is_real:
            return self._real_arithmetic(code, *(as_real(v) for v in values))
        return self._emit_arithmetic(code, *(as_integer(v) for v in values))

    def _emit_leaf(self, code, operand):
        if code == 'REAL':
            number = struct.unpack('<d', struct.pack('<q', operand))[0]
            return Value(repr(number), UNARY if number < 0 else ATOM, kind='real')
        if code == 'CONST':
            if isinstance(operand, tuple):
                return Value(f'(int64_t)sizeof({operand[1]})', UNARY, 0, 2**62)
            return of_number(operand)
        name = self._reads[key_of(code, operand)]
        if name not in self._ranges:
            return Value(name, ATOM, kind='real')
        return Value(name, ATOM, *self._ranges[name])

    def _emit_conditional(self, node, is_real):
        """Returns a conditionally evaluated value with the statements it needs."""
        if self._depth >= _NESTING:
            raise Interpreted
        before, self._lines = self._lines, []
        self._depth += 1
        value = self._emit_node(node, is_real)
        self._depth -= 1
        lines, self._lines = self._lines, before
        return value, lines

    def _emit_lazy(self, code, operands, is_real):
        condition = as_truth(self._emit_node(operands[0], is_real))
        if code == 'SELECT':
            return self._emit_select(condition, operands[1:], is_real)
        if condition.constant is not None and condition.constant == (code == 'OR'):
            return condition
        value, lines = self._emit_conditional(operands[1], is_real)
        value = as_truth(value)
        if condition.constant is not None and not lines:
            return value
        sign, rank = ('&&', AND) if code == 'AND' else ('||', OR)
        if not lines:
            left, right = (v.text if v.rank == rank else v.within(EQUALITY) for v in (condition, value))
            return Value(f'{left} {sign} {right}', rank, 0, 1, 'truth')
        name = self._declare_variable('int', condition.text)
        self._emit_block(f'if ({name if code == "AND" else "!" + name})', lines, f'{name} = {value.text};')
        return Value(name, ATOM, 0, 1, 'truth')

    def _emit_select(self, condition, operands, is_real):
        if condition.constant is not None:
            return self._emit_node(operands[0 if condition.constant else 1], is_real)
        (yes, if_yes), (no, if_no) = (self._emit_conditional(o, is_real) for o in operands)
        is_truth = not is_real and all(v.kind == 'truth' or v.constant in (0, 1) for v in (yes, no))
        kind = 'truth' if is_truth else 'real' if is_real else 'int'
        if kind != 'truth':
            yes, no = (as_real(v) if is_real else as_integer(v) for v in (yes, no))
        low, high = min(yes.low, no.low), max(yes.high, no.high)
        if not if_yes and not if_no:
            # One of the two values must have the type of the result.
            is_int = kind == 'int' and yes.constant is not None and no.constant is not None
            return Value(f'{condition.within(EQUALITY)} ? {"(int64_t)" * is_int}{yes.within(EQUALITY)} : '
                         f'{no.within(EQUALITY)}', CHOICE, low, high, kind)
        name = self._declare_variable({'truth': 'int', 'int': 'int64_t', 'real': 'double'}[kind], '0')
        self._emit_block(f'if ({condition.text})', if_yes, f'{name} = {yes.text};')
        self._lines.pop()
        self._emit_block('} else', if_no, f'{name} = {no.text};')
        return Value(name, ATOM, low, high, kind)

    def _emit_block(self, head, lines, last):
        self.line(head + ' {')
        self._lines += lines
        self._depth += 1
        self.line(last)
        self._depth -= 1
        self.line('}')

    def _emit_arithmetic(self, code, left, right=None):
        if code == 'NEG':
            if left.low == INT64_MIN or left.constant is not None:
                return self._emit_exact('SUB', of_number(0), left)
            return Value(f'-{left.within(ATOM)}', UNARY, -left.high, -left.low)
        if code in ARITHMETIC:
            return self._emit_exact(code, left, right)
        if code == 'SHL':
            if right.constant is None or not 0 <= right.constant <= 62:
                raise Interpreted
            return self._emit_exact('MUL', left, of_number(2**right.constant))
        if code == 'SHR':
            right = self.require(right, 0, 63)
            ends = [end >> by for end in (left.low, left.high) for by in (right.low, right.high)]
            return Value(f'{left.within(MUL)} >> {right.within(MUL)}', CHOICE, min(ends), max(ends))
        if code in BITS:
            return combine_bits(code, left, right)
        return (self._emit_division if code in ('DIV', 'MOD') else self._emit_min_max)(code, left, right)

    def _emit_min_max(self, code, left, right):
        """Emits min and max."""
        known = decide('LE' if code == 'MIN' else 'GE', left, right)
        if known is not None:
            return left if known else right
        pick = min if code == 'MIN' else max
        sign = '<' if code == 'MIN' else '>'
        left, right = self.local(left), self.local(right)
        return Value(f'{left.text} {sign} {right.text} ? {left.text} : {right.text}', CHOICE,
                     pick(left.low, right.low), pick(left.high, right.high))

    def _emit_exact(self, code, left, right):
        corners = [calculate(code, a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
        low, high = min(corners), max(corners)
        if left.constant is not None and right.constant is not None:
            if not INT64_MIN <= low <= INT64_MAX:
                raise Interpreted
            return of_number(low)
        if INT64_MIN <= low and high <= INT64_MAX:
            sign, rank = ARITHMETIC[code]
            return Value(f'{left.within(rank)} {sign} {right.within(rank - 1)}', rank, low, high)
        text = f'__builtin_{code.lower()}_overflow({left.text}, {right.text}'
        name = self._named.get(text)
        if name is None:
            name = self._declare_variable('int64_t', '')
            self.leave(f'{text}, &{name})')
            self._remember_temporary(text, name, max(low, INT64_MIN), min(high, INT64_MAX))
        return self.known(name)

    def product(self, left, right):
        """Emits the product of two values that are not negative."""
        if left.constant == 1 or right.constant == 1:
            return right if left.constant == 1 else left
        return self._emit_exact('MUL', left, right)

    def sum(self, left, right):
        return self._emit_exact('ADD', left, right)

    def _emit_division(self, code, left, right):
        if right.constant == 0:
            raise Interpreted
        if left.constant is not None and right.constant is not None:
            value = calculate(code, left.constant, right.constant)
            if not INT64_MIN <= value <= INT64_MAX or left.constant == INT64_MIN and right.constant == -1:
                raise Interpreted
            return of_number(value)
        if right.low <= 0:
            left, right = self.local(left), self.local(right)
        guards = [f'{right.text} == 0'] if right.low <= 0 <= right.high else []
        if left.low == INT64_MIN and right.low <= -1 <= right.high:
            both = [f'{v.text} == {of_number(c).text}' for v, c in ((left, INT64_MIN), (right, -1))
                    if v.constant is None]
            guards.append(' && '.join(both) if len(both) == 1 or not guards else f'({" && ".join(both)})')
        if guards:
            self.leave(' || '.join(guards))
        return quotient_of(code, left, right)

    def _real_arithmetic(self, code, left, right=None):
        if code == 'NEG':
            return Value(f'-{left.within(ATOM)}', UNARY, kind='real')
        if code in ('MIN', 'MAX'):
            left, right = self.local(left), self.local(right)
            return Value(f'{left.text} {"<" if code == "MIN" else ">"} {right.text} ? {left.text} : {right.text}',
                         CHOICE, kind='real')
        sign, rank = {**ARITHMETIC, 'DIV': ('/', MUL)}[code]
        return Value(f'{left.within(rank)} {sign} {right.within(rank - 1)}', rank, kind='real')

    def positive(self, node):
        """Records that a value, and each of its factors, is at least 1."""
        if node[0] == 'MUL':
            for factor in node[1:]:
                name = self._reads.get(key_of(*factor)) if factor[0] in ('PARAM', 'MEMBER') else None
                if name not in self._ranges or self._ranges[name][0] < 0:
                    return
            for factor in node[1:]:
                self.positive(factor)
        elif node[0] in ('PARAM', 'MEMBER'):
            name = self._reads[key_of(*node)]
            self._ranges[name] = (max(1, self._ranges[name][0]), self._ranges[name][1])

    def text(self):
        """Returns the whole text without unused parts."""
        lines = []
        for line in reversed(self._lines):
            match = _LOCAL.match(line)
            if not match or any(re.search(rf'\b{match.group(1)}\b', other) for other in lines):
                lines.append(line)
        return ''.join(reversed(lines))
