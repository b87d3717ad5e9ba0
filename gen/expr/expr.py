"""Expressions of annotations: C's over integer parameters and constants, compiled to postfix steps."""

import math
import re
import struct

from expr.cxxtypes import UNREADABLE
from base.diagnostics import closest
from tokens.lexer import written
from expr.plain import plain
from base.model import Expr

MAX_DEPTH = 16      # CF_EXPR_DEPTH
MAX_NESTING = 64    # of parentheses and unary operators; with the next, bounds the recursion
MAX_OPERATORS = 200
INT64_MAX = 2**63 - 1

RELATIONS = {'<': 'LT', '<=': 'LE', '>': 'GT', '>=': 'GE', '==': 'EQ', '!=': 'NE'}
# By precedence, the weakest first; all bind to the left.
_LOGIC = ({'||': 'OR'}, {'&&': 'AND'}, {'|': 'BIT_OR'}, {'^': 'BIT_XOR'}, {'&': 'BIT_AND'})
_BINARY = ({'<<': 'SHL', '>>': 'SHR'}, {'+': 'ADD', '-': 'SUB'}, {'*': 'MUL', '/': 'DIV', '%': 'MOD'})
_FUNCTIONS = {'min': 'MIN', 'max': 'MAX'}
_OF_TYPES = {'sizeof': 'SIZEOF', 'is_integral': 'IS_INTEGRAL'}
ORDERS = ('distinct', 'ascending')


class ExprError(Exception):
    """An expression that is wrong, at a token."""

    def __init__(self, token, message):
        super().__init__(message)
        self.token = token


def check_names(tokens):
    """Raises ExprError where a name is none for C programs: which other letters one may have is the compiler's to say,
    and how they are written."""
    for token in tokens:
        if token.kind == 'identifier' and not re.fullmatch(r'\w+', token.text, re.ASCII):
            raise ExprError(token, f"'{token.text}' is no name that C programs can write everywhere; make it of the letters "
                                   'a to z and A to Z, digits and _')


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

    def reset(self, mark):
        """Goes back to a mark."""
        self._at = mark

    def text_since(self, mark, tree):
        """The text of the tokens since `mark`, which gave the tree. Callers of the kernel do not know its macros: the tree's
        own text, if macros gave some of the tokens."""
        tokens = self._tokens[mark:self._at]
        return written(tokens) if all(token.exact for token in tokens) else plain(tree)

    def adjacent(self, first, second):
        """Whether two tokens stand here without a blank between them, as those of << and >> do."""
        token = self.token
        if not self.at(first) or self._at + 1 >= len(self._tokens):
            return False
        after = self._tokens[self._at + 1]
        return (after.kind == 'punctuation' and after.text == second and after.line == token.line and
                (after.column == token.column + 1 or after.column == token.column))


def found(token):
    shown = token.text if token.text.isprintable() else ascii(token.text)[1:-1]
    return ', found the end of the line' if token.kind == 'end' else f", found '{shown}'"


class Node:
    """A node of the tree: a kind, the token it starts at, and its parts."""

    def __init__(self, kind, token, *parts):
        self.kind, self.token, self.parts = kind, token, parts
        self.text = ''      # as written; known for the terms of comparisons


def parse(cursor):
    """expression: C's, with comparisons that chain; returns a tree whose names are not yet looked up."""
    condition = _logic(cursor, 0)
    if not cursor.at('?'):
        return condition
    cursor.nesting += 1         # what stands between is refused where it is too deep
    token = cursor.operator()
    yes = parse(cursor)
    cursor.expect(':', 'between the two values of ?:')
    no = parse(cursor)
    cursor.nesting -= 1
    return Node('SELECT', token, condition, yes, no)


def _logic(cursor, level):
    if level == len(_LOGIC):
        return _comparison(cursor)
    left = _logic(cursor, level + 1)
    while cursor.at(*_LOGIC[level]):
        token = cursor.operator()
        left = Node(_LOGIC[level][token.text], token, left, _logic(cursor, level + 1))
    return left


