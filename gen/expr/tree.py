"""Parses expressions of annotations, C's over parameters and constants, into trees whose names are not yet looked
up."""

import re

from base.bounds import MAX_NESTING
from expr.plain import spell_tree
from tokens.cursor import tell_found
from tokens.lexer import spell_tokens, TokenError

RELATIONS = {'<': 'LT', '<=': 'LE', '>': 'GT', '>=': 'GE', '==': 'EQ', '!=': 'NE'}
# By precedence, weakest first; all are left-associative.
_LOGIC = ({'||': 'OR'}, {'&&': 'AND'}, {'|': 'BIT_OR'}, {'^': 'BIT_XOR'}, {'&': 'BIT_AND'})
_BINARY = ({'<<': 'SHL', '>>': 'SHR'}, {'+': 'ADD', '-': 'SUB'}, {'*': 'MUL', '/': 'DIV', '%': 'MOD'})
_FUNCTIONS = {'min': 'MIN', 'max': 'MAX'}
_OF_TYPES = {'sizeof': 'SIZEOF', 'is_integral': 'IS_INTEGRAL'}
ORDERS = ('distinct', 'ascending')


class Node:
    """A node of the tree: a kind, the token it starts at, and its parts."""

    def __init__(self, kind, token, *parts):
        self.kind, self.token, self.parts = kind, token, parts
        self.text = ''      # text as written, set for terms of comparisons


def parse_expr(cursor):
    """Parses an expression of C, with chained comparisons; names in the tree are not yet looked up."""
    condition = _parse_logic(cursor, 0)
    if not cursor.at('?'):
        return condition
    cursor.nesting += 1         # limits the nesting of ?:, too
    token = cursor.operator()
    yes = parse_expr(cursor)
    cursor.expect(':', 'between the two values of ?:')
    no = parse_expr(cursor)
    cursor.nesting -= 1
    return Node('SELECT', token, condition, yes, no)


def _parse_logic(cursor, level):
    if level == len(_LOGIC):
        return _parse_comparison(cursor)
    left = _parse_logic(cursor, level + 1)
    while cursor.at(*_LOGIC[level]):
        token = cursor.operator()
        left = Node(_LOGIC[level][token.text], token, left, _parse_logic(cursor, level + 1))
    return left


def _parse_comparison(cursor):
    terms, relations = [_parse_term(cursor)], []
    while cursor.at(*RELATIONS) and not cursor.adjacent('<', '<') and not cursor.adjacent('>', '>'):
        relations.append(cursor.operator())
        terms.append(_parse_term(cursor))
    return Node('CHAIN', relations[0], terms, relations) if relations else terms[0]


def _parse_term(cursor):
    mark = cursor.mark()
    term = _parse_arithmetic(cursor, 0)
    term.text = text_since(cursor, mark, term)
    return term


def text_since(cursor, mark, tree):
    """Returns the text of the tokens of `tree`, which start at `mark`. If macros produced any of them, it spells the
    tree instead, because callers of the kernel do not know its macros."""
    tokens = cursor.tokens_since(mark)
    return spell_tokens(tokens) if all(token.exact for token in tokens) else spell_tree(tree)


def _parse_arithmetic(cursor, level):
    if level == len(_BINARY):
        return _parse_unary(cursor)
    left = _parse_arithmetic(cursor, level + 1)
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
        left = Node(kind, token, left, _parse_arithmetic(cursor, level + 1))


def _parse_unary(cursor):
    cursor.nesting += 1
    if cursor.nesting > MAX_NESTING:
        raise TokenError(cursor.token, f'the expression is nested more than {MAX_NESTING} deep; make it simpler')
    for spelling, kind in (('-', 'NEG'), ('!', 'NOT'), ('~', 'BIT_NOT')):
        if cursor.at(spelling):
            node = Node(kind, cursor.take(), _parse_unary(cursor))
            break
    else:
        cursor.accept('+')
        node = _parse_primary(cursor)
    cursor.nesting -= 1
    return node


