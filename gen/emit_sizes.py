"""The compiled form of a kernel's scalar checks and launch rule: straight C, for launches that cost nothing.

It says 1 only where the runtime, which interprets the descriptor, would find everything in order, and leaves all else to
it. So it may say 0 a little early: it looks at whole boxes of memory, and reads what a short circuit would pass over."""

import re
import struct

from expr import INT64_MAX
from text import WIDTH, fold

INT64_MIN = -2**63
INT32_MAX = 2**31 - 1
MAX_GRID = (INT32_MAX, 65535, 65535)
MAX_BLOCK, MAX_BLOCK_Z = 1024, 64
_TEMPORARY = re.compile(r' *const \w+ (cf__\d+) = ')
_NESTING = 3        # of values that are evaluated only where others say so

_RANGES = {'CF_I8': (-2**7, 2**7 - 1), 'CF_I16': (-2**15, 2**15 - 1), 'CF_I32': (-2**31, INT32_MAX),
           'CF_I64': (INT64_MIN, INT64_MAX), 'CF_U8': (0, 2**8 - 1), 'CF_U16': (0, 2**16 - 1), 'CF_U32': (0, 2**32 - 1),
           'CF_U64': (INT64_MIN, INT64_MAX), 'CF_BOOL': (0, 1), 'CF_CHAR': (-2**7, 2**8 - 1)}

# What binds tighter has a smaller rank.
_ATOM, _UNARY, _MUL, _ADD, _RELATION, _EQUALITY, _AND, _OR, _CHOICE = range(9)
_RELATIONS = {'LT': ('<', _RELATION), 'LE': ('<=', _RELATION), 'GT': ('>', _RELATION), 'GE': ('>=', _RELATION),
              'EQ': ('==', _EQUALITY), 'NE': ('!=', _EQUALITY)}