def _comparison(cursor):
    terms, relations = [_term(cursor)], []
    while cursor.at(*RELATIONS) and not cursor.adjacent('<', '<') and not cursor.adjacent('>', '>'):
        relations.append(cursor.operator())
        terms.append(_term(cursor))
    return Node('CHAIN', relations[0], terms, relations) if relations else terms[0]


def _term(cursor):
    mark = cursor.mark()
    term = _arithmetic(cursor, 0)
    term.text = cursor.text_since(mark, term)
    return term


def _arithmetic(cursor, level):
    if level == len(_BINARY):
        return _unary(cursor)
    left = _arithmetic(cursor, level + 1)
    while True:
        if level == 0 and (cursor.adjacent('<', '<') or cursor.adjacent('>', '>')):
            token = cursor.operator()
            cursor.take()
            kind = _BINARY[0][token.text * 2]
        elif level > 0 and cursor.at(*_BINARY[level]):
            token = cursor.operator()
            kind = _BINARY[level][token.text]
        else:
            return left
        left = Node(kind, token, left, _arithmetic(cursor, level + 1))


def _unary(cursor):
    cursor.nesting += 1
    if cursor.nesting > MAX_NESTING:
        raise ExprError(cursor.token, f'the expression is nested more than {MAX_NESTING} deep; make it simpler')
    for spelling, kind in (('-', 'NEG'), ('!', 'NOT'), ('~', 'BIT_NOT')):
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
        inner = parse(cursor)
        cursor.expect(')', 'to close the parenthesis')
        return inner
    if token.kind == 'number':
        return Node('NUMBER', token)
    if token.kind == 'identifier' and token.text in _OF_TYPES:
        cursor.expect('(', f'after {token.text}')
        words = type_words(cursor)
        if not words:
            raise ExprError(cursor.token, f'{token.text} takes a type' + found(cursor.token))
        stars = 0
        while cursor.accept('*'):
            stars += 1
        cursor.expect(')', f'to close {token.text}')
        return Node(_OF_TYPES[token.text], token, words, stars)
    if token.kind == 'identifier' and token.text in _FUNCTIONS and cursor.accept('('):
        left = parse(cursor)
        cursor.expect(',', f'between the two arguments of {token.text}')
        right = parse(cursor)
        cursor.expect(')', f'after the two arguments of {token.text}')
        return Node(_FUNCTIONS[token.text], token, left, right)
    if token.kind == 'identifier' and token.text in ORDERS and cursor.accept('('):
        array = cursor.take()
        if array.kind != 'identifier':
            raise ExprError(array, f'{token.text} takes the name of an array, as in {token.text}(index)' + found(array))
        cursor.expect(')', f'to close {token.text}, which takes one array')
        return Node('ORDER', token, array)
    if token.kind == 'identifier' or token.text == '::' and token.kind == 'punctuation':
        return _name(cursor, token)
    raise ExprError(token, 'expected a number, a parameter or a parenthesis' + found(token))


def type_words(cursor, depth=0):
    """The words of a type: identifiers, qualified names, and the template arguments of complex<...>."""
    words = []
    while cursor.token.kind == 'identifier' or cursor.at('::'):
        if words and (cursor.at('::') or words[-1].endswith('::')):
            words[-1] += cursor.take().text
        else:
            words.append(cursor.take().text)
        if words[-1].endswith('complex') and cursor.at('<') and depth < 2:
            cursor.take()
            words[-1] += '<' + ' '.join(type_words(cursor, depth + 1)) + '>'
            cursor.expect('>', 'to close complex<')
    return words


