"""Compiles parsed trees to the trees of one instance, in which names are replaced by parameters and constants."""

import re
import struct
from functools import reduce

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
        return ctype is not None and ctype.kind in ('float', 'coded')
    parts = node.parts[0] if node.kind == 'CHAIN' else node.parts
    return any(reads_real(part, names) for part in parts if isinstance(part, Node))


def compile_expr(node, text, names, real=False):
    """Compiles a tree for one instance: exact over integers, or over double if `real`."""
    tree = _compile_node(node, names, real)
    if _measure_depth(tree) > MAX_EXPR_DEPTH:
        raise TokenError(node.token, f'the expression needs more than {MAX_EXPR_DEPTH} values at once; make it simpler')
    return Expr(text, tree)


def _compile_node(node, names, real):
    if node.kind == 'NUMBER':
        return _read_real(node.token) if real else ('CONST', _read_number(node.token))
    if node.kind == 'SIZEOF':
        return 'CONST', names.find_size(node.token, *node.parts)
    if node.kind == 'IS_INTEGRAL':
        return 'CONST', names.is_integral(node.token, *node.parts)
    if node.kind == 'NAME':
        return names.resolve(node.token, node.parts[0], real)
    if node.kind == 'MEMBER':
        return names.find_member(node.token, *node.parts, real)
    if node.kind == 'ELEMENTS':
        raise TokenError(node.token, f'{node.token.text}[:] may stand only in check(), compared with bounds')
    if node.kind == 'ORDER':
        raise TokenError(node.token, f'{spell_tree(node)} may stand only in check(), as a condition of its own')
    if node.kind == 'CHAIN':
        return _compile_chain(*node.parts, names, real)
    parts = [_compile_node(part, names, real) for part in node.parts]
    if node.kind in ('AND', 'OR'):      # two negations turn the right value into 0 or 1
        return node.kind, parts[0], ('NOT', ('NOT', parts[1]))
    if node.kind == 'BIT_NOT':
        return 'BIT_XOR', parts[0], ('CONST', -1)
    if real and node.kind in ('SHL', 'SHR', 'MOD', 'BIT_AND', 'BIT_OR', 'BIT_XOR'):
        raise TokenError(node.token, f"'{node.token.text}' takes integers, and this expression is one of real numbers")
    return (node.kind, *parts)


def read_leaf(node, names, real=False):
    """Returns the value of a tree that is a single constant; None for other trees, and if only the C compiler knows
    it."""
    if node.kind not in ('NUMBER', 'SIZEOF', 'IS_INTEGRAL', 'NAME'):
        return None
    code, operand = _compile_node(node, names, real)
    if code == 'REAL':
        return struct.unpack('<d', struct.pack('<q', operand))[0]
    return operand if code == 'CONST' and not isinstance(operand, tuple) else None


def _compile_chain(terms, relations, names, real):
    nodes = [_compile_node(term, names, real) for term in terms]
    links = [(RELATIONS[relation.text], *nodes[i:i + 2]) for i, relation in enumerate(relations)]
    return reduce(lambda before, link: ('AND', before, link), links)


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


def _measure_depth(node):
    """Returns the largest number of values on the library's stack while it evaluates a tree."""
    code, *parts = node
    if code in ('CONST', 'REAL', 'PARAM', 'MEMBER'):
        return 1
    depths = [_measure_depth(part) for part in parts]
    is_lazy = len(parts) == 1 or code in ('AND', 'OR', 'SELECT')      # the value of one part replaces that of another
    return max(depths) if is_lazy else max(depths[0], 1 + depths[1])
