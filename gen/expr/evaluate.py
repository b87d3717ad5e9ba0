"""Evaluates compiled expressions without parameters, with the library's results."""

import math
import struct

from base.bounds import INT64_MAX


def evaluate_exact(expr):
    """Evaluates an integer expression without parameters as the library does; None if it has parameters, no value, or a
    value that does not fit 64 bits."""
    return _evaluate_steps(expr, int, calculate)


def evaluate_real(expr):
    """Evaluates a real expression as the library does; the result may be infinite or NaN."""
    return _evaluate_steps(expr, float, _calculate_real)


def _evaluate_steps(expr, number, binary):
    """Evaluates an expression in int or float with `binary`(code, left, right); None as above."""
    stack, at = [], 0
    while expr.ops[at][0] != 'END':
        code, operand = expr.ops[at]
        at += 1
        if code in ('PARAM', 'MEMBER') or isinstance(operand, tuple):
            return None
        if code == 'REAL':
            stack.append(struct.unpack('<d', struct.pack('<q', operand))[0])
        elif code == 'CONST':
            stack.append(number(operand))
        elif code == 'NEG':
            stack.append(-stack.pop())
        elif code == 'NOT':
            stack.append(number(not stack.pop()))
        elif code in ('AND', 'OR'):
            if (stack[-1] != 0) == (code == 'OR'):
                stack[-1] = number(code == 'OR')
                at += operand
            else:
                stack.pop()
        elif code == 'UNLESS':
            at += operand if stack.pop() == 0 else 0
        elif code == 'SKIP':
            at += operand
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(binary(code, left, right))
        if number is int and stack and (stack[-1] is None or not -2**63 <= stack[-1] <= INT64_MAX):
            return None
    return stack[0]


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