_ARITHMETIC = {'ADD': ('+', _ADD), 'SUB': ('-', _ADD), 'MUL': ('*', _MUL)}
_OPPOSITE = {'<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '=='}
_BITS = {'BIT_AND': '&', 'BIT_OR': '|', 'BIT_XOR': '^'}


class Interpreted(Exception):
    """A kernel whose launches are left to the interpreter."""


class _Value:
    """A C expression and what is known of its value."""

    def __init__(self, text, rank, low=INT64_MIN, high=INT64_MAX, kind='int', negation=None):
        self.text, self.rank, self.low, self.high = text, rank, low, high
        self.kind = kind        # int: int64_t; truth: 0 or 1, an int in C; real: double
        self.negation = negation    # of a condition: (text, rank) of one that holds where it does not

    @property
    def constant(self):
        return self.low if self.low == self.high and self.kind != 'real' else None

    def within(self, rank):
        """The text as an operand of what binds as `rank` does."""
        return self.text if self.rank <= rank else f'({self.text})'


def _number(value):
    text = 'INT64_MIN' if value == INT64_MIN else 'INT64_MAX' if value == INT64_MAX else str(value)
    return _Value(text, _UNARY if value < 0 else _ATOM, value, value)


def _truth(value):
    """A value as a condition."""
    if value.kind == 'truth':
        return value
    if value.constant is not None:
        return _known(value.constant != 0)
    text = value.within(_EQUALITY - 1)
    return _Value(f'{text} != 0', _EQUALITY, 0, 1, 'truth', (f'{text} == 0', _EQUALITY))


def _known(is_true):
    return _Value(str(int(is_true)), _ATOM, int(is_true), int(is_true), 'truth')


def _operand(value):
    """A value in arithmetic: truth is an int in C, which could overflow."""
    if value.kind != 'truth' or value.constant is not None:
        return value
    return _Value(f'(int64_t){value.within(_UNARY)}', _UNARY, value.low, value.high)


def _real(value):
    """A value among real ones."""
    if value.kind == 'real':
        return value
    if value.constant is not None and abs(value.constant) < 2**53:
        return _Value(f'{value.constant}.0', _UNARY if value.constant < 0 else _ATOM, kind='real')
    return _Value(f'(double){value.within(_UNARY)}', _UNARY, kind='real')


def _tree(ops):
    """Postfix steps as nested tuples (code, operands...); leaves are ('CONST', number) and the like."""
    stack, at = [], 0
    while at < len(ops) and ops[at][0] != 'END':
        code, operand = ops[at]
        at += 1
        if code in ('CONST', 'PARAM', 'MEMBER', 'REAL'):
            stack.append((code, operand))
        elif code in ('NEG', 'NOT'):
            stack.append((code, stack.pop()))
        elif code in ('AND', 'OR'):
            stack.append((code, stack.pop(), _tree(ops[at:at + operand])))
            at += operand
        elif code == 'UNLESS':
            yes, at = _tree(ops[at:at + operand - 1]), at + operand
            skip = ops[at - 1][1]
            stack.append(('SELECT', stack.pop(), yes, _tree(ops[at:at + skip])))
            at += skip
        else:
            right, left = stack.pop(), stack.pop()
            stack.append((code, left, right))
    return stack[0]


def _key(code, operand):
    """What tells reads apart: a member's value is the same in integer and in real expressions, where its type is known."""
    return code, operand[:4] if code == 'MEMBER' and operand[3] else operand


def _conjuncts(node):
    """The parts of a condition that all have to hold."""
    if node[0] == 'AND':
        return _conjuncts(node[1]) + _conjuncts(node[2])
    if node[0] == 'NOT' and node[1][0] == 'NOT':
        return _conjuncts(node[1][1])
    return [node]


class _Body:
    """The body of one function, as it grows."""

    def __init__(self, params):
        self._params = params
        self._lines = []
        self._depth = 0
        self._reads = {}            # (code, operand) of a step: the local that holds what it reads
        self._ranges = {}           # local: what is known of it
        self._values = {}           # steps: value
        self._named = {}            # text of a value: the temporary that holds it
        self._left = set()          # conditions on which it returns
        self._temporaries = 0
        self._taken = {p.name for p in params}

    def line(self, text):
        self._lines.append(' ' * 4 * (self._depth + 1) + text + '\n')

    def leave(self, condition):
        """Returns 0 where a condition holds; folded behind its ||. Nothing changes, so that once is enough."""
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
        """A value by a name, so that it is evaluated once."""
        if value.rank == _ATOM:
            return value
        if value.kind == 'real':
            return _Value(self._variable('const double', value.text), _ATOM, kind='real')
        name = self._named.get(value.text)
        if name is None:
            name = self._variable('const int64_t', value.text)
            self._remember(value.text, name, value.low, value.high)
        return self.known(name)

    def _variable(self, ctype, text):
        self._temporaries += 1
        name = f'cf__{self._temporaries}'
        self.line(f'{ctype} {name}{" = " * bool(text)}{text};')
        return name

    def _remember(self, text, name, low, high):
        """A temporary, for others that would hold the same; those of blocks are not seen outside of them."""
        self._ranges[name] = (low, high)
        if self._depth == 0:
            self._named[text] = name

    # ---- What is read

    def read(self, exprs):
        """Declares what integer and real expressions read."""
        steps = {_key(*op): op for expr in exprs if expr for op in expr.ops if op[0] in ('PARAM', 'MEMBER')}
        for code, operand in sorted(steps.values(), key=lambda op: op[1] if op[0] == 'PARAM' else op[1][0]):
            if code == 'PARAM':
                self._read((code, operand), self._params[operand].name, *self._argument(operand))
                continue
            number, c, path, enum, is_real = operand
            name = 'cf__' + re.sub(r'\W+', '_', f'{self._params[number].name}.{path}'.rstrip(']'))
            while name in self._taken:
                name += '_'
            enum = 'CF_F64' if is_real and not enum else enum
            place = f'((const {c} *)cf__args[{number}])->{path}'
            if enum == 'CF_BOOL':       # read as the runtime does: any byte
                enum, place = 'CF_U8', f'*(const unsigned char *)&{place}'
            self._read(_key(code, operand), name, enum, place)

    def _argument(self, number):
        ctype = self._params[number].type
        if ctype.kind == 'enum':
            return '', f'*(const {ctype.c} *)cf__args[{number}]'
        # The runtime, too, takes any bool but 0 for true.
        spelled = 'unsigned char' if ctype.enum == 'CF_BOOL' else ctype.c
        return ctype.enum, f'*(const {spelled} *)cf__args[{number}]' + (' != 0' if ctype.enum == 'CF_BOOL' else '')

    def _read(self, key, name, enum, place):
        self._taken.add(name)
        self._reads[key] = name
        if enum in ('CF_F32', 'CF_F64'):
            self.line(f'const double {name} = (double){place};')
            return
        if enum in ('CF_F16', 'CF_BF16'):
            raise Interpreted
        if enum not in _RANGES:
            # Of a type that the C compiler alone knows.
            self.line(f'int64_t {name};')
            self.leave(f'__builtin_add_overflow(0LL + {place}, 0, &{name})')
            self._ranges[name] = (INT64_MIN, INT64_MAX)
            return
        cast = '(int64_t)' if enum == 'CF_U64' else ''
        self.line(f'const int64_t {name} = {cast}{place};')
        self._ranges[name] = _RANGES[enum]

    def unsigned(self):
        """The locals that hold a uint64_t: negative where it is past INT64_MAX."""
        for (code, operand), name in self._reads.items():
            ctype = self._params[operand].type if code == 'PARAM' else None
            enum = operand[3] if ctype is None else ctype.enum if ctype.kind != 'enum' else ''
            if enum == 'CF_U64':
                yield name

    def name(self, expr):
        """The local that an expression is, where it is one."""
        code, operand = expr.ops[0]
        if len(expr.ops) != 2 or code not in ('PARAM', 'MEMBER'):
            return None
        name = self._reads[_key(code, operand)]
        return name if name in self._ranges else None

    def known(self, name):
        """The value of a local."""
        return _Value(name, _ATOM, *self._ranges[name])

    def bounds(self, node):
        """(local, least, most) where a condition bounds one by a constant; None else."""
        code, *sides = node
        if code not in _RELATIONS or code == 'NE':
            return None
        if sides[0][0] == 'CONST':
            sides.reverse()
            code = {'LT': 'GT', 'LE': 'GE', 'GT': 'LT', 'GE': 'LE', 'EQ': 'EQ'}[code]
        name = self._reads.get(_key(*sides[0])) if sides[0][0] in ('PARAM', 'MEMBER') else None
        if name not in self._ranges or sides[1][0] != 'CONST' or isinstance(sides[1][1], tuple):
            return None
        bound = sides[1][1]
        low = bound + (code == 'GT') if code in ('GT', 'GE', 'EQ') else INT64_MIN
        high = bound - (code == 'LT') if code in ('LT', 'LE', 'EQ') else INT64_MAX
        return name, low, high

    def outside(self, value, low, high):
        """Conditions, one of which holds where a value lies outside; from here on it lies inside."""
        if value.low > high or value.high < low:
            raise Interpreted       # it never lies inside
        text = value.within(_RELATION - 1)
        if value.text in self._ranges:
            self._ranges[value.text] = (max(low, value.low), min(high, value.high))
        if value.low < low == high < value.high:
            return [f'{text} != {_number(low).text}']
        return ([f'{text} < {_number(low).text}'] if value.low < low else []) + (
            [f'{text} > {_number(high).text}'] if value.high > high else [])

    def require(self, value, low=INT64_MIN, high=INT64_MAX):
        """Returns 0 where a value lies outside; the value, as it is known then."""
        outside = self.outside(value, low, high)
        if outside:
            self.leave(_wrapped(outside))
        return _Value(value.text, value.rank, max(low, value.low), min(high, value.high), value.kind)

    # ---- Expressions

    def value(self, expr):
        """The value of a whole expression of integers, by a name; evaluated once."""
        name = self.name(expr)
        if name:
            return self.known(name)
        if expr.ops not in self._values:
            value = self._eval(_tree(expr.ops), False)
            self._values[expr.ops] = self.local(_operand(value) if value.constant is None else _number(value.constant))
        return self._values[expr.ops]

    def truth(self, node, is_real):
        """A part of a condition."""
        return _truth(self._eval(node, is_real))

    def know(self, expr, value):
        """What is now known of an expression's value."""
        if not self.name(expr):
            self._values[expr.ops] = value

    def _eval(self, node, is_real):
        code, *operands = node
        if code in ('CONST', 'PARAM', 'MEMBER', 'REAL'):
            value = self._leaf(code, operands[0])
            return _real(value) if is_real else value
        if code in ('AND', 'OR', 'SELECT'):
            return self._lazy(code, operands, is_real)
        values = [self._eval(o, is_real) for o in operands]
        if code == 'NOT':
            return self.negated(values[0])
        if code in _RELATIONS:
            return self._relation(code, *values)
        if is_real:
            return self._real_arithmetic(code, *(_real(v) for v in values))
        return self._arithmetic(code, *(_operand(v) for v in values))

    def _leaf(self, code, operand):
        if code == 'REAL':
            number = struct.unpack('<d', struct.pack('<q', operand))[0]
            return _Value(repr(number), _UNARY if number < 0 else _ATOM, kind='real')
        if code == 'CONST':
            if isinstance(operand, tuple):
                return _Value(f'(int64_t)sizeof({operand[1]})', _UNARY, 0, 2**62)
            return _number(operand)
        name = self._reads[_key(code, operand)]
        if name not in self._ranges:
            return _Value(name, _ATOM, kind='real')
        return _Value(name, _ATOM, *self._ranges[name])

    @staticmethod
    def negated(value):
        """A condition that holds where a value is 0."""
        value = _truth(value)
        if value.constant is not None:
            return _known(not value.constant)
        text, rank = value.negation or (f'!{value.within(_ATOM)}', _UNARY)
        return _Value(text, rank, 0, 1, 'truth', (value.text, value.rank))

    @staticmethod
    def _relation(code, left, right):
        if 'real' not in (left.kind, right.kind):
            left, right = _operand(left), _operand(right)
            known = _decided(code, left, right)
            if known is not None:
                return _known(known)
        else:
            left, right = _real(left), _real(right)
        sign, rank = _RELATIONS[code]
        # Both are false of a NaN.
        opposite = sign if left.kind == 'real' else _OPPOSITE[sign]
        texts = [f'{left.within(rank - 1)} {s} {right.within(rank - 1)}' for s in (sign, opposite)]
        return _Value(texts[0], rank, 0, 1, 'truth', None if left.kind == 'real' else (texts[1], rank))

    def _inner(self, node, is_real):
        """A value that is evaluated only at times, with the statements that this takes."""
        if self._depth >= _NESTING:
            raise Interpreted
        before, self._lines = self._lines, []
        self._depth += 1
        value = self._eval(node, is_real)
        self._depth -= 1
        lines, self._lines = self._lines, before
        return value, lines

    def _lazy(self, code, operands, is_real):
        condition = _truth(self._eval(operands[0], is_real))
        if code == 'SELECT':
            return self._select(condition, operands[1:], is_real)
        if condition.constant is not None and condition.constant == (code == 'OR'):
            return condition
        value, lines = self._inner(operands[1], is_real)
        value = _truth(value)
        if condition.constant is not None and not lines:
            return value
        sign, rank = ('&&', _AND) if code == 'AND' else ('||', _OR)
        if not lines:
            left, right = (v.text if v.rank == rank else v.within(_EQUALITY) for v in (condition, value))
            return _Value(f'{left} {sign} {right}', rank, 0, 1, 'truth')
        name = self._variable('int', condition.text)
        self._block(f'if ({name if code == "AND" else "!" + name})', lines, f'{name} = {value.text};')
        return _Value(name, _ATOM, 0, 1, 'truth')

    def _select(self, condition, operands, is_real):
        if condition.constant is not None:
            return self._eval(operands[0 if condition.constant else 1], is_real)
        (yes, if_yes), (no, if_no) = (self._inner(o, is_real) for o in operands)
        is_truth = not is_real and all(v.kind == 'truth' or v.constant in (0, 1) for v in (yes, no))
        kind = 'truth' if is_truth else 'real' if is_real else 'int'
        if kind != 'truth':
            yes, no = (_real(v) if is_real else _operand(v) for v in (yes, no))
        low, high = min(yes.low, no.low), max(yes.high, no.high)
        if not if_yes and not if_no:
            # One of the two has to have the type that the value is to have.
            is_int = kind == 'int' and yes.constant is not None and no.constant is not None
            return _Value(f'{condition.within(_EQUALITY)} ? {"(int64_t)" * is_int}{yes.within(_EQUALITY)} : '
                          f'{no.within(_EQUALITY)}', _CHOICE, low, high, kind)
        name = self._variable({'truth': 'int', 'int': 'int64_t', 'real': 'double'}[kind], '0')
        self._block(f'if ({condition.text})', if_yes, f'{name} = {yes.text};')
        self._lines.pop()
        self._block('} else', if_no, f'{name} = {no.text};')
        return _Value(name, _ATOM, low, high, kind)

    def _block(self, head, lines, last):
        self.line(head + ' {')
        self._lines += lines
        self._depth += 1
        self.line(last)
        self._depth -= 1
        self.line('}')

    def _arithmetic(self, code, left, right=None):
        if code == 'NEG':
            return self._exact('SUB', _number(0), left) if left.low == INT64_MIN or left.constant is not None else _Value(
                f'-{left.within(_ATOM)}', _UNARY, -left.high, -left.low)
        if code in _ARITHMETIC:
            return self._exact(code, left, right)
        if code == 'SHL':
            if right.constant is None or not 0 <= right.constant <= 62:
                raise Interpreted
            return self._exact('MUL', left, _number(2**right.constant))
        if code == 'SHR':
            if right.constant is None or not 0 <= right.constant <= 63:
                raise Interpreted
            return _Value(f'{left.within(_MUL)} >> {right.text}', _CHOICE, left.low >> right.constant,
                          left.high >> right.constant)
        if code in _BITS:
            return self._bits(code, left, right)
        return (self._divide if code in ('DIV', 'MOD') else self._choose)(code, left, right)

    def _choose(self, code, left, right):
        """min and max."""
        known = _decided('LE' if code == 'MIN' else 'GE', left, right)
        if known is not None:
            return left if known else right
        pick = min if code == 'MIN' else max
        sign = '<' if code == 'MIN' else '>'
        left, right = self.local(left), self.local(right)
        return _Value(f'{left.text} {sign} {right.text} ? {left.text} : {right.text}', _CHOICE,
                      pick(left.low, right.low), pick(left.high, right.high))

    def _exact(self, code, left, right):
        corners = [_apply(code, a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
        low, high = min(corners), max(corners)
        if left.constant is not None and right.constant is not None:
            if not INT64_MIN <= low <= INT64_MAX:
                raise Interpreted
            return _number(low)
        if INT64_MIN <= low and high <= INT64_MAX:
            sign, rank = _ARITHMETIC[code]
            return _Value(f'{left.within(rank)} {sign} {right.within(rank - 1)}', rank, low, high)
        text = f'__builtin_{code.lower()}_overflow({left.text}, {right.text}'
        name = self._named.get(text)
        if name is None:
            name = self._variable('int64_t', '')
            self.leave(f'{text}, &{name})')
            self._remember(text, name, max(low, INT64_MIN), min(high, INT64_MAX))
        return self.known(name)

    def product(self, left, right):
        """Of two values that are not negative."""
        if left.constant == 1 or right.constant == 1:
            return right if left.constant == 1 else left
        return self._exact('MUL', left, right)

    def sum(self, left, right):
        return self._exact('ADD', left, right)

    @staticmethod
    def _bits(code, left, right):
        if left.constant is not None and right.constant is not None:
            return _number(_apply(code, left.constant, right.constant))
        if code == 'BIT_XOR' and right.constant == -1:
            return _Value(f'~{left.within(_ATOM)}', _UNARY, -1 - left.high, -1 - left.low)
        low, high = INT64_MIN, INT64_MAX
        if left.low >= 0 and right.low >= 0:
            low = 0
            high = min(left.high, right.high) if code == 'BIT_AND' else 2**max(left.high, right.high).bit_length() - 1
        elif code == 'BIT_AND' and max(left.low, right.low) >= 0:
            low, high = 0, left.high if left.low >= 0 else right.high
        return _Value(f'{left.within(_ATOM)} {_BITS[code]} {right.within(_ATOM)}', _CHOICE, low, high)

    def _divide(self, code, left, right):
        if right.constant == 0:
            raise Interpreted
        if left.constant is not None and right.constant is not None:
            value = _apply(code, left.constant, right.constant)
            if not INT64_MIN <= value <= INT64_MAX or left.constant == INT64_MIN and right.constant == -1:
                raise Interpreted
            return _number(value)
        if right.low <= 0:
            left, right = self.local(left), self.local(right)
        guards = [f'{right.text} == 0'] if right.low <= 0 <= right.high else []
        if left.low == INT64_MIN and right.low <= -1 <= right.high:
            both = [f'{v.text} == {_number(c).text}' for v, c in ((left, INT64_MIN), (right, -1)) if v.constant is None]
            guards.append(' && '.join(both) if len(both) == 1 or not guards else f'({" && ".join(both)})')
        if guards:
            self.leave(' || '.join(guards))
        least, most = max(right.low, 1), max(abs(right.low), abs(right.high))
        largest = max(abs(left.low), abs(left.high))
        if code == 'DIV' and right.low >= 0:
            bounds = [_apply('DIV', a, b) for a in (left.low, left.high) for b in (least, max(right.high, 1))]
            low, high = min(bounds), max(bounds)
        elif code == 'DIV':
            low, high = -largest, largest
        else:
            low, high = (0 if left.low >= 0 else -min(largest, most - 1)), min(largest, most - 1)
        sign = '/' if code == 'DIV' else '%'
        return _Value(f'{left.within(_UNARY)} {sign} {right.within(_UNARY)}', _MUL, max(low, INT64_MIN),
                      min(high, INT64_MAX))

    def _real_arithmetic(self, code, left, right=None):
        if code == 'NEG':
            return _Value(f'-{left.within(_ATOM)}', _UNARY, kind='real')
        if code in ('MIN', 'MAX'):
            left, right = self.local(left), self.local(right)
            return _Value(f'{left.text} {"<" if code == "MIN" else ">"} {right.text} ? {left.text} : {right.text}',
                          _CHOICE, kind='real')
        sign, rank = {**_ARITHMETIC, 'DIV': ('/', _MUL)}[code]
        return _Value(f'{left.within(rank)} {sign} {right.within(rank - 1)}', rank, kind='real')

    def positive(self, node):
        """Knows that a value is at least 1, also of the factors that it is made of."""
        if node[0] == 'MUL':
            for factor in node[1:]:
                name = self._reads.get(_key(*factor)) if factor[0] in ('PARAM', 'MEMBER') else None
                if name not in self._ranges or self._ranges[name][0] < 0:
                    return
            for factor in node[1:]:
                self.positive(factor)
        elif node[0] in ('PARAM', 'MEMBER'):
            name = self._reads[_key(*node)]
            self._ranges[name] = (max(1, self._ranges[name][0]), self._ranges[name][1])

    def text(self):
        """All of it, but for what turned out to be of no use."""
        lines = []
        for line in reversed(self._lines):
            match = _TEMPORARY.match(line)
            if not match or any(re.search(rf'\b{match.group(1)}\b', other) for other in lines):
                lines.append(line)
        return ''.join(reversed(lines))


def _apply(code, left, right):
    """Of constants, without limits."""
    if code in ('DIV', 'MOD'):
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if code == 'DIV' else left - quotient * right
    return {'ADD': left + right, 'SUB': left - right, 'MUL': left * right, 'BIT_AND': left & right,
            'BIT_OR': left | right, 'BIT_XOR': left ^ right}[code]


def _decided(code, left, right):
    """What a comparison gives, where that is known; None else."""
    if left.text == right.text:
        return code in ('LE', 'GE', 'EQ')
    if code in ('GT', 'GE'):
        left, right, code = right, left, 'LT' if code == 'GT' else 'LE'
    if code == 'LT':
        return True if left.high < right.low else False if left.low >= right.high else None
    if code == 'LE':
        return True if left.high <= right.low else False if left.low > right.high else None
    if left.high < right.low or right.high < left.low:
        return code == 'NE'
    return None if left.constant is None or left.constant != right.constant else code == 'EQ'


# ---- A kernel


class _Sizes:
    """Brings the parts of a kernel's function in order."""

    def __init__(self, instance):
        self.instance, self.launch = instance, instance.launch
        self.body = _Body(instance.params)
        self.arrays = [(i, p) for i, p in enumerate(instance.params) if p.dims]
        # (part of a condition, whether it is over real numbers)
        self.conditions = [(part, c.is_real) for c in instance.checks if c.condition
                           for part in _conjuncts(_tree(c.condition.ops))]

    def text(self):
        launch, body = self.launch, self.body
        if launch.is_block_auto:
            raise Interpreted
        checks = [c for c in self.instance.checks if c.condition]
        for check in checks:
            codes = {c for c, _ in check.condition.ops}
            # What compilers may contract to one operation with one rounding.
            if check.is_real and 'MUL' in codes and codes & {'ADD', 'SUB'}:
                raise Interpreted
        given = [f'!cf__args[{i}]' for i, p in enumerate(self.instance.params) if p.direction != 'CF_SCRATCH']
        if given:
            body.leave(_wrapped(given))
        dims = [d for _, p in self.arrays for d in p.dims]
        body.read([e for d in dims for e in (d.extent, d.lower, d.pitch)] + [*launch.grid, *launch.block, launch.items,
                  launch.shared] + [c.condition for c in checks])
        self._plain()
        for condition, is_real in self.conditions:
            self._condition(condition, is_real)
        size = self._size()
        for _, param in self.arrays:
            self._section(param)
        self._pointers()
        body.line(size)
        body.line('return 1;')
        return body.text()

    def _plain(self):
        """What is asked of single parameters, at once: most launches end here."""
        launch, wanted = self.launch, {}

        def want(expr, low, high=INT64_MAX):
            name = self.body.name(expr) if expr else None
            if name:
                old = wanted.setdefault(name, (INT64_MIN, INT64_MAX))
                wanted[name] = (max(low, old[0]), min(high, old[1]))

        for name in self.body.unsigned():
            wanted[name] = (0, INT64_MAX)
        for d, grid in enumerate(launch.grid):
            divisor = self._divisor(d)
            want(grid, 1, min(MAX_GRID[d] * divisor, INT64_MAX) if divisor else INT64_MAX)
        for d, block in enumerate(launch.block):
            want(block, 1, MAX_BLOCK_Z if d == 2 else MAX_BLOCK)
        want(launch.items, 1)
        want(launch.shared, 0, INT32_MAX)
        for _, param in self.arrays:
            for number, dim in enumerate(param.dims):
                is_whole = len(param.dims) == 1 and not dim.lower and param.type.bytes
                want(dim.extent, 0, INT64_MAX // param.type.bytes if is_whole else INT64_MAX)
                want(dim.lower, 0)
                want(dim.pitch if number else None, 0)
        for condition, is_real in self.conditions:
            bounds = None if is_real else self.body.bounds(condition)
            if bounds:
                name, low, high = bounds
                old = wanted.setdefault(name, (INT64_MIN, INT64_MAX))
                wanted[name] = (max(low, old[0]), min(high, old[1]))
        outside = [text for name, bounds in wanted.items() for text in self.body.outside(self.body.known(name), *bounds)]
        if outside:
            self.body.leave(_wrapped(outside))

    def _divisor(self, d):
        """By what a grid's elements become blocks, where that is constant; None else."""
        if self.launch.counts_blocks:
            return 1
        divisor = 1
        for expr in (self.launch.block[d] if d < len(self.launch.block) else None, self.launch.items if d == 0 else None):
            if expr:
                code, operand = expr.ops[0]
                if len(expr.ops) != 2 or code != 'CONST' or isinstance(operand, tuple) or operand < 1:
                    return None
                divisor *= operand
        return divisor

    def _condition(self, node, is_real):
        if not is_real and self.body.bounds(node):
            return
        value = self.body.truth(node, is_real)
        if value.constant == 0:
            raise Interpreted
        if value.constant is None:
            self.body.leave(self.body.negated(value).text)

    # ---- The launch

    def _size(self):
        """The statement that writes the size, checked."""
        body, launch = self.body, self.launch
        blocks, threads = [], _number(1)
        for d, expr in enumerate(launch.block):
            value = body.require(body.value(expr), 1, MAX_BLOCK_Z if d == 2 else MAX_BLOCK)
            body.know(expr, value)
            blocks.append(value)
            threads = body.product(threads, value)
        body.require(threads, 1, MAX_BLOCK)
        grid = [self._blocks(d, expr, blocks[d] if d < len(blocks) else _number(1))
                for d, expr in enumerate(launch.grid)]
        shared = _number(0)
        if launch.shared:
            shared = body.require(body.value(launch.shared), 0, INT32_MAX)
            body.know(launch.shared, shared)
        fields = [f'{{{", ".join([_uint32(v) for v in values] + ["1"] * (3 - len(values)))}}}' for values in (grid, blocks)]
        # A parameter may be called as the type is.
        return fold(f'    *cf__size = (struct cf_size){{{fields[0]}, {fields[1]}, {_uint32(shared)}}};', 8).lstrip()

    def _blocks(self, d, expr, block):
        """The blocks of one dimension of the grid."""
        body, launch = self.body, self.launch
        divisor = self._divisor(d)
        count = body.require(body.value(expr), 1, min(MAX_GRID[d] * divisor, INT64_MAX) if divisor else INT64_MAX)
        body.know(expr, count)
        body.positive(_tree(expr.ops))
        if divisor:
            if count.constant is not None:
                return _number(-(-count.constant // divisor))
            return count if divisor == 1 else _Value(f'({count.within(_ADD)} + {divisor - 1}) / {divisor}', _MUL)
        if d == 0 and launch.items:
            items = body.require(body.value(launch.items), 1)
            body.know(launch.items, items)
            count = body.local(_divided(count, items))
        return body.require(body.local(_divided(count, block)), 1, MAX_GRID[d])

    # ---- Arrays

    def _section(self, param):
        """The box of memory in which an array's elements lie."""
        body, box = self.body, _number(1)
        for number, dim in reversed(list(enumerate(param.dims))):
            is_whole = len(param.dims) == 1 and not dim.lower and param.type.bytes
            extent = body.require(body.value(dim.extent), 0, INT64_MAX // param.type.bytes if is_whole else INT64_MAX)
            body.know(dim.extent, extent)
            end, pitch = extent, extent
            if dim.lower:
                lower = body.require(body.value(dim.lower), 0)
                body.know(dim.lower, lower)
                end = body.local(body.sum(lower, extent))
            if number and dim.pitch:
                pitch = body.require(body.value(dim.pitch), 0)
                body.know(dim.pitch, pitch)
            if number and (dim.lower or dim.pitch) and _decided('GT', end, pitch) is not False:
                body.leave(f'{end.text} > {pitch.text}' + ('' if extent.low > 0 else f' && {extent.text} != 0'))
            box = body.product(box, pitch if number else end)
        if param.type.bytes:
            body.require(box, 0, INT64_MAX // param.type.bytes)
        else:
            body.product(box, _Value(f'(int64_t)sizeof({param.type.c})', _UNARY, 0, 2**32 - 1))

    def _pointers(self):
        """NULL, where the extent is not 0."""
        by_extent = {}
        for number, param in self.arrays:
            if param.direction == 'CF_SCRATCH':
                continue
            extents = [self.body.value(d.extent) for d in param.dims]
            if any(e.constant == 0 for e in extents):
                continue
            condition = ' && '.join(dict.fromkeys(f'{e.text} != 0' for e in extents if e.low < 1))
            by_extent.setdefault(condition, []).append(f'!*(void *const *)cf__args[{number}]')
        for condition, pointers in by_extent.items():
            if condition:
                of_all = pointers[0] if len(pointers) == 1 else f'({_wrapped(pointers)})'
                self.body.leave(f'{condition} && {of_all}')
            else:
                self.body.leave(_wrapped(pointers))


def _wrapped(conditions):
    return ' || '.join(conditions)


def _divided(count, by):
    """How many parts of `by` hold `count`, both at least 1."""
    if by.constant == 1:
        return count
    return _Value(f'({count.within(_ADD)} - 1) / {by.within(_UNARY)} + 1', _ADD, 1, count.high)


def _uint32(value):
    return value.text if value.constant is not None else f'(uint32_t){value.within(_UNARY)}'


def emit(instance):
    """The body of one variant's function; '' where its launches are interpreted."""
    try:
        return _Sizes(instance).text()
    except Interpreted:
        return ''
