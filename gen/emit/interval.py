"""C expressions with bounds on their values, and interval arithmetic on them."""

from base.bounds import INT32_MAX, INT64_MAX, INT64_MIN
from expr.evaluate import calculate

RANGES = {'CF_I8': (-2**7, 2**7 - 1), 'CF_I16': (-2**15, 2**15 - 1), 'CF_I32': (-2**31, INT32_MAX),
          'CF_I64': (INT64_MIN, INT64_MAX), 'CF_U8': (0, 2**8 - 1), 'CF_U16': (0, 2**16 - 1), 'CF_U32': (0, 2**32 - 1),
          'CF_U64': (INT64_MIN, INT64_MAX), 'CF_BOOL': (0, 1), 'CF_CHAR': (-2**7, 2**8 - 1)}

# A smaller rank binds tighter.
ATOM, UNARY, MUL, ADD, RELATION, EQUALITY, AND, OR, CHOICE = range(9)
RELATIONS = {'LT': ('<', RELATION), 'LE': ('<=', RELATION), 'GT': ('>', RELATION), 'GE': ('>=', RELATION),
             'EQ': ('==', EQUALITY), 'NE': ('!=', EQUALITY)}
ARITHMETIC = {'ADD': ('+', ADD), 'SUB': ('-', ADD), 'MUL': ('*', MUL)}
OPPOSITE = {'<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '=='}
BITS = {'BIT_AND': '&', 'BIT_OR': '|', 'BIT_XOR': '^'}


class Interpreted(Exception):
    """Raised if a kernel's launch rule cannot be compiled; the library interprets it then."""


class Value:
    """A C expression and the range of its value."""

    def __init__(self, text, rank, low=INT64_MIN, high=INT64_MAX, kind='int', negation=None):
        self.text, self.rank, self.low, self.high = text, rank, low, high
        self.kind = kind        # 'int' for int64_t, 'truth' for 0 or 1 as a C int, 'real' for double
        self.negation = negation    # for a condition: (text, rank) of its negation

    @property
    def constant(self):
        return self.low if self.low == self.high and self.kind != 'real' else None

    def within(self, rank):
        """Returns the text as an operand of an operator of `rank`."""
        return self.text if self.rank <= rank else f'({self.text})'


def of_number(value):
    text = 'INT64_MIN' if value == INT64_MIN else 'INT64_MAX' if value == INT64_MAX else str(value)
    return Value(text, UNARY if value < 0 else ATOM, value, value)


def as_truth(value):
    """Converts a value to a condition."""
    if value.kind == 'truth':
        return value
    if value.constant is not None:
        return known_truth(value.constant != 0)
    text = value.within(EQUALITY - 1)
    return Value(f'{text} != 0', EQUALITY, 0, 1, 'truth', (f'{text} == 0', EQUALITY))


def known_truth(is_true):
    return Value(str(int(is_true)), ATOM, int(is_true), int(is_true), 'truth')


def as_integer(value):
    """Converts a value for arithmetic. A truth value has the C type int, in which a sum could overflow."""
    if value.kind != 'truth' or value.constant is not None:
        return value
    return Value(f'(int64_t){value.within(UNARY)}', UNARY, value.low, value.high)


def as_real(value):
    """Converts a value to double."""
    if value.kind == 'real':
        return value
    if value.constant is not None and abs(value.constant) < 2**53:
        return Value(f'{value.constant}.0', UNARY if value.constant < 0 else ATOM, kind='real')
    return Value(f'(double){value.within(UNARY)}', UNARY, kind='real')


# ---- Arithmetic


def decide(code, left, right):
    """Returns the result of a comparison if the ranges decide it, else None."""
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


def negate(value):
    """Returns the condition that a value is 0."""
    value = as_truth(value)
    if value.constant is not None:
        return known_truth(not value.constant)
    text, rank = value.negation or (f'!{value.within(ATOM)}', UNARY)
    return Value(text, rank, 0, 1, 'truth', (value.text, value.rank))


def compare(code, left, right):
    if 'real' not in (left.kind, right.kind):
        left, right = as_integer(left), as_integer(right)
        known = decide(code, left, right)
        if known is not None:
            return known_truth(known)
    else:
        left, right = as_real(left), as_real(right)
    sign, rank = RELATIONS[code]
    # With a NaN a comparison and its opposite are both false.
    opposite = sign if left.kind == 'real' else OPPOSITE[sign]
    texts = [f'{left.within(rank - 1)} {s} {right.within(rank - 1)}' for s in (sign, opposite)]
    return Value(texts[0], rank, 0, 1, 'truth', None if left.kind == 'real' else (texts[1], rank))


def combine_bits(code, left, right):
    if left.constant is not None and right.constant is not None:
        return of_number(calculate(code, left.constant, right.constant))
    if code == 'BIT_XOR' and right.constant == -1:
        return Value(f'~{left.within(ATOM)}', UNARY, -1 - left.high, -1 - left.low)
    low, high = INT64_MIN, INT64_MAX
    if left.low >= 0 and right.low >= 0:
        low = 0
        high = min(left.high, right.high) if code == 'BIT_AND' else 2**max(left.high, right.high).bit_length() - 1
    elif code == 'BIT_AND' and max(left.low, right.low) >= 0:
        low, high = 0, left.high if left.low >= 0 else right.high
    return Value(f'{left.within(ATOM)} {BITS[code]} {right.within(ATOM)}', CHOICE, low, high)


def quotient_of(code, left, right):
    """Returns the quotient or remainder of two values for which it is defined."""
    least, most = max(right.low, 1), max(abs(right.low), abs(right.high))
    largest = max(abs(left.low), abs(left.high))
    if code == 'DIV' and right.low >= 0:
        bounds = [calculate('DIV', a, b) for a in (left.low, left.high) for b in (least, max(right.high, 1))]
        low, high = min(bounds), max(bounds)
    elif code == 'DIV':
        low, high = -largest, largest
    else:
        low, high = (0 if left.low >= 0 else -min(largest, most - 1)), min(largest, most - 1)
    sign = '/' if code == 'DIV' else '%'
    return Value(f'{left.within(UNARY)} {sign} {right.within(UNARY)}', MUL, max(low, INT64_MIN), min(high, INT64_MAX))


def parts_of(count, by):
    """Returns the number of parts of size `by` that hold `count` elements; both are at least 1."""
    if by.constant == 1:
        return count
    return Value(f'({count.within(ADD)} - 1) / {by.within(UNARY)} + 1', ADD, 1, count.high)