def _name(cursor, token):
    """A parameter, a constant, a member of a parameter, or every element of an array."""
    if cursor.accept('['):
        if cursor.accept(':'):
            cursor.expect(']', "after '[:'")
            return Node('ELEMENTS', token)
        raise ExprError(token, f"one element of an array has no value here; write {token.text}[:] in a check to mean "
                               'every element')
    spelled = token.text
    while cursor.at('::') or spelled.endswith('::'):
        spelled += cursor.take().text
        if not spelled.endswith('::') and not re.fullmatch(r'(?:::)?(?:\w+::)*[A-Za-z_]\w*', spelled):
            raise ExprError(token, f"expected a name, found '{spelled}'")
    path, indices = '', []
    while cursor.at('.'):
        cursor.take()
        member = cursor.take()
        if member.kind != 'identifier':
            raise ExprError(member, f"expected a member of {spelled}{path}" + found(member))
        path += '.' + member.text
        while cursor.accept('['):
            indices.append(parse(cursor))
            path += f'[{{{len(indices) - 1}}}]'
            cursor.expect(']', f'after the index of {spelled}')
    return Node('MEMBER', token, spelled, path[1:], indices) if path else Node('NAME', token, spelled)


class Names:
    """What names mean in one instance: parameters by number, constants and types by value."""

    def __init__(self, params, constants, types, declared, scope):
        """params: list of (name, type, is pointer); constants: name to int; types: name to type; declared: the file's
        types and constants, looked up from `scope`."""
        self.params, self.constants, self.types = params, constants, types
        self.declared, self.scope = declared, scope
        self.proofs = set()         # (scope, name, value) of the constants that were taken as the file has them

    def resolve(self, token, spelled, real):
        if spelled in self.constants:
            return 'CONST', self.constants[spelled]
        for number, (name, ctype, pointer) in enumerate(self.params):
            if name == spelled:
                if pointer:
                    raise ExprError(token, f'{name} is an array; an expression takes numbers')
                if ctype.kind in ('struct', 'vector'):
                    raise ExprError(token, f'{name} is {ctype.cxx}; an expression takes one of its members, as in '
                                           f'{name}.{next(iter(ctype.members or ("x",)))}')
                self._check(token, name, ctype, real)
                return 'PARAM', number
        value = self.declared.constant(self.scope, spelled)
        if value is UNREADABLE:
            raise ExprError(token, f'the value of {spelled} cannot be told here; use a literal, a macro, or a '
                                   'constant that is made of those')
        if value is not None:
            if spelled not in ('true', 'false'):
                self.proofs.add((self.scope, spelled, value))
            return 'CONST', value
        raise ExprError(token, f"'{spelled}' is no parameter of the kernel" + self._suggestion(spelled))

    @staticmethod
    def _check(token, name, ctype, real):
        if not (ctype.number if real else ctype.integer):
            what = {'float': 'a floating-point number', 'half': 'a floating-point number',
                    'complex': 'a complex number', 'pointer': 'a pointer',
                    'array': f'an array; write {name}[0]',
                    'bit-field': 'a bit-field, which has no address', 'struct': 'a struct'}.get(ctype.kind, ctype.cxx)
            raise ExprError(token, f'{name} is {what}; an expression takes {"numbers" if real else "integers"}')

    def number(self, token, spelled):
        """The number of a parameter."""
        number = next((i for i, p in enumerate(self.params) if p[0] == spelled), None)
        if number is None:
            raise ExprError(token, f"'{spelled}' is no parameter of the kernel" + self._suggestion(spelled))
        return number

    def _index(self, node):
        value = constant_value(compile_expr(node, '', self))
        if value is None or value < 0:
            raise ExprError(node.token, 'the index of a member is a constant')
        return value

    def member(self, token, spelled, path, indices, real):
        """A member of a parameter; its C type's name is empty where the C compiler has to tell."""
        path = path.format(*(self._index(i) for i in indices))
        number = self.number(token, spelled)
        _, ctype, pointer = self.params[number]
        whole = ctype
        if pointer:
            raise ExprError(token, f'{spelled} is an array; an expression takes members of what is passed by value')
        if ctype.kind not in ('struct', 'vector'):
            raise ExprError(token, f'{spelled} is {ctype.cxx}, which has no members')
        at = spelled
        for step in re.findall(r'\w+|\[\d+\]', path):
            if ctype is None or ctype.kind == 'struct' and ctype.members is None:
                ctype = None
                break
            if step.startswith('['):
                ctype = self._element(token, ctype, at, step)
                at += step
                continue
            if ctype.kind == 'array':
                raise ExprError(token, f'{at} is an array; write {at}[0]')
            if step not in (ctype.members or {}):
                near = closest(step, list(ctype.members or {}))
                raise ExprError(token, f"{at} has no member '{step}'" + (f"; did you mean '{near}'?" if near else ''))
            ctype = ctype.members[step]
            at += f'.{step}'
        if ctype is not None:
            self._check(token, f'{spelled}.{path}', ctype, real)
        known = ctype is not None and ctype.kind != 'enum'      # whether an enumeration is signed is the compiler's
        return 'MEMBER', (number, whole.c, path, ctype.enum if known else '', real)

    @staticmethod
    def _element(token, ctype, at, step):
        if ctype.kind != 'array':
            raise ExprError(token, f'{at} is no array')
        if ctype.bytes is not None and int(step[1:-1]) >= ctype.bytes:
            raise ExprError(token, f'{at} has {ctype.bytes} elements, and no {at}{step}')
        return ctype.members['[]']

    def _suggestion(self, name):
        near = closest(name, [p[0] for p in self.params] + list(self.constants))
        return f"; did you mean '{near}'?" if near else ''

    def _type(self, token, words):
        ctype = self.types.get(words[0]) if len(words) == 1 else None
        ctype = ctype or self.declared.find(self.scope, words)
        if isinstance(ctype, str):
            raise ExprError(token, ctype)
        if ctype is None:
            raise ExprError(token, f"{token.text} takes a type that C knows or a template's type, not "
                                   f"'{' '.join(words)}'")
        return ctype

    def size(self, token, words, stars):
        if stars:
            return 8
        ctype = self._type(token, words)
        return ctype.bytes if ctype.bytes is not None else ('sizeof', ctype.c)

    def is_integral(self, token, words, stars):
        """As std::is_integral says: also of bool, and not of enumerations."""
        return int(self._type(token, words).kind == 'integer' and not stars)