def _parse_primary(cursor):
    token = cursor.take()
    if token.text == '(' and token.kind == 'punctuation':
        inner = parse_expr(cursor)
        cursor.expect(')', 'to close the parenthesis')
        return inner
    if token.kind == 'number':
        return Node('NUMBER', token)
    if token.kind == 'identifier' and token.text in _OF_TYPES:
        cursor.expect('(', f'after {token.text}')
        words = read_type_words(cursor)
        if not words:
            raise TokenError(cursor.token, f'{token.text} takes a type' + tell_found(cursor.token))
        stars = 0
        while cursor.accept('*'):
            stars += 1
        cursor.expect(')', f'to close {token.text}')
        return Node(_OF_TYPES[token.text], token, words, stars)
    if token.kind == 'identifier' and token.text in _FUNCTIONS and cursor.accept('('):
        left = parse_expr(cursor)
        cursor.expect(',', f'between the two arguments of {token.text}')
        right = parse_expr(cursor)
        cursor.expect(')', f'after the two arguments of {token.text}')
        return Node(_FUNCTIONS[token.text], token, left, right)
    if token.kind == 'identifier' and token.text in ORDERS and cursor.accept('('):
        array = cursor.take()
        if array.kind != 'identifier':
            raise TokenError(array, f'{token.text} takes the name of an array, as in {token.text}(index)' +
                             tell_found(array))
        cursor.expect(')', f'to close {token.text}, which takes one array')
        return Node('ORDER', token, array)
    if token.kind == 'identifier' or token.text == '::' and token.kind == 'punctuation':
        return _parse_name(cursor, token)
    raise TokenError(token, 'expected a number, a parameter or a parenthesis' + tell_found(token))


def read_type_words(cursor, depth=0):
    """Reads the words of a type: identifiers, qualified names, and the template arguments of complex<...>."""
    words = []
    while cursor.token.kind == 'identifier' or cursor.at('::'):
        if words and (cursor.at('::') or words[-1].endswith('::')):
            words[-1] += cursor.take().text
        else:
            words.append(cursor.take().text)
        if words[-1].endswith('complex') and cursor.at('<') and depth < 2:
            cursor.take()
            words[-1] += '<' + ' '.join(read_type_words(cursor, depth + 1)) + '>'
            cursor.expect('>', 'to close complex<')
    return words


def _parse_name(cursor, token):
    """Reads a parameter, a constant, a member of a parameter, or every element of an array."""
    if cursor.accept('['):
        if cursor.accept(':'):
            cursor.expect(']', "after '[:'")
            return Node('ELEMENTS', token, *_read_path(cursor, f'{token.text}[:]'))
        raise TokenError(token, f"one element of an array has no value here; write {token.text}[:] in a check to mean "
                                'every element')
    spelled = token.text
    while cursor.at('::') or spelled.endswith('::'):
        spelled += cursor.take().text
        if not spelled.endswith('::') and not re.fullmatch(r'(?:::)?(?:\w+::)*[A-Za-z_]\w*', spelled):
            raise TokenError(token, f"expected a name, found '{spelled}'")
    path, indices = _read_path(cursor, spelled)
    return Node('MEMBER', token, spelled, path, indices) if path else Node('NAME', token, spelled)


def _read_path(cursor, spelled):
    """Reads members after `spelled`: ('pos.x[{0}]', trees of the indices), or ('', [])."""
    path, indices = '', []
    while cursor.at('.'):
        cursor.take()
        member = cursor.take()
        if member.kind != 'identifier':
            raise TokenError(member, f"expected a member of {spelled}{path}" + tell_found(member))
        path += '.' + member.text
        while cursor.accept('['):
            indices.append(parse_expr(cursor))
            path += f'[{{{len(indices) - 1}}}]'
            cursor.expect(']', f'after the index of {spelled}')
    return path[1:], indices
