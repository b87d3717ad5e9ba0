"""Reads expressions of host and device code, which are C++, as the sums that annotations can hold.

Casts are dropped, functions of one return statement are inlined, and divisions that ceil() rounds up become integer
divisions. Other calls, array elements and members of pointers become factors that are named by their text."""

import re

from declare.declarations import behind_template
from declare.statements import end_of_name
from expr.cxxtypes import BUILTIN, WORDS
from expr.tree import parse_expr
from suggest.sums import factor, name, read_sum
from tokens.brackets import matching, split_at
from tokens.cursor import Cursor
from tokens.lexer import spell_tokens, Token, TokenError

MAX_INLINED = 8         # most nested calls that are inlined
CASTS = {'static_cast', 'const_cast', 'reinterpret_cast'}
_CEILING = re.compile(r'(?i)(i?_?div_?(round)?_?up|ceil_?(ing)?_?div\w*|div_?ceil|c_?div|up_?div|round_?up_?div\w*)$')
_REAL = re.compile(r'(\d+)\.0*[fF]?$')


class Terms:
    """Reads the expressions of a file. `declarations`: those of the file."""

    def __init__(self, declarations):
        self._functions = {}
        for declaration in declarations:
            if declaration.function is not None and declaration.body is not None and not declaration.has('__global__'):
                self._functions.setdefault(declaration.name, []).append(declaration)

    def function(self, text):
        """Returns the only function of this name that the file defines; None if there are none or several."""
        found = self._functions.get(text, [])
        return found[0] if len(found) == 1 else None

    def changed_by(self, text):
        """Returns the numbers of the arguments that a function of this name may change, because it takes them by
        reference."""
        heads = [f.head[f.function + 1:] for f in self._functions.get(text, [])]
        params = [split_at(h[1:matching(h, 0, '(', ')') - 1], ',', '([{<', ')]}>') for h in heads if h]
        return {n for parts in params for n, part in enumerate(parts)
                if any(t.text == '&' for t in part) and not any(t.text == 'const' for t in part)}

    def sum(self, tokens):
        """Returns the sum that tokens spell; None if they spell no sum."""
        tree = self.tree(tokens)
        return read_sum(tree) if tree else None

    def tree(self, tokens):
        if any(is_step(tokens, at) for at in range(len(tokens))):
            return None
        try:
            plain = self._simplify(list(tokens), 0)
            cursor = Cursor(plain + [Token('end', '', '', 0, 0)])
            tree = parse_expr(cursor)
        except (TokenError, IndexError):
            return None
        return tree if cursor.token.kind == 'end' else None

    def _simplify(self, tokens, depth):
        """Returns tokens that parse_expr() can read."""
        plain, at = [], 0
        while at < len(tokens):
            token = tokens[at]
            real = _REAL.match(token.text) if token.kind == 'number' else None
            if real:
                plain.append(_made(token, 'number', real.group(1)))
                at += 1
            elif token.text == '(':
                end = matching(tokens, at, '(', ')')
                if is_type(tokens[at + 1:end - 1]) and end < len(tokens) and not _is_operator(tokens[end]):
                    at = end
                    continue
                plain += [token, *self._simplify(tokens[at + 1:end - 1], depth), tokens[end - 1]]
                at = end
            elif token.kind == 'identifier' or token.text == '::':
                at = self._read_name(tokens, at, plain, depth)
            else:
                plain.append(token)
                at += 1
        return plain

    def _read_name(self, tokens, at, plain, depth):
        """Appends the tokens for a name, or for a call if one follows, and returns the index after it."""
        first = at
        if tokens[at].text == 'this' and [t.text for t in tokens[at + 1:at + 2]] == ['->']:
            return at + 2
        if tokens[at].text == 'sizeof':
            end = matching(tokens, at + 1, '(', ')')
            plain += tokens[at:end]
            return end
        at = end_of_name(tokens, at)
        spelled = ''.join(t.text for t in tokens[first:at])
        last = spelled.rsplit('::', 1)[-1]
        arguments = at
        if at < len(tokens) and tokens[at].text == '<' and (last in CASTS or self._opens_template(tokens, at)):
            arguments = matching(tokens, at, '<', '>')
        if arguments < len(tokens) and tokens[arguments].text in ('(', '{') and tokens[arguments].kind != 'string':
            closing = ')' if tokens[arguments].text == '(' else '}'
            end = matching(tokens, arguments, tokens[arguments].text, closing)
            inside = tokens[arguments + 1:end - 1]
            is_last = end == len(tokens) or tokens[end].text not in ('.', '->', '[')
            made = self._call(tokens[first], last, split_at(inside, ','), depth) if is_last else None
            if made is not None:
                plain += made
                return end
        end = _end_of_chain(tokens, arguments if arguments > at else at)
        if end > at:        # a call, an element, or a member of a pointer
            plain.append(_made(tokens[first], 'identifier', spell_tokens(tokens[first:end])))
        else:
            plain += tokens[first:at]
        return max(end, at)

    @staticmethod
    def _opens_template(tokens, at):
        end = matching(tokens, at, '<', '>')
        return end < len(tokens) and tokens[end].text in ('(', '{') and is_template_list(tokens[at + 1:end - 1])

    def _call(self, token, called, arguments, depth):
        """Returns the tokens that replace a call; None if the call becomes a factor."""
        if called in ('min', 'max', 'MIN', 'MAX', 'fmin', 'fmax', 'fminf', 'fmaxf') and len(arguments) == 2:
            called = 'min' if 'min' in called.lower() else 'max'
            return self._join(token, [_made(token, 'identifier', called), '(', arguments[0], ',', arguments[1], ')'],
                              depth)
        if (called in CASTS or is_type([_made(token, 'identifier', called)])) and len(arguments) == 1:
            return self._join(token, ['(', arguments[0], ')'], depth)
        if called in ('ceil', 'ceilf', 'ceill') and len(arguments) == 1:
            return self._round_up(token, arguments[0], depth)
        if called in ('floor', 'floorf') and len(arguments) == 1:
            return self._join(token, ['(', arguments[0], ')'], depth)
        body = self._returned(called, len(arguments))
        if body is not None and depth < MAX_INLINED:
            function, params = body
            inner = []
            for part in function:
                inner += ['(', arguments[params.index(part.text)], ')'] if part.text in params else [[part]]
            return self._join(token, ['(', *inner, ')'], depth + 1)
        if _CEILING.match(called) and len(arguments) == 2:
            return self._quotient(token, *arguments, depth)
        return None

    def _join(self, token, parts, depth):
        """Returns the simplified tokens of parts. A part is a token, its text, or a list of tokens."""
        tokens = []
        for part in parts:
            tokens += part if isinstance(part, list) else [part if isinstance(part, Token) else
                                                           _made(token, 'punctuation', part)]
        if tokens and tokens[0].kind == 'identifier':       # min or max, which would be read as a call again
            return tokens[:2] + self._simplify(tokens[2:-1], depth) + tokens[-1:]
        return tokens[:1] + self._simplify(tokens[1:-1], depth) + tokens[-1:]

    def _round_up(self, token, argument, depth):
        """Returns the tokens for ceil(a / b), where a factor or a cast may make a or b real."""
        while argument and argument[0].text == '(' and matching(argument, 0, '(', ')') == len(argument):
            argument = argument[1:-1]
        parts = split_at(argument, '/')
        if len(parts) != 2 or len(split_at(argument, '+')) > 1 or len(split_at(argument, '-')) > 1:
            return None
        parts = [[t for f in [f for f in split_at(p, '*') if not _is_one(f)] for t in [_made(token, 'punctuation', '*')]
                  + f][1:] for p in parts]
        return self._quotient(token, *parts, depth) if all(parts) else None

    def _quotient(self, token, left, right, depth):
        one = [_made(token, 'number', '1')]
        parts = ['(', '(', '(', left, ')', '+', '(', right, ')', '-', one, ')', '/', '(', right, ')', ')']
        return self._join(token, parts, depth)

    def _returned(self, called, count):
        """Returns the expression that a function of one return statement returns, and its parameters' names."""
        function = self.function(called)
        if not function or function.body[:1] == [] or function.body[0].text != 'return':
            return None
        if sum(t.text == ';' for t in function.body) != 1 or function.body[-1].text != ';':
            return None
        params = parameter_names(function)
        return (function.body[1:-1], params) if len(params) == count and all(params) else None