def reads_real(node, names):
    """Whether a tree reads a floating-point parameter or constant, so that it is compiled as a real expression."""
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
    """Compiles a tree for one instance: exact over integers, or `real`."""
    ops = tuple(_compile(node, names, real)) + (('END', 0),)
    if _depth(ops) > MAX_DEPTH:
        raise ExprError(node.token, f'the expression needs more than {MAX_DEPTH} values at once; make it simpler')
    return Expr(text, ops)


def _compile(node, names, real):
    if node.kind == 'NUMBER':
        return [_real(node.token) if real else ('CONST', _number(node.token))]
    if node.kind == 'SIZEOF':
        return [('CONST', names.size(node.token, *node.parts))]
    if node.kind == 'IS_INTEGRAL':
        return [('CONST', names.is_integral(node.token, *node.parts))]
    if node.kind == 'NAME':
        return [names.resolve(node.token, node.parts[0], real)]
    if node.kind == 'MEMBER':
        return [names.member(node.token, *node.parts, real)]
    if node.kind == 'ELEMENTS':
        raise ExprError(node.token, f'{node.token.text}[:] may stand only in check(), compared with bounds')
    if node.kind == 'ORDER':
        raise ExprError(node.token, f'{plain(node)} may stand only in check(), as a condition of its own')
    if node.kind == 'CHAIN':
        return _compile_chain(*node.parts, names, real)
    parts = [_compile(part, names, real) for part in node.parts]
    if node.kind in ('AND', 'OR'):
        # The right side is skipped where the left one decides; the last two steps make its value 0 or 1.
        right = parts[1] + [('NOT', 0), ('NOT', 0)]
        return parts[0] + [(node.kind, len(right))] + right
    if node.kind == 'SELECT':
        return parts[0] + [('UNLESS', len(parts[1]) + 1)] + parts[1] + [('SKIP', len(parts[2]))] + parts[2]
    if node.kind == 'BIT_NOT':
        return parts[0] + [('CONST', -1), ('BIT_XOR', 0)]
    if real and node.kind in ('SHL', 'SHR', 'MOD', 'BIT_AND', 'BIT_OR', 'BIT_XOR'):
        raise ExprError(node.token, f"'{node.token.text}' takes integers, and this expression is one of real numbers")
    return [op for part in parts for op in part] + [(node.kind, 0)]


