"""Evaluates compiled expressions without parameters, with the same results as the library."""

import math
import struct

from base.bounds import INT64_MAX


def evaluate_exact(expr):
    """Evaluates an integer expression without parameters as the library does; None if it has parameters, no value, or a
    value that does not fit 64 bits."""
    return _evaluate_node(expr.tree, int, calculate)


def evaluate_small(expr):
    """Evaluates an integer expression of numbers; None unless all values that are calculated fit 31 bits, so that the
    types of the numbers do not matter."""
    def binary(code, left, right):
        value = calculate(code, left, right) if 0 <= min(left, right) and max(left, right) < 2**31 else None
        return value if value is not None and 0 <= value < 2**31 else None
    value = _evaluate_node(expr.tree, int, binary)
    return value if value is not None and 0 <= value < 2**31 else None


def evaluate_real(expr):
    """Evaluates a real expression as the library does; the result may be infinite or NaN."""
    return _evaluate_node(expr.tree, float, _calculate_real)


def _evaluate_node(node, number, binary):
    """Evaluates a tree in int or float; `binary`(code, left, right) calculates. Returns None if a part has no value or
    is a parameter."""
    code, *parts = node
    if code in ('PARAM', 'MEMBER') or isinstance(parts[0], tuple) and code == 'CONST':
        return None
    if code == 'REAL':
        return struct.unpack('<d', struct.pack('<q', parts[0]))[0]
    if code == 'CONST':
        return number(parts[0])
    first = _evaluate_node(parts[0], number, binary)
    if first is None:
        return None
    if code in ('AND', 'OR'):
        is_decided = (first != 0) == (code == 'OR')
        return number(code == 'OR') if is_decided else _evaluate_node(parts[1], number, binary)
    if code == 'SELECT':
        return _evaluate_node(parts[1 if first else 2], number, binary)
    if code in ('NEG', 'NOT'):
        value = -first if code == 'NEG' else number(not first)
    else:
        second = _evaluate_node(parts[1], number, binary)
        value = None if second is None else binary(code, first, second)
    return None if number is int and value is not None and not -2**63 <= value <= INT64_MAX else value


def _calculate_real(code, left, right):
    if code == 'DIV' and right == 0:        # Python would raise an exception
        return math.nan if left == 0 or left != left else math.copysign(math.inf, left) * math.copysign(1, right)
    return {'ADD': lambda: left + right, 'SUB': lambda: left - right, 'MUL': lambda: left * right,
            'DIV': lambda: left / right, 'MIN': lambda: left if left < right else right,
            'MAX': lambda: left if left > right else right, 'LT': lambda: float(left < right),
            'LE': lambda: float(left <= right), 'GT': lambda: float(left > right), 'GE': lambda: float(left >= right),
            'EQ': lambda: float(left == right), 'NE': lambda: float(left != right)}[code]()


def calculate(code, left, right):
    """Calculates with unbounded integers; None if there is no result."""
    if code in ('DIV', 'MOD'):
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if code == 'DIV' else left - quotient * right
    if code in ('SHL', 'SHR'):
        return None if not 0 <= right < 64 else left << right if code == 'SHL' else left >> right
    return {'ADD': left + right, 'SUB': left - right, 'MUL': left * right, 'MIN': min(left, right),
            'MAX': max(left, right), 'BIT_AND': left & right, 'BIT_OR': left | right, 'BIT_XOR': left ^ right,
            'LT': int(left < right), 'LE': int(left <= right), 'GT': int(left > right), 'GE': int(left >= right),
            'EQ': int(left == right), 'NE': int(left != right)}[code]
