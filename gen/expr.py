"""Expressions of annotations: C-like over integer parameters and template constants, compiled to postfix steps."""

import re
from difflib import get_close_matches

from model import SCALAR_TYPES, Expr

MAX_DEPTH = 16      # CF_EXPR_DEPTH
MAX_NESTING = 64    # of parentheses and unary operators; with the next, bounds the recursion
MAX_OPERATORS = 200
INT64_MAX = 2**63 - 1

_RELATIONS = {'<': 'LT', '<=': 'LE', '>': 'GT', '>=': 'GE', '==': 'EQ', '!=': 'NE'}
_BINARY = ({'+': 'ADD', '-': 'SUB'}, {'*': 'MUL', '/': 'DIV', '%': 'MOD'})
_FUNCTIONS = {'min': 'MIN', 'max': 'MAX'}


class ExprError(Exception):
    """An expression that is wrong, at a token."""

    def __init__(self, token, message):
        super().__init__(message)
        self.token = token


class Cursor:
    """A position in a list of tokens."""

    def __init__(self, tokens):
        self._tokens = tokens
        self._at = 0
        self.nesting = 0
        self._operators = 0

    @property
    def token(self):
        return self._tokens[self._at]

    def at(self, *texts):
        return self.token.text in texts and self.token.kind not in ('string', 'end')

    def take(self):
        token = self.token
        if token.kind != 'end':
            self._at += 1
        return token

    def accept(self, text):
        return self.take() if self.at(text) else None

    def expect(self, text, after):
        if not self.at(text):
            raise ExprError(self.token, f"expected '{text}' {after}{found(self.token)}")
        return self.take()

    def operator(self):
        """Takes an operator between two operands."""
        self._operators += 1
        if self._operators > MAX_OPERATORS:
            raise ExprError(self.token, f'more than {MAX_OPERATORS} operators in one clause; make it simpler')
        return self.take()

    def mark(self):
        return self._at

    def text_since(self, mark):
        """The source text of the tokens taken since `mark`, white space folded."""
        parts = []
        previous = None
        for token in self._tokens[mark:self._at]:
            if previous is not None and (token.location.line != previous.location.line or
                                         token.location.column > previous.location.column + len(previous.text)):
                parts.append(' ')
            parts.append(token.text)
            previous = token
        return ''.join(parts)


def found(token):
    return ', found the end of the line' if token.kind == 'end' else f", found '{token.text}'"


class Node:
    """A node of the tree: a kind, the token it starts at, and its parts."""

    def __init__(self, kind, token, *parts):
        self.kind, self.token, self.parts = kind, token, parts
        self.text = ''      # as written; known for the terms of comparisons


def parse(cursor):
    """expression: conditions joined by && and ||; returns a tree whose names are not yet looked up."""
    return _logic(cursor, 0)


def _logic(cursor, level):
    if level == 2:
        return _comparison(cursor)
    spelling, kind = (('||', 'OR'), ('&&', 'AND'))[level]
    left = _logic(cursor, level + 1)
    while cursor.at(spelling):
        token = cursor.operator()
        left = Node(kind, token, left, _logic(cursor, level + 1))
    return left


def _comparison(cursor):
    terms, relations = [_term(cursor)], []
    while cursor.at(*_RELATIONS):
        relations.append(cursor.operator())
        terms.append(_term(cursor))
    return Node('CHAIN', relations[0], terms, relations) if relations else terms[0]


def _term(cursor):
    mark = cursor.mark()
    term = _arithmetic(cursor, 0)
    term.text = cursor.text_since(mark)
    return term


def _arithmetic(cursor, level):
    if level == len(_BINARY):
        return _unary(cursor)
    left = _arithmetic(cursor, level + 1)
    while cursor.at(*_BINARY[level]):
        token = cursor.operator()
        left = Node(_BINARY[level][token.text], token, left, _arithmetic(cursor, level + 1))
    return left


