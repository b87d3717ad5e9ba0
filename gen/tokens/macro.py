"""Reads macro definitions in preprocessor output, and expands macros in annotations.

The algorithm is Dave Prosser's, on which the C standard is based: each token carries the names of macros that must not
expand it again."""

import re

from tokens.lexer import spell_tokens, Token, TokenError, tokenize

MAX_TOKENS = 10000      # most tokens of one expanded annotation
MAX_NESTING = 100       # most macros nested in arguments of macros
_NAME = re.compile(r'[\w$]+')
_DEFINE = re.compile(r'#define ([\w$]+)(\(([^)]*)\))?(.*)$', re.DOTALL)


class _Macro:
    """A macro definition, parsed at its first use: most are never used."""

    def __init__(self, params, body):
        self.is_variadic = bool(params) and params[-1].endswith('...')
        if self.is_variadic:
            params[-1] = params[-1][:-3].strip() or '__VA_ARGS__'
        self.params = params        # None for an object-like macro
        self._body = body
        self._tokens = None

    def tokens(self):
        if self._tokens is None:
            self._tokens = [t for t in tokenize(self._body, '', 1, 1) if t.kind != 'end']
        return self._tokens


class Macros:
    """The macros that are defined at a place in a file."""

    def __init__(self):
        self._lines = {}        # name of a macro: its #define line, or the parsed macro

    def directive(self, line):
        """Adds a #define or #undef line."""
        if line.startswith('#undef '):
            self._lines.pop(line[7:].strip(), None)
            return
        match = _NAME.match(line, 8)
        if match:
            self._lines[match.group()] = line

    def find(self, name):
        macro = self._lines.get(name)
        if isinstance(macro, str):
            match = _DEFINE.match(macro)
            params = None
            if match.group(2) is not None:
                params = [p.strip() for p in match.group(3).split(',')] if match.group(3).strip() else []
            macro = self._lines[name] = _Macro(params, match.group(4))
        return macro


def expand_macros(tokens, macros, words):
    """Returns an annotation's tokens with macros expanded, except `words` outside of all parentheses. Input and result
    end with an `end` token."""
    result, depth, at, budget = [], 0, 0, [MAX_TOKENS, MAX_NESTING]
    while at < len(tokens):
        token = tokens[at]
        if token.kind == 'punctuation' and token.text in '()':
            depth += 1 if token.text == '(' else -1
        if token.kind != 'identifier' or (depth == 0 and token.text in words) or not macros.find(token.text):
            result.append(token)
            at += 1
            continue
        # The arguments of a macro may extend far beyond this token.
        try:
            expansion, after = _expand_one(tokens, at, macros, budget)
        except TokenError as error:
            error.token = token
            raise
        if expansion is None:
            result.append(token)
            at += 1
            continue
        for made in expansion:
            made.file, made.line, made.column = token.file, token.line, token.column
            made.exact = False
            result.append(made)
        at = after
    return result


def _copy_token(token, hidden):
    made = Token(token.kind, token.text, token.file, token.line, token.column)
    made.hidden = hidden
    return made


def _expand_all(tokens, macros, budget):
    """Expands macros in tokens without `end` until none is left. `budget`: the tokens and the nesting depth that are
    left."""
    budget[1] -= 1
    if budget[1] < 0:
        raise TokenError(tokens[0] if tokens else None, f'the macros are nested more than {MAX_NESTING} deep')
    result = []
    pending = list(reversed(tokens))
    while pending:
        budget[0] -= 1
        if budget[0] < 0:
            raise TokenError(tokens[0], f'the macros expand to more than {MAX_TOKENS} tokens')
        token = pending.pop()
        macro = macros.find(token.text) if token.kind == 'identifier' and token.text not in token.hidden else None
        if macro is None:
            result.append(token)
            continue
        arguments, taken = None, 0
        if macro.params is not None:
            arguments, taken = _read_arguments(pending, macro)
            if arguments is None:
                result.append(token)
                continue
        hidden = token.hidden | {token.text}
        if taken:
            del pending[-taken:]
        pending.extend(reversed(_substitute_arguments(macro, arguments, macros, hidden, budget)))
    budget[1] += 1
    return result


def _expand_one(tokens, at, macros, budget):
    """Returns (expansion, index after the macro's use), or (None, at) for a function-like macro without arguments."""
    macro = macros.find(tokens[at].text)
    taken = 0
    if macro.params is not None:
        rest = list(reversed(tokens[at + 1:-1]))
        arguments, taken = _read_arguments(rest, macro)
        if arguments is None:
            return None, at
    return _expand_all([_copy_token(t, t.hidden) for t in tokens[at:at + 1 + taken]], macros, budget), at + 1 + taken


def _read_arguments(pending, macro):
    """Returns the arguments at the end of a reversed token list and the number of their tokens with parentheses; (None,
    0) if no parenthesis opens there or none closes it."""
    if not pending or pending[-1].text != '(' or pending[-1].kind != 'punctuation':
        return None, 0
    arguments, current, depth, taken = [], [], 0, 0
    for token in reversed(pending):
        taken += 1
        if token.kind == 'punctuation' and token.text == '(':
            depth += 1
            if depth == 1:
                continue
        elif token.kind == 'punctuation' and token.text == ')':
            depth -= 1
            if depth == 0:
                arguments.append(current)
                break
        elif (token.kind == 'punctuation' and token.text == ',' and depth == 1 and
              not (macro.is_variadic and len(arguments) >= len(macro.params) - 1)):
            arguments.append(current)
            current = []
            continue
        current.append(token)
    else:
        return None, 0
    if not macro.params and arguments == [[]]:
        arguments = []
    if macro.is_variadic and len(arguments) == len(macro.params) - 1:
        arguments.append([])
    if len(arguments) != len(macro.params):
        raise TokenError(pending[-1], f'a macro takes {len(macro.params)} arguments, found {len(arguments)}')
    return arguments, taken


def _substitute_arguments(macro, arguments, macros, hidden, budget):
    body = macro.tokens()
    result, at = [], 0
    while at < len(body):
        token = body[at]
        number = macro.params.index(token.text) if macro.params and token.text in macro.params else None
        if token.text == '#' and macro.params is not None and at + 1 < len(body) and body[at + 1].text in macro.params:
            text = spell_tokens(arguments[macro.params.index(body[at + 1].text)])
            result.append(Token('string', '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"', '', 1, 1))
            at += 2
            continue
        if _is_paste(body, at) and result:
            at += 2
            if at < len(body):
                right = body[at]
                pasted = (arguments[macro.params.index(right.text)] if macro.params and right.text in macro.params
                          else [right])
                result = result[:-1] + _paste_tokens(result[-1], pasted)
                at += 1
            continue
        if number is None:
            result.append(_copy_token(token, token.hidden))
        elif _is_paste(body, at + 1):
            result.extend(_copy_token(t, t.hidden) for t in arguments[number])
        else:
            result.extend(_expand_all([_copy_token(t, t.hidden) for t in arguments[number]], macros, budget))
        at += 1
    for token in result:
        token.hidden = token.hidden | hidden
    return result


def _is_paste(body, at):
    return at + 1 < len(body) and body[at].text == '#' and body[at + 1].text == '#'


def _paste_tokens(left, right):
    text = left.text + (right[0].text if right else '')
    made = [t for t in tokenize(text, left.file, left.line, left.column) if t.kind != 'end']
    return made + [_copy_token(t, t.hidden) for t in right[1:]]