def parameter_names(function):
    """Returns the names of a function's parameters; None for one without a name."""
    head, at = function.head, function.function + 1
    if at < len(head) and head[at].text == '<':
        at = matching(head, at, '<', '>')
    inside = head[at + 1:matching(head, at, '(', ')') - 1]
    if not inside or [t.text for t in inside] == ['void']:
        return []
    names = []
    for part in split_at(inside, ',', '([{<', ')]}>'):
        end = next((i for i, t in enumerate(part) if t.text in ('=', '[')), len(part))
        is_named = end > 1 and part[end - 1].kind == 'identifier' and part[end - 1].text not in BUILTIN
        names.append(part[end - 1].text if is_named else None)
    return names


def template_names(head):
    """Returns the names of a function template's parameters."""
    end = behind_template(head)
    names = []
    for part in split_at(head[2:end - 1], ',', '([{<', ')]}>') if end else []:
        cut = next((i for i, t in enumerate(part) if t.text == '='), len(part))
        names += [t.text for t in part[:cut] if t.kind == 'identifier'][-1:]
    return names


def is_step(tokens, at):
    """True if ++ or -- begins at a token. The two signs of `i - -1` do not touch."""
    pair = tokens[at:at + 2]
    return [t.text for t in pair] in (['+', '+'], ['-', '-']) and not (
        pair[0].exact and pair[1].exact and pair[1].column != pair[0].column + 1)