def _unary(cursor):
    cursor.nesting += 1
    if cursor.nesting > MAX_NESTING:
        raise ExprError(cursor.token, f'the expression is nested more than {MAX_NESTING} deep; make it simpler')
    for spelling, kind in (('-', 'NEG'), ('!', 'NOT')):
        if cursor.at(spelling):
            node = Node(kind, cursor.take(), _unary(cursor))
            break
    else:
        cursor.accept('+')
        node = _primary(cursor)
    cursor.nesting -= 1
    return node


def _primary(cursor):
    token = cursor.take()
    if token.text == '(' and token.kind == 'punctuation':
        inner = _logic(cursor, 0)
        cursor.expect(')', 'to close the parenthesis')
        return inner
    if token.kind == 'number':
        return Node('NUMBER', token)
    if token.kind == 'identifier' and token.text == 'sizeof':
        cursor.expect('(', 'after sizeof')
        words = []
        while cursor.token.kind == 'identifier':
            words.append(cursor.take())
        if not words:
            raise ExprError(cursor.token, 'sizeof takes a type' + found(cursor.token))
        cursor.expect(')', 'to close sizeof')
        return Node('SIZEOF', words[0], ' '.join(w.text for w in words))
    if token.kind == 'identifier' and token.text in _FUNCTIONS and cursor.accept('('):
        left = _logic(cursor, 0)
        cursor.expect(',', f'between the two arguments of {token.text}')
        right = _logic(cursor, 0)
        cursor.expect(')', f'after the two arguments of {token.text}')
        return Node(_FUNCTIONS[token.text], token, left, right)
    if token.kind == 'identifier':
        if cursor.accept('['):
            if cursor.accept(':'):
                cursor.expect(']', "after '[:'")
                return Node('ELEMENTS', token)
            raise ExprError(token, f"one element of an array has no value here; write {token.text}[:] in a check to mean "
                                   'every element')
        return Node('NAME', token)
    raise ExprError(token, 'expected a number, a parameter or a parenthesis' + found(token))


class Names:
    """What names mean in one instance: integer parameters by number, template constants and types by value."""

    def __init__(self, params, constants, types):
        """params: list of (name, scalar type, is pointer); constants: name to int; types: name to scalar type."""
        self.params, self.constants, self.types = params, constants, types

    def resolve(self, token):
        if token.text in self.constants:
            return 'CONST', self.constants[token.text]
        for number, (name, scalar, pointer) in enumerate(self.params):
            if name == token.text:
                if pointer:
                    raise ExprError(token, f'{name} is an array; an expression takes integers')
                if not scalar.integer:
                    raise ExprError(token, f'{name} is a floating-point number; an expression takes integers')
                return 'PARAM', number
        raise ExprError(token, f"'{token.text}' is no parameter of the kernel" + self._suggestion(token.text))

    def _suggestion(self, name):
        near = get_close_matches(name, [p[0] for p in self.params] + list(self.constants), 1)
        return f"; did you mean '{near[0]}'?" if near else ''

    def size(self, token, spelling):
        scalar = self.types.get(spelling) or SCALAR_TYPES.get(spelling)
        if scalar is None:
            raise ExprError(token, f"sizeof takes a scalar type or a template's type, not '{spelling}'")
        return scalar.size


def compile_expr(node, text, names):
    """Compiles a tree for one instance."""
    ops = tuple(_compile(node, names)) + (('END', 0),)
    if _depth(ops) > MAX_DEPTH:
        raise ExprError(node.token, f'the expression needs more than {MAX_DEPTH} values at once; make it simpler')
    return Expr(text, ops)


