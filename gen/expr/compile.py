"""Compiles trees to postfix steps of one instance, which the library evaluates."""

import re
import struct

from base.bounds import MAX_EXPR_DEPTH, INT64_MAX
from base.model import Expr
from expr.plain import spell_tree
from expr.tree import Node, RELATIONS
from tokens.lexer import TokenError


def reads_real(node, names):
    """True if a tree reads a floating-point parameter or constant and is compiled as a real expression."""
    if node.kind == 'NUMBER':
        return re.fullmatch(r'0[xX][^.pP]*|0[bB].*|[^.eE]*', node.token.text) is None
    if node.kind in ('NAME', 'MEMBER'):
        spelled = node.parts[0]
        ctype = next((t for name, t, pointer in names.params if name == spelled and not pointer), None)
        for step in re.findall(r'[A-Za-z_]\w*', node.parts[1]) if node.kind == 'MEMBER' and ctype else ():
            ctype = (ctype.members or {}).get(step) if ctype else None
        return ctype is not None and ctype.kind in ('float', 'half')
    parts = node.parts[0] if node.kind == 'CHAIN' else node.parts
    return any(reads_real(part, names) for part in parts if isinstance(part, Node))


def compile_expr(node, text, names, real=False):
    """Compiles a tree for one instance: exact over integers, or over double if `real`."""
    ops = tuple(_compile_node(node, names, real)) + (('END', 0),)
    if _measure_depth(ops) > MAX_EXPR_DEPTH:
        raise TokenError(node.token, f'the expression needs more than {MAX_EXPR_DEPTH} values at once; make it simpler')
    return Expr(text, ops)


def _compile_node(node, names, real):
    if node.kind == 'NUMBER':
        return [_read_real(node.token) if real else ('CONST', _read_number(node.token))]
    if node.kind == 'SIZEOF':
        return [('CONST', names.find_size(node.token, *node.parts))]
    if node.kind == 'IS_INTEGRAL':
        return [('CONST', names.is_integral(node.token, *node.parts))]
    if node.kind == 'NAME':
        return [names.resolve(node.token, node.parts[0], real)]
    if node.kind == 'MEMBER':
        return [names.find_member(node.token, *node.parts, real)]
    if node.kind == 'ELEMENTS':
        raise TokenError(node.token, f'{node.token.text}[:] may stand only in check(), compared with bounds')
    if node.kind == 'ORDER':
        raise TokenError(node.token, f'{spell_tree(node)} may stand only in check(), as a condition of its own')
    if node.kind == 'CHAIN':
        return _compile_chain(*node.parts, names, real)
    parts = [_compile_node(part, names, real) for part in node.parts]
    if node.kind in ('AND', 'OR'):
        # The right side is skipped if the left one decides; the last two steps turn its value into 0 or 1.
        right = parts[1] + [('NOT', 0), ('NOT', 0)]
        return parts[0] + [(node.kind, len(right))] + right
    if node.kind == 'SELECT':
        return parts[0] + [('UNLESS', len(parts[1]) + 1)] + parts[1] + [('SKIP', len(parts[2]))] + parts[2]
    if node.kind == 'BIT_NOT':
        return parts[0] + [('CONST', -1), ('BIT_XOR', 0)]
    if real and node.kind in ('SHL', 'SHR', 'MOD', 'BIT_AND', 'BIT_OR', 'BIT_XOR'):
        raise TokenError(node.token, f"'{node.token.text}' takes integers, and this expression is one of real numbers")
    return [op for part in parts for op in part] + [(node.kind, 0)]


def read_leaf(node, names, real=False):
    """Returns the value of a tree that is a single constant; None for other trees, and if only the C compiler knows
    it."""
    if node.kind not in ('NUMBER', 'SIZEOF', 'IS_INTEGRAL', 'NAME'):
        return None
    code, operand = _compile_node(node, names, real)[0]
    if code == 'REAL':
        return struct.unpack('<d', struct.pack('<q', operand))[0]
    return operand if code == 'CONST' and not isinstance(operand, tuple) else None


def _compile_chain(terms, relations, names, real):
    ops = []
    for i, relation in enumerate(relations):
        link = (_compile_node(terms[i], names, real) + _compile_node(terms[i + 1], names, real) +
                [(RELATIONS[relation.text], 0)])
        ops += [('AND', len(link))] + link if ops else link
    return ops


def _read_number(token):
    match = re.fullmatch(r'(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uU]?[lL]{0,2}|[lL]{1,2}[uU]?)',
                         token.text.replace("'", ''))
    if not match:
        raise TokenError(token, f"'{token.text}' is no integer; an expression takes integers")
    digits = match.group(1)
    if re.fullmatch(r'0\d+', digits):
        digits = '0o' + digits[1:]
    try:
        value = int(digits, 0)
    except ValueError:
        raise TokenError(token, f"'{token.text}' is no integer") from None
    if value > INT64_MAX:
        raise TokenError(token, f'{token.text} does not fit 64 bits')
    return value


def _read_real(token):
    """Returns a number of a real expression."""
    text = token.text.replace("'", '')
    if re.fullmatch(r'0[xX][\da-fA-F]*\.?[\da-fA-F]*[pP][+-]?\d+[fFlL]?', text):
        try:
            value = float.fromhex(text.rstrip('fFlL'))
        except (OverflowError, ValueError):
            value = float('inf')
        return _real_bits(token, value, text[-1] in 'fF')
    if re.fullmatch(r'(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fFlL]?', text) and not re.fullmatch(r'\d+[lL]?', text):
        return _real_bits(token, float(text.rstrip('fFlL')), text[-1] in 'fF')
    return 'CONST', _read_number(token)


def _real_bits(token, value, is_float):
    try:
        value = struct.unpack('<f', struct.pack('<f', value))[0] if is_float else value
    except OverflowError:
        value = float('inf')
    if value == float('inf'):
        raise TokenError(token, f'{token.text} does not fit a {"float" if is_float else "double"}')
    return 'REAL', struct.unpack('<q', struct.pack('<d', value))[0]


def _measure_depth(ops):
    depth = deepest = 0
    for code, _ in ops:
        if code in ('CONST', 'PARAM', 'MEMBER', 'REAL'):
            depth += 1
        elif code not in ('NEG', 'NOT', 'END'):
            depth -= 1          # SKIP too: the other value takes its place on the stack
        deepest = max(deepest, depth)
    return deepest