def is_type(tokens):
    """True if tokens are the words of a numeric or pointer type, as in a cast."""
    words = [t.text for t in tokens if t.text not in ('const', '*', '&', 'volatile')]
    stars = any(t.text == '*' for t in tokens)
    if not words or any(t.kind not in ('identifier', 'punctuation') for t in tokens):
        return False
    text = ''.join(words)
    plain = text.rsplit('::', 1)[-1]
    return all(w in WORDS for w in words) or plain in BUILTIN or plain == 'dim3' or (
        stars and tokens[-1].text == '*' and words == re.findall(r'\w+|::', text))


def is_template_list(tokens):
    """True if tokens can stand between < and > after a function's name."""
    return all(t.kind in ('identifier', 'number') or t.text in ('::', ',', '<', '>', '*', '(', ')', '+', '-', '/')
               for t in tokens)


def _end_of_chain(tokens, at):
    """Returns the index after calls, elements and members that follow a name; `at` if there are only members."""
    begin, end = at, at
    while at < len(tokens):
        text = tokens[at].text
        if text in ('(', '[') and tokens[at].kind == 'punctuation':
            at = end = matching(tokens, at, text, ')' if text == '(' else ']')
        elif text in ('.', '->') and at + 1 < len(tokens) and tokens[at + 1].kind == 'identifier':
            at += 2
            if text == '->' or end > begin:
                end = at
        else:
            break
    return end


def _is_one(tokens):
    """True for 1.0, and for a cast without an operand."""
    return [t.text.rstrip('fF').rstrip('0') for t in tokens] in (['1.'], ['1'])


def _is_operator(token):
    return token.kind == 'punctuation' and token.text not in ('(', '::', '-', '+', '~', '!')


def _made(token, kind, text):
    return Token(kind, text, token.file, token.line, token.column, False)


def named(text):
    """Returns the sum of one name."""
    return factor(name(text))