def _compile(node, names):
    if node.kind == 'NUMBER':
        return [('CONST', _number(node.token))]
    if node.kind == 'SIZEOF':
        return [('CONST', names.size(node.token, node.parts[0]))]
    if node.kind == 'NAME':
        return [names.resolve(node.token)]
    if node.kind == 'ELEMENTS':
        raise ExprError(node.token, f'{node.token.text}[:] may stand only in check(), compared with bounds')
    if node.kind == 'CHAIN':
        return _compile_chain(*node.parts, names)
    parts = [_compile(part, names) for part in node.parts]
    if node.kind in ('AND', 'OR'):
        # The right side is skipped where the left one decides; the last two steps make its value 0 or 1.
        right = parts[1] + [('NOT', 0), ('NOT', 0)]
        return parts[0] + [(node.kind, len(right))] + right
    return [op for part in parts for op in part] + [(node.kind, 0)]


def _compile_chain(terms, relations, names):
    ops = []
    for i, relation in enumerate(relations):
        link = _compile(terms[i], names) + _compile(terms[i + 1], names) + [(_RELATIONS[relation.text], 0)]
        ops += [('AND', len(link))] + link if ops else link
    return ops


def _number(token):
    match = re.fullmatch(r'(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uU]?[lL]{0,2}|[lL]{1,2}[uU]?)', token.text.replace("'", ''))
    if not match:
        raise ExprError(token, f"'{token.text}' is no integer; an expression takes integers")
    digits = match.group(1)
    if re.fullmatch(r'0\d+', digits):
        digits = '0o' + digits[1:]
    try:
        value = int(digits, 0)
    except ValueError:
        raise ExprError(token, f"'{token.text}' is no integer") from None
    if value > INT64_MAX:
        raise ExprError(token, f'{token.text} does not fit 64 bits')
    return value


def constant_value(expr):
    """The value of an expression that reads no parameter and has no condition; None for others."""
    stack = []
    for code, operand in expr.ops[:-1]:
        if code == 'CONST':
            stack.append(operand)
        elif code == 'NEG':
            stack.append(-stack.pop())
        elif code in ('ADD', 'SUB', 'MUL', 'MIN', 'MAX'):
            right, left = stack.pop(), stack.pop()
            stack.append({'ADD': left + right, 'SUB': left - right, 'MUL': left * right, 'MIN': min(left, right),
                          'MAX': max(left, right)}[code])
        elif code in ('DIV', 'MOD') and stack[-1] > 0 and stack[-2] >= 0:
            right, left = stack.pop(), stack.pop()
            stack.append(left // right if code == 'DIV' else left % right)
        else:
            return None
    return stack[0]


def _depth(ops):
    depth = deepest = 0
    for code, _ in ops:
        if code in ('CONST', 'PARAM'):
            depth += 1
        elif code not in ('NEG', 'NOT', 'END'):
            depth -= 1
        deepest = max(deepest, depth)
    return deepest


def element_check(node):
    """(array token, lower, lower open, upper, upper open) where the tree bounds every element of an array, else None.
    Bounds are trees or None."""
    if node.kind != 'CHAIN' or not any(t.kind == 'ELEMENTS' for t in node.parts[0]):
        return None
    terms, relations = node.parts
    if len([t for t in terms if t.kind == 'ELEMENTS']) > 1 or len(terms) > 3:
        raise ExprError(node.token, 'a check bounds one array: write check(lower <= a[:] < upper)')
    at = next(i for i, t in enumerate(terms) if t.kind == 'ELEMENTS')
    if len(terms) == 3 and at != 1:
        raise ExprError(terms[at].token, 'the array stands between its bounds: write check(lower <= a[:] < upper)')
    bounds = {'lower': (None, False), 'upper': (None, False)}
    for i, relation in enumerate(relations):
        if relation.text in ('==', '!='):
            raise ExprError(relation, 'elements are bounded by <, <=, > and >=')
        other = terms[i] if i + 1 == at else terms[i + 1]
        # What stands on the small side of the relation is a lower bound when it is not the array.
        small = terms[i] if relation.text in ('<', '<=') else terms[i + 1]
        which = 'lower' if small is other else 'upper'
        if bounds[which][0] is not None:
            raise ExprError(relation, f'two {which} bounds for one array')
        bounds[which] = (other, relation.text in ('<', '>'))
    return (terms[at].token, *bounds['lower'], *bounds['upper'])