def constant_leaf(node, names, real=False):
    """The value of a tree that is one constant; None for others, and where the C compiler has to tell it."""
    if node.kind not in ('NUMBER', 'SIZEOF', 'IS_INTEGRAL', 'NAME'):
        return None
    code, operand = _compile(node, names, real)[0]
    if code == 'REAL':
        return struct.unpack('<d', struct.pack('<q', operand))[0]
    return operand if code == 'CONST' and not isinstance(operand, tuple) else None


def _compile_chain(terms, relations, names, real):
    ops = []
    for i, relation in enumerate(relations):
        link = _compile(terms[i], names, real) + _compile(terms[i + 1], names, real) + [(RELATIONS[relation.text], 0)]
        ops += [('AND', len(link))] + link if ops else link
    return ops


def _number(token):
    match = re.fullmatch(r'(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uU]?[lL]{0,2}|[lL]{1,2}[uU]?)',
                         token.text.replace("'", ''))
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


def _real(token):
    """A number in a real expression."""
    text = token.text.replace("'", '')
    if re.fullmatch(r'0[xX][\da-fA-F]*\.?[\da-fA-F]*[pP][+-]?\d+[fFlL]?', text):
        try:
            value = float.fromhex(text.rstrip('fFlL'))
        except (OverflowError, ValueError):
            value = float('inf')
        return _real_bits(token, value)
    if re.fullmatch(r'(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fFlL]?', text) and not re.fullmatch(r'\d+[lL]?', text):
        return _real_bits(token, float(text.rstrip('fFlL')))
    return 'CONST', _number(token)


def _real_bits(token, value):
    if value == float('inf'):
        raise ExprError(token, f'{token.text} does not fit a double')
    return 'REAL', struct.unpack('<q', struct.pack('<d', value))[0]


def constant_value(expr):
    """The value of an expression that reads no parameter, as the runtime would find it; None for others, and where it
    does not exist or does not fit."""
    return _evaluate(expr, int, calculate)


def real_value(expr):
    """The same of a real expression, as the runtime finds it; infinite or no number where that is so."""
    return _evaluate(expr, float, _calculate_real)


def _evaluate(expr, number, binary):
    """The value of an expression in int or float, by `binary`(code, left, right); None as above."""
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
    if code == 'DIV' and right == 0:        # which Python refuses
        return math.nan if left == 0 or left != left else math.copysign(math.inf, left) * math.copysign(1, right)
    return {'ADD': lambda: left + right, 'SUB': lambda: left - right, 'MUL': lambda: left * right,
            'DIV': lambda: left / right, 'MIN': lambda: left if left < right else right,
            'MAX': lambda: left if left > right else right, 'LT': lambda: float(left < right),
            'LE': lambda: float(left <= right), 'GT': lambda: float(left > right), 'GE': lambda: float(left >= right),
            'EQ': lambda: float(left == right), 'NE': lambda: float(left != right)}[code]()


def calculate(code, left, right):
    """Of numbers without limits; None where there is no result."""
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


def _depth(ops):
    depth = deepest = 0
    for code, _ in ops:
        if code in ('CONST', 'PARAM', 'MEMBER', 'REAL'):
            depth += 1
        elif code not in ('NEG', 'NOT', 'END'):
            depth -= 1          # SKIP too: the other value takes its place
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
